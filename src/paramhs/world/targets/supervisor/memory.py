"""How much memory the processes of a run hold together.

Resident memory is what a page table points to. Pages that no page table points to are memory, too:
files that were written in memory and not mapped (memfd, /dev/shm, tmpfs), and shared mappings that
another process filled. Files in memory are found by the open files of the run's processes, and by
its mappings where Linux lets us look at those (root). Of files with a name only those count that
were written since the run began: instances may well lie in /dev/shm.

That leaves out shared mappings that are not in the page table of any process of an ordinary user's
run, and files in memory that are closed. A control group, where there is one, counts those, too.
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

from paramhs.world.targets.supervisor.cgroup import ControlGroup, delegated
from paramhs.world.targets.supervisor.tree import Tree, state

_COARSE = 0.1  # seconds by which the time of a file may lag behind the clock
_LOOKS = 3  # more, before a run is over its limit
_BLOCK = 512  # bytes, the unit of st_blocks
_NAMELESS = ("/memfd:", "/dev/zero (deleted)", "/SYSV")
_IN_MEMORY = {"tmpfs", "ramfs"}

_File = tuple[int, int]
"""Device and inode."""


class Memory:
    """Counts the memory of one run at a time."""

    def __init__(self, group: ControlGroup | None = None) -> None:
        self._begin = time.time()
        self._prefixes: tuple[str, ...] = ()
        self._group = group
        self._before = 0

    def begin(self, limit: float) -> None:
        """A run begins now."""
        self._begin = time.time()
        if self._group and math.isfinite(limit):
            self._before = self._group.memory()

    def used(self, tree: Tree, limit: float) -> float:
        """Bytes; what processes share is counted once if that may matter for the limit."""
        pids = tree.pids()
        if sys.platform != "linux":
            return sum(_everywhere(pid) for pid in pids)
        found = self._found(pids, _resident)
        for _ in range(_LOOKS):
            if found <= limit:
                break
            pids = tree.pids()
            found = self._found(pids, _proportional if len(pids) > 1 else _mapped_now)
        return max(found, self._group.memory() - self._before) if self._group else found

    def _found(self, pids: Iterable[int], held_by: "Callable[[int], _Held]") -> int:
        """In page tables, and in files in memory beside those.

        Processes and files are looked at one after the other, so a page that others map in between
        counts more than once. What is over the limit only for that reason is not so at the next
        look. (And what a process has just unmapped is in its resident memory until all of it is
        let go, while its file is already one that nobody has mapped: that is not so where Linux
        adds up mappings, as it does for shares.)
        """
        pids = [_holder(pid) for pid in pids]
        held = _total(map(held_by, pids))
        unmapped, mapped = self._files(pids)
        return held.all + unmapped + max(mapped - held.shared, 0)

    def _files(self, pids: Iterable[int]) -> tuple[int, int]:
        """Bytes of files in memory: of those that nobody has mapped, and of the others."""
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
            with contextlib.suppress(OSError):  # it is closed by now, or we may not look
                found = os.stat(path)
                written = found.st_nlink == 0 or found.st_mtime > self._begin - _COARSE
                if stat.S_ISREG(found.st_mode) and written:
                    yield (found.st_dev, found.st_ino), found.st_blocks * _BLOCK


def way_of_counting() -> str:
    """How the memory of runs is counted here, for people."""
    if delegated():
        return "counted by a control group (cgroup v2)"
    return "counted process by process (no control group is delegated to this process)"


class _Held(NamedTuple):
    """Bytes in page tables, and how many of them are of files in memory."""

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
    """A process, or one of its threads: one whose first thread has ended looks dead, and yet the
    others hold its memory and its files. /proc has them by their own numbers, too."""
    if state(pid) == psutil.STATUS_ZOMBIE:
        with contextlib.suppress(OSError):
            for thread in map(int, os.listdir(f"/proc/{pid}/task")):
                if state(thread) != psutil.STATUS_ZOMBIE:
                    return thread
    return pid


def _resident(pid: int) -> _Held:
    return _Held(*_fields(f"/proc/{pid}/status", b"VmRSS:", b"RssShmem:"))


def _proportional(pid: int) -> _Held:
    """A page that n processes have mapped counts as 1/n for each."""
    held = _Held(*_fields(f"/proc/{pid}/smaps_rollup", b"Pss:", b"Pss_Shmem:"))
    return held if held.all else _resident(pid)  # not everybody may see it


def _mapped_now(pid: int) -> _Held:
    """Its resident memory without what it has just unmapped; of one process, whatever it shares
    with others that are not of the run."""
    resident = _resident(pid)
    (mapped,) = _fields(f"/proc/{pid}/smaps_rollup", b"Rss:")
    return _Held(min(mapped, resident.all), resident.shared) if mapped else resident


def _fields(path: str, *names: bytes) -> Iterator[int]:
    """Numbers of a file in /proc, in bytes; 0 where there is none."""
    found: dict[bytes, int] = {}
    with contextlib.suppress(OSError), open(path, "rb") as file:
        for line in file:
            words = line.split()
            if len(words) == 3 and words[0] in names:
                found[words[0]] = int(words[1]) * 1024
    return (found.get(name, 0) for name in names)


def _prefixes() -> tuple[str, ...]:
    """How the names of files in memory begin, as /proc shows them."""
    mounts: list[str] = []
    with contextlib.suppress(OSError), open("/proc/self/mounts", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) > 2 and words[2] in _IN_MEMORY:
                mounts.append(f"{words[1].rstrip('/')}/")
    return (*_NAMELESS, *mounts)


def _opened(pid: int, prefixes: tuple[str, ...]) -> Iterator[str]:
    """Where its open files in memory can be looked at. Links are read first, because looking at a
    file of a network may take for ever."""
    with contextlib.suppress(OSError):
        folder = f"/proc/{pid}/fd"
        for number in os.listdir(folder):
            with contextlib.suppress(OSError):
                if os.readlink(f"{folder}/{number}").startswith(prefixes):
                    yield f"{folder}/{number}"


def _mapped(pid: int, prefixes: tuple[str, ...]) -> Iterator[tuple[_File, str]]:
    """Its mapped files in memory, and where they can be looked at, if we may."""
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
