"""What is done in a worker's process.

Each run has a keeper of its own below the worker (`Supervised`), so limits hold as they do at home
and a run that crashes takes no worker with it. A keeper leaves when the worker's process is gone,
however it went. A run that nobody wants any more, because the search has ended or paramhs is gone,
is told by Dask as a task that is cancelled, and ended then. Keepers without work are dismissed
after a while: nobody may have said good-bye.
"""

import contextlib
import os
import pickle
import platform
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from distributed import WorkerPlugin, get_worker

from paramhs.values.errors import ParamhsError
from paramhs.values.runs import Instance, Run, Target, Task
from paramhs.values.version import __version__
from paramhs.world.cluster.packing import (
    Kit,
    Order,
    code_digest,
    file_digest,
    unpacked,
    with_path,
)
from paramhs.world.targets.command import CommandTarget
from paramhs.world.targets.in_worker import supervisable
from paramhs.world.targets.supervisor.supervised import CannotKeep, Supervised

IDLE = 30.0  # seconds after which keepers without work are dismissed
_PLUGIN = "paramhs-runs"


class Unfit(Exception):
    """Here no run can be made, whatever it is."""


class About(NamedTuple):
    """Who a worker is."""

    host: str
    pid: int
    python: str
    paramhs: str
    note: str = ""
    """What is different there, if anything is."""


class Answer(NamedTuple):
    """What became of an order: a run without its task, or why there is none."""

    worker: str
    status: str = ""
    runtime: float = 0.0
    quality: float | None = None
    detail: str = ""
    missing: tuple[str, ...] = ()
    """Digests of what is needed for it, and not here."""
    unfit: str = ""
    """Why no run can be made here."""
    refused: str = ""
    """What a target says that wants the search to stop."""
    ended: bool = False
    """Whether the run was ended because nobody wanted it."""
    about: About | None = None


def make_run(order: bytes, sent: Mapping[str, bytes] | None = None) -> tuple[Any, ...]:
    """What Dask calls: the answer to an order, given what was sent with it."""
    dasks = get_worker()
    answer = _worker_of(dasks).answer(unpacked(order), sent or {}, dasks.get_current_task())
    return tuple(answer)


def forget_kit(kit: str) -> None:
    """The search is over: dismiss its keepers."""
    for worker in list(_WORKERS.values()):
        worker.forget(kit)


class Worker:
    """Beside one of Dask's: its kits, instances, keepers, and the runs that it is making."""

    def __init__(self, address: str, folder: str) -> None:
        self._address = address
        self._scratch = folder
        self._folder = ""
        self._lock = threading.Lock()
        self._kits: dict[str, _Unpacked] = {}
        self._things: dict[str, Any] = {}
        self._running: dict[str, Supervised] = {}
        self._unwanted: set[str] = set()

    def answer(self, order: Order, sent: Mapping[str, bytes], key: str) -> Answer:
        """Make the run that was ordered, or say why not."""
        try:
            with self._lock:  # another search may forget what is needed here
                self._take_in(order, sent)
                missing = self._missing(order)
                if missing:
                    return Answer(self._address, missing=missing, about=_about())
                kit, instance = self._kits[order.kit], self._instance(order)
            run = self._make(kit, order.task(kit.space, instance), key)
        except Unfit as error:
            return Answer(self._address, unfit=str(error), about=_about())
        except ParamhsError as error:
            ended = key in self._unwanted
            return Answer(self._address, refused=str(error), ended=ended)
        finally:
            self._unwanted.discard(key)
        note = kit.take_note()
        about = _about()._replace(note=note) if note else None
        return Answer(self._address, run.status.value, *run[2:], about=about)

    # What was sent.

    def _take_in(self, order: Order, sent: Mapping[str, bytes]) -> None:
        for digest, data in sent.items():
            if digest in self._kits or digest in self._things:
                continue  # a run may be reading it
            if digest == order.kit:
                self._kits[digest] = _unpack_kit(data)
            elif digest == order.instance.shipped:
                self._things[digest] = self._write(digest, order.instance.path, data)
            elif digest == order.instance.parcel:
                self._things[digest] = _loaded(data, "an instance")

    def _missing(self, order: Order) -> tuple[str, ...]:
        needed = filter(None, (order.instance.parcel, order.instance.shipped))
        missing = [digest for digest in needed if digest not in self._things]
        return (*missing, *([] if order.kit in self._kits else [order.kit]))

    def _write(self, digest: str, path: str, data: bytes) -> str:
        """Write a file that was sent; where there is no room for it, no run can be made."""
        try:
            if not self._folder:
                self._folder = tempfile.mkdtemp(prefix="paramhs-", dir=self._scratch)
            folder = os.path.join(self._folder, digest)
            os.makedirs(folder, exist_ok=True)
            written = os.path.join(folder, os.path.basename(path))
            with open(f"{written}.part", "wb") as file:
                file.write(data)
            os.replace(file.name, written)
        except OSError as error:
            raise Unfit(f"{os.path.basename(path)} cannot be written: {error}") from None
        return written

    def _instance(self, order: Order) -> Instance:
        packed = order.instance
        loaded = self._things.get(packed.parcel) or _loaded(packed.pickled, "an instance")
        instance: Instance = loaded
        if packed.shipped:
            return with_path(instance, self._things[packed.shipped])
        if packed.path and not os.path.exists(packed.path):
            raise Unfit(
                f"the instance {packed.path} is not there; is its file system shared?"
                " (ship = true sends instances along)"
            )
        return instance

    # The runs.

    def _make(self, kit: "_Unpacked", task: Task, key: str) -> Run:
        with kit.keeper() as keeper:
            self._running[key] = keeper
            try:
                return keeper(task)
            except CannotKeep as error:
                raise Unfit(str(error)) from None
            finally:
                del self._running[key]

    def end_run(self, key: str) -> None:
        """End a run that nobody wants, with all its processes."""
        keeper = self._running.get(key)
        if keeper is not None:
            self._unwanted.add(key)
            threading.Thread(target=keeper.close, daemon=True).start()  # it may take a moment

    def forget(self, kit: str) -> None:
        """Dismiss the keepers of a kit that have nothing to do, and let go of it."""
        with self._lock:
            kept = self._kits.pop(kit, None)
            if not self._kits:
                self._things.clear()
        if kept:
            kept.retire()

    def dismiss_idle(self) -> None:
        """Dismiss keepers that have had nothing to do for a while."""
        for kit in list(self._kits.values()):
            kit.close(IDLE)

    def close(self) -> None:
        """End all runs, and leave nothing."""
        for keeper in list(self._running.values()):
            keeper.close()
        for kit in list(self._kits):
            self.forget(kit)
        self._things.clear()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""


class _Unpacked:
    """A kit in use, with its keepers."""

    def __init__(self, kit: Kit) -> None:
        self.space = kit.space
        self._target = supervisable(kit.target)
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Supervised]] = []
        self._retired = False
        self._note = ""
        _check_program(kit.target)
        if kit.files and file_digest(kit.target) != kit.files:
            self._note = f"the files that {kit.target.name} names are not those of here"

    @contextmanager
    def keeper(self) -> Iterator[Supervised]:
        """A keeper for one run: one that is idle, or a new one."""
        with self._lock:
            keeper = self._idle.pop()[1] if self._idle else Supervised(self._target)
        try:
            yield keeper
        finally:
            with self._lock:
                kept = not keeper.closed and not self._retired
                if kept:
                    self._idle.append((time.monotonic(), keeper))
            if not kept:
                keeper.close()

    def retire(self) -> None:
        """Dismiss all keepers, those that are at work when they are done."""
        with self._lock:
            self._retired = True
        self.close()

    def take_note(self) -> str:
        """What is to be said, once."""
        note, self._note = self._note, ""
        return note

    def close(self, after: float = -1.0) -> None:
        """Dismiss the keepers that have been idle for so many seconds."""
        now = time.monotonic()
        with self._lock:
            idle = self._idle
            self._idle = [entry for entry in idle if now - entry[0] <= after]
        for since, keeper in idle:
            if now - since > after:
                keeper.close()


def _unpack_kit(data: bytes) -> _Unpacked:
    kit = Kit(*_kit_of(data))
    if kit.code and code_digest(kit.target) != kit.code:
        raise Unfit(
            f"{kit.target.name} is not the same code there: was it changed after the worker was"
            " started, or is the Python another?"
        )
    return _Unpacked(kit)


def _kit_of(data: bytes) -> Any:
    """The parts of a kit; where a module is missing it is looked for in the folders of home."""
    folders, inner = pickle.loads(data)  # noqa: S301 -- from home
    for folder in folders:
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)
    return _loaded(inner, "the target")


def _loaded(data: bytes, what: str) -> Any:
    try:
        return pickle.loads(data)  # noqa: S301 -- from home
    except Exception as error:  # whatever importing its modules raises
        raise Unfit(f"{what} cannot be loaded: {type(error).__name__}: {error}") from None


def _check_program(target: Target) -> None:
    """What a command needs must be there; the target says what is missing, as it does at home."""
    if not isinstance(target, CommandTarget):
        return
    if not os.path.isdir(target.folder):
        raise Unfit(f"there is no folder {target.folder}; is its file system shared?")
    try:
        target.check_here()
    except ParamhsError as error:
        raise Unfit(str(error)) from None


def _about() -> About:
    python = platform.python_version()
    return About(socket.gethostname(), os.getpid(), python, __version__)


class _Ending(WorkerPlugin):  # type: ignore[misc] # Dask has no types
    """Hears from Dask that a task is not wanted any more, and that the worker closes."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def transition(self, key: str, start: str, finish: str, **more: Any) -> None:
        """A task has got into another state."""
        if finish in ("cancelled", "released", "forgotten") and start in ("executing", "cancelled"):
            self._worker.end_run(key)

    def teardown(self, worker: Any) -> None:
        """The worker closes."""
        self._worker.close()
        _WORKERS.pop(worker.address, None)


_WORKERS: dict[str, Worker] = {}
_BEGINNING = threading.Lock()


def _worker_of(dasks: Any) -> Worker:
    """Ours beside Dask's; one process may have several (Dask's `processes=False`)."""
    worker = _WORKERS.get(dasks.address)
    if worker is not None:
        return worker
    with _BEGINNING:
        if dasks.address not in _WORKERS:
            _begin(dasks)
        return _WORKERS[dasks.address]


def _begin(dasks: Any) -> None:
    worker = Worker(dasks.address, dasks.local_directory)
    dasks.loop.add_callback(dasks.plugin_add, plugin=_Ending(worker), name=_PLUGIN)
    _WORKERS[dasks.address] = worker
    threading.Thread(target=_dismiss_now_and_then, args=(worker,), daemon=True).start()


def _dismiss_now_and_then(worker: Worker) -> None:
    with contextlib.suppress(RuntimeError):  # the process ends
        while worker in _WORKERS.values():
            time.sleep(IDLE / 3)
            worker.dismiss_idle()
