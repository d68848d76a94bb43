"""Ctrl-C: the first one stops after the runs in progress, the second immediately."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = "interrupted"
STOPPING = "stopping after the runs in flight; Ctrl-C again stops at once"


class Interrupts:
    """Number of requests to stop."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Handle Ctrl-C inside the block, if this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.add()

    def add(self) -> None:
        """Count a request to stop; the second one raises `KeyboardInterrupt`."""
        self._count += 1
        if self._count > 1:
            raise KeyboardInterrupt
        self._tell(STOPPING)
