"""How one ordered parameter moves: the weight of another value, given its distance.

A step's law is its weights, normalised over the values in range: what would leave the range is
drawn again.
"""

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Protocol

from paramhs.errors import BadInput
from paramhs.operators.harmonic_numbers import TABLE, first_above, harmonic_number


class Step(Protocol):
    """A law of the new index, and a fast draw from it."""

    def weight(self, distance: int) -> Fraction:
        """The weight of a value at this distance (at least 1)."""

    def mass(self, levels: int, at: int) -> float:
        """The sum of the weights of all values but the current one."""

    def draw(self, levels: int, at: int, rng: Random) -> int:
        """A new index, with probability proportional to its weight; needs two levels or more."""


def law(step: Step, levels: int, at: int) -> dict[int, Fraction]:
    """The exact law of a step's new index."""
    weights = {to: step.weight(abs(to - at)) for to in range(levels) if to != at}
    total = sum(weights.values())
    return {to: weight / total for to, weight in weights.items() if weight}


@dataclass(frozen=True)
class Uniform:
    """Any other value, all equally likely.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), the "random" operator, with replacement.
    """

    def weight(self, distance: int) -> Fraction:
        """The same for all."""
        return Fraction(1)

    def mass(self, levels: int, at: int) -> float:
        """The number of other values."""
        return levels - 1

    def draw(self, levels: int, at: int, rng: Random) -> int:
        """A uniform other index."""
        to = int(rng.random() * (levels - 1))
        return to + 1 if to >= at else to


@dataclass(frozen=True)
class LStep:
    """A value at most `length` places away, all equally likely.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), the l-step operator.
    """

    length: int = 1

    def __post_init__(self) -> None:
        if self.length < 1:
            raise BadInput(f"an l-step's length must be at least 1, not {self.length}")

    def weight(self, distance: int) -> Fraction:
        """The same for all within reach."""
        return Fraction(distance <= self.length)

    def mass(self, levels: int, at: int) -> float:
        """The number of values within reach."""
        return min(self.length, at) + min(self.length, levels - 1 - at)

    def draw(self, levels: int, at: int, rng: Random) -> int:
        """A uniform index within reach."""
        left = min(self.length, at)
        right = min(self.length, levels - 1 - at)
        to = at - left + int(rng.random() * (left + right))
        return to + 1 if to >= at else to


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

    def mass(self, levels: int, at: int) -> float:
        """A harmonic number for each side."""
        return harmonic_number(at) + harmonic_number(levels - 1 - at)

    def draw(self, levels: int, at: int, rng: Random) -> int:
        """A side with weight H_n, n being its number of values; on it, distance d with 1 / d."""
        right = levels - 1 - at
        below = TABLE[at] if at < len(TABLE) else harmonic_number(at)
        above = TABLE[right] if right < len(TABLE) else harmonic_number(right)
        x = rng.random() * (below + above) - below
        if x < 0 or right == 0:  # rounding may bring x to 0 where there is nothing on the right
            return at - first_above(-x, at)
        return at + first_above(x, right)
