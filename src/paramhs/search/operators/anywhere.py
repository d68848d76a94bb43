"""Random search's move: anywhere, wherever one is."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, islice, product
from random import Random

from paramhs.search.operators.moves import (
    LISTABLE,
    PATIENCE,
    ByOutcomes,
    Move,
    draw_from,
    successively,
)
from paramhs.values.seeds import below
from paramhs.values.space import Config, Space

_WALKABLE = 500_000  # combinations that may be gone through one by one


@dataclass(frozen=True)
class Anywhere(ByOutcomes):
    """Any other configuration, by the law of `Space.sample`."""

    def _outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        for indices in product(*(range(p.levels) for p in space.listed)):
            config = space.configured(indices)
            if config != at and config not in excluded and space.allowed(config):
                yield (config,), Fraction(1, space.combinations)

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law.

        Where drawing keeps failing, a small space is written out, and a larger one is walked from
        a random start to the first configuration that is left.
        """
        for config in islice(space.draws(rng), PATIENCE):
            if config != at and config not in excluded:
                return (config,)
        if space.combinations <= LISTABLE:
            return draw_from(self.distribution(space, at, excluded), rng)
        if space.combinations > _WALKABLE:
            return ()
        return self._walked(space, at, below(space.combinations, rng), excluded)

    def _walked(self, space: Space, at: Config, start: int, excluded: Container[Config]) -> Move:
        for number in chain(range(start, space.combinations), range(start)):
            config = space.numbered(number)
            if config != at and config not in excluded and space.allowed(config):
                return (config,)
        return ()

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)
