"""The number of calls to `better` until an optimum is first sampled, exactly.

ParamRLS is a Markov chain: its state is the incumbent, and the challengers of the present move that
have yet to be met. Its steps are calls; sampling an optimum ends it, accepted or not. A start on an
optimum costs nothing.

Source: the cost measure of Hall, Oliveto, Sudholt (PPSN 2020); the chains are our own.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import splu

from paramhs.landscape.outcomes import Array
from paramhs.operators import Operator
from paramhs.space import Config, Space

_TAIL = 1e-12  # probability that a law of calls may leave out
_LONGEST = 1_000_000  # calls after which it is cut off all the same


@dataclass(frozen=True)
class Calls:
    """The law of a number of calls: `pmf[t]` is the probability of t."""

    pmf: Array
    mean: float
    sd: float

    def capped(self, cap: int) -> "Calls":
        """The law given that it is at most `cap`."""
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
    """Steps between transient states (rows sum to less than 1 where the chain may end)."""

    steps: csr_matrix
    start: Array
    """The probability of starting in each; what is missing from 1 ends at once."""

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the number of steps; infinite if it may never end."""
        if self.start @ self._doomed > 0:
            return math.inf, math.inf
        sound = np.flatnonzero(~self._doomed)
        steps = self.steps[sound][:, sound]
        system = splu(identity(len(sound), format="csc") - steps.tocsc())
        ones = np.ones(len(sound))
        mean = system.solve(ones)
        second = system.solve(ones + 2 * (steps @ mean))
        start = self.start[sound]
        first = float(start @ mean)
        return first, math.sqrt(max(float(start @ second) - first**2, 0.0))

    @cached_property
    def _doomed(self) -> NDArray[np.bool_]:
        """The states from which the chain may come where it never ends."""
        return _leads_to(self.steps, self._endless)

    @cached_property
    def _endless(self) -> NDArray[np.bool_]:
        """The states from which it cannot end."""
        sums = np.asarray(self.steps.sum(axis=1)).ravel()
        return ~_leads_to(self.steps, sums < 1 - 1e-12)

    def law(self) -> Calls:
        """The whole law, up to a tail of 1e-12 (and what never ends), with the exact moments."""
        backward = self.steps.T.tocsr()
        state, left = self.start, float(self.start.sum())
        pmf = [1 - left]
        while left - float(state @ self._endless) > _TAIL and len(pmf) <= _LONGEST:
            state = backward @ state
            now = float(state.sum())
            pmf.append(left - now)
            left = now
        return Calls(np.array(pmf), *self.moments())


def _leads_to(steps: csr_matrix, goals: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which states can come to a goal (goals included), in any number of steps."""
    count = len(goals)
    origins, targets = steps.nonzero()
    to_goal = np.flatnonzero(goals)
    source = np.concatenate([targets, np.full(len(to_goal), count)])
    target = np.concatenate([origins, to_goal])
    backward = csr_matrix((np.ones(len(source)), (source, target)), shape=(count + 1,) * 2)
    found = np.zeros(count + 1, dtype=bool)
    found[breadth_first_order(backward, count, return_predecessors=False)] = True
    return found[:count]


State = tuple[int, tuple[int, ...]]
"""The incumbent, and the challengers it has yet to meet in this move."""


def param_rls_chain(
    space: Space,
    operator: Operator,
    configs: Sequence[Config],
    beats: Callable[[int, int], float],
    optima: Collection[int],
) -> Chain:
    """ParamRLS from a uniform start; `beats(x, y)`: the probability that y replaces x.

    The moves are those of the operator's own exact law.
    """
    place = {config: i for i, config in enumerate(configs)}
    states: dict[State, int] = {(i, ()): k for k, i in enumerate(_others(len(configs), optima))}
    entries: list[tuple[int, int, float]] = []
    todo = list(states)

    def lead(origin: int, state: State, probability: float) -> None:
        if state not in states:
            states[state] = len(states)
            todo.append(state)
        entries.append((origin, states[state], probability))

    while todo:
        state = todo.pop()
        incumbent, waiting = state
        if waiting:
            moves = [(waiting, 1.0)]
        else:
            law = operator.distribution(space, configs[incumbent])
            moves = [(tuple(place[c] for c in move), float(p)) for move, p in law.items()]
        for (challenger, *rest), probability in moves:
            if challenger not in optima:
                wins = beats(incumbent, challenger)
                lead(states[state], (challenger, tuple(rest)), probability * wins)
                lead(states[state], (incumbent, tuple(rest)), probability * (1 - wins))
    start = np.zeros(len(states))
    start[: len(configs) - len(optima)] = 1 / len(configs)
    rows, columns, weights = zip(*entries, strict=True) if entries else ((), (), ())
    return Chain(csr_matrix((weights, (rows, columns)), shape=(len(states),) * 2), start)


def _others(count: int, optima: Collection[int]) -> list[int]:
    return [i for i in range(count) if i not in optima]
