"""Memory held by all processes of a run together.

Resident memory is what page tables point to. Other pages are memory as well: unmapped files in
memory (memfd, /dev/shm, tmpfs), and shared mappings filled by another process. Files in memory are
found through the open files of the run's processes, and through their mappings where Linux lets us
see those (root). Named files count only if written since the run began, because instances may be
stored in /dev/shm.

This misses shared mappings that are in no page table of an ordinary user's run, and closed files in
memory. A control group, where available, counts those too.
"""

import contextlib
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import psutil

from paramhs.execution.supervisor.cgroup import ControlGroup, delegated
from paramhs.execution.supervisor.tree import Tree, state

_CLOCK_LAG = 0.1  # seconds by which a file's time may lag behind the clock
_RECHECKS = 3  # further checks before a run is over its limit
_BLOCK = 512  # bytes; the unit of st_blocks
_NAMELESS = ("/memfd:", "/dev/zero (deleted)", "/SYSV")
_IN_MEMORY = {"tmpfs", "ramfs"}

_File = tuple[int, int]
"""Device and inode of a file."""


class Memory:
    """Counts the memory of one run at a time."""

    def __init__(self, group: ControlGroup | None = None) -> None:
        self._begin = time.time()
        self._prefixes: tuple[str, ...] = ()
        self._group = group
        self._before = 0

    def begin(self, limit: float) -> None:
        """Start counting for a new run."""
        self._begin = time.time()
        if self._group and math.isfinite(limit):
            self._before = self._group.memory()

    def used(self, tree: Tree, limit: float) -> float:
        """Bytes in use; shared pages count once where that may matter for the limit."""
        pids = tree.pids()
        if sys.platform != "linux":
            return sum(_everywhere(pid) for pid in pids)
        # The cheap count adds resident memory, in which shared pages count once per process. Only
        # if that exceeds the limit, the expensive one follows: proportional shares for several
        # processes. An excess must be confirmed by several checks, because processes are not read
        # at the same moment.
        found = self._found(pids, _resident)
        for _ in range(_RECHECKS):
            if found <= limit:
                break
            pids = tree.pids()
            found = self._found(pids, _proportional if len(pids) > 1 else _mapped_now)
        return max(found, self._group.memory() - self._before) if self._group else found

    def _found(self, pids: Iterable[int], held_by: "Callable[[int], _Held]") -> int:
        """Bytes in page tables and in files in memory that are not mapped.

        Processes and files are examined one after the other, so a page mapped by others in between
        counts more than once; an excess caused only by that disappears at the next check. Memory
        that a process has just unmapped remains resident until all of it is released, while its
        file already counts as unmapped. This does not happen where Linux sums up mappings, as for
        proportional shares.
        """
        # Mapped files in memory are resident as far as the run has touched them, and `held.shared`
        # counts those pages. The rest of such a file was written but is not mapped, so it is added;
        # unmapped files count fully.
        pids = [_holder(pid) for pid in pids]
        held = _total(map(held_by, pids))
        unmapped, mapped = self._files(pids)
        return held.all + unmapped + max(mapped - held.shared, 0)

    def _files(self, pids: Iterable[int]) -> tuple[int, int]:
        """Bytes of unmapped and of mapped files in memory."""
        sizes: dict[_File, int] = {}
        mapped: set[_File] = set()
        prefixes = self._prefixes or _prefixes()
        self._prefixes = prefixes
        for pid in pids:
            sizes.update(self._sized(_opened(pid, prefixes)))
            for file, path in _mapped(pid, prefixes):
                mapped.add(file)
                sizes.update(self._sized([path]))
        total, of_mapped = sum(sizes.values()), sum(sizes.get(file, 0) for file in mapped)
        return total - of_mapped, of_mapped

    def _sized(self, paths: Iterable[str]) -> Iterator[tuple[_File, int]]:
        for path in paths:
            with contextlib.suppress(OSError):  # closed by now, or not readable for us
                found = os.stat(path)
                written = found.st_nlink == 0 or found.st_mtime > self._begin - _CLOCK_LAG
                if stat.S_ISREG(found.st_mode) and written:
                    yield (found.st_dev, found.st_ino), found.st_blocks * _BLOCK


def way_of_counting() -> str:
    """How the memory of runs is counted on this machine, for people."""
    if delegated():
        return "counted by a control group (cgroup v2)"
    return "summed over its processes (no control group is delegated)"


class _Held(NamedTuple):
    """Bytes in page tables, and how many of them belong to files in memory."""

    all: int = 0
    shared: int = 0


def _total(held: Iterable[_Held]) -> _Held:
    everything, shared = 0, 0
    for one in held:
        everything += one.all
        shared += one.shared
    return _Held(everything, shared)


def _everywhere(pid: int) -> int:
    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def _holder(pid: int) -> int:
    """Return a process, or one of its threads if its first thread has ended.

    Such a process looks dead although the other threads hold its memory and files. /proc lists
    threads by their own numbers as well.
    """
    if state(pid) == psutil.STATUS_ZOMBIE:
        with contextlib.suppress(OSError):
            for thread in map(int, os.listdir(f"/proc/{pid}/task")):
                if state(thread) != psutil.STATUS_ZOMBIE:
                    return thread
    return pid


def _resident(pid: int) -> _Held:
    return _Held(*_fields(f"/proc/{pid}/status", b"VmRSS:", b"RssShmem:"))


def _proportional(pid: int) -> _Held:
    """Memory by proportional share: a page mapped by n processes counts as 1/n for each."""
    held = _Held(*_fields(f"/proc/{pid}/smaps_rollup", b"Pss:", b"Pss_Shmem:"))
    return held if held.all else _resident(pid)  # not every user may read it


def _mapped_now(pid: int) -> _Held:
    """Resident memory of a single process without what it has just unmapped."""
    resident = _resident(pid)
    (mapped,) = _fields(f"/proc/{pid}/smaps_rollup", b"Rss:")
    return _Held(min(mapped, resident.all), resident.shared) if mapped else resident


def _fields(path: str, *names: bytes) -> Iterator[int]:
    """Fields of a file in /proc, in bytes; 0 where missing."""
    found: dict[bytes, int] = {}
    with contextlib.suppress(OSError), open(path, "rb") as file:
        for line in file:
            words = line.split()
            if len(words) == 3 and words[0] in names:
                found[words[0]] = int(words[1]) * 1024
    return (found.get(name, 0) for name in names)


def _prefixes() -> tuple[str, ...]:
    """Prefixes of names of files in memory, as shown by /proc."""
    mounts: list[str] = []
    with contextlib.suppress(OSError), open("/proc/self/mounts", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) > 2 and words[2] in _IN_MEMORY:
                mounts.append(f"{words[1].rstrip('/')}/")
    return (*_NAMELESS, *mounts)


def _opened(pid: int, prefixes: tuple[str, ...]) -> Iterator[str]:
    """Paths in /proc of open files in memory.

    Links are read before files are examined, because a file on a network may block for ever.
    """
    with contextlib.suppress(OSError):
        folder = f"/proc/{pid}/fd"
        for number in os.listdir(folder):
            with contextlib.suppress(OSError):
                if os.readlink(f"{folder}/{number}").startswith(prefixes):
                    yield f"{folder}/{number}"


def _mapped(pid: int, prefixes: tuple[str, ...]) -> Iterator[tuple[_File, str]]:
    """Mapped files in memory, with their paths in /proc where we may read them."""
    with (
        contextlib.suppress(OSError),
        open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file,
    ):
        for line in file:
            words = line.rstrip("\n").split(maxsplit=5)
            if len(words) == 6 and words[5].startswith(prefixes):
                major, minor = (int(part, 16) for part in words[3].split(":"))
                begin, end = (int(part, 16) for part in words[0].split("-"))
                path = f"/proc/{pid}/map_files/{begin:x}-{end:x}"
                yield (os.makedev(major, minor), int(words[4])), path
