"""Intervals and tests for two means of paired numbers: their ratio and their difference.

The numbers are costs by case. The intervals invert a test of "the mean of these differences is
zero": they contain every ratio r for which `first - r * second` passes the test, and every
difference g for which `first - second - g` does. An interval and a p-value therefore never
disagree.

Where costs are positive, the logarithms of their ratios tell most, because sizes of instances do
not matter to them. Two rules read them:

- *Consistent*: Student's t of the logarithms, with `FREEDOM` degrees of freedom whatever the number
  of cases, as an allowance for skewness. The means of what few cases show may be those of the cheap
  ones, so the ratio of the means must be at least as far from 1 as `AGREEMENT` of the mean
  logarithm, and the mean logarithm of the costlier half as `COSTLY_SHARE` of it. With fewer than
  `MIN_LOSS_CASES` cases, the same side must cost more in every case.
- *Unanimous*: the same side costs at least `FACTOR` times as much in every case, or `LARGE_FACTOR`
  times with fewer than `MIN_LOSS_CASES` cases. Without this rule, eight instances of which the
  default solves two and the other configuration all, ten times faster, would prove nothing.

Neither p-value is below twice the probability that all cases fall on one side by chance. For a
factor of 2 that is `FACTOR_PROBABILITY` a case: equal means do not exclude that most cases gain
much.

With fewer than `MIN_DIFFERENCE_CASES` cases, positive costs are tested by these two rules alone.
With more, and where costs are not all positive, the p-value of a mean is the largest of four (and
with positive costs the two rules may give a smaller one). Two are computed from the sample:

- the sign-flip test, exact where differences are symmetric, however heavy their tails;
- the bootstrap-t, which follows the skewness of the sample. Its statistic is first divided by
  `shrinkage`: a small sample rarely shows the long tail that speaks against a claim, so the less
  the sample is skewed in favour of a claim, the stronger the claim must be.

The other two are computed from the sample without its best case: the number that supports the claim
most is replaced by the median of the others. One case cannot carry a claim.

Such a claim (`claimed_p_value`) must also stand where most of the cost is. If the relative
difference shrinks as cases get costlier, the cheap cases say little about the means, which the
costly ones decide. Then the claim must hold for the costlier half alone. (A half of fewer than six
is tested by Student's t, its p-value multiplied by `FEW_FACTOR`: sign flips would need six.)

`benchmarks/calibration` measures this against the alternatives; the tables are in
docs/benchmarks/calibration.md.

Sources: Fisher, The Design of Experiments (1935), section 21; Hall, The Bootstrap and Edgeworth
Expansion (1992), chapter 3; Fieller (1954) for a ratio by its differences.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from paramhs.analysis.intervals import MIN_CASES
from paramhs.core.distribution_tails import t_tail

Numbers = npt.NDArray[np.float64]

SKEWNESS = 2.5
SHRINKAGE_CASES = 90.0
SHRINKING_SHARE = 0.85  # share of the mean relative difference of the cheaper half
FEW_FACTOR = 6.0  # of Student's p-value, where the costlier half has fewer than six cases
FLOOR = 0.1  # smallest relative spread of a resample; where cases tie, many resamples have none
AGREEMENT = 0.87  # least share of the mean logarithm that the ratio of the means must have
COSTLY_SHARE = 0.7  # the same for the mean logarithm of the costlier half
FREEDOM = 3  # degrees of freedom of Student's t of logarithms
MIN_LOSS_CASES = 8  # with fewer cases, none may go against the claim
MIN_DIFFERENCE_CASES = 12  # cases from which differences of positive costs count, too
FACTOR = 2.0  # ratio that every case must exceed to count as unanimous
LARGE_FACTOR = 4.0  # the same with fewer than MIN_LOSS_CASES cases
FACTOR_PROBABILITY = 0.62  # of FACTOR in one case, against a log-normal law of spread 1.5
_MAX_EXACT_CASES = 11  # cases up to which all sign flips are enumerated
_DRAWS = 3_999
_MANY_CASES = 250  # with more cases, half the draws suffice
_STEPS = 20  # bisections of a bracket
_GRID_POINTS = 18  # grid points on each side, up to 19,000 times the estimate for a ratio


def mean_p_value(differences: npt.ArrayLike, level: float = 1.0) -> float:
    """Two-sided p-value of "the mean is zero"; 1 where all numbers are zero, or none are given.

    As in `p_values`, one above `level` is a lower bound.
    """
    numbers = np.asarray(differences, dtype=float)
    return float(p_values(numbers[None, :], level)[0]) if len(numbers) else 1.0


def pair_p_value(first: Numbers, second: Numbers, ratio: float = 1.0, shift: float = 0.0) -> float:
    """Two-sided p-value of "the mean of `first - ratio * second - shift` is zero"."""
    if not len(first):
        return 1.0
    return float(pair_p_values(first[None, :] - shift, ratio * second[None, :])[0])


def pair_p_values(first: Numbers, second: Numbers, level: float = 1.0) -> Numbers:
    """Vectorised `pair_p_value` of "the means are equal", one row per sample.

    As in `p_values`, those above `level` are lower bounds.
    """
    found, left = _of_ratios(first, second)
    found[left] = np.minimum(found[left], p_values((first - second)[left], level))
    return found


def _of_ratios(first: Numbers, second: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """p-values of the ratios, and the rows whose differences are to be tested as well."""
    positive = (np.minimum(first, second) > 0).all(axis=1)
    found = np.ones(len(first))
    if first.shape[1] >= MIN_CASES and positive.any():
        sides = first[positive], second[positive]
        found[positive] = np.minimum(_consistent(*sides), _unanimous(*sides))
    return found, ~positive | (first.shape[1] >= MIN_DIFFERENCE_CASES)


def _consistent(first: Numbers, second: Numbers) -> Numbers:
    """The p-value of each row by Student's t of its logarithms; 1 where its parts disagree."""
    n = first.shape[1]
    logs = np.log(first) - np.log(second)
    middle = logs.mean(axis=1)
    costly = np.argsort(np.log(first) + np.log(second), axis=1, kind="stable")[:, n // 2 :]
    half = np.take_along_axis(logs, costly, axis=1).mean(axis=1)
    ratio = np.log(first.mean(axis=1)) - np.log(second.mean(axis=1))
    side = np.sign(middle)
    agree = (side * ratio >= AGREEMENT * np.abs(middle)) & (
        side * half >= COSTLY_SHARE * np.abs(middle)
    )
    if n < MIN_LOSS_CASES:
        agree &= (logs * side[:, None] > 0).all(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(middle) / logs.std(axis=1, ddof=1) * math.sqrt(n)
    usable = agree & (side != 0) & ~np.isnan(t)
    return np.where(usable, np.maximum(_t3_tails(np.where(usable, t, 0.0)), 2 * 0.5**n), 1.0)


def _t3_tails(t: Numbers) -> Numbers:
    """Two-sided p-values of Student's t with three degrees of freedom."""
    angle = np.arctan(t / math.sqrt(FREEDOM))
    return np.asarray(np.maximum(1 - 2 / math.pi * (angle + np.sin(angle) * np.cos(angle)), 0.0))


def _unanimous(first: Numbers, second: Numbers) -> Numbers:
    """The p-value of each row in which one side costs more in every case, by enough; else 1."""
    n = first.shape[1]
    logs = np.log(first) - np.log(second)
    one_sided = np.abs(np.sign(logs).sum(axis=1)) == n
    few = n < MIN_LOSS_CASES
    least, chance = (LARGE_FACTOR, 0.5) if few else (FACTOR, FACTOR_PROBABILITY)
    return np.where(one_sided & (np.abs(logs).min(axis=1) >= math.log(least)), 2 * chance**n, 1.0)


def claimed_p_value(first: Numbers, second: Numbers, level: float = 1.0) -> float:
    """`pair_p_value`, or that of the costlier half if it is larger and differences shrink.

    As in `p_values`, one above `level` is a lower bound.
    """
    if not len(first):
        return 1.0
    (by_ratio,), (tested,) = _of_ratios(first[None, :], second[None, :])
    # The result is the smaller of two p-values, so one below the level settles it.
    if not tested or by_ratio < level < 1:
        return float(by_ratio)
    found = float(p_values((first - second)[None, :], level)[0])
    size, difference = np.abs(first) + np.abs(second), first - second
    difference = difference * math.copysign(1.0, float(difference.sum()))
    apart = difference != 0
    if found <= level and _shrinks(size[apart], difference[apart]):
        found = max(found, _costlier_half(size[apart], difference[apart]))
    return min(found, float(by_ratio))


def _costlier_half(size: Numbers, difference: Numbers) -> float:
    """The two-sided p-value of a positive mean in the costlier half of the cases."""
    costly = difference[np.argsort(size, kind="stable")[len(size) // 2 :]]
    if costly.sum() <= 0:
        return 1.0
    if len(costly) >= MIN_CASES:
        return mean_p_value(costly)
    spread = float(costly.std(ddof=1)) or 1e-9 * float(costly.mean())
    t = float(costly.mean()) / spread * math.sqrt(len(costly))
    return min(1.0, FEW_FACTOR * t_tail(t, len(costly) - 1))


def _shrinks(size: Numbers, difference: Numbers) -> bool:
    """Whether relative differences are clearly smaller in the costlier half of the cases."""
    if len(size) < MIN_CASES:
        return False
    relative = (difference / size)[np.argsort(size, kind="stable")]
    middle = len(size) // 2
    return float(relative[middle:].mean()) < SHRINKING_SHARE * float(relative[:middle].mean())


def p_values(samples: Numbers, level: float = 1.0) -> Numbers:
    """Vectorised `mean_p_value`, one row per sample.

    Where one of the tests gives more than `level`, the others are left out and the result is a
    lower bound above it: for callers that only ask whether the p-value is below that level.
    """
    # The tests are scale-free, so samples are divided by their largest number to avoid overflow; an
    # all-zero sample stays zero and gives p = 1. Negating samples with a negative sum turns every
    # claim into "the mean is above 0", so that one-sided tails suffice.
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = samples / np.abs(samples).max(axis=1, keepdims=True)
    usable = np.isfinite(scaled).all(axis=1, keepdims=True)
    x = np.where(usable, scaled, 0.0)
    x = x * np.where(x.sum(axis=1, keepdims=True) >= 0, 1.0, -1.0)  # the claim: the mean is > 0
    weaker, found = _without_best(x), np.zeros(len(x))
    for tails, sample in product((_flip_tails, _bootstrap_tails), (x, weaker)):
        left = found <= level
        found[left] = np.maximum(found[left], np.minimum(1.0, 2 * tails(sample[left])))
    return found


def _without_best(x: Numbers) -> Numbers:
    """Replace the largest number of each row by the median of the others."""
    if x.shape[1] < 2:
        return x
    best = x.argmax(axis=1)[:, None]
    others = np.median(np.sort(x, axis=1)[:, :-1], axis=1, keepdims=True)
    weaker = x.copy()
    np.put_along_axis(weaker, best, others, axis=1)
    return weaker


def _flip_tails(x: Numbers) -> Numbers:
    """Share of sign patterns with a sum at least as large, all signs being equally likely."""
    # Patterns whose sums differ only by rounding are ties, which count against the claim.
    slack = 1e-9 * np.abs(x).sum(axis=1, keepdims=True)
    larger = x @ signs(x.shape[1]).T >= x.sum(axis=1, keepdims=True) - slack
    return np.asarray(np.count_nonzero(larger, axis=1) / larger.shape[1])


def _bootstrap_tails(x: Numbers) -> Numbers:
    """Share of resampled t statistics at least as large as the sample's, after shrinkage."""
    # The bootstrap-t needs resamples only through their counts: `counts` has one column per
    # resample with the number of times each case is drawn, so means and second moments of all
    # resamples are two matrix products. Resamples in which nearly all cases tie have a spread close
    # to zero and would give infinite statistics; FLOOR bounds it from below.
    n, drawn = x.shape[1], counts(x.shape[1]).T
    centred = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True))
    steady = spread <= 1e-9 * np.abs(x).max(axis=1, keepdims=True)
    spread = np.where(steady, 1.0, spread)
    skewness = (centred**3).mean(axis=1, keepdims=True) / spread**3
    observed = x.mean(axis=1, keepdims=True) / spread / shrinkage(n, skewness)
    means = centred @ drawn / n
    spreads = np.sqrt(np.maximum((centred * centred) @ drawn / n - means * means, 0.0))
    larger = means / np.maximum(spreads, FLOOR * spread) >= observed
    extreme = np.where(steady[:, 0], 0, larger.sum(axis=1))
    return np.asarray((extreme + 1) / (drawn.shape[1] + 1))


def shrinkage(n: int, skewness: Numbers) -> Numbers:
    """Divisors of t statistics, from the sample's skewness in favour of the claim."""
    if n < 3:
        return np.ones_like(skewness)
    unbiased = skewness * math.sqrt(n * (n - 1)) / (n - 2)
    size = max(SKEWNESS / math.sqrt(n), SHRINKAGE_CASES / n**2)
    return 1 + size * np.clip(1 - unbiased, 0.0, 2.0)


def _draws(n: int) -> int:
    return _DRAWS if n <= _MANY_CASES else _DRAWS // 2


@lru_cache(maxsize=8)
def signs(n: int) -> Numbers:
    """All sign patterns, or random ones; the first is the identity."""
    if n <= _MAX_EXACT_CASES:
        return np.array(list(product((1.0, -1.0), repeat=n)))
    rng = np.random.default_rng([n, 1])
    signs = np.where(rng.random((_draws(n), n)) < 0.5, -1.0, 1.0)
    # The sample itself is one of the patterns, so no p-value is 0.
    signs[0] = 1.0
    return signs


@lru_cache(maxsize=8)
def counts(n: int) -> Numbers:
    """Number of times each of n cases is drawn, for each resample."""
    rng = np.random.default_rng([n, 2])
    rows = _draws(n)
    drawn = (rng.random((rows, n)) * n).astype(np.int64)
    flat = drawn + n * np.arange(rows)[:, None]
    return np.bincount(flat.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def ratio_bounds(first: Numbers, second: Numbers, level: float) -> tuple[float, float]:
    """Bounds of the ratios that pass at this level; all numbers must be positive."""
    estimate = float(first.mean() / second.mean())

    def passes(log: float) -> bool:
        return claimed_p_value(first, estimate * math.exp(log) * second, level) >= level

    low, high = (_edge(passes, side, 0.01) for side in (-1.0, 1.0))
    return estimate * math.exp(low), estimate * math.exp(high)


def difference_bounds(differences: Numbers, level: float) -> tuple[float, float]:
    """Bounds of the differences that pass at this level."""
    estimate = float(differences.mean())
    step = float(differences.std()) / math.sqrt(len(differences)) or abs(estimate) * 1e-6 or 1.0

    def passes(shift: float) -> bool:
        return mean_p_value(differences - estimate - shift, level) >= level

    low, high = (_edge(passes, side, step / 4) for side in (-1.0, 1.0))
    return estimate + low, estimate + high


def _edge(passes: Callable[[float], bool], side: float, step: float) -> float:
    """Farthest value that passes on one side of 0; infinite if the end of the grid passes.

    The set of passing values may have gaps, so the whole widening grid is evaluated before the last
    passing value is refined by bisection.
    """
    grid = [step * 1.5**k for k in range(_GRID_POINTS)]
    passing = [k for k, value in enumerate(grid) if passes(side * value)]
    if passing and passing[-1] == _GRID_POINTS - 1:
        return side * math.inf
    near = grid[passing[-1]] if passing else 0.0
    far = grid[passing[-1] + 1] if passing else step
    for _ in range(_STEPS):
        middle = (near + far) / 2
        if passes(side * middle):
            near = middle
        else:
            far = middle
    return side * near
