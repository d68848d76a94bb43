"""An iterator with lookahead."""

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

_PEEK_LIMIT = 1_000  # items to look ahead; there may be infinitely many


class Peekable(Generic[T]):
    """Iterator whose next items can be examined before they are taken.

    Peeking changes nothing, because the items come from their own random stream.
    """

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._waiting: deque[T] = deque()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return self._waiting.popleft() if self._waiting else next(self._items)

    def peek(self) -> Iterator[T]:
        """Yield the items to come, up to a limit."""
        for position in range(_PEEK_LIMIT):
            if position == len(self._waiting):
                try:
                    self._waiting.append(next(self._items))
                except StopIteration:
                    return
            yield self._waiting[position]
