"""How sure a result is, from the runs made while searching."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from paramhs.values.costs import Cost, CostMetric, score
from paramhs.values.runs import Run
from paramhs.values.space import Config


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


class Common(NamedTuple):
    """Two configurations on the pairs that both have run on."""

    first: float
    second: float
    runs: int


def common_costs(
    runs: Iterable[Run], first: Config, second: Config, metric: CostMetric
) -> Common | None:
    """What both cost on the pairs they share, as a person expects to see it; None if none."""
    costs: dict[Config, dict[tuple[str, int], Cost]] = {first: {}, second: {}}
    for run in runs:
        if run.task.config in costs:
            pair = (run.task.instance.name, run.task.seed)
            costs[run.task.config][pair] = metric.of(run)
    shared = costs[first].keys() & costs[second].keys()
    if not shared:
        return None
    mine, other = (score([costs[c][pair] for pair in shared]) for c in (first, second))
    return Common(metric.shown(mine), metric.shown(other), len(shared))


def closest_rivals(
    runs: Iterable[Run], best: Config, metric: CostMetric, least: int = 3
) -> list[Rival]:
    """Those that share at least so many pairs with the best, the closest first."""
    by_config: dict[Config, dict[tuple[str, int], float]] = defaultdict(dict)
    for run in runs:
        by_config[run.task.config][run.task.instance.name, run.task.seed] = metric.of(run)[0]
    own = by_config.pop(best, {})
    rivals = []
    for config, costs in by_config.items():
        excess = [cost - own[pair] for pair, cost in costs.items() if pair in own]
        if len(excess) >= least and all(map(math.isfinite, excess)):
            rivals.append(Rival(config, len(excess), fmean(excess), standard_error(excess)))
    return sorted(rivals, key=lambda rival: rival.worse_by)
