"""Writer of PCS files, in the old and the new syntax."""

import re
from itertools import product
from math import prod

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import (
    And,
    Compare,
    Expression,
    Leaf,
    Member,
    cut,
    names,
)
from paramhs.core.space.conditions.terms import Ref
from paramhs.core.space.literals import Value
from paramhs.core.space.parameters import Integer, Ordinal, Parameter, Real
from paramhs.core.space.space import Space
from paramhs.core.text.quoting import short
from paramhs.formats.space_files.lowering import explicit_values, member, satisfying, simpler
from paramhs.formats.space_files.normal_forms import alternatives
from paramhs.formats.space_files.pcs_reader import RANGE
from paramhs.formats.space_files.source_lines import is_listed, written_value

_MAX_LINES = 10_000  # of one forbidden clause
_PLAIN = r"[^\s{}\[\]|,#\"']++"


def written_pcs(space: Space, new: bool) -> str:
    """Write a space as a PCS file."""
    for name in space.parameters:
        _check_name(name)
    parameters = [_parameter(name, p, new) for name, p in space.parameters.items()]
    conditions = [
        line for name, e in space.conditions.items() for line in _condition(space, name, e, new)
    ]
    forbidden = [line for clause in space.forbidden for line in _forbidden(space, clause, new)]
    blocks = [block for block in (parameters, conditions, forbidden) if block]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _check_name(name: str) -> None:
    if not re.fullmatch(_PLAIN, name) or "&&" in name or any(mark in name for mark in "=()"):
        raise BadInput(
            f"PCS cannot express the name {short(name)}: it contains blanks or special characters"
        )


def _text(value: Value) -> str:
    """Write a value; as in ParamILS's own files, it may contain single blanks."""
    text = written_value(value)
    plain = re.fullmatch(f"{_PLAIN}(?: {_PLAIN})*+", text)
    if not plain or "&&" in text or RANGE.fullmatch(text):
        raise BadInput(
            f"PCS cannot express the value {short(text)}: it contains special characters"
        )
    return text


def _parameter(name: str, parameter: Parameter, new: bool) -> str:
    if is_listed(parameter):
        values = ", ".join(_text(parameter.value(i)) for i in range(parameter.levels))
        kind = "ordinal " if isinstance(parameter, Ordinal) else "categorical "
        return f"{name} {kind if new else ''}{{{values}}} [{_text(parameter.default)}]"
    assert isinstance(parameter, Integer | Real)  # noqa: S101 -- for the type checker
    whole = isinstance(parameter, Integer)
    if isinstance(parameter, Integer) and parameter.step > 1:
        raise BadInput(f"PCS cannot express the step of {name}: {parameter.step}")
    kind = ("integer " if whole else "real ") if new else ""
    marks = (" log" if new else "l") if parameter.log else ""
    marks = "i" + marks if whole and not new else marks
    ends = f"[{parameter.low!r}, {parameter.high!r}] [{parameter.default!r}]"
    return f"{name} {kind}{ends}{marks}"


def _condition(space: Space, child: str, expression: Expression, new: bool) -> list[str]:
    try:
        if new:
            return [f"{child} | {_new_condition(space, expression)}"]
        parts = expression.parts if isinstance(expression, And) else (expression,)
        return [f"{child} | {_old_condition(space, part)}" for part in parts]
    except BadInput as error:
        raise BadInput(f"the condition of {child!r} cannot be expressed: {error}") from None


def _old_condition(space: Space, expression: Expression) -> str:
    """Line of the old syntax, which supports one parent and a list of its values."""
    parents = set(names(expression))
    if len(parents) > 1:
        raise BadInput(f"old PCS has no 'or' between parameters: '{cut(expression)}'; try pcs-new")
    (name,) = parents
    parameter = space.parameters[name]
    values: tuple[Value, ...] | None
    if is_listed(parameter):
        values = satisfying(expression, name, parameter)
    else:
        leaf = expression if isinstance(expression, Compare | Member) else None
        values = None if leaf is None else explicit_values(leaf, parameter)
    if values is None:
        raise BadInput(f"old PCS lists values: '{cut(expression)}' has too many; try pcs-new")
    return _in(name, values)


def _in(name: str, values: tuple[Value, ...]) -> str:
    if not values:
        raise BadInput(f"no value of {name!r} satisfies it")
    return f"{name} in {{{', '.join(map(_text, values))}}}"


def _new_condition(space: Space, expression: Expression) -> str:
    found = alternatives(expression, lambda leaf: simpler(leaf, space.parameters, space.conditions))
    if not found:
        raise BadInput(f"nothing satisfies '{cut(expression)}'")
    if len(found) > 1 and any(len(leaves) > 1 for leaves in found):
        # ConfigSpace misreads lists of values where && and || are mixed.
        found = _singles(found)
    return " || ".join(" && ".join(map(_comparison, leaves)) for leaves in found)


def _singles(found: list[list[Leaf]]) -> list[list[Leaf]]:
    """Expand every list of values into alternatives."""
    listed = [[_single(leaf) for leaf in leaves] for leaves in found]
    if sum(prod(map(len, leaves)) for leaves in listed) > _MAX_LINES:
        raise BadInput(f"it has more than {_MAX_LINES:,} alternatives")
    return [list(leaves) for every in listed for leaves in product(*every)]


def _single(leaf: Leaf) -> list[Leaf]:
    if isinstance(leaf, Compare):
        return [leaf]
    return [Compare(leaf.name, "==", value) for value in leaf.values]


def _comparison(leaf: Leaf) -> str:
    if isinstance(leaf, Member):
        return _in(leaf.name, leaf.values)
    other = leaf.other.name if isinstance(leaf.other, Ref) else _text(leaf.other)
    return f"{leaf.name} {leaf.sign} {other}"


def _forbidden(space: Space, clause: Expression, new: bool) -> list[str]:
    """Classic lines of equalities, or SMAC's newer form where they do not suffice."""
    try:
        lines: list[str] = []
        for leaves in alternatives(clause, lambda leaf: _classic(space, leaf)):
            values = _together(leaves)
            if prod(map(len, values.values())) + len(lines) > _MAX_LINES:
                raise BadInput(f"it takes more than {_MAX_LINES:,} lines")
            for chosen in product(*values.values()):
                pairs = zip(values, chosen, strict=True)
                lines.append("{" + ", ".join(f"{n}={_text(v)}" for n, v in pairs) + "}")
        return list(dict.fromkeys(lines))
    except _NotClassic as error:
        if not new:
            raise BadInput(f"the forbidden '{cut(clause)}' cannot be expressed: {error}") from None
    except BadInput as error:
        raise BadInput(f"the forbidden '{cut(clause)}' cannot be expressed: {error}") from None
    try:
        found = alternatives(clause, lambda leaf: _advanced(space, leaf))
    except BadInput as error:
        raise BadInput(f"the forbidden '{cut(clause)}' cannot be expressed: {error}") from None
    joined = " || ".join(" && ".join(map(_comparison, leaves)) for leaves in found)
    return [f"{{{joined}}}"] if found else []


class _NotClassic(BadInput):
    """The clause needs more than equalities."""


def _classic(space: Space, leaf: Leaf) -> list[list[Leaf]]:
    values = explicit_values(leaf, space.parameters[leaf.name])
    if values is None:
        raise _NotClassic(f"'{leaf}' is not an equality")
    return member(leaf.name, values)


def _advanced(space: Space, leaf: Leaf) -> list[list[Leaf]]:
    if isinstance(leaf, Compare) and isinstance(leaf.other, Ref):
        both = (space.parameters[leaf.name], space.parameters[leaf.other.name])
        if not all(p.numeric and p.levels > 1 for p in both):
            raise BadInput(f"PCS cannot compare two lists of values: '{leaf}'")
        return [[leaf]]
    return _singles(simpler(leaf, space.parameters, space.conditions))


def _together(leaves: list[Leaf]) -> dict[str, list[Value]]:
    """Values of each parameter for which all its comparisons hold."""
    found: dict[str, list[Value]] = {}
    for leaf in leaves:
        values = leaf.values if isinstance(leaf, Member) else (leaf.other,)
        kept = [value for value in values if not isinstance(value, Ref)]
        earlier = found.get(leaf.name, kept)
        found[leaf.name] = [value for value in kept if value in earlier]
    return found
