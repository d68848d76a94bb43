"""Who makes the runs of a target: this thread, other threads, or processes that are kept."""

import math
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.runs import Target
from paramhs.world.driver import Inline, Runner
from paramhs.world.targets.in_worker import supervisable

EXECUTORS = ("inline", "threads", "processes")
MOST_JOBS = 1024


def check_jobs(jobs: int) -> None:
    """Refuse a number of jobs that makes no sense."""
    if type(jobs) is not int:
        raise BadInput(f"jobs must be a whole number, not {short(jobs)}")
    if jobs < 1:
        raise BadInput(f"jobs must be at least 1, not {jobs}")
    if jobs > MOST_JOBS:
        raise BadInput(f"jobs must be at most {MOST_JOBS:,}, not {short(jobs)}")


@contextmanager
def executing(
    target: Target, executor: str | Executor | None, jobs: int, cutoff: float
) -> Iterator[tuple[Executor, Runner]]:
    """An executor and what it is to run.

    Where a limit is set, runs are made under keepers, which can stop them: one for each job here,
    and one in each worker of an executor that was passed in. ("inline" and "threads" are told by
    their names that they cannot stop a run: the cutoff is judged when it is over.)
    """
    from paramhs.world.targets.supervisor.supervised import Supervised  # only where runs are made

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
        yield pool, kept or target
        finished = True
    finally:
        if kept:
            kept.close()
        pool.shutdown(wait=finished, cancel_futures=True)  # a thread cannot be stopped by force


def _kind(target: Target, executor: str | None, jobs: int, limited: bool) -> str:
    if executor is not None and executor not in EXECUTORS:
        raise BadInput(f"executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
    if target.needs_keeper and executor in ("inline", "threads"):
        raise BadInput(f"executor {executor!r} can limit no memory and measure no processor time")
    return executor or ("processes" if jobs > 1 or limited else "inline")
