"""How sure a result is, from the runs made while searching."""

import math
from dataclasses import dataclass
from statistics import stdev
from typing import NamedTuple

from paramhs.search.history import History
from paramhs.values.costs import Cost, mean, score
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
    if len(numbers) < 2:
        return math.inf
    try:
        return stdev(numbers) / math.sqrt(len(numbers))
    except OverflowError:  # beyond all floats
        return math.inf


class Common(NamedTuple):
    """Two configurations on the pairs that both have run on."""

    first: float
    second: float
    runs: int


def common_costs(history: History, first: Config, second: Config) -> Common | None:
    """What both cost on the pairs they share, as a person expects to see it; None if none."""
    shared = history.common(first, second)
    if not shared:
        return None

    def shown(config: Config) -> float:
        costs: list[Cost] = [history.costs(config)[pair] for pair in shared]
        return history.scenario.cost.shown(score(costs))

    return Common(shown(first), shown(second), len(shared))


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
            rivals.append(Rival(config, len(excess), mean(excess), standard_error(excess)))
    return sorted(rivals, key=lambda rival: rival.worse_by)
