"""Evidence for a result from the runs of the search itself."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import NamedTuple

from paramhs.core.costs import WORST, Cost, CostMetric, mean, score
from paramhs.core.distribution_tails import t_tail
from paramhs.core.runs import Point
from paramhs.core.space import Config
from paramhs.core.text.numbers import counted, finite
from paramhs.search.history import History

SURENESS = (("clearly", 1e-4), ("probably", 0.0125), ("perhaps", 0.32))
"""Words for a difference, each with the largest p-value that earns it.

With many runs, these correspond to 3.9, 2.5 and 1 standard errors.
"""
MIN_COMMON_RUNS = 12
"""Common runs from which two configurations are compared in one number."""
SMALL_SHARE = 0.01  # share of the cost below which a difference hardly matters
ROUNDING_SHARE = 1e-9  # share of the cost below which a difference is rounding


@dataclass(frozen=True)
class Rival:
    """A configuration compared with another on the same pairs."""

    config: Config
    common: int
    """Number of common pairs."""
    worse_by: float
    """Its mean cost minus the other's; a lower bound if some of its runs were capped."""
    error: float
    """Standard error of the difference."""
    scale: float = 0.0
    """Absolute value of the other's mean cost."""

    @property
    def words(self) -> str:
        """Describe the comparison, for example "probably worse, by 0.3 ± 0.2"."""
        return difference_words(self.worse_by, self.error, self.common, self.scale)


def difference_words(worse_by: float, error: float, runs: int, scale: float = 0.0) -> str:
    """Describe a mean difference in words chosen by its p-value.

    Uses Student's t with `runs` - 1 degrees of freedom, so with few runs only a clear difference is
    reported. The number after ± is two standard errors. A difference below 1 % of `scale`, the size
    of what is compared, is called small even if it is clear.
    """
    size = abs(worse_by)
    if size <= ROUNDING_SHARE * scale and error <= ROUNDING_SHARE * scale:
        return "the same"
    chance = _chance(size, error, runs)
    how = next((word for word, most in SURENESS if chance < most), "")
    if not how:
        margin = f" (± {2 * error:.2g})" if math.isfinite(error) else ""
        return f"not visibly different{margin}"
    small = " (less than 1 %)" if size < SMALL_SHARE * scale else ""
    direction = "worse" if worse_by > 0 else "better"
    return f"{how} {direction}, by {size:.3g} ± {2 * error:.2g}{small}"


def _chance(size: float, error: float, runs: int) -> float:
    """Two-sided p-value of a mean difference under Student's t."""
    if runs < 2 or math.isinf(error):
        return 1.0
    return t_tail(size / error, runs - 1) if error else 0.0


def standard_error(numbers: list[float]) -> float:
    """Standard error of the mean; infinite for fewer than two numbers."""
    if len(numbers) < 2:
        return math.inf
    try:
        return stdev(numbers) / math.sqrt(len(numbers))
    except OverflowError:  # the sum of squares overflows
        return math.inf


@dataclass(frozen=True)
class Common:
    """Two configurations on the pairs that both have run on.

    Means are over the runs that neither has failed, so that they can be compared.
    """

    first: float | None
    """Mean of the first, as shown to people; None where no run is usable for both."""
    second: float | None
    runs: int
    first_failed: int
    second_failed: int
    ratio: float | None
    """Factor by which the second is better; None unless all costs are positive."""


def common_costs(history: History, first: Config, second: Config) -> Common | None:
    """Compare two configurations on their common pairs; None if there are none."""
    shared = history.common(first, second)
    mine, other = history.costs(first), history.costs(second)
    metric = history.scenario.cost
    return compare([mine[p] for p in shared], [other[p] for p in shared], metric)


def too_few(met: Common, history: History) -> str:
    """Why common runs of the best and the default are too few to compare; empty if they are not."""
    least = min(MIN_COMMON_RUNS, history.pair_count)
    if met.runs >= least:
        return ""
    return f"{counted(met.runs, 'common run')}, too few to compare (at least {least:.0f})"


def compare(first: Sequence[Cost], second: Sequence[Cost], metric: CostMetric) -> Common | None:
    """Compare costs that belong to the same pairs, in the same order."""
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


class StepUp(NamedTuple):
    """An incumbent compared with its predecessor on the runs both have made so far."""

    config: Config
    runs: int
    """Number of runs of the search when it became the incumbent."""
    target_time: float
    cost: float | None
    before: float | None
    """Mean cost of its predecessor over the same runs."""
    common: int
    """Number of common runs; 0 for the first incumbent."""

    def to_json(self) -> dict[str, object]:
        """Convert the step to JSON types."""
        return {
            "config": self.config.as_dict(),
            "runs": self.runs,
            "target_time": self.target_time,
            "cost": finite(self.cost),
            "cost_before": finite(self.before),
            "common_runs": self.common,
        }


def steps(history: History, trajectory: Sequence[Point]) -> tuple[StepUp, ...]:
    """Compare each incumbent with its predecessor; the two numbers of a step share their runs."""
    made = []
    for position, point in enumerate(trajectory):
        before = trajectory[position - 1].config if position else point.config
        met = common_costs(history, before, point.config) if position else None
        means = (met.second, met.first, met.runs) if met else (None, None, 0)
        made.append(StepUp(point.config, point.runs, point.target_time, *means))
    return tuple(made)


def closest_rivals(history: History, best: Config, least: int = 3) -> list[Rival]:
    """Configurations that share at least `least` pairs with the best, the closest first."""
    own = history.costs(best)
    rivals = []
    for config in history.configs:
        if config == best:
            continue
        known = ((history.at_least(config, pair), cost[0]) for pair, cost in own.items())
        met = [(new, old) for new, old in known if new is not None]
        excess, base = [new - old for new, old in met], [old for _, old in met]
        if len(excess) >= least and all(map(math.isfinite, excess)):
            size = abs(mean(base))
            rivals.append(Rival(config, len(excess), mean(excess), standard_error(excess), size))
    return sorted(rivals, key=lambda rival: rival.worse_by)
