"""One parameter with many values, searched as one looks for the lowest point of a valley.

Where a challenger lost, what lies beyond it is probably worse still; where an incumbent was left
for a better one, so is what lies behind it. So the weights of those values shrink, but never to
nothing: with a constant probability the move is a plain one, without which rugged landscapes would
not be searched at all. On a landscape with one valley this halves the interval in doubt again and
again, as golden section does, yet it stays a search from the incumbent that may be wrong about
everything and still end.
"""

from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate, pairwise
from random import Random
from typing import TYPE_CHECKING

from paramhs.search.operators.moves import (
    REDRAWS,
    ByOutcomes,
    Move,
    Operator,
    Seen,
    draw_from,
    mixed,
    successively,
)
from paramhs.search.operators.one import One
from paramhs.values.errors import BadInput
from paramhs.values.space import Config, Space

if TYPE_CHECKING:
    from paramhs.search.history import History

_MOST = 9  # times that a value's weight is damped

Stretch = tuple[int, int, Fraction]
"""Values from one index up to, but without, another, and the weight of each."""


@dataclass(frozen=True)
class Narrowed(ByOutcomes):
    """With probability `share` a plain move; else one ordered parameter moves by these weights."""

    plain: Operator
    share: float
    at: Config
    """Where the weights hold."""
    stretches: tuple[tuple[Stretch, ...], ...]
    """For each movable parameter."""

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law."""
        plain = self.plain.distribution(space, at, excluded)
        weighted = super().distribution(space, at, excluded) if at == self.at else {}
        return mixed(plain, weighted, self.share)

    def _outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        for position, stretches in zip(at.movable, self.stretches, strict=True):
            total = sum(((after - first) * w for first, after, w in stretches), Fraction(0))
            for first, after, weight in stretches:
                for index in range(first, after):
                    config = space.moved(at, ((position, index),))
                    if config is not None and config != at and config not in excluded:
                        yield (config,), weight / total / len(at.movable)

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law: redrawn while excluded, then from a list of what is left."""
        if at != self.at or not at.movable or rng.random() < self.share:
            return self.plain.sample(space, at, rng, excluded)
        for _ in range(REDRAWS):
            number = int(rng.random() * len(at.movable))
            index = _drawn(self.stretches[number], self._sums[number], rng)
            config = space.moved(at, ((at.movable[number], index),))
            if config is not None and config != at and config not in excluded:
                return (config,)
        law = super().distribution(space, at, excluded)
        return draw_from(law, rng) if law else self.plain.sample(space, at, rng, excluded)

    @cached_property
    def _sums(self) -> list[list[float]]:
        return [
            list(accumulate((after - first) * float(weight) for first, after, weight in stretches))
            for stretches in self.stretches
        ]

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)


def _drawn(stretches: tuple[Stretch, ...], sums: list[float], rng: Random) -> int:
    chosen = min(bisect_right(sums, rng.random() * sums[-1]), len(sums) - 1)
    first, after, _ = stretches[chosen]
    return first + int(rng.random() * (after - first))


@dataclass(frozen=True)
class Narrowing:
    """Moves of one parameter that learn from every race along it.

    All weights begin equal. Each challenger that lost multiplies those beyond it by `damping`, and
    each incumbent that was left those behind it; races count if the two differ in that parameter
    alone and are like the incumbent in all others. Categories have no sides, so they keep equal
    weights.
    """

    plain: Operator = One()
    share: float = 0.3
    damping: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or not 0 < self.damping <= 1:
            raise BadInput("share and damping must be above 0 and at most 1")

    def given(self, history: "History") -> Operator:
        """The weights around the incumbent, from all races so far."""
        at = _incumbent(history)
        if at is None:
            return self.plain
        return Narrowed(self.plain, self.share, at, self._stretches(history, at))

    def is_due(self, history: "History", seen: Seen) -> bool:
        """After every race."""
        return len(history.races) > seen.races

    def _stretches(self, history: "History", at: Config) -> tuple[tuple[Stretch, ...], ...]:
        along: dict[int, dict[int, int]] = {position: {} for position in at.movable}
        for race in history.races:
            position = _only_difference(race.challenger, race.incumbent)
            if position in along and _only_difference(race.challenger, at) in (None, position):
                new, old = (c.indices[position] for c in (race.challenger, race.incumbent))
                _damp(along[position], *((old, new) if race.won else (new, old)))
        listed = history.scenario.space.listed
        return tuple(
            self._cut(listed[i].levels, along[i] if listed[i].ordered else {}) for i in at.movable
        )

    def _cut(self, levels: int, changes: dict[int, int]) -> tuple[Stretch, ...]:
        """Stretches of equal weight, from how often what begins at an index is damped more."""
        ends = sorted({0, levels, *(index for index in changes if 0 < index < levels)})
        damping = Fraction(self.damping).limit_denominator(1_000)
        times, stretches = 0, []
        for first, after in pairwise(ends):
            times += changes.get(first, 0)
            stretches.append((first, after, damping ** min(times, _MOST)))
        return tuple(stretches)


def _damp(changes: dict[int, int], loser: int, winner: int) -> None:
    """What lies on the loser's side, the loser included, is damped once more."""
    first, after = (loser, None) if loser > winner else (0, loser + 1)
    changes[first] = changes.get(first, 0) + 1
    if after is not None:
        changes[after] = changes.get(after, 0) - 1


def _only_difference(first: Config, second: Config) -> int | None:
    """The one position in which two configurations differ; None if there is not exactly one."""
    pairs = zip(first.indices, second.indices, strict=True)
    differing = [i for i, (a, b) in enumerate(pairs) if a != b]
    return differing[0] if len(differing) == 1 else None


def _incumbent(history: "History") -> Config | None:
    """The winner of the last race."""
    if not history.races:
        return None
    last = history.races[-1]
    return last.challenger if last.won else last.incumbent
