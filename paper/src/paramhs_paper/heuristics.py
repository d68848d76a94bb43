"""The paper's search heuristics with one parameter: the exact law of a run.

The (1+1) EA flips every bit with probability chi / n, RLS_k flips exactly k distinct bits; both
keep offspring that are not worse. The final fitness is determined by a *level*, 0 .. n, and levels
only rise. They form a Markov chain, so their law after `cutoff` iterations is a matrix power.
Fitness, to be maximised, is `offset` + level.

Source: Hall, Oliveto, Sudholt (PPSN 2020), the scenarios of its experiments.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Law = NDArray[np.float64]
"""Probabilities of the levels 0 .. n."""


@dataclass(frozen=True)
class Heuristic(ABC):
    """A heuristic on a function of n bits, ended after `cutoff` iterations."""

    n: int = 50
    cutoff: int = 2500

    @property
    def offset(self) -> int:
        """Fitness of level 0."""
        return 0

    def law(self, value: float) -> Law:
        """Law of the final level.

        Sums and products of positive numbers only, so rounding grows at most linearly: the error is
        below cutoff * (n + 1) * 2^-52 in total variation, and below 1e-13 for the paper's settings.
        """
        rises = self._rises(value)
        stays = np.maximum(0.0, 1.0 - rises.sum(axis=1))
        final = self._first() @ np.linalg.matrix_power(rises + np.diag(stays), self.cutoff)
        law: Law = final / final.sum()
        return law

    @abstractmethod
    def _first(self) -> Law:
        """Law of the level at the start."""

    @abstractmethod
    def _rises(self, value: float) -> Law:
        """Probabilities to go from one level (row) to a higher one (column) in one step."""


@dataclass(frozen=True)
class Ridge(Heuristic):
    """The (1+1) EA on Ridge: fitness n + i at 1^i 0^(n-i), elsewhere the number of zeros.

    It starts at the beginning of the ridge and never leaves it, because everything else is worse.
    """

    @property
    def offset(self) -> int:
        """Fitness of the all-zeros string."""
        return self.n

    def _first(self) -> Law:
        law = np.zeros(self.n + 1)
        law[0] = 1.0
        return law

    def _rises(self, value: float) -> Law:
        """From i to j exactly the bits i .. j - 1 flip."""
        rate, flips = value / self.n, np.arange(self.n + 1)
        exactly = rate**flips * (1 - rate) ** (self.n - flips)
        return np.triu(exactly[_distances(self.n)], 1)


@dataclass(frozen=True)
class LeadingOnes(Heuristic):
    """The (1+1) EA on LeadingOnes; bits beyond the first zero are uniform at any time."""

    def _first(self) -> Law:
        law = 0.5 ** np.arange(1.0, self.n + 2)
        law[self.n] *= 2  # no zero is needed after the last bit
        return law

    def _rises(self, value: float) -> Law:
        """The leading ones stay, the zero flips, and the uniform bits after it decide how far."""
        rate, at = value / self.n, np.arange(self.n + 1)
        leaves = rate * (1 - rate) ** at
        lands = 0.5 ** _distances(self.n)
        lands[:, self.n] *= 2  # nothing stops the run of ones there
        return np.triu(leaves[:, None] * lands, 1)


@dataclass(frozen=True)
class OneMax(Heuristic):
    """RLS_k on OneMax, with a uniform start; a level is a number of ones."""

    cutoff: int = 200

    def _first(self) -> Law:
        return np.array([math.comb(self.n, ones) / 2**self.n for ones in range(self.n + 1)])

    def _rises(self, value: float) -> Law:
        """Hypergeometric law of h zeros among k bits drawn, correctly rounded."""
        n, k = self.n, int(value)
        rises, ways = np.zeros((n + 1, n + 1)), math.comb(n, k)
        for ones in range(n):
            for h in range(k // 2 + 1, min(k, n - ones) + 1):
                hits = math.comb(n - ones, h) * math.comb(ones, k - h)
                if hits:
                    rises[ones, ones + 2 * h - k] = hits / ways
        return rises


def _distances(n: int) -> NDArray[np.int64]:
    """Distance between any two levels."""
    at = np.arange(n + 1)
    distances: NDArray[np.int64] = np.abs(at - at[:, None])
    return distances
