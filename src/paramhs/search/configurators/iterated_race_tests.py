"""Elimination tests: which of many candidates are clearly worse than the best.

A test takes the costs of each candidate, all on the same pairs, and names those that are worse at
its confidence. The confidence holds for one test; a race tests after each pair, so over a whole
race a good candidate is lost more often (measured in docs/benchmarks/index.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Protocol

from paramhs.core.costs import Cost, mean, score
from paramhs.core.distribution_tails import f_tail, t_tail


class Elimination(Protocol):
    """Elimination test for several candidates."""

    def worse(self, costs: Sequence[Sequence[Cost]]) -> set[int]:
        """Positions of the candidates that are clearly worse than the best."""


@dataclass(frozen=True)
class Friedman:
    """Friedman test: differences of rank sums from the smallest one.

    No candidate is worse unless the joint test rejects that all are equal (by its F approximation,
    which is better on few pairs). For two candidates it is the exact sign test.

    Source: Conover, Practical Nonparametric Statistics (1999), section 5.8; irace (Lopez-Ibanez et
    al., Operations Research Perspectives 3, 2016) does the same with the chi-square approximation,
    and Wilcoxon's test for two.
    """

    confidence: float = 0.95

    def worse(self, costs: Sequence[Sequence[Cost]]) -> set[int]:
        """Compare by ranks, so that the size of a difference has no influence."""
        if len(costs) < 2:
            return set()
        ranks = [_ranks(on_pair) for on_pair in zip(*costs, strict=True)]
        if len(costs) == 2:
            return self._worse_of_two(ranks)
        return self._worse_of_many(ranks)

    def _worse_of_two(self, ranks: Sequence[Sequence[float]]) -> set[int]:
        losses = [sum(on_pair[i] == 2 for on_pair in ranks) for i in (0, 1)]
        if _sign_test(*losses) >= 1 - self.confidence:
            return set()
        return {0 if losses[0] > losses[1] else 1}

    def _worse_of_many(self, ranks: Sequence[Sequence[float]]) -> set[int]:
        pairs, many = len(ranks), len(ranks[0])
        sums = [math.fsum(column) for column in zip(*ranks, strict=True)]
        squares = math.fsum(rank * rank for on_pair in ranks for rank in on_pair)
        of_sums = math.fsum(total * total for total in sums)
        by_chance = squares - pairs * many * (many + 1) ** 2 / 4
        if by_chance <= 0 or pairs < 2:  # all costs are equal on all pairs
            return set()
        between = (many - 1) * (of_sums - pairs * pairs * many * (many + 1) ** 2 / 4) / by_chance
        within = pairs * (many - 1) - between
        freedom = (pairs - 1) * (many - 1)
        if within <= 1e-9 * pairs:  # the same ranks on every pair
            p, unit = math.exp(-(pairs - 1) * math.lgamma(many + 1)), 0.0
        else:
            p = f_tail((pairs - 1) * between / within, many - 1, freedom)
            unit = math.sqrt(max(2 * (pairs * squares - of_sums) / freedom, 0.0))
        alpha = 1 - self.confidence
        if p >= alpha:
            return set()
        least = min(sums)
        return {i for i, total in enumerate(sums) if _tail_of(total - least, unit, freedom) < alpha}


@dataclass(frozen=True)
class PairedT:
    """Paired t-tests against the best mean, with Holm's correction.

    Where a cost is infinite (the run failed), failures are compared first, as numbers 0 and 1, then
    the costs that are finite on both sides.

    Source: irace's t-test; Holm, Scandinavian Journal of Statistics 6 (1979).
    """

    confidence: float = 0.95

    def worse(self, costs: Sequence[Sequence[Cost]]) -> set[int]:
        """Compare by means, so that a rare expensive run counts with its cost."""
        best = min(costs, key=score)
        values = {i: _p_worse(own, best) for i, own in enumerate(costs) if own is not best}
        found: set[int] = set()
        for left, i in zip(
            range(len(values), 0, -1), sorted(values, key=values.__getitem__), strict=True
        ):
            if values[i] * left >= 1 - self.confidence:
                break
            found.add(i)
        return found


def _ranks(costs: Sequence[Cost]) -> list[float]:
    """Ranks from 1 for the lowest cost; equal costs share their mean rank."""
    order = sorted(range(len(costs)), key=costs.__getitem__)
    ranks = [0.0] * len(costs)
    first = 0
    while first < len(order):
        after = first + 1
        while after < len(order) and costs[order[after]] == costs[order[first]]:
            after += 1
        for position in order[first:after]:
            ranks[position] = (first + 1 + after) / 2
        first = after
    return ranks


def _sign_test(first: int, second: int) -> float:
    """Two-sided p-value of the exact sign test."""
    n, fewer = first + second, min(first, second)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(fewer + 1)) / (1 << n))


def _tail_of(difference: float, unit: float, freedom: float) -> float:
    if difference <= 0:
        return 1.0
    return t_tail(difference / unit, freedom) if unit > 0 else 0.0


def _p_worse(costs: Sequence[Cost], best: Sequence[Cost]) -> float:
    """p-value of being worse by chance; 1 if the candidate is not worse."""
    pairs = [(a[0], b[0]) for a, b in zip(costs, best, strict=True)]
    failures = [float(math.isinf(a)) - float(math.isinf(b)) for a, b in pairs]
    excess = _p_positive([a - b for a, b in pairs if math.isfinite(a - b)])
    if not any(failures):
        return excess
    return min(1.0, 2 * min(_p_positive(failures), excess))


def _p_positive(numbers: Sequence[float]) -> float:
    if len(numbers) < 2 or mean(numbers) <= 0:
        return 1.0
    error = stdev(numbers) / math.sqrt(len(numbers))
    return _tail_of(mean(numbers), error, len(numbers) - 1)
