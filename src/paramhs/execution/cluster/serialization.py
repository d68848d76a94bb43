"""Compact messages to workers.

An order is a pickled tuple: the digest of the kit, the levels, the essentials of the instance, the
seed and the cutoff. Dask receives it as bytes, which it does not inspect. A small instance (a name
and a path) is part of the order; a large one is a parcel, sent to workers that report it missing,
like the kit. A very large one on the same machine is read from a file of home (`large_values.py`),
and sent only to workers that cannot.
"""

import hashlib
import os
import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import cloudpickle  # comes with Dask; takes along what a script defines itself

from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Target, Task
from paramhs.core.space import Config, Space
from paramhs.execution.large_values import LargeValues, Place
from paramhs.execution.targets.command import Problem

_MAX_INLINE_BYTES = 300  # bytes of an instance that is part of every order


class Kit(NamedTuple):
    """What all runs of a search have in common."""

    target: Target
    space: Space
    files: str
    """Digest of the files named by a command; empty for other targets."""
    code: str
    """Digest of the function that the target calls; empty for other targets."""


class Packed(NamedTuple):
    """An instance in an order."""

    pickled: bytes = b""
    """The pickled instance, if it is small."""
    parcel: str = ""
    """Digest of the pickled instance, if it is large. With `pickled`, which then has its place in a
    file of home, it is sent only to workers that cannot read that file."""
    path: str = ""
    """Path of its file, if it has one."""
    shipped: str = ""
    """Digest of that file, if it is sent to workers."""


class Order(NamedTuple):
    """Everything a worker needs for one run."""

    kit: str
    indices: tuple[int, ...]
    instance: Packed
    seed: int
    cutoff: float

    def task(self, space: Space, instance: Instance) -> Task:
        """Rebuild the task of the order."""
        return Task(Config(space, self.indices), instance, self.seed, self.cutoff)


def unpacked(order: bytes) -> Order:
    """Unpack an order."""
    kit, indices, instance, seed, cutoff = pickle.loads(order)  # noqa: S301 -- from home
    return Order(kit, indices, Packed(*instance), seed, cutoff)


class Packer:
    """Packs orders, and keeps the content of every digest."""

    def __init__(self, target: Target, ship: bool) -> None:
        self._target = target
        self._ship = ship
        self._kit = ""
        self._parcels: dict[str, bytes] = {}
        self._files: dict[str, str] = {}
        self._instances: dict[Instance, Packed] = {}
        self._values = LargeValues(cloudpickle.dumps)
        self._places: dict[str, Place] = {}

    def order(self, task: Task) -> bytes:
        """Pack a task into an order."""
        config, instance, seed, cutoff = task
        kit = self._kit or self._pack_kit(config.space)
        packed = self._instances.get(instance) or self._pack_instance(task)
        return pickle.dumps((kit, config.indices, tuple(packed), seed, cutoff))

    def parcels(self, digests: tuple[str, ...]) -> dict[str, bytes]:
        """Content of these digests, to be sent."""
        return {digest: self._content(digest) for digest in digests}

    def _content(self, digest: str) -> bytes:
        if digest in self._files:
            return Path(self._files[digest]).read_bytes()
        if digest in self._places:
            return pickle.dumps(self._places[digest].read())
        return self._parcels[digest]

    @property
    def kit(self) -> str:
        """Digest of the kit; empty before the first order."""
        return self._kit

    def _pack_kit(self, space: Space) -> str:
        target = self._target
        kit = (target, space, file_digest(target), code_digest(target))
        data = _pickled(kit, f"the target {target.name}")
        self._kit = self._keep(pickle.dumps((module_folders(target), data)))
        return self._kit

    def close(self) -> None:
        """Remove the file of large instances."""
        self._values.close()

    def _pack_instance(self, task: Task) -> Packed:
        instance = self._values.packed(task).instance
        path = self._file_of(instance)
        shipped = self._digest_of_file(path) if path and self._ship else ""
        data = _pickled(instance, f"instance {instance.name!r}")
        if isinstance(instance.value, Place):
            digest = instance.value.digest
            self._places[digest] = instance.value
            packed = Packed(data, digest)
        elif len(data) <= _MAX_INLINE_BYTES:
            packed = Packed(data, "", path, shipped)
        else:
            packed = Packed(b"", self._keep(data), path, shipped)
        self._instances[instance] = packed
        return packed

    def _keep(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()[:24]
        self._parcels[digest] = data
        return digest

    def _file_of(self, instance: Instance) -> str:
        """Absolute path of an instance's file; empty if it has none."""
        value = instance.value
        path = value.path if isinstance(value, Problem) else value
        if path is None and self._target.runs_on_files:
            path = instance.name
        if not isinstance(path, str | os.PathLike) or not (
            self._target.runs_on_files or self._ship
        ):
            return ""
        full = self._target.located(os.fspath(path))
        return os.path.abspath(full) if os.path.isfile(full) else ""

    def _digest_of_file(self, path: str) -> str:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:24]
        self._files[digest] = path
        return digest


def with_path(instance: Instance, path: str) -> Instance:
    """Replace the path of an instance."""
    value: Any = instance.value
    value = value._replace(path=path) if isinstance(value, Problem) else type(value or "")(path)
    return Instance(instance.name, value)


def module_folders(target: Target) -> tuple[str, ...]:
    """Folders of the modules that a pickled target refers to by name."""
    things = [type(target), getattr(target, "function", None)]
    found = []
    for thing in things:
        name = (getattr(thing, "__module__", None) or "").partition(".")[0]
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and name not in ("__main__", "paramhs"):
            home = os.path.dirname(os.path.abspath(file))
            found.append(os.path.dirname(home) if file.endswith("__init__.py") else home)
    return tuple(dict.fromkeys(found))


def file_digest(target: Target) -> str:
    """Digest of the files named by a command; empty for other targets."""
    return target.source if target.runs_on_files else ""


def code_digest(target: Target) -> str:
    """Digest of a target's function as loaded in this process; empty for other targets.

    Independent of the current content of its file, and comparable between processes of one Python.
    """
    code = getattr(getattr(target, "function", None), "__code__", None)
    return hashlib.sha256(_code_text(code).encode()).hexdigest() if code else ""


def _code_text(code: CodeType) -> str:
    constants = [_constant_text(constant) for constant in code.co_consts]
    return f"{code.co_code!r} {code.co_names} {constants}"


def _constant_text(constant: object) -> str:
    if isinstance(constant, CodeType):
        return _code_text(constant)
    if isinstance(constant, frozenset):
        return str(sorted(map(repr, constant)))  # its order differs between processes
    return repr(constant)


def _pickled(thing: object, what: str) -> bytes:
    try:
        data: bytes = cloudpickle.dumps(thing)
    except Exception as error:  # the object's own pickling may raise anything
        kind = type(error).__name__
        raise BadInput(f"{what} cannot be sent to a worker ({kind}: {error})") from error
    return data


Sent = Mapping[str, bytes]
"""Parcels sent with an order, by digest."""
