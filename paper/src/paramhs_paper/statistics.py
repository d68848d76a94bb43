"""Statistics of differences: z, chi-square, Cliff's delta."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import chi2, mannwhitneyu

from paramhs.theory.outcomes import Array

SIGNIFICANCE_LEVEL = 0.05
AGREES, DOUBTFUL = 0.01, 1e-4


def z_score(mean: float | None, exact: float, sd: float | None, share: float) -> float | None:
    """Deviation of a mean in standard errors, sd * sqrt(share); None if unknown."""
    if mean is None or sd is None:
        return None
    if sd == 0:
        return 0.0 if mean == exact else None
    return (mean - exact) / (sd * math.sqrt(share))


def mean_square(zs: Iterable[float | None]) -> float | None:
    """Mean of z^2 over the known values; about 1 if the model is right."""
    known = [z * z for z in zs if z is not None]
    return sum(known) / len(known) if known else None


def verdict(square: float, points: int, never: float = 0.0, repetitions: int = 0) -> str:
    """Whether chance explains a mean of squares of standard normals.

    Where a search never ends with some probability, chance must also explain that all repetitions
    ended.
    """
    p = float(chi2.sf(square * points, points)) * (1 - never) ** repetitions
    return "agrees" if p > AGREES else "doubtful" if p > DOUBTFUL else "does not agree"


def delta_of_laws(first: Array, second: Array) -> float:
    """Cliff's delta, Pr(second > first) - Pr(second < first): positive if the first is faster.

    The last entry of a law is the probability of never ending.
    """
    length = max(len(first), len(second))
    a, b = (np.append(np.pad(x[:-1], (0, length - len(x))), x[-1]) for x in (first, second))
    return float(b @ (np.cumsum(a) - a) - a @ (np.cumsum(b) - b))


def delta_of_samples(first: Sequence[float], second: Sequence[float]) -> float:
    """Cliff's delta of two samples; a search that never ends is infinite."""
    a, b = np.asarray(first)[:, None], np.asarray(second)
    return float(((b > a) * 1.0 - (b < a)).mean())


def delta_error(repetitions: int) -> float:
    """Standard error of Cliff's delta between two samples of this size from the same law."""
    return math.sqrt((2 * repetitions + 1) / 3) / repetitions


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """p-value of a two-sided Mann-Whitney U test."""
    return float(mannwhitneyu(first, second, alternative="two-sided").pvalue)
