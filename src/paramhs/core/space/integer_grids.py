"""Log-spaced grids of integers."""

import math

from paramhs.core.errors import BadInput
from paramhs.core.space.literals import is_integer
from paramhs.core.text.quoting import short

_MAX_LEVELS = 100_000  # levels that are listed one by one
_LEVELS_PER_DOUBLING = 5  # between a value and twice that value, where integers are dense enough
_MIN_LEVELS, _USUAL_LEVELS = 17, 65


def usual_levels(low: int, high: int) -> int:
    """The number of levels of a log-spaced range: more the more it spans, from 17 to 65.

    With 65 for every range, a range of up to 65 integers would have all of them, evenly spaced.
    """
    if not 0 <= low <= high:
        return _USUAL_LEVELS
    doublings = math.log2(high) - math.log2(low) if low else math.log2(max(high, 1))
    wanted = 1 + round(_LEVELS_PER_DOUBLING * doublings) + (low == 0)
    return min(max(wanted, _MIN_LEVELS), _USUAL_LEVELS)


def log_spaced(low: int, high: int, levels: int, default: int | None = None) -> tuple[int, ...]:
    """At most `levels` integers from low to high, the default among them, evenly in logarithms.

    A range from 0 is 0 and a grid from 1.
    """
    if low < 0:
        raise BadInput(
            f"a log-spaced integer parameter must have low >= 0, not {low}; give special = [{low}]"
            " for a value that is no quantity, such as -1 for automatic"
        )
    if not is_integer(levels) or not 3 <= levels <= _MAX_LEVELS:
        raise BadInput(
            f"a log-spaced integer parameter needs at least 3 levels, at most {_MAX_LEVELS:,}, not"
            f" {short(levels)}"
        )
    if default is not None and not (is_integer(default) and low <= default <= high):
        raise BadInput(f"the default {short(default)} is not an integer in {low} .. {high}")
    first = max(low, 1)
    zero = [0] * (low == 0)
    steps = min(levels - 1 - len(zero), high - first)
    spaced = zero + (_even_ratios(first, high, steps) if high >= first else [])
    if default is not None and default not in spaced:
        nearest = min(range(1, len(spaced) - 1), key=lambda i: abs(spaced[i] - default))
        spaced[nearest] = default
    return tuple(spaced)


def _even_ratios(low: int, high: int, steps: int) -> list[int]:
    """Choose integers so that each step is as close as possible to the ratio still needed.

    Where that ratio rounds to no step at all, the next integer is taken: all small integers are
    included and none is repeated. An arithmetic step is at least as long as a geometric one, so
    high is never passed.
    """
    spaced = [low]
    for left in range(steps, 1, -1):
        last = spaced[-1]
        spaced.append(max(last + 1, round(last * (high / last) ** (1 / left))))
    return [*spaced, high] if steps else spaced
