"""How sure a result is, from the runs made while searching."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from paramhs.search.history import History
from paramhs.values.costs import WORST, Cost, CostMetric, mean, score
from paramhs.values.runs import Pair, Point, Run, Status
from paramhs.values.space import Config

_FEW = 3  # common runs from which on somebody is ahead


@dataclass(frozen=True)
class Rival:
    """A configuration that met another on the same pairs."""

    config: Config
    common: int
    """On how many."""
    worse_by: float
    """Its mean cost minus the other's, over them."""
    error: float
    """The standard error of that."""


def standard_error(numbers: list[float]) -> float:
    """Of a mean; infinite for fewer than two numbers."""
    return stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.inf


@dataclass(frozen=True)
class Common:
    """Two configurations on the pairs that both have run on.

    Means are over the runs that neither has failed, so that they can be compared.
    """

    first: float | None
    """The first's mean, as a person expects to see it; None where one of them failed each time."""
    second: float | None
    runs: int
    first_failed: int
    second_failed: int
    ratio: float | None
    """How many times better the second is; None where costs are not all positive."""


def common_costs(history: History, first: Config, second: Config) -> Common | None:
    """What both cost on the pairs they share; None if there are none."""
    shared = history.common(first, second)
    mine, other = history.costs(first), history.costs(second)
    metric = history.scenario.cost
    return compare([mine[p] for p in shared], [other[p] for p in shared], metric)


def compare(first: Sequence[Cost], second: Sequence[Cost], metric: CostMetric) -> Common | None:
    """The same of costs on the same pairs, in the same order."""
    if not first:
        return None
    usable = [(a, b) for a, b in zip(first, second, strict=True) if max(a[0], b[0]) < WORST]
    lost, missed = (sum(cost[0] == WORST for cost in costs) for costs in (first, second))
    if not usable:
        return Common(None, None, len(first), lost, missed, None)
    a, b = (metric.shown(score(costs)) for costs in zip(*usable, strict=True))
    return Common(a, b, len(first), lost, missed, _times_better(usable, metric))


def _times_better(costs: Sequence[tuple[Cost, Cost]], metric: CostMetric) -> float | None:
    more_is_better = metric.maximise and not metric.needs_runtime
    numbers = [[-x[0] if more_is_better else x[0] for x in pair] for pair in costs]
    if min(min(pair) for pair in numbers) <= 0:
        return None
    a, b = mean([a for a, _ in numbers]), mean([b for _, b in numbers])
    return b / a if more_is_better else a / b


@dataclass(frozen=True)
class Ahead:
    """A challenger whose race a search did not finish, and who was winning it."""

    config: Config
    incumbent: Config
    common: Common
    """The incumbent and the challenger, on the runs that both have made."""


def ahead(history: History, unfinished: Sequence[Run] = ()) -> Ahead | None:
    """Who is better than the incumbent on all common runs, in a race that is not decided.

    `unfinished` are runs of the last request that were made, though not all of it was. With a
    budget in runs they are the same for any number of jobs.
    """
    if history.racing is None:
        return None
    challenger, incumbent = history.racing
    if any(run.status is Status.CAPPED for run in unfinished):
        return None  # one that had to be cut short is not winning
    theirs, own = (_with(history, c, unfinished) for c in history.racing)
    shared = [pair for pair in own if pair in theirs]
    new, old = [theirs[pair] for pair in shared], [own[pair] for pair in shared]
    met = compare(old, new, history.scenario.cost)
    if met is None or len(shared) < _FEW or score(new) >= score(old):
        return None
    return Ahead(challenger, incumbent, met)


def _with(history: History, config: Config, more: Sequence[Run]) -> dict[Pair, Cost]:
    cost = history.scenario.cost
    new = {run.task.pair: cost.of(run) for run in more if run.task.config == config}
    return {**history.costs(config), **new}


class StepUp(NamedTuple):
    """An incumbent beside the one before it, on the runs that both have made by now."""

    config: Config
    runs: int
    """After how many runs of the search it took over."""
    target_time: float
    cost: float | None
    before: float | None
    """The mean of the one before, over the same runs."""
    common: int
    """How many those are; of the first incumbent, which has none before it, 0."""


def steps(history: History, trajectory: Sequence[Point]) -> tuple[StepUp, ...]:
    """The incumbents, each beside the one before. Numbers of one step are over the same runs."""
    made = []
    for position, point in enumerate(trajectory):
        before = trajectory[position - 1].config if position else point.config
        met = common_costs(history, before, point.config) if position else None
        means = (met.second, met.first, met.runs) if met else (None, None, 0)
        made.append(StepUp(point.config, point.runs, point.target_time, *means))
    return tuple(made)


def closest_rivals(history: History, best: Config, least: int = 3) -> list[Rival]:
    """Those that share at least so many pairs with the best, the closest first."""
    own = history.costs(best)
    rivals = []
    for config in history.configs:
        if config == best or len(history.costs(config)) < least:
            continue
        costs = history.costs(config).items()
        excess = [cost[0] - own[pair][0] for pair, cost in costs if pair in own]
        if len(excess) >= least and all(map(math.isfinite, excess)):
            rivals.append(Rival(config, len(excess), fmean(excess), standard_error(excess)))
    return sorted(rivals, key=lambda rival: rival.worse_by)
