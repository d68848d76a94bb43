"""A Gaussian process over the configurations of a target without noise.

Where one run determines a configuration's cost (a deterministic target and a single instance),
nothing needs averaging, and what remains to be learned is the shape of the cost over the space. The
transformed costs are a Gaussian process with a Matern 5/2 kernel and one length per parameter:

    k(a, b) = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r),  r^2 = sum_i (distance_i(a, b) / l_i)^2

The distance of ordered parameters is that of their indices as a share of the range, of others 0 or
1; a parameter active in only one of the two counts as different. Costs enter as logarithms of their
distance to the lowest, which tells good ones apart and keeps outliers small.

Lengths and nugget maximise the likelihood under a weak prior (lengths grow with the square root of
the number of parameters). A few steps of resilient propagation improve them whenever the number of
configurations has grown by a tenth, each time from the previous result; so they follow from the
history alone.

For parameters of few values the prior is narrower: lengths much shorter than the distance of two
values all say the same.

Where options have no effect in many contexts, changes of the best configuration repeat its cost
exactly. The expected improvement hardly notices: it stays positive wherever the model is unsure. So
where costs tie, only an improvement by more than a margin counts, which sends the search elsewhere.

Source: Jones, Schonlau, Welch, Journal of Global Optimization 13 (1998) for the search by expected
improvement; Hvarfner, Hellsten, Nardi (ICML 2024) for the prior of the lengths; Riedmiller, Braun
(ICNN 1993) for the steps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import numpy as np

from paramhs.core.space import Config, Space
from paramhs.search.model.censoring import hazard
from paramhs.search.model.dataset import Dataset, Floats
from paramhs.search.model.model import Draw, Posterior
from paramhs.search.model.one_thread import on_one_thread

_MAX_CONFIGS = 200  # configurations in the model: the best half, and the newest
_STEPS = 6  # of the optimiser at each growth by a tenth
_FIRST_STEPS = 30  # of the optimiser at the first fit
_MIN_CONFIGS = 4  # configurations at the first fit
_GROWTH = 1.1
_JITTER = 1e-6
_NEAR_SHARE = 0.1  # of the median distance to the lowest cost: what is near it
_LENGTH = (math.sqrt(2.0) - 1.0, math.sqrt(3.0))  # prior mean and deviation of a log length
_FEW_LEVELS = 10  # values of a parameter up to which short lengths mean nothing
_LENGTH_FEW = (0.0, 1.0)  # the same for parameters of few values
_NUGGET = (-6.0, 2.0)  # prior mean and deviation of the log nugget
_NUGGET_FEW = (-5.0, 2.0)  # the same if no parameter has more than few values
_MARGIN = 0.3  # by which the lowest score is to be improved on where costs tie
_TIED_SHARE = 0.1  # share of configurations with a cost seen before at which the margin is full
_DIGITS = 6  # to which logarithms of improvements are rounded


class Coding:
    """Configurations as points: one column for an ordered parameter, one per value for others."""

    def __init__(self, space: Space) -> None:
        self._levels = [p.levels for p in space.listed]
        self._ordered = [p.ordered or p.levels == 2 for p in space.listed]
        self.columns: list[int] = []
        """Parameter of each column."""
        self._conditional = {
            i for i, name in enumerate(space.parameters) if name in space.conditions
        }
        for i, levels in enumerate(self._levels):
            width = 1 if self._ordered[i] else levels
            self.columns += [i] * (width + (i in self._conditional and self._ordered[i]))
        self.parameters = len(self._levels)

    def prior(self) -> tuple[Floats, Floats]:
        """Mean and deviation of the log lengths, then of the log nugget."""
        few = [levels <= _FEW_LEVELS for levels in self._levels]
        lengths = np.array([_LENGTH_FEW if is_few else _LENGTH for is_few in few])
        lengths[:, 0] += 0.5 * math.log(self.parameters)
        both = np.vstack([lengths, _NUGGET_FEW if all(few) else _NUGGET])
        return both[:, 0], both[:, 1]

    def points(self, configs: Sequence[Config]) -> Floats:
        """One row for each configuration."""
        indices = np.array([config.indices for config in configs], dtype=np.int64)
        parts: list[Floats] = []
        for i, levels in enumerate(self._levels):
            column = indices[:, i, None]
            active = column >= 0
            # Any two categories are at distance 1. An inactive ordered parameter lies beside the
            # middle of its range, where a second column puts it at distance 1 from both ends and
            # 0.87 from the middle.
            if self._ordered[i]:
                parts.append(np.where(active, column / max(levels - 1, 1), 0.5))
                if i in self._conditional:
                    parts.append(np.where(active, 0.0, math.sqrt(0.75)))
            else:
                parts.append(math.sqrt(0.5) * (column == np.arange(levels)))
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(configs), 0))


@lru_cache(maxsize=8)
def coding(space: Space) -> Coding:
    """Encoding of a space."""
    return Coding(space)


def _squared_distances(a: Floats, b: Floats) -> Floats:
    """Squared distances between the rows of two matrices."""
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2.0 * (a @ b.T)
    return np.asarray(np.maximum(squares, 0.0), np.float64)


def _matern(squares: Floats) -> tuple[Floats, Floats]:
    """Matern kernel of squared distances, and -2 times its derivative."""
    root = np.sqrt(5.0 * squares)
    decay = np.exp(-root)
    slope = (5.0 / 3.0) * (1.0 + root) * decay
    return (1.0 + root + (5.0 / 3.0) * squares) * decay, slope


def transformed(costs: Sequence[float]) -> Floats:
    """Logarithms of the distance to the lowest cost, with mean 0 and variance 1.

    A tenth of the median distance is added, so that the lowest has a logarithm. What has no cost is
    as bad as the worst.
    """
    halves = np.asarray(costs, np.float64) / 2  # whose differences are floats
    usable = np.isfinite(halves)
    if not usable.any():
        return np.zeros(len(halves))
    gaps = np.where(usable, halves, halves[usable].max()) - halves[usable].min()
    typical = float(np.median(gaps)) or float(gaps.mean()) or 1.0
    values = np.log1p(gaps / (_NEAR_SHARE * typical))
    spread = float(values.std())
    return np.asarray((values - values.mean()) / (spread or 1.0), np.float64)


@dataclass(frozen=True)
class Shape:
    """Logarithms of the lengths, one per parameter, and of the nugget."""

    lengths: Floats
    nugget: float

    @staticmethod
    def of_prior(code: Coding) -> "Shape":
        """Shape before any data."""
        middle, _ = code.prior()
        return Shape(middle[:-1], float(middle[-1]))

    def scale(self, code: Coding) -> Floats:
        """Factor of each column of points."""
        return np.asarray(np.exp(-self.lengths)[code.columns], np.float64)


def _improved(shape: Shape, code: Coding, points: Floats, scores: Floats, steps: int) -> Shape:
    """Shape after some steps of resilient propagation on the log posterior."""
    parameters = np.append(shape.lengths, shape.nugget)
    middle, spread = code.prior()
    # Only the signs of the slopes count: a step grows while its sign stays, and halves when it
    # changes. So the scale of the likelihood does not matter.
    step, before = np.full(len(parameters), 0.4), np.zeros(len(parameters))
    for _ in range(steps):
        now = Shape(parameters[:-1], float(parameters[-1]))
        slope = _slope(now, code, points, scores) - (parameters - middle) / spread**2
        same = np.sign(slope) * np.sign(before)
        step = np.clip(
            np.where(same > 0, step * 1.3, np.where(same < 0, step * 0.5, step)), 1e-3, 1.5
        )
        parameters = np.clip(parameters + np.sign(slope) * step, -7.0, 7.0)
        before = slope
    # The next growth starts from here, so differences in the last bits must not add up.
    parameters = np.round(parameters, 3)
    return Shape(parameters[:-1], float(parameters[-1]))


def _slope(shape: Shape, code: Coding, points: Floats, scores: Floats) -> Floats:
    """Gradient of the log likelihood."""
    scaled = points * shape.scale(code)
    kernel, slope = _matern(_squared_distances(scaled, scaled))
    nugget = math.exp(shape.nugget)
    inverse = np.linalg.inv(kernel + (nugget + _JITTER) * np.eye(len(scores)))
    weights = inverse @ scores
    # The slope by any parameter t is trace(outer dK/dt) / 2. For the logarithm of length i, dK/dt
    # is `slope` times the part of the squared distance that comes from i. Expanding (a - b)^2 sums
    # it over all pairs of rows without a matrix for each parameter.
    outer = np.outer(weights, weights) - inverse
    pull = 0.5 * outer * slope
    each = 2.0 * (pull.sum(axis=1) @ scaled**2 - ((pull @ scaled) * scaled).sum(axis=0))
    lengths = np.bincount(code.columns, each, minlength=code.parameters)
    return np.append(lengths, 0.5 * nugget * float(np.trace(outer)))


@dataclass(frozen=True)
class Process(Posterior):
    """A fitted Gaussian process."""

    code: Coding
    shape: Shape
    scaled: Floats
    inverse: Floats
    weights: Floats
    least: float
    """Score of the best configuration, less the margin."""
    best: Sequence[Config]
    """All configurations of the model, the best first; of equal ones the newest."""

    def draws(self, count: int, rng: Random) -> list[Draw]:
        """The expected improvement, which is the same each time."""
        return [Draw(self.gains, self.best)]

    @on_one_thread
    def gains(self, configs: Sequence[Config]) -> list[float]:
        """Minus the logarithm of each expected improvement; lower is better."""
        scaled = self.code.points(configs) * self.shape.scale(self.code)
        kernel, _ = _matern(_squared_distances(scaled, self.scaled))
        mean = kernel @ self.weights
        variance = 1.0 - ((kernel @ self.inverse) * kernel).sum(axis=1)
        deviation = np.sqrt(np.maximum(variance, 1e-10))
        return list(np.round(-log_improvement(self.least - mean, deviation), _DIGITS).tolist())


def log_improvement(gap: Floats, deviation: Floats) -> Floats:
    """Logarithm of E max(0, gap + deviation Z) with Z standard normal."""
    t = -gap / deviation
    far = np.maximum(t, 5.0)
    # Hazard - t by a continued fraction, without cancellation.
    beyond = 1.0 / (far + 2.0 / (far + 3.0 / (far + 4.0 / far)))
    rate = np.where(t > 5.0, far + beyond, hazard(np.minimum(t, 5.0)))
    excess = np.where(t > 5.0, beyond, np.maximum(rate - np.minimum(t, 5.0), 1e-300))
    # E = deviation * upper tail * (hazard - t), and upper tail = density / hazard
    log_density = -0.5 * t * t - 0.5 * math.log(2.0 * math.pi)
    return np.asarray(np.log(deviation) + log_density - np.log(rate) + np.log(excess), np.float64)


def _margin(scores: Floats) -> float:
    """Least improvement that counts: 0 where all scores differ, up to `_MARGIN` where they tie."""
    tied = 1 - len(np.unique(scores)) / len(scores)
    return _MARGIN * min(1.0, tied / _TIED_SHARE)


@on_one_thread
def fitted(data: Dataset) -> Process:
    """Fit all configurations of a dataset with one run each."""
    code = coding(data.space)
    configs, costs = data.configs, _costs(data)
    shape = _shape(data.space, tuple(configs), tuple(costs))
    order = sorted(range(len(configs)), key=lambda i: (costs[i], -i))
    kept = _kept(order, len(configs))
    points = code.points([configs[i] for i in kept])
    scores = transformed([costs[i] for i in kept])
    scaled = points * shape.scale(code)
    kernel, _ = _matern(_squared_distances(scaled, scaled))
    nugget = math.exp(shape.nugget) + _JITTER
    least = float(scores.min()) - _margin(scores)
    inverse = np.asarray(np.linalg.inv(kernel + nugget * np.eye(len(kept))), np.float64)
    best = [configs[i] for i in order[:_MAX_CONFIGS]]
    return Process(code, shape, scaled, inverse, inverse @ scores, least, best)


def _costs(data: Dataset) -> list[float]:
    """Cost of each configuration; infinite if its run failed or was capped."""
    if len(data.owner) > len(data.configs):
        return [float(mean) for mean in data.rows().means]
    return [float(cost) for cost in np.where(data.censored, math.inf, data.costs)]


def _kept(order: Sequence[int], count: int) -> list[int]:
    """Positions of the configurations in the model, in the order of their runs."""
    if count <= _MAX_CONFIGS:
        return list(range(count))
    chosen = set(order[: _MAX_CONFIGS // 2])
    newest = (i for i in range(count - 1, -1, -1) if i not in chosen)
    return sorted(chosen.union(next(newest) for _ in range(_MAX_CONFIGS - len(chosen))))


def _shape(space: Space, configs: tuple[Config, ...], costs: tuple[float, ...]) -> Shape:
    """Shape at the last growth by a tenth."""
    # The sizes at which the shape is improved follow from the count alone, so a resumed search
    # takes the same steps. Earlier shapes come from the cache, or are computed again.
    at, further = 0, _MIN_CONFIGS
    while further <= len(configs):
        at, further = further, max(further + 1, math.ceil(further * _GROWTH))
    return _shape_at(space, configs[:at], costs[:at]) if at else Shape.of_prior(coding(space))


@lru_cache(maxsize=64)
def _shape_at(space: Space, configs: tuple[Config, ...], costs: tuple[float, ...]) -> Shape:
    """Improved shape of the previous growth."""
    code, count = coding(space), len(configs)
    order = sorted(range(count), key=lambda i: (costs[i], -i))
    kept = _kept(order, count)
    points = code.points([configs[i] for i in kept])
    scores = transformed([costs[i] for i in kept])
    before = _shape(space, configs[:-1], costs[:-1])
    steps = _FIRST_STEPS if count == _MIN_CONFIGS else _STEPS
    return _improved(before, code, points, scores, steps)
