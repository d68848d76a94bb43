"""Difference and ratio of two means from paired costs, with a significance test."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paramhs.analysis.intervals import MIN_CASES, Estimate, Interval, Tolerance
from paramhs.analysis.needed_cases import needed_cases
from paramhs.analysis.paired_means import (
    Numbers,
    claimed_p_value,
    difference_bounds,
    pair_p_value,
    ratio_bounds,
)
from paramhs.core.costs import mean

_MAX_COST = 1e100


def estimate(
    pairs: Sequence[tuple[float, float]], tie: Tolerance, level: float, *, plan: bool = False
) -> Estimate:
    """Estimate the ratio and difference of two means; above 1 (or 0) the second is better.

    With `plan`, a better second that is not significant gets the number of cases it needs.

    The intervals include "no difference" exactly if the p-value is not below the level.
    """
    first, second = np.array(pairs, dtype=float).T
    largest = float(max(np.abs(first).max(), np.abs(second).max()))
    if largest > _MAX_COST:  # sums and squares would overflow
        small = replace(tie, clock=tie.clock / largest)
        found = estimate([(a / largest, b / largest) for a, b in pairs], small, level, plan=plan)
        return replace(found, gain=found.gain and found.gain.times(largest))
    a, b = mean(first.tolist()), mean(second.tolist())
    gap, positive = a - b, bool(min(first.min(), second.min()) > 0)
    if len(first) < MIN_CASES:
        unknown = Interval(a / b, 0.0, math.inf) if positive else None
        return Estimate(Interval(gap, -math.inf, math.inf), unknown, 1.0, gap > 0, False)
    p_value = claim_p_value(first, second, tie)
    significant = p_value < level
    gain = Interval(gap, *difference_bounds(first - second, level))
    ratio = Interval(a / b, *ratio_bounds(first, second, level)) if positive else None
    lacking = plan and not significant and gap > tie(a, b)
    return Estimate(
        _agreeing(gain, 0.0, significant),
        ratio and _agreeing(ratio, 1.0, significant),
        p_value,
        gap > 0,
        False,
        needed_cases(pairs, tie, level) if lacking else None,
    )


def claimed(pairs: Sequence[tuple[float, float]], tie: Tolerance) -> tuple[float, bool]:
    """p-value of `estimate`, and whether the second is better, without the intervals."""
    if len(pairs) < MIN_CASES:
        return 1.0, False
    first, second = np.array(pairs, dtype=float).T
    return claim_p_value(first, second, tie), bool(first.mean() > second.mean())


def claim_p_value(first: Numbers, second: Numbers, tie: Tolerance) -> float:
    """p-value of the claim that one mean is larger by more than the tolerance.

    The claim must refute three statements, and the result is the largest of their p-values: the
    means differ by at most the margin; they differ by at most the resolution of the clock; and the
    cases that are not ties differ only by chance.
    """
    gap = float(first.mean() - second.mean())
    sign = math.copysign(1.0, gap)
    trios = zip(first - second, first, second, strict=True)
    apart = np.array([abs(d) > tie(x, y) for d, x, y in trios])
    if float((first - second)[apart].sum()) * sign <= 0:
        return 1.0
    p_values = [claimed_p_value(first[apart], second[apart])]
    shift = tie.clock
    if min(first.min(), second.min()) > 0:
        bound = (1 + tie.margin) ** sign
        beyond = (float(first.mean() / second.mean()) - bound) * sign > 0
        p_values.append(pair_p_value(first, second, bound) if beyond else 1.0)
    else:
        shift = max(shift, tie.margin * float(np.abs([first, second]).mean()))
    beyond_clock = abs(gap) > shift
    p_values.append(pair_p_value(first, second, 1.0, sign * shift) if beyond_clock else 1.0)
    return max(p_values)


def _agreeing(interval: Interval, none: float, significant: bool) -> Interval:
    """Adjust the interval so that it contains "no difference" exactly if nothing is significant.

    The p-value over a margin and the interval's own end may disagree by rounding.
    """
    if not significant:
        return replace(interval, low=min(interval.low, none), high=max(interval.high, none))
    if interval.estimate > none:
        return replace(interval, low=max(interval.low, math.nextafter(none, math.inf)))
    return replace(interval, high=min(interval.high, math.nextafter(none, -math.inf)))
