"""Runs that were made: in a SQLite file, or in memory."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from paramhs.values.runs import Point, Run, Task
from paramhs.values.space import Config, Space
from paramhs.world.store.memory import MemoryStore

__all__ = ["NOTHING_KNOWN", "Known", "MemoryStore", "Store", "open_store"]


class Known(NamedTuple):
    """What a search begins with that has earlier ones to learn from."""

    runs: tuple[Run, ...] = ()
    initial: tuple[Config, ...] = ()
    """Configurations to try first."""


class Store(Protocol):
    """What a driver needs of a store."""

    notices: list[str]
    """What the user should know about it."""
    wall_time: float
    """Seconds that earlier sessions took."""
    target_time: float
    """Seconds that the target ran, over all runs stored."""

    def get(self, task: Task, asked: int | None = None) -> Run | None:
        """The stored answer to a task: of its runs with several cutoffs, that of the smallest that
        has one (`values.runs.answer`).

        `asked` says that the search asks for it now, and after how many runs. A store that knows
        better has seen the search go another way, and raises `StoreError`.
        """

    def put(self, run: Run, asked: int | None = None) -> None:
        """Keep a run; the first answer to a task stays. `asked`: as above, if it was asked for."""

    def arrived(self, position: int) -> Run | None:
        """The run that was put as this one asked for, in an earlier session or in this."""

    def forget(self, tasks: Iterable[Task]) -> None:
        """Remove the runs of tasks."""

    def record(self, position: int, point: Point) -> None:
        """Keep a step of the trajectory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Run]: ...

    def close(self) -> None:
        """Let the next writer in."""


NOTHING_KNOWN = Known()


def open_store(
    path: str | Path | None,
    space: Space,
    description: Mapping[str, object],
    source: str = "",
    known: Known = NOTHING_KNOWN,
) -> Store:
    """The store in this file, or one in memory.

    `source` is a digest of the target's code; `known` is kept in a new file.
    """
    if path is None:
        return MemoryStore()
    # Here, so that sqlite3 and psutil are imported only where they are needed.
    from paramhs.world.store.sqlite import SqliteStore

    return SqliteStore(path, space, description, source, *known)
