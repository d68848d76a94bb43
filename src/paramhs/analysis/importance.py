"""Parameter importance from all runs of a search.

*Question.* How much more does a configuration cost than others on the same instances? All runs of
the search are used; capped runs are lower bounds, and failures are counted separately
(`observations`).

*Model.* A configuration is the sum of the effects of its values, fitted jointly (`regression`). A
search moves between similar good configurations, so values occur together, and the mean over the
runs with a value would credit it with the effects of its companions. Values of a long grid are
binned, and a rare value has no effect of its own (`factors`). A parameter has an effect only where
it is active.

*Measure.* The share of the variance between uniformly drawn configurations that is due to one
parameter, as in fANOVA; the total includes the unexplained rest. Intervals come from the posterior
of the model. Interactions are part of the rest here; `interactions` estimates them.

Source: Hutter, Hoos, Leyton-Brown, An efficient approach for assessing hyperparameter importance
(ICML 2014).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from paramhs.analysis.factors import Factor, factors
from paramhs.analysis.observations import EPSILON, Array, Observations, observed
from paramhs.analysis.regression import Regression
from paramhs.core.costs import CostMetric
from paramhs.core.runs import Run
from paramhs.core.space import Value
from paramhs.core.text.html import html_table
from paramhs.core.text.numbers import printable

MIN_CONFIGS = 8  # with fewer configurations nothing is reported
_DRAWS = 400
_COSTS = ("cost", "cost_low", "cost_high")


@dataclass(frozen=True)
class ValueEffect:
    """A value of a parameter, or several neighbouring ones, with its cost."""

    low: Value
    high: Value
    """The upper end of a bin; equal to `low` for a single value."""
    label: str
    runs: int
    failed: int
    """Number of runs without a usable cost."""
    timeouts: int
    cost: float
    """Cost on an average instance with all else equal, shrunk towards the other values.

    Infinite where every run failed.
    """
    cost_low: float
    cost_high: float
    """Bounds of the cost with 95 % probability."""


@dataclass(frozen=True)
class Importance:
    """Importance of one parameter."""

    name: str
    share: float
    """Share of the variance between configurations."""
    low: float
    high: float
    """Bounds of the share with 95 % probability."""
    effect: float
    """The worst value of the range against the best: a factor if `log`, else a difference.

    Taken from the slope where only part of an ordered range was tried.
    """
    log: bool
    at_least: bool
    """Whether all runs with the worst value were capped, so that the effect is a lower bound."""
    values: tuple[ValueEffect, ...]

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types; costs of values whose runs all failed are null."""
        shown = asdict(self)
        for value in shown["values"]:
            value.update({key: None for key in _COSTS if math.isinf(value[key])})
        return shown


class Ranking(tuple[Importance, ...]):
    """Parameters, the most important first; printed as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        width = max((len(one.name) for one in self), default=0)
        lines = [f"{name:<{width}}  {' '.join(rest)}" for name, *rest in self._rows]
        return "\n".join(lines) or "no importance: too few configurations"

    def _repr_html_(self) -> str:
        headings = ("parameter", "importance", "95 % interval", "effect")
        return html_table(self._rows, headings) if self else f"<p>{self!r}</p>"

    @property
    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (
                printable(one.name),
                f"{one.share:6.1%}",
                f"({one.low:.1%} to {one.high:.1%})",
                f"{'at least ' * one.at_least}{one.effect:.3g}{' times' * one.log}",
            )
            for one in self
        ]


def importance(runs: Iterable[Run], metric: CostMetric) -> Ranking:
    """Rank the parameters of which two values can be compared, the most important first.

    The result is empty if there are too few configurations. Of more than `factors.MAX_PARAMETERS`
    parameters only the most influential are reported.
    """
    fitted = main_effects(runs, metric)
    if fitted is None:
        return Ranking()
    found = [fitted.importance(number) for number in range(len(fitted.factors))]
    return Ranking(sorted(found, key=lambda one: -one.share))


def main_effects(runs: Iterable[Run], metric: CostMetric) -> "MainEffects | None":
    """Fit the effects of all parameters; None if there are too few configurations."""
    data = observed(runs, metric)
    if data is None or len(np.unique(data.config)) < MIN_CONFIGS:
        return None
    found = factors(data)
    return MainEffects(data, found) if found else None


class MainEffects:
    """Regression of observations on the values of all parameters."""

    def __init__(self, data: Observations, found: Sequence[Factor]) -> None:
        self.data = data
        self.factors = found
        designs = [factor.columns for factor in found]
        ends = np.cumsum([0, *(x.shape[1] for x in designs)])
        self.slices = [slice(a, b) for a, b in pairwise(ends)]
        groups = [group for factor in found for group in factor.groups]
        self.fit = Regression(data, np.hstack(designs), groups)
        self.coefficients, self.covariance = self.fit.effects, self.fit.covariance
        self._moments = [_moments(factor) for factor in found]

    def _variance(self, number: int, coefficients: Array) -> Array:
        """Variance of one parameter's effects over its range, for each row of coefficients."""
        part = coefficients[..., self.slices[number]]
        variance: Array = ((part @ self._moments[number]) * part).sum(axis=-1)
        return variance

    @cached_property
    def _shares(self) -> tuple[Array, Array, Array]:
        """Each parameter's variance, and the bounds of its share with 95 % probability."""
        # The share is a ratio of quadratic forms of the coefficients, which has no closed
        # distribution: coefficients are drawn from their normal posterior and the quantiles of the
        # ratio are taken.
        rng, effects = np.random.default_rng(0), self.coefficients
        root = np.linalg.cholesky(self.covariance + EPSILON * np.eye(len(effects)))
        draws = effects + rng.standard_normal((_DRAWS, len(root))) @ root.T
        numbers = range(len(self.factors))
        point = np.array([float(self._variance(k, effects)) for k in numbers])
        drawn = np.array([self._variance(k, draws) for k in numbers])
        rest = self.fit.rest + self.fit.rest_error * rng.standard_normal(_DRAWS)
        whole = drawn.sum(axis=0) + np.maximum(rest, 0.0) + EPSILON
        low, high = np.quantile(drawn / whole, (0.025, 0.975), axis=1)
        return point, low, high

    def importance(self, number: int) -> Importance:
        """Importance of one parameter, by its number."""
        # The point estimate of the share is a ratio of variances. Its standard error to first order
        # treats the total as known except for this parameter's part, which gives the factor (1 -
        # share). The reported interval is the wider one of this and of the posterior draws, because
        # few configurations make either too narrow.
        factor, scale = self.factors[number], self.data.scale
        points, lows, highs = self._shares
        whole = float(points.sum()) + self.fit.rest + EPSILON
        share = float(points[number]) / whole
        error = self._error(number) * (1 - share) / whole
        part = self.coefficients[self.slices[number]]
        over_range = factor.range_effects[factor.range_weights > 0] @ part
        apart = float(np.ptp(over_range))
        effects = np.where(factor.supported, factor.bin_effects @ part, -np.inf)
        return Importance(
            factor.name,
            share,
            max(min(share - 1.96 * error, float(lows[number])), 0.0),
            max(float(highs[number]), share),
            math.exp(min(apart, 700.0)) if scale.log else apart * scale.unit,
            scale.log,
            self._all_cut(factor, int(np.argmax(effects))),
            tuple(self._values(number)),
        )

    def _all_cut(self, factor: Factor, code: int) -> bool:
        """Whether every run with a value was capped."""
        return bool(self.data.censored[factor.codes[self.data.config] == code].all())

    def _error(self, number: int) -> float:
        """Standard error of a parameter's variance, to first order."""
        columns = self.slices[number]
        slope = 2 * self._moments[number] @ self.coefficients[columns]
        return math.sqrt(max(float(slope @ self.covariance[columns, columns] @ slope), 0.0))

    def _values(self, number: int) -> Iterator[ValueEffect]:
        factor, columns, data = self.factors[number], self.slices[number], self.data
        turn = factor.bin_effects
        effects = turn @ self.coefficients[columns]
        covariance = turn @ self.covariance[columns, columns] @ turn.T
        usual = factor.support / factor.support.sum()
        for code, (low, high, label) in enumerate(factor.bins):
            here = factor.codes == code
            runs, failed, late = (
                int(n[here].sum()) for n in (data.runs, data.failed, data.timeouts)
            )
            if not factor.support[code]:
                inf = math.inf
                yield ValueEffect(low, high, label, runs, failed, late, inf, inf, inf)
                continue
            contrast = np.eye(len(effects))[code] - usual
            error = 1.96 * math.sqrt(max(float(contrast @ covariance @ contrast), 0.0))
            middle = self.fit.centre + float(contrast @ effects)
            cost, *ends = (data.scale.shown(middle + step) for step in (0.0, -error, error))
            yield ValueEffect(low, high, label, runs, failed, late, cost, min(ends), max(ends))


def _moments(factor: Factor) -> Array:
    """Quadratic form whose value at the coefficients is the variance of a parameter's effects.

    It is the covariance of the parameter's columns over its range, times the share of
    configurations in which it is active.
    """
    x, weights = factor.range_effects, factor.range_weights
    moved = x - weights @ x
    active = float((factor.codes >= 0).mean())
    result: Array = active * (moved.T * weights) @ moved
    return result
