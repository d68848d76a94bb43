"""Whole messages over a line between two processes: paramhs and a keeper.

The line is a blocking socket. Where it has a timeout of its own (SO_RCVTIMEO), whoever waits may
look around each time nothing came: that costs nothing while answers come soon, which cannot be said
of `poll` with a timeout, which sets a timer each time.
"""

import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any

_LENGTH = struct.Struct("!Q")
_MOST = 1 << 20  # bytes read at once


def send_message(line: socket.socket, thing: object) -> None:
    """Send anything that can be pickled."""
    data = pickle.dumps(thing)
    line.sendall(_LENGTH.pack(len(data)) + data)


def receive_message(line: socket.socket, look: Callable[[], None] | None = None) -> Any:
    """Wait for what was sent; `look` is called whenever nothing came for a while.

    `EOFError` at the end of the line.
    """
    (length,) = _LENGTH.unpack(receive_exactly(line, _LENGTH.size, look))
    return pickle.loads(receive_exactly(line, length, look))  # noqa: S301 -- from our own process


def receive_exactly(
    line: socket.socket, size: int, look: Callable[[], None] | None = None
) -> bytes:
    """So many bytes."""
    data = bytearray()
    while len(data) < size:
        try:
            more = line.recv(min(size - len(data), _MOST))
        except BlockingIOError:
            if look is None:
                raise
            look()
            continue
        if not more:
            raise EOFError
        data += more
    return bytes(data)
