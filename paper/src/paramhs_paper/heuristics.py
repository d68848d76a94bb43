"""Search heuristics with one parameter, as targets: each has an exact law and a simulator.

The (1+1) EA flips every bit with probability chi / n, RLS_k flips exactly k distinct bits; both
keep offspring that are not worse. The final fitness is that of a *level*, 0 .. n, and levels
only rise. They form a Markov chain, so their law after `cutoff` iterations is a matrix power.
Fitness, to be maximised, is `offset` + level.

As targets they read `chi` or `k` from the configuration: `tune(Ridge(n=20), ...)`, or in a
scenario file `function = "paramhs_paper.heuristics:ridge"`, which is the paper's.

Source: Hall, Oliveto, Sudholt (PPSN 2020), the scenarios of its experiments.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from paramhs.values.errors import BadInput
from paramhs.values.seeds import below, stream
from paramhs_paper import simulators

Law = NDArray[np.float64]
"""Probabilities of the levels 0 .. n."""

Start = int | Literal["uniform"]
"""A level, or a uniformly random string."""


@dataclass(frozen=True)
class Heuristic(ABC):
    """A heuristic on a function of n bits, ended after `cutoff` iterations."""

    n: int = 50
    cutoff: int = 2500

    parameter: ClassVar[str]
    """What its parameter is called in a configuration."""

    def __post_init__(self) -> None:
        _whole("n", self.n, 1)
        _whole("cutoff", self.cutoff, 0)
        # A target is known by its qualified name: runs of other sizes are not to be mixed up.
        object.__setattr__(self, "__qualname__", repr(self))

    @property
    def offset(self) -> int:
        """The fitness of level 0."""
        return 0

    def law(self, value: float) -> Law:
        """The law of the final level.

        Sums and products of positive numbers only, so rounding grows at most linearly: the error
        is below cutoff * (n + 1) * 2^-52 in total variation, and below 1e-13 for the paper's.
        """
        chain = _chain(self._rises(self._checked(value)))
        final = self._first() @ np.linalg.matrix_power(chain, self.cutoff)
        law: Law = final / final.sum()
        return law

    def simulate(self, value: float, runs: int, seed: int) -> simulators.Levels:
        """Final levels of independent runs, bit by bit: a function of these arguments alone.

        Other values draw from other streams, so runs of different values are independent too.
        The first call ever takes some seconds to compile; the result is kept on disk.
        """
        _whole("runs", runs, 0)
        value = self._checked(value)
        words = stream(seed, repr(self), repr(value))
        entropy = [below(2**32, words) for _ in range(4)]
        return self._simulated(value, runs, np.random.Generator(np.random.PCG64(entropy)))

    def __call__(self, config: Mapping[str, Any], seed: int) -> float:
        """The final fitness of one run."""
        if self.parameter not in config:
            raise BadInput(f"{type(self).__name__} needs a parameter named {self.parameter!r}")
        return float(self.offset + self.simulate(config[self.parameter], 1, seed)[0])

    def _checked(self, value: float) -> float:
        """The value, as one of Python's own numbers."""
        if not (isinstance(value, Real) and 0 <= value <= self.n):
            what = f"{self.parameter} must be a number from 0 to n = {self.n}, not {value!r}"
            raise BadInput(what)
        return float(value)

    @abstractmethod
    def _first(self) -> Law:
        """The law of the level at the start."""

    @abstractmethod
    def _rises(self, value: float) -> Law:
        """The probabilities to go from one level (row) to a higher one (column) in a step."""

    @abstractmethod
    def _simulated(
        self, value: float, runs: int, rng: np.random.Generator
    ) -> simulators.Levels: ...


@dataclass(frozen=True)
class Ridge(Heuristic):
    """The (1+1) EA on Ridge: fitness n + i at 1^i 0^(n-i), elsewhere the number of zeros.

    It starts on the ridge, at level `start`, and never leaves it: all else is worse.
    """

    start: int = 0
    parameter = "chi"

    def __post_init__(self) -> None:
        super().__post_init__()
        _whole("start", self.start, 0, self.n)

    @property
    def offset(self) -> int:
        """The fitness of the all-zeros string."""
        return self.n

    def _first(self) -> Law:
        return _certain(self.start, self.n)

    def _rises(self, value: float) -> Law:
        """From i to j exactly the bits i .. j - 1 flip."""
        rate, flips = value / self.n, np.arange(self.n + 1)
        exactly = rate**flips * (1 - rate) ** (self.n - flips)
        return _above(exactly[_distances(self.n)])

    def _simulated(self, value: float, runs: int, rng: np.random.Generator) -> simulators.Levels:
        rate = value / self.n
        return simulators.ridge(self.n, self.cutoff, self.start, rate, runs, rng)


@dataclass(frozen=True)
class LeadingOnes(Heuristic):
    """The (1+1) EA on LeadingOnes; bits beyond the first zero are uniform at any time.

    Started at a level, the first `start` bits are ones, the next is zero, the rest is uniform.
    """

    start: Start = "uniform"
    parameter = "chi"

    def __post_init__(self) -> None:
        super().__post_init__()
        _known_start(self.start, self.n)

    def _first(self) -> Law:
        if self.start != "uniform":
            return _certain(self.start, self.n)
        law = 0.5 ** np.arange(1.0, self.n + 2)
        law[self.n] *= 2  # no zero is needed after the last bit
        return law

    def _rises(self, value: float) -> Law:
        """The leading ones stay, the zero flips, and the uniform bits after it say how far."""
        rate, at = value / self.n, np.arange(self.n + 1)
        leaves = rate * (1 - rate) ** at
        lands = 0.5 ** _distances(self.n)
        lands[:, self.n] *= 2  # nothing stops it there
        return _above(leaves[:, None] * lands)

    def _simulated(self, value: float, runs: int, rng: np.random.Generator) -> simulators.Levels:
        rate = value / self.n
        return simulators.leading_ones(self.n, self.cutoff, _code(self.start), rate, runs, rng)


@dataclass(frozen=True)
class OneMax(Heuristic):
    """RLS_k on OneMax; a level is a number of ones."""

    cutoff: int = 200
    start: Start = "uniform"
    parameter = "k"

    def __post_init__(self) -> None:
        super().__post_init__()
        _known_start(self.start, self.n)

    def _checked(self, value: float) -> float:
        k = super()._checked(value)
        if k != int(k):
            raise BadInput(f"k must be a whole number, not {value!r}")
        return k

    def _first(self) -> Law:
        if self.start != "uniform":
            return _certain(self.start, self.n)
        return np.array([math.comb(self.n, ones) / 2**self.n for ones in range(self.n + 1)])

    def _rises(self, value: float) -> Law:
        """Of k bits without replacement, h are zeros: hypergeometric, correctly rounded."""
        n, k = self.n, int(value)
        rises, ways = np.zeros((n + 1, n + 1)), math.comb(n, k)
        for ones in range(n):
            for h in range(k // 2 + 1, min(k, n - ones) + 1):
                hits = math.comb(n - ones, h) * math.comb(ones, k - h)
                if hits:
                    rises[ones, ones + 2 * h - k] = hits / ways
        return rises

    def _simulated(self, value: float, runs: int, rng: np.random.Generator) -> simulators.Levels:
        start = _code(self.start)
        return simulators.onemax(self.n, self.cutoff, start, int(value), runs, rng)


def ridge(config: Mapping[str, Any], seed: int) -> float:
    """The final fitness of one run of the paper's Ridge scenario; reads `chi`."""
    return Ridge()(config, seed)


def leading_ones(config: Mapping[str, Any], seed: int) -> float:
    """The final fitness of one run of the paper's LeadingOnes scenario; reads `chi`."""
    return LeadingOnes()(config, seed)


def onemax(config: Mapping[str, Any], seed: int) -> float:
    """The final fitness of one run of the paper's OneMax scenario; reads `k`."""
    return OneMax()(config, seed)


def _chain(rises: Law) -> Law:
    """The transition matrix: what does not rise stays."""
    stays = np.maximum(0.0, 1.0 - rises.sum(axis=1))
    chain: Law = rises + np.diag(stays)
    return chain


def _above(matrix: Law) -> Law:
    return np.triu(matrix, 1)


def _distances(n: int) -> NDArray[np.int64]:
    """How far any two levels are apart."""
    at = np.arange(n + 1)
    distances: NDArray[np.int64] = np.abs(at - at[:, None])
    return distances


def _certain(level: int, n: int) -> Law:
    law = np.zeros(n + 1)
    law[level] = 1.0
    return law


def _whole(name: str, value: object, least: int, most: float = math.inf) -> None:
    if not (isinstance(value, int) and least <= value <= most):
        limits = f"at least {least}" if most == math.inf else f"from {least} to {most}"
        raise BadInput(f"{name} must be a whole number {limits}, not {value!r}")


def _known_start(start: Start, n: int) -> None:
    if start != "uniform" and not (isinstance(start, int) and 0 <= start <= n):
        raise BadInput(f"start must be 'uniform' or a level from 0 to {n}, not {start!r}")


def _code(start: Start) -> int:
    return simulators.UNIFORM if start == "uniform" else start
