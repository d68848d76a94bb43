"""The law of a number of calls by its definition: a search is a chain of phases.

A phase takes some calls and leads to another state, or ends the search (None).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from tests.support.chains import State, Turn
from tests.support.laws import successive

Phase = Mapping[tuple[int, State | None], float]
"""The probability of this many calls, leading there."""
Beats = Callable[[State, State], float]
"""The probability that a challenger (second) replaces an incumbent (first)."""


def turn_phase(
    here: State, turns: Iterable[tuple[Turn, Fraction]], beats: Beats, optima: Collection[State]
) -> Phase:
    """One move of ParamRLS: the winner so far meets the next challenger."""
    phase: dict[tuple[int, State | None], float] = defaultdict(float)
    for turn, probability in turns:
        holders, calls = {here: float(probability)}, 0
        for challenger in turn:
            calls += 1
            if challenger in optima:
                phase[calls, None] += sum(holders.values())
                holders = {}
                break
            after: dict[State, float] = defaultdict(float)
            for holder, mass in holders.items():
                after[challenger] += mass * beats(holder, challenger)
                after[holder] += mass * (1 - beats(holder, challenger))
            holders = after
        for holder, mass in holders.items():
            phase[calls, holder] += mass
    return phase


def ordered_phase(
    here: State, weights: Mapping[State, float], beats: Beats, optima: Collection[State]
) -> Phase:
    """First improvement: every order of the neighbours, every outcome of each test_set."""
    phase: dict[tuple[int, State | None], float] = defaultdict(float)
    for order, probability in successive({y: w for y, w in weights.items() if w > 0}).items():
        left = float(probability)
        for calls, challenger in enumerate(order, 1):
            if challenger in optima:
                phase[calls, None] += left
                break
            phase[calls, challenger] += left * beats(here, challenger)
            left *= 1 - beats(here, challenger)
    return phase


def moments(phases: Mapping[State, Phase], states: int) -> tuple[float, float]:
    """Mean and standard deviation from a start uniform on this many states.

    With N the calls of a phase and J where it leads: E T = E N + sum Pr(J) E T_J, and
    E T^2 = E N^2 + 2 sum E(N; J) E T_J + sum Pr(J) E T_J^2.
    """
    position = {state: i for i, state in enumerate(phases)}
    chain, weighted = np.zeros((2, len(position), len(position)))
    once, squared = np.zeros((2, len(position)))
    for state, phase in phases.items():
        for (calls, to), probability in phase.items():
            once[position[state]] += calls * probability
            squared[position[state]] += calls**2 * probability
            if to is not None:
                chain[position[state], position[to]] += probability
                weighted[position[state], position[to]] += calls * probability
    system = np.eye(len(position)) - chain
    first = np.linalg.solve(system, once)
    second = np.linalg.solve(system, squared + 2 * weighted @ first)
    mean = float(first.sum() / states)
    return mean, math.sqrt(float(second.sum() / states) - mean**2)


def law(phases: Mapping[State, Phase], states: int, length: int) -> Sequence[float]:
    """The probabilities of 0, 1, ..., length - 1 calls, from a uniform start."""
    ends = {state: [0.0] * length for state in phases}
    for t in range(1, length):
        for state, phase in phases.items():
            ends[state][t] = sum(
                probability * (float(calls == t) if to is None else ends[to][t - calls])
                for (calls, to), probability in phase.items()
                if calls <= t
            )
    lucky = 1 - len(phases) / states
    return [lucky, *(sum(row[t] for row in ends.values()) / states for t in range(1, length))]
