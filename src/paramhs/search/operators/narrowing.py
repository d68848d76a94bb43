"""Search along one parameter with many values, like the minimum of a valley.

Beyond a losing challenger, values are probably worse still; so are those behind an incumbent that
was left for a better one. The weights of those values shrink, but never to zero: with a constant
probability the move is a plain one, without which rugged landscapes would not be searched at all.
On a landscape with one valley this halves the interval in question repeatedly, like golden section
search, yet it remains a search from the incumbent that may be wrong about everything and still end.
"""

from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from random import Random
from typing import TYPE_CHECKING

from paramhs.core.errors import BadInput
from paramhs.core.space import Config, Space
from paramhs.search.operators.one_parameter import OneParameter
from paramhs.search.operators.operator import (
    REDRAWS,
    ByOutcomes,
    Learner,
    Move,
    Operator,
    draw_from,
    mixed,
)

if TYPE_CHECKING:
    from paramhs.search.history import History

_MAX_DAMPINGS = 9  # largest number of times a value is damped

Stretch = tuple[int, int, Fraction]
"""Values from one index up to, but excluding, another, and the weight of each."""


@dataclass(frozen=True)
class Narrowed(ByOutcomes):
    """With probability `share` a plain move; else one ordered parameter moves by weights."""

    plain: Operator
    share: float
    at: Config
    """Configuration for which the weights hold."""
    stretches: tuple[tuple[Stretch, ...], ...]
    """Stretches for each movable parameter."""

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """Exact law of the operator."""
        plain = self.plain.distribution(space, at, excluded)
        weighted = super().distribution(space, at, excluded) if at == self.at else {}
        return mixed(plain, weighted, self.share)

    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """Steps by the weights of their stretches."""
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
        """Draw from the law, again while excluded, then from a list of what is left."""
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


def _drawn(stretches: tuple[Stretch, ...], sums: list[float], rng: Random) -> int:
    chosen = min(bisect_right(sums, rng.random() * sums[-1]), len(sums) - 1)
    first, after, _ = stretches[chosen]
    return first + int(rng.random() * (after - first))


@dataclass(frozen=True)
class Narrowing(Learner):
    """Move one parameter, and learn from every race along it.

    All weights start equal. Each losing challenger multiplies those beyond it by `damping`, and
    each replaced incumbent those behind it. Races count if the two differ in that parameter alone
    and agree with the incumbent in all others. Categories have no sides, so they keep equal
    weights.

    Args:
        plain: The operator whose law is narrowed.
        share: Probability of a plain move.
        damping: Factor for values beyond a configuration that lost.

    Examples:
        >>> from paramhs.search import Narrowing
        >>> Narrowing().damping
        0.1
    """

    plain: Operator = OneParameter()
    share: float = 0.3
    damping: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or not 0 < self.damping <= 1:
            raise BadInput("share and damping must be above 0 and at most 1")

    def given(self, history: "History") -> Operator:
        """Weights around the incumbent, from all races so far."""
        at = _incumbent(history)
        if at is None:
            return self.plain
        return Narrowed(self.plain, self.share, at, self._stretches(history, at))

    def cohort(self, history: "History") -> int:
        """One challenger, so that every race is learned from."""
        return 1

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
        """Stretches of equal weight, from the changes of damping at each index."""
        ends = sorted({0, levels, *(index for index in changes if 0 < index < levels)})
        damping = Fraction(self.damping).limit_denominator(1_000)
        times, stretches = 0, []
        for first, after in pairwise(ends):
            times += changes.get(first, 0)
            stretches.append((first, after, damping ** min(times, _MAX_DAMPINGS)))
        return tuple(stretches)


def _damp(changes: dict[int, int], loser: int, winner: int) -> None:
    """Damp the values on the loser's side once more, including the loser."""
    first, after = (loser, None) if loser > winner else (0, loser + 1)
    changes[first] = changes.get(first, 0) + 1
    if after is not None:
        changes[after] = changes.get(after, 0) - 1


def _only_difference(first: Config, second: Config) -> int | None:
    """The only position in which two configurations differ; None otherwise."""
    pairs = zip(first.indices, second.indices, strict=True)
    differing = [i for i, (a, b) in enumerate(pairs) if a != b]
    return differing[0] if len(differing) == 1 else None


def _incumbent(history: "History") -> Config | None:
    """Winner of the last race."""
    if not history.races:
        return None
    last = history.races[-1]
    return last.challenger if last.won else last.incumbent
