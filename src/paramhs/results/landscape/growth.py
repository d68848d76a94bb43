"""How the number of calls grows with the number of values, on a landscape with one valley.

The cost of a value is its distance from the optimum, comparisons are always right, equal distances
meet by a fair coin, the start is uniform, and the calls are counted until the optimum is first
sampled. There the harmonic step needs O(log^2 m) calls and every other operator about m.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.linalg import solve_banded, toeplitz

from paramhs.values.errors import BadInput

Floats = NDArray[np.float64]

# Distances solved at once by a dense system; larger blocks are halved. At 64 the system is so large
# that BLAS uses threads, which wait for each other: fifteen times slower on two busy cores.
_BLOCK = 32


@dataclass(frozen=True)
class Growth:
    """The mean number of calls of each operator, for so many values."""

    levels: int
    l_step: float
    uniform: float
    uniform_without_replacement: float
    harmonic: float


def growth(sizes: Sequence[int], optimum: int = 0, length: int = 1) -> list[Growth]:
    """One row for each number of values; 10^6 of them take seconds."""
    return [
        Growth(
            levels,
            l_step_calls(levels, optimum, length),
            uniform_calls(levels),
            uniform_calls_without_replacement(levels),
            harmonic_calls(levels, optimum),
        )
        for levels in sizes
    ]


def uniform_calls(levels: int) -> float:
    """(m - 1)^2 / m: each of the m - 1 other values is drawn alike, whatever the landscape."""
    return (levels - 1) ** 2 / levels


def uniform_calls_without_replacement(levels: int) -> float:
    """(m - 1) / 2: the optimum is anywhere in a random order of all values."""
    return (levels - 1) / 2


def l_step_calls(levels: int, optimum: int = 0, length: int = 1) -> float:
    """The mean number of calls with the l-step."""
    sides = _sides(levels, optimum)
    if length == 1:  # two calls a step, but one from the border, where the only step is inwards
        return sum(side * (side + 1) - 1 for side in sides if side) / levels
    return float(_banded(levels, optimum, min(length, levels - 1)).sum() / levels)


def _banded(levels: int, optimum: int, length: int) -> Floats:
    """The mean from each value: a band of width 2 l + 1 instead of a matrix."""
    at = np.arange(levels)
    reach = np.minimum(at + length, levels - 1) - np.maximum(at - length, 0)
    band = np.zeros((2 * length + 1, levels))
    band[length] = at == optimum
    distance = np.abs(at - optimum)
    for step in (s for s in range(-length, length + 1) if s):
        here = at[max(-step, 0) : levels - max(step, 0)]
        here = here[here != optimum]
        to = here + step
        taken = (distance[to] < distance[here]) + 0.5 * (distance[to] == distance[here])
        band[length, here] += taken
        band[length - step, to] -= taken
    return np.asarray(solve_banded((length, length), band, np.where(at == optimum, 0, reach)))


def harmonic_calls(levels: int, optimum: int = 0) -> float:
    """The mean number of calls with the harmonic step."""
    return float(sum(calls.sum() for calls in harmonic_calls_from(levels, optimum)) / levels)


def harmonic_calls_from(levels: int, optimum: int = 0) -> tuple[Floats, Floats]:
    """The mean from each distance 1, 2, ... below the optimum, and from each above it.

    Let E_s(d) be the mean from distance d on side s, n' the number of values on the other side, and
    W = H_x + H_{m-1-x} all weights from there. What is not nearer is refused, so only the weights
    of nearer values remain, and half that of the other side's value at the same distance:

        E_s(d) A_s(d) = W + sum over e < d of (E_s(e) / (d - e) + E_s'(e) / (d + e)) + E_s'(d) / 4d

    where A_s(d) = H_{d + min(d-1, n')} + [d <= n'] / 4d is the sum of the weights of what is taken,
    the optimum's 1/d among them. Every mean needs only those of nearer values: an online
    convolution. A block of distances is halved; when the near half is known, an FFT adds its part
    to the far half: O(m log^2 m) time, O(m) memory.
    """
    return _Halving(*_sides(levels, optimum)).solved()


def _sides(levels: int, optimum: int) -> tuple[int, int]:
    if not 0 <= optimum < levels:
        raise BadInput(f"the optimum's index {optimum} is not in 0 .. {levels - 1}")
    return optimum, levels - 1 - optimum


class _Halving:
    """The online convolution. Rows are the two sides, columns are distances."""

    def __init__(self, below: int, above: int) -> None:
        self.sides = (below, above)
        self.farthest = max(self.sides)
        with np.errstate(divide="ignore"):
            self.inverse = 1.0 / np.arange(2 * self.farthest + 2)
        self.inverse[0] = 0.0
        self.kernels: dict[tuple[int, int], NDArray[np.complex128]] = {}
        self.calls = np.zeros((2, self.farthest + 1))
        self.taken = np.ones((2, self.farthest + 1))
        self.known = np.zeros((2, self.farthest + 1))
        self._set_up()

    def _set_up(self) -> None:
        """`taken` is A, and `known` the right-hand side as far as it is known: at first W."""
        harmonic = np.cumsum(self.inverse)
        for side, (own, other) in enumerate((self.sides, self.sides[::-1])):
            d = np.arange(1, own + 1)
            self.known[side, d] = harmonic[own - d] + harmonic[other + d]
            self.taken[side, d] = harmonic[d + np.minimum(d - 1, other)]
            self.taken[side, d] += np.where(d <= other, self.inverse[d] / 4, 0.0)

    def solved(self) -> tuple[Floats, Floats]:
        self._solve(1, self.farthest + 1)
        below, above = self.sides
        return self.calls[0, 1 : below + 1], self.calls[1, 1 : above + 1]

    def _solve(self, low: int, high: int) -> None:
        if high - low <= _BLOCK:
            self._solve_densely(low, high)
            return
        middle = (low + high) // 2
        self._solve(low, middle)
        self._carry(low, middle, high)
        self._solve(middle, high)

    def _carry(self, low: int, middle: int, high: int) -> None:
        """Add what the distances low .. middle-1 mean for middle .. high-1."""
        near, size = middle - low, next_fast_len(high - low, real=True)
        for side, own in enumerate(self.sides):
            if own >= low:
                means = rfft(self.calls[side, low:middle], size)
                part = irfft(means * self._kernel(high - low, size), size)
                self._add(side, middle, part[near : high - low])
                if self.sides[1 - side] >= middle:
                    # d + e for d = middle + k, e = low + i: i is read backwards
                    span = self.inverse[low + middle : low + middle + high - low]
                    means = rfft(self.calls[side, low:middle][::-1], size)
                    part = irfft(means * rfft(span, size), size)
                    self._add(1 - side, middle, part[near - 1 : high - low - 1])

    def _kernel(self, width: int, size: int) -> NDArray[np.complex128]:
        if (width, size) not in self.kernels:
            self.kernels[width, size] = rfft(self.inverse[:width], size)
        return self.kernels[width, size]

    def _add(self, side: int, start: int, part: Floats) -> None:
        """Distances beyond the end of a side stay at 0."""
        end = min(start + len(part), self.sides[side] + 1)
        if end > start:
            self.known[side, start:end] += part[: end - start]

    def _solve_densely(self, low: int, high: int) -> None:
        d = np.arange(low, high)
        nearer = toeplitz(self.inverse[: high - low], np.zeros(high - low))
        across = np.tril(self.inverse[d[:, None] + d], -1) + np.diag(self.inverse[d] / 4)
        across *= d <= min(self.sides)  # elsewhere one of the two means does not exist
        width = high - low
        system = np.block([[-nearer, -across], [-across, -nearer]])
        system[np.arange(2 * width), np.arange(2 * width)] += self.taken[:, low:high].ravel()
        for side, own in enumerate(self.sides):
            outside = np.flatnonzero(d > own) + side * width
            system[outside] = 0.0
            system[outside, outside] = 1.0
        means = np.linalg.solve(system, self.known[:, low:high].ravel())
        self.calls[:, low:high] = means.reshape(2, width)
