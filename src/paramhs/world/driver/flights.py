"""The runs that are being made, by an executor."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, NamedTuple, Protocol

from paramhs.values.errors import ParamhsError, TargetError
from paramhs.values.runs import Instance, Run, Task
from paramhs.values.space import Config

_LOOK = 1.0  # seconds between two looks at what an executor says


class Runner(Protocol):
    """Makes runs: a target, or a target under keepers."""

    def __call__(self, task: Task) -> Run:
        """The run of a task."""

    def shown(self, task: Task) -> str:
        """The call, for people."""


class Inline(Executor):
    """Runs everything at once, in the calling thread."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Call now; what is raised is raised here."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


Call = tuple[Config, Instance, int]
"""What is run, whatever the cutoff."""


class _Flight(NamedTuple):
    """A run that is being made."""

    task: Task
    future: "Future[Run]"


class Flights:
    """The runs in flight, and how many there may be: where workers come and go, now so many."""

    def __init__(
        self, target: Runner, executor: Executor, jobs: int, notice: Callable[[str], None]
    ) -> None:
        self._target = target
        self._executor = executor
        self._notice = notice
        self.jobs = getattr(executor, "jobs", jobs)
        self._flying: dict[Call, _Flight] = {}

    def __contains__(self, call: Call) -> bool:
        return bool(self._flying) and call in self._flying  # no hashing where nothing flies

    @property
    def full(self) -> bool:
        """Whether all workers are busy."""
        return len(self._flying) >= self.jobs

    def start(self, task: Task) -> None:
        """Have a run made."""
        try:
            future = self._executor.submit(self._target, task)
        except BrokenExecutor as error:
            raise _broken(error) from error
        self._flying[task.call] = _Flight(task, future)

    def is_over(self, call: Call) -> bool:
        """Whether this run has ended."""
        return self._flying[call].future.done()

    @property
    def any_over(self) -> bool:
        """Whether any run has ended."""
        return any(flight.future.done() for flight in self._flying.values())

    def land(self) -> Iterator[Run]:
        """Take down the runs that have ended, one after the other."""
        for call in [call for call in self._flying if self.is_over(call)]:
            yield _run_of(self._flying.pop(call))

    def wait(self) -> None:
        """Wait until a run is over; meanwhile pass on what the executor has to say of itself."""
        futures = [flight.future for flight in self._flying.values()]
        speaks = hasattr(self._executor, "notices")
        while not wait(futures, _LOOK if speaks else None, FIRST_COMPLETED).done:
            self.pass_on_notices()
        self.pass_on_notices()
        self.jobs = getattr(self._executor, "jobs", self.jobs)

    def pass_on_notices(self) -> None:
        """Tell what the executor has to say of itself."""
        for notice in getattr(self._executor, "notices", tuple)():
            self._notice(notice)

    def cancel(self) -> None:
        """Begin no run that has not begun."""
        for flight in self._flying.values():
            flight.future.cancel()


def _run_of(flight: _Flight) -> Run:
    try:
        return flight.future.result()._replace(task=flight.task)
    except ParamhsError:
        raise
    except Exception as error:
        raise _broken(error) from error


def _broken(error: Exception) -> TargetError:
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return TargetError(f"the executor could not run the target: {what}. Stored runs are safe.")
