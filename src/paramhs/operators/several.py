"""Several parameters move at once."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import comb, prod
from random import Random

from paramhs.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.operators.moves import LISTABLE, PATIENCE, Move, conditioned, draw_from, successively
from paramhs.operators.one import ANY_OTHER, step_of
from paramhs.operators.steps import Harmonic, Step, law
from paramhs.space import Config, Space


@dataclass(frozen=True)
class Several:
    """Move k parameters with probability proportional to 1 / k, each by a step of its own.

    The k parameters are uniform among the active ones with at least two values. What the harmonic
    step is to one parameter this is to their number: mostly one moves, yet every configuration with
    the same active parameters is one move away. Where a parent and its child both move, the child's
    step counts only if the child is still active.
    """

    step: Step = Harmonic()

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law; its size is the product of all numbers of levels."""
        return conditioned(self._outcomes(space, at, excluded))

    def _outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        movable = at.movable
        laws = {i: list(self._law(space, at, i).items()) for i in movable}
        total = sum((Fraction(1, k) for k in range(1, len(movable) + 1)), Fraction(0))
        for k in range(1, len(movable) + 1):
            share = Fraction(1, k) / total / comb(len(movable), k)
            for places in combinations(movable, k):
                for steps in product(*(laws[i] for i in places)):
                    targets = [to for to, _ in steps]
                    config = space.moved(at, zip(places, targets, strict=True))
                    if config is not None and config not in excluded:
                        yield (config,), share * prod(p for _, p in steps)

    def _law(self, space: Space, at: Config, place: int) -> dict[int, Fraction]:
        parameter = space.listed[place]
        return law(step_of(parameter, self.step), parameter.levels, at.indices[place])

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law: redrawn while forbidden; in small spaces then written out.

        In a large space 1,000 failures in a row are taken to mean that there is no move.
        """
        if not at.movable:
            return ()
        for _ in range(PATIENCE):
            config = space.moved(at, self._changes(space, at, rng))
            if config is not None and config not in excluded:
                return (config,)
        if prod(space.listed[i].levels for i in at.movable) > LISTABLE:
            return ()
        return draw_from(self.distribution(space, at, excluded), rng)

    def _changes(self, space: Space, at: Config, rng: Random) -> list[tuple[int, int]]:
        """Places and their new indices."""
        draw, listed, indices = rng.random, space.listed, at.indices
        pool = list(at.movable)
        count = len(pool)
        k = first_above(draw() * harmonic_number(count), count)
        step_draw, changes = self.step.draw, []
        for taken in range(k):  # the first k places of a random permutation
            other = taken + int(draw() * (count - taken))
            place = pool[other]
            pool[other] = pool[taken]
            parameter = listed[place]
            move = step_draw if parameter.ordered else ANY_OTHER.draw
            changes.append((place, move(parameter.levels, indices[place], rng)))
        return changes

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)
