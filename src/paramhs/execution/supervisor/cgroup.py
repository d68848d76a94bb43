"""Control groups of keepers, where Linux and the parent of this process allow them.

A control group (cgroup v2) counts all memory that its processes ever requested, wherever it is now,
and can kill all of them at once, wherever they went. It must be delegated to us, for example by
`systemd-run --user --scope -p Delegate=yes paramhs tune ...`. A group with subgroups may not
contain processes, so this process moves into one beside those of its keepers, but only if it is
alone in the group, because other processes are not ours to move.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint" and
"Model of Delegation"; systemd's CGROUP_DELEGATION.
"""

import contextlib
import errno
import os
import time
from pathlib import Path

_OURS = "paramhs"  # the group into which this process moves
_ENDING_SECONDS = 5.0  # time for killed processes to disappear
_COUNTED = (b"anon", b"shmem")  # fields of memory.stat; the rest is cache, which Linux reclaims


class ControlGroup:
    """Control group of one keeper and everything it starts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def join(self) -> bool:
        """Move this process and its later children into the group; return whether this worked."""
        try:
            self._path.mkdir()
            (self._path / "cgroup.procs").write_text(str(os.getpid()))
        except OSError:
            return False
        return True

    def memory(self) -> int:
        """Bytes held by its processes, including shared memory and files in memory."""
        with contextlib.suppress(OSError, ValueError):
            lines = (self._path / "memory.stat").read_bytes().splitlines()
            numbers = dict(line.split(maxsplit=1) for line in lines)
            return sum(int(numbers.get(name, 0)) for name in _COUNTED)
        return 0

    def end(self) -> None:
        """Kill the remaining processes and remove the group."""
        with contextlib.suppress(OSError):
            (self._path / "cgroup.kill").write_text("1")
        groups = [folder for folder, _, _ in os.walk(self._path, topdown=False)]
        for group in groups:  # a run may have created subgroups
            _remove(group, time.monotonic() + _ENDING_SECONDS)


def _remove(group: str, deadline: float) -> None:
    """Remove a group; it is busy for a moment after its processes were killed."""
    while True:
        try:
            os.rmdir(group)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                return
        time.sleep(0.005)


def group_of(mark: str) -> ControlGroup | None:
    """Control group for a keeper with this mark; None where there can be none."""
    home = delegated()
    return ControlGroup(home / f"run-{mark}") if home else None


def delegated() -> Path | None:
    """The group below which others may be created, prepared for that; None if there is none."""
    own = own_group()
    if own is None:
        return None
    if own.name == _OURS and _controls_memory(own.parent):
        return own.parent
    return own if _is_delegated(own) and _make_ready(own) else None


def own_group() -> Path | None:
    """Path of this process's group, in a hierarchy that can count memory."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
            if line.startswith("0::"):
                root = _mounted()
                return root / line[3:].lstrip("/") if root else None
    return None


def _mounted() -> Path | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text("utf-8").splitlines():
            words = line.split()
            if words[2] == "cgroup2":
                return Path(words[1])
    return None


def _is_delegated(group: Path) -> bool:
    """Whether the group is delegated: writable for users, marked by systemd for root."""
    if "memory" not in _words(group / "cgroup.controllers"):
        return False
    if os.geteuid() != 0:
        return all(os.access(group / name, os.W_OK) for name in ("", "cgroup.procs"))
    with contextlib.suppress(OSError, AttributeError):
        return os.getxattr(group, "user.delegate") == b"1"
    return False


def _make_ready(group: Path) -> bool:
    """Move this process, if it is alone, into a subgroup, and enable memory accounting."""
    if _words(group / "cgroup.procs") != [str(os.getpid())]:
        return False
    try:
        (group / _OURS).mkdir(exist_ok=True)
        (group / _OURS / "cgroup.procs").write_text(str(os.getpid()))
        (group / "cgroup.subtree_control").write_text("+memory")
    except OSError:
        return False
    return _controls_memory(group)


def _controls_memory(group: Path) -> bool:
    return "memory" in _words(group / "cgroup.subtree_control")


def _words(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text("utf-8").split()
    return []
