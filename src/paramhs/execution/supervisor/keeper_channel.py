"""Connection from paramhs to a keeper, with deadlines, and the end of keeper and warden."""

import contextlib
import os
import select
import selectors
import signal
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

import psutil

from paramhs.execution.supervisor.cgroup import ControlGroup
from paramhs.execution.supervisor.keeper import MARK
from paramhs.execution.supervisor.messages import receive_message, send_message
from paramhs.execution.supervisor.orders import Limits, Outcome
from paramhs.execution.supervisor.stopwatch import Stopwatch
from paramhs.execution.supervisor.tree import below, state

_READY_SECONDS = 30.0  # for a new keeper to report that it is ready
_ANSWER_SECONDS = 120.0  # beyond the limits of a run, or for accepting a request
_END_SECONDS = 15.0  # for a keeper to end its run before it is checked
_POLL_SECONDS = 1.0  # between checks of a warden
_MAX_STOPPED_SECONDS = 3.0  # for which a warden may be stopped while paramhs is not


class Lost(Exception):
    """A keeper disappeared."""


class Late(Lost):
    """A keeper did not answer in time."""


class Declined(Lost):
    """A keeper made no run, because an earlier run changed its limits."""


class KeeperLine:
    """A keeper as seen from paramhs: the connection, and the warden, which is our child.

    Requests are numbered, and each has a deadline. That covers the cases no warden can handle: that
    it is stopped itself, or that both are.
    """

    def __init__(
        self,
        warden: int,
        line: socket.socket,
        mark: str,
        group: ControlGroup | None = None,
    ) -> None:
        self.warden = warden
        self._group = group
        self.mark = mark
        """Value in the environment of everything the keeper starts."""
        self.keeper = 0
        """Process id of the keeper, once it is ready."""
        self.seconds = 0.0
        """Seconds spent waiting for the last answer."""
        self._line = line
        self._number = 0
        self._stopped = 0.0
        self._poll = select.poll()
        self._poll.register(line.fileno(), select.POLLIN)
        _set_timeout(line, socket.SO_RCVTIMEO, _POLL_SECONDS)
        _set_timeout(line, socket.SO_SNDTIMEO, _ANSWER_SECONDS)

    def await_ready(self) -> bool:
        """Wait for a new keeper; return whether it is ready."""
        with contextlib.suppress(Lost):
            self.keeper = int(self._receive(_READY_SECONDS))
        return self.keeper > 0

    @property
    def silent(self) -> bool:
        """Whether nothing was sent, as expected of an idle keeper."""
        return not self._poll.poll(0)

    def ask(self, request: Any, limits: Limits) -> Outcome:
        """Send a request and wait for the outcome; raise `Lost` if there is none."""
        self._number += 1
        try:
            send_message(self._line, (self._number, request, limits))
        except OSError as error:
            raise Lost from error
        number, outcome = self._receive(limits.wall + limits.grace + _ANSWER_SECONDS)
        if number != self._number:
            raise Lost
        if outcome is None:
            raise Declined
        answer: Outcome = outcome
        return answer

    def _receive(self, patience: float) -> Any:
        watch = Stopwatch(_POLL_SECONDS)

        def look() -> None:
            self.seconds = watch.look()
            if self.seconds > patience:
                raise Late
            self._look_after_warden()

        try:
            return receive_message(self._line, look)
        except (EOFError, OSError) as error:
            raise Lost from error
        finally:
            self.seconds = watch.look()

    def _look_after_warden(self) -> None:
        """Resume a stopped warden. A stop of all processes would have stopped this one as well."""
        if state(self.warden) != psutil.STATUS_STOPPED:
            self._stopped = 0.0
            return
        self._stopped += _POLL_SECONDS
        if self._stopped > _MAX_STOPPED_SECONDS:
            _signal(self.warden, signal.SIGCONT)

    def hang_up(self) -> None:
        """Close the connection in both directions, which also wakes a waiting thread."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket."""
        self._line.close()

    def await_end(self) -> int | None:
        """Wait until a keeper has ended its run and its warden is gone.

        Returns the warden's exit code, or None if it takes too long. In that case the warden is
        left to finish: it continues until no process remains, so killing it would not help.
        """
        # Escalation: first wait; then continue keeper and warden in case they were stopped; then
        # kill the keeper, whose warden inherits and ends the run. The warden is killed only if the
        # keeper never started. A negative exit code means that the warden itself was killed: the
        # keeper notices and ends its run, and processes that escaped both are found by the mark in
        # their environment.
        code = _await_exit(self.warden, _END_SECONDS)
        if code is None and not self.keeper:  # it never started
            _kill_all_below(self.warden)
            return _await_exit(self.warden, _END_SECONDS)
        if code is None:
            _signal(self.warden, signal.SIGCONT)
            _signal(self.keeper, signal.SIGCONT)
            code = _await_exit(self.warden, _END_SECONDS)
        if code is None:  # it is lost or blocked; its warden will end the rest
            _signal(self.keeper, signal.SIGKILL)
            code = _await_exit(self.warden, _END_SECONDS)
        if code is not None and code < 0:  # the warden was killed: has the keeper noticed?
            _await_absence(self.keeper, _END_SECONDS)
            _kill_orphans(self.mark)
        if code is not None and self._group:
            self._group.end()
        return code


def end_together(keepers: Sequence[KeeperLine]) -> list[int | None]:
    """Hang up on all keepers, then wait for each."""
    for keeper in keepers:
        keeper.hang_up()
    codes = [keeper.await_end() for keeper in keepers]
    for keeper in keepers:
        keeper.close()
    return codes


def _set_timeout(line: socket.socket, which: int, seconds: float) -> None:
    """Set a socket timeout, so that a stopped keeper blocks no call for ever."""
    whole = int(seconds)
    parts = struct.pack("@ll", whole, int((seconds - whole) * 1e6))
    line.setsockopt(socket.SOL_SOCKET, which, parts)


def _await_exit(pid: int, seconds: float) -> int | None:
    """Wait for a child and reap it; return its exit code, or None on a timeout."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:  # reaped elsewhere
            return 0
        if done:
            return os.waitstatus_to_exitcode(status)
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        _await_event(pid, left)


def _await_absence(pid: int, seconds: float) -> None:
    """Wait until a process that is not our child is gone."""
    deadline = time.monotonic() + seconds
    while state(pid) != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        _await_event(pid, deadline - time.monotonic())


def _await_event(pid: int, seconds: float) -> None:
    """Wait until a process ends; poll where the system offers no event."""
    if not hasattr(os, "pidfd_open"):
        time.sleep(min(seconds, 0.01))
        return
    with contextlib.suppress(OSError):
        end = os.pidfd_open(pid)
        with contextlib.closing(selectors.DefaultSelector()) as selector:
            selector.register(end, selectors.EVENT_READ)
            selector.select(max(seconds, 0.0))
        os.close(end)


def _kill_orphans(mark: str) -> None:
    """Kill what a keeper had started that was killed together with its warden."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                process.kill()


def _kill_all_below(pid: int) -> None:
    for process in [*below(pid), pid]:
        _signal(process, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
