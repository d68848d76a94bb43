"""Several parameters move at once."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, product
from math import comb, prod
from random import Random

from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.search.operators.moves import (
    LISTABLE,
    PATIENCE,
    ByOutcomes,
    Move,
    draw_from,
    successively,
)
from paramhs.search.operators.one import step_of
from paramhs.search.operators.steps import Harmonic, Quantile, Step, law
from paramhs.values.space import Config, Space


@dataclass(frozen=True)
class Several(ByOutcomes):
    """Move k parameters with probability proportional to 1 / k, each by a step of its own.

    The k parameters are uniform among the active ones with at least two values. What the harmonic
    step is to one parameter this is to their number: mostly one moves, yet every configuration with
    the same active parameters is one move away. Where a parent and its child both move, the child's
    step counts only if the child is still active.
    """

    step: Step = Harmonic()

    def _outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        movable = at.movable
        laws = {i: list(self._law(space, at, i).items()) for i in movable}
        total = sum((Fraction(1, k) for k in range(1, len(movable) + 1)), Fraction(0))
        for k in range(1, len(movable) + 1):
            share = Fraction(1, k) / total / comb(len(movable), k)
            for positions in combinations(movable, k):
                for steps in product(*(laws[i] for i in positions)):
                    changes = [(i, to) for i, (to, _) in zip(positions, steps, strict=True)]
                    config = space.moved(at, changes)
                    if config is not None and config not in excluded:
                        yield (config,), share * prod(p for _, p in steps)

    def _law(self, space: Space, at: Config, position: int) -> dict[int, Fraction]:
        parameter = space.listed[position]
        return law(step_of(parameter, self.step), parameter.levels, at.indices[position])

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law: redrawn while forbidden; in small spaces then written out.

        In a large space 1,000 failures in a row are taken to mean that there is no move.
        """
        if not at.movable:
            return ()
        for _ in range(PATIENCE):
            config = space.moved(at, self._changes(at, rng))
            if config is not None and config not in excluded:
                return (config,)
        if prod(space.listed[i].levels for i in at.movable) > LISTABLE:
            return ()
        return draw_from(self.distribution(space, at, excluded), rng)

    def _changes(self, at: Config, rng: Random) -> list[tuple[int, int]]:
        """Positions and their new indices."""
        draw = rng.random
        pool = list(quantiles(self.step, at))
        k = first_above(draw() * harmonic_number(len(pool)), len(pool))
        changes = []
        for left in range(len(pool), len(pool) - k, -1):  # k of them, without replacement
            chosen = int(draw() * left)
            position, quantile = pool[chosen]
            pool[chosen] = pool[left - 1]
            changes.append((position, quantile(draw())))
        return changes

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)


@lru_cache(maxsize=8)
def quantiles(step: Step, at: Config) -> tuple[tuple[int, Quantile], ...]:
    """For each movable position, how to draw its new index; kept while the incumbent stays."""
    listed = at.space.listed
    return tuple(
        (i, step_of(listed[i], step).quantile(listed[i].levels, at.indices[i])) for i in at.movable
    )
