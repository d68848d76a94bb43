"""All processes below this one: what they use, and how to end them."""

import contextlib
import os
import sys
import time
from pathlib import Path

import psutil

PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


class Tree:
    """The descendants of this process, of which it must be the only keeper."""

    def __init__(self) -> None:
        self._me = psutil.Process()
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

    def members(self) -> list[psutil.Process]:
        """Those alive, or not reaped yet, at this moment."""
        found = _below(self._me.pid)
        if found is not None:
            return found
        with contextlib.suppress(psutil.Error):
            return self._me.children(recursive=True)
        return []

    def cpu(self) -> float:
        """Seconds of processor time that the tree has used, those gone included."""
        seconds = self.reaped_cpu
        for process in self.members():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                seconds += max(_own_cpu(process.pid), times.user + times.system)
                seconds += times.children_user + times.children_system
        return seconds

    def resident(self, limit: float) -> float:
        """Bytes of resident memory; what processes share is counted once if that may matter."""
        members = self.members()
        total = sum(_memory(process, "rss") for process in members)
        if total <= limit or len(members) < 2 or sys.platform != "linux":
            return total
        return sum(_memory(process, "pss") for process in members)

    def signal(self, number: int) -> int:
        """Send a signal to every member; how many there were, but for the dead."""
        alive = 0
        for process in self.members():
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                alive += process.status() != psutil.STATUS_ZOMBIE
                process.send_signal(number)
        return alive


def _below(pid: int) -> list[psutil.Process] | None:
    """The descendants by what Linux lists for each process, which costs little however many other
    processes there are; None where that is not to be had."""
    waiting = _children(pid)
    if waiting is None:
        return None
    found: list[psutil.Process] = []
    while waiting:
        child = waiting.pop()
        with contextlib.suppress(psutil.Error):
            found.append(psutil.Process(child))
        waiting += _children(child) or []
    return found


def _children(pid: int) -> list[int] | None:
    """Of all its threads; None if the process is gone, or Linux does not list them."""
    found: list[int] | None = None
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    for thread in threads:
        with contextlib.suppress(OSError):  # of a thread that has ended
            file = Path(f"/proc/{pid}/task/{thread}/children")
            found = (found or []) + [int(word) for word in file.read_text("ascii").split()]
    return found


def _own_cpu(pid: int) -> float:
    """To the nanosecond, where Linux tells; `cpu_times` counts ticks of 10 ms."""
    if sys.platform != "linux":
        return 0.0
    try:
        return time.clock_gettime((~pid << 3) | 2)  # its processor-time clock
    except OSError:
        return 0.0


def _memory(process: psutil.Process, kind: str) -> int:
    if kind == "pss":
        with contextlib.suppress(psutil.Error, AttributeError):  # not everybody may see it
            return int(process.memory_full_info().pss)
    with contextlib.suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0
