"""Keepers at work for a target: one for each run at a time."""

import contextlib
import os
import queue
import secrets
import selectors
import socket
import sys
import threading
import time
import warnings
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn, Protocol

import psutil

from paramhs.values.errors import TargetError
from paramhs.values.runs import Run, Task
from paramhs.world.targets.supervisor.keeper import MARK, READY, Job, keep
from paramhs.world.targets.supervisor.outcome import Execute, Limits, Outcome

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
    """A keeper, seen from paramhs."""

    pid: int
    connection: "Connection[Any, Any]"
    mark: str
    """What all it starts have in their environment."""


class Supervised:
    """A target whose runs are kept, as many at a time as there are threads that call it.

    Keepers are forks of this process, so any function will do. They end their runs when this
    process ends, however it ends.
    """

    def __init__(self, target: Supervisable, count: int = 0) -> None:
        self.target = target
        self._closed = False
        self._all: list[_Hired] = []
        # A fork made while another thread holds both ends of a pipe would keep that pipe open.
        self._processes = threading.Lock()
        self._idle: queue.SimpleQueue[_Hired] = queue.SimpleQueue()
        try:
            for _ in range(count):  # here, in the main thread, before there are others
                self._idle.put(self._hired())
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> tuple[object, ...]:
        return Supervised, (self.target,)

    def __call__(self, task: Task) -> Run:
        """Run a task under an idle keeper, or a new one.

        A run whose keeper was killed is made again: that says nothing about the target.
        """
        for _ in range(2):
            hired = self._free()
            try:
                run = self.target.run(task, partial(_asked, hired))
            except (EOFError, ConnectionError):
                closed = self._closed
                self._dismiss(hired)
                _end_orphans(hired.mark)
                if closed:
                    break
            except BaseException:
                self._dismiss(hired)
                raise
            else:
                self._idle.put(hired)
                return run
        raise TargetError("the process that keeps a run was killed, twice; stored runs are safe")

    def _free(self) -> _Hired:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._hired()

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
        raise TargetError("the processes that keep runs do not start")

    def _started(self) -> _Hired:
        ours, theirs = Pipe()
        job, parent, mark = self.target.job(), os.getpid(), secrets.token_hex(16)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()  # lest a fork print it again
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads: see _hired
                pid = os.fork()
        except OSError as error:
            raise TargetError(f"no process can be started: {error.strerror}") from error
        if pid == 0:
            _live(job, theirs, ours, parent, mark)
        theirs.close()
        return _Hired(pid, ours, mark)

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
            if not _gone(hired.pid, _ENDING):
                _killed(hired.pid)
                _gone(hired.pid, _ENDING)
            hired.connection.close()


def _live(
    job: Job,
    connection: "Connection[Any, Any]",
    other: "Connection[Any, Any]",
    parent: int,
    mark: str,
) -> NoReturn:
    """The life of a keeper, in the forked process."""
    try:
        other.close()  # else it would not see that paramhs hung up
        keep(job, connection, parent, mark)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


def _asked(hired: _Hired, request: Any, limits: Limits) -> Outcome:
    hired.connection.send((request, limits))
    outcome: Outcome = hired.connection.recv()
    if outcome.exhausted:
        raise TargetError(f"runs cannot be started: {outcome.trouble}; stored runs are safe")
    return outcome


def _gone(pid: int, seconds: float) -> bool:
    """Wait until a child has ended, and reap it; whether it has."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                return True
        except ChildProcessError:  # somebody else has reaped it
            return True
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        _await_end(pid, left)


def _await_end(pid: int, seconds: float) -> None:
    """Until a process ends, or a moment where the system cannot tell."""
    if not hasattr(os, "pidfd_open"):
        time.sleep(min(seconds, 0.01))
        return
    with contextlib.suppress(OSError):
        end = os.pidfd_open(pid)
        with contextlib.closing(selectors.DefaultSelector()) as selector:
            selector.register(end, selectors.EVENT_READ)
            selector.select(seconds)
        os.close(end)


def _end_orphans(mark: str) -> None:
    """Kill what a keeper had started that was itself killed, wherever it is by now."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
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
