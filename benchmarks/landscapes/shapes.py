"""The shape of a measured landscape, and how sure it is.

What is measured has noise, and noise alone makes a smooth landscape rugged. So each landscape is
described three times: as measured; redrawn within its standard errors; and by the simplest shape
that the measurement does not exclude.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.landscapes.tables import Array, Measured
from paramhs.core.random_streams import SEEDS, below, stream
from paramhs.theory.bounds import best_upper_bound
from paramhs.theory.unimodality import profile

DRAWS = 400
LEVEL = 0.05
"""Chance of excluding a shape that is the true one."""
FLAT = 0.02
"""A range of the means, as a part of the best, below which a parameter is called flat."""
ALPHA, BETA_SHARE = 2, 0.25
"""Approximately unimodal here: with this alpha, and a beta of at most this part of the values."""

KINDS = ("no effect", "flat", "unimodal", "approximately unimodal", "neither")


@dataclass(frozen=True)
class Shape:
    """What is said of one landscape."""

    kind: str
    """The simplest kind that the measurement does not exclude."""
    kind_as_measured: str
    range: float
    """Highest mean over lowest, minus 1."""
    gain: float
    """What the best value saves, as a part of the base's cost."""
    error: float
    """Largest standard error of a value."""
    alpha: float
    """Smallest alpha for beta = 1, as measured."""
    beta: int
    """Smallest beta for alpha = 2, as measured."""
    beta_low: float
    beta_high: float
    """Quantiles of 5 % and 95 % over the redrawn landscapes."""
    beta_needed: int
    """Number that counts only what no noise explains."""
    valley_p: float
    """p-value of the hypothesis that there is a single valley."""
    unimodal_share: float
    """Part of the redrawn landscapes that are a valley, ties allowed."""
    tied: int
    """Values that share their mean exactly with another."""
    near: int
    """Values within 2 % of the best, as measured."""
    nearly: int
    """Values within 5 % of the best, as measured."""
    bound: float
    """Theorem 4 at the best (alpha, beta) of the measured landscape."""


def noise(one: Measured, draws: int = DRAWS) -> Array:
    """Errors of the means that other runs might have brought: `[draw, value]`.

    The deviations of the runs from the mean of their value and instance are multiplied by normal
    numbers, one for each copy of each instance. Runs of two values on the same copy go together;
    where the two give the same work on every run, they stay tied.
    """
    ratios = one.ratios
    if ratios.shape[1] == 1:  # one copy: what is known of the noise is that instances differ
        ratios = (ratios - ratios.mean(axis=0)).transpose(0, 2, 1)
    copies, instances = ratios.shape[1:]
    rng = np.random.default_rng(below(SEEDS, stream(0, "landscapes", "noise", one.name)))
    deviations = ratios - ratios.mean(axis=1, keepdims=True)
    factors = rng.normal(size=(draws, copies * instances))
    scale = np.sqrt(copies / max(copies - 1, 1)) / (copies * instances)
    return np.asarray(scale * factors @ deviations.reshape(len(one.ratios), -1).T)


def shape_of(one: Measured) -> Shape:
    """Describe a landscape."""
    costs, errors = one.costs, noise(one)
    redrawn = np.maximum(costs + errors, 1e-9)
    valley_p = _valley_p(costs, errors)
    betas = [smallest_beta(row) for row in redrawn]
    beta, needed = smallest_beta(costs), beta_needed(costs, errors)
    shape = profile(costs, int(np.argmin(costs)))
    spread = float(costs.max() / costs.min() - 1)
    base = float(one.base_ratios.mean())
    return Shape(
        kind=_kind(one, costs, errors, valley_p > LEVEL, needed),
        kind_as_measured=_kind_as_measured(costs, spread, beta),
        range=spread,
        gain=1 - float(costs.min()) / base,
        error=float(one.errors.max()),
        alpha=float(shape[0]),
        beta=beta,
        beta_low=float(np.quantile(betas, 0.05)),
        beta_high=float(np.quantile(betas, 0.95)),
        beta_needed=needed,
        valley_p=valley_p,
        unimodal_share=float(np.mean([is_valley(row) for row in redrawn])),
        tied=len(costs) - len(np.unique(np.round(costs, 12))),
        near=int(np.sum(costs <= 1.02 * costs.min())),
        nearly=int(np.sum(costs <= 1.05 * costs.min())),
        bound=best_upper_bound(shape).calls,
    )


def _kind(one: Measured, costs: Array, errors: Array, valley: bool, needed: int) -> str:
    if not one.has_effect:
        return "no effect"
    if np.ptp(costs) <= FLAT * costs.min() or _is_constant(costs, errors):
        return "flat"
    if valley:
        return "unimodal"
    return _approximate(needed, len(costs))


def _kind_as_measured(costs: Array, spread: float, beta: int) -> str:
    if spread == 0:
        return "no effect"
    if spread <= FLAT:
        return "flat"
    return "unimodal" if is_valley(costs) else _approximate(beta, len(costs))


def _approximate(beta: int, levels: int) -> str:
    return "approximately unimodal" if beta <= BETA_SHARE * levels else "neither"


def is_valley(costs: Array) -> bool:
    """Whether costs never fall on the way from the best value; plateaus are allowed."""
    best = int(np.argmin(costs))
    return bool(np.all(np.diff(costs[: best + 1]) <= 0) and np.all(np.diff(costs[best:]) >= 0))


def smallest_beta(costs: Array, alpha: int = ALPHA) -> int:
    """Smallest beta with which a landscape is (alpha, beta)-approximately unimodal."""
    listed = profile(costs, int(np.argmin(costs)))
    return next(beta for beta, needed in enumerate(listed, 1) if needed <= alpha)


def _is_constant(costs: Array, errors: Array) -> bool:
    """Whether the noise explains all differences, by the largest deviation from the mean."""
    around = errors - errors.mean(axis=1, keepdims=True)
    scale = around.std(axis=0)
    scale = np.where(scale > 0, scale, np.inf)
    seen = np.max(np.abs(costs - costs.mean()) / scale)
    return bool(np.mean(np.max(np.abs(around) / scale, axis=1) >= seen) > LEVEL)


def _valley_p(costs: Array, errors: Array) -> float:
    """p-value of a single valley: is the best valley as far from the costs as noise would be?

    Parametric bootstrap: noise is added to the nearest valley, and that is fitted again.
    """
    scale = errors.std(axis=0)
    if not scale.max() > 0:
        return 1.0 if is_valley(costs) else 0.0
    weights = 1 / np.maximum(scale, 0.1 * scale[scale > 0].min()) ** 2
    distance, fitted = nearest_valley(costs, weights)
    others = [nearest_valley(fitted + row, weights)[0] for row in errors]
    return float((1 + np.sum(np.array(others) >= distance)) / (1 + len(others)))


def valley_of(one: Measured) -> Array:
    """The valley that is nearest to the means, differences being counted in standard errors."""
    errors = noise(one).std(axis=0)
    if not errors.max() > 0:
        return one.costs
    weights = 1 / np.maximum(errors, 0.1 * errors[errors > 0].min()) ** 2
    return nearest_valley(one.costs, weights)[1]


def nearest_valley(costs: Array, weights: Array) -> tuple[float, Array]:
    """The valley with the smallest weighted sum of squares to the costs, and that sum."""
    falling, left = _falling_errors(costs, weights)
    rising, right = _falling_errors(costs[::-1], weights[::-1])
    totals = [left[k] + right[len(costs) - k] for k in range(len(costs) + 1)]
    split = int(np.argmin(totals))
    fitted = np.concatenate([falling(split), rising(len(costs) - split)[::-1]])
    return float(totals[split]), fitted


def _falling_errors(costs: Array, weights: Array):
    """How to fit the first k costs by a falling sequence, and the error for each k.

    Pool adjacent violators, one value at a time (Ayer et al., 1955).
    """
    blocks: list[tuple[float, float, float, int]] = []  # mean, weight, error, size
    errors, history = [0.0], [()]
    for cost, weight in zip(costs.tolist(), weights.tolist(), strict=True):
        mean, mass, error, size = cost, weight, 0.0, 1
        while blocks and blocks[-1][0] < mean:
            other, other_mass, other_error, other_size = blocks.pop()
            total = mass + other_mass
            error += other_error + mass * other_mass / total * (mean - other) ** 2
            mean = (mass * mean + other_mass * other) / total
            mass, size = total, size + other_size
        blocks.append((mean, mass, error, size))
        errors.append(sum(block[2] for block in blocks))
        history.append(tuple((block[0], block[3]) for block in blocks))

    def fitted(count: int) -> Array:
        return np.repeat([m for m, _ in history[count]], [s for _, s in history[count]])

    return fitted, errors


def beta_needed(costs: Array, errors: Array, alpha: int = ALPHA) -> int:
    """Smallest beta that the differences beyond all noise still require, around any best value.

    A difference of two values counts if it exceeds what the largest of all standardised differences
    exceeds in one measurement of twenty. Every value that is not clearly worse than the best one
    may be the optimum; the kindest counts.
    """
    differences = costs[:, None] - costs[None, :]
    spread = errors[:, :, None] - errors[:, None, :]
    scale = spread.std(axis=0)
    safe = np.where(scale > 0, scale, np.inf)
    largest = np.max(np.abs(spread) / safe, axis=(1, 2))
    clearly = differences > np.quantile(largest, 1 - LEVEL) * scale
    possible = np.flatnonzero(~clearly[:, int(np.argmin(costs))])
    return min(_beta(clearly, int(optimum), alpha) for optimum in possible)


def _beta(worse: Array, optimum: int, alpha: int) -> int:
    """Smallest beta so that no value at distance i >= beta is worse than one beyond alpha i."""
    distance = np.abs(np.arange(len(worse)) - optimum)
    beyond = distance[None, :] > alpha * distance[:, None]
    broken = np.any(worse & beyond, axis=1) & (distance > 0)
    return int(distance[broken].max()) + 1 if broken.any() else 1
