"""Which parameters matter together: functional analysis of variance of a random forest.

A tree is constant on boxes, so its mean over all parameters but one or two is a finite sum, and the
variance of that mean is what these one or two explain: alone, or beyond what each does alone. The
forest is fitted to one number a configuration, from which instances have been taken out, as for
`importance`. Where a parameter is not active it is taken to have its default value.

The extra `importance` (scikit-learn) is needed for the forest.

Source: Hutter, Hoos, Leyton-Brown, An efficient approach for assessing hyperparameter importance
(ICML 2014).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from paramhs.results.importance import LEAST
from paramhs.results.observations import TINY, Array, Observed, observed
from paramhs.values.costs import CostMetric
from paramhs.values.runs import Run
from paramhs.values.space import INACTIVE, Space

_TREES = 32
_CONFIGS = 3_000  # of more, these many evenly from all are looked at
_LEAVES = 256  # of a tree
_SMALLEST = 3  # configurations in a leaf
_PAIRED = 8  # parameters of which all pairs are looked at, the most important


@dataclass(frozen=True)
class Interaction:
    """What one parameter does (or two do, beyond what each does alone)."""

    names: tuple[str, ...]
    share: float
    """Of the variance between configurations drawn uniformly; the mean over trees."""
    low: float
    high: float
    """Between these are nine tenths of the trees."""

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {**asdict(self), "names": list(self.names)}


def interactions(runs: Iterable[Run], metric: CostMetric) -> tuple[Interaction, ...] | None:
    """Single parameters and pairs, the most important first; None without scikit-learn."""
    try:
        from sklearn.ensemble import RandomForestRegressor
    except ImportError:
        return None
    seen = observed(runs, metric)
    if seen is None or len(seen.configs) < LEAST:
        return ()
    kept = np.unique(np.linspace(0, len(seen.configs) - 1, _CONFIGS).astype(int))
    names, codes, levels = _encoded(seen)
    forest = RandomForestRegressor(
        _TREES, min_samples_leaf=_SMALLEST, max_leaf_nodes=_LEAVES, max_features=0.7, random_state=0
    )
    forest.fit(codes[kept], seen.level[kept], seen.weights[kept])
    boxes = [_boxes(tree.tree_, levels) for tree in forest.estimators_]
    return _decomposed([box for box in boxes if box.variance > TINY], names)


def _encoded(seen: Observed) -> tuple[list[str], Array, Array]:
    """The parameters that vary, their indices in each configuration, and how many values each
    has."""
    space: Space = seen.configs[0].space
    usual = np.array([p.default_index for p in space.listed])
    indices = np.array([config.indices for config in seen.configs], np.int64)
    indices = np.where(indices == INACTIVE, usual, indices)
    varied = [k for k in range(len(usual)) if len(np.unique(indices[:, k])) > 1]
    levels = np.array([space.listed[k].levels for k in varied], np.float64)
    names = [name for k, name in enumerate(space.parameters) if k in set(varied)]
    return names, indices[:, varied].astype(np.float64), levels


class _Boxes(NamedTuple):
    """The leaves of a tree: boxes of indices, and what is predicted there."""

    low: Array
    """The least index of each parameter, one row a leaf."""
    part: Array
    """The share of each parameter's values."""
    levels: Array
    predicted: Array

    @property
    def volume(self) -> Array:
        """The share of the space."""
        result: Array = self.part.prod(axis=1)
        return result

    @property
    def mean(self) -> float:
        """Over the whole space."""
        return float(self.volume @ self.predicted)

    @property
    def variance(self) -> float:
        """Over the whole space."""
        return float(self.volume @ (self.predicted - self.mean) ** 2)

    def explained(self, *columns: int) -> float:
        """The variance of the mean over all parameters but these one or two."""
        covers, widths = zip(*(self._pieces(column) for column in columns), strict=True)
        rest = self.volume / self.part[:, columns].prod(axis=1) * (self.predicted - self.mean)
        if len(columns) == 1:
            means = rest @ covers[0]
            return float(widths[0] @ means**2)
        means = (covers[0] * rest[:, None]).T @ covers[1]
        return float(widths[0] @ means**2 @ widths[1])

    def _pieces(self, column: int) -> tuple[Array, Array]:
        """Which leaves cover which of the pieces that they cut a parameter's values into, and the
        share of values in each piece."""
        levels = self.levels[column]
        low = self.low[:, column]
        after = low + self.part[:, column] * levels
        cuts = np.unique([*low, levels])
        covered = (low[:, None] <= cuts[:-1] + 0.5) & (cuts[:-1] + 0.5 < after[:, None])
        return covered.astype(np.float64), np.diff(cuts) / levels


def _boxes(tree: Any, levels: Array) -> _Boxes:
    """The leaves of a tree of scikit-learn, which goes left up to a threshold."""
    low, high = np.zeros((tree.node_count, len(levels))), np.tile(levels, (tree.node_count, 1))
    leaves = []
    for node in range(tree.node_count):  # parents come before their children
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            leaves.append(node)
            continue
        column, cut = tree.feature[node], np.floor(tree.threshold[node]) + 1
        for child in (left, right):
            low[child], high[child] = low[node], high[node]
        high[left, column] = min(cut, high[node, column])
        low[right, column] = max(cut, low[node, column])
    part = (high[leaves] - low[leaves]) / levels
    return _Boxes(low[leaves], part, levels, tree.value[leaves, 0, 0])


def _decomposed(boxes: Sequence[_Boxes], names: Sequence[str]) -> tuple[Interaction, ...]:
    if not boxes:
        return ()
    alone = np.array([[box.explained(k) for box in boxes] for k in range(len(names))])
    whole = np.array([box.variance for box in boxes])
    found = [_told((names[k],), alone[k] / whole) for k in range(len(names))]
    first = sorted(np.argsort(-(alone / whole).mean(axis=1))[:_PAIRED].tolist())
    for a, b in combinations(first, 2):
        both = np.array([box.explained(a, b) for box in boxes]) - alone[a] - alone[b]
        found.append(_told((names[a], names[b]), np.maximum(both, 0.0) / whole))
    return tuple(sorted(found, key=lambda one: -one.share))


def _told(names: tuple[str, ...], shares: Array) -> Interaction:
    low, high = np.quantile(shares, (0.05, 0.95))
    return Interaction(names, float(shares.mean()), float(low), float(high))
