"""Importance of parameter pairs: functional analysis of variance of a random forest.

A tree is constant on boxes, so its marginal over all parameters but one or two is a finite sum. The
variance of that marginal is what the one or two parameters explain: alone, or beyond what each
explains alone. The forest is fitted to the levels of configurations from `regression`: adjusted for
instances, with capped runs replaced by working values, and weighted by how well each is known. An
inactive parameter counts as its default value.

The forest needs the extra `importance` (scikit-learn).

Source: Hutter, Hoos, Leyton-Brown, An efficient approach for assessing hyperparameter importance
(ICML 2014).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from paramhs.analysis.importance import main_effects
from paramhs.analysis.observations import EPSILON, Array
from paramhs.core.costs import CostMetric
from paramhs.core.runs import Run
from paramhs.core.space import INACTIVE, Config

_TREES = 32
_LEAVES = 256  # leaves of a tree
_LEAF_CONFIGS = 3  # configurations in a leaf
_MAX_PAIRED_PARAMETERS = 8  # parameters combined in pairs, the most important ones


@dataclass(frozen=True)
class Interaction:
    """Effect of one parameter, or of two beyond what each does alone."""

    names: tuple[str, ...]
    share: float
    """Share of the variance between uniformly drawn configurations; mean over trees."""
    low: float
    high: float
    """Bounds that contain nine tenths of the trees."""

    def __repr__(self) -> str:
        return f"{' x '.join(self.names)}  {self.share:.1%} ({self.low:.1%} to {self.high:.1%})"

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types."""
        return {**asdict(self), "names": list(self.names)}


def interactions(runs: Iterable[Run], metric: CostMetric) -> tuple[Interaction, ...] | None:
    """Rank single parameters and pairs, the most important first; None without scikit-learn."""
    try:
        from sklearn.ensemble import RandomForestRegressor
    except ImportError:
        return None
    fitted = main_effects(runs, metric)
    if fitted is None:
        return ()
    fit = fitted.fit
    names, codes, levels = _encoded([fitted.data.configs[k] for k in fit.configs])
    forest = RandomForestRegressor(
        _TREES,
        min_samples_leaf=_LEAF_CONFIGS,
        max_leaf_nodes=_LEAVES,
        max_features=0.7,
        random_state=0,
    )
    forest.fit(codes, fit.levels, fit.weights)
    boxes = [_boxes(tree.tree_, levels) for tree in forest.estimators_]
    return _decomposed([box for box in boxes if box.variance > EPSILON], names)


def _encoded(configs: Sequence[Config]) -> tuple[list[str], Array, Array]:
    """Varying parameters, their index in each configuration, and their numbers of values."""
    space = configs[0].space
    usual = np.array([p.default_index for p in space.listed])
    indices = np.array([config.indices for config in configs], np.int64)
    indices = np.where(indices == INACTIVE, usual, indices)
    varied = [k for k in range(len(usual)) if len(np.unique(indices[:, k])) > 1]
    levels = np.array([space.listed[k].levels for k in varied], np.float64)
    names = [name for k, name in enumerate(space.parameters) if k in set(varied)]
    return names, indices[:, varied].astype(np.float64), levels


class _Boxes(NamedTuple):
    """Leaves of a tree: boxes of indices with their predictions."""

    low: Array
    """Smallest index of each parameter, one row per leaf."""
    part: Array
    """Share of each parameter's values in the box."""
    levels: Array
    predicted: Array

    @property
    def volume(self) -> Array:
        """Share of the space in each box."""
        result: Array = self.part.prod(axis=1)
        return result

    @property
    def mean(self) -> float:
        """Mean prediction over the whole space."""
        return float(self.volume @ self.predicted)

    @property
    def variance(self) -> float:
        """Variance of the prediction over the whole space."""
        return float(self.volume @ (self.predicted - self.mean) ** 2)

    def explained(self, *columns: int) -> float:
        """Variance of the marginal over all parameters but these one or two."""
        # A piece is a range of values not cut by any leaf, so the marginal is constant on it: the
        # sum over the leaves that cover the piece of their prediction times their volume in the
        # other parameters. The variance is the mean square over pieces, weighted by their widths;
        # for two parameters, over pairs.
        covers, widths = zip(*(self._pieces(column) for column in columns), strict=True)
        rest = self.volume / self.part[:, columns].prod(axis=1) * (self.predicted - self.mean)
        if len(columns) == 1:
            means = rest @ covers[0]
            return float(widths[0] @ means**2)
        means = (covers[0] * rest[:, None]).T @ covers[1]
        return float(widths[0] @ means**2 @ widths[1])

    def _pieces(self, column: int) -> tuple[Array, Array]:
        """Which leaves cover each piece of a parameter's values, and the share of each piece.

        The pieces are those into which the boundaries of all leaves cut the values.
        """
        levels = self.levels[column]
        low = self.low[:, column]
        after = low + self.part[:, column] * levels
        cuts = np.unique([*low, levels])
        covered = (low[:, None] <= cuts[:-1] + 0.5) & (cuts[:-1] + 0.5 < after[:, None])
        return covered.astype(np.float64), np.diff(cuts) / levels


def _boxes(tree: Any, levels: Array) -> _Boxes:
    """Leaves of a scikit-learn tree, whose left branch contains values up to the threshold."""
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
    found = [_summary((names[k],), alone[k] / whole) for k in range(len(names))]
    first = sorted(np.argsort(-(alone / whole).mean(axis=1))[:_MAX_PAIRED_PARAMETERS].tolist())
    for a, b in combinations(first, 2):
        both = np.array([box.explained(a, b) for box in boxes]) - alone[a] - alone[b]
        found.append(_summary((names[a], names[b]), np.maximum(both, 0.0) / whole))
    return tuple(sorted(found, key=lambda one: -one.share))


def _summary(names: tuple[str, ...], shares: Array) -> Interaction:
    low, high = np.quantile(shares, (0.05, 0.95))
    return Interaction(names, float(shares.mean()), float(low), float(high))
