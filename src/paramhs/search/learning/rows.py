"""A history by configuration: what its runs say of each, rid of the instances' effects and noise.

    transformed cost = effect of the instance + mean of the configuration + noise of the instance

Instances differ not only in how much they cost but in how much they *tell*. To prove that a formula
has no solution takes a solver about as long each time, to find one is luck: the logarithm of
minisat's work scatters by 0.14 from one configuration to the next on unsatisfiable random formulas,
by 0.5 to 1.4 on satisfiable ones. So each instance has a variance of its own, estimated from what
is left over, and a run counts by its inverse. With a few runs of each instance such estimates are
poor: they are drawn towards what is common to all. And what always costs the same, because it is
never solved or at once, is without noise but tells nothing: equal costs count against an instance.

Costs are taken as logarithms where all are positive, else as they are; in units of their spread;
a run without a usable cost counts as somewhat worse than the worst, and one that was cut short as
what it had cost until then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paramhs.search.history import History
from paramhs.values.runs import Pair
from paramhs.values.space import Config

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FEW = 4  # configurations, fewer of which say nothing
_FEW_EACH = 2  # and for each parameter so many more,
_ENOUGH = 20  # up to so many
_SWEEPS = 12  # of the additive fit
_ROUNDS = 3  # of fitting and weighing
_COMMON = 2.0  # runs that the variance of all instances counts as in that of each
_OWN = 0.95  # how much of its configuration's mean a run may be, to say something of the noise
_MOST = 1_000  # rows; of more configurations those with the most runs, and the newest of these
_DIGITS = 6  # to which variances are rounded
_LEAST = 0.01  # of the common variance, is that of each instance thought to be at least
_FARTHEST = 100.0  # spreads from the middle
_HUGE = 1e100  # what solvers say where they found nothing may be the largest float


@dataclass(frozen=True)
class Rows:
    """A row for each configuration, or for some that were run most."""

    configs: Sequence[Config]
    means: Floats
    """What is left of the costs of each, without the instances' effects."""
    worth: Floats
    """How many runs of average noise the runs of each are worth."""
    noise: float
    """The variance of a run of average noise."""
    noise_of: Mapping[str, float]
    """By instance, how many times as large the variance of a run is as on average."""


def gathered(history: History) -> Rows | None:
    """The rows of all runs; None where these are too few to say anything."""
    configs = list(history.configs)
    movable = sum(parameter.levels > 1 for parameter in history.scenario.space.listed)
    if len(configs) < min(_FEW + _FEW_EACH * movable, _ENOUGH):
        return None
    numbers: dict[str, int] = {}
    owner: list[int] = []
    instance: list[int] = []
    costs: list[float] = []
    for number, config in enumerate(configs):
        for pair, cost in _known(history, config):
            owner.append(number)
            instance.append(numbers.setdefault(pair.instance, len(numbers)))
            costs.append(cost)
    fit = two_way(transformed(np.array(costs)), np.array(owner), np.array(instance))
    means = fit.means - np.average(fit.means, weights=fit.worth)
    relative = np.round(fit.variances / fit.average, _DIGITS).tolist()
    newest_first = np.round(fit.worth, _DIGITS)[::-1]
    most = np.sort(len(configs) - 1 - np.argsort(-newest_first, kind="stable")[:_MOST])
    return Rows(
        [configs[number] for number in most],
        means[most],
        fit.worth[most],
        fit.noise,
        {name: relative[n] for name, n in numbers.items()},
    )


def _known(history: History, config: Config) -> Iterator[tuple[Pair, float]]:
    """What its runs cost, or how long they had taken when they were cut short."""
    for pair, cost in history.costs(config).items():
        yield pair, cost[0]
    for pair in history.cut_short(config):
        yield pair, history.at_least(config, pair) or 0.0


def transformed(costs: Floats) -> Floats:
    """Logarithms where all are positive; the unusable beyond the worst; in units of the spread, and
    no farther from the middle than some of these: one outlier is not to be the whole fit."""
    usable = np.isfinite(costs)
    if not usable.any():
        return np.zeros(len(costs))
    finite = costs[usable]
    values = np.full(len(costs), np.nan)
    values[usable] = np.log(finite) if finite.min() > 0 else finite / _size(finite)
    known = values[usable]
    spread = float(np.subtract(*np.percentile(known, [90, 10]))) or float(np.ptp(known)) or 1.0
    values[~usable] = known.max() + spread
    values /= spread
    middle = float(np.median(values))
    return np.asarray(np.clip(values, middle - _FARTHEST, middle + _FARTHEST), np.float64)


def _size(costs: Floats) -> float:
    """What to divide costs by, so that sums and squares of them are floats."""
    largest = float(np.abs(costs).max())
    return largest if largest > _HUGE else 1.0


@dataclass(frozen=True)
class TwoWay:
    """Values as the mean of a configuration plus the effect of an instance plus noise."""

    means: Floats
    worth: Floats
    noise: float
    variances: Floats
    """Of a run on each instance, the larger the more often runs there cost the same."""
    average: float
    """Of the variances, equal costs left aside."""


def two_way(values: Floats, who: Ints, where: Ints) -> TwoWay:
    """The fit, from which configuration and which instance each value is.

    Every one of either has a value. Weighted least squares, the weights from the fit before.
    """
    seen = np.bincount(where).astype(np.float64)
    telling = _telling(values, where)
    weights = np.ones(len(seen))
    for _ in range(_ROUNDS):
        means, effects, worth = _additive(values, who, where, weights)
        rest = values - effects[where] - means[who]
        variances = _variances(rest, weights[where] / worth[who], where)
        weights = telling / variances
        weights *= len(values) / float(weights @ seen)
    means, effects, worth = _additive(values, who, where, weights)
    rest = values - effects[where] - means[who]
    freedom = max(len(values) - len(means) - len(seen), 1)
    noise = float((weights[where] * rest) @ rest) / freedom
    noise = max(noise, 1e-6 * (float(np.var(means)) or 1.0))
    return TwoWay(means, worth, noise, variances / telling, float(variances.mean()))


def _additive(
    values: Floats, who: Ints, where: Ints, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """The configurations' means, the instances' effects, and the weight of each mean."""
    seen = np.bincount(where)
    weight = weights[where]
    worth = np.asarray(np.bincount(who, weight), np.float64)
    effects = np.zeros(len(seen))
    means = np.zeros(len(worth))
    for _ in range(_SWEEPS):
        means = np.bincount(who, weight * (values - effects[where])) / worth
        effects = np.bincount(where, values - means[who]) / seen
    means = np.bincount(who, weight * (values - effects[where])) / worth
    return means, effects, worth


def _telling(values: Floats, where: Ints) -> Floats:
    """The share of runs on each instance that do not cost what most cost there, and one of those.

    Where all do, as where nothing is ever solved, there is no noise, and nothing to learn either.
    """
    each, counts = np.unique(np.stack([where, values]), axis=1, return_counts=True)
    seen = np.bincount(where)
    most = np.zeros(len(seen), np.int64)
    np.maximum.at(most, each[0].astype(np.int64), counts)
    return np.asarray((seen - most + 1) / seen, np.float64)


def _variances(rest: Floats, share: Floats, where: Ints) -> Floats:
    """Of a run on each instance, drawn towards the common one.

    What is left of a run is the smaller the more it is itself its configuration's mean (`share`):
    that is made good, where it is not all of it.
    """
    tells = share <= _OWN
    squares = np.where(tells, rest**2 / np.where(tells, 1 - share, 1.0), 0.0)
    count = np.bincount(where, tells.astype(np.float64))
    common = float(squares.sum()) / max(float(count.sum()), 1.0) or 1.0
    own = (np.bincount(where, squares) + _COMMON * common) / (count + _COMMON)
    return np.asarray(own.clip(_LEAST * common))
