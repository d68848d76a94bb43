"""Moves from the incumbent, which can be looked at ahead of time."""

from collections.abc import Container, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from paramhs.core.space import Config
from paramhs.search.history import History
from paramhs.search.lookahead.peekable import Ahead
from paramhs.search.operators import Learner, Move, Operator, Seen, UniformRandom, given

_PASSED_OVER = 100  # excluded moves drawn in a row before they are ruled out
_REPEATS = 20  # excluded moves drawn again before they are ruled out until the next look
_FARTHEST = 1_000  # moves after a win that one may look at


class Moves:
    """The moves of an operator from one incumbent after the other.

    The operator is asked what it would do at every new incumbent, and, if it learns, whenever it
    says that it is due; each time a new random stream begins. So what was looked at in vain changes
    nothing, and between two looks at the history the future is known.
    """

    def __init__(self, operator: Operator | Learner, history: History) -> None:
        self._operator = operator
        self._learner = operator if isinstance(operator, Learner) else None
        self._history = history
        self._looks = 0
        self._seen = Seen(0, 0)
        self._at: Config | None = None

    def _look(self, incumbent: Config) -> None:
        history, self._at = self._history, incumbent
        self._looks += 1
        self._seen = Seen(history.learned, len(history.races))
        self._now = given(self._operator, history)
        history.noise_of = self._now.noise_of
        rng = history.rng("moves", self._looks)
        self._last_resort = history.rng("last moves", self._looks)
        draw = partial(self._now.sample, history.scenario.space, incumbent, rng)
        self._drawn: Ahead[Move] = Ahead(iter(draw, ()))
        self._excluded: set[Move] = set()
        self._repeats = 0

    def look(self, incumbent: Config) -> set[Config]:
        """Look at the history if it is time to: who then is to return, though it was rejected."""
        due = self._learner is not None and self._learner.is_due(self._history, self._seen)
        if not due and incumbent is self._at:
            return set()
        self._look(incumbent)
        return set(chain.from_iterable(self._now.returning))

    def take(self, incumbent: Config, excluded: Container[Config] = ()) -> Move:
        """The next move with a challenger that is not excluded; empty if there is none."""
        self.look(incumbent)
        space = self._history.scenario.space
        return self._next(excluded) or self._now.sample(
            space, incumbent, self._last_resort, excluded
        )

    def _next(self, excluded: Container[Config]) -> Move:
        """The next drawn move that is not excluded; empty where few are left."""
        for _ in range(_PASSED_OVER):
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
        return self._learner is not None and self._repeats >= _REPEATS

    def jump(self, incumbent: Config, excluded: Container[Config]) -> Move:
        """Any configuration that is not excluded, where moves cannot lead further."""
        space = self._history.scenario.space
        return UniformRandom().sample(space, incumbent, self._last_resort, excluded)

    def ahead(
        self, history: History, now: Sequence[Config] = (), excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """The challengers to come if the incumbent survives, after the present one and the rest of
        its move; each once, for who is rejected does not come again.

        They end where an operator that learns looks again, if this history goes on.
        """
        seen = set(now[:1])
        drawn = () if self._is_spent else self._drawn.peek()
        for config in chain(now, chain.from_iterable(drawn)):
            if self._learner is not None and self._learner.is_due(history, self._seen):
                return
            if config not in seen and config not in excluded:
                seen.add(config)
                yield config

    def after(
        self, winner: Config, wins: int, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """The challengers to come where somebody wins, with so many wins in a row from now on; none
        are known of an operator that learns."""
        if isinstance(self._operator, Learner):
            return
        space, rng = self._history.scenario.space, self._history.rng("moves", self._looks + wins)
        draw = partial(self._operator.sample, space, winner, rng)
        seen = {winner, self._at}
        for config in chain.from_iterable(islice(iter(draw, ()), _FARTHEST)):
            if config not in seen and config not in excluded:
                seen.add(config)
                yield config
