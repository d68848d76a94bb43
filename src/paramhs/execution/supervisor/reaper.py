"""Base of keepers and wardens: waits for events and ends all processes below."""

import contextlib
import ctypes
import os
import selectors
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from paramhs.execution.supervisor.stopwatch import note_continued
from paramhs.execution.supervisor.tree import Tree

_MIN_PAUSE, _MAX_PAUSE = 0.005, 0.5  # seconds between searches for newly forked processes
_MAX_WAIT = 3600.0  # seconds; the system rejects very long waits
_FAULTS = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS"}
_CANNOT_BE_CAUGHT = {"SIGKILL", "SIGSTOP"}

Handlers = dict[int, Any]
"""Previous signal handlers by signal number."""


class Abandoned(BaseException):
    """The run is no longer wanted."""


class Reaper:
    """Waits for events, tracks all processes below this one, and can end them."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.ended: dict[int, int] = {}
        """Exit codes of the children that have ended."""
        self.selector = selectors.DefaultSelector()
        self._signals, waker = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, _note)
        signal.signal(signal.SIGCONT, note_continued)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self.on(self._signals, self.reap)

    def on(self, fd: int, call: Callable[[], None], writing: bool = False) -> None:
        """Register a callback for reading, and optionally for writing."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        self.selector.register(fd, events, call)

    def off(self, fd: int) -> None:
        """Unregister a file descriptor."""
        with contextlib.suppress(KeyError, ValueError):
            self.selector.unregister(fd)

    def leave_with(self, pid: int) -> None:
        """Abandon everything when this ancestor process disappears, where the system can tell."""
        if hasattr(os, "pidfd_open"):
            try:
                self.on(os.pidfd_open(pid), self.leave)
            except ProcessLookupError:
                self.leave()
            except OSError:
                return  # an old kernel

    def leave(self) -> None:
        """Abandon the run by raising `Abandoned`."""
        raise Abandoned

    def wait(self, seconds: float | None) -> None:
        """Wait for events for at most this long, and call their callbacks."""
        patience = None if seconds is None else min(seconds, _MAX_WAIT)
        for key, _ in self.selector.select(patience):
            key.data()

    def reap(self) -> None:
        """Collect the children that have ended."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._signals, 4096)
        self.ended.update(self.tree.reap())

    def end(self) -> int:
        """Kill and reap all processes below this one; return how many were alive at first.

        Processes forked meanwhile are found in the next round, and rounds continue until none is
        left. A process that cannot be killed (it waits for a disk or a network) is waited for:
        paramhs may lose patience, this process never does.
        """
        # Signals and forks race: between listing the descendants and killing them a process may
        # fork. The loop therefore repeats until wait4 reports no children, which for a subreaper
        # means no descendants. SIGCHLD wakes it at once; the growing pause only covers forks that
        # produce no event here.
        self.reap()
        if self.tree.empty:
            return 0
        found = self.tree.signal(signal.SIGKILL)
        pause = _MIN_PAUSE
        with contextlib.closing(selectors.DefaultSelector()) as ended:
            ended.register(self._signals, selectors.EVENT_READ)
            while not self.tree.empty:
                pause = _MIN_PAUSE if ended.select(pause) else min(2 * pause, _MAX_PAUSE)
                self.reap()
                self.tree.signal(signal.SIGKILL)
        return found


def disregard_signals() -> Handlers:
    """Survive every signal that can be survived; return the previous handlers.

    Some signals are for paramhs to handle (Ctrl-C); others come from a run and are meant for its
    parent, as from a wrapper with `kill -HUP $PPID`. Programs started later get the default
    handlers again.
    """
    before: Handlers = {}
    for number in signal.valid_signals():
        name = number.name if isinstance(number, signal.Signals) else ""
        if name in _FAULTS or name in _CANNOT_BE_CAUGHT or name == "SIGCHLD":
            continue
        with contextlib.suppress(OSError, ValueError):  # some belong to the C library
            before[number] = signal.signal(number, _note)
    return before


def regard_signals(before: Handlers) -> None:
    """Restore the handlers in a process forked from one that ignores signals."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, handler in before.items():
        if handler is not None:
            signal.signal(number, handler)


def be_subreaper(name: bytes) -> None:
    """Become the parent of all orphans below this process.

    Also makes the process continue when its own parent dies: a stopped one could otherwise never be
    ended.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        libc.prctl(15, name, 0, 0, 0)  # PR_SET_NAME
        libc.prctl(1, signal.SIGCONT, 0, 0, 0)  # PR_SET_PDEATHSIG


def _note(number: int, frame: FrameType | None) -> None:
    """Wake the event loop; unlike SIG_IGN, a handler is reset to the default by exec."""
