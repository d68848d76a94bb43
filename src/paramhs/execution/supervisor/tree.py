"""All processes below this one: their resource usage, and signals to them."""

import contextlib
import os
import sys
import time

import psutil

PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


class Tree:
    """Descendants of this process, which must be the only one to reap them."""

    def __init__(self) -> None:
        self._me = os.getpid()
        self.reaped_cpu = 0.0
        """Processor time of the descendants that have been reaped."""
        self.peak = 0
        """Largest resident memory of a reaped descendant."""
        self.empty = True
        """Whether nothing was left at the last reaping.

        Without children, a subreaper has no descendants.
        """

    def reap(self) -> dict[int, int]:
        """Reap the children that have ended; return exit codes, or minus signal numbers."""
        # wait4 reports children that have ended together with their resource usage, which includes
        # their own reaped children. Because this process is the subreaper of all descendants, every
        # process of a run is reaped here or by a process of the run, so nothing is missed and
        # nothing counts twice.
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
        """Processes that are alive, or not reaped yet."""
        return below(self._me)

    def cpu(self) -> float:
        """Processor time of the tree in seconds, including reaped processes."""
        seconds = self.reaped_cpu
        for pid in self.pids():
            with contextlib.suppress(psutil.Error):
                times = psutil.Process(pid).cpu_times()
                seconds += max(_own_cpu(pid), times.user + times.system)
                seconds += times.children_user + times.children_system
        return seconds

    def signal(self, number: int) -> int:
        """Send a signal to every member; return how many were not dead.

        Each link of a chain of forks lives for microseconds, so a process is signalled as soon as
        it is found.
        """
        alive = 0
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                alive += state(pid) != psutil.STATUS_ZOMBIE
                os.kill(pid, number)
        return alive


def below(pid: int) -> list[int]:
    """Descendants of a process.

    Linux lists the children of each process, which is cheap however many other processes there are;
    elsewhere all processes are examined.
    """
    waiting = _children(pid)
    if waiting is None:
        return _found_by_scanning(pid)
    found: list[int] = []
    while waiting:
        child = waiting.pop()
        found.append(child)
        waiting += _children(child) or []
    return found


def _found_by_scanning(pid: int) -> list[int]:
    with contextlib.suppress(psutil.Error):
        return [process.pid for process in psutil.Process(pid).children(recursive=True)]
    return []


def _children(pid: int) -> list[int] | None:
    """Children of all threads of a process; None if it is gone or Linux does not list them."""
    found: list[int] | None = None
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    for thread in threads:
        with (
            contextlib.suppress(OSError),  # a thread may have ended
            open(f"/proc/{pid}/task/{thread}/children", "rb") as file,
        ):
            found = (found or []) + [int(word) for word in file.read().split()]
    return found


def state(pid: int) -> str:
    """State of a process as named by psutil; zombie if it is gone."""
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
    """Processor time to the nanosecond, where Linux provides it; `cpu_times` ticks every 10 ms."""
    if sys.platform != "linux":
        return 0.0
    try:
        # The number that clock_getcpuclockid(3) gives for a process, which Python offers for
        # threads only.
        return time.clock_gettime((~pid << 3) | 2)  # its processor-time clock
    except OSError:
        return 0.0
