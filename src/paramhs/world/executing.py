"""Who makes the runs of a target: this thread, other threads, or processes that are kept."""

import math
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager

from paramhs.values.errors import BadInput
from paramhs.values.runs import Target
from paramhs.world.driver import Inline
from paramhs.world.targets.command import CommandTarget
from paramhs.world.targets.function import FunctionTarget

AnyTarget = FunctionTarget | CommandTarget

EXECUTORS = ("inline", "threads", "processes")
MOST_JOBS = 1024


def check_jobs(jobs: int) -> None:
    """Refuse a number of jobs that makes no sense."""
    if type(jobs) is not int:
        raise BadInput(f"jobs must be a whole number, not {jobs!r}")
    if jobs < 1:
        raise BadInput(f"jobs must be at least 1, not {jobs}")
    if jobs > MOST_JOBS:
        raise BadInput(f"jobs must be at most {MOST_JOBS:,}, not {jobs:,}")


@contextmanager
def executing(
    target: AnyTarget, executor: str | Executor | None, jobs: int, cutoff: float
) -> Iterator[tuple[Executor, Target]]:
    """An executor and what it is to run.

    Commands always run under a keeper; so do functions in "processes", which is the usual choice
    where there are several jobs or a limit.
    """
    from paramhs.world.targets.supervisor.supervised import Supervised  # only where runs are made

    if isinstance(executor, Executor):
        if isinstance(target, FunctionTarget):
            if _needs_process(target):
                raise BadInput(f"{executor!r} can limit no memory and measure no processor time")
            yield executor, target
            return
        with closing(Supervised(target)) as kept_elsewhere:
            yield executor, kept_elsewhere
        return
    kind = _kind(target, executor, jobs, cutoff)
    if kind == "processes" or isinstance(target, CommandTarget):
        kept = Supervised(target, jobs)
        runner: Target = kept
    else:
        kept, runner = None, target
    threads = kind == "threads" or (kind == "processes" and jobs > 1)
    pool = ThreadPoolExecutor(jobs) if threads else Inline()
    finished = False
    try:
        yield pool, runner
        finished = True
    finally:
        if kept:
            kept.close()
        pool.shutdown(wait=finished, cancel_futures=True)  # a thread cannot be stopped by force


def _kind(target: AnyTarget, executor: str | None, jobs: int, cutoff: float) -> str:
    if executor is not None and executor not in EXECUTORS:
        raise BadInput(f"executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
    if isinstance(target, CommandTarget):
        return "processes"
    if executor in ("inline", "threads") and _needs_process(target):
        raise BadInput(f"executor {executor!r} can limit no memory and measure no processor time")
    limited = math.isfinite(cutoff) or _needs_process(target)
    return executor or ("processes" if jobs > 1 or limited else "inline")


def _needs_process(target: FunctionTarget) -> bool:
    return math.isfinite(target.memory) or target.clock == "cpu"
