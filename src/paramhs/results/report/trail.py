"""How a search went: its incumbent's mean cost as it was known at any time, and what it took."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from paramhs.results.report.material import Material
from paramhs.values.costs import WORST, Cost, CostMetric
from paramhs.values.runs import Pair, Status

_SAMPLES = 120  # points of the curve


class Sample(NamedTuple):
    """The incumbent at one moment, by the runs it had then."""

    runs: int
    """How many the search had asked for."""
    seconds: float
    """How many had passed; where nobody knows, how many the target had run."""
    mean: float
    low: float
    """The mean less two standard errors; the mean itself where there is none."""
    high: float
    evidence: int
    """Over how many runs."""
    number: int
    """Which incumbent it was, from 0."""


def trail(material: Material) -> list[Sample]:
    """Samples in order: every new incumbent, and enough between to see what more runs made of it.

    A mean is over the runs that the incumbent had then, so two incumbents' are over different ones.
    """
    return list(_samples(material))


def _samples(material: Material) -> Iterator[Sample]:
    points = material.trajectory
    begins = [point.runs for point in points]
    followed = {point.config: _Running() for point in points}
    cost_of, total, clock = material.history.scenario.cost_of, len(material.asked), 0.0
    for run in material.history.scenario.known:
        if run.task.config in followed and run.status is not Status.CAPPED:
            followed[run.task.config].add(run.task.pair, cost_of(run))
    wanted = _wanted(begins, total)
    for made, run in enumerate(material.asked, 1):
        running = followed.get(run.task.config)
        if running is not None and run.status is not Status.CAPPED:
            running.add(run.task.pair, cost_of(run))
        clock += run.runtime
        if made in wanted and made >= begins[0]:
            number = bisect_right(begins, made) - 1
            seconds = material.elapsed[made - 1] if material.elapsed else clock
            seen = followed[points[number].config]
            if seen.pairs:
                yield seen.sample(made, seconds, material.metric, number)


class _Running:
    """The costs of one configuration so far: sums, from which a mean and its error follow."""

    def __init__(self) -> None:
        self.pairs: set[Pair] = set()
        self.finite: list[int] = []
        """For each number of a cost, how many were finite."""
        self.sums: list[float] = []
        self.squares = 0.0
        """Of the first numbers, about their mean (Welford's way)."""

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
    """Numbers of runs after which to look: evenly, also in their logarithms."""
    if not begins:
        return set()
    even = {round(total * k / _SAMPLES) for k in range(1, _SAMPLES + 1)}
    logs = {round(total ** (k / _SAMPLES)) for k in range(_SAMPLES + 1)} if total else set()
    spaced = begins[:: math.ceil(len(begins) / _SAMPLES)]
    return {max(1, number) for number in (*even, *logs, *spaced)}


@dataclass(frozen=True)
class Counts:
    """What a search has made."""

    runs: int
    """How many were asked for."""
    known: int
    """How many were known before."""
    configs: int
    """How many configurations were run, the default included."""
    incumbents: int
    """How many of them were the incumbent at some time."""
    statuses: Mapping[str, int]
    """Runs by how they ended."""

    @property
    def challengers(self) -> int:
        """How many configurations have challenged an incumbent."""
        return max(self.configs - 1, 0)


def counts(material: Material) -> Counts:
    """Count."""
    runs = material.asked
    statuses = Counter(run.status for run in runs)
    return Counts(
        len(runs),
        len(material.history.scenario.known),
        len({run.task.config for run in runs}),
        len({point.config for point in material.trajectory}),
        {status.value: statuses[status] for status in Status if statuses[status]},
    )
