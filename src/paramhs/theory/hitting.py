"""Exact hitting times: when a search, as a Markov chain, first samples an optimum.

A state is what a search may be at before it ends; sampling an optimum ends it, accepted or not, and
a start on an optimum costs nothing. Calls are counted; almost always one step of the chain is one
call. Where a step takes a random number N of calls, the moves are also given weighted with N and
N^2. With Q the moves, e the ends, h the probability of ever ending, m = E[T; it ends] and s =
E[T^2; it ends],

    h = e + Q h,   m = e1 + Q m + Q1 h,   s = e2 + Q s + 2 Q1 m + Q2 h

on the states from which it can end; elsewhere all three are 0. With D the probability of leaving or
ending and C the moves to other states, I - Q is D - C: staying cancels, so no small number is
subtracted from 1. Where every step is a call, e1 + Q1 h is h, and the last line is (D - C) s = 2 m
- h.

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

from paramhs.theory.outcomes import Array

Bools = NDArray[np.bool_]

_TAIL = 1e-12  # probability that a law of calls may omit
_MAX_CALLS = 1_000_000  # calls after which a law is cut off regardless
_ROUNDING_ERROR = 1e-9  # a smaller probability of never ending is rounding


@dataclass(frozen=True)
class Calls:
    """Law of a number of calls: `pmf[t]` is the probability of t."""

    pmf: Array
    mean: float
    sd: float

    def capped(self, cap: int) -> "Calls":
        """Condition the law on at most `cap` calls, which must be possible."""
        return calls_of(self.pmf[: cap + 1] / self.pmf[: cap + 1].sum())

    def finished(self, cap: int) -> float:
        """Probability of at most `cap` calls."""
        return float(self.pmf[: cap + 1].sum())


def calls_of(pmf: Array) -> Calls:
    """Build a law with its moments."""
    t = np.arange(len(pmf))
    mean = float(pmf @ t)
    return Calls(pmf, mean, math.sqrt(max(float(pmf @ (t - mean) ** 2), 0.0)))


def without_replacement(size: int) -> Calls:
    """Law for one parameter whose values are tried once each, in uniformly random order.

    The position of the optimum is uniform on 0 .. size - 1 whatever the landscape. This holds for
    ParamRLS without replacement and for ParamILS's local search over undiscovered neighbours.
    """
    return calls_of(np.full(size, 1 / size))


@dataclass(frozen=True)
class Ending:
    """Probability that a search ends, and its number of calls given that it does."""

    never: float
    """Probability that the search is trapped for ever."""
    mean: float
    sd: float | None
    """Standard deviation; None if not computed."""


@dataclass(frozen=True)
class Weighted:
    """Steps of several calls: moves (including staying) and ends, times a power of the calls."""

    moves: csr_matrix
    ending: Array


@dataclass(frozen=True)
class Chain:
    """Markov chain that moves, stays or ends at every step."""

    moves: csr_matrix
    """Transition matrix to other states; the remaining probability stays."""
    ending: Array
    """Probability of ending, by state."""
    start: Array
    """Probability of starting, by state; the remaining probability ends at once."""
    by_calls: tuple[Weighted, Weighted] | None = None
    """Steps times their calls, and times the squares; None if every step is one call."""
    in_order: bool = False
    """Whether only ties lead to later states, so that elimination causes no fill-in."""

    def ended(self) -> Ending:
        """Probability of never ending; mean and standard deviation given that it ends."""
        h, m = self._moments
        lucky = 1 - float(self.start.sum())
        ends = lucky + float(self.start @ h)
        mean = float(self.start @ m) / ends if ends else math.nan
        variance = float(self.start @ self._squares) / ends - mean**2 if ends else math.nan
        never = 1 - ends if 1 - ends > _ROUNDING_ERROR else 0.0
        return Ending(never, mean, math.sqrt(max(variance, 0.0)))

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the number of calls; infinite if it may never end."""
        if self.start @ self._doomed > 0:
            return math.inf, math.inf
        mean = float(self.start @ self._moments[1])
        return mean, math.sqrt(max(float(self.start @ self._squares) - mean**2, 0.0))

    def means(self) -> Array:
        """Mean number of calls from each state; infinite where it may never end."""
        return np.where(self._doomed, np.inf, self._moments[1])

    def law(self) -> Calls:
        """Law up to a tail of 1e-12 (or a million calls), with the exact moments.

        Every step must be one call.
        """
        if self.by_calls is not None:
            raise ValueError("steps of several calls have moments only")
        # Forward iteration of the distribution over states: at each call, `ending` is the mass that
        # is absorbed. The iteration stops when the mass that can still end is negligible; mass that
        # is trapped never ends and is not part of the law.
        backward = (self.moves + diags(1 - self._leaving)).T.tocsr()
        state = self.start
        pmf = [1 - float(state.sum())]
        while float(state @ self._able) > _TAIL and len(pmf) <= _MAX_CALLS:
            pmf.append(float(state @ self.ending))
            state = backward @ state
        return Calls(np.array(pmf), *self.moments())

    @cached_property
    def _leaving(self) -> Array:
        return np.asarray(self.moves.sum(axis=1)).ravel() + self.ending

    @cached_property
    def _able(self) -> Bools:
        """States from which the chain can end."""
        return _leads_to(self.moves, self.ending > 0)

    @cached_property
    def _doomed(self) -> Bools:
        """States from which the chain may reach one where it cannot end."""
        return _leads_to(self.moves, ~self._able)

    @cached_property
    def _factors(self) -> Any:
        """LU factors of D - C, on the states from which the chain can end."""
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
        """Values of h and m for every state."""
        h = self._able.astype(np.float64)
        if (self._doomed & self._able).any():
            h = np.where(self._doomed, self._solved(self.ending), h)
        if self.by_calls is None:
            return h, self._solved(h)
        once, _ = self.by_calls
        return h, self._solved(once.ending + once.moves @ h)

    @cached_property
    def _squares(self) -> Array:
        """Value of s for every state."""
        # Conditioning on the first step, T = 1 + T', so E[T^2] = E[T'^2] + 2 E[T] - 1, restricted
        # to the event that the chain ends. With D - C = I - Q this is the linear system of the
        # module's docstring.
        h, m = self._moments
        if self.by_calls is None:
            return self._solved(2 * m - h)
        once, twice = self.by_calls
        return self._solved(twice.ending + 2 * (once.moves @ m) + twice.moves @ h)


def _leads_to(moves: csr_matrix, goals: Bools) -> Bools:
    """States that can reach a goal in any number of steps, including the goals."""
    count = len(goals)
    origins, targets = moves.nonzero()
    to_goal = np.flatnonzero(goals)
    source = np.concatenate([targets, np.full(len(to_goal), count)])
    target = np.concatenate([origins, to_goal])
    backward = csr_matrix((np.ones(len(source)), (source, target)), shape=(count + 1,) * 2)
    found = np.zeros(count + 1, dtype=bool)
    found[breadth_first_order(backward, count, return_predecessors=False)] = True
    return found[:count]
