"""The number of calls to `better` until an optimum is first sampled, exactly.

ParamRLS is a Markov chain: its state is the incumbent, and the challengers of the present move that
have yet to be met. Its steps are calls; sampling an optimum ends it, accepted or not. A start on an
optimum costs nothing.

Source: the cost measure of Hall, Oliveto, Sudholt (PPSN 2020); the chains are our own.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import splu

from paramhs.results.landscape.outcomes import Array
from paramhs.search.operators import Anywhere, Move, Operator
from paramhs.values.space import Config, Space

_TAIL = 1e-12  # probability that a law of calls may leave out
_LONGEST = 1_000_000  # calls after which it is cut off all the same


@dataclass(frozen=True)
class Calls:
    """The law of a number of calls: `pmf[t]` is the probability of t."""

    pmf: Array
    mean: float
    sd: float

    def capped(self, cap: int) -> "Calls":
        """The law given that it is at most `cap`, which must be possible."""
        return calls_of(self.pmf[: cap + 1] / self.pmf[: cap + 1].sum())

    def finished(self, cap: int) -> float:
        """The probability that it is at most `cap`."""
        return float(self.pmf[: cap + 1].sum())


def calls_of(pmf: Array) -> Calls:
    """A law with its moments."""
    t = np.arange(len(pmf))
    mean = float(pmf @ t)
    return Calls(pmf, mean, math.sqrt(max(float(pmf @ (t - mean) ** 2), 0.0)))


def without_replacement(size: int) -> Calls:
    """One parameter of so many values, none tried twice, in uniformly random order: the optimum's
    place in it is uniform on 0 .. size - 1 whatever the landscape. So it is for ParamRLS without
    replacement and for ParamILS's local search over undiscovered neighbours."""
    return calls_of(np.full(size, 1 / size))


@dataclass(frozen=True)
class Chain:
    """A chain that moves, stays or ends at every step."""

    moves: csr_matrix
    """From state to other state; what is missing stays."""
    ending: Array
    """The probability of ending, in each state."""
    start: Array
    """The probability of starting in each; what is missing from 1 ends at once."""

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the number of steps; infinite if it may never end.

        With C the moves and D what leaves or ends, (D - C) E = 1: staying cancels, so nothing
        small is taken from 1.
        """
        if self.start @ self._doomed > 0:
            return math.inf, math.inf
        sound = np.flatnonzero(~self._doomed)
        moves = self.moves[sound][:, sound]
        system = splu((diags(self._leaving[sound]) - moves).tocsc())
        mean = system.solve(np.ones(len(sound)))
        second = system.solve(2 * mean - 1)
        start = self.start[sound]
        first = float(start @ mean)
        return first, math.sqrt(max(float(start @ second) - first**2, 0.0))

    def law(self) -> Calls:
        """The law, up to a tail of 1e-12 and what never ends (or a million calls), with the exact
        moments."""
        backward = (self.moves + diags(1 - self._leaving)).T.tocsr()
        state = self.start
        pmf = [1 - float(state.sum())]
        while float(state @ ~self._endless) > _TAIL and len(pmf) <= _LONGEST:
            pmf.append(float(state @ self.ending))
            state = backward @ state
        return Calls(np.array(pmf), *self.moments())

    @cached_property
    def _leaving(self) -> Array:
        return np.asarray(self.moves.sum(axis=1)).ravel() + self.ending

    @cached_property
    def _endless(self) -> NDArray[np.bool_]:
        """The states from which it cannot end."""
        return ~_leads_to(self.moves, self.ending > 0)

    @cached_property
    def _doomed(self) -> NDArray[np.bool_]:
        """The states from which it may come where it cannot end."""
        return _leads_to(self.moves, self._endless)


def _leads_to(moves: csr_matrix, goals: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which states can come to a goal (goals included), in any number of steps."""
    count = len(goals)
    origins, targets = moves.nonzero()
    to_goal = np.flatnonzero(goals)
    source = np.concatenate([targets, np.full(len(to_goal), count)])
    target = np.concatenate([origins, to_goal])
    backward = csr_matrix((np.ones(len(source)), (source, target)), shape=(count + 1,) * 2)
    found = np.zeros(count + 1, dtype=bool)
    found[breadth_first_order(backward, count, return_predecessors=False)] = True
    return found[:count]


State = tuple[int, tuple[int, ...], frozenset[int]]
"""The incumbent, the challengers it has yet to meet in this move, and what may not come again."""


def param_rls_chain(
    space: Space,
    operator: Operator,
    configs: Sequence[Config],
    beats: Callable[[int, int], float],
    optima: Collection[int],
    *,
    replacement: bool = True,
) -> Chain:
    """ParamRLS from a uniform start; `beats(x, y)`: the probability that y replaces x.

    The moves are those of the operator's own exact law. Without `replacement` a state also knows
    all that was proposed, so their number grows as 2 to the number of configurations.
    """
    place = {config: i for i, config in enumerate(configs)}
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
            moves = [(tuple(place[c] for c in move), float(p)) for move, p in law.items()]
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
    """As ParamRLS moves: anywhere, where the operator has nothing left."""
    if not excluded:
        return operator.distribution(space, at)
    return operator.distribution(space, at, excluded) or Anywhere().distribution(
        space, at, excluded
    )


def _others(count: int, optima: Collection[int]) -> list[int]:
    return [i for i in range(count) if i not in optima]
