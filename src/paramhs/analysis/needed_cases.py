"""Number of cases that would probably show a difference of the size that was measured."""

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from paramhs.analysis.intervals import MAX_NEEDED_CASES, MIN_CASES, Tolerance
from paramhs.analysis.paired_means import Numbers, claimed_p_value, p_values, pair_p_values

SIZES = (8, 10, 12, 16, 20, 30, 40, 60, 80, 120, MAX_NEEDED_CASES)
SHOWN_SHARE = 0.8
_DRAWS = 30


def needed_cases(pairs: Sequence[tuple[float, float]], tie: Tolerance, level: float) -> int | None:
    """Return the smallest of `SIZES` with which the difference is shown four times out of five.

    Samples of each size are drawn from the given costs, with replacement, and tested like those of
    a verdict. `MAX_NEEDED_CASES + 1` if even `MAX_NEEDED_CASES` cases are too few; None for samples
    of fewer than six or of that many. The answer is about a population like the sample: it says
    what is missing, not whether there is a difference.
    """
    larger = [size for size in SIZES if size > len(pairs)]
    if len(pairs) < MIN_CASES or not larger:
        return None
    first, second = np.array(pairs, dtype=float).T
    place = bisect_left(
        larger, SHOWN_SHARE, key=lambda size: _shown(first, second, size, tie, level)
    )
    return larger[place] if place < len(larger) else MAX_NEEDED_CASES + 1


def _shown(first: Numbers, second: Numbers, size: int, tie: Tolerance, level: float) -> float:
    """Share of samples of this size that show a difference of the sign that was measured."""
    sign = math.copysign(1.0, float(first.mean() - second.mean()))
    drawn = np.random.default_rng([size, 3]).integers(0, len(first), (_DRAWS, size))
    a, b, shift = first[drawn], second[drawn], tie.clock
    if min(first.min(), second.min()) > 0:
        b = (1 + tie.margin) ** sign * b
        p = pair_p_values(a, b, level)
    else:
        shift = max(shift, tie.margin * float(np.abs([first, second]).mean()))
        p = p_values(a - b, level)
    likely = (p < level) & (sign * (a.mean(axis=1) - b.mean(axis=1)) > shift)
    return sum(claimed_p_value(a[k], b[k], level) < level for k in np.flatnonzero(likely)) / _DRAWS
