"""Moves for targets without noise: expected improvement, with the plain law as a safety net."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random

from paramhs.core.space import Config, Space
from paramhs.search.operators.operator import (
    LISTABLE,
    ByOutcomes,
    Move,
    Operator,
    conditioned,
    law_of_best,
    mixed,
    some_of,
)
from paramhs.search.operators.several_parameters import SeveralParameters
from paramhs.search.operators.uniform_random import UniformRandom

Score = Callable[[Sequence[Config]], list[float]]
"""Value of trying each configuration; lower is better."""

_DRAWS = 3  # draws for each wanted candidate, before there are fewer


@dataclass(frozen=True)
class Improving(Operator):
    """With probability `epsilon` a plain move, else the best of some candidates by a score.

    A candidate is any configuration with probability `anywhere`, else a plain move from one of
    `bases`, chosen at random: several good configurations, so that the search can leave a valley
    that is not the deepest.

    No move is ever less likely than `epsilon` times its plain probability.
    """

    plain: SeveralParameters
    epsilon: float
    bases: tuple[Config, ...]
    score: Score
    candidates: int
    anywhere: float = 0.25

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """Exact law, for spaces that can be enumerated."""
        plain = self.plain.distribution(space, at, excluded)
        one = self._law_of_one(space, at, excluded)
        if not one:
            return plain
        costs = self.score([config for (config,) in one])
        best = law_of_best(one, dict(zip(one, costs, strict=True)), self.candidates)
        return mixed(plain, best, self.epsilon) if plain else best

    def _law_of_one(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> dict[Move, Fraction]:
        """Law of a single candidate."""
        near = (1 - Fraction(self.anywhere)) / len(self.bases)
        ways: list[tuple[ByOutcomes, Config, Fraction]] = [
            (UniformRandom(), at, Fraction(self.anywhere))
        ]
        ways += [(self.plain, base, near) for base in self.bases]
        return conditioned(
            (move, share * p)
            for way, base, share in ways
            for move, p in way.outcomes(space, base, excluded)
            if move != (at,)
        )

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw from the law.

        Where candidates keep being excluded, a small space is enumerated; in a large one there are
        fewer, and without any the move is a plain one.
        """
        if rng.random() < self.epsilon:
            move = self.plain.sample(space, at, rng, excluded)
            if move:
                return move
        drawn = islice(self._draws(space, rng), self.candidates * _DRAWS)
        allowed = (c for c in drawn if c is not None and c != at and c not in excluded)
        found = list(islice(allowed, self.candidates))
        if len(found) < self.candidates and space.combinations <= LISTABLE:
            one = self._law_of_one(space, at, excluded)
            found = some_of(one, self.candidates, rng) if one else []
        if not found:
            return self.plain.sample(space, at, rng, excluded)
        costs = self.score(found)
        return (found[costs.index(min(costs))],)

    def _draws(self, space: Space, rng: Random) -> Iterator[Config | None]:
        """Yield candidates without end, None where one is forbidden."""
        near = [self.plain.draws(space, base, rng) for base in self.bases]
        while True:
            if rng.random() < self.anywhere:
                yield next(space.draws(rng, 1), None)
            else:
                yield next(near[int(rng.random() * len(near))], None)
