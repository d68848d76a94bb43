"""Scales of axes, and the numbers written beside them.

Costs may be zero or negative, and span many powers of ten. Positive numbers that span much use a
logarithm. If some are not positive, a symmetric logarithm is used: linear between minus and plus
the smallest size that matters, logarithmic beyond.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_WIDE_RATIO = 20.0  # ratio above which a logarithm shows more
_MIN_SIZE, _MAX_SIZE = 1e-300, 1e300  # beyond these, sums and ratios overflow


@dataclass(frozen=True)
class Scale:
    """Map from numbers to positions on an axis, from 0 to 1."""

    low: float
    high: float
    bend: float | None = None
    """None for a linear scale, 0 for a logarithm, else the start of a symmetric one."""

    def at(self, number: float) -> float:
        """Position of a number; a number outside the scale lies at its end."""
        low, high, here = (self._bent(_tamed(x)) for x in (self.low, self.high, number))
        if not high > low:
            return 0.5
        return min(max((here - low) / (high - low), 0.0), 1.0)

    def _bent(self, x: float) -> float:
        if self.bend is None:
            # Divided so that differences are finite.
            return x / max(abs(self.low), abs(self.high), _MIN_SIZE)
        if self.bend == 0:
            return math.log(max(x, _MIN_SIZE))
        size = abs(x) / self.bend
        return math.copysign(size if size <= 1 else 1 + math.log10(size), x)

    def ticks(self, most: int = 5) -> list[float]:
        """About `most` round numbers on the scale."""
        if not most:
            return []
        if self.bend is None:
            return _even(self.low, self.high, most)
        if self.bend == 0:
            return _powers(self.low, self.high, most)
        up = _powers(self.bend, max(self.high, self.bend), (most + 1) // 2)
        down = _powers(self.bend, max(-self.low, self.bend), (most + 1) // 2)
        return [x for x in (*(-d for d in reversed(down)), 0.0, *up) if self.low <= x <= self.high]


def linear(numbers: Iterable[float], *, zero: bool = False) -> Scale:
    """Linear scale that contains all of these numbers, with some margin."""
    low, high = _ends([*numbers, *([0.0] if zero else [])])
    room = high / 20 - low / 20 if low < high else abs(low) / 2 or 0.5
    return Scale(low if zero and low == 0 else low - room, high + room)


def logarithmic(numbers: Iterable[float]) -> Scale:
    """Logarithmic scale that contains all of these positive numbers."""
    low, high = _ends(list(numbers))
    room = max((high / low) ** 0.05, 1.15) if high / low < math.inf else 2.0
    return Scale(max(low / room, _MIN_SIZE), max(_tamed(high * room), high), 0.0)


def fitting(numbers: Iterable[float]) -> Scale:
    """Scale that shows these numbers best."""
    finite = [_tamed(x) for x in numbers if math.isfinite(x)]
    sizes = [abs(x) for x in finite if x]
    if not sizes or max(sizes) / min(sizes) < _WIDE_RATIO:
        return linear(finite or [0.0, 1.0])
    if min(finite) > 0:
        return logarithmic(finite)
    return _mirrored(finite, sizes)


def _mirrored(numbers: Sequence[float], sizes: Sequence[float]) -> Scale:
    bend = max(min(sizes), max(sizes) / 1e6)
    low, high = _ends(numbers)
    return Scale(_beyond(low, bend, -1), _beyond(high, bend, 1), bend)


def _beyond(end: float, bend: float, side: int) -> float:
    """Extend an end of a scale a little."""
    if end * side <= 0:
        return side * bend * 0.3 if end == 0 else end
    return end * 1.3


def _ends(numbers: Sequence[float]) -> tuple[float, float]:
    finite = [_tamed(x) for x in numbers if math.isfinite(x)] or [0.0]
    return min(finite), max(finite)


def _tamed(x: float) -> float:
    return min(max(x, -_MAX_SIZE), _MAX_SIZE)


def _even(low: float, high: float, most: int) -> list[float]:
    span = high / most - low / most
    if not _MIN_SIZE < span < math.inf:
        return [low]
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= span * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _powers(low: float, high: float, most: int) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:
        between = _between(low, high, first, last)
        return between if len(between) > 2 else _even(low, high, most)
    step = math.ceil((last - first + 1) / most)
    return [10.0**k for k in range(first, last + 1, step)]


def _between(low: float, high: float, first: int, last: int) -> list[float]:
    """Multiples 2 and 5 of powers of ten as well, where the range has few powers."""
    every = [k * 10.0**e for e in range(first - 1, last + 1) for k in (1, 2, 5)]
    return [x for x in every if low <= x <= high]


def short(number: float) -> str:
    """Format a number for an axis or a table."""
    if not math.isfinite(number):
        return "∞" if number > 0 else "-∞" if number < 0 else "?"
    if number == 0:
        return "0"
    size = abs(number)
    if 1000 <= size < 1e6 and number == int(number):
        return f"{int(number):,}"
    if 1e-3 <= size < 1e5:
        return f"{number:.3g}" if size < 1000 else f"{number:,.0f}"
    mantissa, _, exponent = f"{number:.2e}".partition("e")
    return f"{float(mantissa):g}e{int(exponent)}"
