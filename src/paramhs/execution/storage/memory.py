"""Store in memory, which disappears with the process."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from paramhs.core.runs import Instance, Point, Run, Status, Task, answer
from paramhs.core.space import Config
from paramhs.execution.subject import Sight, Subject
from paramhs.search.history import Race


class MemoryStore:
    """Runs by task without cutoff, the smallest cutoff first."""

    def __init__(self, subject: Subject | None = None) -> None:
        self.notices: list[str] = []
        self.sight = None if subject is None else Sight(subject)
        if self.sight is not None:
            self.sight.glance()
        self._watched: set[str] = set()
        """Names of the instances whose files were examined."""
        self.wall_time = 0.0
        self._began = time.monotonic()
        self.target_time = 0.0
        self.elapsed: Sequence[float] = ()
        self.sessions = 1
        self._unasked: set[Task] = set()
        self._runs: dict[tuple[Config, Instance, int], list[Run]] = {}

    def get(self, task: Task, asked: int | None = None) -> Run | None:
        """Stored answer to a task."""
        if self.sight is not None and task.instance.name not in self._watched:
            self._watched.add(task.instance.name)
            self.sight.glance_at_instance(task.instance)
        for run in self._runs.get(task.call, ()):
            found = answer(run, task)
            if found is not None:
                if asked is not None:
                    self._unasked.discard(run.task)
                return found
        return None

    def put(self, run: Run, asked: int | None = None) -> float:
        """Keep a run; the first answer to a task stays. Return the seconds that have passed."""
        runs = self._runs.setdefault(run.task.call, [])
        if all(made.task != run.task for made in runs):
            if asked is None:
                self._unasked.add(run.task)
            runs.append(run)
            runs.sort(key=lambda made: made.task.cutoff)
            self.target_time += run.runtime
        return time.monotonic() - self._began

    def add_time(self, seconds: float) -> None:
        """Add to the target time that of a run ended without a result."""
        self.target_time += seconds

    def relabel(self, run: Run, limit: float) -> None:
        """Replace the status of a stored run by the one that follows from its answer."""
        runs = self._runs.get(run.task.call, [])
        for position, made in enumerate(runs):
            if (made.status, made.answer) == (Status.OK, run.answer):
                is_late = run.status in (Status.TIMEOUT, Status.CAPPED)
                late = Status.CAPPED if made.task.cutoff < limit else Status.TIMEOUT
                status = late if is_late else run.status
                runs[position] = made._replace(status=status, detail=run.detail)

    @property
    def unasked(self) -> int:
        """Number of stored runs that were never requested."""
        return len(self._unasked)

    def forget(self, tasks: Iterable[Task]) -> None:
        """Remove the runs of tasks."""
        for task in tasks:
            self._unasked.discard(task)
            for run in [made for made in self._runs.get(task.call, ()) if made.task == task]:
                self._runs[task.call].remove(run)
                self.target_time -= run.runtime

    def record(self, position: int, point: Point) -> None:
        """Do nothing, because a store in memory is never read back."""

    def record_race(self, position: int, race: Race) -> None:
        """Do nothing, like `record`."""

    def record_references(self, count: int) -> None:
        """Do nothing, like `record`."""

    def __len__(self) -> int:
        return sum(map(len, self._runs.values()))

    def __iter__(self) -> Iterator[Run]:
        """All runs, in no particular order."""
        return chain.from_iterable(self._runs.values())

    def close(self) -> None:
        """Do nothing, because there is no file."""
