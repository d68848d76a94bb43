"""Who makes the runs of a target: this thread, other threads, or processes that are kept."""

import math
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.runs import Run, Status, Target, Task
from paramhs.world.cluster.settings import AtHand, Dask, as_dask
from paramhs.world.driver import Inline, Runner
from paramhs.world.targets.in_worker import supervisable
from paramhs.world.targets.supervisor.stopwatch import continued, note_continued

if TYPE_CHECKING:
    from paramhs.world.cluster.cluster import Cluster

EXECUTORS = ("inline", "threads", "processes", "dask")
AnyExecutor = str | Executor | Dask | Any
"""Who makes runs: a name, any `concurrent.futures.Executor`, a cluster, or a client of one."""
MOST_JOBS = 1024
_TRIES = 3  # of a run that timed out while this process was stopped


def check_jobs(jobs: int) -> None:
    """Refuse a number of jobs that makes no sense."""
    if type(jobs) is not int:
        raise BadInput(f"jobs must be a whole number, not {short(jobs)}")
    if jobs < 1:
        raise BadInput(f"jobs must be at least 1, not {jobs}")
    if jobs > MOST_JOBS:
        raise BadInput(f"jobs must be at most {MOST_JOBS:,}, not {short(jobs)}")


@contextmanager
def reach(executor: AnyExecutor, jobs: int) -> Iterator[Any]:
    """The executor; a cluster is reached first, once for all that is done with it inside."""
    dask = as_dask(executor)
    if dask is None:
        yield executor
        return
    try:
        from paramhs.world.cluster.cluster import reach_cluster  # Dask only where it is used
    except ImportError as error:
        raise BadInput(
            f"a cluster needs the extra cluster: pip install 'paramhs[cluster]' ({error})"
        ) from None
    with reach_cluster(dask, jobs) as cluster:
        yield cluster


@contextmanager
def _on_cluster(cluster: "Cluster", target: Target) -> Iterator[tuple[Executor, Runner]]:
    from paramhs.world.cluster.executor import ClusterExecutor

    with ClusterExecutor(cluster, target) as workers:
        yield workers, target


@contextmanager
def executing(
    target: Target, executor: Any, jobs: int, cutoff: float
) -> Iterator[tuple[Executor, Runner]]:
    """An executor and what it is to run.

    Where a limit is set, runs are made under keepers, which can stop them: one for each job here,
    and one in each worker of an executor that was passed in. ("inline" and "threads" are told by
    their names that they cannot stop a run: the cutoff is judged when it is over.)
    """
    from paramhs.world.targets.supervisor.supervised import Supervised  # only where runs are made

    if as_dask(executor) or isinstance(executor, AtHand):
        with reach(executor, jobs) as cluster, _on_cluster(cluster, target) as made:
            yield made
        return
    limited = math.isfinite(cutoff) or target.needs_keeper
    if executor is not None and not isinstance(executor, str):
        if not hasattr(executor, "submit"):
            raise BadInput(f"{executor!r} is not an executor: it has no method submit")
        if not limited:
            yield executor, target
            return
        with closing(Supervised(supervisable(target))) as elsewhere:
            yield executor, elsewhere
        return
    kind = _kind(target, executor, jobs, limited)
    kept = Supervised(supervisable(target), jobs) if kind == "processes" else None
    pool = ThreadPoolExecutor(jobs) if kind != "inline" and (jobs > 1 or not kept) else Inline()
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
    """Makes runs in the thread that the search is in.

    One that took longer than its cutoff while this process was stopped (Ctrl-Z, a batch system) is
    made again: nobody knows how long it took. A keeper would know (`stopwatch`); here, nobody is
    there to look at the clock while a run has the process to itself. Of several threads, only the
    main one hears of it, and too late.
    """

    def __init__(self, target: Target) -> None:
        self.target = target

    def __call__(self, task: Task) -> Run:
        """The run of a task."""
        for _ in range(_TRIES):
            before = continued()
            run = self.target(task)
            if run.status is not Status.TIMEOUT or continued() == before:
                break
        return run

    def shown(self, task: Task) -> str:
        """The call, for people."""
        return self.target.shown(task)


@contextmanager
def _hearing_of_stops() -> Iterator[None]:
    """Count every SIGCONT, if nobody else listens to it, and this is the thread that may."""
    ours = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGCONT")
    if not ours or signal.getsignal(signal.SIGCONT) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGCONT, note_continued)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, signal.SIG_DFL)


def _kind(target: Target, executor: str | None, jobs: int, limited: bool) -> str:
    if executor is not None and executor not in EXECUTORS:
        raise BadInput(f"executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
    if target.needs_keeper and executor in ("inline", "threads"):
        raise BadInput(f"executor {executor!r} can limit no memory and measure no processor time")
    return executor or ("processes" if jobs > 1 or limited else "inline")
