"""The move of random search: any other configuration."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from math import prod
from random import Random

from paramhs.core.random_streams import below
from paramhs.core.space import Config, Space
from paramhs.search.operators.operator import PATIENCE, ByOutcomes, Move, draw_from

_MAX_COMBINATIONS = 500_000  # combinations that may be enumerated


@dataclass(frozen=True)
class UniformRandom(ByOutcomes):
    """Move to any other configuration, by the law of `Space.sample`.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.search import UniformRandom
        >>> space = Space({"x": range(3), "y": range(3)})
        >>> len(UniformRandom().distribution(space, space.default))
        8
    """

    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """All other configurations, equally likely before conditions."""
        levels = [p.levels for p in space.listed]
        for config in space.configs():
            if config != at and config not in excluded:
                drawn = zip(levels, config.indices, strict=True)
                yield (config,), Fraction(1, prod(many for many, index in drawn if index >= 0))

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw from the law.

        Where drawing keeps failing, few configurations are enumerated, and a larger space is walked
        from a random start to the first configuration that is left.
        """
        for config in islice(space.draws(rng), PATIENCE):
            if config != at and config not in excluded:
                return (config,)
        if space.few is not None:
            return draw_from(self.distribution(space, at, excluded), rng)
        if space.combinations > _MAX_COMBINATIONS:
            return ()
        return self._walked(space, at, below(space.combinations, rng), excluded)

    def _walked(self, space: Space, at: Config, start: int, excluded: Container[Config]) -> Move:
        for number in chain(range(start, space.combinations), range(start)):
            config = space.numbered(number)
            if config != at and config not in excluded and space.allowed(config):
                return (config,)
        return ()
