"""Executors of runs: the calling thread, a thread pool, supervised processes, or a cluster."""

import math
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, Protocol

from paramhs.core.errors import BadInput
from paramhs.core.runs import Run, Status, Target, Task
from paramhs.core.text.quoting import short
from paramhs.execution.cluster.config import AtHand, Dask, as_dask
from paramhs.execution.driver import Inline, Runner, Workers
from paramhs.execution.supervisor.stopwatch import continued, note_continued
from paramhs.execution.targets.isolated import supervisable

if TYPE_CHECKING:
    from paramhs.execution.cluster.cluster import Cluster

EXECUTORS = ("inline", "threads", "processes", "dask")
ExecutorName = Literal["inline", "threads", "processes", "dask"]


class Submits(Protocol):
    """A client that takes calls, such as a `distributed.Client`."""

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        """Start a call and return its future."""


AnyExecutor = ExecutorName | Executor | Dask | Submits | None
"""An executor by name, any `concurrent.futures.Executor`, a cluster, or a client of one."""
MAX_JOBS = 1024
_TRIES = 3  # attempts at a run that timed out while this process was stopped


def check_jobs(jobs: int) -> None:
    """Reject an invalid number of jobs."""
    if type(jobs) is not int:
        raise BadInput(f"jobs must be an integer, not {short(jobs)}")
    if jobs < 1:
        raise BadInput(f"jobs must be at least 1, not {jobs}")
    if jobs > MAX_JOBS:
        raise BadInput(f"jobs must be at most {MAX_JOBS:,}, not {short(jobs)}")


@contextmanager
def reach(executor: AnyExecutor, jobs: int) -> Iterator[Any]:
    """Yield the executor; a cluster is connected once for everything done inside."""
    dask = as_dask(executor)
    if dask is None:
        yield executor
        return
    try:
        from paramhs.execution.cluster.cluster import reach_cluster  # Dask only where it is used
    except ImportError as error:
        raise BadInput(
            f"a cluster needs the extra cluster: pip install 'paramhs[cluster]' ({error})"
        ) from None
    with reach_cluster(dask, jobs) as cluster:
        yield cluster


@contextmanager
def _on_cluster(cluster: "Cluster", target: Target) -> Iterator[tuple[Executor, Runner]]:
    from paramhs.execution.cluster.executor import ClusterExecutor

    with ClusterExecutor(cluster, target) as workers:
        yield workers, target


@contextmanager
def executing(
    target: Target, executor: Any, jobs: int, cutoff: float
) -> Iterator[tuple[Executor, Runner]]:
    """Yield an executor and the callable that it runs.

    With a limit, runs are made under keepers, which can stop them: one per job here, and one in
    each worker of an executor that the user passes in. "inline" and "threads" cannot stop a run:
    the cutoff is judged after it has ended.
    """
    from paramhs.execution.elsewhere import Elsewhere  # only where runs are made
    from paramhs.execution.supervisor.executor import SupervisedThreads
    from paramhs.execution.supervisor.pool import Supervised

    if as_dask(executor) or isinstance(executor, AtHand):
        with reach(executor, jobs) as cluster, _on_cluster(cluster, target) as made:
            yield made
        return
    limited = math.isfinite(cutoff) or target.needs_keeper
    if executor is not None and not isinstance(executor, str):
        _check_executor(executor)
        if isinstance(executor, Workers):
            yield executor, target
            return
        with Elsewhere(executor, target, limited) as elsewhere:
            yield elsewhere, target
        return
    kind = _kind(target, executor, jobs, limited)
    kept = Supervised(supervisable(target), jobs) if kind == "processes" else None
    pool: Executor = Inline()
    if kind != "inline" and (jobs > 1 or not kept):
        pool = SupervisedThreads(kept, jobs) if kept else ThreadPoolExecutor(jobs)
    finished = False
    try:
        with _hearing_of_stops() if kind == "inline" else nullcontext():
            yield pool, kept or (Unstopped(target) if kind == "inline" else target)
        finished = True
    finally:
        if kept:
            kept.close()
        pool.shutdown(wait=finished, cancel_futures=True)  # a thread cannot be stopped by force


class Unstopped:
    """Makes runs in the thread of the search.

    A run that exceeded its cutoff while this process was stopped (Ctrl-Z, a batch system) is made
    again, because its own time is unknown. A keeper would know it (`stopwatch`), but here nothing
    can observe the clock while a run occupies the process. Among several threads only the main one
    learns of a stop, and too late.
    """

    def __init__(self, target: Target) -> None:
        self.target = target

    def __call__(self, task: Task) -> Run:
        """Run a task."""
        for _ in range(_TRIES):
            before = continued()
            run = self.target(task)
            if run.status is not Status.TIMEOUT or continued() == before:
                break
        return run

    def shown(self, task: Task) -> str:
        """Format the call of a task for display."""
        return self.target.shown(task)


@contextmanager
def _hearing_of_stops() -> Iterator[None]:
    """Count SIGCONT signals, unless another handler is installed or this is not the main thread."""
    ours = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGCONT")
    if not ours or signal.getsignal(signal.SIGCONT) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGCONT, note_continued)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, signal.SIG_DFL)


def _check_executor(executor: object) -> None:
    """Reject anything that makes no runs; the `submit` of `Executor` itself only raises."""
    if isinstance(executor, type):
        raise BadInput(f"executor must be an object, not a class; pass {executor.__name__}(...)")
    if getattr(type(executor), "submit", Executor.submit) is Executor.submit:
        raise BadInput(f"{executor!r} is not an executor: it has no method submit")
    if not isinstance(executor, Executor):
        where = "concurrent.futures.Executor"
        raise BadInput(f"{executor!r} is not an executor: its class must derive from {where}")


def _kind(target: Target, executor: str | None, jobs: int, limited: bool) -> str:
    if executor is not None and executor not in EXECUTORS:
        raise BadInput(f"executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
    if target.needs_keeper and executor in ("inline", "threads"):
        raise BadInput(f"executor {executor!r} cannot limit memory or measure processor time")
    return executor or ("processes" if jobs > 1 or limited else "inline")
