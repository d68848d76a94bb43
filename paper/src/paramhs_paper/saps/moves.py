"""The configurators on a grid of alpha and rho as chains: how each gets from state to state.

A state is an incumbent that is not a target. `beats[x, y]` is the probability that y replaces x;
sampling a target ends the search, accepted or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from paramhs.results.landscape.first_improvement import SCALE, quadrature
from paramhs.results.landscape.hitting import proposals
from paramhs.results.landscape.outcomes import Array
from paramhs.search.operators import Step
from paramhs_paper.saps.renewal import Renewal

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Arena:
    """A grid of so many alphas and rhos, who beats whom there, and what is looked for."""

    shape: tuple[int, int]
    beats: Array
    targets: Places
    """Places in the order of alpha, then rho."""
    order: Places
    """All places, the best first where a table decides."""

    @property
    def others(self) -> Places:
        """The states."""
        return self.order[~np.isin(self.order, self.targets)]

    def first(self, alphas: int) -> "Arena":
        """The part with the first so many alphas."""
        rhos = self.shape[1]
        size = alphas * rhos
        targets, order = (places[places < size] for places in (self.targets, self.order))
        return Arena((alphas, rhos), self.beats[:size, :size], targets, order)


def one_step(arena: Arena, step: Step) -> Renewal:
    """ParamRLS where one parameter makes a step: every move is a call."""
    others, proposed = arena.others, _proposed(step, arena.shape)
    steps = proposed[np.ix_(others, others)] * arena.beats[np.ix_(others, others)]
    ending = proposed[np.ix_(others, arena.targets)].sum(axis=1)
    np.fill_diagonal(steps, 0.0)
    np.fill_diagonal(steps, 1 - ending - steps.sum(axis=1))
    return Renewal(steps, steps, steps, (ending,) * 3, 1 / arena.order.size)


@lru_cache(maxsize=128)
def _proposed(step: Step, shape: tuple[int, int]) -> Array:
    """The law of moves: either parameter with probability 1/2."""
    alphas, rhos = shape
    either = np.kron(proposals(step, alphas), np.eye(rhos))
    return np.asarray((either + np.kron(np.eye(alphas), proposals(step, rhos))) / 2)


def both_sides(arena: Arena) -> Renewal:
    """ParamRLS with the harmonic step's other reading: a move is one call or two."""
    size = arena.order.size
    targets = np.isin(np.arange(size), arena.targets)
    taken = {calls: np.zeros((size, size)) for calls in (1, 2)}
    ended = {calls: np.zeros(size) for calls in (1, 2)}

    def meet(here: Places, who: Places, to: Places, chance: Array, calls: int, last: bool) -> Array:
        """The incumbent `who` of a move from `here` meets `to`; the chance that it wins."""
        ends = targets[to]
        np.add.at(ended[calls], here[ends], chance[ends])
        wins = np.where(ends, 0.0, chance * arena.beats[who, to])
        loses = np.where(ends, 0.0, chance * (1 - arena.beats[who, to]))
        if last:
            np.add.at(taken[calls], (here, to), wins)
            np.add.at(taken[calls], (here, who), loses)
        return np.stack([wins, loses])

    for here, first, second, chance in _turns(arena.shape):
        if second is None:
            meet(here, here, first, chance, 1, True)
        else:
            wins, loses = meet(here, here, first, chance, 1, False)
            meet(here, first, second, wins, 2, True)
            meet(here, here, second, loses, 2, True)
    return _renewal(arena, taken, ended)


def _turns(
    shape: tuple[int, int],
) -> Iterator[tuple[Places, Places, Places | None, Array]]:
    """From where, whom to meet first, whom then, with what probability."""
    grid = np.arange(shape[0] * shape[1]).reshape(shape)
    for axis, levels in enumerate(shape):
        lines = np.moveaxis(grid, axis, 0)
        reach = [max(here, levels - 1 - here) for here in range(levels)]
        total = np.array([sum(1 / d for d in range(1, far + 1)) for far in reach])
        for d in range(1, levels):
            weight = np.repeat(1 / (2 * d * total), lines.shape[1]).reshape(lines.shape)
            at = np.arange(levels)
            down, up = at - d >= 0, at + d < levels
            for side, sign in ((down & ~up, -d), (up & ~down, d)):
                here = at[side]
                yield lines[here].ravel(), lines[here + sign].ravel(), None, weight[here].ravel()
            here = at[down & up]
            for sign in (-d, d):
                first, second = lines[here + sign].ravel(), lines[here - sign].ravel()
                yield lines[here].ravel(), first, second, weight[here].ravel() / 2


def _renewal(arena: Arena, taken: dict[int, Array], ended: dict[int, Array]) -> Renewal:
    others = arena.others
    within = np.ix_(others, others)
    once, twice = taken[1][within], taken[2][within]
    first, second = ended[1][others], ended[2][others]
    ending = (first + second, first + 2 * second, first + 4 * second)
    return Renewal(once + twice, once + 2 * twice, once + 4 * twice, ending, 1 / arena.order.size)


def descent(arena: Arena) -> Renewal | None:
    """ParamILS's local search where each move walks all neighbours in a fresh order, drawn without
    replacement with weight 1 / distance. None if it may end away from the targets: what comes then
    (kicks, restarts) is no part of this chain.

    Such an order is a race of exponential clocks, as in `landscape.first_improvement`; a step is a
    walk. Given the time at which the winning clock rings, each other clock has rung (and lost) or
    not independently, which gives the moments of the number of calls.
    """
    others, size = arena.others, arena.order.size
    matrices = np.zeros((3, size, size))
    for x in others:
        walk = _walk(arena, int(x))
        if walk is None:
            return None
        neighbours, moments = walk
        matrices[:, x, neighbours] = moments
    inside = [matrix[np.ix_(others, others)] for matrix in matrices]
    ends = [matrix[np.ix_(others, arena.targets)].sum(axis=1) for matrix in matrices]
    return Renewal(inside[0], inside[1], inside[2], (ends[0], ends[1], ends[2]), 1 / size)


def _walk(arena: Arena, x: int) -> tuple[Places, Array] | None:
    """Neighbours of x, and the moments 0, 1, 2 of the calls of a walk that ends at each."""
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
    first = share.sum(axis=0) - share  # the mean of those that lost before, but the winner itself
    spread = (share * (1 - share)).sum(axis=0) - share * (1 - share)
    calls = 1 + first
    return neighbours, np.stack(
        [(winner * moment).sum(axis=1) for moment in (1.0, calls, calls**2 + spread)]
    )


def undiscovered_mean(arena: Arena) -> float | None:
    """The mean calls of ParamILS's local search that walks undiscovered neighbours only, in uniform
    order, where a table decides. None if it may end away from the targets, or meets equal costs.

    What is better than the incumbent (or a target) was never met, and what is worse loses against
    every later incumbent too, so it is met at most once. Hence a walk of x with w better neighbours
    ends at each of them alike, whatever was discovered; and a worse neighbour z that was not met
    yet comes before all of them with probability 1 / (w + 1), independently of where the walk ends.
    So the mean is that of the number of walks, and over all z the probability that z is ever met,

        u_z(x) = d + (1 - d) * mean over better y of u_z(y),   d = 1 / (w + 1) or 0,   u_z(z) = 0,

    for x in the order of costs. (The variance needs pairs of z, so it is left to searches.)
    """
    size = arena.order.size
    met, walks = np.zeros((size, size)), np.zeros(size)
    for x in arena.others:
        neighbours, _ = _neighbours(arena.shape, int(x))
        chance = arena.beats[x, neighbours]
        if (chance == 0.5).any():
            return None
        ahead = (chance == 1) | np.isin(neighbours, arena.targets)
        better, worse = neighbours[ahead], neighbours[~ahead]
        if not len(better):
            return None
        before = np.zeros(size)
        before[worse] = 1 / (len(better) + 1)
        met[x] = before + (1 - before) * met[better].mean(axis=0)
        met[x, x] = 0.0
        walks[x] = 1 + walks[better].mean()
    return float(walks.sum() + met.sum()) / size


@lru_cache(maxsize=16_384)
def _neighbours(shape: tuple[int, int], x: int) -> tuple[Places, Array]:
    """What differs from x in one parameter, and 1 / distance."""
    alphas, rhos = shape
    alpha, rho = divmod(x, rhos)
    along = [(a * rhos + rho, abs(a - alpha)) for a in range(alphas) if a != alpha]
    along += [(alpha * rhos + r, abs(r - rho)) for r in range(rhos) if r != rho]
    places, distances = zip(*along, strict=True)
    return np.array(places), 1 / np.array(distances, dtype=np.float64)
