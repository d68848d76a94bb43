"""How one ordered parameter moves: the weight of another value, given its distance.

A step's law is its weights, normalised over the values in range: what would leave the range is
drawn again.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import Protocol

from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.values.errors import BadInput

Quantile = Callable[[float], int]
"""Turns u, uniform on [0, 1), into an index with the law of a step."""

_TABULATED = 128  # up to so many levels, looking up beats computing


class Step(Protocol):
    """A law of the new index, and a fast draw from it."""

    def __hash__(self) -> int: ...

    def weight(self, distance: int) -> Fraction:
        """The weight of a value at this distance (at least 1)."""

    def reach(self, levels: int, at: int) -> range:
        """The indices beyond which all weights are 0."""

    def mass(self, levels: int, at: int) -> float:
        """The sum of the weights of all values but the current one."""

    def quantile(self, levels: int, at: int) -> Quantile:
        """How to draw a new index, given two levels or more."""


def law(step: Step, levels: int, at: int) -> dict[int, Fraction]:
    """The exact law of a step's new index."""
    weights = {to: step.weight(abs(to - at)) for to in step.reach(levels, at) if to != at}
    total = sum(weights.values())
    return {to: weight / total for to, weight in weights.items()}


@dataclass(frozen=True)
class Uniform:
    """Any other value, all equally likely.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), the "random" operator, with replacement.
    """

    def weight(self, distance: int) -> Fraction:
        """The same for all."""
        return Fraction(1)

    def reach(self, levels: int, at: int) -> range:
        """Everywhere."""
        return range(levels)

    def mass(self, levels: int, at: int) -> float:
        """The number of other values."""
        return levels - 1

    def quantile(self, levels: int, at: int) -> Quantile:
        """How to draw a uniform other index."""
        return _uniform_but_one(0, levels - 1, at)


@dataclass(frozen=True)
class LStep:
    """A value at distance `length` or less, all equally likely.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), the l-step operator.
    """

    length: int = 1

    def __post_init__(self) -> None:
        if type(self.length) is not int or self.length < 1:
            raise BadInput(f"an l-step's length must be 1, 2, ..., not {self.length!r}")

    def weight(self, distance: int) -> Fraction:
        """The same for all within reach."""
        return Fraction(distance <= self.length)

    def reach(self, levels: int, at: int) -> range:
        """So many values on either side."""
        return range(max(at - self.length, 0), min(at + self.length + 1, levels))

    def mass(self, levels: int, at: int) -> float:
        """The number of values within reach."""
        return len(self.reach(levels, at)) - 1

    def quantile(self, levels: int, at: int) -> Quantile:
        """How to draw a uniform index within reach."""
        reach = self.reach(levels, at)
        return _uniform_but_one(reach[0], reach[-1], at)


@dataclass(frozen=True)
class Harmonic:
    """Another value with weight 1 / distance.

    Short moves are the likeliest, yet every value is one move away, so a search can both follow a
    gradient and jump a local optimum.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), "The Harmonic-step Operator".
    """

    def weight(self, distance: int) -> Fraction:
        """One over the distance."""
        return Fraction(1, distance)

    def reach(self, levels: int, at: int) -> range:
        """Everywhere."""
        return range(levels)

    def mass(self, levels: int, at: int) -> float:
        """A harmonic number for each side."""
        return harmonic_number(at) + harmonic_number(levels - 1 - at)

    def quantile(self, levels: int, at: int) -> Quantile:
        """How to draw: a side with weight H_n, n its number of values; on it, d with 1 / d."""
        if levels <= _TABULATED:
            return _harmonic_table(levels, at)
        right = levels - 1 - at
        below, total = harmonic_number(at), self.mass(levels, at)

        def draw(u: float) -> int:
            x = u * total - below
            if x < 0 or right == 0:  # rounding may bring x to 0 with nothing on the right
                return at - first_above(-x, at)
            return at + first_above(x, right)

        return draw


def _uniform_but_one(low: int, high: int, but: int) -> Quantile:
    def draw(u: float) -> int:
        to = low + int(u * (high - low))
        return to + 1 if to >= but else to

    return draw


@lru_cache(maxsize=4096)
def _harmonic_table(levels: int, at: int) -> Quantile:
    """Cumulative probabilities; the first above u is the draw, and `at` adds nothing to them."""
    sums = list(accumulate(1 / abs(to - at) if to != at else 0.0 for to in range(levels)))
    last = levels - 1 if at < levels - 1 else levels - 2
    shares = [x / sums[-1] for x in sums[:last]]
    return partial(bisect_right, [*shares, *([1.0] * (levels - last))])
