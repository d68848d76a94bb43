"""Which parameters matter at all, from all runs of a search.

*What is explained.* How much a configuration costs more than others on the same instances
(`observations`).

*How.* Configurations are the sum of what each value of each parameter does, fitted all at once: a
search goes from one good configuration to the next, so values come together, and the mean over the
runs with a value would credit it with what its companions do. A parameter's effects are shrunk
towards none by as much as the runs say (automatic relevance determination), so that one that does
nothing gets next to nothing rather than its share of the noise. Values of a long grid are joined in
bins of about as many configurations each. What a parameter does is only counted where it is active.

*How much.* The share of the variance between configurations drawn uniformly that one parameter's
effects make up, as in fANOVA, of what all parameters and the unexplained rest make up. Intervals
are those of the model's posterior. Interactions are part of the rest here; `interactions` has them.

Source: MacKay, Bayesian interpolation (Neural Computation 4, 1992); Hutter, Hoos, Leyton-Brown, An
efficient approach for assessing hyperparameter importance (ICML 2014).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paramhs.results.observations import TINY, Array, Observed, observed
from paramhs.values.costs import CostMetric
from paramhs.values.runs import Run
from paramhs.values.space import INACTIVE, Config, Parameter, Space, Value, value_text

LEAST = 8  # configurations, below which nothing is said
_MOST_COLUMNS = 600  # effects that are fitted at once; bins get wider beyond
_MOST_BINS = 10
_ROUNDS = 25
_CLOSE = 1e-3  # the relative change of the noise at which the fit has settled
_DRAWS = 400


@dataclass(frozen=True)
class ValueEffect:
    """A value of a parameter, or several neighbouring ones, and what it costs."""

    low: Value
    high: Value
    """The same but for a bin of several values."""
    label: str
    runs: int
    failed: int
    """Without a usable cost."""
    timeouts: int
    cost: float
    """On an average instance, all else being equal; shrunk towards that of the other values."""
    cost_low: float
    cost_high: float
    """Where it lies with 95 % probability."""


@dataclass(frozen=True)
class Importance:
    """How much one parameter matters."""

    name: str
    share: float
    """Of the variance between configurations."""
    low: float
    high: float
    """Where that lies with 95 % probability."""
    effect: float
    """The worst value against the best: how many times the cost if `log`, else how much more."""
    log: bool
    values: tuple[ValueEffect, ...]

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return asdict(self)


def importance(runs: Iterable[Run], metric: CostMetric) -> tuple[Importance, ...]:
    """Each parameter that had more than one value, the most important first; nothing where there
    are too few configurations to tell."""
    seen = observed(runs, metric)
    if seen is None or len(seen.configs) < LEAST:
        return ()
    fitted = _Fit(seen)
    if not fitted.factors:
        return ()
    found = [fitted.importance(number) for number in range(len(fitted.factors))]
    return tuple(sorted(found, key=lambda one: -one.share))


# From configurations to effects.


class _Factor(NamedTuple):
    """A parameter as the model sees it."""

    name: str
    codes: Array
    """Of each configuration its bin, -1 where it is not active."""
    bins: list[tuple[Value, Value, str]]
    weights: Array
    """The share of its values in each bin."""


def _factors(configs: Sequence[Config]) -> Iterator[_Factor]:
    space = configs[0].space
    indices = np.array([config.indices for config in configs], np.int64)
    varied = [k for k, column in enumerate(indices.T) if len(np.unique(column)) > 1]
    most = max(3, min(_MOST_BINS, _MOST_COLUMNS // max(len(varied), 1)))
    for position in varied:
        factor = _factor(space, position, indices[:, position], most)
        if len(factor.bins) > 1:
            yield factor


def _factor(space: Space, position: int, column: Array, most: int) -> _Factor:
    name, parameter = list(space.parameters)[position], space.listed[position]
    active = column[column != INACTIVE]
    groups = _binned(active, parameter.ordered, most)
    codes = np.full(len(column), -1)
    bins, weights = [], []
    for code, group in enumerate(groups):
        codes[np.isin(column, group)] = code
        low, high = parameter.value(int(group[0])), parameter.value(int(group[-1]))
        bins.append((low, high, _label(parameter, group)))
        weights.append(float(group[-1] - group[0] + 1) if parameter.ordered else 1.0)
    return _Factor(name, codes, bins, np.array(weights) / max(sum(weights), 1.0))


def _binned(active: Array, ordered: bool, most: int) -> list[Array]:
    """Values that occur, one by one or in bins: neighbours, or without order the rarest."""
    values, counts = np.unique(active, return_counts=True)
    if len(values) <= most:
        return [values[k : k + 1] for k in range(len(values))]
    if ordered:
        part = (np.cumsum(counts) - counts / 2) / counts.sum() * most
        return [values[part.astype(int) == k] for k in range(most) if (part.astype(int) == k).any()]
    by_count = values[np.argsort(-counts, kind="stable")]
    return [*(by_count[k : k + 1] for k in range(most - 1)), np.sort(by_count[most - 1 :])]


def _label(parameter: Parameter, group: Array) -> str:
    first, last = (value_text(parameter.value(int(group[k]))) for k in (0, -1))
    if len(group) == 1:
        return first
    return f"{first} to {last}" if parameter.ordered else f"{len(group)} others"


class _Posterior:
    """Of f in y = A f + noise, with independent normal f; by the smaller of two matrices, one of as
    many rows as f has numbers, one of as many as y."""

    def __init__(self, a: Array, y: Array) -> None:
        self._a, self._y = a, y
        self._tall = len(a) > a.shape[1]
        self._gram = a.T @ a if self._tall else None
        self._right = a.T @ y

    def update(self, spread: Array, noise: float) -> None:
        """With these variances of f and of the noise."""
        self._spread, self._noise = spread, noise
        if self._gram is not None:
            self._inverse = np.linalg.inv(self._gram / noise + np.diag(1 / spread))
            self.variances: Array = np.diag(self._inverse)
            self.mean: Array = self._inverse @ self._right / noise
        else:
            within = (self._a * spread) @ self._a.T
            self._inverse = np.linalg.inv(within + noise * np.eye(len(within)))
            part = np.einsum("ij,ij->j", self._a, self._inverse @ self._a)
            self.variances = spread - spread**2 * part
            self.mean = spread * (self._a.T @ (self._inverse @ self._y))

    @property
    def freedom(self) -> float:
        """How many numbers of f the data has decided."""
        return float(np.sum(1 - self.variances / self._spread))

    @property
    def misfit(self) -> float:
        """The expected sum of squares that is not explained."""
        left = self._y - self._a @ self.mean
        return float(left @ left) + self._noise * self.freedom

    @property
    def covariance(self) -> Array:
        """Of all numbers of f."""
        if self._gram is not None:
            return self._inverse
        half = self._a * self._spread
        result: Array = np.diag(self._spread) - half.T @ self._inverse @ half
        return result


class _Fit:
    """Effects of all values at once, shrunk parameter by parameter."""

    def __init__(self, seen: Observed) -> None:
        self.seen = seen
        self.factors = list(_factors(seen.configs))
        ends = np.cumsum([0, *(len(factor.bins) for factor in self.factors)])
        self.slices = [slice(a, b) for a, b in pairwise(ends)]
        if not self.factors:
            return
        self._solve(self._columns(int(ends[-1])), seen.weights, seen.between)
        self.rest = max(self._residual - seen.noise, 0.0)

    def _columns(self, count: int) -> Array:
        """One column a value, with ones where a configuration has it."""
        x = np.zeros((len(self.seen.configs), count))
        rows = np.arange(len(x))
        for factor, columns in zip(self.factors, self.slices, strict=True):
            active = factor.codes >= 0
            x[rows[active], columns.start + factor.codes[active]] = 1
        return x

    def _solve(self, x: Array, weights: Array, between: float) -> None:
        """The posterior of the effects, their variances found by expectation maximisation."""
        root = np.sqrt(weights)
        centre = (weights @ x) / weights.sum()  # takes the intercept out
        moved = self.seen.level - weights @ self.seen.level / weights.sum()
        posterior = _Posterior(root[:, None] * (x - centre), root * moved)
        usual = between / len(self.factors)  # what a parameter may do, before any run
        spread = np.full(len(self.factors), usual)
        sizes = np.array([columns.stop - columns.start for columns in self.slices])
        noise = before = between
        for _ in range(_ROUNDS):
            posterior.update(np.repeat(spread, sizes), noise)
            size = posterior.mean**2 + posterior.variances
            sums = np.add.reduceat(size, [columns.start for columns in self.slices])
            spread = (sums + usual / 10) / (sizes + 1)
            before, noise = noise, max(posterior.misfit, TINY) / len(moved)
            if abs(noise - before) < _CLOSE * noise:
                break
        self.effects, self.covariance = posterior.mean, posterior.covariance
        residual = moved - (x - centre) @ self.effects
        freedom = max(len(moved) - posterior.freedom - 1, 1)
        self._residual = float(residual @ residual) / freedom

    # From effects to what people read.

    def _variance(self, number: int, effects: Array) -> Array:
        """Between uniformly drawn values of a parameter, for each row of effects."""
        factor, part = self.factors[number], effects[..., self.slices[number]]
        moved = part - (part @ factor.weights)[..., None]
        active = float((factor.codes >= 0).mean())
        variance: Array = active * (moved**2 @ factor.weights)
        return variance

    @cached_property
    def _shares(self) -> tuple[Array, Array]:
        """Each parameter's share, and its upper end with 95 % probability."""
        rng = np.random.default_rng(0)
        root = np.linalg.cholesky(self.covariance + TINY * np.eye(len(self.effects)))
        draws = self.effects + rng.standard_normal((_DRAWS, len(root))) @ root.T
        numbers = range(len(self.factors))
        point = np.array([float(self._variance(k, self.effects)) for k in numbers])
        drawn = np.array([self._variance(k, draws) for k in numbers])
        return point, np.quantile(drawn / (drawn.sum(axis=0) + self.rest + TINY), 0.975, axis=1)

    def importance(self, number: int) -> Importance:
        """Of one parameter."""
        factor, columns = self.factors[number], self.slices[number]
        points, highs = self._shares
        whole = float(points.sum()) + self.rest + TINY
        share = float(points[number]) / whole
        error = self._error(number) / whole
        effects = self.effects[columns]
        apart = float(effects.max() - effects.min())
        log = self.seen.scale.log
        return Importance(
            factor.name,
            share,
            max(share - 1.96 * error, 0.0),
            max(float(highs[number]), share),
            math.exp(min(apart, 700.0)) if log else apart * self.seen.scale.unit,
            log,
            tuple(self._values(number)),
        )

    def _error(self, number: int) -> float:
        """The standard error of a parameter's variance, to first order."""
        factor, columns = self.factors[number], self.slices[number]
        effects = self.effects[columns]
        active = float((factor.codes >= 0).mean())
        slope = 2 * active * factor.weights * (effects - effects @ factor.weights)
        return math.sqrt(max(float(slope @ self.covariance[columns, columns] @ slope), 0.0))

    def _values(self, number: int) -> Iterator[ValueEffect]:
        factor, columns, seen = self.factors[number], self.slices[number], self.seen
        active = factor.codes >= 0
        effects, covariance = self.effects[columns], self.covariance[columns, columns]
        count = len(factor.bins)
        usual = np.bincount(factor.codes[active], minlength=count) / max(active.sum(), 1)
        for code, (low, high, label) in enumerate(factor.bins):
            contrast = np.eye(count)[code] - usual
            error = 1.96 * math.sqrt(max(float(contrast @ covariance @ contrast), 0.0))
            middle = seen.centre + float(contrast @ effects)
            ends = [seen.scale.shown(middle + step) for step in (-error, error)]
            here = factor.codes == code
            runs, failed, late = (
                int(n[here].sum()) for n in (seen.runs, seen.failed, seen.timeouts)
            )
            cost = seen.scale.shown(middle)
            yield ValueEffect(low, high, label, runs, failed, late, cost, min(ends), max(ends))
