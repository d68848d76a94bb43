"""Safe creation of files in folders where other users may write.

Another user may place a symbolic link, a hard link or a pipe where the next file will be created.
No link is followed here: otherwise a file elsewhere that belongs to the user could be truncated
through it.
"""

import codecs
import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from paramhs.core.errors import BadInput
from paramhs.core.text.numbers import printable

# Windows has neither links to follow by default nor pipes with names in folders.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def open_plain(path: Path, flags: int, mode: int = 0o644) -> int:
    """Open an ordinary file with a single name.

    A link is not followed, and a pipe without a writer does not block.

    Raises:
        OSError: The path is something else than an ordinary file.
    """
    try:
        descriptor = os.open(path, flags | _NO_FOLLOW | _NO_WAIT, mode)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        link = f"{path.name} is a symbolic link, which is not followed; remove it"
        raise OSError(errno.ELOOP, link) from None
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, f"{path.name} is not an ordinary file of its own; remove it")


def create(path: Path) -> None:
    """Create an empty file.

    Raises:
        FileExistsError: The name exists, even as a broken link.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o644))


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Write a file atomically: readers see the old or the new content, never a part.

    A symbolic link with that name is replaced, not followed. Special files, such as /dev/stdout or
    a pipe, are written directly.

    Raises:
        BadInput: The file cannot be written.
    """
    _check(path)
    if path.exists() and not path.is_file():
        with _told(path), open(path, "wb") as file:
            yield cast("IO[bytes]", ShownBytes(file)) if file.isatty() else file
        return
    # The new content goes to a file with an unpredictable name in the same folder, created
    # exclusively so that no prepared link is followed, and then replaces the old file by a rename,
    # which is atomic within one file system.
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with _told(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
            with os.fdopen(os.open(part, flags, 0o666), "wb") as file:
                yield file
            os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


class ShownBytes(io.RawIOBase):
    """Binary file in front of a terminal that makes UTF-8 text printable."""

    def __init__(self, terminal: IO[bytes], encoding: str = "utf-8") -> None:
        self._terminal = terminal
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        """Whether the file is writable, which it always is."""
        return True

    def write(self, content: Any) -> int:
        """Write the text with unprintable characters escaped."""
        data = bytes(content)
        text = printable(self._decoder.decode(data))
        self._terminal.write(text.encode(self._encoding, "backslashreplace"))
        self._terminal.flush()
        return len(data)


def write_whole(path: Path, text: str) -> None:
    """Write a text atomically."""
    with written_whole(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _check(path: Path) -> None:
    if path.is_dir():
        raise BadInput(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise BadInput(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_symlink() and path.is_file() and _is_of_the_system(path):
        raise BadInput(f"cannot write {path}: it is a link to a file; name the file itself")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror or error}") from None


def _is_of_the_system(path: Path) -> bool:
    """Whether a path is a system name such as /dev/stdout, which must not be replaced."""
    return path.parent in (Path("/dev"), Path("/dev/fd")) or path.parts[:2] == ("/", "proc")
