"""An executor whose runs are made by the workers of a cluster."""

import itertools
import secrets
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import dask
from distributed import KilledWorker

from paramhs.core.errors import CannotRun, TargetError
from paramhs.core.runs import FAILURES, Run, Status, Target, Task
from paramhs.execution.cluster.cluster import Cluster
from paramhs.execution.cluster.serialization import Packer
from paramhs.execution.cluster.worker import Answer, _about, forget_kit, make_run
from paramhs.execution.driver import Workers

_MAX_DEATHS = 3  # Dask reports of a run whose workers all died
_MAX_ATTEMPTS = 20  # at one run, for other reasons
_WARN_FROM = "distributed.admin.large-graph-warning-threshold"
NO_WORKERS: frozenset[str] = frozenset()


class ClusterExecutor(Workers):
    """Makes the runs of one target on a cluster.

    Submitted are the target itself and a task. Every future can be cancelled, which ends its run.
    """

    def __init__(self, cluster: Cluster, target: Target) -> None:
        self._cluster = cluster
        self._packer = Packer(target, cluster.settings.ship)
        self._mark = secrets.token_hex(4)
        self._numbers = itertools.count()
        self._home = _about()
        self._told: set[str] = set()

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submit a run."""
        (task,) = args
        order = self._packer.order(task)
        future: Future[Any] = self._cluster.start(self._make(task, order))
        return future

    @property
    def jobs(self) -> int:
        """Number of concurrent runs."""
        return self._cluster.jobs

    @property
    def workers(self) -> str:
        """Summary of the workers for people."""
        return self._cluster.text

    def notices(self) -> list[str]:
        """Notices for the user, each one once."""
        return self._cluster.standing.take_notices()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Make the workers forget the target; the cluster itself stays."""
        workers = [worker for worker in self._told if worker in self._cluster.workers]
        if workers and self._packer.kit and self._cluster.client.status == "running":
            with suppress(Exception):
                self._cluster.start(self._forget(workers)).result(5.0)
        self._packer.close()

    async def _forget(self, workers: list[str]) -> None:
        await self._cluster.client.run(
            forget_kit, self._packer.kit, workers=workers, on_error="ignore", asynchronous=True
        )

    async def _make(self, task: Task, order: bytes) -> Run:
        """Make the run of a task; a crash is repeated once on another worker."""
        standing = self._cluster.standing
        first = await self._answered(task, order, NO_WORKERS)
        assert first is not None  # noqa: S101 -- no workers were avoided
        if not _failed(first):
            return _run_of(first, task)
        second = await self._second_opinion(task, order, first.worker)
        if second is None or _failed(second):
            return _run_of(first, task)
        standing.note_failed_alone(first.worker, first.refused or _run_of(first, task).reason)
        return _run_of(second, task)

    async def _second_opinion(self, task: Task, order: bytes, first: str) -> Answer | None:
        """Repeat a run on another machine if possible, or another worker; None if there is none."""
        elsewhere = await self._answered(task, order, self._cluster.neighbours(first))
        return elsewhere or await self._answered(task, order, frozenset({first}))

    async def _answered(self, task: Task, order: bytes, avoided: frozenset[str]) -> Answer | None:
        """Send an order to workers until one answers; None if all are to be avoided."""
        # A protocol of retries: a worker may lack the kit or the instance (they are then sent to
        # that worker), may be unfit for any run (it is excluded), may die (after a few deaths the
        # run is blamed), or may disappear together with the scheduler (the order is sent again).
        sent, at, deaths = None, "", 0
        for _ in range(_MAX_ATTEMPTS):
            workers = await self._cluster.ready(avoided)
            if workers == []:
                return None
            answer = await self._asked(order, sent, [at] if at else workers, bool(at))
            sent, at = None, ""
            if isinstance(answer, KilledWorker):
                deaths += 1
                if deaths >= _MAX_DEATHS:
                    raise _deadly(task, answer)
            if not isinstance(answer, Answer):
                continue
            self._note(answer)
            if answer.missing:
                sent, at = self._packer.parcels(answer.missing), answer.worker
            elif answer.unfit:
                self._cluster.standing.set_aside(answer.worker, answer.unfit)
            # Dask lets other workers steal tasks.
            elif not answer.ended and answer.worker not in avoided:
                self._cluster.standing.note_run(answer.worker, _failed(answer))
                return answer
        raise TargetError(f"a run could not be made in {_MAX_ATTEMPTS} attempts")

    async def _asked(
        self, order: bytes, sent: Any, workers: list[str] | None, others: bool
    ) -> Answer | Exception | None:
        """Try an order once; None if the cluster lost it."""
        client = self._cluster.client
        try:
            with dask.config.set({_WARN_FROM: "1 TB"}):  # each parcel is sent once to a worker
                future = client.submit(
                    make_run,
                    order,
                    sent,
                    key=f"paramhs-run-{self._mark}-{next(self._numbers)}",
                    pure=False,
                    workers=workers,
                    allow_other_workers=others,
                )
            answer = await self._cluster.gather(future, None if others else workers)
            return None if answer is None else Answer(*answer)
        except KilledWorker as error:
            died: Exception = error
            return died
        except Exception as error:
            if not self._cluster.connected:
                return None
            if await self._cluster.look_for_the_unfit():
                return error
            raise

    def _note(self, answer: Answer) -> None:
        """Notify the user of differences between a worker and this process."""
        self._told.add(answer.worker)
        about, home, say = answer.about, self._home, self._cluster.standing.say
        if about is None:
            return
        where = f"worker {answer.worker} ({about.host})"
        if about.paramhs != home.paramhs:
            say(f"{where} has paramhs {about.paramhs}, this process {home.paramhs}")
        if about.python != home.python:
            say(f"{where} has Python {about.python}, this process {home.python}")
        if about.note:
            say(f"{where}: {about.note}")


def _failed(answer: Answer) -> bool:
    return bool(answer.refused) or answer.status in FAILURES[:1]


def _run_of(answer: Answer, task: Task) -> Run:
    if answer.refused:
        raise TargetError(f"on worker {answer.worker}: {answer.refused}")
    status = Status(answer.status)
    more = (answer.quality, answer.detail, answer.answer, answer.others)
    return Run(task, status, answer.runtime, *more)


def _deadly(task: Task, error: KilledWorker) -> CannotRun:
    return CannotRun(
        f"this run kills its workers: {task.config} on {task.instance.name}, seed {task.seed}"
        f" ({error})."
    )
