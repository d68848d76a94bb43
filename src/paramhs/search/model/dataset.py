"""A history by configuration, adjusted for the instances' effects and noise.

    transformed cost = effect of the instance + mean of the configuration + noise of the instance

Instances differ not only in their cost but in how much they *tell*. Proving that a formula has no
solution takes a solver about the same time each time; finding one is luck: the logarithm of
minisat's work scatters by 0.14 between configurations on unsatisfiable random formulas, by 0.5 to
1.4 on satisfiable ones. So each instance has its own variance, estimated from the residuals, and a
run is weighted by its inverse. With a few runs on each instance such estimates are poor, so they
are shrunk towards a common value. An instance that always costs the same, because it is never
solved or solved at once, has no noise but tells nothing: equal costs count against an instance.

Costs are taken as logarithms where all are positive, in units of their spread; a run without a
usable cost counts as somewhat worse than the worst. A capped run is a lower bound: it enters by a
working value and a weight (`model.censoring`), which depend on the expectation for its
configuration. That takes a model (`model.main_effects`) and a few iterations.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paramhs.core.runs import Pair
from paramhs.core.space import Config, Space
from paramhs.search.history import History
from paramhs.search.model.censoring import working

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# A model needs MIN_CONFIGS configurations, and CONFIGS_PER_PARAMETER more for each parameter that
# can move, but at most MAX_NEEDED_CONFIGS.
MIN_CONFIGS = 4
CONFIGS_PER_PARAMETER = 2
MAX_NEEDED_CONFIGS = 20
MAX_ROWS = 1_000  # with more configurations, those with the most runs, the newest first
_SWEEPS = 12  # of the additive fit
_ROUNDS = 3  # of fitting and weighting
_COMPLETIONS = 8  # rounds in which bounds are replaced by their expectations
_PRIOR_RUNS = 2.0  # weight of the common variance in that of an instance, in runs
_MAX_SHARE = 0.95  # of a run in its configuration's mean, to inform about the noise
_MIN_WEIGHT = 1e-4  # of a capped run, however little its bound says
_MIN_VARIANCE = 0.01  # of an instance, as a share of the common variance
_DIGITS = 6  # to which variances are rounded
_MAX_SPREADS = 100.0  # from the middle
_MAX_COST = 1e100  # solvers report the largest float where they found nothing


@dataclass(frozen=True)
class Rows:
    """One row for each configuration, or for those with the most runs."""

    configs: Sequence[Config]
    means: Floats
    """Mean cost of each configuration without the instances' effects."""
    worth: Floats
    """Worth of each configuration's runs, in runs of average noise."""
    noise: float
    """Variance of a run of average noise."""
    noise_of: Mapping[str, float]
    """Variance of a run by instance, relative to the average."""


@dataclass(frozen=True)
class Dataset:
    """All runs of a history, one entry each: what a model is fitted to."""

    space: Space
    configs: Sequence[Config]
    """Configurations with runs, in the order of their first."""
    owner: Ints
    """Position of the run's configuration."""
    instance: Ints
    """Number of the run's instance."""
    costs: Floats
    """Cost of each run, or its lower bound; infinite for a failed one."""
    censored: npt.NDArray[np.bool_]
    """Whether the cost is a lower bound."""
    instances: Sequence[str]
    is_exact: bool = False
    """Whether one run determines a configuration's cost."""

    @property
    def is_enough(self) -> bool:
        """Whether there are enough configurations for a model with an effect of each parameter."""
        return len(self.configs) >= configs_needed(self.space)

    @cached_property
    def values(self) -> Floats:
        """Transformed cost of each run, or its lower bound; see `transformed`."""
        return transformed(self.costs)

    def rows(self) -> Rows:
        """One row per configuration, with bounds taken as costs."""
        return self._rows(two_way(self.values, self.owner, self.instance))[1]

    def completed(self, expected: Callable[[Rows], Floats]) -> Rows:
        """One row per configuration, with bounds replaced by working values.

        `expected` gives the level that a model expects of each row, from the rows so far.
        """
        # What a bound is worth depends on the level of its configuration, and that level on what
        # its bounds are worth. So the two are computed in turn. All turns but the last weigh the
        # instances only once, since the working values still move.
        fit = two_way(self.values, self.owner, self.instance)
        cut, weights = self.censored, np.ones(len(self.values))
        for turn in range(_COMPLETIONS):
            most, rows = self._rows(fit)
            levels = fit.means.copy()
            # Configurations beyond MAX_ROWS are unknown to the model and keep the level of their
            # own runs.
            levels[most] = expected(rows) + fit.level
            values = self.values.copy()
            means = (fit.effects[self.instance] + levels[self.owner])[cut]
            values[cut], found = working(self.values[cut], means, math.sqrt(fit.noise))
            weights[cut] = np.maximum(found, _MIN_WEIGHT)
            rounds = _ROUNDS if turn == _COMPLETIONS - 1 else 1
            fit = two_way(values, self.owner, self.instance, weights, self.values, rounds)
        return self._rows(fit)[1]

    def _rows(self, fit: "TwoWay") -> tuple[Ints, Rows]:
        # Rounding and a stable sort of the reversed numbers: of configurations with equally many
        # runs the newest stay, on every machine. The last sort restores the order of first runs.
        relative = np.round(fit.variances / fit.average, _DIGITS).tolist()
        newest_first = np.round(fit.worth, _DIGITS)[::-1]
        last = len(self.configs) - 1
        most = np.sort(last - np.argsort(-newest_first, kind="stable")[:MAX_ROWS])
        return most, Rows(
            [self.configs[number] for number in most],
            (fit.means - fit.level)[most],
            fit.worth[most],
            fit.noise,
            {name: relative[n] for n, name in enumerate(self.instances)},
        )


def configs_needed(space: Space) -> int:
    """Number of configurations that a model with an effect of each parameter needs."""
    movable = sum(parameter.levels > 1 for parameter in space.listed)
    return min(MIN_CONFIGS + CONFIGS_PER_PARAMETER * movable, MAX_NEEDED_CONFIGS)


def dataset(history: History) -> Dataset:
    """Collect all runs of a history."""
    configs = list(history.configs)
    numbers: dict[str, int] = {}
    owner: list[int] = []
    instance: list[int] = []
    costs: list[float] = []
    censored: list[bool] = []
    for number, config in enumerate(configs):
        for pair, cost, is_bound in _costs(history, config):
            owner.append(number)
            instance.append(numbers.setdefault(pair.instance, len(numbers)))
            costs.append(cost)
            censored.append(is_bound)
    return Dataset(
        history.scenario.space,
        configs,
        np.array(owner, np.int64),
        np.array(instance, np.int64),
        np.array(costs, np.float64),
        np.array(censored, np.bool_),
        list(numbers),
        history.pair_count == 1,
    )


def _costs(history: History, config: Config) -> Iterator[tuple[Pair, float, bool]]:
    """Costs of a configuration's runs, or the time at which they were capped."""
    for pair, cost in history.costs(config).items():
        yield pair, cost[0], False
    for pair in history.cut_short(config):
        yield pair, history.at_least(config, pair) or 0.0, True


def transformed(costs: Floats) -> Floats:
    """Transform costs into logarithms where all are positive, in units of their spread.

    Unusable costs lie beyond the worst. Values are limited to some spreads from the middle, so that
    one outlier does not dominate the fit.
    """
    usable = np.isfinite(costs)
    if not usable.any():
        return np.zeros(len(costs))
    values = np.full(len(costs), np.nan)
    known, spread = _spread(costs[usable])
    values[usable] = known
    values[~usable] = known.max() + spread
    values /= spread
    middle = float(np.median(values))
    return np.asarray(np.clip(values, middle - _MAX_SPREADS, middle + _MAX_SPREADS), np.float64)


def _spread(finite: Floats) -> tuple[Floats, float]:
    """Logarithms of costs where all are positive, else costs of a safe size; and their spread."""
    known = np.log(finite) if finite.min() > 0 else finite / _size(finite)
    spread = float(np.subtract(*np.percentile(known, [90, 10]))) or float(np.ptp(known)) or 1.0
    return known, spread


class Unit(NamedTuple):
    """The unit of a model's costs."""

    size: float
    is_log: bool
    """Whether it is of logarithms of costs."""


def unit_of(history: History) -> Unit:
    """The unit in which a model of this history measures costs."""
    told = (cost for config in history.configs for _, cost, _ in _costs(history, config))
    costs = np.array([cost for cost in told if math.isfinite(cost)])
    if not len(costs):
        return Unit(1.0, False)
    is_log = bool(costs.min() > 0)
    return Unit(_spread(costs)[1] * (1.0 if is_log else _size(costs)), is_log)


def _size(costs: Floats) -> float:
    """Divisor of costs that keeps their sums and squares finite."""
    largest = float(np.abs(costs).max())
    return largest if largest > _MAX_COST else 1.0


@dataclass(frozen=True)
class TwoWay:
    """Values as the mean of a configuration plus the effect of an instance plus noise."""

    means: Floats
    worth: Floats
    noise: float
    variances: Floats
    """Variance of a run on each instance, increased by the share of equal costs."""
    average: float
    """Mean variance, ignoring equal costs."""
    effects: Floats
    """Effect of each instance."""

    @property
    def level(self) -> float:
        """Mean of all configurations, weighted by their worth."""
        return float(np.average(self.means, weights=self.worth))


def two_way(
    values: Floats,
    who: Ints,
    where: Ints,
    own: Floats | None = None,
    told: Floats | None = None,
    rounds: int = _ROUNDS,
) -> TwoWay:
    """Fit values by configuration and instance.

    Every configuration and instance has a value. Weighted least squares, with weights from the
    previous fit, times `own` weights of runs. `told` are the values before bounds were completed.
    """
    own = np.ones(len(values)) if own is None else own
    seen = np.bincount(where, own)
    # After completion no two bounds are equal. An instance that is never solved would then seem to
    # tell as much as others, so equal costs are counted before.
    telling = _telling(values if told is None else told, where)
    weights = np.ones(len(seen))
    for _ in range(rounds):
        means, effects, worth = _additive(values, who, where, weights, own)
        rest = values - effects[where] - means[who]
        variances = _variances(rest, own * weights[where] / worth[who], where, own)
        weights = telling / variances
        # The average run has weight 1, so `worth` counts runs of average noise.
        weights *= float(own.sum()) / float(weights @ seen)
    means, effects, worth = _additive(values, who, where, weights, own)
    rest = values - effects[where] - means[who]
    # A configuration of bounds that say little takes less than one degree of freedom.
    fitted = float(np.minimum(np.bincount(who, own), 1.0).sum())
    freedom = max(float(own.sum()) - fitted - len(seen), 1.0)
    noise = float((own * weights[where] * rest) @ rest) / freedom
    noise = max(noise, 1e-6 * (float(np.var(means)) or 1.0))
    average = float(variances.mean())
    return TwoWay(means, worth, noise, variances / telling, average, effects)


def _additive(
    values: Floats, who: Ints, where: Ints, weights: Floats, own: Floats
) -> tuple[Floats, Floats, Floats]:
    """Means of configurations, effects of instances, and the weight of each mean."""
    seen = np.bincount(where, own)
    weight = own * weights[where]
    worth = np.asarray(np.bincount(who, weight), np.float64)
    effects = np.zeros(len(seen))
    means = np.zeros(len(worth))
    for _ in range(_SWEEPS):
        means = np.bincount(who, weight * (values - effects[where])) / worth
        # All runs on an instance have its weight, which cancels here.
        effects = np.bincount(where, own * (values - means[who])) / seen
    means = np.bincount(who, weight * (values - effects[where])) / worth
    return means, effects, worth


def _telling(values: Floats, where: Ints) -> Floats:
    """Share of runs on each instance that differ from its most frequent cost, plus one run.

    Where all are equal, as where nothing is ever solved, there is no noise, but also nothing to
    learn.
    """
    # Each column is an instance and a value; its count is the number of runs with that value there.
    each, counts = np.unique(np.stack([where, values]), axis=1, return_counts=True)
    seen = np.bincount(where)
    most = np.zeros(len(seen), np.int64)
    np.maximum.at(most, each[0].astype(np.int64), counts)
    return np.asarray((seen - most + 1) / seen, np.float64)


def _variances(rest: Floats, share: Floats, where: Ints, own: Floats) -> Floats:
    """Variance of a run on each instance, shrunk towards the common one.

    The residual of a run is smaller the more the run itself determines its configuration's mean
    (`share`); this is corrected, except where the run is all of it.
    """
    tells = share <= _MAX_SHARE
    squares = own * np.where(tells, rest**2 / np.where(tells, 1 - share, 1.0), 0.0)
    count = np.bincount(where, own * tells)
    common = float(squares.sum()) / max(float(count.sum()), 1.0) or 1.0
    own = (np.bincount(where, squares) + _PRIOR_RUNS * common) / (count + _PRIOR_RUNS)
    return np.asarray(own.clip(_MIN_VARIANCE * common))
