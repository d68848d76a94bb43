"""A cluster in use: who its workers are, and what to do when they, or the scheduler, are not there.

All of it lives in the event loop of Dask's client, so nothing here needs a lock. What others read
(the number of workers, what is to be said) are whole values that are replaced.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from distributed import Client

from paramhs.values.errors import ParamhsError, TargetError
from paramhs.values.wording import counted, time_text
from paramhs.world.cluster.settings import AtHand, Dask
from paramhs.world.cluster.standing import Standing
from paramhs.world.cluster.starting import start_cluster

T = TypeVar("T")
_LOOK = 1.0  # seconds between two looks at who is there, if nobody comes or goes
_ANSWER = 10.0  # seconds that a scheduler may take to say so
_PATIENCE = 300.0  # seconds without a worker, or without the scheduler, after which it is given up
_EVENTS = "all"  # Dask's name for what its scheduler has to tell everybody
_MANY = 3  # workers that are named when all are set aside


@contextmanager
def reach_cluster(settings: Dask, jobs: int) -> Iterator["Cluster"]:
    """The cluster, with its workers on their way; ended with what we have started of it."""
    with start_cluster(settings, jobs) as client:
        cluster = Cluster(client, settings, jobs)
        try:
            cluster.begin()
            yield cluster
        finally:
            cluster.close()


class Cluster(AtHand):
    """What is known of a cluster, kept up to date."""

    def __init__(self, client: Client, settings: Dask, jobs: int) -> None:
        self.client = client
        self.settings = settings
        self.standing = Standing()
        self.workers: dict[str, int] = {}
        """Threads by worker."""
        self.given_up: ParamhsError | None = None
        """Why no run will be made any more."""
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
        """See who is there, now and from now on."""
        self.start(self._look()).result()
        self._watching = self.start(self._watch())

    def start(self, coroutine: Any) -> Any:
        """Let a coroutine run in the client's loop; a `concurrent.futures.Future` of it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    @property
    def jobs(self) -> int:
        """How many runs there may be at a time."""
        usable = sum(n for worker, n in self.workers.items() if worker not in self.standing.aside)
        return self._asked or max(usable, 1)

    def neighbours(self, worker: str) -> frozenset[str]:
        """The workers on the same machine, which may share its fate; itself included."""
        host = _host(worker)
        return frozenset(other for other in self.workers if _host(other) == host) | {worker}

    @property
    def text(self) -> str:
        """How the workers stand, for people."""
        return self.standing.text(len(self.workers))

    def close(self) -> None:
        """Look at it no more."""
        if self._watching:
            self._watching.cancel()
        if self.connected:
            with suppress(Exception):
                self.start(self._stop_listening()).result(_ANSWER)
        for client in self._own:
            with suppress(Exception):
                self.start(client._close()).result(_ANSWER)

    # For those who make runs, in the loop.

    async def ready(self, avoided: frozenset[str] = frozenset()) -> list[str] | None:
        """Wait until a run can be made: the workers it may go to, or None if to any.

        Without anybody but those avoided, the list is empty.
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
        """What comes of what one of these workers does; None if nothing will.

        Whoever waits for Dask is not cancelled: several may wait for the same answer there. The
        future is let go in any case, which ends it on the worker, if it is not over.
        """
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
        """Find the workers that do not even have paramhs, after something went wrong for no reason
        that we know; whether there are some."""
        import pkgutil  # which every worker has

        found = await _soon(
            self.client.run(
                pkgutil.resolve_name,
                "paramhs.world.cluster.worker:make_run.__name__",
                on_error="return",
                asynchronous=True,
            )
        )
        unfit = {w: error for w, error in (found or {}).items() if isinstance(error, Exception)}
        for worker, error in unfit.items():
            self.standing.set_aside(worker, f"paramhs does not work there: {_told(error)}")
        return bool(unfit)

    # Who is there.

    def _listen(self) -> None:
        """Be told at once who comes and goes, whom no look may ever see. After Dask has connected
        again by itself, that must be asked for anew."""
        if self._line is not self.client.scheduler_comm:
            self._line = self.client.scheduler_comm
            handler = self.client._event_handlers.get(_EVENTS)
            if handler not in (self._hear, _ignore):
                self._other = handler
            self.client.subscribe_topic(_EVENTS, self._hear)

    async def _stop_listening(self) -> None:
        """Leave the client as it was: it may be the user's, with a handler of its own. Without a
        handler for what is still on its way, Dask would stumble."""
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
        """Look again and again. Nobody waits for this to end, so nothing may end it unseen."""
        try:
            while self.given_up is None:
                await self._look()
                self._note_absence()
                self._send_elsewhere()
                self._changed.set()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stirred.wait(), _LOOK)
                self._stirred.clear()
        except Exception as error:
            self._give_up(f"nobody can say who of the cluster is there: {_told(error)}")

    async def _look(self) -> None:
        if self.client.status == "closed" or self.client.scheduler is None:
            await self._connect_again()
        if self.connected:
            self._listen()
        workers = await _soon(self.client.scheduler.ncores()) if self.connected else None
        if workers is None:
            self._lost("the scheduler does not answer; waiting for it")
            return
        for worker in self.workers.keys() - workers.keys():
            self._note_gone(worker)
        self.workers = dict(workers)
        if not workers:
            self._lost("there is no worker; waiting for one")
        elif self._lost_since is not None:
            self._lost_since = None
            self.standing.notices.append(f"{counted(len(workers), 'worker')} again")

    @property
    def connected(self) -> bool:
        """Whether there is a scheduler to speak to."""
        return bool(self.client.status == "running")

    def _lost(self, what: str) -> None:
        if self._lost_since is None:
            self._lost_since = time.monotonic()
            self.standing.notices.append(what)

    def _note_absence(self) -> None:
        """Give up when nobody has been there for too long."""
        usual = None if self.settings.system else _PATIENCE
        patience = self.settings.patience or usual
        if self._lost_since is None or patience is None:
            return
        if time.monotonic() - self._lost_since > patience:
            self._give_up(f"no worker and no scheduler was there for {time_text(patience)}")

    def _give_up(self, why: str) -> None:
        self.given_up = TargetError(f"{why}. Stored runs are safe; the same command goes on.")
        self._changed.set()
        for moot in self._flights:
            _resolve(moot)

    def _why_none(self) -> str:
        reasons = [f"{w}: {r.aside}" for w, r in self.standing.records.items() if r.aside]
        more = f"\nand {len(reasons) - _MANY} more" if len(reasons) > _MANY else ""
        all_of_them = counted(len(reasons), "worker")
        return f"{all_of_them} cannot make runs:\n" + "\n".join(reasons[:_MANY]) + more

    def _send_elsewhere(self) -> None:
        """A run that only workers could make that are gone is for others now."""
        for moot, workers in self._flights.items():
            if workers and not workers & self.workers.keys():
                _resolve(moot)

    async def _connect_again(self) -> None:
        """A new client, where Dask's own has lost patience with its scheduler."""
        address = self.client._start_arg
        if not isinstance(address, str):
            self._give_up("the client was closed")
            return
        with suppress(OSError, TimeoutError):
            self.client = await Client(
                address, security=self.client.security, asynchronous=True, timeout=_ANSWER
            )
            self._own.append(self.client)


def _ignore(event: object) -> None:
    """Nobody listens any more."""


def _host(worker: str) -> str:
    return worker.rpartition(":")[0]


async def _soon(awaitable: Awaitable[T]) -> T | None:
    """What it gives, unless nobody answers."""
    try:
        return await asyncio.wait_for(awaitable, _ANSWER)
    except (OSError, TimeoutError, RuntimeError):
        return None


def _resolve(moot: "asyncio.Future[None]") -> None:
    if not moot.done():
        moot.set_result(None)


def _take_note(gathering: "asyncio.Future[Any]") -> None:
    """Nobody else may look at what became of it."""
    if not gathering.cancelled():
        gathering.exception()


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
