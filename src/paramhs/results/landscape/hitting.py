"""When a search first samples an optimum: hitting times of Markov chains, exactly.

A state is what a search may be at before it ends; sampling an optimum ends it, accepted or not, and
a start on an optimum costs nothing. Calls are counted, and nearly always a step of the chain is one
call. Where a step takes a random number N of calls, the moves are also given weighted with N and
N^2. With Q the moves, e the ends, h the probability of ever ending, m = E[T; it ends] and
s = E[T^2; it ends],

    h = e + Q h,   m = e1 + Q m + Q1 h,   s = e2 + Q s + 2 Q1 m + Q2 h

on the states from which it can end; elsewhere all three are 0. With D what leaves or ends and C the
moves to other states, I - Q is D - C: staying cancels, so nothing small is taken from 1. Where
every step is a call, e1 + Q1 h is h, and the last line is (D - C) s = 2 m - h.

Source: the cost measure of Hall, Oliveto, Sudholt (PPSN 2020); the chains are our own.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import splu

from paramhs.results.landscape.outcomes import Array

Bools = NDArray[np.bool_]

_TAIL = 1e-12  # probability that a law of calls may leave out
_LONGEST = 1_000_000  # calls after which it is cut off all the same
_SURE = 1e-9  # a probability of never ending that is smaller is rounding


@dataclass(frozen=True)
class Calls:
    """The law of a number of calls: `pmf[t]` is the probability of t."""

    pmf: Array
    mean: float
    sd: float

    def capped(self, cap: int) -> "Calls":
        """The law given that it is at most `cap`, which must be possible."""
        return calls_of(self.pmf[: cap + 1] / self.pmf[: cap + 1].sum())

    def finished(self, cap: int) -> float:
        """The probability that it is at most `cap`."""
        return float(self.pmf[: cap + 1].sum())


def calls_of(pmf: Array) -> Calls:
    """A law with its moments."""
    t = np.arange(len(pmf))
    mean = float(pmf @ t)
    return Calls(pmf, mean, math.sqrt(max(float(pmf @ (t - mean) ** 2), 0.0)))


def without_replacement(size: int) -> Calls:
    """One parameter of so many values, none tried twice, in uniformly random order: the optimum's
    position in it is uniform on 0 .. size - 1 whatever the landscape. So it is for ParamRLS without
    replacement and for ParamILS's local search over undiscovered neighbours."""
    return calls_of(np.full(size, 1 / size))


@dataclass(frozen=True)
class Ending:
    """Whether a search ends, and the calls it takes given that it does."""

    never: float
    """The probability that it is trapped for ever."""
    mean: float
    sd: float | None
    """None if not computed."""


@dataclass(frozen=True)
class Weighted:
    """Steps of several calls: moves (staying included) and ends, times the calls, or their
    squares."""

    moves: csr_matrix
    ending: Array


@dataclass(frozen=True)
class Chain:
    """A chain that moves, stays or ends at every step."""

    moves: csr_matrix
    """From state to other state; what is missing stays."""
    ending: Array
    """The probability of ending, in each state."""
    start: Array
    """The probability of starting in each; what is missing from 1 ends at once."""
    by_calls: tuple[Weighted, Weighted] | None = None
    """The steps times their calls, and times the squares; None: every step is one call."""
    in_order: bool = False
    """Whether no move but a tie leads to a later state. Then elimination fills in nothing else."""

    def ended(self) -> Ending:
        """The probability of never ending; mean and standard deviation given that it does."""
        h, m = self._moments
        lucky = 1 - float(self.start.sum())
        ends = lucky + float(self.start @ h)
        mean = float(self.start @ m) / ends if ends else math.nan
        variance = float(self.start @ self._squares) / ends - mean**2 if ends else math.nan
        never = 1 - ends if 1 - ends > _SURE else 0.0
        return Ending(never, mean, math.sqrt(max(variance, 0.0)))

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the number of calls; infinite if it may never end."""
        if self.start @ self._doomed > 0:
            return math.inf, math.inf
        mean = float(self.start @ self._moments[1])
        return mean, math.sqrt(max(float(self.start @ self._squares) - mean**2, 0.0))

    def means(self) -> Array:
        """The mean number of calls from each state; infinite where it may never end."""
        return np.where(self._doomed, np.inf, self._moments[1])

    def law(self) -> Calls:
        """The law, up to a tail of 1e-12 and what never ends (or a million calls), with the exact
        moments. Every step must be one call."""
        if self.by_calls is not None:
            raise ValueError("steps of several calls have moments only")
        backward = (self.moves + diags(1 - self._leaving)).T.tocsr()
        state = self.start
        pmf = [1 - float(state.sum())]
        while float(state @ self._able) > _TAIL and len(pmf) <= _LONGEST:
            pmf.append(float(state @ self.ending))
            state = backward @ state
        return Calls(np.array(pmf), *self.moments())

    @cached_property
    def _leaving(self) -> Array:
        return np.asarray(self.moves.sum(axis=1)).ravel() + self.ending

    @cached_property
    def _able(self) -> Bools:
        """The states from which it can end."""
        return _leads_to(self.moves, self.ending > 0)

    @cached_property
    def _doomed(self) -> Bools:
        """The states from which it may come where it cannot end."""
        return _leads_to(self.moves, ~self._able)

    @cached_property
    def _factors(self) -> Any:
        """Of D - C, on the states from which it can end."""
        able = np.flatnonzero(self._able)
        system = (diags(self._leaving[able]) - self.moves[able][:, able]).tocsc()
        if self.in_order:
            return splu(system, permc_spec="NATURAL", diag_pivot_thresh=0.0)
        return splu(system)

    def _solved(self, right: Array) -> Array:
        solution = np.zeros(len(right))
        if self._able.any():
            solution[self._able] = self._factors.solve(right[self._able])
        return solution

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """h and m of every state."""
        h = self._able.astype(np.float64)
        if (self._doomed & self._able).any():
            h = np.where(self._doomed, self._solved(self.ending), h)
        if self.by_calls is None:
            return h, self._solved(h)
        once, _ = self.by_calls
        return h, self._solved(once.ending + once.moves @ h)

    @cached_property
    def _squares(self) -> Array:
        """s of every state."""
        h, m = self._moments
        if self.by_calls is None:
            return self._solved(2 * m - h)
        once, twice = self.by_calls
        return self._solved(twice.ending + 2 * (once.moves @ m) + twice.moves @ h)


def _leads_to(moves: csr_matrix, goals: Bools) -> Bools:
    """Which states can come to a goal (goals included), in any number of steps."""
    count = len(goals)
    origins, targets = moves.nonzero()
    to_goal = np.flatnonzero(goals)
    source = np.concatenate([targets, np.full(len(to_goal), count)])
    target = np.concatenate([origins, to_goal])
    backward = csr_matrix((np.ones(len(source)), (source, target)), shape=(count + 1,) * 2)
    found = np.zeros(count + 1, dtype=bool)
    found[breadth_first_order(backward, count, return_predecessors=False)] = True
    return found[:count]
