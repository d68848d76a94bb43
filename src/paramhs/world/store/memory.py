"""Runs in memory, gone with the process."""

from collections.abc import Iterable, Iterator
from itertools import chain

from paramhs.values.runs import Instance, Point, Run, Task, answer
from paramhs.values.space import Config


class MemoryStore:
    """A dictionary from what was run to its runs, the smallest cutoff first."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.wall_time = 0.0
        self.target_time = 0.0
        self._runs: dict[tuple[Config, Instance, int], list[Run]] = {}
        self._asked: dict[int, Run] = {}

    def get(self, task: Task, asked: int | None = None) -> Run | None:
        """The stored answer to a task."""
        for run in self._runs.get(task.call, ()):
            found = answer(run, task)
            if found is not None:
                return found
        return None

    def put(self, run: Run, asked: int | None = None) -> None:
        """Keep a run; the first answer to a task stays."""
        if asked is not None:
            self._asked.setdefault(asked, run)
        runs = self._runs.setdefault(run.task.call, [])
        if all(made.task != run.task for made in runs):
            runs.append(run)
            runs.sort(key=lambda made: made.task.cutoff)
            self.target_time += run.runtime

    def arrived(self, position: int) -> Run | None:
        """The run that was put as this one asked for."""
        return self._asked.get(position)

    def forget(self, tasks: Iterable[Task]) -> None:
        """Remove the runs of tasks."""
        for task in tasks:
            for run in [made for made in self._runs.get(task.call, ()) if made.task == task]:
                self._runs[task.call].remove(run)
                self.target_time -= run.runtime

    def record(self, position: int, point: Point) -> None:
        """Nobody looks into memory."""

    def __len__(self) -> int:
        return sum(map(len, self._runs.values()))

    def __iter__(self) -> Iterator[Run]:
        """All runs."""
        return chain.from_iterable(self._runs.values())

    def close(self) -> None:
        """Nothing to do."""
