"""Random landscapes to test the theorems: is a bound ever violated, and how loose is it?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from paramhs.core.random_streams import below, stream
from paramhs.search.operators import Harmonic, LStep, Step, Uniform
from paramhs.theory.bounds import (
    best_halving_bound,
    best_upper_bound,
    l_step_distance_bound,
    uniform_lower_bound,
)
from paramhs.theory.param_rls import table_chain
from paramhs.theory.unimodality import Floats, optima, profile

Landscape = Callable[[int, Random], Floats]
"""Draws the costs of a number of values, one of them the best."""


def unimodal(levels: int, rng: Random) -> Floats:
    """Unimodal landscape: costs grow with the distance on either side, by random amounts."""
    return np.array([d + rng.random() if d else 0.0 for d in _distances(levels, rng)])


def approximately_unimodal(levels: int, alpha: float, beta: int, rng: Random) -> Floats:
    """An (alpha, beta)-approximately unimodal landscape: at distance d the cost is d alpha^u.

    u is uniform on [0, 1), so a value more than alpha times as far away costs more. Nearer than
    beta the definition is unrestrictive: such a cost is that of a uniform distance, or worse than
    all.
    """
    trap = rng.random() < 0.5

    def near() -> float:
        return alpha * levels if trap else 1 + below(levels, rng) + rng.random()

    distances = _distances(levels, rng)
    return np.array([near() if 0 < d < beta else d * alpha ** rng.random() for d in distances])


def rugged(levels: int, rng: Random) -> Floats:
    """Rugged landscape: independent uniform costs, the optimum anywhere."""
    return np.array([rng.random() if d else -1.0 for d in _distances(levels, rng)])


def plateau(levels: int, rng: Random) -> Floats:
    """Terraces of equal cost around the optimum, a random number of values wide."""
    width = 1 + below(max(levels // 2, 1), rng)
    return np.array([1 + (d - 1) // width if d else 0 for d in _distances(levels, rng)], float)


def deceptive(levels: int, rng: Random) -> Floats:
    """Deceptive landscape: costs fall with the distance, only the optimum itself is best."""
    return np.array([levels - d + rng.random() if d else 0.0 for d in _distances(levels, rng)])


def _distances(levels: int, rng: Random) -> list[int]:
    optimum = below(levels, rng)
    return [abs(index - optimum) for index in range(levels)]


def _with(alpha: float, share: float) -> Landscape:
    def drawn(levels: int, rng: Random) -> Floats:
        return approximately_unimodal(levels, alpha, max(1, round(share * levels)), rng)

    return drawn


KINDS: dict[str, Landscape] = {
    "unimodal": unimodal,
    "alpha 1.5": _with(1.5, 0.0),
    "alpha 4": _with(4.0, 0.0),
    "beta m/10": _with(1.0, 0.1),
    "alpha 2, beta m/4": _with(2.0, 0.25),
    "rugged": rugged,
    "plateau": plateau,
    "deceptive": deceptive,
}
"""Kinds of landscapes in the study."""


@dataclass(frozen=True)
class Row:
    """Bounds and exact calls of a landscape; ratios are at least 1 if the theorems hold.

    `alpha` and `beta` are those of the profile where the paper's upper bound is smallest.
    """

    kind: str
    levels: int
    alpha: Fraction
    beta: int
    upper_bound: float
    halving_bound: float
    harmonic: float
    l_step_bound: float
    l_step: float
    uniform_bound: float
    uniform: float
    uniform_without_replacement: float

    @property
    def upper_ratio(self) -> float:
        """Ratio of the paper's upper bound to the exact calls of the harmonic step."""
        return self.upper_bound / self.harmonic

    @property
    def halving_ratio(self) -> float:
        """Ratio of the sharper upper bound to the exact calls of the harmonic step."""
        return self.halving_bound / self.harmonic

    @property
    def l_step_ratio(self) -> float:
        """Ratio of the exact calls of the 1-step to their bound; infinite if it gets stuck."""
        return self.l_step / self.l_step_bound

    @property
    def uniform_ratio(self) -> float:
        """Ratio of the calls of the uniform move without replacement to the lower bound M / 4."""
        return self.uniform_without_replacement / self.uniform_bound


def study(
    sizes: Iterable[int], repetitions: int, seed: int, kinds: Iterable[str] = tuple(KINDS)
) -> list[Row]:
    """Draw landscapes of each kind and size (at least 2), each from a stream of its own."""
    return [
        studied(kind, KINDS[kind](levels, stream(seed, "landscape", kind, levels, repetition)))
        for kind in kinds
        for levels in sizes
        for repetition in range(repetitions)
    ]


def studied(kind: str, costs: Floats) -> Row:
    """Bounds and exact calls, with comparisons that are always correct."""
    levels = len(costs)
    betas = profile(costs)
    optimum = optima(costs)[0]
    best = best_upper_bound(betas)
    return Row(
        kind,
        levels,
        best.alpha,
        best.beta,
        best.calls,
        best_halving_bound(betas).calls,
        _calls(costs, Harmonic()),
        float(l_step_distance_bound([levels], [optimum])),
        _calls(costs, LStep()),
        float(uniform_lower_bound([levels])),
        _calls(costs, Uniform()),
        (levels - 1) / 2,
    )


def _calls(costs: Floats, step: Step) -> float:
    """Mean calls from a uniform start; infinite if the search may get stuck."""
    return table_chain(costs, step).moments()[0]
