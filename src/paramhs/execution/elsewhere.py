"""Runs on an executor that the user passed in.

Such an executor calls us in threads, in processes of this machine, or in processes elsewhere, and
does not say which. So an order pickles itself differently from what it is here: without a large
instance (`large_values.py`), and without keepers, which each process makes for itself.

A process on another machine cannot read a large instance from our file. It replies that it lacks
the value, is sent the order again with it, and keeps it for its later runs.
"""

import pickle
import secrets
import threading
import time
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, NamedTuple

from paramhs.core.errors import BadInput, CannotRun, ParamhsError
from paramhs.core.runs import Instance, Run, Target, Task
from paramhs.execution.large_values import LargeValues, Pickled, Place, unpacked, with_value
from paramhs.execution.supervisor.executor import RunFuture
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.targets.isolated import supervisable

IDLE_SECONDS = 30.0  # after which the keepers of a worker leave


class Lacking(NamedTuple):
    """Reply of a worker that cannot read an instance."""

    place: Place


class Made(NamedTuple):
    """Reply of a worker that made a run."""

    run: Run
    arrived: bool
    """Whether the instance was sent along and is new to the worker."""


class Elsewhere(Executor):
    """Makes the runs of one target on an executor of the user's, which stays open."""

    def __init__(self, executor: Executor, target: Target, limited: bool) -> None:
        self._executor = executor
        self._target = target
        self._kept = Supervised(supervisable(target)) if limited else None
        self._values = LargeValues(_dumps_anything)
        self._token = secrets.token_hex(8)
        self._owed: dict[Instance, Place] = {}
        """Instances that a worker lacks. They are sent with every run until one has arrived where
        it was not yet: executors may give a second attempt to a worker that has it."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submit a run of the target."""
        (task,) = args
        answer = _Answer(lambda: answer.sent.cancel() or self._end_here(task))
        owed = self._owed.get(task.instance)
        self._send(answer, _Order(self, task, owed.read() if owed else None))
        return answer

    def _end_here(self, task: Task) -> bool:
        """End a run in a thread of this process."""
        return self._kept is not None and self._kept.end(task)

    def run_here(self, task: Task) -> Run:
        """Make a run in a thread of this process."""
        return self._kept(task) if self._kept else self._target(task)

    def parcel(self, task: Task, sent: Pickled | None) -> tuple[Any, ...]:
        """What travels to another process for a run."""
        kept = self._token if self._kept else ""
        return self._target, self._values.packed(task), sent, kept

    def _send(self, answer: "_Answer", order: "_Order") -> None:
        try:
            answer.sent = self._executor.submit(_make, order)
        except RuntimeError as error:  # it was shut down, or it is broken
            raise CannotRun(f"the executor takes no runs: {error}.") from error
        answer.sent.add_done_callback(lambda made: self._pass_on(answer, order, made))

    def _pass_on(self, answer: "_Answer", order: "_Order", made: "Future[Any]") -> None:
        """Pass on the result of an order, or send it again with the instance."""
        # Called by a thread of the executor, which drops exceptions.
        try:
            if made.cancelled():
                answer.set_cancelled()
                return
            reply = made.result()
            if isinstance(reply, Lacking):
                self._owed[order.task.instance] = reply.place
                self._send(answer, _Order(self, order.task, reply.place.read()))
                return
            if reply.arrived:
                self._owed.pop(order.task.instance, None)
            answer.set_result(reply.run)
        except BaseException as error:
            answer.set_exception(self._explained(error))

    def _explained(self, error: BaseException) -> BaseException:
        """Replace the error of an executor that cannot pickle the target by one that says so."""
        if isinstance(error, ParamhsError) or "pickle" not in f"{type(error)} {error}".lower():
            return error
        why = str(error).strip().rstrip(".")
        return BadInput(
            f"the executor cannot send {self._target.name} to its workers ({why}); define it in a"
            " module that they import, or use executor='processes', or one that sends code (loky)"
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End runs in this process; the user's executor stays open."""
        if self._kept:
            self._kept.close()
        self._values.close()


class _Answer(RunFuture):
    """Future of a run, which may be sent twice."""

    sent: "Future[Any]"

    def cancel(self) -> bool:
        """Cancel the run; False if it is over or cannot be ended."""
        return not self.done() and self._end()

    def set_cancelled(self) -> None:
        """Note that the executor has dropped the run."""
        Future.cancel(self)
        self.set_running_or_notify_cancel()


class _Order:
    """A run to make, here or in another process."""

    def __init__(self, home: Elsewhere, task: Task, sent: Pickled | None = None) -> None:
        self._home = home
        self.task = task
        self._sent = sent

    def make(self) -> Made:
        """Make the run; called where the order was not pickled."""
        return Made(self._home.run_here(self.task), arrived=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Arrived, self._home.parcel(self.task, self._sent)


class _Arrived(NamedTuple):
    """An order in another process."""

    target: Target
    task: Task
    sent: Pickled | None
    kept: str
    """Token of the search if its runs are limited, which needs keepers; else empty."""

    def make(self) -> Made | Lacking:
        """Make the run, or report that its instance is missing."""
        task, place, arrived = self.task, self.task.instance.value, False
        if isinstance(place, Place):
            found = _found(place)
            if found is None and self.sent:
                found, arrived = _OWN.keep(self.sent), True
            if found is None:
                return Lacking(place)
            task = with_value(task, found)
        if self.kept:
            return Made(_KEEPERS.run(self.kept, self.target, task), arrived)
        return Made(self.target(unpacked(task)), arrived)


def _make(order: _Order | _Arrived) -> Made | Lacking:
    made = order.make()
    # The task need not travel back: the search has it.
    return made if isinstance(made, Lacking) else made._replace(run=_without_task(made.run))


def _without_task(run: Run) -> Run:
    return run._replace(task=None)  # type: ignore[arg-type]


def _found(place: Place) -> Place | None:
    return place if place.reachable else _OWN.place(place.digest)


@dataclass
class _Kept:
    """A target with keepers in this process, a worker."""

    supervised: Supervised
    runs: int = 0
    """Number of runs in progress."""
    since: float = 0.0
    """When the last run began or ended."""


class _Keepers:
    """The keepers in this process, a worker, by search; idle ones are dismissed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, _Kept] = {}

    def run(self, token: str, target: Target, task: Task) -> Run:
        """Make a run under a keeper."""
        with self._lock:
            if token not in self._all:
                self._all[token] = _Kept(Supervised(supervisable(target)))
                if len(self._all) == 1:
                    threading.Thread(target=self._dismiss_idle, daemon=True).start()
            kept = self._all[token]
            self._note(kept, 1)
        try:
            return kept.supervised(task)
        finally:
            with self._lock:
                self._note(kept, -1)

    def _note(self, kept: _Kept, more: int) -> None:
        kept.runs += more
        kept.since = time.monotonic()

    def _dismiss_idle(self) -> None:
        """Dismiss keepers that have been idle for a while, until there are none."""
        while True:
            time.sleep(IDLE_SECONDS / 3)
            with self._lock:
                oldest = time.monotonic() - IDLE_SECONDS
                idle = [t for t, kept in self._all.items() if not kept.runs and kept.since < oldest]
                for token in idle:
                    self._all.pop(token).supervised.close()
                if not self._all:
                    return


_OWN = LargeValues()
"""Values that were sent to this process, a worker."""
_KEEPERS = _Keepers()


def _dumps_anything(value: object, **options: Any) -> bytes:
    """Pickle by cloudpickle where it is installed: it takes along what a script defines."""
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(value, **options)
    data: bytes = cloudpickle.dumps(value, **options)
    return data
