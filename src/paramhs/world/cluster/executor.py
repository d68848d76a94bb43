"""An executor whose runs are made by the workers of a cluster."""

import itertools
import secrets
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any

from distributed import KilledWorker

from paramhs.values.errors import TargetError
from paramhs.values.runs import FAILURES, Run, Status, Target, Task
from paramhs.world.cluster.cluster import Cluster
from paramhs.world.cluster.packing import Packer
from paramhs.world.cluster.worker import Answer, _about, forget_kit, make_run

_DEATHS = 3  # times that Dask may report a run whose workers all died
_TRIES = 20  # of one run, for other reasons
NOBODY: frozenset[str] = frozenset()


class ClusterExecutor(Executor):
    """Makes the runs of one target on a cluster.

    What is submitted is the target itself, with a task. Every future can be cancelled, which ends
    its run.
    """

    def __init__(self, cluster: Cluster, target: Target) -> None:
        self._cluster = cluster
        self._packer = Packer(target, cluster.settings.ship)
        self._mark = secrets.token_hex(4)
        self._numbers = itertools.count()
        self._home = _about()
        self._told: set[str] = set()

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """A run, some time."""
        (task,) = args
        order = self._packer.order(task)
        future: Future[Any] = self._cluster.start(self._make(task, order))
        return future

    @property
    def jobs(self) -> int:
        """How many runs there may be at a time."""
        return self._cluster.jobs

    @property
    def workers(self) -> str:
        """How the workers stand, for people."""
        return self._cluster.text

    def notices(self) -> list[str]:
        """What the user should know, each thing once."""
        return self._cluster.standing.take_notices()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers forget the target; the cluster is not ours to end."""
        workers = [worker for worker in self._told if worker in self._cluster.workers]
        if workers and self._packer.kit and self._cluster.client.status == "running":
            with suppress(Exception):
                self._cluster.start(self._forget(workers)).result(5.0)

    async def _forget(self, workers: list[str]) -> None:
        await self._cluster.client.run(
            forget_kit, self._packer.kit, workers=workers, on_error="ignore", asynchronous=True
        )

    async def _make(self, task: Task, order: bytes) -> Run:
        """The run of a task; what crashes is made once more elsewhere."""
        standing = self._cluster.standing
        first = await self._answered(task, order, NOBODY)
        assert first is not None  # noqa: S101 -- nobody was avoided
        if not _failed(first):
            return _run_of(first, task)
        second = await self._second_opinion(task, order, first.worker)
        if second is None or _failed(second):
            return _run_of(first, task)
        standing.note_failed_alone(first.worker, first.refused or _run_of(first, task).reason)
        return _run_of(second, task)

    async def _second_opinion(self, task: Task, order: bytes, first: str) -> Answer | None:
        """What another worker makes of it, on another machine if there is one; None if nobody."""
        elsewhere = await self._answered(task, order, self._cluster.neighbours(first))
        return elsewhere or await self._answered(task, order, frozenset({first}))

    async def _answered(self, task: Task, order: bytes, avoided: frozenset[str]) -> Answer | None:
        """What some worker makes of an order; None if there is nobody but those avoided."""
        sent, at, deaths = None, "", 0
        for _ in range(_TRIES):
            workers = await self._cluster.ready(avoided)
            if workers == []:
                return None
            answer = await self._asked(order, sent, [at] if at else workers, bool(at))
            sent, at = None, ""
            if isinstance(answer, KilledWorker):
                deaths += 1
                if deaths >= _DEATHS:
                    raise _deadly(task, answer)
            if not isinstance(answer, Answer):
                continue
            self._note(answer)
            if answer.missing:
                sent, at = self._packer.parcels(answer.missing), answer.worker
            elif answer.unfit:
                self._cluster.standing.set_aside(answer.worker, answer.unfit)
            elif not answer.ended and answer.worker not in avoided:  # Dask lets others steal
                self._cluster.standing.note_run(answer.worker, _failed(answer))
                return answer
        raise TargetError(f"a run could not be made in {_TRIES} attempts")

    async def _asked(
        self, order: bytes, sent: Any, workers: list[str] | None, others: bool
    ) -> Answer | Exception | None:
        """One attempt; None where the cluster has lost it."""
        client = self._cluster.client
        try:
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
        """Say what is different there, when a worker says who it is."""
        self._told.add(answer.worker)
        about, home, say = answer.about, self._home, self._cluster.standing.say
        if about is None:
            return
        where = f"worker {answer.worker} ({about.host})"
        if about.paramhs != home.paramhs:
            say(f"{where} has paramhs {about.paramhs}, and here it is {home.paramhs}")
        if about.python != home.python:
            say(f"{where} has Python {about.python}, and here it is {home.python}")
        if about.note:
            say(f"{where}: {about.note}")


def _failed(answer: Answer) -> bool:
    return bool(answer.refused) or answer.status in FAILURES[:1]


def _run_of(answer: Answer, task: Task) -> Run:
    if answer.refused:
        raise TargetError(f"on worker {answer.worker}: {answer.refused}")
    status = Status(answer.status)
    return Run(task, status, answer.runtime, answer.quality, answer.detail)


def _deadly(task: Task, error: KilledWorker) -> TargetError:
    return TargetError(
        f"workers die of this run: {task.config} on {task.instance.name}, seed {task.seed}"
        f" ({error}). Stored runs are safe."
    )
