"""Exact mean calls of the harmonic step on a table of one parameter, for millions of values.

With W(x) all weights from x, each value's mean number of calls needs only those of better values:

    E(x) A(x) = W(x) + sum over better y of E(y) / |x - y|,   A(x) = sum of their 1 / |x - y|

and values of equal cost, which are compared by a coin, count half on both sides. So one pass in the
order of costs gives all means, if sums over the values known so far are fast. They are computed
with a tree over the line: a node that is at least its own width away from x is represented by the
moments of its content (the multipole expansion of 1 / r; Greengard and Rokhlin, A Fast Algorithm
for Particle Simulations, 1987). As the ratio is at most 1/3 and no sign changes, 26 moments leave a
relative error below 1e-12. One value costs O(log m) in total. Equal costs form a symmetric system:
it is solved densely if small, else by conjugate gradients, where a product with 1 / |x - y| is a
convolution.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.sparse.linalg import LinearOperator, cg

from paramhs.core.errors import BadInput
from paramhs.theory.outcomes import COIN, Array, Indices

F = TypeVar("F", bound=Callable[..., Any])

_LEAF_VALUES = 16  # values in the smallest node
_MOMENTS = 26
_MAX_INLINE_VALUES = 32  # values of equal cost whose system is solved inside the compiled pass
_MAX_DENSE_VALUES = 4_000  # values of equal cost whose system is solved densely
_TOLERANCE = 1e-13
_MAX_SECONDS = 120.0  # estimated time for all systems of equal costs


def _compiled(function: F) -> F:
    return cast(F, numba.njit(cache=True, nogil=True)(function))


class _Tree(NamedTuple):
    """Moments of the known values: `[node, moment]` of unit weights, and of means.

    The children of node k are 2 k and 2 k + 1; the leaves come last.
    """

    depth: int
    weights: Array
    calls: Array
    known: NDArray[np.bool_]
    means: Array


def harmonic_line_calls(costs: Array) -> float:
    """Mean number of calls until a value of the best cost is sampled, from a uniform start.

    Comparisons are correct, and a fair coin decides ties.
    """
    levels = len(costs)
    order = np.argsort(costs, kind="stable")
    edges = np.flatnonzero(np.diff(costs[order])) + 1
    edges = np.concatenate([[0], edges, [levels]])
    _check_effort(np.diff(edges)[1:], levels)
    tree = _planted(levels)
    for x in order[: edges[1]]:
        _insert(x, 0.0, *tree)
    total = _total_weights(levels)
    large = np.flatnonzero(np.diff(edges) > _MAX_INLINE_VALUES)
    done = 1  # groups of equal cost; the optima are the first
    for group in large[large > 0]:
        _insert_few(order, edges[done : group + 1], total, *tree)
        _insert_equals(order[edges[group] : edges[group + 1]], total, tree)
        done = group + 1
    _insert_few(order, edges[done:], total, *tree)
    return float(tree.means.mean())


def _planted(levels: int) -> _Tree:
    depth = max(int(np.ceil(np.log2(levels / _LEAF_VALUES))), 0)
    shape = (2 << depth, _MOMENTS)
    known = np.zeros(levels, dtype=np.bool_)
    return _Tree(depth, np.zeros(shape), np.zeros(shape), known, np.zeros(levels))


def _total_weights(levels: int) -> Array:
    """W: the sum of a harmonic number for each side."""
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, levels))])
    return np.asarray(harmonic + harmonic[::-1])


def _check_effort(groups: Indices, levels: int) -> None:
    dense = groups[groups <= _MAX_DENSE_VALUES].astype(np.float64)
    seconds = (dense**3).sum() * 4e-11 + (groups > _MAX_DENSE_VALUES).sum() * levels * 5e-6
    if seconds > _MAX_SECONDS:
        raise BadInput(
            f"there are too many ties: {len(groups):,} different costs of up to {groups.max():,}"
            " values each would take minutes to weigh exactly"
        )


def _insert_equals(group: Indices, total: Array, tree: _Tree) -> None:
    away, gained = _sums(group, *tree)
    right = total[group] + gained
    if len(group) <= _MAX_DENSE_VALUES:
        means = np.linalg.solve(_equals(group, away), right)
    else:
        means = _iterated(group, away, right)
    for x, mean in zip(group, means, strict=True):
        _insert(x, mean, *tree)


def _iterated(group: Indices, away: Array, right: Array) -> Array:
    """Solve a group of equal costs by conjugate gradients, with the diagonal as preconditioner.

    The one small eigenvalue, that of the plateau as a whole, costs one more iteration; all others
    are within a factor of log m.
    """
    offsets = group - group.min()
    span = int(offsets.max()) + 1
    size = next_fast_len(2 * span, real=True)
    with np.errstate(divide="ignore"):
        kernel = COIN / np.minimum(np.arange(size), size - np.arange(size))
    kernel[0] = 0.0
    transformed = rfft(kernel)

    def spread(values: Array) -> Array:
        line = np.zeros(span)
        line[offsets] = values
        return np.asarray(irfft(rfft(line, size) * transformed, size)[offsets])

    diagonal = away + spread(np.ones(len(group)))
    shape = (len(group), len(group))
    system = LinearOperator(shape, matvec=lambda v: diagonal * v - spread(v))
    inverse = LinearOperator(shape, matvec=lambda v: v / diagonal)
    means, failed = cg(system, right, rtol=_TOLERANCE, M=inverse, maxiter=2_000)
    if failed:
        raise ArithmeticError("the mean calls of equal costs did not converge")
    return np.asarray(means)


@_compiled
def _insert(
    x: int,
    mean: float,
    depth: int,
    weights: Array,
    calls: Array,
    known: NDArray[np.bool_],
    means: Array,
) -> None:
    """Add a value to all nodes that contain it."""
    known[x] = True
    means[x] = mean
    node, width = (1 << depth) + x // _LEAF_VALUES, _LEAF_VALUES
    while node > 0:
        half = width / 2
        first = (node - (1 << depth)) * width
        away = (x - first - (half - 0.5)) / half
        power = 1.0
        for k in range(_MOMENTS):
            weights[node, k] += power
            calls[node, k] += mean * power
            power *= away
        node //= 2
        width *= 2
        depth -= 1


@_compiled
def _sum(
    x: int,
    depth: int,
    weights: Array,
    calls: Array,
    known: NDArray[np.bool_],
    means: Array,
) -> tuple[float, float]:
    """Sum 1 / distance and mean / distance over all known values."""
    # The three leaves around x are summed directly. On each higher level the tree adds the nodes
    # that are not neighbours of x's node but whose parents are: they are at least their own width
    # away, so the expansion converges with ratio at most 1/3, and together they cover the rest of
    # the line once.
    leaf = x // _LEAF_VALUES
    away = gained = 0.0
    for y in range(max((leaf - 1) * _LEAF_VALUES, 0), min((leaf + 2) * _LEAF_VALUES, len(known))):
        if known[y] and y != x:
            share = 1 / abs(x - y)
            away += share
            gained += share * means[y]
    number, width = leaf, _LEAF_VALUES
    for level in range(depth, 1, -1):
        half = width / 2
        parent = number // 2
        for other in range(max(2 * parent - 2, 0), min(2 * parent + 4, 1 << level)):
            node = (1 << level) + other
            if abs(other - number) < 2 or weights[node, 0] == 0:
                continue
            apart = other * width + (half - 0.5) - x
            ratio = -half / apart
            one = mean = 0.0
            for k in range(_MOMENTS - 1, -1, -1):
                one = one * ratio + weights[node, k]
                mean = mean * ratio + calls[node, k]
            away += one / abs(apart)
            gained += mean / abs(apart)
        number = parent
        width *= 2
    return away, gained


@_compiled
def _sums(
    group: Indices,
    depth: int,
    weights: Array,
    calls: Array,
    known: NDArray[np.bool_],
    means: Array,
) -> tuple[Array, Array]:
    """Vectorised version of `_sum`."""
    away, gained = np.empty(len(group)), np.empty(len(group))
    for i in range(len(group)):
        away[i], gained[i] = _sum(group[i], depth, weights, calls, known, means)
    return away, gained


@_compiled
def _insert_few(
    order: Indices,
    edges: Indices,
    total: Array,
    depth: int,
    weights: Array,
    calls: Array,
    known: NDArray[np.bool_],
    means: Array,
) -> None:
    """Insert small groups of equal costs, best first, between these positions of the order."""
    for k in range(len(edges) - 1):
        group = order[edges[k] : edges[k + 1]]
        away, gained = _sums(group, depth, weights, calls, known, means)
        right = total[group] + gained
        found = right / away if len(group) == 1 else np.linalg.solve(_equals(group, away), right)
        for i in range(len(group)):
            _insert(group[i], found[i], depth, weights, calls, known, means)


@_compiled
def _equals(group: Indices, away: Array) -> Array:
    """System of a group of equal costs; its diagonal holds A and the coin's share."""
    system = np.zeros((len(group), len(group)))
    for i in range(len(group)):
        system[i, i] += away[i]
        for j in range(i):
            share = COIN / abs(group[i] - group[j])
            system[i, j] -= share
            system[j, i] -= share
            system[i, i] += share
            system[j, j] += share
    return system
