"""Conditions and forbidden combinations: comparisons joined by `and` and `or`.

They are built from the classes below, or parsed from a text by `parser`. A comparison that mentions
an inactive parameter is false.
"""

import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.terms import (
    Calculation,
    Ref,
    Term,
    check_terms,
    has_numbers,
    mentioned,
    number_in,
    written_name,
)
from paramhs.core.space.literals import Value, identity, value_text
from paramhs.core.space.parameters import Integer, Parameter, Real
from paramhs.core.text.quoting import short

Test = Callable[[Sequence[int]], bool]
"""Test of an expression on one index per parameter (-1 for an inactive one)."""

# Levels; reading, writing and testing an expression recurse as deep as it is nested.
MAX_DEPTH = 50
# Index that no value has, different from -1 of an inactive parameter.
_NO_INDEX = -2

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Compare:
    """Comparison of a parameter with a value or another parameter."""

    name: str
    sign: str
    other: Value | Ref

    def __str__(self) -> str:
        other = str(self.other) if isinstance(self.other, Ref) else _quoted(self.other)
        return f"{written_name(self.name)} {self.sign} {other}"

    def __post_init__(self) -> None:
        _check_sign(self.sign)
        if not isinstance(self.other, Ref):
            identity(self.other)


@dataclass(frozen=True)
class Relation:
    """Arithmetic compared with a number, a parameter or more arithmetic: `k + n > 2 * m`."""

    left: Term
    sign: str
    right: Term

    def __str__(self) -> str:
        both = [str(t) if isinstance(t, Ref | Calculation) else _quoted(t) for t in self._terms]
        return f"{both[0]} {self.sign} {both[1]}"

    def __post_init__(self) -> None:
        _check_sign(self.sign)
        check_terms(self._terms)

    @property
    def _terms(self) -> tuple[Term, Term]:
        return self.left, self.right


@dataclass(frozen=True)
class Member:
    """Membership of a parameter's value in a set; false if the set is empty."""

    name: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        for value in self.values:
            identity(value)

    def __str__(self) -> str:
        return f"{written_name(self.name)} in {{{', '.join(map(_quoted, self.values))}}}"


@dataclass(frozen=True)
class And:
    """Conjunction of expressions."""

    parts: tuple["Expression", ...]

    def __str__(self) -> str:
        return " and ".join(f"({p})" if isinstance(p, And | Or) else str(p) for p in self.parts)


@dataclass(frozen=True)
class Or:
    """Disjunction of expressions."""

    parts: tuple["Expression", ...]

    def __str__(self) -> str:
        return " or ".join(f"({p})" if isinstance(p, Or) else str(p) for p in self.parts)


Leaf = Compare | Member
Expression = Leaf | Relation | And | Or


def names(expression: Expression) -> Iterator[str]:
    """Yield the names of the parameters that an expression mentions."""
    if isinstance(expression, And | Or):
        for part in expression.parts:
            yield from names(part)
        return
    if isinstance(expression, Relation):
        yield from mentioned(expression.left)
        yield from mentioned(expression.right)
        return
    yield expression.name
    if isinstance(expression, Compare):
        yield from mentioned(expression.other)


def check_depth(expression: Expression) -> None:
    """Reject an expression nested so deeply that handling it would exhaust the stack."""
    level: list[object] = [expression]
    for _ in range(MAX_DEPTH):
        level = [part for outer in level for part in _inside(outer)]
        if not level:
            return
    raise BadInput(f"an expression is nested more than {MAX_DEPTH} deep")


def _inside(expression: object) -> Sequence[object]:
    if isinstance(expression, Relation):
        return (expression.left, expression.right)
    return expression.parts if isinstance(expression, And | Or | Calculation) else ()


def compiled(
    expression: Expression,
    parameters: Mapping[str, Parameter],
    position: Mapping[str, int] | None = None,
) -> Test:
    """Compile an expression into a fast test.

    `position` maps each parameter to the place of its index; pass it to compile many expressions.

    Raises:
        BadInput: The expression makes no sense for these parameters.
    """
    check_depth(expression)
    for name in names(expression):
        if name not in parameters:
            raise BadInput(f"'{cut(expression)}' mentions {name!r}, which is not a parameter")
    try:
        if position is None:
            position = {name: i for i, name in enumerate(parameters)}
        return _compiled(expression, parameters, position)
    except BadInput as error:
        raise BadInput(f"in '{cut(expression)}': {error}") from None


def cut(expression: Expression, most: int = 200) -> str:
    """Abbreviate an expression for a message."""
    text = str(expression)
    return text if len(text) <= most else f"{text[:most]} ..."


def _compiled(
    expression: Expression, parameters: Mapping[str, Parameter], position: Mapping[str, int]
) -> Test:
    if isinstance(expression, And):
        tests = [_compiled(part, parameters, position) for part in expression.parts]
        return lambda indices: all(test(indices) for test in tests)
    if isinstance(expression, Or):
        tests = [_compiled(part, parameters, position) for part in expression.parts]
        return lambda indices: any(test(indices) for test in tests)
    if isinstance(expression, Relation):
        return _between_terms(expression, parameters, position)
    at = position[expression.name]
    parameter = parameters[expression.name]
    if isinstance(expression, Member):
        members = frozenset(_index(parameter, value) for value in expression.values)
        return lambda indices: indices[at] in members
    if isinstance(expression.other, Ref):
        return _relation(expression, parameter, parameters[expression.other.name], position)
    return _against_value(expression.sign, expression.other, parameter, at)


def _against_value(sign: str, value: Value, parameter: Parameter, at: int) -> Test:
    compare = COMPARISONS[sign]
    if sign in ("==", "!=") or not parameter.numeric:
        if sign not in ("==", "!=") and not parameter.ordered:
            raise BadInput(f"categories have no order, so {sign!r} means nothing; use == or in")
        index = _index(parameter, value)
        return lambda indices: indices[at] >= 0 and compare(indices[at], index)
    if isinstance(value, bool | str):
        raise BadInput(f"{short(value)} is not a number")
    return lambda indices: indices[at] >= 0 and compare(parameter.value(indices[at]), value)


def _index(parameter: Parameter, value: Value) -> int:
    """Index of a value; numbers and truth values are also looked up as text.

    A number inside the range but off the grid is a value that no configuration ever has.
    """
    try:
        return parameter.index(value)
    except BadInput as error:
        if _is_between_levels(parameter, value):
            return _NO_INDEX
        try:
            return parameter.index(value_text(value))
        except BadInput:
            raise error from None


def _is_between_levels(parameter: Parameter, value: Value) -> bool:
    if isinstance(value, bool | str) or not isinstance(parameter, Real | Integer):
        return False
    if isinstance(parameter, Integer) and not (parameter.log and float(value).is_integer()):
        return False
    return parameter.low <= value <= parameter.high


def _relation(
    expression: Compare, left: Parameter, right: Parameter, position: Mapping[str, int]
) -> Test:
    compare = COMPARISONS[expression.sign]
    assert isinstance(expression.other, Ref)  # noqa: S101 -- for the type checker
    at, other = position[expression.name], position[expression.other.name]
    if expression.sign not in ("==", "!="):
        for parameter in (left, right):
            if not has_numbers(parameter):
                raise BadInput(
                    f"{expression.sign!r} between parameters needs numbers on both sides"
                )
    return lambda indices: (
        indices[at] >= 0
        and indices[other] >= 0
        and compare(left.value(indices[at]), right.value(indices[other]))
    )


def _between_terms(
    expression: Relation, parameters: Mapping[str, Parameter], position: Mapping[str, int]
) -> Test:
    compare = COMPARISONS[expression.sign]
    left = number_in(expression.left, parameters, position)
    right = number_in(expression.right, parameters, position)
    positions = [position[name] for name in dict.fromkeys(names(expression))]

    def holds(indices: Sequence[int]) -> bool:
        if any(indices[at] < 0 for at in positions):
            return False
        one, other = left(indices), right(indices)
        return one == one and other == other and compare(one, other)  # NaN differs from itself

    return holds


def _quoted(value: Value) -> str:
    return json.dumps(value) if isinstance(value, str) else value_text(value)


def _check_sign(sign: str) -> None:
    if sign not in COMPARISONS:
        raise BadInput(f"{sign!r} is not one of {', '.join(COMPARISONS)}")
