"""Ranking of settings: one table from many instances, its five best, and their uncertainty."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from paramhs.core.random_streams import SEEDS, below, stream
from paramhs.theory.outcomes import Array
from paramhs_paper.saps.table import Landscape, Quality

Aggregation = Literal["plain", "normalised"]
"""Mean number of false clauses over the instances, plain or normalised.

Normalised, each instance is first divided by its mean over all settings, so that a large one has no
more weight than a small one.
"""
AGGREGATIONS: tuple[Aggregation, ...] = ("plain", "normalised")

FIVE = 5
DRAWS = 2_000  # tables drawn for the probability of being among the five best
MIN_PROBABILITY = 0.05  # a setting with a smaller probability is excluded


@dataclass(frozen=True)
class Costs:
    """A table of costs [alpha, rho], lower being better, with standard errors."""

    mean: Array
    error: Array

    def redrawn(self, rng: Generator) -> Array:
        """Table that another measurement might have given: normal within the standard errors."""
        return np.asarray(rng.normal(self.mean, self.error))


def aggregated(
    landscape: Landscape, aggregation: Aggregation = "plain", quality: Quality = "best"
) -> Costs:
    """Combine all instances in one table.

    The mean by which an instance is divided has almost no error; an instance that every run solved
    remains 0.
    """
    mean, error = landscape.mean[quality], landscape.error[quality]
    if aggregation == "normalised":
        scale = mean.mean(axis=(1, 2), keepdims=True)
        scale = np.where(scale > 0, scale, 1.0)
        mean, error = mean / scale, error / scale
    count = len(landscape.instances)
    return Costs(mean.mean(axis=0), np.sqrt((error**2).sum(axis=0)) / count)


def five_best(costs: Array) -> list[int]:
    """Indices of the five lowest costs in `costs.ravel()`, best first."""
    return [int(index) for index in np.argsort(costs, axis=None, kind="stable")[:FIVE]]


def chance_of_five(costs: Costs, seed: int, draws: int = DRAWS) -> Array:
    """Probability of each setting to be among the five best, by redrawing tables.

    A parametric bootstrap: the measured table contains its noise once, redrawn ones twice. Errors
    are treated as independent. In fact the k-th runs of all settings share their random numbers, so
    errors at the same alpha are correlated, and the ranking is more certain than reported here.
    """
    rng = generator(seed, "chance of five")
    hits = np.zeros(costs.mean.size)
    for _ in range(draws):
        hits[five_best(costs.redrawn(rng))] += 1
    return hits.reshape(costs.mean.shape) / draws


def generator(seed: int, *name: str | int) -> Generator:
    """Named random stream of numpy."""
    return np.random.default_rng(below(SEEDS, stream(seed, "saps", *name)))
