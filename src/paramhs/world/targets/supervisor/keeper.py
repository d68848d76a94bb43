"""The life of a keeper: a process that starts runs, watches them and ends them."""

import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, Protocol

from paramhs.world.targets.supervisor.cgroup import ControlGroup
from paramhs.world.targets.supervisor.gauge import Gauge
from paramhs.world.targets.supervisor.memory import Memory
from paramhs.world.targets.supervisor.messages import receive_message, send_message
from paramhs.world.targets.supervisor.outcome import Limits, Outcome
from paramhs.world.targets.supervisor.reaper import Abandoned, Handlers, Reaper, regard_signals
from paramhs.world.targets.supervisor.stopwatch import Stopwatch

MARK = "PARAMHS_KEEPER"  # an environment variable of all that a keeper starts


_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def _inherited() -> tuple[object, ...]:
    """What every run inherits from its keeper: limits, priority, processors. A run of the same user
    can change it (`prlimit --pid $PPID`, `renice`), which must not become the fate of others."""
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
    """What a keeper does with a request."""

    def begin(self, keeper: "Keeper") -> None:
        """Called once, in the keeper."""

    def run(self, keeper: "Keeper", request: Any, limits: Limits) -> Outcome:
        """Make a run."""


class Keeper(Reaper):
    """Answers the requests of paramhs, each by a run."""

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
        """Wait until the run is over, or a limit is reached: which."""
        gauge = Gauge(self.tree, self.memory, limits, cpu_before, watch)
        while not over():
            reached = gauge.reached()
            if reached:
                return reached
            self.wait(gauge.wait())
        return ""

    def stop(self, limit: str, limits: Limits) -> None:
        """Ask all of the run to end, and wait a little; what does not is left to be killed."""
        if limit != "memory" and limits.grace > 0:
            self.tree.signal(signal.SIGTERM)
            self.reap()
            grace = Limits(wall=limits.grace, memory=limits.memory)
            self.watch(grace, 0.0, lambda: self.tree.empty, Stopwatch())

    def serve(self, job: Job, paramhs: int, warden: int) -> None:
        """Answer requests until there is nobody to answer, or nobody to inherit what is kept.

        An answer has the number of its request.
        """
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
                    send_message(self._line, (number, None))  # paramhs asks another keeper
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
                os.kill(warden, signal.SIGCONT)  # were it stopped, it could not leave

    def _await_request(self) -> None:
        self.off(self._line.fileno())
        arrived: list[bool] = []
        self.on(self._line.fileno(), lambda: arrived.append(True))
        while not arrived:
            self.wait(None)
        self.off(self._line.fileno())

    def forget(self) -> None:
        """In a process forked from this one: let go of what is the keeper's."""
        regard_signals(self._before)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.selector.close()
        self._line.close()
