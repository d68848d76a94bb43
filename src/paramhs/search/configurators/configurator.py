"""What every configurator offers, and the small parts that they share."""

from collections import deque
from collections.abc import Iterator
from random import Random
from typing import Generic, Literal, Protocol, TypeVar

from paramhs.search.comparison import Contest
from paramhs.values.errors import BadInput
from paramhs.values.runs import Search
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config, Space

T = TypeVar("T")

Start = Literal["default", "uniform"]
"""Begin at the default configuration, or (the theory's setting) at a uniformly random one."""


_FARTHEST = 1_000  # items ahead that one may look at: there may be no end of them


class Configurator(Protocol):
    """A way of searching: the description of it, not its state."""

    def search(self, scenario: Scenario, seed: int) -> Search:
        """A new search; what it does depends on its arguments and on the runs it is sent alone."""


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


def check_configurator(thing: object) -> None:
    """Refuse what is not a configurator; a class must be called first."""
    if isinstance(thing, type):
        raise BadInput(f"{thing.__name__} is a class, not a configurator: write {thing.__name__}()")
    if not hasattr(thing, "search"):
        raise BadInput(f"{thing!r} is not a configurator: it has no `search`")


def check_parts(operator: object, comparison: object, start: str) -> None:
    """Refuse what a configurator cannot be made of."""
    if isinstance(operator, type) or not hasattr(operator, "sample"):
        raise BadInput(f"{operator!r} is not an operator, such as One() or Several(Harmonic())")
    if isinstance(comparison, type) or not hasattr(comparison, "begin"):
        raise BadInput(f"{comparison!r} is not a comparison, such as Growing() or FixedRuns(10)")
    if start not in ("default", "uniform"):
        raise BadInput(f"start must be 'default' or 'uniform', not {start!r}")


def first_config(start: Start, space: Space, rng: Random) -> Config:
    """Where a search begins."""
    return space.default if start == "default" else space.sample(rng)


def all_tried(space: Space, contest: Contest) -> str | None:
    """Why there is nothing left to try, if that is so."""
    size = space.size()
    if size == 1:
        return "there is only one configuration"
    if size is None or len(contest.tried) < size:
        return None
    return f"all {size:,} configurations tried"
