"""Moves from the incumbent, which can be looked at ahead of time."""

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from paramhs.search.ahead import Ahead
from paramhs.search.history import History
from paramhs.search.operators import Anywhere, Learner, Move, Operator, Seen, given
from paramhs.values.space import Config

_PASSED_OVER = 100  # excluded moves drawn in a row before they are ruled out
_FARTHEST = 1_000  # moves after a win that one may look at


class Moves:
    """The moves of an operator from one incumbent after the other.

    The operator is asked what it would do at every new incumbent, and, if it learns, whenever it
    says that it is due; each time a new random stream begins. So what was looked at in vain changes
    nothing, and between two looks at the history the future is known. What an operator that learns
    draws is then neither what was rejected at that look nor what was drawn since: its laws may have
    few moves that are likely, and each is wanted once.
    """

    def __init__(self, operator: Operator | Learner, history: History) -> None:
        self._operator = operator
        self._is_due: Callable[[History, Seen], bool] | None = getattr(operator, "is_due", None)
        self._history = history
        self._looks = 0
        self._seen = Seen(0, 0)
        self._at: Config | None = None

    def _look(self, incumbent: Config, rejected: Collection[Config]) -> set[Config]:
        history, self._at = self._history, incumbent
        self._looks += 1
        self._seen = Seen(history.learned, len(history.races))
        self._now = given(self._operator, history)
        history.noise_of = getattr(self._now, "noise_of", {})
        rng = history.rng("moves", self._looks)
        self._last_resort = history.rng("last moves", self._looks)
        draw: Callable[..., Move] = partial(
            self._now.sample, history.scenario.space, incumbent, rng
        )
        returning = set(chain.from_iterable(getattr(self._now, "returning", ())))
        excluded = {config for config in rejected if config not in returning}
        learns = self._is_due is not None
        self._drawn: Ahead[Move] = Ahead(_new(draw, excluded) if learns else iter(draw, ()))
        return returning

    def look(self, incumbent: Config, rejected: Collection[Config] = ()) -> set[Config]:
        """Look at the history if it is time to: who then is to return, though it was rejected."""
        due = self._is_due is not None and self._is_due(self._history, self._seen)
        return self._look(incumbent, rejected) if due or incumbent is not self._at else set()

    def take(self, incumbent: Config, excluded: Collection[Config] = ()) -> Move:
        """The next move with a challenger that is not excluded; empty if there is none."""
        self.look(incumbent, excluded)
        for move in islice(self._drawn, _PASSED_OVER):
            left = tuple(config for config in move if config not in excluded)
            if left:
                return left
        space = self._history.scenario.space
        return self._now.sample(space, incumbent, self._last_resort, excluded)

    def jump(self, incumbent: Config, excluded: Container[Config]) -> Move:
        """Any configuration that is not excluded, where moves cannot lead further."""
        space = self._history.scenario.space
        return Anywhere().sample(space, incumbent, self._last_resort, excluded)

    def ahead(
        self, history: History, now: Sequence[Config] = (), excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """The challengers to come if the incumbent survives, after the present one and the rest of
        its move; each once, for who is rejected does not come again.

        They end where an operator that learns looks again, if this history goes on.
        """
        seen = set(now[:1])
        for config in chain(now, chain.from_iterable(self._drawn.peek())):
            if self._is_due is not None and self._is_due(history, self._seen):
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


def _new(draw: Callable[[set[Config]], Move], excluded: set[Config]) -> Iterator[Move]:
    """Moves to where none has led yet, and not to those excluded."""
    while move := draw(excluded):
        excluded.update(move)
        yield move
