"""The life of a keeper: a process that starts runs, watches them and ends them."""

import contextlib
import ctypes
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol

from paramhs.world.targets.supervisor.gauge import Gauge
from paramhs.world.targets.supervisor.outcome import Limits, Outcome
from paramhs.world.targets.supervisor.tree import Tree

READY = "ready"
MARK = "PARAMHS_KEEPER"  # an environment variable of all that a keeper starts
_PATIENCE = 10.0  # seconds until processes that do not die of SIGKILL are given up
_AGAIN = 0.05  # seconds after which what was forked meanwhile is looked for again
_LONGEST = 3600.0  # seconds; very long waits are refused by the system


class Abandoned(BaseException):
    """Nobody waits for the run any more."""


class Job(Protocol):
    """What a keeper does with a request."""

    def begin(self, keeper: "Keeper") -> None:
        """Called once, in the keeper."""

    def run(self, keeper: "Keeper", request: Any, limits: Limits) -> Outcome:
        """Make a run."""


class Keeper:
    """Waits for the events of a run, and knows all processes below it."""

    def __init__(self, connection: "Connection[Any, Any]", parent: int) -> None:
        self.tree = Tree()
        self.ended: dict[int, int] = {}
        """Exit codes of the processes that ended during this run."""
        self._connection = connection
        self._selector = selectors.DefaultSelector()
        self._signals, waker = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, _noted)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self.on(self._signals, self._reap)
        self.on(connection.fileno(), self._leave)
        self._parent = _watched(parent)
        if self._parent is not None:
            self.on(self._parent, self._leave)
        if os.getppid() != parent:
            raise Abandoned

    def on(self, fd: int, call: Callable[[], None]) -> None:
        """Call this when there is something to read."""
        self._selector.register(fd, selectors.EVENT_READ, call)

    def off(self, fd: int) -> None:
        """No longer."""
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(fd)

    def watch(self, limits: Limits, cpu_before: float, over: Callable[[], bool]) -> str:
        """Wait until the run is over, or a limit is reached: which."""
        gauge = Gauge(self.tree, limits, cpu_before)
        while not over():
            reached = gauge.reached()
            if reached:
                return reached
            self._wait(gauge.wait())
        return ""

    def stop(self, limit: str, limits: Limits) -> None:
        """Ask all of the run to end, and wait a little; what does not is left to be killed."""
        if limit != "memory" and limits.grace > 0:
            self.tree.signal(signal.SIGTERM)
            self._reap()
            grace = Limits(wall=limits.grace, memory=limits.memory)
            self.watch(grace, 0.0, lambda: self.tree.empty)

    def end(self) -> int:
        """Kill all processes of the run and reap them; how many were alive at first.

        What is forked while others are killed is found in the next round.
        """
        self._reap()
        if self.tree.empty:
            return 0
        found = self.tree.signal(signal.SIGKILL)
        deadline = time.monotonic() + _PATIENCE
        ended = selectors.DefaultSelector()
        ended.register(self._signals, selectors.EVENT_READ)
        with contextlib.closing(ended):
            while not self.tree.empty and time.monotonic() < deadline:
                ended.select(_AGAIN)
                self._reap()
                self.tree.signal(signal.SIGKILL)
        return found

    def _wait(self, seconds: float | None) -> None:
        patience = None if seconds is None else min(seconds, _LONGEST)
        for key, _ in self._selector.select(patience):
            key.data()

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._signals, 4096)
        self.ended.update(self.tree.reap())

    def _leave(self) -> None:
        raise Abandoned

    def serve(self, job: Job) -> None:
        """Answer requests until there is nobody to answer."""
        try:
            job.begin(self)
            self._connection.send(READY)
            while True:
                self.off(self._connection.fileno())
                self._await_request()
                request, limits = self._connection.recv()
                self.on(self._connection.fileno(), self._leave)
                self._connection.send(job.run(self, request, limits))
                self.ended.clear()
        except (Abandoned, EOFError, ConnectionError):
            pass
        finally:
            self.end()

    def _await_request(self) -> None:
        arrived: list[bool] = []
        self.on(self._connection.fileno(), lambda: arrived.append(True))
        while not arrived:
            self._wait(None)
        self.off(self._connection.fileno())

    def forget(self) -> None:
        """In a process forked from this one: let go of what is the keeper's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._selector.close()
        self._connection.close()


def keep(job: Job, connection: "Connection[Any, Any]", parent: int, mark: str) -> None:
    """The whole life of a keeper process, which ends when paramhs hangs up or is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):  # they are for paramhs to answer
        signal.signal(number, _noted)
    os.environ[MARK] = mark
    with open(os.devnull, encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 0)
    with contextlib.suppress(OSError):
        os.setsid()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        libc.prctl(15, b"run-keeper", 0, 0, 0)  # PR_SET_NAME
    with contextlib.suppress(Abandoned):
        Keeper(connection, parent).serve(job)


def _noted(number: int, frame: object) -> None:
    """A handler that does nothing: what is exec'ed later gets the default again."""


def _watched(parent: int) -> int | None:
    """Something that can be read when the parent is gone, where the system has that."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(parent)
    return None
