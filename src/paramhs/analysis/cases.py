"""The cases of a comparison: costs of two configurations grouped by instance, and their test.

The unit is the instance: seeds are repetitions inside it, and the cost of an instance is their
mean. Fewer than six instances say nothing about others; then the unit is the repetition.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paramhs.analysis.intervals import (
    MARGIN,
    MIN_CASES,
    SIGNIFICANCE_LEVEL,
    Estimate,
    Tolerance,
)
from paramhs.core.costs import Cost, Score, mean, score

MIN_INSTANCES = MIN_CASES
Both = tuple[float, float]
"""Costs of the first and of the second configuration."""


def deciding_costs(
    costs: Mapping[tuple[str, int], tuple[Cost, Cost]],
) -> tuple[int, dict[tuple[str, int], Both]]:
    """Select, from costs of several numbers, the first in which the two sides differ anywhere."""
    length = len(next(iter(costs.values()))[0])
    differ = (k for k in range(length) if any(a[k] != b[k] for a, b in costs.values()))
    level = next(differ, 0)
    return level, {pair: (a[level], b[level]) for pair, (a, b) in costs.items()}


def compared_costs(costs: Mapping[tuple[str, int], Both], maximise: bool) -> Estimate:
    """Test and intervals of a verdict, from costs by instance and seed."""
    cases = cases_of(costs)
    scores = [scores_of(case) for case in cases]
    return compared(cases, scores, maximise, Tolerance(MARGIN, 0.0), SIGNIFICANCE_LEVEL)


def claim(costs: Mapping[tuple[str, int], Both]) -> tuple[float, bool]:
    """p-value of a verdict on costs by instance and seed, and whether it favours the second.

    The same as that of `compared_costs` for minimised costs, without the intervals.
    """
    from paramhs.analysis.paired_estimate import claimed  # numpy only where it is needed

    cases = cases_of(costs)
    scores = [scores_of(case) for case in cases]
    tie = Tolerance(MARGIN, 0.0)
    if any(a[0] != b[0] for a, b in scores):
        return _failure_test(scores, tie)
    usable = [[both for both in case if all(map(math.isfinite, both))] for case in cases]
    return claimed([means_of(case) for case in usable if case], tie)


def compared(
    cases: Sequence[Sequence[Both]],
    scores: Sequence[tuple[Score, Score]],
    flip: bool,
    tie: Tolerance,
    level: float,
) -> Estimate:
    """Test and intervals of the mean costs, or of the failures where these differ."""
    from paramhs.analysis.paired_estimate import estimate  # numpy only where it is needed

    usable = [[both for both in case if all(map(math.isfinite, both))] for case in cases]
    means = [means_of(case) for case in usable if case]
    failures_differ = any(a[0] != b[0] for a, b in scores)
    if not means:
        return Estimate(None, None, *_failure_test(scores, tie), failures_differ)
    # The cost of a maximised quality is its negative. Swapped, the qualities themselves have the
    # same difference, and a ratio above 1 favours the second as for costs.
    pairs = [(-b, -a) if flip else (a, b) for a, b in means]
    estimated = estimate(pairs, tie, level, plan=not failures_differ)
    if not failures_differ:
        return estimated
    p_value, favours = _failure_test(scores, tie)
    return replace(estimated, p_value=p_value, favours_second=favours, failures_differ=True)


def _failure_test(scores: Sequence[tuple[Score, Score]], tie: Tolerance) -> tuple[float, bool]:
    """p-value of the failure counts, and whether they favour the second."""
    from paramhs.analysis.paired_means import mean_p_value

    apart = [
        difference
        for (a, b), difference in zip(scores, _differences(scores), strict=True)
        if is_less(a, b, tie) or is_less(b, a, tie)
    ]
    p_value = 1.0 if len(scores) < MIN_CASES else mean_p_value(apart)
    return p_value, math.fsum(apart) > 0


def cases_of(costs: Mapping[tuple[str, int], Both]) -> list[list[Both]]:
    """Group the costs of both sides by case.

    A case is an instance; with fewer than six of them, the k-th run on each. Which runs are the
    k-th is arbitrary, because seeds of different instances are unrelated; means over instances for
    different k are independent and identically distributed.
    """
    by_instance: dict[str, list[Both]] = defaultdict(list)
    for (name, _), both in costs.items():
        by_instance[name].append(both)
    if len(by_instance) >= MIN_INSTANCES:
        return list(by_instance.values())
    shortest = min(map(len, by_instance.values()))
    return [[runs[k] for runs in by_instance.values()] for k in range(shortest)]


def scores_of(case: Sequence[Both]) -> tuple[Score, Score]:
    """Share of failures and mean of the other runs, for each side."""
    return score([(a,) for a, _ in case]), score([(b,) for _, b in case])


def is_less(mine: Score, other: Score, tie: Tolerance) -> bool:
    """Compare two scores; fewer failures come first."""
    if mine[0] != other[0]:
        return mine[0] < other[0]
    cost, than = mine[1], other[1]
    return math.isfinite(cost) and than - cost > tie(cost, than)


def means_of(pairs: Sequence[Both]) -> Both:
    """Mean cost of each side."""
    return mean([a for a, _ in pairs]), mean([b for _, b in pairs])


def _differences(cases: Sequence[tuple[Score, Score]]) -> list[float]:
    """Differences of the scores, first minus second.

    A side that has failed more often loses at least as much as by any cost elsewhere, and twice as
    much if it always failed and the other never.
    """
    costs = [number for a, b in cases for _, number in (a, b) if math.isfinite(number)]
    largest = max(map(abs, costs), default=0.0) or 1.0  # scales the differences to finite numbers
    apart = [
        a[1] / largest - b[1] / largest if math.isfinite(a[1]) and math.isfinite(b[1]) else 0.0
        for a, b in cases
    ]
    most = max(map(abs, apart), default=0.0) or 0.5
    return [
        cost if a[0] == b[0] else math.copysign(most, a[0] - b[0]) + most * (a[0] - b[0])
        for (a, b), cost in zip(cases, apart, strict=True)
    ]
