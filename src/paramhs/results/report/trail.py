"""How a search went: its incumbent's mean cost as it was known at any time, and what it took."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from paramhs.results.evidence import standard_error
from paramhs.results.report.material import Material
from paramhs.values.costs import Cost, CostMetric, score
from paramhs.values.runs import Pair, Status
from paramhs.values.space import Config

_SAMPLES = 240  # points of the curve


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
    followed: dict[Config, dict[Pair, Cost]] = {
        point.config: dict(_known(material, point.config)) for point in points
    }
    metric, total = material.metric, len(material.asked)
    wanted, clock = _wanted(begins, total), 0.0
    for made, run in enumerate(material.asked, 1):
        task = run.task
        if task.config in followed and run.status is not Status.CAPPED:
            followed[task.config][task.pair] = metric.of(run)
        clock += run.runtime
        if made in wanted and made >= begins[0]:
            number = bisect_right(begins, made) - 1
            costs = list(followed[points[number].config].values())
            if costs:
                seconds = material.elapsed[made - 1] if material.elapsed else clock
                yield _sample(made, seconds, costs, metric, number)


def _known(material: Material, config: Config) -> Iterator[tuple[Pair, Cost]]:
    for run in material.history.scenario.known:
        if run.task.config == config and run.status is not Status.CAPPED:
            yield run.task.pair, material.metric.of(run)


def _wanted(begins: list[int], total: int) -> set[int]:
    """Numbers of runs after which to look: evenly, also in their logarithms."""
    if not begins:
        return set()
    even = {round(total * k / _SAMPLES) for k in range(1, _SAMPLES + 1)}
    logs = {round(total ** (k / _SAMPLES)) for k in range(_SAMPLES + 1)} if total else set()
    spaced = begins[:: math.ceil(len(begins) / _SAMPLES)]
    return {max(1, number) for number in (*even, *logs, *spaced)}


def _sample(
    runs: int, seconds: float, costs: list[Cost], metric: CostMetric, number: int
) -> Sample:
    mean = metric.shown(score(costs))
    usable = [cost[0] for cost in costs if math.isfinite(cost[0])]
    error = standard_error(usable)
    slack = 2 * error if math.isfinite(error) else 0.0
    return Sample(runs, seconds, mean, mean - slack, mean + slack, len(costs), number)


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
