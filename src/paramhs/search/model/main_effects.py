"""A model of main effects over all runs of a history, with deviations shared by neighbours.

    transformed cost = effect of the instance + sum over parameters of an effect of their value
                       + a deviation of the configuration + noise

Without the instances' effects (`model.dataset`) a configuration is one row: the mean of what is
left, whose noise is sigma^2 / worth, where `worth` is its number of runs in units of average noise.
The effects are a ridge regression with a common prior variance for the range of each parameter. A
categorical value has its own coefficient; an ordered parameter is a random walk over a few knots
with lines between them. The default's effects are zero, and so are those of inactive parameters.
Deviations are joint effects of several parameters: neighbours share most of theirs
(`model.kernel`). All variances, and the reach of the similarity, are those of a few candidates that
make the data most likely.

`drawn` gives coefficients from the posterior: the exact ones of a regression whose data and prior
mean were perturbed by their uncertainty (Papandreou, Yuille, NIPS 2010). The deviation of a
configuration without runs is its expectation given the drawn deviations of the rows; nothing more
is drawn.

Matrix arithmetic may differ in its last bits between machines. So effects are rounded before any
decision uses them; where a difference survives even that, a replay requests another run than the
store has, and stops there.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from paramhs.core.space import Config, Space
from paramhs.search.model.dataset import Dataset, Floats, Ints, Rows
from paramhs.search.model.kernel import Likeness, likenesses, unlike
from paramhs.search.model.model import Draw, Guess, Posterior, Score
from paramhs.search.model.one_thread import on_one_thread

T = TypeVar("T")
_KNOTS = 5  # of an ordered parameter, including both ends
_BINS = 257  # levels that are distinguished; a finer range is binned
_PRIORS = tuple(4.0**k for k in range(-6, 2))  # variances of a range, relative to that of the rows
_DEVIATIONS = (0.03, 0.1, 0.4, 0.8)  # shares of the rows' variance due to deviations
_USUAL_PRIOR = 4.0**-1  # variance used to complete capped runs
_USUAL_DEVIATION = 0.03
_LEVEL = 3.0  # width of the level's prior, relative to that of a range
_DIGITS = 6  # to which effects are rounded


class Coding:
    """Encoding of configurations as rows of numbers."""

    def __init__(self, space: Space) -> None:
        self.tables = [_table(p.levels, p.default_index, p.ordered) for p in space.listed]
        self.levels = np.array([p.levels for p in space.listed], dtype=np.int64)
        self.sizes = [len(table) for table in self.tables]
        self.starts = np.cumsum([0, *self.sizes])[:-1]  # offset of each parameter's bins
        self.columns = np.cumsum([0, *(table.shape[1] for table in self.tables)])

    def bins(self, configs: Sequence[Config]) -> Ints:
        """One number for each parameter of each configuration; negative where it is inactive."""
        indices = np.array([config.indices for config in configs], dtype=np.int64)
        cut = indices * (_BINS - 1) // np.maximum(self.levels - 1, 1)
        return np.where((self.levels > _BINS) & (indices >= 0), cut, indices)

    def rows(self, bins: Ints) -> Floats:
        """Design matrix; its last column is for the level of all costs."""
        rows = np.zeros((len(bins), self.columns[-1] + 1))
        rows[:, -1] = _LEVEL
        for i, table in enumerate(self.tables):
            active = bins[:, i] >= 0
            rows[active, self.columns[i] : self.columns[i + 1]] = table[bins[active, i]]
        return rows

    def effects(self, coefficients: Floats) -> Floats:
        """Effect of every bin of every parameter, followed by 0 for inactive."""
        parts = [
            table @ coefficients[self.columns[i] : self.columns[i + 1]]
            for i, table in enumerate(self.tables)
        ]
        return np.concatenate([*parts, np.zeros(1)])


def _bin(index: int, levels: int) -> int:
    return index if levels <= _BINS else index * (_BINS - 1) // (levels - 1)


@lru_cache(maxsize=4096)
def _table(levels: int, default: int, ordered: bool) -> Floats:
    """Encoding of each bin of a parameter; the default's is zero."""
    bins = min(levels, _BINS)
    at = _bin(default, levels)
    if ordered:
        # Column s grows from 0 to its full size between the knots s and s + 1. So its coefficient
        # is the increment there, and independent increments make a random walk. Divided by the root
        # of their number, they give the effect of the whole range the prior variance.
        steps = min(bins - 1, _KNOTS - 1)
        position = np.arange(bins)[:, None] * (steps / max(bins - 1, 1))
        coded = np.clip(position - np.arange(steps), 0.0, 1.0) / math.sqrt(max(steps, 1))
    else:
        coded = np.delete(np.eye(bins), at, axis=1)
    return np.asarray(coded - coded[at])


@lru_cache(maxsize=8)
def coding(space: Space) -> Coding:
    """Encoding of a space."""
    return Coding(space)


class DrawnEffects(NamedTuple):
    """Effects drawn from the posterior."""

    effects: Floats
    """Effects by bin; see `Coding.effects`."""
    pull: Floats
    """Addition to the cost of a configuration that is fully similar to each row."""
    costs: Floats
    """Cost of each row, including its own deviation."""


@dataclass(frozen=True)
class Effects(Posterior):
    """A fitted model of main effects and deviations."""

    coding: Coding
    design: Floats
    gram: Floats
    """Inner products of the design's rows."""
    rows: Rows
    prior: float
    """Variance of the effects over a parameter's range."""
    deviation: float
    """Variance of a configuration's deviation."""
    likeness: Likeness
    spread: float = 1.0
    """Factor of the posterior's standard deviations in a draw."""

    @property
    def noise_of(self) -> Mapping[str, float]:  # type: ignore[override]
        """Variance of a run by instance, relative to the average."""
        return self.rows.noise_of

    def draws(self, count: int, rng: Random) -> list[Draw]:
        """Effects and deviations drawn from the posterior."""
        return [
            Draw(self.score(one), self._best(one), self.guess(one.effects))
            for one in self.drawn(count, rng)
        ]

    def _best(self, drawn: DrawnEffects) -> list[Config]:
        """The rows' configurations, the best first."""
        return [self.rows.configs[i] for i in drawn.costs.argsort(kind="stable")]

    @property
    def mean(self) -> Floats:
        """Most likely effects; see `Coding.effects`."""
        weights = np.linalg.solve(self._covariance, self.rows.means)
        return self._rounded_effects(self.prior * (self.design.T @ weights))

    @property
    def _deviations(self) -> Floats:
        """Covariance of the rows' deviations."""
        return self.deviation * self.likeness.matrix

    @property
    def _covariance(self) -> Floats:
        """Covariance of the rows' means."""
        noise = np.diag(self.rows.noise / self.rows.worth)
        return self.prior * self.gram + self._deviations + noise

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows' means."""
        return _log_likelihood(self._covariance, self.rows.means)

    @on_one_thread
    def drawn(self, count: int, rng: Random) -> list[DrawnEffects]:
        """Draw from the posterior, with standard deviations multiplied by `spread`."""
        # Draw coefficients, deviations and noise from the prior. They imply costs of the rows, and
        # `rest` is what the observed costs differ by. Adding the expectation given that rest turns
        # the draw from the prior into one from the posterior, without a decomposition of the
        # posterior's covariance.
        rows, width = self.design.shape
        disturbed = np.array([normals(width + 2 * rows, rng) for _ in range(count)]).T
        disturbed *= self.spread
        coefficients = math.sqrt(self.prior) * disturbed[:width]
        shared = self._deviations
        root = np.linalg.cholesky(shared)
        deviations = root @ disturbed[width : width + rows]
        noise = np.sqrt(self.rows.noise / self.rows.worth)[:, None] * disturbed[width + rows :]
        rest = self.rows.means[:, None] - self.design @ coefficients - deviations - noise
        weights = np.linalg.solve(self._covariance, rest)
        coefficients += self.prior * (self.design.T @ weights)
        # The drawn deviations of the rows are d = root z + shared weights. A configuration without
        # runs has the deviation k' shared^-1 d in expectation, where k is its covariance with the
        # rows. With shared = root root', shared^-1 d is root'^-1 z + weights; `Likeness.to` gives k
        # / deviation.
        expected = np.linalg.solve(root.T, disturbed[width : width + rows])
        pull = self.deviation * (expected + weights)
        costs = self.design @ coefficients + deviations + shared @ weights
        return [
            DrawnEffects(self._rounded_effects(c), p, np.round(k, _DIGITS))
            for c, p, k in zip(coefficients.T, pull.T, costs.T, strict=True)
        ]

    def guess(self, effects: Floats) -> Guess:
        """Cost of a value by these effects, relative to the default's."""
        values, starts = effects.tolist(), self.coding.starts.tolist()
        levels = self.coding.levels.tolist()

        def cost(position: int, index: int) -> float:
            return float(values[starts[position] + _bin(index, levels[position])])

        return cost

    def score(self, draw: DrawnEffects) -> Score:
        """Cost of configurations by a draw, including similarity to those that were run."""

        @on_one_thread
        def costs(configs: Sequence[Config]) -> list[float]:
            bins = self.coding.bins(configs)
            where = np.where(bins >= 0, self.coding.starts + bins, len(draw.effects) - 1)
            own = self.likeness.to(bins) @ draw.pull
            found: list[float] = np.round(draw.effects[where].sum(axis=1) + own, _DIGITS).tolist()
            return found

        return costs

    def _rounded_effects(self, coefficients: Floats) -> Floats:
        return np.asarray(np.round(self.coding.effects(coefficients), _DIGITS), np.float64)


@on_one_thread
def fitted(data: Dataset, spread: float = 1.0) -> Effects:
    """Fit the model to all runs."""
    code = coding(data.space)
    rows = gathered(data, code)
    bins = code.bins(rows.configs)
    design = code.rows(bins)
    # Similarity weighs each parameter by its effect, so it takes a fit without similarity first
    # (`alone`). That fit remains a candidate, and as the first it is taken where all are equally
    # likely.
    scale = float(np.var(rows.means)) or 1.0
    choices = [(scale * p, scale * d) for p in _PRIORS for d in _DEVIATIONS]
    prior, deviation = _likeliest(choices, _log_likelihoods(design, rows, choices))
    gram = design @ design.T
    alone = Effects(code, design, gram, rows, prior, deviation, unlike(len(rows.means)), spread)
    matter = [np.ptp(part) for part in np.split(alone.mean[:-1], code.starts[1:])]
    ordered = [parameter.ordered for parameter in data.space.listed]
    reaches = likenesses(bins, code.sizes, ordered, matter)
    models = [replace(alone, deviation=scale * d, likeness=r) for r in reaches for d in _DEVIATIONS]
    return _likeliest([alone, *models], [model.log_likelihood for model in (alone, *models)])


def gathered(runs: Dataset, code: Coding) -> Rows:
    """One row per configuration, with capped runs completed."""
    if not runs.censored.any():
        return runs.rows()
    return runs.completed(lambda rows: _expected(rows, code.rows(code.bins(rows.configs))))


def _expected(rows: Rows, design: Floats) -> Floats:
    """Levels of the rows by main effects and their own runs, under usual variances."""
    scale = float(np.var(rows.means)) or 1.0
    prior = scale * (_USUAL_PRIOR * (design @ design.T) + _USUAL_DEVIATION * np.eye(len(design)))
    covariance = prior + np.diag(rows.noise / rows.worth)
    return np.asarray(prior @ np.linalg.solve(covariance, rows.means), np.float64)


def _likeliest(choices: Sequence[T], log_likelihoods: Sequence[float]) -> T:
    # Rounded, so that the last bits of a machine's arithmetic choose no model.
    return choices[int(np.argmax(np.round(log_likelihoods, _DIGITS)))]


def _log_likelihoods(
    design: Floats, rows: Rows, choices: Sequence[tuple[float, float]]
) -> list[float]:
    """Log-likelihood of the rows' means for each choice of the two variances."""
    likely = _likely_by_row if len(design) <= design.shape[1] else _likely_by_column
    found: dict[tuple[float, float], float] = {}
    for deviation in dict.fromkeys(deviation for _, deviation in choices):
        variances = deviation + rows.noise / rows.worth
        priors = [p for p, d in choices if d == deviation]
        for prior, value in zip(priors, likely(design, rows.means, variances, priors), strict=True):
            found[prior, deviation] = value
    return [found[choice] for choice in choices]


def _likely_by_row(
    design: Floats, means: Floats, variances: Floats, priors: Sequence[float]
) -> Iterator[float]:
    gram = design @ design.T
    for prior in priors:
        yield _log_likelihood(prior * gram + np.diag(variances), means)


def _log_likelihood(covariance: Floats, means: Floats) -> float:
    root = np.linalg.cholesky(covariance)
    scaled = np.linalg.solve(root, means)
    return float(-0.5 * (scaled @ scaled) - np.log(np.diag(root)).sum())


def _likely_by_column(
    design: Floats, means: Floats, variances: Floats, priors: Sequence[float]
) -> Iterator[float]:
    """Log-likelihoods by the Woodbury and Sylvester identities, for more rows than columns."""
    # With D the diagonal of variances, X the design and p the prior: log det(D + p X X') is log det
    # D + log det(I + p X' D^-1 X), and m' (D + p X X')^-1 m is m' D^-1 m less the explained part.
    weighted = design.T / variances
    gram, right = weighted @ design, weighted @ means
    plain = float(means @ (means / variances) + np.log(variances).sum())
    for prior in priors:
        root = np.linalg.cholesky(np.eye(len(gram)) + prior * gram)
        scaled = np.linalg.solve(root, right)
        explained = prior * float(scaled @ scaled)
        yield -0.5 * (plain - explained) - float(np.log(np.diag(root)).sum())


def normals(count: int, rng: Random) -> Floats:
    """Independent standard normal numbers by the Box-Muller transformation."""
    uniform = np.array([rng.random() for _ in range(2 * ((count + 1) // 2))]).reshape(2, -1)
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform[0]))
    angle = 2.0 * math.pi * uniform[1]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]
