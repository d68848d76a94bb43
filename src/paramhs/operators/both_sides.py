"""The harmonic step's other reading: both values at the drawn distance are tried."""

from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from paramhs.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.operators.moves import REDRAWS, Move, conditioned
from paramhs.operators.one import One
from paramhs.operators.steps import Harmonic
from paramhs.seeds import below
from paramhs.space import Config, Space


@dataclass(frozen=True)
class BothSides:
    """Move one parameter by a distance d with weight 1 / d; try both values there in random order.

    The distance is drawn among those where at least one side is in range. The winner so far meets
    the next, and each meeting is a call of its own. Categories have no sides: one other value.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), where the operator returns the best value at
    distance d; the proofs use one side only, as `One(Harmonic())` does.
    """

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law of the ordered pair."""
        return conditioned(self._outcomes(space, at, excluded))

    def _outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        for place in at.movable:
            for targets, probability in self._law(space, at, place):
                for turn in (targets, targets[::-1]):
                    move = _challengers(space, at, place, turn, excluded)
                    yield move, probability / (2 * len(at.movable))

    def _law(self, space: Space, at: Config, place: int) -> Iterator[tuple[list[int], Fraction]]:
        levels, here = space.listed[place].levels, at.indices[place]
        if not space.listed[place].ordered:
            for to in range(levels):
                if to != here:
                    yield [to], Fraction(1, levels - 1)
            return
        reach = max(here, levels - 1 - here)
        total = sum(Fraction(1, d) for d in range(1, reach + 1))
        for d in range(1, reach + 1):
            yield _sides(here, d, levels), Fraction(1, d) / total

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law."""
        movable = at.movable
        if not movable:
            return ()
        for _ in range(REDRAWS):
            place = movable[below(len(movable), rng)]
            levels, here = space.listed[place].levels, at.indices[place]
            if space.listed[place].ordered:
                reach = max(here, levels - 1 - here)
                distance = first_above(rng.random() * harmonic_number(reach), reach)
                targets = _sides(here, distance, levels)
            else:
                targets = [(here + 1 + below(levels - 1, rng)) % levels]
            if len(targets) == 2 and rng.random() < 0.5:
                targets.reverse()
            move = _challengers(space, at, place, targets, excluded)
            if move:
                return move
        return self._listed(space, at, rng, excluded)

    def _listed(self, space: Space, at: Config, rng: Random, excluded: Container[Config]) -> Move:
        """A draw from the list of what is left, where drawing blindly keeps failing."""
        moves: list[Move] = []
        sums = [0.0]
        for place in at.movable:
            for targets, weight in self._weights(space, at, place):
                if move := _challengers(space, at, place, targets, excluded):
                    moves.append(move)
                    sums.append(sums[-1] + weight)
        if not moves:
            return ()
        move = moves[min(bisect_right(sums, rng.random() * sums[-1]), len(moves)) - 1]
        return move[::-1] if rng.random() < 0.5 else move

    def _weights(self, space: Space, at: Config, place: int) -> Iterator[tuple[list[int], float]]:
        """The law of the targets in floats, without the cost of exact fractions."""
        levels, here = space.listed[place].levels, at.indices[place]
        if not space.listed[place].ordered:
            yield from (([to], 1 / (levels - 1)) for to in range(levels) if to != here)
            return
        reach = max(here, levels - 1 - here)
        total = harmonic_number(reach)
        for d in range(1, reach + 1):
            yield _sides(here, d, levels), 1 / d / total

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """As for one side: every neighbour once, weighted by 1 / distance."""
        return One(Harmonic()).order(space, at, rng, excluded)


def _sides(here: int, distance: int, levels: int) -> list[int]:
    return [to for to in (here - distance, here + distance) if 0 <= to < levels]


def _challengers(
    space: Space, at: Config, place: int, targets: list[int], excluded: Container[Config]
) -> Move:
    moved = (space.moved(at, ((place, to),)) for to in targets)
    return tuple(config for config in moved if config is not None and config not in excluded)
