"""Keepers at work for a target: one for each run at a time."""

import contextlib
import multiprocessing
import os
import queue
import socket
import sys
import threading
import warnings
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Protocol

import psutil

from paramhs.errors import BadInput, TargetError
from paramhs.runs import Run, Status, Task
from paramhs.targets.supervisor.keeper import MARK, READY, Job, keep
from paramhs.targets.supervisor.outcome import Execute, Limits, Outcome

_READY = 30.0  # seconds that a new keeper may take to say that it is there
_ENDING = 15.0  # seconds that a keeper may take to end what it keeps


class Supervisable(Protocol):
    """A target that can run under a keeper."""

    @property
    def name(self) -> str:
        """What it is, for people."""

    def job(self) -> Job:
        """What its keepers run."""

    def run(self, task: Task, execute: Execute) -> Run:
        """Turn a task into a run, by means of a keeper."""

    def shown(self, task: Task) -> str:
        """The call, for people."""


class _Hired(NamedTuple):
    process: BaseProcess
    connection: "Connection[Any, Any]"


class Supervised:
    """A target whose runs are kept, as many at a time as there are threads that call it.

    On Linux keepers are forks of this process, so any function will do; elsewhere it must be
    importable. They end their runs when this process ends, however it ends.
    """

    def __init__(self, target: Supervisable, count: int = 0) -> None:
        self.target = target
        self._begin()
        for _ in range(count):  # here, in the main thread, before there are others
            self._idle.put(self._hired())

    def _begin(self) -> None:
        self._closed = False
        self._all: list[_Hired] = []
        # A fork made while another thread holds both ends of a pipe would keep that pipe open.
        self._processes = threading.Lock()
        self._idle: queue.SimpleQueue[_Hired] = queue.SimpleQueue()

    def __reduce__(self) -> tuple[object, ...]:
        return Supervised, (self.target,)

    def __call__(self, task: Task) -> Run:
        """Run a task under an idle keeper, or a new one."""
        try:
            hired = self._idle.get_nowait()
        except queue.Empty:
            hired = self._hired()
        try:
            return self.target.run(task, lambda request, limits: _asked(hired, request, limits))
        except (EOFError, OSError):
            lost = hired.process.pid if not self._closed else None
            self._dismiss(hired)
            if lost is not None:
                _end_orphans(lost)
            what = "the process that kept the run was killed, and the run with it"
            return Run(task, Status.CRASHED, 0.0, None, what)
        finally:
            if hired in self._all:
                self._idle.put(hired)

    def shown(self, task: Task) -> str:
        """The call, for people."""
        return self.target.shown(task)

    def _hired(self) -> _Hired:
        """A new keeper that has said it is ready. A fork may inherit a lock held by a thread and
        stand still; that is noticed here, and it is tried again."""
        for _ in range(3):
            with self._processes:
                if self._closed:
                    raise TargetError("the keepers are closed")
                hired = self._started()
                self._all.append(hired)
            if hired.connection.poll(_READY):
                with contextlib.suppress(EOFError, ConnectionError):
                    if hired.connection.recv() == READY:
                        return hired
            self._dismiss(hired)
        raise TargetError("processes that keep runs do not start; use executor='threads'")

    def _started(self) -> _Hired:
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_keep, args=(self.target.job(), theirs, ours, os.getpid()), daemon=True
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads: see _hired
                process.start()
        except (AttributeError, TypeError, ImportError) as error:  # pickling, where not forked
            raise BadInput(
                f"{self.target.name} cannot be sent to worker processes ({error}):"
                " define it at the top of a module, or use executor='threads'"
            ) from error
        theirs.close()
        return _Hired(process, ours)

    def close(self) -> None:
        """End all runs, whatever they are doing, and their keepers."""
        with self._processes:
            self._closed = True
        for hired in list(self._all):
            self._dismiss(hired)

    def _dismiss(self, hired: _Hired) -> None:
        """Hang up, which makes a keeper end all it keeps, and see it go."""
        with self._processes:  # starting a process looks at all others, so none may go meanwhile
            if hired not in self._all:
                return
            self._all.remove(hired)
            _hang_up(hired.connection)
            hired.process.join(_ENDING)
            if hired.process.is_alive():
                _killed(hired.process.pid or 0)
                hired.process.join()
            hired.process.close()


def _keep(
    job: Job, connection: "Connection[Any, Any]", other: "Connection[Any, Any]", parent: int
) -> None:
    other.close()  # else it would not see that paramhs hung up
    keep(job, connection, parent)


def _asked(hired: _Hired, request: Any, limits: Limits) -> Outcome:
    hired.connection.send((request, limits))
    outcome: Outcome = hired.connection.recv()
    return outcome


def _end_orphans(keeper: int) -> None:
    """Kill what a keeper had started that was itself killed, wherever it is by now."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == str(keeper):
                process.kill()


def _hang_up(connection: "Connection[Any, Any]") -> None:
    """Both ends see it at once, also a thread that waits for an answer."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def _killed(pid: int) -> None:
    """Kill a keeper that does not end, with what is below it."""
    with contextlib.suppress(psutil.Error):
        keeper = psutil.Process(pid)
        for process in [*keeper.children(recursive=True), keeper]:
            with contextlib.suppress(psutil.Error):
                process.kill()
