"""Who of many is clearly worse than the best of them, on the same pairs.

A test takes the costs of each candidate, all on the same pairs, and names those that are worse at
its confidence. That holds for one look at the data; a race looks after each pair, so that over a
whole race a good candidate is lost more often (measured in docs/benchmarks.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Protocol

from paramhs.search.configurators.tails import f_tail, t_tail
from paramhs.values.costs import Cost, mean, score


class Elimination(Protocol):
    """A test of many at once."""

    def worse(self, costs: Sequence[Sequence[Cost]]) -> set[int]:
        """The positions of those that are clearly worse than the best."""


@dataclass(frozen=True)
class Friedman:
    """Ranks on each pair, and the differences of their sums from the least.

    Nobody is worse unless the test of all together says that not all are the same (by its
    F approximation, which is the better one on few pairs). Between two it is the sign test, whose
    law is known exactly.

    Source: Conover, Practical Nonparametric Statistics (1999), section 5.8; irace (Lopez-Ibanez et
    al., Operations Research Perspectives 3, 2016) does the same with the chi-square approximation,
    and Wilcoxon's test between two.
    """

    confidence: float = 0.95

    def worse(self, costs: Sequence[Sequence[Cost]]) -> set[int]:
        """By ranks, so no matter how large a difference is."""
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
        if by_chance <= 0 or pairs < 2:  # all are equal on all pairs
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
    """Differences of costs from those of the best mean, by the t-test, corrected as Holm does.

    Where a cost is infinite (the run failed), failures are compared first, as numbers 0 and 1, then
    what is finite on both sides.

    Source: irace's t-test; Holm, Scandinavian Journal of Statistics 6 (1979).
    """

    confidence: float = 0.95

    def worse(self, costs: Sequence[Sequence[Cost]]) -> set[int]:
        """By means, so a rare run that costs a lot is weighed by what it costs."""
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
    """From 1, the lowest cost; equal ones share the mean of their ranks."""
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
    """How likely a difference at least as large is if both win a pair equally often."""
    n, fewer = first + second, min(first, second)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(fewer + 1)) / (1 << n))


def _tail_of(difference: float, unit: float, freedom: float) -> float:
    if difference <= 0:
        return 1.0
    return t_tail(difference / unit, freedom) if unit > 0 else 0.0


def _p_worse(costs: Sequence[Cost], best: Sequence[Cost]) -> float:
    """How likely a difference at least as large is by chance; 1 if it is none for the worse."""
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
