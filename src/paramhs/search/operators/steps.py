"""Steps of one ordered parameter: the weight of another value, given its distance.

The law of a step is its weights, normalised over the values in range: a draw outside the range is
repeated.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate

from paramhs.core.errors import BadInput
from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number

Quantile = Callable[[float], int]
"""Map from u, uniform on [0, 1), to an index with the law of a step."""

_TABLE_LEVELS = 128  # up to this number of levels, a table is faster than a formula


class Step(ABC):
    """Law of the new index of a parameter, and a fast way to draw from it."""

    @abstractmethod
    def weight(self, distance: int) -> Fraction:
        """Weight of a value at this distance (at least 1).

        Args:
            distance: Difference of two indices, at least 1.

        Returns:
            The weight, up to a common factor.
        """

    @abstractmethod
    def reach(self, levels: int, at: int) -> range:
        """Range of indices with a positive weight.

        Args:
            levels: Number of values of the parameter.
            at: Index of the current value.

        Returns:
            A range of indices, which may include `at`.
        """

    @abstractmethod
    def mass(self, levels: int, at: int) -> float:
        """Sum of the weights of all values except the current one.

        Args:
            levels: Number of values of the parameter.
            at: Index of the current value.

        Returns:
            The sum.
        """

    @abstractmethod
    def quantile(self, levels: int, at: int) -> Quantile:
        """Function that draws a new index, for at least two levels.

        Args:
            levels: Number of values of the parameter, at least 2.
            at: Index of the current value.

        Returns:
            A function of u, uniform on [0, 1), to the new index.
        """


def law(step: Step, levels: int, at: int) -> dict[int, Fraction]:
    """Exact law of a step's new index."""
    weights = {to: step.weight(abs(to - at)) for to in step.reach(levels, at) if to != at}
    total = sum(weights.values())
    return {to: weight / total for to, weight in weights.items()}


@dataclass(frozen=True)
class Uniform(Step):
    """Move to any other value, all equally likely.

    Examples:
        >>> from paramhs.search import Uniform
        >>> Uniform().weight(4)
        Fraction(1, 1)

    Source: Hall, Oliveto, Sudholt (PPSN 2020), the "random" operator, with replacement.
    """

    def weight(self, distance: int) -> Fraction:
        """Equal weight of every other value."""
        return Fraction(1)

    def reach(self, levels: int, at: int) -> range:
        """The whole range of indices."""
        return range(levels)

    def mass(self, levels: int, at: int) -> float:
        """Number of other values."""
        return levels - 1

    def quantile(self, levels: int, at: int) -> Quantile:
        """Function that draws a uniform other index."""
        return _uniform_but_one(0, levels - 1, at)


@dataclass(frozen=True)
class LStep(Step):
    """Move to a value at distance `length` or less, all equally likely.

    Args:
        length: Largest distance.

    Examples:
        >>> from paramhs.search import LStep
        >>> LStep(2).reach(levels=9, at=4)
        range(2, 7)

    Source: Hall, Oliveto, Sudholt (PPSN 2020), the l-step operator.
    """

    length: int = 1

    def __post_init__(self) -> None:
        if type(self.length) is not int or self.length < 1:
            raise BadInput(f"an l-step's length must be 1, 2, ..., not {self.length!r}")

    def weight(self, distance: int) -> Fraction:
        """Equal weight of every value within reach."""
        return Fraction(distance <= self.length)

    def reach(self, levels: int, at: int) -> range:
        """Range of `length` values on either side."""
        return range(max(at - self.length, 0), min(at + self.length + 1, levels))

    def mass(self, levels: int, at: int) -> float:
        """Number of values within reach."""
        return len(self.reach(levels, at)) - 1

    def quantile(self, levels: int, at: int) -> Quantile:
        """Function that draws a uniform index within reach."""
        reach = self.reach(levels, at)
        return _uniform_but_one(reach[0], reach[-1], at)


@dataclass(frozen=True)
class Harmonic(Step):
    """Move to another value with weight 1 / distance.

    Short moves are the likeliest, yet every value is one move away, so a search can both follow a
    gradient and jump a local optimum.

    Examples:
        >>> from paramhs.search import Harmonic
        >>> Harmonic().weight(4)
        Fraction(1, 4)

    Source: Hall, Oliveto, Sudholt (PPSN 2020), "The Harmonic-step Operator".
    """

    def weight(self, distance: int) -> Fraction:
        """One over the distance."""
        return Fraction(1, distance)

    def reach(self, levels: int, at: int) -> range:
        """The whole range of indices."""
        return range(levels)

    def mass(self, levels: int, at: int) -> float:
        """Sum of a harmonic number for each side."""
        return harmonic_number(at) + harmonic_number(levels - 1 - at)

    def quantile(self, levels: int, at: int) -> Quantile:
        """Function that draws a side with weight H_n, n its number of values, then d with 1 / d."""
        if levels <= _TABLE_LEVELS:
            return _harmonic_table(levels, at)
        right = levels - 1 - at
        below, total = harmonic_number(at), self.mass(levels, at)

        def draw(u: float) -> int:
            x = u * total - below
            if x < 0 or right == 0:  # rounding may bring x to 0 with no value on the right
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
