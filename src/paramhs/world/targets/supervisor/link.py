"""The line between a keeper and the worker process that calls a function.

A function may fork, and its child has all that the worker has: it can return into our code, or
write to any open file. So each request has a number, an answer repeats it, and only the process
that was asked writes one (others end in `FunctionTarget.answer`). The keeper never waits for this
line, neither to read nor to write: a worker that is stopped, or half an answer, must not switch off
the limits of the run.
"""

import contextlib
import socket
import struct

from paramhs.world.targets.supervisor.messages import receive_exactly

_HEADER = struct.Struct("!QQ")  # the number of the request, the length of what follows
_LONGEST_ANSWER = 1 << 20  # bytes; what is longer is no answer of ours
_CHUNK = 1 << 16


class Link:
    """The keeper's end."""

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line = line
        self._number = 0
        self._waiting = memoryview(b"")
        self._read = bytearray()
        self.answer = b""
        """What was answered to the present request; empty while it is not."""
        self.broken = False
        """Whether the other end is closed, or says what no worker says."""

    def ask(self, request: bytes) -> None:
        """Begin to send a request."""
        self._number += 1
        self.answer = b""
        self._waiting = memoryview(_HEADER.pack(self._number, len(request)) + request)
        self._write()

    @property
    def writing(self) -> bool:
        """Whether the request is not yet sent whole."""
        return len(self._waiting) > 0

    def fileno(self) -> int:
        """For selectors."""
        return self._line.fileno()

    def go_on(self) -> None:
        """Write what can be written, read what can be read."""
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
            with contextlib.suppress(OSError):  # who is dead will be noticed by reading
                self._waiting = self._waiting[self._line.send(self._waiting) :]

    def _take_answers(self) -> None:
        while len(self._read) >= _HEADER.size and not self.broken:
            number, length = _HEADER.unpack_from(self._read)
            if number > self._number or length > _LONGEST_ANSWER:
                self.broken = True
            end = _HEADER.size + length
            if self.broken or len(self._read) < end:
                return
            if number == self._number and not self.answer:
                self.answer = bytes(self._read[_HEADER.size : end])
            del self._read[:end]

    def close(self) -> None:
        """Hang up."""
        self._line.close()


def receive_request(line: socket.socket) -> tuple[int, bytes]:
    """In the worker: wait for a request; its number and what is asked. `EOFError` at the end."""
    number, length = _HEADER.unpack(receive_exactly(line, _HEADER.size))
    return number, receive_exactly(line, length)


def send_answer(line: socket.socket, number: int, answer: bytes) -> None:
    """In the worker."""
    line.sendall(_HEADER.pack(number, len(answer)) + answer)
