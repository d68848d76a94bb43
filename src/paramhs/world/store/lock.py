"""One writer at a time for a file, released by the system when the writer dies."""

import os
import socket
import time
from pathlib import Path

from paramhs.values.errors import StoreError

_PATIENCE = 1.0  # seconds: a writer that was just killed may take a moment to be gone

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
    """Whether somebody is writing the file now. Whoever wants to just then waits a moment."""
    try:
        descriptor = os.open(_lock_file(path), os.O_RDONLY)
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
    """Held from creation to `release`; a lock file beside the file says who holds it."""

    def __init__(self, path: Path) -> None:
        self._file = _lock_file(path)
        self._descriptor: int | None = self._acquire(path)
        try:
            os.ftruncate(self._descriptor, 0)
            who = f"process {os.getpid()} on {socket.gethostname()}\n"
            os.write(self._descriptor, who.encode())
        except OSError:
            self.release()
            raise

    def _acquire(self, path: Path) -> int:
        deadline = time.monotonic() + _PATIENCE
        while True:
            descriptor = self._try()
            if descriptor is not None:
                return descriptor
            if time.monotonic() > deadline:
                held = f"{path} is in use by {self._holder()}"
                raise StoreError(f"{held}; wait until it ends, or use another file")
            time.sleep(0.05)

    def _try(self) -> int | None:
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(descriptor)
            # The last holder may have removed the file between our opening and locking it.
            if os.fstat(descriptor).st_ino == os.stat(self._file).st_ino:
                return descriptor
        except (BlockingIOError, PermissionError, FileNotFoundError):
            pass  # held by another, or just removed by it
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def _holder(self) -> str:
        try:
            return self._file.read_text(errors="replace").strip() or "another process"
        except OSError:
            return "another process"

    def release(self) -> None:
        """Let the next writer in; a second time does nothing."""
        if self._descriptor is not None:
            self._file.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None
