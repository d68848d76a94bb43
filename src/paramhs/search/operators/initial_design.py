"""The first moves of a search that learns: what a model is to learn from."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from random import Random

from paramhs.search.operators.anywhere import Anywhere
from paramhs.search.operators.moves import Move, mixed, successively
from paramhs.search.operators.several import Several
from paramhs.values.space import Config, Space


@dataclass(frozen=True)
class InitialDesign:
    """With probability `epsilon` a plain move, else any configuration.

    A configuration in which everything is drawn tells something of every parameter at once, one
    that differs from the incumbent in two values tells something of two. So a model of main effects
    learns most from the former; and where much of a space is better than the default, one of them
    is already good.

    No move is ever less likely than `epsilon` times its plain probability.

    Source: the random initial design of SMAC and irace; that plain moves keep a share is our own.
    """

    plain: Several
    epsilon: float

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law; for spaces that can be written out."""
        plain = self.plain.distribution(space, at, excluded)
        anywhere = Anywhere().distribution(space, at, excluded)
        return mixed(plain, anywhere, self.epsilon) if plain else anywhere

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law.

        In a large space of which hardly anything is allowed, where no draw succeeds, it is plain.
        """
        ways = (self.plain, Anywhere())
        first, other = ways if rng.random() < self.epsilon else reversed(ways)
        return first.sample(space, at, rng, excluded) or other.sample(space, at, rng, excluded)

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)
