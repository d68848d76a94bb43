"""Base class of operators, and drawing of neighbours without replacement."""

import math
from abc import ABC, abstractmethod
from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from fractions import Fraction
from functools import partial
from random import Random
from typing import TYPE_CHECKING, TypeVar

from paramhs.core.space import Config, Space

if TYPE_CHECKING:
    from paramhs.search.history import History

Move = tuple[Config, ...]
"""Challengers proposed by a move, to race in turn (almost always one); empty if none."""

REDRAWS = 100  # failed draws in a row before the rest of a neighbourhood is listed
PATIENCE = 1_000  # failed draws in a row where the neighbourhood is the whole space
MAX_LISTED_CONFIGS = 10_000  # largest space that is listed

K = TypeVar("K", bound=Hashable)


NOTHING_KNOWN: Mapping[str, float] = {}


class Guide(ABC):
    """A way to draw moves from a configuration; its law need not be known.

    What is drawn depends on the arguments alone, the state of `rng` included.
    """

    returning: Sequence[Sequence[Config]] = ()
    """Rejected configurations to try again, in lists of which the guide takes one."""
    noise_of: Mapping[str, float] = NOTHING_KNOWN
    """Variance of a run by instance, relative to the average; empty if nothing is known."""

    @abstractmethod
    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw a random move; the empty move if there is none.

        Args:
            space: The space.
            at: The configuration to move from.
            rng: Source of randomness.
            excluded: Configurations to leave out.

        Returns:
            A move; empty if there is none.
        """


class Operator(Guide):
    """Law of moves from a configuration, and a fast way to draw from it: `sample`.

    Forbidden results, and those in `excluded`, are left out by conditioning.
    """

    @abstractmethod
    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """Return the exact law, which defines the operator; empty if there is no move.

        Args:
            space: The space.
            at: The configuration to move from.
            excluded: Configurations to leave out.

        Returns:
            The probability of each move.
        """

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Yield each neighbour once, drawn without replacement.

        These are successive samples, unless the operator has a faster way.

        Args:
            space: The space.
            at: The configuration to move from.
            rng: Source of randomness.
            excluded: Configurations to leave out.

        Returns:
            The neighbours in the order drawn.
        """
        return successively(partial(self.sample, space, at, rng), excluded)


RUNS_PER_CHALLENGER = 10  # runs so far for each open race


class Learner(ABC):
    """An operator that learns: for each cohort of challengers it reads the history anew.

    `given(history)` is the operator from which a cohort is drawn, with an exact law like any other.
    """

    @abstractmethod
    def given(self, history: "History") -> Operator:
        """Refit: return the operator for this history, and for nothing else.

        Args:
            history: Everything the search knows.

        Returns:
            The operator for the next cohort.
        """

    def cohort(self, history: "History") -> int:
        """Number of challengers to draw from one look at the history.

        Args:
            history: What the search knows.

        Returns:
            A number from 1 on; by default a tenth of the runs so far. With 1, the operator
            learns from every race, but idle workers have no work.
        """
        return max(1, history.learned // RUNS_PER_CHALLENGER)


def cohort_size(operator: "Operator | Learner", history: "History") -> int:
    """Number of challengers drawn from one look at the history."""
    if isinstance(operator, Learner):
        return operator.cohort(history)
    return max(1, history.learned // RUNS_PER_CHALLENGER)


def given(operator: "Operator | Learner", history: "History") -> Operator:
    """Return the current operator; one that does not learn is always itself."""
    return operator.given(history) if isinstance(operator, Learner) else operator


class ByOutcomes(Operator):
    """An operator whose law is given by the outcomes of a draw, conditioned on being a move."""

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """Exact law of the operator."""
        return conditioned(self.outcomes(space, at, excluded))

    @abstractmethod
    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """Moves with their weights, possibly repeated; those without challengers are left out.

        Args:
            space: The space.
            at: The configuration to move from.
            excluded: Configurations to leave out.

        Returns:
            Pairs of a move and its weight.
        """


def conditioned(outcomes: Iterable[tuple[Move, Fraction]]) -> dict[Move, Fraction]:
    """Law given that the move is not empty."""
    sums: dict[Move, Fraction] = {}
    for move, probability in outcomes:
        if move:
            sums[move] = sums.get(move, Fraction(0)) + probability
    total = sum(sums.values())
    return {move: probability / total for move, probability in sums.items()}


def mixed(
    plain: dict[Move, Fraction], other: dict[Move, Fraction], share: float | Fraction
) -> dict[Move, Fraction]:
    """Law of drawing from `plain` with probability `share`, else from `other` if it has moves."""
    if not other:
        return plain
    first = Fraction(share)
    law = {move: first * p for move, p in plain.items()}
    for move, p in other.items():
        law[move] = law.get(move, Fraction(0)) + (1 - first) * p
    return law


def draw_from(law: dict[Move, Fraction], rng: Random) -> Move:
    """Draw from an enumerated law."""
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
    """Yield draws from what is left, with probabilities proportional to weights.

    Repeating a draw that was seen gives exactly that law, so nothing is listed while this works
    well. Once it fails REDRAWS times in a row, `rest(seen)` lists what is left with its weights,
    and a race of exponential clocks (rate = weight) gives the remaining order, by the same law.
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
    """Yield samples, each excluding the previous ones, until there are no more."""
    seen = _Excluded(excluded)
    while move := sample(seen):
        seen.drawn.update(move)
        yield from move


class _Excluded:
    """Externally excluded configurations, with those drawn since."""

    def __init__(self, excluded: Container[Config]) -> None:
        self.excluded = excluded
        self.drawn: set[Config] = set()

    def __contains__(self, config: object) -> bool:
        return config in self.drawn or config in self.excluded
