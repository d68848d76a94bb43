"""Random search's move: anywhere, wherever one is."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random

from paramhs.operators.moves import (
    LISTABLE,
    PATIENCE,
    Move,
    conditioned,
    draw_from,
    successively,
)
from paramhs.space import Config, Space


@dataclass(frozen=True)
class Anywhere:
    """Any other configuration, by the law of `Space.sample`."""

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law; its size is that of the space."""
        return conditioned(self._outcomes(space, at, excluded))

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
        """A draw from the law; 1,000 failures in a row in a large space mean that none is left."""
        for _ in range(PATIENCE):
            config = space.sample(rng)
            if config != at and config not in excluded:
                return (config,)
        if space.combinations > LISTABLE:
            return ()
        return draw_from(self.distribution(space, at, excluded), rng)

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)
