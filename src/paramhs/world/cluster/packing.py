"""What travels to a worker, and how little of it with each run.

An order is a pickled tuple: the digest of the kit, the levels, what is needed of the instance, the
seed, the cutoff. It is given to Dask as bytes, which it has no reason to look into. An instance
that is small (a name and a path) goes with the order; a large one is a parcel, sent to a worker
that says it does not have it, as the kit is.
"""

import hashlib
import os
import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from paramhs.values.errors import BadInput
from paramhs.values.runs import Instance, Target, Task
from paramhs.values.space import Config, Space
from paramhs.world.targets.command import Problem

_SMALL = 300  # bytes of an instance that go with every order


class Kit(NamedTuple):
    """What all runs of a search have in common."""

    target: Target
    space: Space
    files: str
    """A digest of the files that a command names; empty for others."""
    code: str
    """A digest of the function that the target calls; empty for others."""


class Packed(NamedTuple):
    """An instance in an order."""

    pickled: bytes = b""
    """The instance itself, if it is small."""
    parcel: str = ""
    """Else the digest of it."""
    path: str = ""
    """Its file, where it has one."""
    shipped: str = ""
    """The digest of that file, if it is sent along."""


class Order(NamedTuple):
    """What a worker needs to know for one run."""

    kit: str
    indices: tuple[int, ...]
    instance: Packed
    seed: int
    cutoff: float

    def task(self, space: Space, instance: Instance) -> Task:
        """The task that is meant."""
        return Task(Config(space, self.indices), instance, self.seed, self.cutoff)


def unpacked(order: bytes) -> Order:
    """The order in its plain form."""
    kit, indices, instance, seed, cutoff = pickle.loads(order)  # noqa: S301 -- from home
    return Order(kit, indices, Packed(*instance), seed, cutoff)


class Packer:
    """Packs at home; knows what a digest stands for."""

    def __init__(self, target: Target, ship: bool) -> None:
        self._target = target
        self._ship = ship
        self._kit = ""
        self._parcels: dict[str, bytes] = {}
        self._files: dict[str, str] = {}
        self._instances: dict[Instance, Packed] = {}

    def order(self, task: Task) -> bytes:
        """A task as it travels."""
        config, instance, seed, cutoff = task
        kit = self._kit or self._pack_kit(config.space)
        packed = self._instances.get(instance) or self._pack_instance(instance)
        return pickle.dumps((kit, config.indices, tuple(packed), seed, cutoff))

    def parcels(self, digests: tuple[str, ...]) -> dict[str, bytes]:
        """What these digests stand for, to be sent."""
        return {digest: self._content(digest) for digest in digests}

    def _content(self, digest: str) -> bytes:
        if digest in self._files:
            return Path(self._files[digest]).read_bytes()
        return self._parcels[digest]

    @property
    def kit(self) -> str:
        """The digest of the kit; empty while nothing was ordered."""
        return self._kit

    def _pack_kit(self, space: Space) -> str:
        target = self._target
        kit = (target, space, file_digest(target), code_digest(target))
        data = _pickled(kit, f"the target {target.name}")
        self._kit = self._keep(pickle.dumps((module_folders(target), data)))
        return self._kit

    def _pack_instance(self, instance: Instance) -> Packed:
        path = self._file_of(instance)
        shipped = self._digest_of_file(path) if path and self._ship else ""
        data = _pickled(instance, f"instance {instance.name!r}")
        if len(data) <= _SMALL:
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
        """The file that an instance is, as seen from here; empty if it is none."""
        value = instance.value
        path = value.path if isinstance(value, Problem) else value
        if path is None and self._target.runs_on_files:
            path = instance.name
        if not isinstance(path, str | os.PathLike) or not (
            self._target.runs_on_files or self._ship
        ):
            return ""
        full = os.path.join(getattr(self._target, "folder", ""), path)
        return os.path.abspath(full) if os.path.isfile(full) else ""

    def _digest_of_file(self, path: str) -> str:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:24]
        self._files[digest] = path
        return digest


def with_path(instance: Instance, path: str) -> Instance:
    """The same instance at another place."""
    value: Any = instance.value
    value = value._replace(path=path) if isinstance(value, Problem) else type(value or "")(path)
    return Instance(instance.name, value)


def module_folders(target: Target) -> tuple[str, ...]:
    """Where the modules are that a pickled target only names."""
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
    """A digest of the files that a command names; empty for other targets."""
    return target.source if target.runs_on_files else ""


def code_digest(target: Target) -> str:
    """A digest of the function that a target calls, as it is in this process, whatever its file
    says by now; empty for other targets. Comparable between processes of the same Python."""
    code = getattr(getattr(target, "function", None), "__code__", None)
    return hashlib.sha256(_code_text(code).encode()).hexdigest() if code else ""


def _code_text(code: CodeType) -> str:
    constants = [_constant_text(constant) for constant in code.co_consts]
    return f"{code.co_code!r} {code.co_names} {constants}"


def _constant_text(constant: object) -> str:
    if isinstance(constant, CodeType):
        return _code_text(constant)
    if isinstance(constant, frozenset):
        return str(sorted(map(repr, constant)))  # its own order is not the same everywhere
    return repr(constant)


def _pickled(thing: object, what: str) -> bytes:
    import cloudpickle  # comes with Dask; takes along what a script defines itself

    try:
        data: bytes = cloudpickle.dumps(thing)
    except Exception as error:  # whatever the object's own pickling raises
        kind = type(error).__name__
        raise BadInput(f"{what} cannot be sent to a worker ({kind}: {error})") from error
    return data


Sent = Mapping[str, bytes]
"""What goes with an order, by digest."""
