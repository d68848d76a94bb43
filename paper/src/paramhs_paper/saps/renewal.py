"""A Markov chain whose steps take one call or several: its calls until it ends, if it does.

Let N be the calls of a step, Q[x, y] the probability of a step from x to y, and Q1 and Q2 the same
weighted with N and N^2; e, e1 and e2 likewise for steps that end. With h the probability of ever
ending, m = E[T; it ends] and s = E[T^2; it ends],

    h = e + Q h,   m = e1 + Q m + Q1 h,   s = e2 + Q s + 2 Q1 m + Q2 h

on the states from which it can end; elsewhere all three are 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity, triu
from scipy.sparse.linalg import splu

from paramhs.results.landscape.calls import Chain
from paramhs.results.landscape.outcomes import Array

_SURE = 1e-9  # a probability of never ending that is smaller is rounding


@dataclass(frozen=True)
class Ending:
    """Whether a search ends, and the calls it takes given that it does."""

    never: float
    """The probability that it is trapped for ever."""
    mean: float
    sd: float | None
    """None if not computed."""


@dataclass(frozen=True)
class Renewal:
    """Such a chain. Where all steps take one call, the three matrices are the same."""

    steps: Array
    """Q; then Q1 and Q2."""
    calls: Array
    squares: Array
    ending: tuple[Array, Array, Array]
    """e, e1 and e2."""
    start: float
    """The probability of starting in each state; otherwise it ends at once."""

    def ended(self) -> Ending:
        """The probability of never ending, mean and standard deviation given that it does."""
        able = np.flatnonzero(self._able_to_end())
        steps, calls, squares = (
            csr_matrix(matrix)[able][:, able] for matrix in (self.steps, self.calls, self.squares)
        )
        solve = _solver(steps)
        e, e1, e2 = (part[able] for part in self.ending)
        h = solve(e)
        m = solve(e1 + calls @ h)
        s = solve(e2 + 2 * (calls @ m) + squares @ h)
        lucky = 1 - self.start * len(self.steps)
        ends = lucky + self.start * float(h.sum())
        mean = self.start * float(m.sum()) / ends
        variance = self.start * float(s.sum()) / ends - mean**2
        never = 1 - ends if 1 - ends > _SURE else 0.0
        return Ending(never, mean, math.sqrt(max(variance, 0.0)))

    def law(self) -> Array:
        """The law of the calls where a step is one call; what never ends comes last."""
        moves = csr_matrix(self.steps)
        moves.setdiag(0)
        moves.eliminate_zeros()
        start = np.full(len(self.steps), self.start)
        pmf = Chain(moves, self.ending[0], start).law().pmf
        return np.append(pmf, max(1 - float(pmf.sum()), 0.0))

    def _able_to_end(self) -> NDArray[np.bool_]:
        steps = csr_matrix(self.steps)
        able = self.ending[0] > 0
        while True:
            more = able | (steps @ able.astype(np.float64) > 0)
            if (more == able).all():
                return np.asarray(able)
            able = more


def _solver(steps: csr_matrix) -> Callable[[Array], Array]:
    """Of (1 - Q) x = b. States in the order of their costs make it triangular, but for equal ones
    and for noise. (Dense systems of this size would use BLAS's threads, which wait for each other
    where cores are busy.)"""
    system = (identity(steps.shape[0], format="csc") - steps).tocsc()
    if triu(system, 1).nnz == 0:
        factors = splu(system, permc_spec="NATURAL", diag_pivot_thresh=0.0)
    else:
        factors = splu(system)
    return lambda right: np.asarray(factors.solve(right))
