"""The worker's side of a cluster.

Each run has a keeper below the worker (`Supervised`), so limits hold as on one machine, and a
crashing run takes no worker with it. A keeper leaves when the worker's process disappears. If a run
is no longer wanted, because the search has ended or paramhs is gone, Dask cancels its task, and the
run is ended. Idle keepers are dismissed after a while, because a search may disappear without
notice.
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

from paramhs.core.errors import ParamhsError
from paramhs.core.runs import Instance, Run, Target, Task
from paramhs.core.version import __version__
from paramhs.execution.cluster.serialization import (
    Kit,
    Order,
    Packed,
    code_digest,
    file_digest,
    unpacked,
    with_path,
)
from paramhs.execution.large_values import LargeValues, Pickled, Place
from paramhs.execution.supervisor.pool import CannotKeep, Supervised
from paramhs.execution.targets.command import CommandTarget
from paramhs.execution.targets.isolated import supervisable

IDLE_SECONDS = 30.0  # after which idle keepers are dismissed
_PLUGIN = "paramhs-runs"


class Unfit(Exception):
    """This machine cannot make any run."""


class About(NamedTuple):
    """Identification of a worker."""

    host: str
    pid: int
    python: str
    paramhs: str
    note: str = ""
    """What differs on this worker, if anything."""


class Answer(NamedTuple):
    """Reply to an order: a run without its task, or the reason why there is none."""

    worker: str
    status: str = ""
    runtime: float = 0.0
    quality: float | None = None
    detail: str = ""
    answer: str | float | None = None
    others: tuple[float, ...] = ()
    missing: tuple[str, ...] = ()
    """Digests of missing parcels."""
    unfit: str = ""
    """Reason why this worker cannot make runs."""
    refused: str = ""
    """Message of a target that wants the search to stop."""
    ended: bool = False
    """Whether the run was ended because it was no longer wanted."""
    about: About | None = None


def make_run(order: bytes, sent: Mapping[str, bytes] | None = None) -> tuple[Any, ...]:
    """Execute an order with the parcels sent along; called by Dask."""
    dasks = get_worker()
    answer = _worker_of(dasks).answer(unpacked(order), sent or {}, dasks.get_current_task())
    return tuple(answer)


def forget_kit(kit: str) -> None:
    """Dismiss the keepers of a search that is over."""
    for worker in list(_WORKERS.values()):
        worker.forget(kit)


class Worker:
    """State beside one of Dask's workers: kits, instances, keepers, and current runs."""

    def __init__(self, address: str, folder: str) -> None:
        self._address = address
        self._scratch = folder
        self._folder = ""
        self._lock = threading.Lock()
        self._kits: dict[str, _Unpacked] = {}
        self._things: dict[str, Any] = {}
        """Instances, places of very large ones, and paths of files, by digest."""
        self._values = LargeValues()
        self._running: dict[str, Supervised] = {}
        self._unwanted: set[str] = set()

    def answer(self, order: Order, sent: Mapping[str, bytes], key: str) -> Answer:
        """Make the ordered run, or report why not."""
        try:
            with self._lock:  # another search may forget a parcel that is needed here
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

    # Parcels

    def _take_in(self, order: Order, sent: Mapping[str, bytes]) -> None:
        for digest, data in sent.items():
            if digest in self._kits or digest in self._things:
                continue  # a run may be reading it
            if digest == order.kit:
                self._kits[digest] = _unpack_kit(data)
            elif digest == order.instance.shipped:
                self._things[digest] = self._write(digest, order.instance.path, data)
            elif digest == order.instance.parcel:
                thing = _loaded(data, "an instance")
                large = isinstance(thing, Pickled)
                self._things[digest] = self._values.keep(thing) if large else thing

    def _missing(self, order: Order) -> tuple[str, ...]:
        packed = order.instance
        parcel = "" if packed.parcel and self._is_reachable(packed) else packed.parcel
        needed = filter(None, (parcel, packed.shipped))
        missing = [digest for digest in needed if digest not in self._things]
        return (*missing, *([] if order.kit in self._kits else [order.kit]))

    def _is_reachable(self, packed: Packed) -> bool:
        """Whether a large instance lies in a file of this machine."""
        if not packed.pickled:
            return False
        place: Place = _loaded(packed.pickled, "an instance").value
        return place.reachable

    def _write(self, digest: str, path: str, data: bytes) -> str:
        """Write a file that was sent; without space for it, no run can be made."""
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
        if isinstance(loaded, Place):
            loaded = Instance(_loaded(packed.pickled, "an instance").name, loaded)
        instance: Instance = loaded
        if packed.shipped:
            return with_path(instance, self._things[packed.shipped])
        if packed.path and not os.path.exists(packed.path):
            raise Unfit(
                f"the instance {packed.path} does not exist on this worker; is its file system"
                " shared?"
                " (ship = true sends instances along)"
            )
        return instance

    # Runs

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
        """End an unwanted run with all its processes."""
        keeper = self._running.get(key)
        if keeper is not None:
            self._unwanted.add(key)
            threading.Thread(target=keeper.close, daemon=True).start()  # it may take a moment

    def forget(self, kit: str) -> None:
        """Dismiss the idle keepers of a kit, and release it."""
        with self._lock:
            kept = self._kits.pop(kit, None)
            if not self._kits:
                self._things.clear()
                self._values.close()
        if kept:
            kept.retire()

    def dismiss_idle(self) -> None:
        """Dismiss keepers that have been idle for a while."""
        for kit in list(self._kits.values()):
            kit.close(IDLE_SECONDS)

    def close(self) -> None:
        """End all runs and remove all files."""
        for keeper in list(self._running.values()):
            keeper.close()
        for kit in list(self._kits):
            self.forget(kit)
        self._things.clear()
        self._values.close()
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
            self._note = f"the files of {kit.target.name} differ from those at home"

    @contextmanager
    def keeper(self) -> Iterator[Supervised]:
        """Yield an idle keeper for one run, or a new one."""
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
        """Dismiss all keepers, busy ones as soon as they are done."""
        with self._lock:
            self._retired = True
        self.close()

    def take_note(self) -> str:
        """Return the note about this kit, once."""
        note, self._note = self._note, ""
        return note

    def close(self, after: float = -1.0) -> None:
        """Dismiss keepers that have been idle for more than `after` seconds."""
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
            f"{kit.target.name} is different code on this worker: was it changed after the worker"
            " started, or does the worker use another Python?"
        )
    return _Unpacked(kit)


def _kit_of(data: bytes) -> Any:
    """Unpickle a kit; missing modules are searched in the folders of the sender."""
    folders, inner = pickle.loads(data)  # noqa: S301 -- from home
    for folder in folders:
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)
    return _loaded(inner, "the target")


def _loaded(data: bytes, what: str) -> Any:
    try:
        return pickle.loads(data)  # noqa: S301 -- from home
    except Exception as error:  # importing its modules may raise anything
        raise Unfit(f"{what} cannot be loaded: {type(error).__name__}: {error}") from None


def _check_program(target: Target) -> None:
    """Check that a command's program and folder exist on this machine."""
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
    """Plug-in that Dask notifies of cancelled tasks and of the worker's end."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def transition(self, key: str, start: str, finish: str, **more: Any) -> None:
        """End a run whose task is no longer wanted."""
        if finish in ("cancelled", "released", "forgotten") and start in ("executing", "cancelled"):
            self._worker.end_run(key)

    def teardown(self, worker: Any) -> None:
        """Close the worker."""
        self._worker.close()
        _WORKERS.pop(worker.address, None)


_WORKERS: dict[str, Worker] = {}
_BEGINNING = threading.Lock()


def _worker_of(dasks: Any) -> Worker:
    """Our worker beside Dask's; one process may have several (Dask's `processes=False`)."""
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
    with contextlib.suppress(RuntimeError):  # the process is ending
        while worker in _WORKERS.values():
            time.sleep(IDLE_SECONDS / 3)
            worker.dismiss_idle()
