"""Domains that depend on other parameters, as in irace: `b r (1, "a")`.

Such a parameter receives every value it could ever have, computed by interval arithmetic on the
ranges of the others. Values outside its own range are forbidden, and it is active only if the
others are. In irace, a range that turns out empty is an error in the middle of a race; here such a
combination is forbidden. Integer bounds are truncated towards zero, as in irace.

Source: irace's `getDependentBound`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import Compare, Expression, Relation
from paramhs.core.space.conditions.terms import Calculation, Ref, Term, calculated, mentioned
from paramhs.core.space.parameters import Integer, Parameter, Real

Interval = tuple[float, float]


def outside(
    name: str, low: Term, high: Term, parameters: Mapping[str, Parameter]
) -> list[tuple[int, Expression]]:
    """Clauses to forbid, with the number of the bound they come from; none for plain numbers."""
    ends = ((0, "<", low), (1, ">", high))
    return [
        (number, _compared(name, sign, _uncut(name, sign, term, parameters)))
        for number, sign, term in ends
        if any(mentioned(term))
    ]


def _uncut(name: str, sign: str, term: Term, parameters: Mapping[str, Parameter]) -> Term:
    """Remove the truncation from a bound where it makes no difference to an integer.

    That is the case for an upper bound truncated down, and for a lower bound truncated up.
    """
    whole = isinstance(parameters[name], Integer)
    if not whole or not isinstance(term, Calculation) or term.sign != "trunc":
        return term
    least, most = hull(term.parts[0], parameters)
    return term.parts[0] if (least >= 0 if sign == ">" else most <= 0) else term


def _compared(name: str, sign: str, term: Term) -> Expression:
    return Compare(name, sign, term) if isinstance(term, Ref) else Relation(Ref(name), sign, term)


def cut_to_integer(term: Term, parameters: Mapping[str, Parameter]) -> Term:
    """Truncate a term towards zero unless it is always an integer."""
    return term if _is_whole(term, parameters) else calculated("trunc", term)


def _is_whole(term: Term, parameters: Mapping[str, Parameter]) -> bool:
    if isinstance(term, Ref):
        return isinstance(parameters[term.name], Integer)
    if isinstance(term, int | float):
        return float(term).is_integer()
    if term.sign in ("round", "floor", "ceiling", "trunc"):
        return True
    whole = all(_is_whole(part, parameters) for part in term.parts)
    return whole and term.sign in ("+", "-", "*", "min", "max", "abs")


def hull(term: Term, parameters: Mapping[str, Parameter]) -> Interval:
    """Interval that always contains the term."""
    low, high = _interval(term, parameters)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise BadInput(f"'{term}' may be infinite")
    return low, high


def _interval(term: Term, parameters: Mapping[str, Parameter]) -> Interval:
    if isinstance(term, int | float):
        return float(term), float(term)
    if isinstance(term, Ref):
        parameter = parameters[term.name]
        if not isinstance(parameter, Integer | Real):
            raise BadInput(f"{term.name} is not a number")
        return float(parameter.low), float(parameter.high)
    parts = [_interval(part, parameters) for part in term.parts]
    if term.sign in ("+", "*"):
        total = parts[0]
        for part in parts[1:]:
            total = _corners(term.sign, total, part)
        return total
    return _INTERVALS[term.sign](term, parts)


def _corners(sign: str, *parts: Interval) -> Interval:
    """Range of an operation that is monotonic in each part: its extremes are at corners."""
    ends = [calculated(sign, *corner) for corner in product(*parts)]
    numbers = [float(end) for end in ends if isinstance(end, int | float)]
    return min(numbers), max(numbers)


def _monotonic(term: Calculation, parts: Sequence[Interval]) -> Interval:
    return _corners(term.sign, *parts)


def _chosen(term: Calculation, parts: Sequence[Interval]) -> Interval:
    choose = min if term.sign == "min" else max
    return choose(low for low, _ in parts), choose(high for _, high in parts)


def _quotient(term: Calculation, parts: Sequence[Interval]) -> Interval:
    low, high = parts[1]
    if low <= 0 <= high:
        raise BadInput(f"'{term}' may divide by zero")
    return _corners("/", *parts) if term.sign == "/" else (min(low, 0.0), max(high, 0.0))


def _power(term: Calculation, parts: Sequence[Interval]) -> Interval:
    if parts[0][0] <= 0:
        raise BadInput(f"'{term}' may be a power of zero or less")
    return _corners("^", *parts)


def _absolute(term: Calculation, parts: Sequence[Interval]) -> Interval:
    low, high = parts[0]
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))


_INTERVALS: dict[str, Callable[[Calculation, Sequence[Interval]], Interval]] = {
    **dict.fromkeys(("-", "round", "floor", "ceiling", "trunc"), _monotonic),
    **dict.fromkeys(("min", "max"), _chosen),
    **dict.fromkeys(("/", "%"), _quotient),
    "^": _power,
    "abs": _absolute,
}
