"""Two configurations compared instance by instance on the same pairs."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paramhs.analysis.solved_runs import has_failed, is_late, is_solved
from paramhs.core.costs import CostMetric, score
from paramhs.core.runs import Run, Status
from paramhs.core.scenario import plain_name
from paramhs.core.space import Config
from paramhs.search.history import History

Paired = tuple[Run, Run]
"""Runs of the first and the second configuration on one pair."""


class Part(NamedTuple):
    """One configuration on one instance."""

    cost: float
    """Mean cost as shown to people; infinite if no run gave a usable cost."""
    seconds: float
    """Mean runtime; a run that did not finish counts as its cutoff."""
    solved: int
    timeouts: int
    failed: int


@dataclass(frozen=True)
class Case:
    """Two configurations on one instance."""

    name: str
    runs: int
    """Number of runs of each."""
    first: Part
    second: Part
    order: float
    """Sort key: how much better the second is, the largest first."""


def cases(paired: Iterable[Paired], metric: CostMetric) -> list[Case]:
    """Group paired runs by instance, largest gains of the second first."""
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
    """Gain by the share of failures, then by the ratio, or the difference if there is none."""
    if first[0] != second[0]:
        return math.copysign(1e300, first[0] - second[0])
    a, b = first[1], second[1]
    if not (math.isfinite(a) and math.isfinite(b)):
        return 0.0
    return math.log(a) - math.log(b) if a > 0 and b > 0 else a - b


def _part(runs: Sequence[Run], total: Sequence[float], metric: CostMetric) -> Part:
    bad = sum(math.isinf(metric.of(run)[0]) for run in runs)
    failed = sum(has_failed(run, metric) for run in runs)
    solved = sum(is_solved(run, metric) for run in runs)
    cost = math.inf if bad == len(runs) else metric.shown(tuple(total))
    seconds = math.fsum(map(_charged, runs)) / len(runs)
    return Part(cost, seconds, solved, sum(map(is_late, runs)), failed)


def _charged(run: Run) -> float:
    cutoff = run.task.cutoff
    return run.runtime if run.status is Status.OK or math.isinf(cutoff) else cutoff


def paired_runs(history: History, first: Config, second: Config) -> list[Paired]:
    """Runs of both configurations on the pairs that the search ran both on."""
    shared = set(history.common(first, second))
    found: dict[Config, dict[object, Run]] = {first: {}, second: {}}
    for run in history.runs:
        config, pair = run.task.config, run.task.pair
        if config in found and pair in shared and run.status is not Status.CAPPED:
            found[config][pair] = run
    return [(found[first][pair], found[second][pair]) for pair in sorted(shared)]


def solving_times(runs: Iterable[Run], metric: CostMetric) -> list[float]:
    """Sorted runtimes of the finished runs, the steps of a cactus plot."""
    return sorted(run.runtime for run in runs if is_solved(run, metric))


def unsolved(histories: Iterable[Iterable[Run]], metric: CostMetric) -> tuple[str, ...]:
    """Instances on which no run succeeded."""
    solved: dict[str, bool] = {}
    for runs in histories:
        for run in runs:
            name = run.task.instance.name
            if not solved.get(name):
                solved[name] = is_solved(run, metric)
    return tuple(plain_name(name) for name, done in solved.items() if not done)
