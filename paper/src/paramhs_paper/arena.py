"""The configurators on a grid of values as Markov chains.

A state is an incumbent that is not a target. `beats[x, y]` is the probability that y replaces x;
sampling a target ends the search, accepted or not.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_matrix

from paramhs.core.space import Integer, Space
from paramhs.search.operators import Operator, Step
from paramhs.theory.first_improvement import SCALE, quadrature
from paramhs.theory.hitting import Chain, Weighted
from paramhs.theory.outcomes import COIN, Array, Indices
from paramhs.theory.param_rls import grid_chain, param_rls_chain


@dataclass(frozen=True)
class Arena:
    """A grid of values, the outcomes of comparisons on it, and the targets."""

    shape: tuple[int, ...]
    beats: Array
    targets: Indices
    order: Indices | None = None
    """All indices, the best first, where a table decides."""

    @property
    def size(self) -> int:
        """Number of configurations."""
        return int(np.prod(self.shape))

    @property
    def others(self) -> Indices:
        """The states: all configurations except the targets."""
        every = np.arange(self.size) if self.order is None else self.order
        return every[~np.isin(every, self.targets)]

    def first(self, levels: int) -> "Arena":
        """The part with the first `levels` values of the first parameter."""
        shape = (levels, *self.shape[1:])
        size = int(np.prod(shape))
        order = None if self.order is None else self.order[self.order < size]
        targets = self.targets[self.targets < size]
        return Arena(shape, self.beats[:size, :size], targets, order)


def one_step(arena: Arena, step: Step) -> Chain:
    """Chain of ParamRLS where one parameter makes a step: every move is a call."""
    return grid_chain(arena.shape, step, lambda x, y: arena.beats[x, y], arena.targets, arena.order)


def own_chain(arena: Arena, operator: Operator, replacement: bool = True) -> Chain:
    """Chain of ParamRLS with any operator, by the operator's own exact law."""
    space = Space({f"x{k}": Integer(0, levels - 1) for k, levels in enumerate(arena.shape)})
    configs = sorted(space.configs(), key=lambda config: config.indices)
    beats = arena.beats.tolist()
    return param_rls_chain(
        space,
        operator,
        configs,
        lambda x, y: beats[x][y],
        set(arena.targets.tolist()),
        replacement=replacement,
    )


def _chain(arena: Arena, taken: Array, ended: Array) -> Chain:
    """Chain of dense moves and ends, given times the calls to the power 0, 1 and 2."""
    others = arena.others
    inside = [moments[np.ix_(others, others)] for moments in taken]
    once, twice = (Weighted(csr_matrix(inside[k]), ended[k][others]) for k in (1, 2))
    moves = inside[0] - np.diag(np.diag(inside[0]))
    start = np.full(len(others), 1 / arena.size)
    in_order = arena.order is not None
    return Chain(csr_matrix(moves), ended[0][others], start, (once, twice), in_order)


def descent(arena: Arena) -> Chain | None:
    """Chain of ParamILS's local search with an order by weight 1 / distance.

    Each move visits all neighbours in a fresh order, drawn without replacement. None if the search
    may end away from the targets: what follows then (kicks, restarts) is not part of this chain.

    Such an order is a race of exponential clocks, as in `theory.first_improvement`; a step is a
    walk. Given the time at which the winning clock rings, each other clock has rung (and lost) or
    not independently, which gives the moments of the number of calls.
    """
    taken = np.zeros((3, arena.size, arena.size))
    for x in arena.others:
        walk = _walk(arena, int(x))
        if walk is None:
            return None
        neighbours, moments = walk
        taken[:, x, neighbours] = moments
    return _chain(arena, taken, taken[:, :, arena.targets].sum(axis=2))


def _walk(arena: Arena, x: int) -> tuple[Indices, Array] | None:
    """Neighbours of x, and moments 0, 1, 2 of the calls of a walk that ends at each."""
    neighbours, weights = _neighbours(arena.shape, x)
    wins = np.where(np.isin(neighbours, arena.targets), 1.0, arena.beats[x, neighbours])
    rates = weights * (SCALE / weights.sum())
    certain = float(rates[wins == 1].sum())
    if certain == 0:
        return None
    time, measure = quadrature(certain)
    silent = np.exp(-np.outer(rates, time))
    lost = (1 - wins)[:, None] * (1 - silent)
    still = silent + lost
    share = lost / still
    winner = measure * (wins * rates)[:, None] * silent * still.prod(axis=0) / still
    first = share.sum(axis=0) - share  # mean number of losers before the winner
    spread = (share * (1 - share)).sum(axis=0) - share * (1 - share)
    calls = 1 + first
    return neighbours, np.stack(
        [(winner * moment).sum(axis=1) for moment in (1.0, calls, calls**2 + spread)]
    )


def undiscovered_mean(arena: Arena) -> float | None:
    """Mean calls of ParamILS's local search over undiscovered neighbours, where a table decides.

    The order is uniform. None if the search may end away from the targets, or if costs are equal.

    A value better than the incumbent (or a target) was never compared, and a worse one loses
    against every later incumbent too, so it is compared at most once. Hence a walk from x with w
    better neighbours ends at each of them with equal probability, whatever was discovered; and a
    worse neighbour z not compared yet precedes all of them with probability 1 / (w + 1),
    independently of where the walk ends. So the mean is that of the number of walks, plus the sum
    over all z of the probability that z is ever compared,

        u_z(x) = d + (1 - d) * mean over better y of u_z(y),   d = 1 / (w + 1) or 0,   u_z(z) = 0,

    for x in the order of costs. (The variance needs pairs of z, so it is left to simulated
    searches.)
    """
    met, walks = np.zeros((arena.size, arena.size)), np.zeros(arena.size)
    for x in arena.others:
        neighbours, _ = _neighbours(arena.shape, int(x))
        chance = arena.beats[x, neighbours]
        if (chance == COIN).any():
            return None
        ahead = (chance == 1) | np.isin(neighbours, arena.targets)
        better, worse = neighbours[ahead], neighbours[~ahead]
        if not len(better):
            return None
        before = np.zeros(arena.size)
        before[worse] = 1 / (len(better) + 1)
        met[x] = before + (1 - before) * met[better].mean(axis=0)
        met[x, x] = 0.0
        walks[x] = 1 + walks[better].mean()
    return float(walks.sum() + met.sum()) / arena.size


@lru_cache(maxsize=16_384)
def _neighbours(shape: tuple[int, ...], x: int) -> tuple[Indices, Array]:
    """Configurations that differ from x in one parameter, with 1 / distance."""
    grid = np.arange(int(np.prod(shape))).reshape(shape)
    at = np.unravel_index(x, shape)
    found, distances = [], []
    for axis, index in enumerate(at):
        line = np.moveaxis(grid, axis, -1)[tuple(k for i, k in enumerate(at) if i != axis)]
        away = np.abs(np.arange(len(line)) - index)
        found.append(line[away > 0])
        distances.append(away[away > 0])
    return np.concatenate(found), 1 / np.concatenate(distances).astype(np.float64)
