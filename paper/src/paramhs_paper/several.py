"""Points of a figure, computed several at a time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

T = TypeVar("T")
A = TypeVar("A")


def all_answered(
    answered: Callable[[T], A], tasks: Sequence[T], jobs: int, advance: Callable[[], object]
) -> Iterator[A]:
    """The answers in the order of the tasks, which do not depend on the number of processes."""
    if jobs == 1:
        for task in tasks:
            yield answered(task)
            advance()
        return
    with ProcessPoolExecutor(jobs) as pool:
        for answer in pool.map(answered, tasks, chunksize=4):
            yield answer
            advance()
