"""How alike configurations are: what neighbours share of that which main effects do not explain.

Two configurations are alike by exp(-distance / reach). The distance is the sum over parameters of
how far apart their values are (the share of the range between two ordered ones, 1 between different
categories, or where one of the two is switched off), in proportion to how much each parameter
matters by its main effect: what does nothing tells nobody apart. A part of what a configuration has
of its own is shared with nobody.

Source: the covariance of a Gaussian process with an absolute exponential kernel, as in Jones,
Schonlau, Welch, Journal of Global Optimization 13 (1998); the weights are our own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paramhs.search.learning.rows import Floats, Ints

_REACHES = (0.25, 0.5, 1.0, 2.0)  # in ranges of the parameter that matters most
_SHARED = 0.9  # of a deviation, with somebody who is the same in all that matters
_MATTERS = 0.05  # of the largest range of effects, what a parameter has at least to be looked at


@dataclass(frozen=True)
class Distances:
    """Between the rows of a model, and from others to them."""

    rows: Ints
    """See `Coding.bins`."""
    weights: Mapping[int, float]
    """By the position of a parameter that matters, what it counts from end to end, if it is
    ordered; else between any two values."""
    steps: Mapping[int, int]
    """From end to end, of those that are ordered."""

    def to(self, bins: Ints) -> Floats:
        """From these configurations, one a row, to each row of the model."""
        total = np.zeros((len(bins), len(self.rows)))
        for position, weight in self.weights.items():
            here, there = bins[:, position, None], self.rows[None, :, position]
            apart = (here != there).astype(np.float64)
            if position in self.steps:
                both = (here >= 0) & (there >= 0)
                apart = np.where(both, abs(here - there) / self.steps[position], apart)
            total += weight * apart
        return total

    @cached_property
    def within(self) -> Floats:
        """Between the rows themselves."""
        return self.to(self.rows)


@dataclass(frozen=True)
class Likeness:
    """How alike the rows of a model are, and others to them."""

    count: int
    """Of rows."""
    distances: Distances | None
    """None if nobody is like anybody else."""
    reach: float

    @property
    def matrix(self) -> Floats:
        """Of the rows among each other."""
        own = np.eye(self.count)
        if self.distances is None:
            return own
        return self._by(self.distances.within) + (1 - _SHARED) * own

    def to(self, bins: Ints) -> Floats:
        """Of these configurations, one a row, to each row of the model."""
        if self.distances is None:
            return np.zeros((len(bins), self.count))
        return self._by(self.distances.to(bins))

    def _by(self, distances: Floats) -> Floats:
        return np.asarray(_SHARED * np.exp(-distances / self.reach), np.float64)


def unlike(count: int) -> Likeness:
    """Of rows of which each is like itself alone."""
    return Likeness(count, None, 0.0)


def likenesses(
    bins: Ints, sizes: Sequence[int], ordered: Sequence[bool], matter: Sequence[float]
) -> Iterator[Likeness]:
    """By how far they reach; none where nothing matters.

    Of the rows, the number of bins of each parameter, and by how much its value matters.
    """
    largest = max(matter, default=0.0)
    weights = {i: m / largest for i, m in enumerate(matter) if m > 0 and m >= _MATTERS * largest}
    steps = {i: sizes[i] - 1 for i in weights if ordered[i]}
    distances = Distances(bins, weights, steps)
    for reach in _REACHES if weights else ():
        yield Likeness(len(bins), distances, reach)
