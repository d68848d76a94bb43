"""The keeper: a process that starts runs, watches them and ends them."""

import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, Protocol

from paramhs.execution.supervisor.cgroup import ControlGroup
from paramhs.execution.supervisor.limits import Gauge
from paramhs.execution.supervisor.memory import Memory
from paramhs.execution.supervisor.messages import receive_message, send_message
from paramhs.execution.supervisor.orders import Limits, Outcome
from paramhs.execution.supervisor.reaper import Abandoned, Handlers, Reaper, regard_signals
from paramhs.execution.supervisor.stopwatch import Stopwatch

MARK = "PARAMHS_KEEPER"  # environment variable inherited by everything a keeper starts


_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def _inherited() -> tuple[object, ...]:
    """Limits, priority and processors that every run inherits from its keeper.

    A run of the same user can change them (`prlimit --pid $PPID`, `renice`), which must not affect
    other runs.
    """
    limits = [resource.getrlimit(number) for number in _LIMITS]
    if sys.platform != "linux":
        return (*limits, os.getpriority(os.PRIO_PROCESS, 0))
    return (
        *limits,
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        os.sched_getaffinity(0),
    )


class Job(Protocol):
    """Work of a keeper on a request."""

    def begin(self, keeper: "Keeper") -> None:
        """Prepare for runs; called once, in the keeper."""

    def run(self, keeper: "Keeper", request: Any, limits: Limits) -> Outcome:
        """Make a run."""


class Keeper(Reaper):
    """Answers each request of paramhs with a run."""

    def __init__(
        self,
        line: socket.socket,
        before: Handlers,
        group: ControlGroup | None = None,
    ) -> None:
        super().__init__()
        self.memory = Memory(group)
        self._line = line
        self._before = before
        self._inherited = _inherited()
        self.on(line.fileno(), self.leave)

    def watch(
        self, limits: Limits, cpu_before: float, over: Callable[[], bool], watch: Stopwatch
    ) -> str:
        """Wait until the run is over or a limit is reached; return the name of the limit."""
        gauge = Gauge(self.tree, self.memory, limits, cpu_before, watch)
        while not over():
            reached = gauge.reached()
            if reached:
                return reached
            self.wait(gauge.wait())
        return ""

    def stop(self, limit: str, limits: Limits) -> None:
        """Ask all processes of a run to end, and wait for a grace period.

        Processes that remain are killed by the caller.
        """
        if limit != "memory" and limits.grace > 0:
            self.tree.signal(signal.SIGTERM)
            self.reap()
            grace = Limits(wall=limits.grace, memory=limits.memory)
            self.watch(grace, 0.0, lambda: self.tree.empty, Stopwatch())

    def serve(self, job: Job, paramhs: int, warden: int) -> None:
        """Answer requests until paramhs or the warden disappears.

        An answer carries the number of its request.
        """
        # The keeper must not outlive either of its relatives: it leaves when paramhs is gone (a
        # pidfd, or the closed connection) and when the warden is gone. The parent is checked after
        # the pidfd is open, because the warden may have died in between. Between runs the
        # connection is read for requests; during a run, any event on it means that paramhs hung up.
        # A run can change the limits that later runs would inherit from their keeper, so they are
        # compared before each run.
        try:
            self.leave_with(paramhs)
            self.leave_with(warden)
            if os.getppid() != warden:
                self.leave()
            job.begin(self)
            send_message(self._line, os.getpid())
            while True:
                self._await_request()
                number, request, limits = receive_message(self._line)
                if _inherited() != self._inherited:
                    send_message(self._line, (number, None))  # paramhs then asks another keeper
                    self.leave()
                self.on(self._line.fileno(), self.leave)
                self.memory.begin(limits.memory)
                send_message(self._line, (number, job.run(self, request, limits)))
                self.ended.clear()
        except (Abandoned, EOFError, ConnectionError):
            pass
        finally:
            self.end()
            if os.getppid() == warden:
                os.kill(warden, signal.SIGCONT)  # a stopped warden could not leave

    def _await_request(self) -> None:
        self.off(self._line.fileno())
        arrived: list[bool] = []
        self.on(self._line.fileno(), lambda: arrived.append(True))
        while not arrived:
            self.wait(None)
        self.off(self._line.fileno())

    def forget(self) -> None:
        """Release the keeper's resources in a process forked from it."""
        regard_signals(self._before)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.selector.close()
        self._line.close()
