"""Runs in progress on an executor."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, NamedTuple, Protocol

from paramhs.core.errors import CannotRun, ParamhsError
from paramhs.core.runs import Instance, Run, Task
from paramhs.core.space import Config

_POLL_SECONDS = 1.0  # between looks at notices and signals


class Runner(Protocol):
    """Makes runs: a target, or a target under keepers."""

    def __call__(self, task: Task) -> Run:
        """Run a task."""

    def shown(self, task: Task) -> str:
        """Format the call of a task for display."""


class Workers(Executor, ABC):
    """An executor whose workers come and go, with notices about them."""

    @property
    @abstractmethod
    def jobs(self) -> int:
        """Number of runs that may be in flight now."""

    @property
    @abstractmethod
    def workers(self) -> str:
        """State of the workers, for people."""

    @abstractmethod
    def notices(self) -> Iterable[str]:
        """Messages for the user, each returned once."""


class Inline(Executor):
    """Executor that runs everything immediately, in the calling thread."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Call the function now; its exceptions are raised here."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


Call = tuple[Config, Instance, int]
"""A task without its cutoff."""


class _Flight(NamedTuple):
    """A run in progress."""

    task: Task
    future: "Future[Run]"
    since: float
    """When it was started, by the monotonic clock."""


class Flights:
    """The runs in progress, and their largest number, which changes with the workers."""

    def __init__(
        self, target: Runner, executor: Executor, jobs: int, notice: Callable[[str], None]
    ) -> None:
        self._target = target
        self._executor = executor
        self._notice = notice
        self._workers = executor if isinstance(executor, Workers) else None
        self.jobs = self._workers.jobs if self._workers else jobs
        self._flying: dict[Call, _Flight] = {}
        self._ending: list[Future[Run]] = []
        """Runs that were cancelled while they were made, and still occupy a worker."""

    def __contains__(self, call: Call) -> bool:
        return bool(self._flying) and call in self._flying  # no hashing where nothing flies

    @property
    def full(self) -> bool:
        """Whether all workers are busy."""
        self._ending = [future for future in self._ending if not future.done()]
        return len(self._flying) + len(self._ending) >= self.jobs

    def start(self, task: Task) -> None:
        """Start a run on the executor."""
        try:
            future = self._executor.submit(self._target, task)
        except BrokenExecutor as error:
            raise _broken(error) from error
        self._flying[task.call] = _Flight(task, future, time.monotonic())

    def is_over(self, call: Call) -> bool:
        """Whether this run has ended."""
        return self._flying[call].future.done()

    @property
    def any_over(self) -> bool:
        """Whether any run has ended."""
        return any(flight.future.done() for flight in self._flying.values())

    @property
    def calls(self) -> list[Call]:
        """The runs in progress."""
        return list(self._flying)

    def longer_than(self, seconds: float) -> list[Task]:
        """Tasks of the runs that have been in progress for longer."""
        begun = time.monotonic() - seconds
        return [flight.task for flight in self._flying.values() if flight.since < begun]

    def end(self, call: Call) -> float:
        """End a run without a result, if that is possible; return its seconds."""
        flight = self._flying[call]
        started = self._workers is not None or flight.future.running()
        if flight.future.done() or not flight.future.cancel():
            return 0.0
        del self._flying[call]
        if not flight.future.done():
            self._ending.append(flight.future)
        seconds = min(time.monotonic() - flight.since, flight.task.cutoff)
        return seconds if started or not flight.future.done() else 0.0

    def land(self) -> Iterator[Run]:
        """Remove and yield the runs that have ended."""
        for call in [call for call in self._flying if self.is_over(call)]:
            yield _run_of(self._flying.pop(call))

    def wait(self) -> None:
        """Wait until a run ends; meanwhile pass on notices of the executor.

        The wait has a time limit for every executor: a signal that arrives just before the thread
        blocks is only handled after it wakes up, so Ctrl-C could be lost until a run ends.
        """
        futures = [*(flight.future for flight in self._flying.values()), *self._ending]
        while not wait(futures, _POLL_SECONDS, FIRST_COMPLETED).done:
            self.pass_on_notices()
        self.pass_on_notices()
        if self._workers:
            self.jobs = self._workers.jobs

    def pass_on_notices(self) -> None:
        """Pass on the notices of the executor."""
        for notice in self._workers.notices() if self._workers else ():
            self._notice(notice)

    def cancel(self) -> None:
        """Cancel all runs that have not started."""
        for flight in self._flying.values():
            flight.future.cancel()


def _run_of(flight: _Flight) -> Run:
    try:
        return flight.future.result()._replace(task=flight.task)
    except ParamhsError:
        raise
    except Exception as error:
        raise _broken(error) from error


def _broken(error: Exception) -> CannotRun:
    why = str(error).strip().rstrip(".")
    what = f"{type(error).__name__}: {why}" if why else type(error).__name__
    return CannotRun(f"the executor could not run the target: {what}.")
