"""Parameters as factors of a regression: values, or bins of values, with enough support.

An effect of a value that fewer than `MIN_SUPPORT` configurations have cannot be separated from
those configurations: a single outlier would become its effect. Rare values of an ordered parameter
are merged with their neighbours, rare values of a list with each other; a bin that is still rare
has no effect of its own.

An ordered parameter has a slope beside the effects of its bins. Bins end where the configurations
end; the slope extends over the whole range even if the search explored only part of it.

If a search varied more than `MAX_PARAMETERS` parameters, those with the largest differences between
values are kept. Fitting the others would need memory and time quadratic in their number and tell
nothing, because there are fewer configurations than parameters.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from paramhs.analysis.observations import EPSILON, Array, Observations
from paramhs.core.space import INACTIVE, Parameter, Space, Value, value_text

MIN_SUPPORT = 3
"""Observed configurations a value needs for an effect of its own."""
MAX_PARAMETERS = 150
"""Largest number of parameters fitted at once."""
_MAX_COLUMNS = 600  # effects fitted at once; with more, bins become wider
_MAX_BINS = 10
_SWEEPS = 10
# Prior variances of a slope and of bins, relative to those of a list.
_SLOPE_VARIANCE, _BIN_VARIANCE = 12.0, 0.05
_GRID = 100  # steps at which a long range is looked at


class Bin(NamedTuple):
    """A value, or several neighbouring ones."""

    low: Value
    high: Value
    label: str


class Group(NamedTuple):
    """Neighbouring columns of a design that share a prior variance."""

    size: int
    first: float = 1.0
    """Initial variance of the fit, relative to the other groups."""


class Factor(NamedTuple):
    """A parameter in the form that the model uses."""

    name: str
    codes: Array
    """Bin of each configuration, -1 where the parameter is inactive."""
    bins: list[Bin]
    weights: Array
    """Share of the parameter's values in each bin."""
    support: Array
    """Number of observed configurations in each bin."""
    places: Array
    """Position of each configuration's value in an ordered range, from 0 to 1; empty without order.
    """
    middles: Array
    """Position of the middle of each bin in the same range."""
    grid: Array
    """Positions spread evenly over the whole range."""

    @property
    def groups(self) -> list[Group]:
        """Columns that share a prior variance: the bins, the rare values, and the slope.

        The bin of rare values comes last in a list. Of an ordered parameter, a straight line is
        preferred to bins by its larger initial variance.
        """
        count = len(self.bins)
        if len(self.places):
            return [Group(count, _BIN_VARIANCE), Group(1, _SLOPE_VARIANCE)]
        return [Group(count)] if self.supported[-1] else [Group(count - 1), Group(1)]

    @property
    def columns(self) -> Array:
        """Design matrix with a row for each configuration, zero where the parameter is inactive.

        There is a column for each bin and, for an ordered parameter, one for the slope within and
        across bins.
        """
        return self._design(self.codes, self.places)

    @property
    def bin_effects(self) -> Array:
        """Matrix that maps coefficients of the columns to effects of the bins."""
        return self._design(np.arange(len(self.bins)), self.middles)

    @property
    def range_effects(self) -> Array:
        """Matrix that maps coefficients to effects over the whole range, evenly spread.

        Between two bins the nearer one counts.
        """
        if not len(self.places):
            return self.bin_effects
        nearest = np.abs(self.grid[:, None] - self.middles[None, :]).argmin(axis=1)
        effects: Array = self._design(nearest, self.grid)[self.supported[nearest]]
        return effects

    @property
    def range_weights(self) -> Array:
        """Share of the parameter's values represented by each row of `range_effects`."""
        if len(self.places):
            count = len(self.range_effects)
            return np.full(count, 1 / max(count, 1))
        weights = np.where(self.supported, self.weights, 0.0)
        result: Array = weights / max(float(weights.sum()), EPSILON)
        return result

    def _design(self, codes: Array, places: Array) -> Array:
        x = np.zeros((len(codes), len(self.bins) + (len(self.places) > 0)))
        active = codes >= 0
        x[np.flatnonzero(active), codes[active]] = 1
        if len(self.places):
            x[active, -1] = places[active]
        return x

    @property
    def supported(self) -> Array:
        """Whether each bin has enough configurations for an effect of its own."""
        result: Array = self.support >= MIN_SUPPORT
        return result


def factors(data: Observations) -> list[Factor]:
    """Parameters with at least two supported bins; the most influential if there are too many."""
    space = data.configs[0].space
    indices = np.array([config.indices for config in data.configs], np.int64)
    seen = np.zeros(len(indices), np.bool_)
    seen[data.config] = True
    found = [factor for factor in _factors(space, indices, seen) if factor.supported.sum() > 1]
    return found if len(found) <= MAX_PARAMETERS else _most_telling(found, data)


def _most_telling(found: Sequence[Factor], data: Observations) -> list[Factor]:
    """Parameters with the largest differences between values, each considered alone.

    Computed on ranks, so that no outlier favours its own values; lower bounds count as values here.
    """
    seen, levels = _levels(data)
    ranks = np.argsort(np.argsort(levels, kind="stable"), kind="stable").astype(np.float64)
    scores = [_score(factor.codes[seen], ranks) for factor in found]
    best = np.argsort(-np.array(scores), kind="stable")[:MAX_PARAMETERS]
    return [found[k] for k in sorted(best.tolist())]


def _levels(data: Observations) -> tuple[Array, Array]:
    """Observed configurations, and their mean values adjusted for their instances."""
    seen, owner = np.unique(data.config, return_inverse=True)
    count, on = np.bincount(owner), np.bincount(data.instance)
    levels = np.zeros(len(seen))
    for _ in range(_SWEEPS):
        hard = np.bincount(data.instance, data.value - levels[owner]) / on
        levels = np.bincount(owner, data.value - hard[data.instance]) / count
    return seen, levels


def _score(codes: Array, ranks: Array) -> float:
    """Variance between bins divided by the variance within, as in an analysis of variance."""
    active = codes >= 0
    codes, ranks = codes[active], ranks[active] - ranks[active].mean()
    count = np.bincount(codes)
    between = float((np.bincount(codes, ranks) ** 2 / np.maximum(count, 1)).sum())
    bins = int((count > 0).sum())
    within = max(float(ranks @ ranks) - between, EPSILON) / max(len(ranks) - bins, 1)
    return between / max(bins - 1, 1) / within


def _factors(space: Space, indices: Array, seen: Array) -> Iterator[Factor]:
    names = list(space.parameters)
    varied = [k for k, column in enumerate(indices.T) if len(np.unique(column)) > 1]
    fitted = min(max(len(varied), 1), MAX_PARAMETERS)
    most = max(3, min(_MAX_BINS, _MAX_COLUMNS // fitted))
    for position in varied:
        parameter = space.listed[position]
        yield _factor(names[position], parameter, indices[:, position], seen, most)


def _factor(name: str, parameter: Parameter, column: Array, seen: Array, most: int) -> Factor:
    groups = _binned(column, seen, parameter.ordered, most)
    codes = np.full(len(column), -1)
    for code, group in enumerate(groups):
        codes[np.isin(column, group)] = code
    weights = [float(g[-1] - g[0] + 1) if parameter.ordered else float(len(g)) for g in groups]
    support = np.bincount(codes[seen & (codes >= 0)], minlength=len(groups))
    top = max(parameter.levels - 1, 1) if parameter.ordered else 0
    middles = np.array([(g[0] + g[-1]) / 2 / top for g in groups]) if top else np.array([])
    return Factor(
        name,
        codes,
        [_bin(parameter, group) for group in groups],
        np.array(weights) / max(sum(weights), 1.0),
        support,
        column / top if top else np.array([]),
        middles,
        np.linspace(0, 1, min(top, _GRID) + 1) if top else np.array([]),
    )


def _binned(column: Array, seen: Array, ordered: bool, most: int) -> list[Array]:
    """Partition the occurring values: neighbours if ordered, else the rarest, share a bin."""
    active = column != INACTIVE
    values, counts = np.unique(column[active], return_counts=True)
    support = np.array([int((seen & (column == value)).sum()) for value in values])
    # Ordered values are binned at quantiles of the configurations, not of the range, because a
    # search concentrates on a part of the range. Of unordered values, the frequent ones keep their
    # own effect and all others share one. Values whose runs all failed have no support but stay
    # separate, to be reported.
    if ordered:
        if len(values) > most:
            part = ((np.cumsum(counts) - counts / 2) / counts.sum() * most).astype(int)
        else:
            part = np.arange(len(values))
        return _joined(values, support, part)
    by_count = np.argsort(-support, kind="stable")
    own = [k for k in by_count[: most - 1] if support[k] >= MIN_SUPPORT or support[k] == 0]
    others = np.setdiff1d(by_count, own)
    if len(others) == 0:
        return [values[k : k + 1] for k in sorted(own)]
    return [*(values[k : k + 1] for k in own), values[others]]


def _joined(values: Array, support: Array, part: Array) -> list[Array]:
    """Merge neighbouring parts until each has enough support; the last joins its predecessor.

    Values whose runs all failed remain separate, because they have no observations to merge.
    """
    groups: list[list[int]] = []
    enough = True
    for number in np.unique(part):
        members = np.flatnonzero(part == number).tolist()
        if enough:
            groups.append(members)
        else:
            groups[-1] += members
        enough = int(support[groups[-1]].sum()) >= MIN_SUPPORT
    if not enough and len(groups) > 1:
        last = groups.pop()
        groups[-1] += last
    return [values[group] for group in groups]


def _bin(parameter: Parameter, group: Array) -> Bin:
    low, high = parameter.value(int(group[0])), parameter.value(int(group[-1]))
    first, last = value_text(low), value_text(high)
    if len(group) == 1:
        return Bin(low, high, first)
    return Bin(low, high, f"{first} to {last}" if parameter.ordered else f"{len(group)} others")
