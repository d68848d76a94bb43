"""Moves from one incumbent after the other, each drawn by itself."""

from collections.abc import Container, Iterator
from functools import partial
from itertools import chain

from paramhs.core.space import Config
from paramhs.search.history import History
from paramhs.search.operators import Learner, Move, Operator, UniformRandom, given
from paramhs.search.peekable import Peekable

_MAX_EXCLUDED_DRAWS = 100  # excluded moves drawn in a row before they are ruled out
_MAX_REPEATS = 20  # excluded moves drawn again before they are ruled out until the next incumbent


class Moves:
    """The moves of an operator from each incumbent.

    At every new incumbent the operator reads the history, if it learns, and a new random stream
    begins. So moves that were drawn ahead of time and not used change nothing.
    """

    def __init__(self, operator: Operator | Learner, history: History) -> None:
        self._operator = operator
        self._learns = isinstance(operator, Learner)
        self._history = history
        self._incumbents = 0
        self._at: Config | None = None

    def look(self, incumbent: Config) -> set[Config]:
        """Begin at a new incumbent; return rejected configurations that are wanted back."""
        if incumbent is self._at:
            return set()
        history, self._at = self._history, incumbent
        self._incumbents += 1
        self._now = given(self._operator, history)
        history.weigh_instances(self._now.noise_of)
        rng = history.rng("moves", self._incumbents)
        self._last_resort = history.rng("last moves", self._incumbents)
        draw = partial(self._now.sample, history.scenario.space, incumbent, rng)
        self._drawn: Peekable[Move] = Peekable(iter(draw, ()))
        self._excluded: set[Move] = set()
        self._repeats = 0
        return set(chain.from_iterable(self._now.returning))

    def take(self, incumbent: Config, excluded: Container[Config] = ()) -> Move:
        """Draw the next move with a challenger that is not excluded; empty if there is none."""
        self.look(incumbent)
        space = self._history.scenario.space
        return self._next(excluded) or self._now.sample(
            space, incumbent, self._last_resort, excluded
        )

    def _next(self, excluded: Container[Config]) -> Move:
        """The next drawn move that is not excluded; empty where few are left."""
        for _ in range(_MAX_EXCLUDED_DRAWS):
            move = () if self._is_spent else next(self._drawn, ())
            left = tuple(config for config in move if config not in excluded)
            if left or not move:
                return left
            self._repeats += move in self._excluded
            self._excluded.add(move)
        return ()

    @property
    def _is_spent(self) -> bool:
        """Whether a learner draws the same excluded moves again, which takes time."""
        return self._learns and self._repeats >= _MAX_REPEATS

    def jump(self, incumbent: Config, excluded: Container[Config]) -> Move:
        """Draw any configuration that is not excluded, where moves cannot lead further."""
        space = self._history.scenario.space
        return UniformRandom().sample(space, incumbent, self._last_resort, excluded)

    def peek(self) -> Iterator[Config]:
        """The challengers to come while the incumbent stays."""
        return chain.from_iterable(self._drawn.peek())
