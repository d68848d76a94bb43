"""ParamRLS as a Markov chain: on a grid of any size, or for any operator on a small space."""

from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from paramhs.core.space import Config, Space
from paramhs.search.operators import Move, Operator, Step, UniformRandom
from paramhs.theory.hitting import Chain
from paramhs.theory.outcomes import Array, Indices, wins

Beats = Callable[[Indices, Indices], Array]
"""Probabilities that each challenger (second) replaces its incumbent (first)."""


def grid_chain(
    shape: tuple[int, ...],
    step: Step,
    beats: Beats,
    optima: Collection[int] | Indices,
    order: Indices | None = None,
) -> Chain:
    """Chain of one-parameter steps from a uniform start, uniform among movable parameters.

    Every move is a call. States are the suboptimal configurations in the given `order` (of costs,
    the best first).
    """
    # Moves are generated vectorised, one parameter and one distance at a time, instead of state by
    # state, so that the cost is proportional to the number of moves. A move to an optimum ends the
    # search whether it is accepted or not; a rejected move stays, which a chain represents by
    # missing probability.
    size = int(np.prod(shape))
    optimal = np.isin(np.arange(size), np.asarray(list(optima), dtype=np.int64))
    others = _states(optimal, order)
    state = np.full(size, -1)
    state[others] = np.arange(len(others))
    ending, parts = np.zeros(size), [_NOWHERE]
    for origin, target, chance in proposals(shape, step):
        within = ~optimal[origin]
        origin, target, chance = origin[within], target[within], chance[within]
        np.add.at(ending, origin, np.where(optimal[target], chance, 0.0))
        taken = np.where(optimal[target], 0.0, chance * beats(origin, target))
        used = np.flatnonzero(taken)
        parts.append((state[origin[used]], state[target[used]], taken[used]))
    rows, columns, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Chain(
        csr_matrix((weights, (rows, columns)), shape=(len(others),) * 2),
        ending[others],
        np.full(len(others), 1 / size),
        in_order=order is not None,
    )


_NOWHERE = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def _states(optimal: NDArray[np.bool_], order: Indices | None) -> Indices:
    every = np.arange(len(optimal)) if order is None else order
    return every[~optimal[every]]


def proposals(shape: tuple[int, ...], step: Step) -> Iterator[tuple[Indices, Indices, Array]]:
    """Yield origins, destinations and probabilities of all moves of one parameter, in parts."""
    movable = [axis for axis, levels in enumerate(shape) if levels > 1]
    grid = np.arange(int(np.prod(shape))).reshape(shape)
    for axis in movable:
        levels, lines = shape[axis], np.moveaxis(grid, axis, 0).reshape(shape[axis], -1)
        weights = np.array([float(step.weight(d)) for d in range(1, _reach(step, levels) + 1)])
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        at = np.arange(levels)
        total = sums[np.minimum(at, len(weights))] + sums[np.minimum(at[::-1], len(weights))]
        for d, weight in enumerate(weights.tolist(), 1):
            for here, to in ((at[d:], at[:-d]), (at[:-d], at[d:])):
                chance = np.repeat(weight / total[here] / len(movable), lines.shape[1])
                yield lines[here].ravel(), lines[to].ravel(), chance


def _reach(step: Step, levels: int) -> int:
    """Largest distance with a positive weight."""
    return len(step.reach(levels, 0)) - 1


def table_chain(costs: Array, step: Step) -> Chain:
    """Chain decided by a table (one axis per parameter), until a best configuration is sampled.

    A fair coin decides ties. States are in the order of costs.
    """
    flat = costs.ravel()
    return grid_chain(
        costs.shape,
        step,
        lambda incumbent, challenger: wins(flat[challenger], flat[incumbent]),
        np.flatnonzero(flat == flat.min()),
        np.argsort(flat, kind="stable"),
    )


State = tuple[int, tuple[int, ...], frozenset[int]]
"""Incumbent, remaining challengers of this move, and excluded configurations."""


def param_rls_chain(
    space: Space,
    operator: Operator,
    configs: Sequence[Config],
    beats: Callable[[int, int], float],
    optima: Collection[int],
    *,
    replacement: bool = True,
) -> Chain:
    """Chain of ParamRLS from a uniform start; `beats(x, y)` is the probability that y replaces x.

    The moves follow the operator's own exact law. Without `replacement` a state also contains
    everything proposed so far, so the number of states grows as 2 to the number of configurations.
    """
    # A move may propose several challengers (the two-sided step), which race one after the other
    # against the winner so far, so a state is the incumbent with the challengers still waiting.
    # States are discovered from the starts, because without replacement most subsets of
    # configurations are never reached together with most incumbents.
    index = {config: i for i, config in enumerate(configs)}
    none: frozenset[int] = frozenset()
    states: dict[State, int] = {
        (i, (), none if replacement else frozenset([i])): k
        for k, i in enumerate(_others(len(configs), optima))
    }
    start = np.full(len(states), 1 / len(configs))
    entries: list[tuple[int, int, float]] = []
    ending: dict[int, float] = {}
    todo = list(states)

    def lead(origin: int, state: State, probability: float) -> None:
        if state not in states:
            states[state] = len(states)
            todo.append(state)
        if states[state] != origin and probability > 0:
            entries.append((origin, states[state], probability))

    while todo:
        incumbent, waiting, tried = state = todo.pop()
        here = states[state]
        if waiting:
            moves = [(waiting, 1.0)]
        else:
            law = _law(space, operator, configs[incumbent], {configs[i] for i in tried})
            moves = [(tuple(index[c] for c in move), float(p)) for move, p in law.items()]
        for (challenger, *rest), probability in moves:
            if challenger in optima:
                ending[here] = ending.get(here, 0.0) + probability
                continue
            wins = beats(incumbent, challenger)
            after = tried if replacement else tried | {challenger}
            lead(here, (challenger, tuple(rest), after), probability * wins)
            lead(here, (incumbent, tuple(rest), after), probability * (1 - wins))
    rows, columns, weights = zip(*entries, strict=True) if entries else ((), (), ())
    count = len(states)
    return Chain(
        csr_matrix((weights, (rows, columns)), shape=(count, count)),
        np.array([ending.get(k, 0.0) for k in range(count)]),
        np.pad(start, (0, count - len(start))),
    )


def _law(
    space: Space, operator: Operator, at: Config, excluded: Collection[Config]
) -> dict[Move, Fraction]:
    """Law of a move of ParamRLS, which goes anywhere if the operator has nothing left."""
    if not excluded:
        return operator.distribution(space, at)
    return operator.distribution(space, at, excluded) or UniformRandom().distribution(
        space, at, excluded
    )


def _others(count: int, optima: Collection[int]) -> list[int]:
    return [i for i in range(count) if i not in optima]
