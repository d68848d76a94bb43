"""The line from paramhs to a keeper, and how to see both keeper and warden go."""

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

from paramhs.world.targets.supervisor.cgroup import ControlGroup
from paramhs.world.targets.supervisor.keeper import MARK
from paramhs.world.targets.supervisor.messages import receive_message, send_message
from paramhs.world.targets.supervisor.outcome import Limits, Outcome
from paramhs.world.targets.supervisor.stopwatch import Stopwatch
from paramhs.world.targets.supervisor.tree import below, state

_READY = 30.0  # seconds that a new keeper may take to say that it is there
_ANSWERING = 120.0  # seconds that it may take beyond the limits of a run, or to take a request
_ENDING = 15.0  # seconds that a keeper may take to end what it keeps, before it is looked after
_LOOK = 1.0  # seconds between looks at a warden
_STOPPED = 3.0  # seconds that a warden may be stopped while paramhs is not


class Lost(Exception):
    """A keeper is gone."""


class Late(Lost):
    """A keeper does not answer in time."""


class Declined(Lost):
    """A keeper has made no run: it is no longer what it was, by the doing of an earlier run."""


class KeeperLine:
    """A keeper, seen from paramhs: the line to it, and its warden, which is our child.

    Requests are numbered, and each is waited for with a deadline. That covers what no warden can
    see to: that it is itself stopped, or that both are.
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
        """What all that it starts have in their environment."""
        self.keeper = 0
        """Its process, once it is ready."""
        self.seconds = 0.0
        """How long it has been waited for."""
        self._line = line
        self._number = 0
        self._stopped = 0.0
        self._poll = select.poll()
        self._poll.register(line.fileno(), select.POLLIN)
        _set_timeout(line, socket.SO_RCVTIMEO, _LOOK)
        _set_timeout(line, socket.SO_SNDTIMEO, _ANSWERING)

    def await_ready(self) -> bool:
        """Whether there is a keeper at the other end."""
        with contextlib.suppress(Lost):
            self.keeper = int(self._receive(_READY))
        return self.keeper > 0

    @property
    def silent(self) -> bool:
        """Whether all is quiet on the line, as it is while a keeper has nothing to do."""
        return not self._poll.poll(0)

    def ask(self, request: Any, limits: Limits) -> Outcome:
        """What a keeper answers; `Lost` if it does not."""
        self._number += 1
        try:
            send_message(self._line, (self._number, request, limits))
        except OSError as error:
            raise Lost from error
        number, outcome = self._receive(limits.wall + limits.grace + _ANSWERING)
        if number != self._number:
            raise Lost
        if outcome is None:
            raise Declined
        answer: Outcome = outcome
        return answer

    def _receive(self, patience: float) -> Any:
        watch = Stopwatch(_LOOK)

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
        """Let a stopped warden go on; who stops everything would have stopped us by now."""
        if state(self.warden) != psutil.STATUS_STOPPED:
            self._stopped = 0.0
            return
        self._stopped += _LOOK
        if self._stopped > _STOPPED:
            _signal(self.warden, signal.SIGCONT)

    def hang_up(self) -> None:
        """Both ends see it at once, also a thread that waits for an answer."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the line."""
        self._line.close()

    def await_end(self) -> int | None:
        """Wait until a keeper that was hung up on has ended all, and its warden has gone: its exit
        code, or None if it takes too long. Then the warden is left at it, because it goes on until
        nothing is left; killing it would help nobody."""
        code = _await_exit(self.warden, _ENDING)
        if code is None and not self.keeper:  # it has never begun
            _kill_all_below(self.warden)
            return _await_exit(self.warden, _ENDING)
        if code is None:
            _signal(self.warden, signal.SIGCONT)
            _signal(self.keeper, signal.SIGCONT)
            code = _await_exit(self.warden, _ENDING)
        if code is None:  # it is lost, or does what takes for ever; its warden will see to the rest
            _signal(self.keeper, signal.SIGKILL)
            code = _await_exit(self.warden, _ENDING)
        if code is not None and code < 0:  # somebody has killed it: has the keeper seen that?
            _await_absence(self.keeper, _ENDING)
            _kill_orphans(self.mark)
        if code is not None and self._group:
            self._group.end()
        return code


def end_together(keepers: Sequence[KeeperLine]) -> list[int | None]:
    """Hang up on all, then wait for each."""
    for keeper in keepers:
        keeper.hang_up()
    codes = [keeper.await_end() for keeper in keepers]
    for keeper in keepers:
        keeper.close()
    return codes


def _set_timeout(line: socket.socket, which: int, seconds: float) -> None:
    """Nobody waits for ever, should a keeper be stopped."""
    whole = int(seconds)
    parts = struct.pack("@ll", whole, int((seconds - whole) * 1e6))
    line.setsockopt(socket.SOL_SOCKET, which, parts)


def _await_exit(pid: int, seconds: float) -> int | None:
    """Wait until a child has ended, and reap it: its exit code; None if it has not ended."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:  # somebody else has reaped it
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
    """Until a process ends, or a moment where the system cannot tell."""
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
