"""Course of a search: its incumbent's mean cost as known at each moment."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from paramhs.core.costs import WORST, Cost, CostMetric
from paramhs.core.runs import Pair, Status
from paramhs.report.result import Result

_SAMPLES = 120  # points of the curve


class Sample(NamedTuple):
    """The incumbent at one moment, with the runs it had then."""

    runs: int
    """Number of runs requested so far."""
    seconds: float
    """Elapsed seconds; if unknown, the seconds that the target has run."""
    mean: float
    low: float
    """Mean minus two standard errors; the mean itself if there is no error."""
    high: float
    evidence: int
    """Number of runs behind the mean."""
    number: int
    """Number of the incumbent, counted from 0."""


def trail(result: Result) -> list[Sample]:
    """Samples in order: every new incumbent, and points between them.

    A mean is over the runs that the incumbent had then, so means of two incumbents are over
    different runs.
    """
    return list(_samples(result))


def _samples(result: Result) -> Iterator[Sample]:
    points = result.trajectory
    begins = [point.runs for point in points]
    followed = {point.config: _Running() for point in points}
    cost_of, total, clock = result.history.scenario.cost_of, len(result.runs), 0.0
    for run in result.history.scenario.known:
        if run.task.config in followed and run.status is not Status.CAPPED:
            followed[run.task.config].add(run.task.pair, cost_of(run))
    wanted = _wanted(begins, total)
    for made, run in enumerate(result.runs, 1):
        running = followed.get(run.task.config)
        if running is not None and run.status is not Status.CAPPED:
            running.add(run.task.pair, cost_of(run))
        clock += run.runtime
        if made in wanted and made >= begins[0]:
            number = bisect_right(begins, made) - 1
            seconds = result.record.elapsed[made - 1] if result.record.elapsed else clock
            seen = followed[points[number].config]
            if seen.pairs:
                yield seen.sample(made, seconds, result.metric, number)


class _Running:
    """Running sums of one configuration's costs, for its mean and standard error."""

    def __init__(self) -> None:
        self.pairs: set[Pair] = set()
        self.finite: list[int] = []
        """Number of finite values for each number of a cost."""
        self.sums: list[float] = []
        self.squares = 0.0
        """Sum of squared deviations of the first numbers, by Welford's method."""

    def add(self, pair: Pair, cost: Cost) -> None:
        if pair in self.pairs:
            return
        self.pairs.add(pair)
        if not self.sums:
            self.finite, self.sums = [0] * len(cost), [0.0] * len(cost)
        if cost[0] < WORST:
            count = self.finite[0]
            apart = cost[0] - self.sums[0] / count if count else 0.0
            self.squares += apart * apart * count / (count + 1)
        for k, number in enumerate(cost):
            if number < WORST:
                self.finite[k] += 1
                self.sums[k] += number

    def sample(self, runs: int, seconds: float, metric: CostMetric, number: int) -> Sample:
        score: list[float] = []
        for count, total in zip(self.finite, self.sums, strict=True):
            score += (1 - count / len(self.pairs), total / count if count else WORST)
        mean = metric.shown(tuple(score))
        count = self.finite[0]
        slack = 2 * math.sqrt(self.squares / (count - 1) / count) if count > 1 else 0.0
        slack = slack if math.isfinite(slack) else 0.0
        return Sample(runs, seconds, mean, mean - slack, mean + slack, len(self.pairs), number)


def _wanted(begins: list[int], total: int) -> set[int]:
    """Numbers of runs at which to sample, spaced evenly and logarithmically."""
    if not begins:
        return set()
    even = {round(total * k / _SAMPLES) for k in range(1, _SAMPLES + 1)}
    logs = {round(total ** (k / _SAMPLES)) for k in range(_SAMPLES + 1)} if total else set()
    spaced = begins[:: math.ceil(len(begins) / _SAMPLES)]
    return {max(1, number) for number in (*even, *logs, *spaced)}


@dataclass(frozen=True)
class Counts:
    """Numbers of runs and configurations in a search."""

    runs: int
    """Number of requested runs."""
    known: int
    """Number of runs known before the search."""
    configs: int
    """Number of configurations that were run, including the default."""
    incumbents: int
    """Number of configurations that were the incumbent at some time."""
    statuses: Mapping[str, int]
    """Number of runs by status."""

    @property
    def challengers(self) -> int:
        """Number of configurations that challenged an incumbent."""
        return max(self.configs - 1, 0)


def counts(result: Result) -> Counts:
    """Count the runs and configurations of a search."""
    runs = result.runs
    statuses = Counter(run.status for run in runs)
    return Counts(
        len(runs),
        len(result.history.scenario.known),
        len({run.task.config for run in runs}),
        len({point.config for point in result.trajectory}),
        {status.value: statuses[status] for status in Status if statuses[status]},
    )
