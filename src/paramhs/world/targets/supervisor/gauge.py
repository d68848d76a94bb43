"""When to look at a run again, and whether it has reached a limit.

Looking costs time, so it is done as seldom as the limits allow: processor time cannot pass faster
than all cores together let it, and memory cannot be filled faster than the hardware writes it.
"""

import os
import time

from paramhs.world.targets.supervisor.memory import Memory
from paramhs.world.targets.supervisor.outcome import Limits
from paramhs.world.targets.supervisor.stopwatch import STEP, Stopwatch
from paramhs.world.targets.supervisor.tree import Tree

_FILLING = 4e9  # bytes a second: no run fills memory faster
_SOONEST = 0.01  # seconds between two looks
_REST = 10  # times as long as a look at the memory took, nobody looks


class Gauge:
    """Measures a run against its limits; all times are those of its stopwatch."""

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
        self._cpu_at = begin + max(limits.cpu / self._cores, _SOONEST)
        self._memory_at = begin + max(limits.memory / _FILLING, _SOONEST)

    def reached(self) -> str:
        """The name of a limit that is reached now; empty if none is."""
        now = self._watch.look()
        if now >= self._limits.wall:
            return "wall"
        if now >= self._cpu_at:
            left = self._limits.cpu - self._tree.cpu() + self._cpu_before
            if left <= 0:
                return "cpu"
            self._cpu_at = now + max(left / self._cores, _SOONEST)
        if now >= self._memory_at:
            begin = time.monotonic()
            room = self._limits.memory - self._memory.used(self._tree, self._limits.memory)
            if room < 0:
                return "memory"
            looking = time.monotonic() - begin
            self._memory_at = now + max(room / _FILLING, _SOONEST, _REST * looking)
        return ""

    def wait(self) -> float:
        """Seconds until a limit may be reached, or it is time to look at the clock again."""
        at = min(self._limits.wall, self._cpu_at, self._memory_at)
        return min(max(at - self._watch.look(), 0.0), STEP)


def cores() -> int:
    """How many processors this process may use at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
