"""Lock for one writer of a file, released by the system when the writer dies.

The lock file is written only if it is an ordinary file: links are not followed.
"""

import os
import socket
import time
from pathlib import Path

from paramhs.core.errors import StoreError
from paramhs.execution.safe_files import open_plain

_PATIENCE_SECONDS = 1.0  # a writer that was just killed may take a moment to disappear

try:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _share(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

except ImportError:  # Windows
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

    _share = _lock


def is_held(path: Path) -> bool:
    """Whether a process is writing the file now; a new writer then waits a moment."""
    try:
        descriptor = open_plain(_lock_file(path), os.O_RDONLY)
    except OSError:
        return False
    try:
        _share(descriptor)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def _lock_file(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


class WriterLock:
    """Lock held from creation to `release`; a file beside the store names its holder."""

    def __init__(self, path: Path) -> None:
        self._file = _lock_file(path.absolute())
        self._descriptor: int | None = self._acquire(path)
        try:
            os.ftruncate(self._descriptor, 0)
            who = f"process {os.getpid()} on {socket.gethostname()}\n"
            os.write(self._descriptor, who.encode())
        except OSError:
            self.release()
            raise

    def _acquire(self, path: Path) -> int:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            descriptor = self._try()
            if descriptor is not None:
                return descriptor
            if time.monotonic() > deadline:
                held = f"{path} is in use by {self._holder()}"
                raise StoreError(f"{held}; wait until it ends, or use another file")
            time.sleep(0.05)

    def _try(self) -> int | None:
        descriptor = open_plain(self._file, os.O_RDWR | os.O_CREAT)
        try:
            _lock(descriptor)
            # The last holder may have removed the file between our opening and locking it.
            if os.path.samestat(os.fstat(descriptor), os.lstat(self._file)):
                return descriptor
        except (BlockingIOError, PermissionError, FileNotFoundError):
            pass  # held by another, or just removed by it
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def _holder(self) -> str:
        """Name of the holder, from the first bytes of the lock file."""
        try:
            descriptor = open_plain(self._file, os.O_RDONLY)
        except OSError:
            return "another process"
        with os.fdopen(descriptor, "rb") as file:
            return file.read(200).decode(errors="replace").strip() or "another process"

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._descriptor is not None:
            self._file.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None
