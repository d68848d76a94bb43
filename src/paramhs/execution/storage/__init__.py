"""Storage of runs: in a SQLite file, or in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from paramhs.core.runs import Point, Run, Task
from paramhs.core.space import Config, Space
from paramhs.execution.storage.memory import MemoryStore
from paramhs.execution.subject import Sight, Subject
from paramhs.search.history import Race

__all__ = [
    "ABLATION",
    "NOTHING_KNOWN",
    "PORTFOLIO",
    "SEARCH",
    "VERDICT",
    "Known",
    "MemoryStore",
    "Store",
    "open_store",
]

SEARCH, VERDICT, ABLATION, PORTFOLIO = "search", "verdict", "ablation", "portfolio"
"""Names of the records that a store may hold."""


class Known(NamedTuple):
    """Runs and configurations known before a search."""

    runs: tuple[Run, ...] = ()
    initial: tuple[Config, ...] = ()
    """Configurations to try first."""


class Store(Protocol):
    """The interface of stores to the driver."""

    notices: list[str]
    """Notices for the user about the store."""
    sight: Sight | None
    """Files that runs depend on, as they were at opening; None if they are not watched."""
    wall_time: float
    """Duration of earlier sessions in seconds."""
    target_time: float
    """Total runtime in seconds of all stored runs and of those ended without a result."""

    elapsed: Sequence[float]
    """Seconds until each run requested in earlier sessions was stored, by its number."""

    @property
    def sessions(self) -> int:
        """Number of sessions that stored runs, at least one."""

    @property
    def unasked(self) -> int:
        """Number of stored runs that were never requested."""

    def get(self, task: Task, asked: int | None = None) -> Run | None:
        """Stored answer to a task: of its runs, the one with the smallest sufficient cutoff.

        `asked` is the number of earlier requests if the search requests it now. A store that
        recorded another request there raises `StoreError`.
        """

    def put(self, run: Run, asked: int | None = None) -> float:
        """Keep a run; the first answer to a task stays. `asked`: as above, if it was asked for.

        Returns the seconds from the beginning, over all sessions.
        """

    def add_time(self, seconds: float) -> None:
        """Add to the target time that of a run ended without a result."""

    def relabel(self, run: Run, limit: float) -> None:
        """Replace the status of a stored run by the one that follows from its answer.

        A run that respected the cutoff it received was capped if that was below the `limit`, and
        timed out otherwise, whatever cutoff it is judged for now.
        """

    def forget(self, tasks: Iterable[Task]) -> None:
        """Remove the runs of tasks."""

    def record(self, position: int, point: Point) -> None:
        """Store a step of the trajectory."""

    def record_race(self, position: int, race: Race) -> None:
        """Store a decided race."""

    def record_references(self, count: int) -> None:
        """Store the number of runs of the default made only for reference answers."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Run]: ...

    def close(self) -> None:
        """Release the store for the next writer."""


NOTHING_KNOWN = Known()


def open_store(
    path: str | Path | None,
    space: Space,
    description: Mapping[str, object],
    subject: Subject | None = None,
    known: Known = NOTHING_KNOWN,
    accept_changed: bool = False,
    record: str = SEARCH,
) -> Store:
    """Open a record of the store in this file, or one in memory.

    `subject` identifies what its runs are made with; a record made with something else is rejected
    unless `accept_changed`. `known` is stored in a new record.
    """
    if path is None:
        return MemoryStore(subject)
    # Here, so that sqlite3 and psutil are imported only where they are needed.
    from paramhs.execution.storage.sqlite import SqliteStore

    return SqliteStore(
        path, space, description, subject, *known, record=record, accept_changed=accept_changed
    )
