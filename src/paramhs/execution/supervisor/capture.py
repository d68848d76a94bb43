"""Captured output of a run, limited to its beginning and end."""

import os
from contextlib import suppress

_CHUNK = 1 << 16
_MAX_CHUNKS = 64  # chunks read at the end, more than a pipe holds
GAP = b"\n[... output left out ...]\n"  # contains no number that a reader could find


class Capture:
    """Reading end of a pipe that keeps the beginning and the end of the output."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = False
        self.fd, self.theirs = os.pipe()
        os.set_blocking(self.fd, False)
        self.open = True

    def read(self) -> bool:
        """Read at most one pipe's worth; return whether there may be more."""
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.open = False
            return False
        if len(self._head) < self._kept:
            self._head += data
        else:
            self._tail += data
            self._trim()
        return True

    def _trim(self) -> None:
        excess = len(self._tail) - self._kept
        if excess > self._kept:  # rarely, so that it costs little
            del self._tail[:excess]
            self._dropped = True

    def close_theirs(self) -> None:
        """Close the writing end, which belongs to the run."""
        if self.theirs >= 0:
            os.close(self.theirs)
            self.theirs = -1

    def close(self) -> bytes:
        """Close the pipe and return everything that was kept."""
        self.close_theirs()
        for _ in range(_MAX_CHUNKS):
            if not (self.open and self.read()):
                break
        with suppress(OSError):
            os.close(self.fd)
        gap = GAP if self._dropped else b""
        return bytes(self._head) + gap + bytes(self._tail)
