"""When to look at a run again, and whether it has reached a limit.

Looking costs time, so it is done as seldom as the limits allow: processor time cannot pass faster
than all cores together let it, and memory cannot be filled faster than the hardware writes it.
"""

import math
import os
import time

from paramhs.world.targets.supervisor.outcome import Limits
from paramhs.world.targets.supervisor.tree import Tree

_FILLING = 4e9  # bytes a second: no run fills memory faster
_SOONEST = 0.01  # seconds between two looks
_REST = 10  # times as long as a look at the memory took, nobody looks


class Gauge:
    """Measures a run against its limits, from now on."""

    def __init__(self, tree: Tree, limits: Limits, cpu_before: float) -> None:
        self._tree = tree
        self._limits = limits
        self._cores = cores()
        self._cpu_before = cpu_before
        self.begin = time.monotonic()
        self._cpu_at = self.begin + max(limits.cpu / self._cores, _SOONEST)
        self._memory_at = self.begin + max(limits.memory / _FILLING, _SOONEST)

    def reached(self) -> str:
        """The name of a limit that is reached now; empty if none is."""
        now = time.monotonic()
        if now - self.begin >= self._limits.wall:
            return "wall"
        if now >= self._cpu_at:
            left = self._limits.cpu - self._tree.cpu() + self._cpu_before
            if left <= 0:
                return "cpu"
            self._cpu_at = now + max(left / self._cores, _SOONEST)
        if now >= self._memory_at:
            room = self._limits.memory - self._tree.resident(self._limits.memory)
            if room < 0:
                return "memory"
            looking = time.monotonic() - now
            self._memory_at = now + max(room / _FILLING, _SOONEST, _REST * looking)
        return ""

    def wait(self) -> float | None:
        """Seconds until a limit may be reached; None for ever."""
        at = min(self.begin + self._limits.wall, self._cpu_at, self._memory_at)
        return max(at - time.monotonic(), 0.0) if at < math.inf else None


def cores() -> int:
    """How many processors this process may use at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
