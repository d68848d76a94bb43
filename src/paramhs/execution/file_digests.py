"""Digests of files, recomputed only where a file may have changed.

A file counts as unchanged while its size, times and inode are the same. The inode's change time
cannot be set, so a restored modification time does not hide a change. A file written within the
last two seconds may be written again within one tick of the file system's clock, so it is read
every time. Only regular files are opened, because a pipe would block for ever.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

MAX_FILES = 10_000  # in a folder
_RECENT_NANOSECONDS = 2_000_000_000  # a younger file is read every time
_OPEN_ALREADY = ("/dev/fd/", "/dev/std", "/proc/")  # these name different files in every process


class Stamp(NamedTuple):
    """File metadata that reveals a change without reading the file."""

    size: int
    modified: int
    changed: int
    inode: int


class Content(NamedTuple):
    """What is known about a file or a folder."""

    digest: str
    """Digest of the content; empty if it cannot be read."""
    stamp: Stamp | None = None
    """Metadata of the digested file; None if it must be read every time."""


class TooMany(Exception):
    """A folder has more files than are examined."""


def stamp_of(path: str) -> Stamp | None:
    """Metadata of a regular file; None for anything else."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return _stamp(found) if stat.S_ISREG(found.st_mode) else None


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def content_of(path: str, before: Content | None = None) -> Content | None:
    """Content of a file or a folder; None if there is neither.

    `before` is the previous content, which is reused while the metadata is unchanged.
    """
    if path.startswith(_OPEN_ALREADY):
        return None
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(found.st_mode):
        return Content(_folder_digest(path))
    if not stat.S_ISREG(found.st_mode):
        return None
    if before is not None and before.stamp == _stamp(found):
        return before
    return _read(path)


def _read(path: str) -> Content:
    # The metadata is taken from the open file before and after reading, so a file that changes
    # while it is read is recognised and not cached; O_NONBLOCK keeps a pipe from blocking the open.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return Content("")
    with open(descriptor, "rb") as file:
        first = os.fstat(descriptor)
        if not stat.S_ISREG(first.st_mode):
            return Content("")
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        last = os.fstat(descriptor)
    stamp = _stamp(last)
    recent = time.time_ns() - max(stamp.modified, stamp.changed) < _RECENT_NANOSECONDS
    return Content(digest, None if recent or stamp != _stamp(first) else stamp)


def _folder_digest(path: str) -> str:
    """Digest of the names and contents of all files below a folder."""
    whole = hashlib.sha256()
    for name in sorted(_files_below(path)):
        content = content_of(os.path.join(path, name))
        whole.update(f"{name}\0{content.digest if content else ''}\0".encode(errors="replace"))
    return whole.hexdigest()


def _files_below(path: str) -> Iterator[str]:
    count = 0
    for folder, _, names in os.walk(path):
        for name in names:
            count += 1
            if count > MAX_FILES:
                raise TooMany(path)
            yield os.path.relpath(os.path.join(folder, name), path)
