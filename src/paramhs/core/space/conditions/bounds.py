"""Expressions on many configurations at once: whether they may hold, and whether they may not.

The configurations are a box: a range of indices for each parameter. The answer may allow a truth
value that no configuration of the box has, never the reverse. Numbers become intervals. Rounding is
monotone, so the ends of an interval are computed like the numbers themselves.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from paramhs.core.space.conditions.expressions import (
    COMPARISONS,
    And,
    Compare,
    Expression,
    Leaf,
    Or,
    Relation,
    compiled,
    names,
)
from paramhs.core.space.conditions.terms import Calculation, Ref, Term, has_numbers, operation
from paramhs.core.space.parameters import Ordinal, Parameter

Truths = int
"""Set of truth values, as bits."""
FALSE, TRUE, EITHER = 1, 2, 3

Box = Sequence[range]
"""Indices of each parameter, before conditions."""
Bounds = Callable[[Box, Sequence[Truths]], Truths]
"""Possible truth values of an expression on a box. The second argument says of each parameter
whether it is active there."""

_Interval = tuple[float, float]
_Ends = Callable[[Box], _Interval | None]
"""Least and largest number of a term; None if it may be NaN, or if too little is known."""

_MAX_TESTS = 100  # values of a parameter that are tested one by one
_GROWING = ("+", "min", "max", "round", "floor", "ceiling", "trunc")  # in each of their numbers


def bounds(
    expression: Expression, parameters: Mapping[str, Parameter], position: Mapping[str, int]
) -> Bounds:
    """Compile a valid expression into its possible truth values on a box."""
    if isinstance(expression, And | Or):
        parts = [bounds(part, parameters, position) for part in expression.parts]
        return _joined(parts, FALSE if isinstance(expression, And) else TRUE)
    among = [position[name] for name in dict.fromkeys(names(expression))]
    found = _when_active(expression, parameters, position)

    def truths(box: Box, active: Sequence[Truths]) -> Truths:
        states = [active[at] for at in among]
        if FALSE in states:
            return FALSE
        return found(box) | FALSE if EITHER in states else found(box)

    return truths


def _joined(parts: Sequence[Bounds], decisive: Truths) -> Bounds:
    """Truths of a conjunction (one FALSE decides it) or of a disjunction (one TRUE does)."""

    def truths(box: Box, active: Sequence[Truths]) -> Truths:
        found = EITHER - decisive
        for part in parts:
            one = part(box, active)
            if one == decisive:
                return decisive
            found |= one
        return found

    return truths


def _when_active(
    leaf: Leaf | Relation, parameters: Mapping[str, Parameter], position: Mapping[str, int]
) -> Callable[[Box], Truths]:
    """Truths of a comparison whose parameters are all active."""
    if isinstance(leaf, Relation):
        return _of_numbers(leaf.left, leaf.sign, leaf.right, parameters, position)
    if isinstance(leaf, Compare) and isinstance(leaf.other, Ref):
        first, second = parameters[leaf.name], parameters[leaf.other.name]
        if has_numbers(first) and has_numbers(second):
            return _of_numbers(Ref(leaf.name), leaf.sign, leaf.other, parameters, position)
    test = compiled(leaf, parameters, position)
    among = [position[name] for name in dict.fromkeys(names(leaf))]
    by_order = isinstance(leaf, Compare) and leaf.sign not in ("==", "!=")

    def truths(box: Box) -> Truths:
        ranges = [box[at] for at in among]
        if by_order:  # values grow with their indices, so both ends decide
            ranges = [values[:: max(len(values) - 1, 1)] for values in ranges]
        if math.prod(map(len, ranges)) > _MAX_TESTS:
            return EITHER
        indices, held = [0] * len(box), set()
        for values in product(*ranges):
            for at, index in zip(among, values, strict=True):
                indices[at] = index
            held.add(test(indices))
        return sum(TRUE if holds else FALSE for holds in held)

    return truths


def _of_numbers(
    left: Term,
    sign: str,
    right: Term,
    parameters: Mapping[str, Parameter],
    position: Mapping[str, int],
) -> Callable[[Box], Truths]:
    """Truths of a comparison of two intervals."""
    ours, theirs = (_ends(term, parameters, position) for term in (left, right))
    compare = COMPARISONS[sign]

    def truths(box: Box) -> Truths:
        one, other = ours(box), theirs(box)
        if one is None or other is None:
            return EITHER
        if sign in ("==", "!="):
            if one[1] < other[0] or other[1] < one[0]:
                return FALSE if sign == "==" else TRUE
            if one[0] == one[1] == other[0] == other[1]:
                return TRUE if sign == "==" else FALSE
            return EITHER
        held = {compare(one[0], other[1]), compare(one[1], other[0])}
        return sum(TRUE if holds else FALSE for holds in held)

    return truths


def _ends(term: Term, parameters: Mapping[str, Parameter], position: Mapping[str, int]) -> _Ends:
    """Compile a term into its least and largest number on a box."""
    if isinstance(term, Ref):
        parameter, at = parameters[term.name], position[term.name]
        return lambda box: _least_and_largest(parameter, box[at])
    if not isinstance(term, Calculation):
        return lambda box: (float(term), float(term))
    operate, sign = operation(term.sign), term.sign
    parts = [_ends(part, parameters, position) for part in term.parts]

    def ends(box: Box) -> _Interval | None:
        inner = [part(box) for part in parts]
        if None in inner:
            return None
        known = [interval for interval in inner if interval is not None]
        single = all(low == high for low, high in known)
        if sign == "abs" and known[0][0] < 0 < known[0][1]:
            return (0.0, max(map(abs, known[0])))
        if sign == "/" and known[1][0] <= 0 <= known[1][1] and not single:
            return None
        if sign in ("%", "^") and not single:
            return None
        if sign in _GROWING:
            return _checked([operate(*(low for low, _ in known)), operate(*(i[1] for i in known))])
        if sign == "*":  # one factor after the other, as the product is rounded
            found: _Interval | None = known[0]
            for factor in known[1:]:
                found = found and _checked([operate(a, b) for a in found for b in factor])
            return found
        return _checked([operate(*corner) for corner in product(*known)])

    return ends


def _least_and_largest(parameter: Parameter, indices: range) -> _Interval:
    """Least and largest value of a parameter with numbers."""
    some: Iterable[int] = indices if isinstance(parameter, Ordinal) else (indices[0], indices[-1])
    values = [float(parameter.value(index)) for index in some]
    return min(values), max(values)


def _checked(numbers: Sequence[float]) -> _Interval | None:
    return None if any(map(math.isnan, numbers)) else (min(numbers), max(numbers))
