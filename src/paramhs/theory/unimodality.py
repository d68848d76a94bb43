"""Distance of a landscape from having a single valley.

A function f on 0 .. m-1 is (alpha, beta)-approximately unimodal, alpha >= 1 and 1 <= beta <= m, if
every x at distance i >= beta from the optimum beats every y at distance j > alpha i. To beat is to
cost strictly less: a tie beats nothing. (1, 1) is unimodal, and every f is (1, m).
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from paramhs.core.errors import BadInput

Floats = NDArray[np.float64]
Costs = Sequence[float] | Floats
"""Cost of each value, lower being better; infinite for a value that fails."""

Profile = list[Fraction]
"""Smallest alpha for beta = 1, ..., m, at index beta - 1; never increasing, 1 at the end."""


def profile(costs: Costs, optimum: int | None = None) -> Profile:
    """Smallest alpha for each beta, exactly, in O(m log m).

    Without `optimum` the best value must be unique. With it, distances are measured from any value
    of the best cost; the upper bounds of `bounds` hold in either case.

    At distance i the worst value counts, at distance j the best. The farthest j that the worst
    value at i does not beat is where the minimum of all costs from j on is still at most that worst
    cost: a binary search, because these minima increase. Then alpha must be at least j / i.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), the definition before Theorem 4.
    """
    array = checked(costs)
    best, worst = _by_distance(array, _optimum(array, optimum))
    onwards = np.minimum.accumulate(best[::-1])[::-1]
    unbeaten = np.searchsorted(onwards, worst, side="right") - 1
    return _largest_from(unbeaten, len(array))


def is_approximately_unimodal(
    costs: Costs, alpha: Fraction | float, beta: int, optimum: int | None = None
) -> bool:
    """Whether the landscape is (alpha, beta)-approximately unimodal."""
    if not 1 <= alpha < math.inf or not 1 <= beta <= len(costs):
        raise BadInput(f"alpha must be at least 1 and beta in 1 .. {len(costs)}")
    return profile(costs, optimum)[beta - 1] <= Fraction(str(alpha))  # 1.7 is meant as 17/10


def optima(costs: Costs) -> list[int]:
    """Indices of the best cost."""
    array = checked(costs)
    return [int(index) for index in np.flatnonzero(array == array.min())]


def checked(costs: Costs) -> Floats:
    """Convert costs to an array; reject an empty list, or one with NaN."""
    array = np.asarray(costs, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or np.isnan(array).any():
        raise BadInput("a landscape is a list of costs, at least one, and all of them numbers")
    return array


def _optimum(costs: Floats, given: int | None) -> int:
    best = optima(costs)
    if given is None and len(best) > 1:
        raise BadInput(
            f"{len(best)} values share the best cost {costs[best[0]]:g}: say which is the optimum"
        )
    if given is not None and given not in best:
        raise BadInput(f"value number {given} is not an optimum")
    return best[0] if given is None else given


def _by_distance(costs: Floats, optimum: int) -> tuple[Floats, Floats]:
    """Best and worst cost at each distance 0, 1, ... from the optimum."""
    shorter, longer = sorted((costs[optimum::-1], costs[optimum:]), key=len)
    best, worst = longer.copy(), longer.copy()
    np.minimum(best[: len(shorter)], shorter, out=best[: len(shorter)])
    np.maximum(worst[: len(shorter)], shorter, out=worst[: len(shorter)])
    return best, worst


def _largest_from(unbeaten: NDArray[np.int64], levels: int) -> Profile:
    """Largest unbeaten[i] / i over i >= beta, for each beta; 1 if there is no such i."""
    result = [Fraction(1)] * levels
    largest = result[-1]
    for i in range(len(unbeaten) - 1, 0, -1):
        j = int(unbeaten[i])
        if j * largest.denominator > largest.numerator * i:
            largest = Fraction(j, i)
        result[i - 1] = largest
    return result
