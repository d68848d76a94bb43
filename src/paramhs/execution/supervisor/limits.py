"""Schedule of checks of a run against its limits.

A check costs time, so it is made as rarely as the limits allow: processor time cannot pass faster
than all cores together, and memory cannot be filled faster than the hardware writes it.
"""

import os
import time

from paramhs.execution.supervisor.memory import Memory
from paramhs.execution.supervisor.orders import Limits
from paramhs.execution.supervisor.stopwatch import STEP, Stopwatch
from paramhs.execution.supervisor.tree import Tree

_FILL_RATE = 4e9  # bytes per second; no run fills memory faster
_MIN_PAUSE = 0.01  # seconds between two checks
_PAUSE_FACTOR = 10  # pause after a memory check, as a multiple of its duration


class Gauge:
    """Measures a run against its limits, in the time of its stopwatch."""

    def __init__(
        self, tree: Tree, memory: Memory, limits: Limits, cpu_before: float, watch: Stopwatch
    ) -> None:
        self._tree = tree
        self._memory = memory
        self._limits = limits
        self._cores = cores()
        self._cpu_before = cpu_before
        self._watch = watch
        begin = watch.look()
        self._cpu_at = begin + max(limits.cpu / self._cores, _MIN_PAUSE)
        self._memory_at = begin + max(limits.memory / _FILL_RATE, _MIN_PAUSE)

    def reached(self) -> str:
        """Name of a limit that is reached; empty if none is."""
        now = self._watch.look()
        if now >= self._limits.wall:
            return "wall"
        if now >= self._cpu_at:
            left = self._limits.cpu - self._tree.cpu() + self._cpu_before
            if left <= 0:
                return "cpu"
            self._cpu_at = now + max(left / self._cores, _MIN_PAUSE)
        if now >= self._memory_at:
            begin = time.monotonic()
            room = self._limits.memory - self._memory.used(self._tree, self._limits.memory)
            if room < 0:
                return "memory"
            # A check of many processes is slow; with this pause, checks take at most a tenth of the
            # time.
            looking = time.monotonic() - begin
            self._memory_at = now + max(room / _FILL_RATE, _MIN_PAUSE, _PAUSE_FACTOR * looking)
        return ""

    def wait(self) -> float:
        """Seconds until a limit may be reached, or the clock must be read again."""
        at = min(self._limits.wall, self._cpu_at, self._memory_at)
        return min(max(at - self._watch.look(), 0.0), STEP)


def cores() -> int:
    """Number of processors that this process may use at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
