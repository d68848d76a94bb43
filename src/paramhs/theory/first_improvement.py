"""Exact analysis of ParamILS's local search over one parameter with a weighted order.

At every move the neighbours are put into a fresh random order, drawn without replacement with given
weights. Such an order is a race of exponential clocks whose rates are the weights; the neighbour
whose clock rings is compared, and the first one that wins (or is the optimum) ends the phase. Given
the time t at which it rings, every other clock has rung (and lost) or not, independently. So with

    A_z(t, s) = e^(-w_z t) + s (1 - p_z) (1 - e^(-w_z t)),

s counting calls, the generating function of a phase that ends at y is the one-dimensional integral

    F_y(s) = s p_y * integral of w_y e^(-w_y t) e^(-W t) * product over z != y of A_z(t, s) dt,

where W is the weight of the optima (which end the phase when they ring, p = 1). A local search is a
chain of phases, so its generating function solves one linear system for each s; its values at roots
of unity give the law by FFT.
"""

from collections.abc import Collection

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from paramhs.theory.hitting import Calls, calls_of
from paramhs.theory.outcomes import Array

Complex = NDArray[np.complex128]

_NODES = 12  # Gauss-Legendre nodes per panel
_CALLS = 512  # initial number of calls up to which the law is computed
_MAX_CALLS = 2**16
SCALE = 4.0  # total weight to which walks are scaled, matching the panels of the quadrature
_TAIL = 1e-10


def first_improvement_calls(weights: Array, beats: Array, optima: Collection[int]) -> Calls:
    """Law of the number of calls until an optimum is sampled, from a uniform start.

    `weights[x, y]` orders the neighbours y of x, and `beats[x, y]` is the probability that y wins.
    """
    others = [i for i in range(len(weights)) if i not in optima]
    phases = [_Phase(weights[x], beats[x], x, others) for x in others]
    lucky = 1 - len(others) / len(weights)
    calls = _CALLS
    while True:
        pmf = _law(phases, calls, lucky, len(weights))
        if pmf[-calls // 8 :].sum() < _TAIL:
            return calls_of(pmf)
        calls *= 2
        if calls > _MAX_CALLS or not np.isfinite(pmf).all():
            raise ArithmeticError(f"the law of calls is not computable up to {calls:,} calls")


def _law(phases: list["_Phase"], calls: int, lucky: float, size: int) -> Array:
    """Invert the generating function by FFT, using half of the roots of unity (the law is real)."""
    points = np.exp(-2j * np.pi * np.arange(calls // 2 + 1) / calls)
    values = np.empty(len(points), dtype=np.complex128)
    for k, s in enumerate(points):
        between, ending = np.empty((len(phases),) * 2, dtype=np.complex128), []
        for i, phase in enumerate(phases):
            between[i], end = phase.generating(complex(s))
            ending.append(end)
        solved = np.linalg.solve(np.eye(len(phases)) - between, np.array(ending))
        values[k] = lucky + solved.sum() / size
    return np.maximum(np.fft.irfft(values, calls), 0.0)


class _Phase:
    """One walk through a random order of a configuration's neighbours."""

    def __init__(self, weights: Array, wins: Array, at: int, others: list[int]) -> None:
        weights = weights * (SCALE / np.delete(weights, at).sum())
        rates = np.where(np.array(others) == at, 0.0, weights[others])
        losing = (1 - wins[others])[:, None]
        optima = float(np.delete(weights, [at, *others]).sum())
        if not optima > 0:
            raise ValueError("the optimum must be a neighbour of every other value")
        time, measure = quadrature(optima)
        self.silent = np.exp(-rates[:, None] * time)
        self.lost = losing * (1 - self.silent)
        density = measure * np.exp(-optima * time)
        self.winning = rates[:, None] * self.silent * (1 - losing) * density
        self.ending = optima * density

    def generating(self, s: complex) -> tuple[Complex, complex]:
        """Generating functions of calls for phases that end at each value, and at an optimum."""
        # The product over all z except y of A_z is needed for every y. Dividing the full product by
        # A_y would be unstable where A_y is close to 0, so prefix and suffix products are
        # multiplied instead.
        factors = self.silent + s * self.lost
        one = np.ones((1, factors.shape[1]))
        before = np.cumprod(np.vstack([one, factors[:-1]]), axis=0)
        after = np.cumprod(np.vstack([one, factors[:0:-1]]), axis=0)[::-1]
        between = s * np.sum(self.winning * before * after, axis=1)
        return between, complex(s * np.sum(self.ending * before[-1] * factors[-1]))


def quadrature(slowest: float) -> tuple[Array, Array]:
    """Nodes and weights to integrate over t > 0 a function that decays like e^(-slowest t)."""
    nodes, measure = leggauss(_NODES)
    edges = [0.0, 0.25]
    while edges[-1] * slowest < 40:
        edges.append(2 * edges[-1])
    left, right = np.array(edges[:-1])[:, None], np.array(edges[1:])[:, None]
    half = (right - left) / 2
    time = (left + half * (1 + nodes)).ravel()
    return time, (half * measure).ravel()
