"""The harmonic step's other reading: both values at the drawn distance are tried."""

import math
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from paramhs.core.random_streams import below
from paramhs.core.space import Config, Space
from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.search.operators.one_parameter import OneParameter
from paramhs.search.operators.operator import REDRAWS, ByOutcomes, Move
from paramhs.search.operators.steps import Harmonic


@dataclass(frozen=True)
class BothSides(ByOutcomes):
    """Move one parameter by a distance d with weight 1 / d; try both values there in random order.

    The distance is drawn among those where at least one side is in range. The winner so far races
    the next value, and each race is a separate call. Categories have no sides: one other value is
    tried.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.search import BothSides
        >>> space = Space({"x": range(3)})
        >>> sorted(len(move) for move in BothSides().distribution(space, space.default))
        [2, 2]

    Source: Hall, Oliveto, Sudholt (PPSN 2020), where the operator returns the best value at
    distance d; the proofs use one side only, as `OneParameter(Harmonic())` does.
    """

    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """Both sides of each movable parameter."""
        for position in at.movable:
            choices = list(_choices(space, at, position))
            total = sum(Fraction(1, d) for _, d in choices) * 2 * len(at.movable)
            for targets, distance in choices:
                for turn in (targets, targets[::-1]):
                    move = _challengers(space, at, position, turn, excluded)
                    yield move, Fraction(1, distance) / total

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw a move from the law."""
        movable = at.movable
        if not movable:
            return ()
        for _ in range(REDRAWS):
            position = movable[below(len(movable), rng)]
            levels, here = space.listed[position].levels, at.indices[position]
            if space.listed[position].ordered:
                reach = max(here, levels - 1 - here)
                distance = first_above(rng.random() * harmonic_number(reach), reach)
                targets = _sides(here, distance, levels)
            else:
                targets = [(here + 1 + below(levels - 1, rng)) % levels]
            if len(targets) == 2 and rng.random() < 0.5:
                targets.reverse()
            move = _challengers(space, at, position, targets, excluded)
            if move:
                return move
        return self._draw_listed(space, at, rng, excluded)

    def _draw_listed(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config]
    ) -> Move:
        """Draw from the list of what is left, where blind draws keep failing."""
        moves: list[Move] = []
        sums = [0.0]
        for position in at.movable:
            total = math.fsum(1 / d for _, d in _choices(space, at, position))
            for targets, distance in _choices(space, at, position):
                if move := _challengers(space, at, position, targets, excluded):
                    moves.append(move)
                    sums.append(sums[-1] + 1 / distance / total)
        if not moves:
            return ()
        move = moves[min(bisect_right(sums, rng.random() * sums[-1]), len(moves)) - 1]
        return move[::-1] if rng.random() < 0.5 else move

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Yield every neighbour once, weighted by 1 / distance, as for one side."""
        return OneParameter(Harmonic()).order(space, at, rng, excluded)


def _choices(space: Space, at: Config, position: int) -> Iterator[tuple[list[int], int]]:
    """Possible targets of a parameter, one or two indices at a time, with their distance."""
    levels, here = space.listed[position].levels, at.indices[position]
    if not space.listed[position].ordered:
        yield from (([to], 1) for to in range(levels) if to != here)
        return
    for distance in range(1, max(here, levels - 1 - here) + 1):
        yield _sides(here, distance, levels), distance


def _sides(here: int, distance: int, levels: int) -> list[int]:
    return [to for to in (here - distance, here + distance) if 0 <= to < levels]


def _challengers(
    space: Space, at: Config, position: int, targets: list[int], excluded: Container[Config]
) -> Move:
    moved = (space.moved(at, ((position, to),)) for to in targets)
    return tuple(config for config in moved if config is not None and config not in excluded)
