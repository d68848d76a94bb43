"""Threads that wait for supervised runs; a run can be cancelled while it is made."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from paramhs.core.runs import Run, Task
from paramhs.execution.supervisor.pool import Supervised


class RunFuture(Future[Any]):
    """Future of a run. To cancel it while it is made ends the run, which then has no result."""

    def __init__(self, end: Callable[[], bool]) -> None:
        super().__init__()
        self._end = end

    def cancel(self) -> bool:
        """Cancel the run; False if it is over or cannot be ended."""
        return super().cancel() or (not self.done() and self._end())


class SupervisedThreads(Executor):
    """Makes the runs of one supervised target, each in a thread that waits for its keeper."""

    def __init__(self, kept: Supervised, jobs: int) -> None:
        self._kept = kept
        self._threads = ThreadPoolExecutor(jobs)

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Start a run of the target."""
        (task,) = args
        future = RunFuture(lambda: self._kept.end(task))
        self._threads.submit(self._make, future, task)
        return future

    def _make(self, future: "Future[Run]", task: Task) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(self._kept(task))
        except BaseException as error:
            future.set_exception(error)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all runs."""
        self._kept.close()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
