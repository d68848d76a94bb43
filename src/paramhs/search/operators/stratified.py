"""Initial design of a search without noise: a Latin hypercube, drawn one by one."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import prod
from random import Random

from paramhs.core.space import Config, Space
from paramhs.search.operators.operator import (
    MAX_LISTED_CONFIGS,
    PATIENCE,
    ByOutcomes,
    Move,
    draw_from,
)

Strata = tuple[tuple[range, ...], ...]
"""For each parameter, the stretches of indices from which its next value is drawn."""


def strata_left(space: Space, configs: Iterable[Config], count: int) -> Strata:
    """For each parameter, the least used of `count` equal stretches.

    A parameter with fewer values has one stretch for each.
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
        least = min(used)
        ends = [-(-part * parameter.levels // parts) for part in range(parts + 1)]
        left.append(
            tuple(range(*ends[part : part + 2]) for part in range(parts) if used[part] == least)
        )
    return tuple(left)


@dataclass(frozen=True)
class Stratified(ByOutcomes):
    """Any configuration with each value in one of its parameter's stretches.

    A stretch is chosen at random, and a value of it at random. If each next configuration comes
    from the least used stretches, few configurations spread evenly over every parameter.

    Source: Latin hypercube sampling (McKay, Beckman, Conover, Technometrics 21, 1979), drawn one by
    one.
    """

    strata: Strata

    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """Products of the values' probabilities."""
        values = [
            [(i, Fraction(1, len(parts) * len(part))) for part in parts for i in part]
            for parts in self.strata
        ]
        for chosen in product(*values):
            config = space.configured([index for index, _ in chosen])
            if config != at and config not in excluded and space.allowed(config):
                yield (config,), prod((p for _, p in chosen), start=Fraction(1))

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw from the law, again while forbidden; in small spaces then from a list.

        In a large space, 1,000 failures in a row are taken to mean that there is no move.
        """
        for config in islice(self._draws(space, rng), PATIENCE):
            if config != at and config not in excluded and space.allowed(config):
                return (config,)
        if space.combinations > MAX_LISTED_CONFIGS:
            return ()
        return draw_from(self.distribution(space, at, excluded), rng)

    def _draws(self, space: Space, rng: Random) -> Iterator[Config]:
        while True:
            parts = [some[int(rng.random() * len(some))] for some in self.strata]
            yield space.configured([part[int(rng.random() * len(part))] for part in parts])
