"""Expected calls of ParamRLS by linear algebra, from nothing but the paper's words."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction

import numpy as np

State = Hashable
Turn = tuple[State, ...]
"""The challengers of one move, in the order in which the winner so far meets them."""


def expected_calls(
    states: Sequence[State],
    optimum: State,
    moves: Callable[[State], Iterator[tuple[Turn, Fraction]]],
    wins: Callable[[State, State], float],
) -> float:
    """The mean number of calls until the optimum is first sampled, from a uniform start.

    With E(i) the mean from state i: E(i) = calls of one move + sum over j of Pr(i -> j) E(j).
    """
    others = [state for state in states if state != optimum]
    position = {state: i for i, state in enumerate(others)}
    calls, chain = np.zeros(len(others)), np.zeros((len(others), len(others)))
    for state in others:
        for turn, probability in moves(state):
            holders = {state: float(probability)}
            for challenger in turn:
                calls[position[state]] += sum(holders.values())
                if challenger == optimum:
                    holders = {}
                holders = _met(holders, challenger, wins)
            for holder, mass in holders.items():
                chain[position[state], position[holder]] += mass
    return float(np.linalg.solve(np.eye(len(others)) - chain, calls).sum() / len(states))


def _met(
    holders: dict[State, float], challenger: State, wins: Callable[[State, State], float]
) -> dict[State, float]:
    """Probability of each incumbent after a call."""
    after: dict[State, float] = {}
    for holder, mass in holders.items():
        win = wins(challenger, holder)
        after[holder] = after.get(holder, 0.0) + mass * (1 - win)
        after[challenger] = after.get(challenger, 0.0) + mass * win
    return after


def weighted(
    levels: int, weight: Callable[[int], Fraction]
) -> Callable[[int], Iterator[tuple[Turn, Fraction]]]:
    """Moves to one other value with a weight given its distance."""

    def moves(here: int) -> Iterator[tuple[Turn, Fraction]]:
        others = [to for to in range(levels) if to != here]
        total = sum(weight(abs(to - here)) for to in others)
        for to in others:
            yield (to,), weight(abs(to - here)) / total

    return moves


def both_sides(levels: int) -> Callable[[int], Iterator[tuple[Turn, Fraction]]]:
    """A distance d with weight 1/d; then both values there, in random order."""

    def moves(here: int) -> Iterator[tuple[Turn, Fraction]]:
        sides = {
            d: tuple(to for to in (here - d, here + d) if 0 <= to < levels)
            for d in range(1, levels)
        }
        total = sum(Fraction(1, d) for d, values in sides.items() if values)
        for d, values in sides.items():
            if values:
                yield values, Fraction(1, 2 * d) / total
                yield values[::-1], Fraction(1, 2 * d) / total

    return moves
