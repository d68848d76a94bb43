"""A cluster in use: its workers, and the reaction when they or the scheduler disappear.

Everything runs in the event loop of Dask's client, so no locks are needed. State read by other
threads (the number of workers, notices) consists of immutable values that are replaced.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from distributed import Client

from paramhs.core.errors import CannotRun, ParamhsError
from paramhs.core.text.numbers import counted, time_text
from paramhs.execution.cluster.config import AtHand, Dask
from paramhs.execution.cluster.launch import dashboard_of, start_cluster
from paramhs.execution.cluster.worker_health import Standing

T = TypeVar("T")
_POLL_SECONDS = 1.0  # between two polls of the workers, if no event arrives
_ANSWER_SECONDS = 10.0  # for a scheduler to answer
_PATIENCE_SECONDS = 300.0  # without workers or scheduler before giving up
_EVENTS = "all"  # Dask's topic for events of its scheduler
_MAX_NAMES = 3  # workers named when all are excluded


@contextmanager
def reach_cluster(settings: Dask, jobs: int) -> Iterator["Cluster"]:
    """Connect to a cluster or start one, with workers; end whatever was started."""
    with start_cluster(settings, jobs) as client:
        cluster = Cluster(client, settings, jobs)
        try:
            cluster.begin()
            yield cluster
        finally:
            cluster.close()


class Cluster(AtHand):
    """State of a cluster, kept up to date."""

    def __init__(self, client: Client, settings: Dask, jobs: int) -> None:
        self.client = client
        self.settings = settings
        self.standing = Standing()
        self.workers: dict[str, int] = {}
        """Number of threads by worker."""
        self.given_up: ParamhsError | None = None
        """Error that ends the search, once no run can be made any more."""
        self._own: list[Client] = []
        self._asked = jobs if jobs > 1 or settings.starts_workers else 0
        self._flights: dict[asyncio.Future[None], frozenset[str]] = {}
        self._lost_since: float | None = None
        self._changed = asyncio.Event()
        self._stirred = asyncio.Event()
        self._line: object = None
        self._other: Callable[[Any], Any] | None = None
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._watching: Future[None] | None = None

    def begin(self) -> None:
        """Start watching the workers."""
        if self.settings.dashboard:
            self.standing.say(f"dashboard: {dashboard_of(self.client)}")
        self.start(self._look()).result()
        self._watching = self.start(self._watch())

    def start(self, coroutine: Any) -> Any:
        """Run a coroutine in the client's loop; return a `concurrent.futures.Future`."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    @property
    def jobs(self) -> int:
        """Number of concurrent runs."""
        usable = sum(n for worker, n in self.workers.items() if worker not in self.standing.aside)
        return self._asked or max(usable, 1)

    def neighbours(self, worker: str) -> frozenset[str]:
        """Workers on the same machine, which may fail together, including this one."""
        host = _host(worker)
        return frozenset(other for other in self.workers if _host(other) == host) | {worker}

    @property
    def text(self) -> str:
        """Summary of the workers for people."""
        return self.standing.text(len(self.workers))

    def close(self) -> None:
        """Stop watching the cluster."""
        if self._watching:
            self._watching.cancel()
        if self.connected:
            with suppress(Exception):
                self.start(self._stop_listening()).result(_ANSWER_SECONDS)
        for client in self._own:
            with suppress(Exception):
                self.start(client._close()).result(_ANSWER_SECONDS)

    # For executors, in the event loop

    async def ready(self, avoided: frozenset[str] = frozenset()) -> list[str] | None:
        """Wait until a run can be made; return the allowed workers, or None if any will do.

        The list is empty if there are only workers to be avoided.
        """
        while True:
            if self.given_up:
                raise self.given_up
            if self.connected and self.workers:
                break
            self._changed.clear()
            await self._changed.wait()
        excluded = self.standing.aside | avoided
        if not excluded & self.workers.keys():
            return None
        usable = [worker for worker in self.workers if worker not in excluded]
        if not usable and not avoided:
            self._give_up(self._why_none())
        return usable if usable or avoided else await self.ready()

    async def gather(self, future: Any, workers: list[str] | None) -> Any:
        """Await the result of a run on one of these workers; None if it is lost.

        Awaiting Dask directly could not be cancelled safely, because several callers may wait for
        the same result. The future is released in any case, which ends an unfinished run on its
        worker.
        """
        # Two things are awaited at once: Dask's answer, and `moot`, which the watcher resolves when
        # all allowed workers are gone. Dask itself would wait for them to return. The inner task is
        # not cancelled, because Dask shares it between callers; its exception is retrieved by
        # `_take_note`.
        moot: asyncio.Future[None] = self._loop.create_future()
        self._flights[moot] = frozenset(workers or ())
        gathering = asyncio.ensure_future(self.client.gather(future, asynchronous=True))
        gathering.add_done_callback(_take_note)
        try:
            await asyncio.wait({gathering, moot}, return_when=asyncio.FIRST_COMPLETED)
            return None if moot.done() or future.cancelled() else gathering.result()
        finally:
            del self._flights[moot]
            future.release()

    async def look_for_the_unfit(self) -> bool:
        """Find workers on which paramhs does not work; return whether there are any."""
        import pkgutil  # which every worker has

        found = await _soon(
            self.client.run(
                pkgutil.resolve_name,
                "paramhs.execution.cluster.worker:make_run.__name__",
                on_error="return",
                asynchronous=True,
            )
        )
        unfit = {w: error for w, error in (found or {}).items() if isinstance(error, Exception)}
        for worker, error in unfit.items():
            self.standing.set_aside(worker, f"paramhs does not work on it: {_error_text(error)}")
        return bool(unfit)

    # Watching the workers

    def _listen(self) -> None:
        """Subscribe to workers joining and leaving, which polling may miss.

        Dask forgets the subscription when it reconnects by itself, so it is renewed.
        """
        if self._line is not self.client.scheduler_comm:
            self._line = self.client.scheduler_comm
            handler = self.client._event_handlers.get(_EVENTS)
            if handler not in (self._hear, _ignore):
                self._other = handler
            self.client.subscribe_topic(_EVENTS, self._hear)

    async def _stop_listening(self) -> None:
        """Restore the client's own event handler, because the client may be the user's.

        Without a handler for events that are still on their way, Dask would fail.
        """
        if self.client._event_handlers.get(_EVENTS) == self._hear:
            self.client.subscribe_topic(_EVENTS, self._other or _ignore)
            if self._other is None:
                self.client.unsubscribe_topic(_EVENTS)

    def _hear(self, event: tuple[float, Any]) -> Any:
        _, what = event
        action = what.get("action") if isinstance(what, dict) else None
        if action in ("add-worker", "remove-worker"):
            self._stirred.set()
        if action == "remove-worker":
            self._note_gone(what["worker"])
        return self._other(event) if self._other else None

    def _note_gone(self, worker: str) -> None:
        if worker not in self.standing.aside:
            self.standing.say(f"worker {worker} is gone; its runs are made again elsewhere")

    async def _watch(self) -> None:
        """Poll until the end; an error ends the search, because nothing awaits this task."""
        try:
            while self.given_up is None:
                await self._look()
                self._note_absence()
                self._send_elsewhere()
                self._changed.set()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stirred.wait(), _POLL_SECONDS)
                self._stirred.clear()
        except Exception as error:
            self._give_up(f"the state of the cluster is unknown: {_error_text(error)}")

    async def _look(self) -> None:
        if self.client.status == "closed" or self.client.scheduler is None:
            await self._connect_again()
        if self.connected:
            self._listen()
        workers = await _soon(self.client.scheduler.ncores()) if self.connected else None
        if workers is None:
            self._lost("the scheduler does not respond; waiting for it")
            return
        for worker in self.workers.keys() - workers.keys():
            self._note_gone(worker)
        self.workers = dict(workers)
        if not workers:
            self._lost("no workers; waiting for one")
        elif self._lost_since is not None:
            self._lost_since = None
            self.standing.notices.append(f"{counted(len(workers), 'worker')} again")

    @property
    def connected(self) -> bool:
        """Whether the scheduler is connected."""
        return bool(self.client.status == "running")

    def _lost(self, what: str) -> None:
        if self._lost_since is None:
            self._lost_since = time.monotonic()
            self.standing.notices.append(what)

    def _note_absence(self) -> None:
        """Give up after too long without workers."""
        usual = None if self.settings.system else _PATIENCE_SECONDS
        patience = self.settings.patience or usual
        if self._lost_since is None or patience is None:
            return
        if time.monotonic() - self._lost_since > patience:
            self._give_up(f"no worker or scheduler was available for {time_text(patience)}")

    def _give_up(self, why: str) -> None:
        self.given_up = CannotRun(f"{why}.")
        self._changed.set()
        for moot in self._flights:
            _resolve(moot)

    def _why_none(self) -> str:
        reasons = [f"{w}: {r.aside}" for w, r in self.standing.records.items() if r.aside]
        more = f"\nand {len(reasons) - _MAX_NAMES} more" if len(reasons) > _MAX_NAMES else ""
        all_of_them = counted(len(reasons), "worker")
        return f"{all_of_them} cannot make runs:\n" + "\n".join(reasons[:_MAX_NAMES]) + more

    def _send_elsewhere(self) -> None:
        """Give up waiting for runs whose allowed workers are all gone."""
        for moot, workers in self._flights.items():
            if workers and not workers & self.workers.keys():
                _resolve(moot)

    async def _connect_again(self) -> None:
        """Create a new client after Dask's own has given up on its scheduler."""
        address = self.client._start_arg
        if not isinstance(address, str):
            self._give_up("the client was closed")
            return
        with suppress(OSError, TimeoutError):
            self.client = await Client(
                address, security=self.client.security, asynchronous=True, timeout=_ANSWER_SECONDS
            )
            self._own.append(self.client)


def _ignore(event: object) -> None:
    """Ignore an event."""


def _host(worker: str) -> str:
    return worker.rpartition(":")[0]


async def _soon(awaitable: Awaitable[T]) -> T | None:
    """Await a result; None if there is no answer in time."""
    try:
        return await asyncio.wait_for(awaitable, _ANSWER_SECONDS)
    except (OSError, TimeoutError, RuntimeError):
        return None


def _resolve(moot: "asyncio.Future[None]") -> None:
    if not moot.done():
        moot.set_result(None)


def _take_note(gathering: "asyncio.Future[Any]") -> None:
    """Retrieve the exception of a future that nothing else awaits, to silence asyncio."""
    if not gathering.cancelled():
        gathering.exception()


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
