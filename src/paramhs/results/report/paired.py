"""Two configurations, instance by instance, on the same pairs."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paramhs.search.history import History
from paramhs.values.costs import CostMetric, score
from paramhs.values.runs import Run, Status
from paramhs.values.scenario import plain_name
from paramhs.values.space import Config

Paired = tuple[Run, Run]
"""The runs of the first and of the second on one pair."""


class Part(NamedTuple):
    """One configuration on one instance."""

    cost: float
    """Its mean, as people expect to see it; infinite where no run gave a usable cost."""
    seconds: float
    """Its mean runtime, where a run that did not finish counts its cutoff."""
    solved: int
    timeouts: int
    failed: int


@dataclass(frozen=True)
class Case:
    """Two configurations on one instance."""

    name: str
    runs: int
    """Of each."""
    first: Part
    second: Part
    order: float
    """How much better the second is: a sort key, the largest first."""


def cases(paired: Iterable[Paired], metric: CostMetric) -> list[Case]:
    """Each instance, those first on which the second gains most."""
    grouped: dict[str, list[Paired]] = defaultdict(list)
    for both in paired:
        grouped[both[0].task.instance.name].append(both)
    made = [_case(name, group, metric) for name, group in grouped.items()]
    return sorted(made, key=lambda case: (-case.order, case.name))


def _case(name: str, group: Sequence[Paired], metric: CostMetric) -> Case:
    firsts, seconds = zip(*group, strict=True)
    scores = [score([metric.of(run) for run in runs]) for runs in (firsts, seconds)]
    sides = [
        _part(runs, total, metric) for runs, total in zip((firsts, seconds), scores, strict=True)
    ]
    return Case(
        plain_name(name), len(group), sides[0], sides[1], _order(scores[0][:2], scores[1][:2])
    )


def _order(first: Sequence[float], second: Sequence[float]) -> float:
    """By the share of failures, then by the ratio, or the difference where there is none."""
    if first[0] != second[0]:
        return math.copysign(1e300, first[0] - second[0])
    a, b = first[1], second[1]
    if not (math.isfinite(a) and math.isfinite(b)):
        return 0.0
    return math.log(a) - math.log(b) if a > 0 and b > 0 else a - b


def _part(runs: Sequence[Run], total: Sequence[float], metric: CostMetric) -> Part:
    bad = sum(math.isinf(metric.of(run)[0]) for run in runs)
    statuses = [run.status for run in runs]
    failed = sum(status in (Status.CRASHED, Status.WRONG) for status in statuses)
    solved = sum(is_solved(run, metric) for run in runs)
    cost = math.inf if bad == len(runs) else metric.shown(tuple(total))
    seconds = math.fsum(map(_charged, runs)) / len(runs)
    return Part(cost, seconds, solved, statuses.count(Status.TIMEOUT), max(failed, bad))


def is_solved(run: Run, metric: CostMetric) -> bool:
    """Whether a run gave what was wanted: where time counts, it finished in time."""
    finished = run.status is Status.OK or (
        run.status is Status.TIMEOUT and not metric.needs_runtime
    )
    return finished and math.isfinite(metric.of(run)[0])


def _charged(run: Run) -> float:
    cutoff = run.task.cutoff
    return run.runtime if run.status is Status.OK or math.isinf(cutoff) else cutoff


def paired_runs(history: History, first: Config, second: Config) -> list[Paired]:
    """The runs of both on the pairs that the search has run both on."""
    shared = set(history.common(first, second))
    found: dict[Config, dict[object, Run]] = {first: {}, second: {}}
    for run in history.runs:
        config, pair = run.task.config, run.task.pair
        if config in found and pair in shared and run.status is not Status.CAPPED:
            found[config][pair] = run
    return [(found[first][pair], found[second][pair]) for pair in sorted(shared)]


def solving_times(runs: Iterable[Run], metric: CostMetric) -> list[float]:
    """The runtimes of those that finished, in order: a cactus plot's steps."""
    return sorted(run.runtime for run in runs if is_solved(run, metric))


def unsolved(histories: Iterable[Iterable[Run]], metric: CostMetric) -> tuple[str, ...]:
    """The instances on which no run has succeeded, of those that were run."""
    solved: dict[str, bool] = {}
    for runs in histories:
        for run in runs:
            name = run.task.instance.name
            if not solved.get(name):
                solved[name] = is_solved(run, metric)
    return tuple(plain_name(name) for name, done in solved.items() if not done)
