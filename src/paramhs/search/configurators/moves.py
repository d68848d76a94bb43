"""Moves from the incumbent, which can be looked at ahead of time."""

from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Generic, TypeVar

from paramhs.search.history import History
from paramhs.search.operators import Anywhere, Learner, Move, Operator, Seen, given
from paramhs.values.space import Config

T = TypeVar("T")

_PASSED_OVER = 100  # excluded moves drawn in a row before they are ruled out
_FARTHEST = 1_000  # items ahead that one may look at: there may be no end of them


class Ahead(Generic[T]):
    """An iterator whose next items can be looked at before they are taken.

    Looking changes nothing: the items come from a random stream of their own.
    """

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._waiting: deque[T] = deque()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return self._waiting.popleft() if self._waiting else next(self._items)

    def peek(self) -> Iterator[T]:
        """The items to come, as far as one may look."""
        for position in range(_FARTHEST):
            if position == len(self._waiting):
                try:
                    self._waiting.append(next(self._items))
                except StopIteration:
                    return
            yield self._waiting[position]


class Moves:
    """The moves of an operator from one incumbent after the other.

    The operator is asked what it would do at every new incumbent, and, if it learns, whenever it
    says that it is due; each time a new random stream begins. So what was looked at in vain changes
    nothing, and between two looks at the history the future is known.
    """

    def __init__(self, operator: Operator | Learner, history: History) -> None:
        self._operator = operator
        self._is_due: Callable[[History, Seen], bool] | None = getattr(operator, "is_due", None)
        self._history = history
        self._looks = 0
        self._seen = Seen(0, 0)
        self._at: Config | None = None

    def _look(self, incumbent: Config) -> None:
        history, self._at = self._history, incumbent
        self._looks += 1
        self._seen = Seen(len(history.runs), len(history.races))
        self._now = given(self._operator, history)
        rng = history.rng("moves", self._looks)
        self._last_resort = history.rng("last moves", self._looks)
        draw = partial(self._now.sample, history.scenario.space, incumbent, rng)
        self._drawn: Ahead[Move] = Ahead(iter(draw, ()))

    def take(self, incumbent: Config, excluded: Container[Config] = ()) -> Move:
        """The next move with a challenger that is not excluded; empty if there is none."""
        due = self._is_due is not None and self._is_due(self._history, self._seen)
        if due or incumbent is not self._at:
            self._look(incumbent)
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
        self, now: Sequence[Config] = (), excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """The challengers to come if the incumbent survives, after the present one and the rest of
        its move; each once, for who is rejected does not come again."""
        seen = set(now[:1])
        for config in chain(now, chain.from_iterable(self._drawn.peek())):
            if config not in seen and config not in excluded:
                seen.add(config)
                yield config
