"""The search heuristics bit by bit, in machine code: nothing is skipped or shortened.

Every bit of every offspring is drawn, also where the outcome is already decided, so that these
runs share no reasoning with the laws that are held to them. They return levels (`heuristics.py`).

The loops are spelled out: numba keeps on disk only what is given no functions as arguments.
"""

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from paramhs.core.random_streams import SEEDS, below, stream
from paramhs_paper.heuristics import Heuristic, LeadingOnes, OneMax, Ridge
from paramhs_paper.scenarios import TIES, HeuristicScenario
from paramhs_paper.searching import Duel

Bits = NDArray[np.bool_]
Levels = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])


def simulate(heuristic: Heuristic, value: float, runs: int, seed: int) -> Levels:
    """Final levels of independent runs, a function of these arguments alone."""
    words = stream(seed, repr(heuristic), repr(float(value)))
    rng = np.random.Generator(np.random.PCG64([below(2**32, words) for _ in range(4)]))
    size = (heuristic.n, heuristic.cutoff)
    match heuristic:
        case Ridge():
            return ridge(*size, value / heuristic.n, runs, rng)
        case LeadingOnes():
            return leading_ones(*size, value / heuristic.n, runs, rng)
        case OneMax():
            return onemax(*size, int(value), runs, rng)
    raise TypeError(heuristic)


def duel_by_bits(scenario: HeuristicScenario, runs: int, ties: str = "coin") -> Duel:
    """Both are run anew, bit by bit."""

    def total(index: int, rng: Random) -> int:
        seed = below(SEEDS, rng)
        return int(simulate(scenario.heuristic, scenario.values[index], runs, seed).sum())

    def duel(incumbent: int, challenger: int, rng: Random) -> bool:
        new, old = total(challenger, rng), total(incumbent, rng)
        return rng.random() < TIES[ties] if new == old else new > old

    return duel


def _compiled(function: F) -> F:
    """Compiled at its first call and kept on disk; other threads go on while it runs."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def _part(function: F) -> F:
    """Compiled into what calls it."""
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(F, numba.njit(**without)(function))


@_compiled
def ridge(n: int, cutoff: int, rate: float, runs: int, rng: np.random.Generator) -> Levels:
    """Final levels of the (1+1) EA on Ridge, started at 0^n."""
    levels = np.empty(runs, np.int64)
    for run in range(runs):
        bits = np.zeros(n, np.bool_)
        for _ in range(cutoff):
            child = _mutated(bits, rate, rng)
            if _ridge_fitness(child) >= _ridge_fitness(bits):
                bits = child
        levels[run] = _ridge_fitness(bits) - n
    return levels


@_compiled
def leading_ones(n: int, cutoff: int, rate: float, runs: int, rng: np.random.Generator) -> Levels:
    """Final levels of the (1+1) EA on LeadingOnes."""
    levels = np.empty(runs, np.int64)
    for run in range(runs):
        bits = _random_bits(n, rng)
        for _ in range(cutoff):
            child = _mutated(bits, rate, rng)
            if _leading(child) >= _leading(bits):
                bits = child
        levels[run] = _leading(bits)
    return levels


@_compiled
def onemax(n: int, cutoff: int, k: int, runs: int, rng: np.random.Generator) -> Levels:
    """Final levels of RLS_k on OneMax."""
    levels = np.empty(runs, np.int64)
    positions = np.arange(n)
    for run in range(runs):
        bits = _random_bits(n, rng)
        for _ in range(cutoff):
            _choose(k, positions, rng)
            child = bits.copy()
            child[positions[:k]] = ~child[positions[:k]]
            if child.sum() >= bits.sum():
                bits = child
        levels[run] = bits.sum()
    return levels


@_part
def _mutated(bits: Bits, rate: float, rng: np.random.Generator) -> Bits:
    """A copy with each bit flipped at this rate."""
    child = np.empty_like(bits)
    for i in range(len(bits)):
        child[i] = bits[i] != (rng.random() < rate)
    return child


@_part
def _ridge_fitness(bits: Bits) -> int:
    """n + i at 1^i 0^(n - i); elsewhere the number of zeros."""
    ones = int(bits.sum())
    return len(bits) + ones if _leading(bits) == ones else len(bits) - ones


@_part
def _leading(bits: Bits) -> int:
    """The number of leading ones."""
    level = 0
    while level < len(bits) and bits[level]:
        level += 1
    return level


@_part
def _random_bits(n: int, rng: np.random.Generator) -> Bits:
    bits = np.empty(n, np.bool_)
    for i in range(n):
        bits[i] = rng.random() < 0.5
    return bits


@_part
def _choose(k: int, positions: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Put k distinct uniform positions in front, by the first k swaps of a shuffle."""
    for i in range(k):
        j = i + int(rng.random() * (len(positions) - i))
        positions[i], positions[j] = positions[j], positions[i]
