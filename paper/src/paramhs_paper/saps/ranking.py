"""From the landscapes of instances to one table, its five best, and how sure those are."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from paramhs.results.landscape.outcomes import Array
from paramhs.values.seeds import SEEDS, below, stream
from paramhs_paper.saps.table import Landscape, Quality

Aggregation = Literal["plain", "normalised"]
"""The mean number of false clauses over the instances; or each instance is first divided by its
mean over all settings, so that a large one counts no more than a small one."""
AGGREGATIONS: tuple[Aggregation, ...] = ("plain", "normalised")

FIVE = 5
DRAWS = 2_000  # tables drawn for the chance of being among the five best
POSSIBLE = 0.05  # a setting with a smaller chance is taken not to be among them


@dataclass(frozen=True)
class Costs:
    """A table of costs [alpha, rho], lower is better, with its standard errors."""

    mean: Array
    error: Array

    def redrawn(self, rng: Generator) -> Array:
        """A table that another measurement might have given: normal within the errors."""
        return np.asarray(rng.normal(self.mean, self.error))


def aggregated(
    landscape: Landscape, aggregation: Aggregation = "plain", quality: Quality = "best"
) -> Costs:
    """All instances in one table. The mean that an instance is divided by has hardly any error; one
    that every run solved remains 0."""
    mean, error = landscape.mean[quality], landscape.error[quality]
    if aggregation == "normalised":
        scale = mean.mean(axis=(1, 2), keepdims=True)
        scale = np.where(scale > 0, scale, 1.0)
        mean, error = mean / scale, error / scale
    count = len(landscape.instances)
    return Costs(mean.mean(axis=0), np.sqrt((error**2).sum(axis=0)) / count)


def five_best(costs: Array) -> list[int]:
    """The indices, in `costs.ravel()`, of the five lowest, best first."""
    return [int(index) for index in np.argsort(costs, axis=None, kind="stable")[:FIVE]]


def chance_of_five(costs: Costs, seed: int, draws: int = DRAWS) -> Array:
    """How often each is among the five best of tables redrawn within the standard errors.

    A parametric bootstrap: the measured table has its noise once, redrawn ones have it twice.
    Errors are taken to be independent. In truth the k-th runs of all settings share their random
    numbers, so errors at the same alpha go together, and the ranking is surer than this says.
    """
    rng = generator(seed, "chance of five")
    hits = np.zeros(costs.mean.size)
    for _ in range(draws):
        hits[five_best(costs.redrawn(rng))] += 1
    return hits.reshape(costs.mean.shape) / draws


def generator(seed: int, *name: str | int) -> Generator:
    """A named stream of numpy's."""
    return np.random.default_rng(below(SEEDS, stream(seed, "saps", *name)))
