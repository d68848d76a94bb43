"""Runs in memory, gone with the process."""

from collections.abc import Iterable, Iterator

from paramhs.values.runs import Point, Run, Task


class MemoryStore:
    """A dictionary."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.wall_time = 0.0
        self.target_time = 0.0
        self._runs: dict[Task, Run] = {}

    def get(self, task: Task, asked: int | None = None) -> Run | None:
        """The stored run of a task."""
        return self._runs.get(task)

    def put(self, run: Run, asked: int | None = None) -> None:
        """Keep a run; the first answer to a task stays."""
        if self._runs.setdefault(run.task, run) is run:
            self.target_time += run.runtime

    def forget(self, tasks: Iterable[Task]) -> None:
        """Remove the runs of tasks."""
        for task in tasks:
            run = self._runs.pop(task, None)
            self.target_time -= run.runtime if run else 0.0

    def record(self, position: int, point: Point) -> None:
        """Nobody looks into memory."""

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        """All runs."""
        return iter(self._runs.values())

    def close(self) -> None:
        """Nothing to do."""
