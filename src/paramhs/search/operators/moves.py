"""What every operator offers, and drawing neighbours without replacement."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

from paramhs.values.space import Config, Space

if TYPE_CHECKING:
    from paramhs.search.history import History

Move = tuple[Config, ...]
"""The challengers that a move proposes, to be met in turn (nearly always one); none if empty."""

REDRAWS = 100  # draws in a row that may fail before what is left of a neighbourhood is listed
PATIENCE = 1_000  # the same, where the neighbourhood is the whole space
LISTABLE = 10_000  # and how large that may be to be listed

K = TypeVar("K", bound=Hashable)


class Operator(Protocol):
    """A law of moves from a configuration, and a fast draw from it.

    Forbidden results, and those in `excluded`, are left out by conditioning.
    """

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law: the definition of the operator. Empty if there is no move."""

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from `distribution`; the empty move if there is none."""

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """The neighbours, each once, drawn without replacement; lazily."""


class Seen(NamedTuple):
    """How much of a history there was at the last look."""

    runs: int
    races: int


@runtime_checkable
class Learner(Protocol):
    """An operator that learns: at stated moments it looks at the history and becomes a plain one.

    `given(history)` is the operator it is from then on, with an exact law like any other, until
    the next look: at every new incumbent, and whenever it `is_due`. Between two looks its moves do
    not depend on what happens, so they can be drawn ahead of time.
    """

    def given(self, history: "History") -> "Operator":
        """What it does now that this is known; a function of the history alone."""

    def is_due(self, history: "History", seen: "Seen") -> bool:
        """Whether it wants to look again, though the incumbent is the same."""


def given(operator: "Operator | Learner", history: "History") -> Operator:
    """What an operator does now; one that does not learn is always itself."""
    return operator.given(history) if isinstance(operator, Learner) else operator


class ByOutcomes(ABC):
    """An operator whose law is given by the outcomes of a draw, given that one is a move."""

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law."""
        return conditioned(self._outcomes(space, at, excluded))

    @abstractmethod
    def _outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """Moves with their weights; several may be the same, and those without challengers are
        left out by conditioning."""


def conditioned(outcomes: Iterable[tuple[Move, Fraction]]) -> dict[Move, Fraction]:
    """The law given that the move is not empty."""
    sums: dict[Move, Fraction] = {}
    for move, probability in outcomes:
        if move:
            sums[move] = sums.get(move, Fraction(0)) + probability
    total = sum(sums.values())
    return {move: probability / total for move, probability in sums.items()}


def mixed(
    plain: dict[Move, Fraction], other: dict[Move, Fraction], share: float | Fraction
) -> dict[Move, Fraction]:
    """The law of drawing from `plain` with probability `share`, else from `other` if it has any."""
    if not other:
        return plain
    first = Fraction(share)
    law = {move: first * p for move, p in plain.items()}
    for move, p in other.items():
        law[move] = law.get(move, Fraction(0)) + (1 - first) * p
    return law


def draw_from(law: dict[Move, Fraction], rng: Random) -> Move:
    """A draw from a law that was written out."""
    x = rng.random()
    for move, probability in law.items():
        x -= float(probability)
        if x < 0:
            return move
    return next(reversed(law), ())


def without_replacement(
    draw: Callable[[], K],
    rest: Callable[[Collection[K]], Iterable[tuple[K, float]]],
    rng: Random,
) -> Iterator[K]:
    """Successive draws, each from what is left, with probabilities proportional to weights.

    Drawing again what was seen is that law exactly, so nothing is listed while it works well. Once
    it fails REDRAWS times in a row, `rest(seen)` lists what is left with its weights, and a race of
    exponential clocks (rate = weight) gives the remaining order, by the same law.
    """
    seen: set[K] = set()
    failures = 0
    while failures < REDRAWS:
        item = draw()
        if item in seen:
            failures += 1
            continue
        failures = 0
        seen.add(item)
        yield item
    ringing = [(-math.log(1.0 - rng.random()) / weight, item) for item, weight in rest(seen)]
    ringing.sort(key=lambda clock: clock[0])
    for _, item in ringing:
        yield item


def successively(
    sample: Callable[[Container[Config]], Move], excluded: Container[Config]
) -> Iterator[Config]:
    """What `sample` gives, excluding what it gave before, until there is no more."""
    seen = _Excluded(excluded)
    while move := sample(seen):
        seen.drawn.update(move)
        yield from move


class _Excluded:
    """What is excluded from outside, and what was drawn since."""

    def __init__(self, excluded: Container[Config]) -> None:
        self.excluded = excluded
        self.drawn: set[Config] = set()

    def __contains__(self, config: object) -> bool:
        return config in self.drawn or config in self.excluded
