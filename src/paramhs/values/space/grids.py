"""Grids of integers."""

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.space.values import is_integer

_MOST = 100_000  # levels that are listed one by one


def log_spaced(low: int, high: int, levels: int, default: int | None) -> tuple[int, ...]:
    """So many integers from low to high, or all, the default among them, evenly in logarithms."""
    if low < 1:
        raise BadInput(f"a log-spaced parameter must have low > 0, not {low}")
    if not is_integer(levels) or not 3 <= levels <= _MOST:
        raise BadInput(
            f"a log-spaced integer parameter needs at least 3 levels, at most {_MOST:,}, not"
            f" {short(levels)}"
        )
    if default is not None and not (is_integer(default) and low <= default <= high):
        raise BadInput(f"the default {short(default)} is not an integer in {low} .. {high}")
    spaced = _even_ratios(low, high, min(levels - 1, high - low))
    if default is not None and default not in spaced:
        nearest = min(range(1, len(spaced) - 1), key=lambda i: abs(spaced[i] - default))
        spaced[nearest] = default
    return tuple(spaced)


def _even_ratios(low: int, high: int, steps: int) -> list[int]:
    """Each step comes as close as it can to the ratio still needed.

    Where that ratio rounds to no step at all, the next integer is taken: so the small ones are all
    there, and none comes twice. An arithmetic step is at least as long as a geometric one, so high
    is not passed.
    """
    spaced = [low]
    for left in range(steps, 1, -1):
        last = spaced[-1]
        spaced.append(max(last + 1, round(last * (high / last) ** (1 / left))))
    return [*spaced, high] if steps else spaced
