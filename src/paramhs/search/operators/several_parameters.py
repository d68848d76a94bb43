"""SeveralParameters parameters move at once."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, islice, product
from math import comb, prod
from random import Random

from paramhs.core.space import Config, Space
from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.search.operators.one_parameter import step_of
from paramhs.search.operators.operator import (
    MAX_LISTED_CONFIGS,
    PATIENCE,
    ByOutcomes,
    Move,
    draw_from,
)
from paramhs.search.operators.steps import Harmonic, Quantile, Step, law


@dataclass(frozen=True)
class SeveralParameters(ByOutcomes):
    """Move k parameters with probability proportional to 1 / k, each by its own step.

    The k parameters are uniform among the active ones with at least two values. This applies the
    idea of the harmonic step to their number: mostly one moves, yet every configuration with the
    same active parameters is one move away. Where a parent and its child both move, the child's
    step counts only if the child is still active.

    Args:
        step: How an ordered parameter moves.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.search import SeveralParameters
        >>> space = Space({"x": range(3), "y": range(3)})
        >>> len(SeveralParameters().distribution(space, space.default))
        8
    """

    step: Step = Harmonic()

    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """All sets of parameters, with all their steps; if few are allowed, those alone."""
        if space.few is not None and space.combinations > MAX_LISTED_CONFIGS:
            for allowed in space.few:
                probability = self._probability(space, at, allowed)
                if probability and allowed not in excluded:
                    yield (allowed,), probability
            return
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

    def _probability(self, space: Space, at: Config, config: Config) -> Fraction:
        """Probability of an allowed configuration before conditioning."""
        both = list(zip(at.indices, config.indices, strict=True))
        moved = [i for i, (old, new) in enumerate(both) if old != new and min(old, new) >= 0]
        # A parameter that becomes active starts at its default.
        if not moved or space.moved(at, [(i, config.indices[i]) for i in moved]) != config:
            return Fraction(0)
        steps = [self._law(space, at, i).get(config.indices[i], Fraction(0)) for i in moved]
        # Parameters that the move switches off may have been drawn as well.
        lost = sum(at.indices[i] >= 0 > config.indices[i] for i in at.movable)
        count = len(at.movable)
        total = sum((Fraction(1, k) for k in range(1, count + 1)), Fraction(0))
        sets = sum(
            (
                Fraction(comb(lost, k - len(moved)), k * comb(count, k))
                for k in range(len(moved), len(moved) + lost + 1)
            ),
            Fraction(0),
        )
        return prod(steps, start=sets / total)

    def _law(self, space: Space, at: Config, position: int) -> dict[int, Fraction]:
        parameter = space.listed[position]
        return law(step_of(parameter, self.step), parameter.levels, at.indices[position])

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw from the law, again while forbidden; then from a list where few are left.

        Elsewhere, 1,000 failures in a row are taken to mean that there is no move.
        """
        if not at.movable:
            return ()
        for config in islice(self.draws(space, at, rng), PATIENCE):
            if config is not None and config not in excluded:
                return (config,)
        reachable = prod(space.listed[i].levels for i in at.movable)
        if reachable > MAX_LISTED_CONFIGS and space.few is None:
            return ()
        return draw_from(self.distribution(space, at, excluded), rng)

    def draws(self, space: Space, at: Config, rng: Random) -> Iterator[Config | None]:
        """Independent draws without end, None where a result is forbidden; none without a move.

        Args:
            space: The space.
            at: The configuration to move from.
            rng: Source of randomness.

        Returns:
            An endless iterator; an empty one without a move.
        """
        movable = quantiles(self.step, at)
        while movable:
            count = first_above(rng.random() * harmonic_number(len(movable)), len(movable))
            yield space.moved(at, changes(movable, count, rng))


def changes(
    movable: Sequence[tuple[int, Quantile]], count: int, rng: Random
) -> list[tuple[int, int]]:
    """Draw positions that move, without replacement, and their new indices."""
    draw = rng.random
    pool = list(movable)
    drawn = []
    for left in range(len(pool), len(pool) - count, -1):
        chosen = int(draw() * left)
        position, quantile = pool[chosen]
        pool[chosen] = pool[left - 1]
        drawn.append((position, quantile(draw())))
    return drawn


@lru_cache(maxsize=32)
def quantiles(step: Step, at: Config) -> tuple[tuple[int, Quantile], ...]:
    """For each movable position, how to draw its new index; cached for the incumbent."""
    listed = at.space.listed
    return tuple(
        (i, step_of(listed[i], step).quantile(listed[i].levels, at.indices[i])) for i in at.movable
    )
