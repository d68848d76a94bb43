"""Expected calls where comparisons go by a table of costs: large grids, and getting stuck.

A call takes the search from x to y if y is proposed and wins; an optimum that is proposed ends it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import splu

from paramhs.search.operators import Step

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]


def wins(costs: Floats, incumbent: Floats | float) -> Floats:
    """The probability that each wins: 1 or 0 by cost, and a fair coin where costs are equal."""
    return np.asarray((costs < incumbent) + 0.5 * (costs == incumbent), dtype=np.float64)


def proposals(step: Step, levels: int) -> Floats:
    """The law of a step from each index, as rows."""
    weights = _weights(step, levels)
    rows = weights[np.abs(np.subtract.outer(np.arange(levels), np.arange(levels)))]
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def grid_chain(costs: Floats, step: Step) -> Any:
    """The sparse matrix of one-parameter moves that win; an axis of `costs` is a parameter.

    The parameter is uniform among those with at least two values. Rows are configurations in the
    order of `costs.ravel()`; what is missing from a row's sum stays where it is.
    """
    movable = [axis for axis, levels in enumerate(costs.shape) if levels > 1]
    parts = [part for axis in movable for part in _axis_moves(costs, axis, step)]
    origins, targets, chances = (np.concatenate(column) for column in zip(*parts, strict=True))
    shape = (costs.size, costs.size)
    return csr_array(coo_array((chances / len(movable), (origins, targets)), shape=shape))


def _axis_moves(costs: Floats, axis: int, step: Step) -> Iterator[tuple[Places, Places, Floats]]:
    levels = costs.shape[axis]
    weights = _weights(step, levels)
    cost = np.moveaxis(costs, axis, 0).reshape(levels, -1)
    places = np.moveaxis(np.arange(costs.size).reshape(costs.shape), axis, 0).reshape(levels, -1)
    for here in range(levels):
        reach = np.array([to for to in step.reach(levels, here) if to != here])
        law = weights[np.abs(reach - here)]
        chances = wins(cost[reach], cost[here]) * (law / law.sum())[:, None]
        to, line = np.nonzero(chances)
        yield places[here][line], places[reach[to], line], chances[to, line]


def _weights(step: Step, levels: int) -> Floats:
    return np.array([0.0, *(float(step.weight(d)) for d in range(1, levels))])


def calls_from(chain: Any, optimal: Bools, order: Places | None = None) -> Floats:
    """The mean number of calls from each state until an optimum is proposed; infinite if it may
    get stuck.

    With C the chain and D its row sums, (D - C) E = 1: what stays put cancels, so nothing small is
    subtracted from 1. In the `order` of costs the system is triangular but for ties, and
    elimination in that order fills in nothing else.
    """
    finite = ~_may_reach(chain, ~_may_reach(chain, optimal)) & ~optimal
    calls = np.where(optimal, 0.0, np.inf)
    ordered = np.arange(len(optimal)) if order is None else order
    states = ordered[finite[ordered]]
    if len(states):
        rows = chain[states]
        system = diags_array(rows.sum(axis=1)) - rows[:, states]
        factors = splu(system.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0)
        calls[states] = factors.solve(np.ones(len(states)))
    return calls


def _may_reach(chain: Any, goals: Bools) -> Bools:
    """From which states some path leads into the goals (which are among them)."""
    count = len(goals)
    edges = coo_array(chain)
    inside = np.flatnonzero(goals)
    origins = np.concatenate([edges.col, np.full(len(inside), count)])
    targets = np.concatenate([edges.row, inside])
    graph = coo_array((np.ones(len(origins)), (origins, targets)), shape=(count + 1, count + 1))
    found = breadth_first_order(csr_array(graph), count, return_predecessors=False)
    reached = np.zeros(count + 1, dtype=np.bool_)
    reached[found] = True
    return reached[:count]
