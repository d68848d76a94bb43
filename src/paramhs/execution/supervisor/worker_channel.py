"""Connection between a keeper and the worker process that calls a function.

A function may fork, and its child inherits everything the worker has: it can return into our code,
or write to any open file. So each request has a number, an answer repeats it, and only the process
that was asked writes one (others end in `FunctionTarget.answer`). The keeper never blocks on this
connection, neither reading nor writing: a stopped worker, or half an answer, must not disable the
limits of the run.
"""

import contextlib
import socket
import struct

from paramhs.execution.supervisor.messages import receive_exactly

_HEADER = struct.Struct("!QQ")  # number of the request, length of the body
_MAX_ANSWER_BYTES = 1 << 20  # a longer answer is not ours
_CHUNK = 1 << 16


class Link:
    """Keeper's end of the connection."""

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line = line
        self._number = 0
        self._waiting = memoryview(b"")
        self._read = bytearray()
        self.answer = b""
        """Answer to the current request; empty until it arrives."""
        self.broken = False
        """Whether the other end is closed or has sent garbage."""

    def ask(self, request: bytes) -> None:
        """Start sending a request."""
        self._number += 1
        self.answer = b""
        self._waiting = memoryview(_HEADER.pack(self._number, len(request)) + request)
        self._write()

    @property
    def writing(self) -> bool:
        """Whether part of the request remains to be sent."""
        return len(self._waiting) > 0

    def fileno(self) -> int:
        """File descriptor, for selectors."""
        return self._line.fileno()

    def advance(self) -> None:
        """Write and read as much as possible without blocking."""
        self._write()
        try:
            data = self._line.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.broken |= not data
        self._read += data
        self._take_answers()

    def _write(self) -> None:
        if self.writing:
            with contextlib.suppress(OSError):  # a dead worker is noticed by reading
                self._waiting = self._waiting[self._line.send(self._waiting) :]

    def _take_answers(self) -> None:
        while len(self._read) >= _HEADER.size and not self.broken:
            number, length = _HEADER.unpack_from(self._read)
            # A number that was never sent is garbage. An older one answers a former request, from a
            # copy of the worker that it left behind, and is dropped.
            if number > self._number or length > _MAX_ANSWER_BYTES:
                self.broken = True
            end = _HEADER.size + length
            if self.broken or len(self._read) < end:
                return
            if number == self._number and not self.answer:
                self.answer = bytes(self._read[_HEADER.size : end])
            del self._read[:end]

    def close(self) -> None:
        """Close the connection."""
        self._line.close()


def receive_request(line: socket.socket) -> tuple[int, bytes]:
    """Wait for a request in the worker; return its number and body.

    Raises:
        EOFError: The connection was closed.
    """
    number, length = _HEADER.unpack(receive_exactly(line, _HEADER.size))
    return number, receive_exactly(line, length)


def send_answer(line: socket.socket, number: int, answer: bytes) -> None:
    """Send an answer from the worker."""
    line.sendall(_HEADER.pack(number, len(answer)) + answer)
