"""Similarity of configurations: what neighbours share beyond main effects.

The similarity of two configurations is exp(-distance / reach). The distance is the sum over
parameters of the difference of their values (the share of the range for ordered ones, 1 for
different categories, or where one of the two is inactive), weighted by the size of each parameter's
main effect: a parameter without effect does not separate configurations. Part of a configuration's
deviation is its own and not shared.

Source: the covariance of a Gaussian process with an absolute exponential kernel, as in Jones,
Schonlau, Welch, Journal of Global Optimization 13 (1998); the weights are our own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paramhs.search.model.dataset import Floats, Ints

_REACHES = (0.25, 0.5, 1.0, 2.0)  # relative to the effect range of the most important parameter
_SHARED_PART = 0.9  # of a deviation, for configurations that agree in all relevant parameters
_MIN_EFFECT = 0.05  # smallest effect range of a relevant parameter, relative to the largest


@dataclass(frozen=True)
class Distances:
    """Distances between the rows of a model, and from other configurations to them."""

    rows: Ints
    """Bins of the rows; see `Coding.bins`."""
    weights: Mapping[int, float]
    """Weight of each relevant parameter by position: over its range, or between any two values."""
    steps: Mapping[int, int]
    """Number of steps of each ordered parameter."""

    def to(self, bins: Ints) -> Floats:
        """Distances from these configurations, one per row, to each row of the model."""
        total = np.zeros((len(bins), len(self.rows)))
        for position, weight in self.weights.items():
            here, there = bins[:, position, None], self.rows[None, :, position]
            apart = (here != there).astype(np.float64)
            # An inactive parameter has a negative bin, which is no place on the range: against an
            # active one it stays at distance 1.
            if position in self.steps:
                both = (here >= 0) & (there >= 0)
                apart = np.where(both, abs(here - there) / self.steps[position], apart)
            total += weight * apart
        return total

    @cached_property
    def within(self) -> Floats:
        """Distances between the rows of the model."""
        return self.to(self.rows)


@dataclass(frozen=True)
class Likeness:
    """Similarities between the rows of a model, and from others to them."""

    count: int
    """Number of rows."""
    distances: Distances | None
    """Distances; None if no two configurations are similar."""
    reach: float

    @property
    def matrix(self) -> Floats:
        """Similarity matrix of the rows."""
        own = np.eye(self.count)
        if self.distances is None:
            return own
        # A row shares all but its own part with itself, and that part with no other row.
        return self._by(self.distances.within) + (1 - _SHARED_PART) * own

    def to(self, bins: Ints) -> Floats:
        """Similarities of these configurations, one per row, to each row of the model."""
        if self.distances is None:
            return np.zeros((len(bins), self.count))
        return self._by(self.distances.to(bins))

    def _by(self, distances: Floats) -> Floats:
        return np.asarray(_SHARED_PART * np.exp(-distances / self.reach), np.float64)


def unlike(count: int) -> Likeness:
    """Similarities of rows that share nothing with each other."""
    return Likeness(count, None, 0.0)


def likenesses(
    bins: Ints, sizes: Sequence[int], ordered: Sequence[bool], matter: Sequence[float]
) -> Iterator[Likeness]:
    """Candidates of different reach; none if no parameter matters.

    Takes the rows, the number of bins of each parameter, and the influence of its values.
    """
    largest = max(matter, default=0.0)
    weights = {i: m / largest for i, m in enumerate(matter) if m > 0 and m >= _MIN_EFFECT * largest}
    steps = {i: sizes[i] - 1 for i in weights if ordered[i]}
    distances = Distances(bins, weights, steps)
    for reach in _REACHES if weights else ():
        yield Likeness(len(bins), distances, reach)
