"""Intervals, and tolerances for differences that do not matter."""

import math
from dataclasses import asdict, dataclass

from paramhs.core.text.numbers import finite

SIGNIFICANCE_LEVEL = 0.05
"""Error allowed to a verdict, before it is divided among several."""
MIN_CASES = 6
"""Cases needed so that unanimous ones give a p-value below 0.05."""
MAX_NEEDED_CASES = 200
"""Largest number of cases that a verdict asks for."""
MARGIN = 0.01
"""Relative difference up to which costs are equivalent, as a share of the larger one."""
CLOCK_SECONDS = 0.01
"""Measurement error of a time in seconds; smaller differences do not matter."""


def fewest_cases(comparisons: int) -> int:
    """Number of cases that can show a difference, if all agree, in one of several comparisons.

    Examples:
        >>> fewest_cases(1) == MIN_CASES
        True
    """
    return math.ceil(math.log2(2 * comparisons / SIGNIFICANCE_LEVEL))


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % confidence interval (see `Verdict.confidence`)."""

    estimate: float
    low: float
    high: float

    def times(self, factor: float) -> "Interval":
        """Return the interval multiplied by a factor."""
        return Interval(self.estimate * factor, self.low * factor, self.high * factor)

    def to_json(self) -> dict[str, float | None]:
        """Convert the interval to JSON types."""
        return {name: finite(number) for name, number in asdict(self).items()}

    def __str__(self) -> str:
        return f"{self.estimate:.3g} (95 % interval {self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Tolerance:
    """Tolerance for differences: relative and, for measured times, in seconds."""

    margin: float
    clock: float

    def __call__(self, cost: float, than: float) -> float:
        """Largest difference between these two costs that does not matter."""
        return max(self.margin * max(abs(cost), abs(than)), self.clock)


@dataclass(frozen=True)
class Estimate:
    """Interval estimates and the p-value of one comparison."""

    gain: Interval | None
    ratio: Interval | None
    p_value: float
    favours_second: bool
    failures_differ: bool
    needed: int | None = None
    """Number of cases that would probably show the difference; None where that is not asked."""
