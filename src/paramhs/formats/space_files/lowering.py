"""Comparisons rewritten in the smaller vocabulary of other formats.

The result is a list of alternatives, each a list of comparisons that hold together; it is empty if
nothing satisfies the comparison. It holds only if the parameter is active, also under ConfigSpace's
interpretation.
"""

import math
from collections.abc import Collection, Mapping

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import Compare, Expression, Leaf, Member, compiled
from paramhs.core.space.conditions.terms import Ref
from paramhs.core.space.integer_grids import log_spaced, usual_levels
from paramhs.core.space.literals import Value
from paramhs.core.space.parameters import DEFAULT_LEVELS, Integer, Ordinal, Parameter, Real
from paramhs.core.space.space import Space
from paramhs.formats.space_files.source_lines import is_listed

MAX_VALUES = 256  # values of a range that are listed where nothing else is possible


def satisfying(expression: Expression, name: str, parameter: Parameter) -> tuple[Value, ...]:
    """Values of an expression's only parameter for which it holds."""
    holds = compiled(expression, {name: parameter})
    return tuple(parameter.value(i) for i in range(parameter.levels) if holds([i]))


def explicit_values(leaf: Leaf, parameter: Parameter) -> tuple[Value, ...] | None:
    """Values for which a comparison holds; None if there are too many to list."""
    if isinstance(leaf, Compare) and isinstance(leaf.other, Ref):
        return None
    if is_listed(parameter):
        return satisfying(leaf, leaf.name, parameter)
    if isinstance(leaf, Member):
        return leaf.values
    if leaf.sign == "==":
        return (leaf.other,)  # type: ignore[return-value]  # no Ref
    if isinstance(parameter, Integer) and parameter.levels <= MAX_VALUES and not parameter.log:
        return satisfying(leaf, leaf.name, parameter)
    return None


def member(name: str, values: tuple[Value, ...]) -> list[list[Leaf]]:
    """Membership in a list of values, in the simplest form."""
    if not values:
        return []
    return [[Compare(name, "==", values[0]) if len(values) == 1 else Member(name, values)]]


def simpler(
    leaf: Leaf, parameters: Mapping[str, Parameter], conditional: Collection[str]
) -> list[list[Leaf]]:
    """Rewrite a comparison with `==`, `in`, `<`, `>`, and `!=` if the parameter is always active.

    All values are inside the parameter's range.
    """
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
    """Rewrite a bound as `<` or `>`, with `==` if the bound itself is included."""
    assert isinstance(leaf.other, int | float)  # noqa: S101 -- for the type checker
    name, bound, strict = leaf.name, leaf.other, leaf.sign[0]
    if isinstance(parameter, Integer):
        bound = math.ceil(bound) if leaf.sign in ("<", ">=") else math.floor(bound)
    low, high = parameter.low, parameter.high
    if (bound < low and strict == "<") or (bound > high and strict == ">"):
        return []
    if not low <= bound <= high:  # holds for every value of an active parameter
        return [[Compare(name, "==", low)], [Compare(name, ">", low)]]
    found: list[list[Leaf]] = [[Compare(name, strict, bound)]]
    return [*found, [Compare(name, "==", bound)]] if leaf.sign.endswith("=") else found


def has_own_levels(parameter: Parameter) -> bool:
    """Whether a range has another number of levels than one that says nothing of them."""
    if isinstance(parameter, Integer):
        low, high = parameter.low, parameter.high
        usual = log_spaced(low, high, usual_levels(low, high)) if parameter.log else ()
        return len(parameter.chosen) != len(usual)
    return isinstance(parameter, Real) and parameter.grid_levels != DEFAULT_LEVELS


def without_special(space: Space) -> Space:
    """The space with lists of values for what no other format has: ranges with special values, and
    log-spaced ranges from 0."""
    listed = {name: _as_list(parameter) for name, parameter in space.parameters.items()}
    if all(listed[name] is parameter for name, parameter in space.parameters.items()):
        return space
    return Space(listed, conditions=space.conditions, forbidden=space.forbidden)


def _as_list(parameter: Parameter) -> Parameter:
    if not isinstance(parameter, Integer | Real):
        return parameter
    if not parameter.special and (parameter.low > 0 or not parameter.log):
        return parameter
    values = [parameter.value(index) for index in range(parameter.levels)]
    return Ordinal(values, default=parameter.default)
