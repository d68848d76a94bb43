"""Looking at what comes next before it is taken."""

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

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
