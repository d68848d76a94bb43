"""Reader of ConfigSpace's JSON and YAML, as written by its versions 0.4 to 1.2.

The library itself is not used: it rounds the ends of ranges, sorts the parameters, and no longer
reads everything that its own older versions wrote. Tests compare this reader with it.

Source: ConfigSpace's `read_and_write`, versions 0.4.21, 0.6.1, 0.7.1 and 1.2.2.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import MAX_DEPTH, Compare, Expression, Member
from paramhs.core.space.conditions.terms import Ref
from paramhs.core.space.literals import Value, identity, is_finite, is_integer
from paramhs.core.space.parameters import (
    DEFAULT_LEVELS,
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from paramhs.core.space.space import ClauseError, Space
from paramhs.core.text.quoting import short
from paramhs.formats.space_files.normal_forms import Resolver, Unlike, both, either
from paramhs.formats.space_files.source_lines import Span, shown

META = "paramhs"  # key in a parameter's meta data for the number of levels, which ConfigSpace lacks

_MAX_PARTS = 100_000  # of all conditions and forbidden clauses together

CONDITION_SIGNS = {"EQ": "==", "NEQ": "!=", "LT": "<", "GT": ">"}
CLAUSE_SIGNS = {
    "EQUALS": "==",
    "CLAUSE_LT": "<",
    "CLAUSE_LE": "<=",
    "CLAUSE_GT": ">",
    "CLAUSE_GE": ">=",
}
RELATION_SIGNS = {
    "RELATION_EQ": "==",
    "RELATION_LT": "<",
    "RELATION_LE": "<=",
    "RELATION_GT": ">",
    "RELATION_GE": ">=",
}
_LAMBDAS = {"EQUALS": "==", "LESS": "<", "GREATER": ">", "EQ": "==", "LT": "<", "GT": ">"}
"""Names of relations in versions before 1.0."""

Item = Mapping[str, Any]


def read_configspace(path: Path, text: str, format: str) -> tuple[Space, tuple[str, ...]]:
    """Read the space of a file, with notes for the user."""
    source = _Source(path, text, format)
    source.check_nesting()
    try:
        load = _loaded_json if format == "configspace-json" else _loaded_yaml
        document = load(source)
    except RecursionError:
        raise source.most_indented("it is nested too deeply") from None
    if not isinstance(document, dict) or not isinstance(document.get("hyperparameters"), list):
        raise BadInput(f"{path}: expected a ConfigSpace with a list of hyperparameters")
    reader = _Reader(source, document)
    return reader.space(), tuple(reader.notes)


def _loaded_json(source: "_Source") -> Any:
    try:
        return json.loads(source.text)
    except json.JSONDecodeError as error:
        raise source.error_at(error.pos, error.msg) from None
    except ValueError as error:  # an integer of thousands of digits
        raise source.unreadable(error) from None


def _loaded_yaml(source: "_Source") -> Any:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise missing(error) from None
    try:
        return yaml.load(source.text, _plain_loader(yaml))  # noqa: S506 -- a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = str(error.problem or error.context)[:200]
        raise source.error_at(mark.index if mark else None, what) from None
    except yaml.YAMLError as error:
        what = " ".join(str(error).split())[:200]
        raise source.error_at(getattr(error, "position", None), what) from None
    except (ValueError, LookupError, ArithmeticError, TypeError, AttributeError) as error:
        # A tag may claim a type that the value does not have.
        raise source.unreadable(error) from None


def _plain_loader(yaml: Any) -> Any:
    """Create a safe loader for what ConfigSpace writes: plain values, lists, tables, tuples.

    Dates stay texts, and tables are not merged: a few lines of nested merges could expand to more
    than any memory holds.
    """
    safe = yaml.SafeLoader

    class Loader(safe):  # type: ignore[misc, valid-type]
        def flatten_mapping(self, node: Any) -> None:
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    raise yaml.constructor.ConstructorError(
                        None, None, "merging tables with << is not supported", key.start_mark
                    )

    tag = "tag:yaml.org,2002:"
    Loader.yaml_implicit_resolvers = {
        first: [(kind, pattern) for kind, pattern in found if kind != f"{tag}timestamp"]
        for first, found in safe.yaml_implicit_resolvers.items()
    }
    known = {None, *(tag + kind for kind in ("null", "bool", "int", "float", "str", "seq", "map"))}
    Loader.yaml_constructors = {
        kind: make for kind, make in safe.yaml_constructors.items() if kind in known
    }
    Loader.add_constructor(f"{tag}python/tuple", safe.construct_sequence)
    return Loader


def missing(error: ModuleNotFoundError) -> BadInput:
    """Error that names the package to install."""
    return BadInput(f"{error.name} is not installed: pip install 'paramhs[configspace]'")


class _Source:
    """Text of the file, in which the place of a faulty item is searched for its line."""

    def __init__(self, path: Path, text: str, format: str) -> None:
        self.path = path
        self.text = text
        self._format = format

    def error(self, key: str, name: object, message: str, section: str = "") -> BadInput:
        """Build an error with the line of `key: name`, in a section or anywhere."""
        start = self._at(rf"[\"']?{section}[\"']?\s*:", 0) if section else 0
        written = r"\S"
        if isinstance(name, str):
            written = f"(?:{re.escape(name)}|{re.escape(json.dumps(name)[1:-1])})"
        position = self._at(rf"[\"']?{key}[\"']?\s*:\s*[\"']?{written}[\"']?(?![\w.-])", start or 0)
        return self.error_at(position, message)

    def section_error(self, section: str, message: str) -> BadInput:
        """Build an error with the first line of a section."""
        return self.error_at(self._at(rf"[\"']?{section}[\"']?\s*:", 0), message)

    def item_error(self, section: str, item: int, message: str) -> BadInput:
        """Build an error with the line of an item in a section, counted from 0."""
        find = _json_item if self._format == "configspace-json" else _yaml_item
        return self.error_at(find(self.text, section, item), message)

    def unreadable(self, error: Exception) -> BadInput:
        """Build an error for an unreadable value, most likely a number too long for Python."""
        position = self._at(r"\d{4301}", 0)
        if position is None:
            return BadInput(f"{self.path}: a value has the wrong type: {short(error)}")
        return self.error_at(position, "a number is too large: it has thousands of digits")

    def most_indented(self, message: str) -> BadInput:
        """Build an error with the line of deepest indentation."""
        begun = max(re.finditer(r"^[ -]*+", self.text, re.MULTILINE), key=lambda m: len(m[0]))
        return self.error_at(begun.end(), message)

    def check_nesting(self) -> None:
        """Reject excessive nesting, which parsers handle very slowly."""
        depth = 0
        # A text in quotes is matched as a whole, so brackets inside it do not count.
        for match in re.finditer(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', self.text):
            depth += (match[0] in "[{") - (match[0] in "]}")
            if depth > 3 * MAX_DEPTH:
                raise self.error_at(match.start(), "it is nested too deeply")

    def _at(self, pattern: str, start: int) -> int | None:
        match = re.compile(pattern).search(self.text, start)
        return match.start() if match else None

    def error_at(self, position: int | None, message: str) -> BadInput:
        """Build an error with the line and column of a position, if there is one."""
        if position is None:
            return BadInput(f"{self.path}: {message}")
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        return Span(self.path, line, column, "").error(message)


def _json_item(text: str, section: str, item: int) -> int | None:
    """Position of an item in a JSON list."""
    begun = re.search(rf'"{section}"\s*:\s*\[\s*', text)
    for _ in range(item):
        if begun is not None:
            # Items contain commas and brackets of their own, so the decoder finds the end of each.
            _, end = json.JSONDecoder().raw_decode(text, begun.end())
            begun = re.compile(r"\s*,\s*").match(text, end)
    return begun.end() if begun else None


def _yaml_item(text: str, section: str, item: int) -> int | None:
    import yaml

    document = yaml.compose(text, yaml.SafeLoader)
    tables = document.value if document is not None else ()
    lists = [values for key, values in tables if key.value == section]
    return int(lists[-1].value[item].start_mark.index) if lists else None


class _Reader:
    def __init__(self, source: _Source, document: Item) -> None:
        self.source = source
        self.document = document
        self.parameters: dict[str, Parameter] = {}
        self.notes: list[str] = []
        self.seen = 0  # parts of expressions; YAML aliases turn a few lines into very many

    def space(self) -> Space:
        for number, item in enumerate(self.document["hyperparameters"]):
            self._add(item, number)
        if not self.parameters:
            raise BadInput(f"{self.source.path}: it contains no parameters")
        conditions = self._conditions()
        clauses = self._listed("forbiddens")
        forbidden = [self._clause(number, clause) for number, clause in enumerate(clauses)]
        try:
            return self._made(conditions, forbidden)
        except ClauseError as error:
            if error.conditions:
                raise self._in_condition(error.conditions[0], str(error)) from None
            number = error.clause or 0
            raise self._in_clause(number, clauses[number], str(error)) from None

    def _made(self, given: Mapping[str, Expression], clauses: Sequence[Expression]) -> Space:
        resolver = Resolver(given, self.parameters)
        forbidden = [resolver.meant(clause) for clause in clauses]
        return Space(self.parameters, conditions=resolver.conditions(), forbidden=forbidden)

    def _listed(self, section: str) -> list[Item]:
        items = self.document.get(section) or []
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise self.source.section_error(section, f"{section} must be a list of tables")
        return items

    # Parameters

    def _add(self, item: object, number: int) -> None:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
            what = f"hyperparameter {number + 1} must be a table with a name, not {short(item)}"
            raise self.source.item_error("hyperparameters", number, what)
        name = item["name"]
        try:
            if name in self.parameters:
                raise BadInput("this name is already used")
            make = _MAKERS.get(_kind(item))
            if make is None:
                raise BadInput(
                    f"unknown type {short(item.get('type'))}; known are {shown(_MAKERS)}"
                )
            ends = _ends_of_normal(item)
            if ends:
                note = f"{shown([name])}: a normal distribution without bounds is read as"
                note += f" {ends['lower']:g} .. {ends['upper']:g}, three sigma around mu"
                self.notes.append(str(self.source.error("name", name, note)))
            self.parameters[name] = make({**item, **ends})
        except BadInput as error:
            raise self.source.error("name", name, f"{shown([name])}: {error}") from None

    # Conditions

    def _conditions(self) -> dict[str, Expression]:
        found: dict[str, Expression] = {}
        for number, item in enumerate(self._listed("conditions")):
            child = self._child(item, number)
            try:
                condition = self._condition(item, child, 0)
                if found.setdefault(child, condition) != condition:
                    raise BadInput(
                        "it has several conditions without a rule to join them; expected"
                        " one, with AND or OR"
                    )
            except BadInput as error:
                raise self._in_condition(child, f"the condition of {child}: {error}") from None
        return found

    def _child(self, item: Item, number: int) -> str:
        child = item.get("child")
        if not isinstance(child, str) or child not in self.parameters:
            what = f"a condition refers to {short(child)}, which is not a parameter"
            raise self.source.item_error("conditions", number, what)
        return child

    def _condition(self, item: object, child: str, depth: int) -> Expression:
        parts = self._parts(item, "conditions", depth)
        assert isinstance(item, dict)  # noqa: S101 -- for the type checker
        if item.get("child", child) != child:
            raise BadInput(f"a part of it belongs to {short(item['child'])}")
        if parts is not None:
            join = both if _kind(item) == "AND" else either
            return join([self._condition(part, child, depth + 1) for part in parts])
        parent, kind = self._named(item, "parent"), _kind(item)
        if kind == "IN":
            return self._member(item, parent)
        if kind not in CONDITION_SIGNS:
            known = shown((*CONDITION_SIGNS, "IN", "AND", "OR"))
            raise BadInput(f"unknown type {short(item.get('type'))}; known are {known}")
        value = self._value(item.get("value"), parent)
        if kind == "NEQ":
            return Unlike(parent, (value,))
        return Compare(parent, CONDITION_SIGNS[kind], value)

    def _in_condition(self, child: object, message: str) -> BadInput:
        return self.source.error("child", child, message, "conditions")

    # Forbidden clauses

    def _clause(self, number: int, item: Item) -> Expression:
        try:
            return self._forbidden(item, 0)
        except BadInput as error:
            raise self._in_clause(number, item, f"a forbidden clause: {error}") from None

    def _forbidden(self, item: object, depth: int) -> Expression:
        parts = self._parts(item, "clauses", depth)
        assert isinstance(item, dict)  # noqa: S101 -- for the type checker
        kind = _kind(item)
        if parts is not None:
            join = both if kind == "AND" else either
            return join([self._forbidden(part, depth + 1) for part in parts])
        if kind == "RELATION" or kind in RELATION_SIGNS:
            return self._relation(item, kind)
        name = self._named(item, "name")
        if kind == "IN":
            return self._member(item, name)
        if kind not in CLAUSE_SIGNS:
            known = shown((*CLAUSE_SIGNS, "IN", "AND", "OR", *RELATION_SIGNS), 20)
            raise BadInput(f"unknown type {short(item.get('type'))}; known are {known}")
        return Compare(name, CLAUSE_SIGNS[kind], self._value(item.get("value"), name))

    def _relation(self, item: Item, kind: str) -> Expression:
        sign = RELATION_SIGNS.get(kind) or _LAMBDAS.get(str(item.get("lambda")))
        if sign is None:
            found = short(item.get("lambda"))
            raise BadInput(f"the relation {found} is not one of {shown(_LAMBDAS)}")
        return Compare(self._named(item, "left"), sign, Ref(self._named(item, "right")))

    def _in_clause(self, number: int, item: Item, message: str) -> BadInput:
        """Build an error at the first parameter of a clause, or at the start of the clause."""
        for _ in range(MAX_DEPTH):
            inner = item.get("clauses")
            if not isinstance(inner, list) or not inner or not isinstance(inner[0], dict):
                break
            item = inner[0]
        key = "left" if "left" in item else "name"
        if isinstance(item.get(key), str):
            return self.source.error(key, item[key], message, "forbiddens")
        return self.source.item_error("forbiddens", number, message)

    # Conditions and forbidden clauses

    def _parts(self, item: object, key: str, depth: int) -> list[Any] | None:
        """Operands of a conjunction or disjunction; None for a comparison."""
        if not isinstance(item, dict):
            raise BadInput(f"expected a table, found {short(item)}")
        if depth > MAX_DEPTH:
            raise BadInput(f"it is nested more than {MAX_DEPTH} deep")
        self.seen += 1
        if self.seen > _MAX_PARTS:
            raise BadInput(f"all expressions together have more than {_MAX_PARTS:,} parts")
        if _kind(item) not in ("AND", "OR"):
            return None
        parts = item.get(key)
        if not isinstance(parts, list) or not parts:
            raise BadInput(f"{_kind(item)} needs a list of {key}, not {short(parts)}")
        return parts

    def _named(self, item: Item, key: str) -> str:
        name = item.get(key)
        if not isinstance(name, str) or name not in self.parameters:
            raise BadInput(f"{key} is {short(name)}; expected one of {shown(self.parameters, 8)}")
        return name

    def _member(self, item: Item, name: str) -> Member:
        values = item.get("values")
        if not isinstance(values, list) or not values:
            raise BadInput(f"expected a list of values, not {short(values)}")
        return Member(name, tuple(dict.fromkeys(self._value(value, name) for value in values)))

    def _value(self, value: object, name: str) -> Value:
        if not isinstance(value, str | bool) and not is_finite(value):
            raise BadInput(f"{short(value)} is not a value of {name}")
        assert isinstance(value, str | bool | int | float)  # noqa: S101 -- for the type checker
        return value


def _kind(item: Item) -> str:
    return str(item["type"]) if isinstance(item.get("type"), str) else ""


# Kinds of parameters


def _ends_of_normal(item: Item) -> dict[str, float]:
    """Bounds of a normal distribution; versions before 0.7 wrote only mu and sigma."""
    if not _kind(item).startswith("normal_") or not item.get("lower") is item.get("upper") is None:
        return {}
    mu, sigma = _bound(item, "mu"), _bound(item, "sigma")
    ends = [mu - 3 * sigma, mu + 3 * sigma]
    if _log(item):  # mu and sigma then describe the logarithm
        ends = [math.exp(min(end, 700.0)) for end in ends]
    if _kind(item) == "normal_int":
        ends = [float(round(end)) for end in ends]
    default = _default(item)
    ends += [default] if is_finite(default) else []
    return {"lower": min(ends), "upper": max(ends)}


def _default(item: Item) -> Any:
    """The default value, called `default` in versions before 1.0."""
    found = item.get("default_value")
    return item.get("default") if found is None else found


def _bound(item: Item, key: str) -> Any:
    bound = item.get(key)
    if not is_finite(bound):
        raise BadInput(f"{key} must be a number, not {short(bound)}")
    return bound


def _log(item: Item) -> bool:
    log = item.get("log")
    if log not in (None, False, True):
        raise BadInput(f"log must be true or false, not {short(log)}")
    return bool(log)


def _step(item: Item) -> Any:
    """The step q between values, in versions before 1.0."""
    step = item.get("q")
    if step is not None and not (is_finite(step) and step > 0):
        raise BadInput(f"q, the step between values, must be a number above 0, not {short(step)}")
    return step


def _whole(number: Any, key: str) -> int:
    if not is_finite(number) or number != int(number):
        raise BadInput(f"{key} must be an integer, not {short(number)}")
    return int(number)


def _integer(item: Item) -> Parameter:
    low, high = (_whole(_bound(item, key), key) for key in ("lower", "upper"))
    default, step = _default(item), _step(item)
    default = None if default is None else _whole(default, "the default")
    if _log(item):
        return Integer(low, high, log=True, levels=_levels(item), default=default)
    return Integer(low, high, 1 if step is None else _whole(step, "q"), default=default)


def _real(item: Item) -> Parameter:
    low, high = float(_bound(item, "lower")), float(_bound(item, "upper"))
    log, step, levels = _log(item), _step(item), _levels(item)
    if step is not None and not log:
        count = (high - low) / step
        if not is_finite(count) or count < 0.5:
            raise BadInput(f"q = {step} leaves one value between {low} and {high}")
        levels = round(count) + 1
    usual = DEFAULT_LEVELS if levels is None else levels
    return Real(low, high, usual, log=log, default=_default(item))


def _levels(item: Item) -> int | None:
    """Number of levels stored by paramhs in `meta`; other tools store anything there."""
    meta = item.get("meta")
    kept = meta.get(META) if isinstance(meta, dict) else None
    levels = kept.get("levels") if isinstance(kept, dict) else None
    return levels if is_integer(levels) else None


def _values(item: Item, key: str) -> list[Value]:
    values = item.get(key)
    if not isinstance(values, list) or not values:
        raise BadInput(f"{key} must be a list of values, not {short(values)}")
    for value in values:
        identity(value)  # a file has no objects, which a list in Python may have
    return values


def _categorical(item: Item) -> Parameter:
    values, default = _values(item, "choices"), _default(item)
    if default is None:
        default = _likeliest(values, item.get("weights") or item.get("probabilities"))
    if values[0] is False and len(values) == 2 and values[1] is True:
        return Boolean(default=default)
    return Categorical(values, default=default)


def _likeliest(values: Sequence[Value], weights: object) -> Value:
    """ConfigSpace's default where none is given: the value with the largest weight."""
    if not isinstance(weights, list) or len(weights) != len(values):
        return values[0]
    if not all(is_finite(weight) for weight in weights):
        raise BadInput(f"weights must be numbers, not {short(weights)}")
    return values[weights.index(max(weights))]


def _ordinal(item: Item) -> Parameter:
    values, default = _values(item, "sequence"), _default(item)
    return Ordinal(values, default=values[0] if default is None else default)


def _constant(item: Item) -> Parameter:
    value = item.get("value")
    identity(value)
    return Categorical([value])


_MAKERS: dict[str, Callable[[Item], Parameter]] = {
    "uniform_float": _real,
    "normal_float": _real,
    "beta_float": _real,
    "uniform_int": _integer,
    "normal_int": _integer,
    "beta_int": _integer,
    "categorical": _categorical,
    "ordinal": _ordinal,
    "constant": _constant,
    "unparametrized": _constant,
}
