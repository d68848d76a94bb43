"""A process that waits for events and ends all that is below it: what keepers and wardens share."""

import contextlib
import ctypes
import os
import selectors
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from paramhs.world.targets.supervisor.stopwatch import note_continued
from paramhs.world.targets.supervisor.tree import Tree

_SOON, _LATER = 0.005, 0.5  # seconds after which what was forked meanwhile is looked for again
_LONGEST = 3600.0  # seconds; very long waits are refused by the system
_FAULTS = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS"}
_CANNOT_BE_CAUGHT = {"SIGKILL", "SIGSTOP"}

Handlers = dict[int, Any]
"""What was done about signals before, by their numbers."""


class Abandoned(BaseException):
    """Nobody waits for the run any more."""


class Reaper:
    """Waits for events, knows all processes below this one, and can end them."""

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
        """Call this when there is something to read, or also when something can be written."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        self.selector.register(fd, events, call)

    def off(self, fd: int) -> None:
        """No longer."""
        with contextlib.suppress(KeyError, ValueError):
            self.selector.unregister(fd)

    def leave_with(self, pid: int) -> None:
        """Abandon all when this process, an ancestor, is gone; where the system can tell."""
        if hasattr(os, "pidfd_open"):
            try:
                self.on(os.pidfd_open(pid), self.leave)
            except ProcessLookupError:
                self.leave()
            except OSError:
                return  # an old kernel

    def leave(self) -> None:
        """Nobody waits any more."""
        raise Abandoned

    def wait(self, seconds: float | None) -> None:
        """Wait for events, for so long at most, and do what they ask for."""
        patience = None if seconds is None else min(seconds, _LONGEST)
        for key, _ in self.selector.select(patience):
            key.data()

    def reap(self) -> None:
        """Take in the children that have ended."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._signals, 4096)
        self.ended.update(self.tree.reap())

    def end(self) -> int:
        """Kill all processes below this one and reap them; how many were alive at first.

        What is forked while others are killed is found in the next round, and there are rounds
        until nobody is left: what cannot be killed (it waits for a disk or a network that does not
        answer) is waited for. It is paramhs that may lose patience, never this process.
        """
        self.reap()
        if self.tree.empty:
            return 0
        found = self.tree.signal(signal.SIGKILL)
        pause = _SOON
        with contextlib.closing(selectors.DefaultSelector()) as ended:
            ended.register(self._signals, selectors.EVENT_READ)
            while not self.tree.empty:
                pause = _SOON if ended.select(pause) else min(2 * pause, _LATER)
                self.reap()
                self.tree.signal(signal.SIGKILL)
        return found


def disregard_signals() -> Handlers:
    """Survive every signal that can be survived; what was done about them before.

    Some are for paramhs to answer (Ctrl-C); others come from a run that means its parent, such as a
    wrapper with `kill -HUP $PPID`. A program that is started later gets the defaults again.
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
    """The contrary, in a process that was forked from one that disregards them."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, handler in before.items():
        if handler is not None:
            signal.signal(number, handler)


def be_subreaper(name: bytes) -> None:
    """Become the parent of all orphans below this process; and no longer remain stopped when its
    own parent dies, else nobody could ever end it."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        libc.prctl(15, name, 0, 0, 0)  # PR_SET_NAME
        libc.prctl(1, signal.SIGCONT, 0, 0, 0)  # PR_SET_PDEATHSIG


def _note(number: int, frame: FrameType | None) -> None:
    """A handler that does nothing but wake: what is exec'ed later gets the default again."""
