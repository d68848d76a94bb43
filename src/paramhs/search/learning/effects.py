"""A model of main effects over all runs of a history, and of what neighbours have in common.

    transformed cost = effect of the instance + sum over parameters of an effect of their value
                       + a deviation of the configuration + noise

Without the instances' effects (`learning.rows`) a configuration is one row: the mean of what is
left, whose noise is sigma^2 / worth, where `worth` is how many runs of average noise it was made
of. The effects are a ridge regression with a common prior variance for the range of each parameter.
A categorical value has a coefficient of its own; an ordered parameter is a random walk over a few
knots with lines between them. The default's effects are zero, and so are those of parameters that
are switched off. Deviations are what parameters do together: neighbours share most of theirs
(`learning.likeness`). All variances, and how far likeness reaches, are those, of a few, under which
the data are likeliest.

`drawn` gives coefficients from the posterior: the exact ones of a regression whose data and prior
mean were disturbed by as much as they are uncertain (Papandreou, Yuille, NIPS 2010). Of a
configuration that was not run, the deviation is what the drawn ones of the rows let expect, and no
more than that is drawn.

Arithmetic of matrices may differ in its last bits from one machine to another. So effects are
rounded before anybody decides by them; where a difference survives even that, a replay asks for
another run than the store has, and stops there.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from paramhs.search.history import History
from paramhs.search.learning.likeness import Likeness, likenesses, unlike
from paramhs.search.learning.rows import Floats, Ints, Rows, gathered
from paramhs.values.space import Config, Space

T = TypeVar("T")
_KNOTS = 5  # of an ordered parameter, ends included
_BINS = 257  # levels that are told apart; a finer range is cut into so many
_PRIORS = tuple(4.0**k for k in range(-6, 2))  # variances of a range, in units of the rows' own
_DEVIATIONS = (0.03, 0.1, 0.4, 0.8)  # shares of the rows' variance that are deviations
_LEVEL = 3.0  # how much wider than a parameter's range the prior of the level is
_DIGITS = 6  # to which effects are rounded


class Coding:
    """How configurations become rows of numbers."""

    def __init__(self, space: Space) -> None:
        self.tables = [_table(p.levels, p.default_index, p.ordered) for p in space.listed]
        self.levels = np.array([p.levels for p in space.listed], dtype=np.int64)
        self.sizes = [len(table) for table in self.tables]
        self.starts = np.cumsum([0, *self.sizes])[:-1]  # of each parameter's bins, all in a row
        self.columns = np.cumsum([0, *(table.shape[1] for table in self.tables)])

    def bins(self, configs: Sequence[Config]) -> Ints:
        """One number for each parameter of each configuration; negative where it is inactive."""
        indices = np.array([config.indices for config in configs], dtype=np.int64)
        cut = indices * (_BINS - 1) // np.maximum(self.levels - 1, 1)
        return np.where((self.levels > _BINS) & (indices >= 0), cut, indices)

    def rows(self, bins: Ints) -> Floats:
        """The design matrix; its last column is for the level of all costs."""
        rows = np.zeros((len(bins), self.columns[-1] + 1))
        rows[:, -1] = _LEVEL
        for i, table in enumerate(self.tables):
            active = bins[:, i] >= 0
            rows[active, self.columns[i] : self.columns[i + 1]] = table[bins[active, i]]
        return rows

    def effects(self, coefficients: Floats) -> Floats:
        """The effect of every bin of every parameter, one after the other, and 0 for inactive."""
        parts = [
            table @ coefficients[self.columns[i] : self.columns[i + 1]]
            for i, table in enumerate(self.tables)
        ]
        return np.concatenate([*parts, np.zeros(1)])


def _bin(index: int, levels: int) -> int:
    return index if levels <= _BINS else index * (_BINS - 1) // (levels - 1)


@lru_cache(maxsize=4096)
def _table(levels: int, default: int, ordered: bool) -> Floats:
    """The coding of each bin of a parameter; the default's is zero."""
    bins = min(levels, _BINS)
    at = _bin(default, levels)
    if ordered:
        steps = min(bins - 1, _KNOTS - 1)
        position = np.arange(bins)[:, None] * (steps / max(bins - 1, 1))
        coded = np.clip(position - np.arange(steps), 0.0, 1.0) / math.sqrt(max(steps, 1))
    else:
        coded = np.delete(np.eye(bins), at, axis=1)
    return np.asarray(coded - coded[at])


@lru_cache(maxsize=8)
def coding(space: Space) -> Coding:
    """The coding of a space."""
    return Coding(space)


class Draw(NamedTuple):
    """What could be true, by all that is known."""

    effects: Floats
    """See `Coding.effects`."""
    pull: Floats
    """What a likeness of one to each row adds to the cost of a configuration."""
    costs: Floats
    """Of each row, its own deviation included."""


@dataclass(frozen=True)
class Effects:
    """A fitted model."""

    coding: Coding
    design: Floats
    gram: Floats
    """The products of the design's rows."""
    rows: Rows
    prior: float
    """The variance of the effects over a parameter's range."""
    deviation: float
    """The variance of what a configuration has beside these."""
    likeness: Likeness

    @property
    def mean(self) -> Floats:
        """The effects that are likeliest, see `Coding.effects`."""
        weights = np.linalg.solve(self._covariance, self.rows.means)
        return self._rounded_effects(self.prior * (self.design.T @ weights))

    @property
    def _deviations(self) -> Floats:
        """The covariance of the rows' deviations."""
        return self.deviation * self.likeness.matrix

    @property
    def _covariance(self) -> Floats:
        """That of the rows' means."""
        noise = np.diag(self.rows.noise / self.rows.worth)
        return self.prior * self.gram + self._deviations + noise

    @property
    def log_likelihood(self) -> float:
        """Of the rows' means."""
        return _log_likelihood(self._covariance, self.rows.means)

    def drawn(self, count: int, rng: Random, spread: float) -> list[Draw]:
        """Draws from the posterior; standard deviations are multiplied by `spread`."""
        rows, width = self.design.shape
        disturbed = np.array([normals(width + 2 * rows, rng) for _ in range(count)]).T * spread
        coefficients = math.sqrt(self.prior) * disturbed[:width]
        shared = self._deviations
        root = np.linalg.cholesky(shared)
        deviations = root @ disturbed[width : width + rows]
        noise = np.sqrt(self.rows.noise / self.rows.worth)[:, None] * disturbed[width + rows :]
        rest = self.rows.means[:, None] - self.design @ coefficients - deviations - noise
        weights = np.linalg.solve(self._covariance, rest)
        coefficients += self.prior * (self.design.T @ weights)
        expected = np.linalg.solve(root.T, disturbed[width : width + rows])
        pull = self.deviation * (expected + weights)
        costs = self.design @ coefficients + deviations + shared @ weights
        return [
            Draw(self._rounded_effects(c), p, np.round(k, _DIGITS))
            for c, p, k in zip(coefficients.T, pull.T, costs.T, strict=True)
        ]

    def guess(self, effects: Floats) -> Callable[[int, int], float]:
        """What a value costs by these effects, beside the default's."""
        values, starts = effects.tolist(), self.coding.starts.tolist()
        levels = self.coding.levels.tolist()

        def cost(position: int, index: int) -> float:
            return float(values[starts[position] + _bin(index, levels[position])])

        return cost

    def score(self, draw: Draw) -> Callable[[Sequence[Config]], list[float]]:
        """What configurations cost by a draw, likeness to those that were run included."""

        def costs(configs: Sequence[Config]) -> list[float]:
            bins = self.coding.bins(configs)
            where = np.where(bins >= 0, self.coding.starts + bins, len(draw.effects) - 1)
            own = self.likeness.to(bins) @ draw.pull
            found: list[float] = np.round(draw.effects[where].sum(axis=1) + own, _DIGITS).tolist()
            return found

        return costs

    def _rounded_effects(self, coefficients: Floats) -> Floats:
        return np.asarray(np.round(self.coding.effects(coefficients), _DIGITS), np.float64)


def fitted(history: History) -> Effects | None:
    """The model of all runs; None where they say nothing yet."""
    rows = gathered(history)
    if rows is None:
        return None
    code = coding(history.scenario.space)
    bins = code.bins(rows.configs)
    design = code.rows(bins)
    scale = float(np.var(rows.means)) or 1.0
    choices = [(scale * p, scale * d) for p in _PRIORS for d in _DEVIATIONS]
    prior, deviation = _likeliest(choices, _log_likelihoods(design, rows, choices))
    gram = design @ design.T
    alone = Effects(code, design, gram, rows, prior, deviation, unlike(len(rows.means)))
    matter = [np.ptp(part) for part in np.split(alone.mean[:-1], code.starts[1:])]
    ordered = [parameter.ordered for parameter in history.scenario.space.listed]
    reaches = likenesses(bins, code.sizes, ordered, matter)
    models = [replace(alone, deviation=scale * d, likeness=r) for r in reaches for d in _DEVIATIONS]
    return _likeliest([alone, *models], [model.log_likelihood for model in (alone, *models)])


def _likeliest(choices: Sequence[T], log_likelihoods: Sequence[float]) -> T:
    return choices[int(np.argmax(np.round(log_likelihoods, _DIGITS)))]


def _log_likelihoods(
    design: Floats, rows: Rows, choices: Sequence[tuple[float, float]]
) -> list[float]:
    """Of the rows' means, for each choice of the prior's and the deviations' variance."""
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
    """The same by the identities of Woodbury and Sylvester, where there are more rows."""
    weighted = design.T / variances
    gram, right = weighted @ design, weighted @ means
    plain = float(means @ (means / variances) + np.log(variances).sum())
    for prior in priors:
        root = np.linalg.cholesky(np.eye(len(gram)) + prior * gram)
        scaled = np.linalg.solve(root, right)
        explained = prior * float(scaled @ scaled)
        yield -0.5 * (plain - explained) - float(np.log(np.diag(root)).sum())


def normals(count: int, rng: Random) -> Floats:
    """Independent standard normal numbers, by the transformation of Box and Muller."""
    uniform = np.array([rng.random() for _ in range(2 * ((count + 1) // 2))]).reshape(2, -1)
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform[0]))
    angle = 2.0 * math.pi * uniform[1]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]
