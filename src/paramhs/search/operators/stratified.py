"""Initial design of a search without noise: a Latin hypercube, drawn one by one."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import prod
from random import Random

from paramhs.core.space import Config, Space
from paramhs.search.operators.operator import PATIENCE, ByOutcomes, Move, draw_from

Strata = tuple[tuple[range, ...], ...]
"""For each parameter, the stretches of indices from which its next value is drawn: one for each
place that is left."""


def strata_left(space: Space, configs: Iterable[Config], count: int) -> Strata:
    """For each parameter, the places left in `count` equal stretches.

    A parameter with fewer values has a stretch for each, with several places.
    """
    known = list(configs)
    left = []
    for position, parameter in enumerate(space.listed):
        parts = min(count, parameter.levels)
        used = [0] * parts
        for config in known:
            index = config.indices[position]
            if index >= 0:
                used[index * parts // parameter.levels] += 1
        places = -(-count // parts)
        ends = [-(-part * parameter.levels // parts) for part in range(parts + 1)]
        left.append(
            tuple(
                range(*ends[part : part + 2])
                for part in range(parts)
                for _ in range(max(places, min(used) + 1) - used[part])
            )
        )
    return tuple(left)


@dataclass(frozen=True)
class Stratified(ByOutcomes):
    """Any configuration with each value in one of its parameter's stretches.

    A place is chosen at random, and a value of its stretch at random. So few configurations spread
    evenly over every parameter. (Taking the least used stretch each time would be even more even,
    but where parameters have two values, every second configuration would be the opposite of the
    one before.)

    Source: Latin hypercube sampling (McKay, Beckman, Conover, Technometrics 21, 1979), drawn one by
    one.
    """

    strata: Strata

    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """Products of the values' probabilities."""
        laws = [_law(parts) for parts in self.strata]
        for config in space.configs():
            drawn = zip(laws, config.indices, strict=True)
            each = [law.get(index, Fraction(0)) for law, index in drawn if index >= 0]
            if all(each) and config != at and config not in excluded:
                yield (config,), prod(each, start=Fraction(1))

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw from the law, again while forbidden; then from a list, if few are allowed at all.

        Elsewhere, 1,000 failures in a row are taken to mean that there is no move.
        """
        for config in islice(self._draws(space, rng), PATIENCE):
            if config != at and config not in excluded and space.allowed(config):
                return (config,)
        if space.few is None:
            return ()
        return draw_from(self.distribution(space, at, excluded), rng)

    def _draws(self, space: Space, rng: Random) -> Iterator[Config]:
        while True:
            parts = [some[int(rng.random() * len(some))] for some in self.strata]
            yield space.configured([part[int(rng.random() * len(part))] for part in parts])


def _law(places: Sequence[range]) -> dict[int, Fraction]:
    """Probability of each value."""
    law: dict[int, Fraction] = {}
    for stretch in places:
        for index in stretch:
            law[index] = law.get(index, Fraction(0)) + Fraction(1, len(places) * len(stretch))
    return law
