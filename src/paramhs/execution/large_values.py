"""Instances in memory that are too large to travel with every run.

A large value is pickled once, into a file of this process. A request then names its place there,
and the process that makes the run maps it into its memory, arrays (what pickle calls out-of-band
buffers) without a copy. The mapping is private: a target that changes its instance changes no other
run.

On Linux the file has no name: others open it through /proc, and nothing remains of it, however this
process ends. Processes that cannot open it, because they run on another machine, receive the value
once and keep it in a file of their own (`elsewhere.py`).
"""

import hashlib
import mmap
import os
import pickle
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Task

LARGE_BYTES = 1 << 16  # pickled; smaller values travel with every run
_MARK_BYTES = 16
_ALIGNMENT = 64  # of each part of a value
_SIMPLE = (os.PathLike, int, float, type(None))


Dumps = Callable[..., bytes]
"""`pickle.dumps`, or a function with its arguments."""


class Pickled(NamedTuple):
    """A pickled value: the pickle and its buffers, one after the other."""

    data: bytes
    spans: tuple[tuple[int, int], ...]
    """Start and end of each part; the first is the pickle."""

    def loaded(self, data: memoryview) -> Any:
        """Unpickle a value whose parts lie in this memory; its arrays stay there."""
        pickled, *buffers = (data[start:end] for start, end in self.spans)
        return pickle.loads(pickled, buffers=buffers)  # noqa: S301 -- from home


class Place(NamedTuple):
    """Place of a pickled value in a file."""

    path: str
    mark: bytes
    """First bytes of the file: a path may mean another file on another machine."""
    start: int
    size: int
    value: Pickled
    """The pickled value without its data."""
    digest: str

    def load(self) -> Any:
        """Load the value."""
        with open(self.path, "rb") as file:
            memory = mmap.mmap(file.fileno(), self.size, access=mmap.ACCESS_COPY, offset=self.start)
        return self.value.loaded(memoryview(memory))

    def read(self) -> Pickled:
        """Read the pickled value with its data, to be sent."""
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return self.value._replace(data=file.read(self.size))

    @property
    def reachable(self) -> bool:
        """Whether this process can read the file."""
        try:
            with open(self.path, "rb") as file:
                return file.read(_MARK_BYTES) == self.mark
        except OSError:
            return False


class LargeValues:
    """The large values that were sent to other processes, in one file."""

    def __init__(self, dumps: Dumps = pickle.dumps) -> None:
        self._dumps = dumps
        self._lock = threading.Lock()
        self._file: Any = None
        self._mark = secrets.token_bytes(_MARK_BYTES)
        self._known: dict[str, tuple[object, Place | None]] = {}
        """Value and place by name of the instance; small values have no place."""
        self._places: dict[str, Place] = {}
        """Places by digest."""

    def packed(self, task: Task) -> Task:
        """Replace a large value of a task's instance by its place."""
        name, value = task.instance.name, task.instance.value
        short = isinstance(value, str | bytes) and len(value) < LARGE_BYTES
        if short or isinstance(value, (*_SIMPLE, Place)):
            return task
        with self._lock:
            known = self._known.get(name)
            if known is None or known[0] is not value:
                known = self._known[name] = value, self._placed(name, value)
        return task if known[1] is None else with_value(task, known[1])

    def _placed(self, name: str, value: object) -> Place | None:
        try:
            packed = pack(value, self._dumps)
        except Exception as error:  # the object's own pickling may raise anything
            raise BadInput(
                f"instance {name!r} cannot be sent to a worker process ({error});"
                " use executor='threads', or give a path or a name"
            ) from error
        return self.keep(packed) if len(packed.data) >= LARGE_BYTES else None

    def keep(self, value: Pickled) -> Place:
        """Write a pickled value, unless its content is in the file."""
        digest = hashlib.sha256(value.data).hexdigest()
        if digest not in self._places:
            start = self._end()
            self._file.write(value.data)
            self._file.flush()
            size, known = len(value.data), value._replace(data=b"")
            self._places[digest] = Place(self._path, self._mark, start, size, known, digest)
        return self._places[digest]

    def place(self, digest: str) -> Place | None:
        """Place of the value with this digest, if it is known."""
        return self._places.get(digest)

    def _end(self) -> int:
        """Where the file ends; it is made when it is first needed."""
        if self._file is None:
            named = not sys.platform.startswith("linux")
            make = tempfile.NamedTemporaryFile if named else tempfile.TemporaryFile
            self._file = make(prefix="paramhs-")
            self._file.write(self._mark)
            number = self._file.fileno()
            self._path = self._file.name if named else f"/proc/{os.getpid()}/fd/{number}"
        end = self._file.seek(0, os.SEEK_END)
        return int(self._file.seek(_up(end, mmap.ALLOCATIONGRANULARITY)))

    def close(self) -> None:
        """Remove the file."""
        with self._lock:
            self._known.clear()
            self._places.clear()
            if self._file is not None:
                self._file.close()
                self._file = None


def pack(value: object, dumps: Dumps = pickle.dumps) -> Pickled:
    """Pickle a value, and put its buffers behind."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = dumps(value, protocol=5, buffer_callback=buffers.append)
    data, spans = bytearray(), []
    for part in (memoryview(pickled), *(buffer.raw() for buffer in buffers)):
        spans.append((len(data), len(data) + part.nbytes))
        data += part
        data += bytes(_up(len(data), _ALIGNMENT) - len(data))
    return Pickled(bytes(data), tuple(spans))


def _up(size: int, unit: int) -> int:
    """Round up to a multiple of a unit."""
    return -(-size // unit) * unit


def value_of(value: object) -> Any:
    """The value of an instance, loaded from its place if it was packed."""
    return value.load() if isinstance(value, Place) else value


def unpacked(task: Task) -> Task:
    """A packed task with the value of its instance."""
    value = task.instance.value
    return with_value(task, value_of(value)) if isinstance(value, Place) else task


def with_value(task: Task, value: object) -> Task:
    """A task on an instance of the same name with another value."""
    return task._replace(instance=Instance(task.instance.name, value))
