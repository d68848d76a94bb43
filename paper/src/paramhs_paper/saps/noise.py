"""Comparisons of fresh runs, which the paper could not afford: who wins, exactly.

One run is one run on each instance, and its cost is the sum of their fewest false clauses. Runs are
drawn from those that were made: the law of a sum is a convolution of their histograms.
"""

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple

import numpy as np

from paramhs.results.landscape.outcomes import Array, sum_law
from paramhs_paper.saps.grid import Cell
from paramhs_paper.saps.table import Landscape


class Law(NamedTuple):
    """Probabilities of `low`, `low` + 1, ..."""

    low: int
    chance: Array

    @property
    def high(self) -> int:
        """One beyond the largest number."""
        return self.low + len(self.chance)


def beats_by_runs(landscape: Landscape, runs: int) -> Array:
    """`[x, y]`: the probability that y, with fewer false clauses in so many runs, replaces x.

    Settings are in the order of alpha, then rho; a fair coin decides ties.
    """
    laws = [
        _times(_sum_over_instances(landscape, alpha, rho), runs)
        for alpha in landscape.alphas
        for rho in landscape.rhos
    ]
    below = [np.cumsum(law.chance) - law.chance / 2 for law in laws]
    beats = np.full((len(laws), len(laws)), 0.5)
    for x, old in enumerate(laws):
        for y in range(x):
            beats[x, y] = _fewer(laws[y], below[y], old)
            beats[y, x] = 1 - beats[x, y]
    return beats


def _sum_over_instances(landscape: Landscape, alpha: int, rho: int) -> Law:
    laws = [_law(landscape.best[Cell(name, alpha, rho)]) for name in landscape.instances]
    chance = reduce(np.convolve, (law.chance for law in laws))
    return Law(sum(law.low for law in laws), np.asarray(chance))


def _law(counts: Mapping[int, int]) -> Law:
    low = min(counts)
    chance = np.zeros(max(counts) - low + 1)
    for number, count in counts.items():
        chance[number - low] = count
    return Law(low, chance / chance.sum())


def _times(law: Law, runs: int) -> Law:
    """The law of the sum of so many, without the empty ends."""
    chance = sum_law(law.chance, runs)
    used = np.flatnonzero(chance)
    return Law(law.low * runs + int(used[0]), chance[used[0] : used[-1] + 1])


def _fewer(new: Law, below: Array, old: Law) -> float:
    """The probability that new < old, and half of that of new = old; `below[k]`: that new is below
    its k-th number, and half of that it is equal."""
    low, high = max(new.low, old.low), min(new.high, old.high)
    certain = float(old.chance[max(new.high - old.low, 0) :].sum())
    if low >= high:
        return min(certain, 1.0)
    common = old.chance[low - old.low : high - old.low]
    won = (common * below[low - new.low : high - new.low]).sum()
    return min(float(won) + certain, 1.0)
