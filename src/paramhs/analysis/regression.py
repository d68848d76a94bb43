"""Robust regression of costs on parameters, with censored runs and instance effects.

    value of a run = instance + effects of the configuration's values + deviation + noise

All parts are fitted jointly, because each is needed to estimate the others. A search caps
challengers against its incumbent, so most runs of bad configurations are only lower bounds: means
over finished runs would be means over lucky runs, and bounds taken as costs would make bad values
look nearly good. Each round replaces censored runs by working values (`search.model.censoring`);
the rest is weighted least squares:

1. instances, and the level of each configuration from its own runs and the effects so far;
2. effects of values, shrunk by one variance per parameter (automatic relevance determination), so
   that a parameter without influence gets an effect near zero;
3. the variances of the noise and of the deviations, by expectation maximisation.

Noise and deviations follow Student's t with `FREEDOM` degrees of freedom: a run or a configuration
far from the prediction loses weight instead of bending the fit.

Source: MacKay, Bayesian interpolation (Neural Computation 4, 1992); Lange, Little, Taylor, Robust
statistical modeling using the t distribution (JASA 84, 1989).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paramhs.analysis.factors import Group
from paramhs.analysis.observations import EPSILON, Array, Observations
from paramhs.search.model.censoring import hazard, working

FREEDOM = 4.0
# Variance of the t distribution with 4 degrees of freedom fitted to standard normal data.
_NORMAL_VARIANCE = 0.69
# Configurations beyond the number of fitted effects.
_MIN_FREEDOM = 3.0
_ROUNDS = 40
_MIN_ROUNDS = 4
_SWEEPS = 4
_FIRST_SWEEPS = 30
# Change of predictions, in standard deviations of values, at which the fit has converged.
_CONVERGENCE_TOLERANCE = 1e-3
# Variance of a deviation or of the noise, as a share of that of all values.
_MIN_VARIANCE = 1e-6


class Posterior:
    """Posterior of f in y = A f + noise, with independent normal priors on f.

    Inverts the smaller of two matrices: one with as many rows as f has components, or one with as
    many rows as y has.
    """

    def __init__(self, a: Array, y: Array) -> None:
        self._a, self._y = a, y
        self._tall = len(a) > a.shape[1]
        self._gram = a.T @ a if self._tall else None
        self._right = a.T @ y

    def update(self, spread: Array, noise: float) -> None:
        """Recompute the posterior for these prior variances of f and this noise variance."""
        # The tall case inverts the posterior precision A'A / noise + 1 / spread. The wide case uses
        # the Woodbury identity, which needs the covariance of y instead; both give the same
        # posterior.
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
    def leverages(self) -> Array:
        """Posterior variance of each row's prediction."""
        if self._gram is None:
            # With K = A S A' and C = K + noise I: K - K C^-1 K = noise I - noise^2 C^-1.
            rows: Array = self._noise - self._noise**2 * np.diag(self._inverse)
        else:
            rows = np.einsum("ij,ij->i", self._a @ self._inverse, self._a)
        return rows

    @property
    def covariance(self) -> Array:
        """Posterior covariance of f."""
        if self._gram is not None:
            return self._inverse
        half = self._a * self._spread
        result: Array = np.diag(self._spread) - half.T @ self._inverse @ half
        return result


@dataclass
class Regression:
    """Joint fit of instances, configurations, effects and variances; see the module."""

    data: Observations
    x: Array
    groups: Sequence[Group]

    def __post_init__(self) -> None:
        data = self.data
        self._has = np.unique(data.config)  # configurations with a value or a bound
        self._who = np.searchsorted(self._has, data.config)
        self._x = self.x[self._has]
        self._sizes = np.array([group.size for group in self.groups])
        self._starts = np.cumsum([0, *self._sizes[:-1]])
        self._total = _variance(data.value)
        self._least = _MIN_VARIANCE * self._total
        self._begin()
        for step in range(_ROUNDS):
            before = self._predicted
            self._round()
            moved = float(np.abs(self._predicted - before).max())
            if step >= _MIN_ROUNDS and moved < _CONVERGENCE_TOLERANCE * self._total**0.5:
                break

    def _begin(self) -> None:
        """Initialise by least squares on instances and configurations, taking bounds as values."""
        count = len(self._has)
        self._values, self._weights = self.data.value, np.ones(len(self._who))
        self._hard = np.zeros(int(self.data.instance.max()) + 1)
        self._predicted, self._trust = np.zeros(count), np.ones(count)
        # A deviation this large shrinks no level: the first sweeps are plain least squares.
        self._deviation, self._noise = 1e6 * self._total, self._total
        self._take_instances_out(_FIRST_SWEEPS)
        between = _variance(self._level)
        self._deviation = max(between / 20, self._least)
        self._noise = max(self._total_within() / 2, self._least)
        self._usual = max(between, self._least) / len(self.groups)
        widest = max(float(np.var(self._level)), self._least)
        self._spread = np.array([group.first for group in self.groups]) * widest / len(self.groups)
        self._expected = self._level
        self._predicted = np.full(count, float(np.median(self._level)))
        self._trust = _trust((self._level - self._predicted) ** 2, self._deviation)

    def _total_within(self) -> float:
        rest = self._values - self._hard[self.data.instance] - self._level[self._who]
        freedom = max(len(rest) - len(self._level) - len(self._hard) + 1, 1)
        return float(rest @ rest) / freedom

    # One round of expectation maximisation. `kept` is the share of a configuration's residual that
    # belongs to the configuration and not to noise in its runs: the Kalman gain of its level given
    # the prediction. The leverages add the uncertainty of the effects themselves to the expected
    # squares, without which the variances would shrink towards zero from round to round.
    def _round(self) -> None:
        self._impute()
        self._take_instances_out(_SWEEPS)
        own = self._deviation / self._trust
        variances = own + self._noise / self._worth
        self._unresolved = 1 / float((1 / variances).sum())
        leverages = self._regress(variances)
        kept = own / variances
        rest = self._level - self._predicted
        self._expected = self._predicted + kept * rest
        self._measured = float(kept @ kept)
        squares = (kept * rest) ** 2 + kept**2 * leverages + own * (1 - kept)
        unsure = own * (1 - kept) + (1 - kept) ** 2 * leverages
        self._update_noise(unsure)
        found = (self._trust * ((kept * rest) ** 2 + kept**2 * leverages)).sum() / kept.sum()
        self._deviation = max(float(found), self._least)
        self._trust = _trust(squares, self._deviation)

    def _impute(self) -> None:
        """Compute working values of bounds and weights of all runs."""
        data, deviation = self.data, self._noise**0.5
        self._means = self._hard[data.instance] + self._expected[self._who]
        self._values, self._weights = data.value.copy(), np.ones(len(data.value))
        cut = data.censored
        self._values[cut], self._weights[cut] = working(
            data.value[cut], self._means[cut], deviation
        )
        z = (data.value - self._means) / deviation
        self._outlying = _trust(np.where(cut, np.maximum(z, 0.0), z) ** 2, 1.0)
        self._weights *= self._outlying

    def _take_instances_out(self, sweeps: int) -> None:
        """Estimate levels of configurations and effects of instances by alternating sweeps."""
        where, values, weights = self.data.instance, self._values, self._weights
        self._worth = np.bincount(self._who, weights)
        on = np.bincount(where, weights)
        own = self._deviation / self._trust
        kept = own / (own + self._noise / self._worth)
        for _ in range(sweeps):
            level = np.bincount(self._who, weights * (values - self._hard[where])) / self._worth
            # A level of few runs is mostly noise. Instances are compared with shrunk levels, so
            # that their effects do not follow that noise.
            expected = self._predicted + kept * (level - self._predicted)
            self._hard = np.bincount(where, weights * (values - expected[self._who])) / on
        self._level = np.bincount(self._who, weights * (values - self._hard[where])) / self._worth

    def _regress(self, variances: Array) -> Array:
        """Estimate the effects from the variance of each level; return that of each prediction."""
        share = 1 / variances
        share /= share.sum()
        self._centred = self._x - share @ self._x
        self._middle = float(share @ self._level)
        root = 1 / np.sqrt(variances)
        self._posterior = Posterior(
            root[:, None] * self._centred, root * (self._level - self._middle)
        )
        # MacKay's update of the relevance variances: the expected squares of a group's coefficients
        # over its size, with a weak inverse-gamma prior (`_usual`) that keeps a group of one column
        # estimable.
        for _ in range(2):
            self._posterior.update(np.repeat(self._spread, self._sizes), 1 / _NORMAL_VARIANCE)
            size = self._posterior.mean**2 + self._posterior.variances
            sums = np.add.reduceat(size, self._starts)
            self._spread = (sums + self._usual / 5) / (self._sizes + 2)
        self._posterior.update(np.repeat(self._spread, self._sizes), 1 / _NORMAL_VARIANCE)
        self._predicted = self._middle + self._centred @ self._posterior.mean
        result: Array = self._posterior.leverages * variances
        return result

    def _update_noise(self, unsure: Array) -> None:
        """Update the noise variance from expected squares, including the part beyond each bound."""
        cut, weights = self.data.censored, self._weights
        rest = self._values - self._hard[self.data.instance] - self._expected[self._who]
        squares = weights * (rest**2 + unsure[self._who])
        # For a normal variable known to exceed z, the expected square is 1 + z * hazard(z).
        z = (self.data.value - self._means)[cut] / self._noise**0.5
        squares[cut] = self._outlying[cut] * self._noise * (1 + z * hazard(z))
        freedom = max(len(squares) - len(self._hard), 1)
        self._noise = max(float(squares.sum()) / freedom, self._least)

    # Results

    @property
    def configs(self) -> Array:
        """Positions of the configurations that have a value or a bound."""
        return self._has

    @property
    def levels(self) -> Array:
        """Cost level of each of these configurations by its own runs, bounds as working values."""
        return self._level

    @property
    def weights(self) -> Array:
        """Weight of each level, from 0 to 1: smaller for noisy runs, bounds and outliers."""
        between = max(_variance(self._expected), self._least)
        result: Array = np.minimum(self._trust, 1.0) / (1 + self._noise / between / self._worth)
        return result

    @property
    def effects(self) -> Array:
        """Effect of each column."""
        return self._posterior.mean

    @property
    def covariance(self) -> Array:
        """Covariance of the effects, widened with few configurations.

        The variances were estimated from the same configurations, so the covariance grows by the
        ratio between quantiles of Student's t and of the normal distribution.
        """
        count = len(self._has)
        spread = np.repeat(self._spread, self._sizes)
        used = float(np.clip(1 - self._posterior.variances / spread, 0.0, 1.0).sum())
        free = max(count - 1 - used, _MIN_FREEDOM)
        return self._posterior.covariance * (count / free) * (1 + 1.3 / free) ** 2

    @property
    def rest(self) -> float:
        """Variance between configurations that no parameter explains by itself.

        It is at least what chance assigns to an inert parameter with two values.
        """
        return self._deviation / _NORMAL_VARIANCE + self._unresolved

    @property
    def rest_error(self) -> float:
        """Standard error of the rest, given the number of configurations with informative runs."""
        return self.rest * float(np.sqrt(2 / max(self._measured, 0.5)))

    @property
    def centre(self) -> float:
        """Value of an average configuration on an average instance."""
        return float(self._hard.mean()) + self._middle


def _trust(squares: Array, variance: float) -> Array:
    """Expected weights of Student's t with this variance, given expected squares."""
    result: Array = (FREEDOM + 1) / (FREEDOM + squares / variance)
    return result


def _variance(values: Array) -> float:
    """Variance estimated from the middle four fifths, which a few outliers do not change.

    The plain variance is used where these are all equal.
    """
    low, high = np.percentile(values, [10, 90])
    return max(float((high - low) / 2.563) ** 2 or float(np.var(values)), EPSILON)
