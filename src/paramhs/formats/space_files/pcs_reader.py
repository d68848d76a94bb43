"""Reader of PCS files of ParamILS and SMAC, in the old and the new syntax, line by line.

Sources: the ParamILS and SMAC manuals, and the syntax accepted by ConfigSpace's `read_and_write`
and SMAC's `ParameterConfigurationSpace`. As in SMAC, a file may mix both syntaxes.
"""

import re
from decimal import Decimal
from itertools import islice
from pathlib import Path

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import Compare, Expression, Member
from paramhs.core.space.conditions.terms import Ref
from paramhs.core.space.literals import Value
from paramhs.core.space.parameters import Categorical, Integer, Ordinal, Parameter, Real
from paramhs.core.space.space import Space
from paramhs.formats.space_files.normal_forms import Resolver, Unlike, both, either
from paramhs.formats.space_files.source_lines import (
    Span,
    lines,
    located,
    matching,
    shown,
    value_if_any,
    value_on,
)

_LIST = re.compile(
    r"(?P<name>\S+?)\s*(?:(?<=\s)(?P<type>categorical|ordinal)\s*)?"
    r"\{(?P<values>[^{}]*)\}\s*\[(?P<default>[^\[\]]*)\](?P<rest>.*)"
)
_RANGE = re.compile(
    r"(?P<name>\S+?)\s*(?:(?<=\s)(?P<type>integer|real)\s*)?"
    r"\[(?P<low>[^,\[\]]*),(?P<high>[^,\[\]]*)\]\s*\[(?P<default>[^\[\]]*)\](?P<rest>.*)"
)
_NAME = re.compile(r"[^\s{}\[\]|,=#\"'()]+")
_HEADING = re.compile(
    r"[\w /&()-]*:|\W*|\[?(?:parameters?|condition(?:al)?s?|forbidden)\]?", re.IGNORECASE
)
_SIGN = re.compile(r"==|!=|<=|>=|<|>|=|\bin\b")
_MAX_SIGNS = 32  # in a comparison; names may contain some
_NEW = re.compile(r"[^#{|]*?\s(?:categorical|ordinal|integer|real)\s*+[\[{]")

_END = r"[-+]?(?:\d++(?:\.\d++)?+|\.\d++)(?:[eE][-+]?\d++)?+"
RANGE = re.compile(rf"(?P<first>{_END})\s*+\.\.\s*+(?P<last>{_END})")
"""Range in a list of values, as in ParamILS 3: `1..5`, or `2..10` after 0."""
_MAX_VALUES = 10_000  # of one such range


def read_pcs(path: Path, text: str) -> tuple[Space, tuple[str, ...]]:
    """Read a file's space, with notes for the user."""
    reader = _Reader(path, text)
    return reader.space(), tuple(reader.notes)


class _Reader:
    """Parser state; conditions and clauses are parsed once all parameters are known."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.parameters: dict[str, Parameter] = {}
        self.conditions: dict[str, list[Span]] = {}
        self.forbidden: list[Span] = []
        self.notes: list[str] = []
        # Quotes have no meaning in these files. Blanks instead of them keep the columns.
        for line in lines(path, text.translate({ord('"'): " ", ord("'"): " "})):
            self._read(line)

    def _read(self, line: Span) -> None:
        if line.text.startswith("{") and line.text.endswith("}"):
            self.forbidden.append(line.part(1, -1))
        elif "|" in line.text:
            bar = line.text.index("|")
            child = line.part(0, bar)
            if not _NAME.fullmatch(child.text):
                raise child.error(f"expected a parameter's name before '|', found {child.found}")
            self.conditions.setdefault(child.text, []).append(line.part(bar + 1))
        elif match := _LIST.fullmatch(line.text):
            self._add(line, match, self._listed(line, match))
        elif match := _RANGE.fullmatch(line.text):
            self._add(line, match, self._ranged(line, match))
        elif not _HEADING.fullmatch(line.text):
            raise line.error(
                "expected a parameter, such as 'a {x, y} [x]' or 'b [0, 1] [0.5]', a condition"
                f" 'b | a in {{x}}' or a forbidden clause '{{a=x, b=1}}', found {line.found}"
            )

    def _add(self, line: Span, match: re.Match[str], parameter: Parameter) -> None:
        name = line.group(match, "name")
        if not _NAME.fullmatch(name.text):
            raise name.error(f"{name.found} is not a parameter's name")
        if name.text in self.parameters:
            raise name.error(f"there is already a parameter called {name.found}")
        self.parameters[name.text] = parameter

    def space(self) -> Space:
        if not self.parameters:
            raise BadInput(f"{self.path}: it contains no parameters")
        given = {name: self._condition(name, spans) for name, spans in self.conditions.items()}
        forbidden = [self._clause(span) for span in self.forbidden]
        where = {name: spans[0] for name, spans in self.conditions.items()}
        return located(lambda: self._made(given, forbidden), where, self.forbidden)

    def _made(self, given: dict[str, Expression], forbidden: list[Expression]) -> Space:
        conditions = Resolver(given, self.parameters).conditions()
        return Space(self.parameters, conditions=conditions, forbidden=forbidden)

    def _condition(self, child: str, spans: list[Span]) -> Expression:
        """Combine all condition lines of one child."""
        if child not in self.parameters:
            raise spans[0].error(
                f"it is a condition of {shown([child])!r}, which is not a parameter"
            )
        # Files repeat lines. Of equal ones the first is kept, for its place in messages.
        lines = {self._alternatives(child, span): span for span in reversed(spans)}
        expressions = list(reversed(lines))
        if len(expressions) > 1:
            for expression in expressions:
                span = lines[expression]
                if not _is_old_condition(expression):
                    raise span.error(
                        f"{child!r} has several conditions without a rule to join them;"
                        " expected one line with && or ||"
                    )
        return both(expressions)

    def _alternatives(self, child: str, span: Span) -> Expression:
        return either(
            both(self._comparison(child, part) for part in alternative.split("&&"))
            for alternative in span.split("||")
        )

    def _comparison(self, child: str, span: Span) -> Expression:
        parent, sign, right = self._signed(span)
        if parent == child:
            raise span.error(f"{child!r} is conditional on itself")
        if sign == "in":
            if not (right.text.startswith("{") and right.text.endswith("}")):
                raise right.error(f"expected values in braces after 'in', found {right.found}")
            values = [self._value(v, parent) for v in _values(right.part(1, -1))]
            return Member(parent, tuple(dict.fromkeys(v for v in values if v is not None)))
        if sign == "!=":
            value = self._value(right, parent)
            return Unlike(parent, () if value is None else (value,))
        return self._compared(span, parent, sign, right)

    def _compared(self, span: Span, name: str, sign: str, right: Span) -> Expression:
        """Comparison with a value; it never holds if the parameter cannot have the value."""
        if sign in ("==", "="):
            value = self._value(right, name)
            return Member(name, ()) if value is None else Compare(name, "==", value)
        parameter = self.parameters[name]
        self._check_order(span, name, sign)
        if isinstance(parameter, Integer | Real):
            return Compare(name, sign, right.number())
        return Compare(name, sign, value_on(right, name, parameter))

    def _value(self, span: Span, name: str) -> Value | None:
        parameter = self.parameters[name]
        if isinstance(parameter, Integer | Real):
            span.number()  # rejects anything but a number
        return value_if_any(span, name, parameter, self.notes)

    def _clause(self, span: Span) -> Expression:
        """Forbidden clause, classic `a=1, b=2` or with && and ||."""
        if re.search(r"&&|\|\|", span.text):
            return either(
                both(self._forbidden(part) for part in alternative.split("&&"))
                for alternative in span.split("||")
            )
        return both(self._forbidden(part) for part in span.split(","))

    def _forbidden(self, span: Span) -> Expression:
        name, sign, right = self._signed(span)
        if sign == "in":
            raise span.error(
                "expected a comparison such as 'a=1' in a forbidden clause, found 'in'"
            )
        self._check_order(span, name, sign)
        other = self.parameters.get(right.text)
        if other is not None and other.numeric and self.parameters[name].numeric:
            return Compare(name, "==" if sign == "=" else sign, Ref(right.text))
        return self._compared(span, name, sign, right)

    def _signed(self, span: Span) -> tuple[str, str, Span]:
        """Split a comparison into name, sign and right side; names may contain sign characters."""
        signs = list(islice(_SIGN.finditer(span.text), _MAX_SIGNS))
        for match in signs:
            name = span.part(0, match.start()).text
            if name in self.parameters:
                return name, match[0], span.part(match.end())
        if signs and _NAME.fullmatch(name := span.part(0, signs[0].start()).text):
            raise span.error(
                f"no parameter is called {shown([name])!r}; there are {shown(self.parameters, 8)}"
            )
        raise span.error(
            "expected one parameter compared with a value, such as 'a in {x, y}' or 'a=x',"
            f" without arithmetic, found {span.found}"
        )

    def _check_order(self, span: Span, name: str, sign: str) -> None:
        if sign not in ("==", "!=", "=") and not self.parameters[name].ordered:
            raise span.error(f"the values of {name!r} have no order, so {sign!r} is meaningless")

    # Domains of parameters

    def _listed(self, line: Span, match: re.Match[str]) -> Parameter:
        self._check_rest(line, match, "")
        values: dict[str, None] = {}
        for span in _values(line.group(match, "values")):
            if span.text in values:
                raise span.error(f"the value {span.found} is listed twice")
            values[span.text] = None
        default = line.group(match, "default")
        found = matching(default.text, tuple(values))
        if found is None:
            raise default.error(f"the default {default.found} is not one of {shown(values)}")
        return (Ordinal if match["type"] == "ordinal" else Categorical)(list(values), default=found)

    def _ranged(self, line: Span, match: re.Match[str]) -> Parameter:
        kind = match["type"]
        flags = self._check_rest(line, match, "log" if kind else "il")
        log = flags == "log" if kind else "l" in flags
        whole = kind == "integer" or (not kind and "i" in flags)
        spans = [line.group(match, name) for name in ("low", "high", "default")]
        low, high, default = (span.integer() if whole else span.number() for span in spans)
        if not low <= default <= high:
            raise spans[2].error(f"the default {spans[2].text} is not in {low} .. {high}")
        try:
            if whole:
                return Integer(int(low), int(high), log=log, default=int(default))
            return Real(low, high, log=log, default=default)
        except BadInput as error:
            raise spans[0].error(str(error)) from None

    def _check_rest(self, line: Span, match: re.Match[str], known: str) -> str:
        """Flags after the default: `log`, or `i` and `l`.

        Existing files have an `i` after lists and after new integers, where it has no meaning.
        """
        rest = line.group(match, "rest")
        pattern = {"": "", "log": "(?:log)?", "il": "(?:i|l|il|li)?"}[known]
        if re.fullmatch(pattern, rest.text):
            return rest.text
        if rest.text == "i" and match["type"] != "real":
            self.notes.append(f"{rest.where}: 'i' has no meaning here and is ignored")
            return ""
        raise rest.error(
            f"expected the end of the line{f' or {known!r}' * bool(known)}, found {rest.found}"
        )


def _is_old_condition(expression: Expression) -> bool:
    return isinstance(expression, Member) and not isinstance(expression, Unlike)


def _values(inside: Span) -> list[Span]:
    """Values of a list, with ranges of ParamILS 3 expanded."""
    found: list[Span] = []
    for span in inside.split(","):
        if not span.text:
            raise span.error("expected a value, found ''")
        match = RANGE.fullmatch(span.text)
        found += _ranging(span, match, found) if match else [span]
    return found


def _ranging(span: Span, match: re.Match[str], before: list[Span]) -> list[Span]:
    """Values of `first..last` in steps of 1, or of the distance to the one value before it."""
    if len(before) > 1:
        raise span.error(f"a range must come first or after one value, but {span.found} does not")
    first, last = (_decimal(span.group(match, name)) for name in ("first", "last"))
    step = first - _decimal(before[0]) if before else Decimal(1 if first <= last else -1)
    if step == 0 or (last - first) / step < 0:
        raise span.error(f"{span.found} is empty in steps of {step}")
    count = int((last - first) / step) + 1
    if count > _MAX_VALUES:
        raise span.error(f"{span.found} has more than {_MAX_VALUES:,} values")
    values = (first + number * step for number in range(count))
    return [Span(span.path, span.line, span.column, f"{value:f}") for value in values]


def _decimal(span: Span) -> Decimal:
    span.number()  # rejects anything that is not a number, or too large
    return Decimal(span.text)


def is_new_pcs(text: str) -> bool:
    """Whether a PCS text uses the new syntax."""
    return any(_NEW.match(line) for line in text.splitlines())
