"""All processes below this one: what they use, and how to end them."""

import contextlib
import os
import sys
import time

import psutil

PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


class Tree:
    """The descendants of this process, which must be the only one to reap them."""

    def __init__(self) -> None:
        self._me = os.getpid()
        self.reaped_cpu = 0.0
        """Processor time of the descendants that are gone."""
        self.peak = 0
        """The largest resident memory of one that is gone."""
        self.empty = True
        """Whether there was nothing left when it was reaped last: without children, a subreaper has
        no descendants."""

    def reap(self) -> dict[int, int]:
        """Take in the children that have ended: their exit codes, minus a signal's number."""
        codes: dict[int, int] = {}
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self.empty = True
                return codes
            if pid == 0:
                self.empty = False
                return codes
            codes[pid] = os.waitstatus_to_exitcode(status)
            self.reaped_cpu += usage.ru_utime + usage.ru_stime
            self.peak = max(self.peak, usage.ru_maxrss * PEAK_UNIT)

    def pids(self) -> list[int]:
        """Those alive, or not reaped yet, at this moment."""
        return below(self._me)

    def cpu(self) -> float:
        """Seconds of processor time that the tree has used, those gone included."""
        seconds = self.reaped_cpu
        for pid in self.pids():
            with contextlib.suppress(psutil.Error):
                times = psutil.Process(pid).cpu_times()
                seconds += max(_own_cpu(pid), times.user + times.system)
                seconds += times.children_user + times.children_system
        return seconds

    def signal(self, number: int) -> int:
        """Send a signal to every member; how many there were, but for the dead.

        A chain of forks lives for microseconds in each link, so there is nothing between finding a
        process and the signal.
        """
        alive = 0
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                alive += state(pid) != psutil.STATUS_ZOMBIE
                os.kill(pid, number)
        return alive


def below(pid: int) -> list[int]:
    """The descendants of a process, by what Linux lists for each, which costs little however many
    other processes there are; elsewhere by looking at all."""
    waiting = _children(pid)
    if waiting is None:
        return _found_by_looking_at_all(pid)
    found: list[int] = []
    while waiting:
        child = waiting.pop()
        found.append(child)
        waiting += _children(child) or []
    return found


def _found_by_looking_at_all(pid: int) -> list[int]:
    with contextlib.suppress(psutil.Error):
        return [process.pid for process in psutil.Process(pid).children(recursive=True)]
    return []


def _children(pid: int) -> list[int] | None:
    """Of all its threads; None if the process is gone, or Linux does not list them."""
    found: list[int] | None = None
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    for thread in threads:
        with (
            contextlib.suppress(OSError),  # of a thread that has ended
            open(f"/proc/{pid}/task/{thread}/children", "rb") as file,
        ):
            found = (found or []) + [int(word) for word in file.read().split()]
    return found


def state(pid: int) -> str:
    """What psutil calls its state; that of the dead if it is gone."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            letter = file.read().rpartition(b")")[2][1:2]
            return _STATES.get(letter, psutil.STATUS_RUNNING)
    with contextlib.suppress(psutil.Error):
        return str(psutil.Process(pid).status())
    return psutil.STATUS_ZOMBIE


_STATES = {
    b"T": psutil.STATUS_STOPPED,
    b"t": psutil.STATUS_TRACING_STOP,
    b"Z": psutil.STATUS_ZOMBIE,
    b"X": psutil.STATUS_ZOMBIE,
}


def _own_cpu(pid: int) -> float:
    """To the nanosecond, where Linux tells; `cpu_times` counts ticks of 10 ms."""
    if sys.platform != "linux":
        return 0.0
    try:
        return time.clock_gettime((~pid << 3) | 2)  # its processor-time clock
    except OSError:
        return 0.0
