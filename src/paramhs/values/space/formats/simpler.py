"""Comparisons in the fewer words that other formats have.

A list of alternatives, each a list of comparisons that hold together; none where nothing satisfies
it. What comes out holds only if the parameter is active, in ConfigSpace's reading too.
"""

import math
from collections.abc import Collection, Mapping

from paramhs.values.errors import BadInput
from paramhs.values.space.expressions import Compare, Expression, Leaf, Member, compiled
from paramhs.values.space.formats.texts import is_listed
from paramhs.values.space.parameters import Integer, Parameter, Real
from paramhs.values.space.terms import Ref
from paramhs.values.space.values import Value

MOST_LISTED = 256  # values of a range that are written one by one where nothing else is possible


def satisfying(expression: Expression, name: str, parameter: Parameter) -> tuple[Value, ...]:
    """The values of its only parameter with which an expression holds."""
    holds = compiled(expression, {name: parameter})
    return tuple(parameter.value(i) for i in range(parameter.levels) if holds([i]))


def explicit_values(leaf: Leaf, parameter: Parameter) -> tuple[Value, ...] | None:
    """The values with which a comparison holds; None if they are too many to write."""
    if isinstance(leaf, Compare) and isinstance(leaf.other, Ref):
        return None
    if is_listed(parameter):
        return satisfying(leaf, leaf.name, parameter)
    if isinstance(leaf, Member):
        return leaf.values
    if leaf.sign == "==":
        return (leaf.other,)  # type: ignore[return-value]  # no Ref
    if isinstance(parameter, Integer) and parameter.levels <= MOST_LISTED and not parameter.log:
        return satisfying(leaf, leaf.name, parameter)
    return None


def member(name: str, values: tuple[Value, ...]) -> list[list[Leaf]]:
    """One of these values."""
    if not values:
        return []
    return [[Compare(name, "==", values[0]) if len(values) == 1 else Member(name, values)]]


def simpler(
    leaf: Leaf, parameters: Mapping[str, Parameter], conditional: Collection[str]
) -> list[list[Leaf]]:
    """A comparison by `==`, `in`, `<` and `>` with values in range; `!=` if always active."""
    if isinstance(leaf, Compare) and isinstance(leaf.other, Ref):
        raise BadInput(f"it cannot compare two parameters: '{leaf}'")
    name, parameter = leaf.name, parameters[leaf.name]
    if is_listed(parameter):
        return member(name, satisfying(leaf, name, parameter))
    if isinstance(leaf, Member):
        return member(name, leaf.values)
    if leaf.sign == "==":
        return [[leaf]]
    if leaf.sign == "!=":
        around: list[list[Leaf]] = [[Compare(name, sign, leaf.other)] for sign in ("<", ">")]
        return around if name in conditional else [[leaf]]
    assert isinstance(parameter, Integer | Real)  # noqa: S101 -- for the type checker
    return _bounded(leaf, parameter)


def _bounded(leaf: Compare, parameter: Integer | Real) -> list[list[Leaf]]:
    """`<` or `>`, and `==` where the bound itself is meant too."""
    assert isinstance(leaf.other, int | float)  # noqa: S101 -- for the type checker
    name, bound, strict = leaf.name, leaf.other, leaf.sign[0]
    if isinstance(parameter, Integer):
        bound = math.ceil(bound) if leaf.sign in ("<", ">=") else math.floor(bound)
    low, high = parameter.low, parameter.high
    if (bound < low and strict == "<") or (bound > high and strict == ">"):
        return []
    if not low <= bound <= high:  # whatever its value is, if only it is active
        return [[Compare(name, "==", low)], [Compare(name, ">", low)]]
    found: list[list[Leaf]] = [[Compare(name, strict, bound)]]
    return [*found, [Compare(name, "==", bound)]] if leaf.sign.endswith("=") else found
