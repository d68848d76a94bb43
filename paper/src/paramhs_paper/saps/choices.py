"""What the paper leaves open about its table, and the table that each choice gives."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from paramhs.results.landscape.outcomes import Array, deterministic
from paramhs.world.targets.saps import Smoothing
from paramhs_paper.saps.moves import Arena
from paramhs_paper.saps.noise import beats_by_runs
from paramhs_paper.saps.ranking import (
    AGGREGATIONS,
    Aggregation,
    Costs,
    aggregated,
    five_best,
    generator,
    of_instance,
)
from paramhs_paper.saps.table import QUALITIES, Quality, kept, kept_smoothings

REDRAWN = 10  # tables redrawn within the standard errors, for each choice


@dataclass(frozen=True)
class Choice:
    """A way to make one table out of the measurement. The target is any of its five best."""

    smoothing: Smoothing = "ubcsat"
    aggregation: Aggregation = "plain"
    quality: Quality = "best"
    instance: str | None = None
    """The table of this instance alone, not aggregated."""
    redrawn: int | None = None
    """The number of a table that is redrawn within the standard errors."""
    aimed_at: int | None = None
    """The number of a redrawn table whose five best are the target instead."""

    @property
    def name(self) -> str:
        """Such as ubcsat, plain, best."""
        return f"{self.smoothing}, {self.instance or self.aggregation}, {self.quality}"


def plausible() -> list[Choice]:
    """Every smoothing form, aggregation and quality."""
    return [
        Choice(smoothing, aggregation, quality)
        for smoothing in kept_smoothings()
        for aggregation in AGGREGATIONS
        for quality in QUALITIES
    ]


def redrawn(choice: Choice, count: int = REDRAWN) -> list[Choice]:
    """Tables that another measurement of the same size might have given."""
    return [replace(choice, redrawn=number) for number in range(count)]


def retargeted(choice: Choice, count: int = REDRAWN) -> list[Choice]:
    """The same table with other targets, which might as well be its five best."""
    return [replace(choice, aimed_at=number) for number in range(count)]


def single_instances() -> list[Choice]:
    """Each instance as if it were the only one."""
    return [
        Choice(smoothing, instance=instance)
        for smoothing in kept_smoothings()
        for instance in kept(smoothing).instances
    ]


def measured_costs(choice: Choice) -> Costs:
    """The table with its errors, before it is redrawn."""
    landscape = kept(choice.smoothing)
    if choice.instance is not None:
        return of_instance(landscape, choice.instance, choice.quality)
    return aggregated(landscape, choice.aggregation, choice.quality)


@lru_cache(maxsize=256)
def table_of(choice: Choice) -> Array:
    """The costs [alpha, rho] that comparisons go by."""
    costs = measured_costs(choice)
    if choice.redrawn is None:
        return costs.mean
    return costs.redrawn(generator(choice.redrawn, "redrawn", choice.name))


@lru_cache(maxsize=16)
def arena_of(choice: Choice, runs: int | None = None) -> Arena:
    """The whole grid. The table decides; or the sum over the instances of so many fresh runs, drawn
    from the stored ones (the fewest false clauses, not normalised), while the target remains."""
    table = table_of(choice)
    if runs is None:
        beats = deterministic(table.ravel().tolist()).beats()
    else:
        beats = beats_by_runs(kept(choice.smoothing), runs)
    aim = replace(choice, redrawn=choice.aimed_at, aimed_at=None)
    targets = five_best(table if choice.aimed_at is None else table_of(aim))
    order = np.argsort(table, axis=None, kind="stable")
    return Arena((table.shape[0], table.shape[1]), beats, np.array(targets), order)
