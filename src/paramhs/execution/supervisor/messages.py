"""Length-prefixed messages between two processes: paramhs and a keeper.

The connection is a blocking socket. If it has a timeout (SO_RCVTIMEO), the waiting side calls
`look` each time nothing arrives. That costs nothing while answers arrive soon, unlike `poll` with a
timeout, which sets a timer every time.
"""

import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any

_LENGTH = struct.Struct("!Q")
_MAX_BYTES = 1 << 20  # read at once


def send_message(line: socket.socket, thing: object) -> None:
    """Send any object that can be pickled."""
    data = pickle.dumps(thing)
    line.sendall(_LENGTH.pack(len(data)) + data)


def receive_message(line: socket.socket, look: Callable[[], None] | None = None) -> Any:
    """Wait for a message; call `look` whenever nothing arrives for a while.

    Raises:
        EOFError: The connection was closed.
    """
    (length,) = _LENGTH.unpack(receive_exactly(line, _LENGTH.size, look))
    return pickle.loads(receive_exactly(line, length, look))  # noqa: S301 -- from our own process


def receive_exactly(
    line: socket.socket, size: int, look: Callable[[], None] | None = None
) -> bytes:
    """Receive exactly `size` bytes."""
    data = bytearray()
    while len(data) < size:
        try:
            more = line.recv(min(size - len(data), _MAX_BYTES))
        except BlockingIOError:
            if look is None:
                raise
            look()
            continue
        if not more:
            raise EOFError
        data += more
    return bytes(data)
