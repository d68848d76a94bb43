"""Holding samplers to laws, and samplers that are wrong on purpose, which must be caught."""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, permutations
from random import Random

from paramhs.core.random_streams import below, stream
from paramhs.core.space import Config, Space
from paramhs.search.operators import Move, Operator
from paramhs.testing.laws import DRAWS as MANY
from paramhs.testing.laws import ERROR_RATE, fits, p_value
from tests.support.scale import of

__all__ = ["DRAWS", "ERROR_RATE", "MANY", "fits", "p_value"]

DRAWS = of(5_000, MANY)
"""From what is put together of laws that are held to MANY draws themselves. Whatever is wrong on
purpose is told apart with as many."""

Draw = Callable[[int, int, Random], int]
"""A new index, given the number of levels, the current index and the stream."""


def moves(
    operator: Operator, space: Space, at: Config, rng: Random, draws: int = DRAWS, **how: object
) -> list[Move]:
    """Many draws from an operator."""
    return [operator.sample(space, at, rng, **how) for _ in range(draws)]


def indices(draw: Draw, levels: int, at: int, name: str, draws: int) -> list[int]:
    """Many draws of a new index, from a stream of this name."""
    rng = stream(0, name, levels, at)
    return [draw(levels, at, rng) for _ in range(draws)]


def successive(weights: Mapping[Hashable, Fraction]) -> dict[tuple[Hashable, ...], Fraction]:
    """The law of the order in which all are drawn, one by one, by weight among what is left."""
    law = {}
    for order in permutations(weights):
        probability, left = Fraction(1), sum(weights.values())
        for item in order:
            probability *= weights[item] / left
            left -= weights[item]
        law[order] = probability
    return law


Weight = Callable[[int], float]
"""The weight of a signed distance."""


@lru_cache
def _sums(weight: Weight, steps: range) -> list[float]:
    return list(accumulate(weight(step) if step else 0.0 for step in steps))


def drawn_step(weight: Weight, steps: range, rng: Random) -> int:
    """The slow, obvious draw: a signed distance other than 0, by its weight."""
    sums = _sums(weight, steps)
    return steps[min(bisect_right(sums, rng.random() * sums[-1]), len(steps) - 1)]


def inverse(step: int) -> float:
    """The right weight."""
    return 1 / abs(step)


def in_range(weight: Weight, levels: int, at: int, rng: Random) -> int:
    """A new index by weight, among all."""
    return at + drawn_step(weight, range(-at, levels - at), rng)


def anywhere(levels: int, rng: Random) -> int:
    """A signed distance with weight 1 / d up to levels - 1, also out of range."""
    return drawn_step(inverse, range(1 - levels, levels), rng)


# Harmonic steps that are wrong.


def _one_more(step: int) -> float:
    return 1 / (abs(step) + 1)


def one_more_than_the_distance(levels: int, at: int, rng: Random) -> int:
    """Weights 1 / (d + 1)."""
    return in_range(_one_more, levels, at, rng)


def _steeper(step: int) -> float:
    return abs(step) ** -1.1


def exponent_slightly_off(levels: int, at: int, rng: Random) -> int:
    """Weights d ** -1.1."""
    return in_range(_steeper, levels, at, rng)


def _biased(step: int) -> float:
    return (1.02 if step > 0 else 0.98) / abs(step)


def biased_sign(levels: int, at: int, rng: Random) -> int:
    """Upwards has 2 % more weight, downwards 2 % less."""
    return in_range(_biased, levels, at, rng)


def clipped(levels: int, at: int, rng: Random) -> int:
    """What leaves the range ends at its border."""
    to = at
    while to == at:
        to = min(max(at + anywhere(levels, rng), 0), levels - 1)
    return to


def wasted(levels: int, at: int, rng: Random) -> int:
    """What leaves the range stays where it is."""
    to = at + anywhere(levels, rng)
    return to if 0 <= to < levels else at


def sign_flipped(levels: int, at: int, rng: Random) -> int:
    """What leaves the range goes to the other side where that is possible."""
    while True:
        step = anywhere(levels, rng)
        for to in (at + step, at - step):
            if 0 <= to < levels:
                return to


def side_first(levels: int, at: int, rng: Random) -> int:
    """A fair side where both have values, then the distance."""
    sides = [side for side in (range(-at, 0), range(1, levels - at)) if side]
    return at + drawn_step(inverse, sides[below(len(sides), rng)], rng)


def never_the_last(levels: int, at: int, rng: Random) -> int:
    """The highest value is forgotten."""
    return in_range(inverse, levels - 1, at, rng)


WRONG_HARMONIC: tuple[Draw, ...] = (
    one_more_than_the_distance,
    exponent_slightly_off,
    biased_sign,
    clipped,
    wasted,
    sign_flipped,
    side_first,
    never_the_last,
)


# Others that are wrong.


def uniform_with_the_current(levels: int, at: int, rng: Random) -> int:
    """Uniform over all values, the current one too."""
    return below(levels, rng)


def uniform_shifted(levels: int, at: int, rng: Random) -> int:
    """The current value's share goes to the next one."""
    to = below(levels, rng)
    return to if to != at else (at + 1) % levels


def two_step_by_distance_first(levels: int, at: int, rng: Random) -> int:
    """The distance is fair, then the sign is drawn again until it fits."""
    d = 1 + below(2, rng)
    feasible = [to for to in (at - d, at + d) if 0 <= to < levels]
    return feasible[below(len(feasible), rng)]


def two_step_clipped(levels: int, at: int, rng: Random) -> int:
    """What leaves the range ends at its border."""
    to = at
    while to == at:
        d = 1 + below(2, rng)
        to = min(max(at + (d if rng.random() < 0.5 else -d), 0), levels - 1)
    return to


class ByLevels:
    """The parameter is chosen by its number of levels instead of uniformly, then moves evenly."""

    def sample(self, space: Space, at: Config, rng: Random) -> Move:
        neighbours = list(space.neighbours(at))
        return (neighbours[below(len(neighbours), rng)],)


class EquallyMany:
    """The number of parameters that move is uniform instead of weighted 1 / k."""

    def sample(self, space: Space, at: Config, rng: Random) -> Move:
        k = 1 + below(len(at.movable), rng)
        return (_with_others(space, at, k, rng),)


class WithReplacement:
    """The k parameters are drawn with replacement, so that fewer than k may move."""

    def sample(self, space: Space, at: Config, rng: Random) -> Move:
        movable = at.movable
        k = drawn_step(inverse, range(1, len(movable) + 1), rng)
        positions = [movable[below(len(movable), rng)] for _ in range(k)]
        changes = [(i, _other(space.listed[i].levels, at.indices[i], rng)) for i in positions]
        return (space.moved(at, changes),)


def _with_others(space: Space, at: Config, k: int, rng: Random) -> Config:
    pool = list(at.movable)
    positions = [pool.pop(below(len(pool), rng)) for _ in range(k)]
    changes = [(i, _other(space.listed[i].levels, at.indices[i], rng)) for i in positions]
    return space.moved(at, changes)


def _other(levels: int, at: int, rng: Random) -> int:
    to = below(levels - 1, rng)
    return to + (to >= at)
