"""Workers in virtual time: a run is made at once, and is over when its seconds have passed."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from heapq import heappop, heappush
from itertools import count
from typing import Any

from paramhs.core.runs import Run
from paramhs.execution.driver import Driver

START_SECONDS = 0.005
"""Seconds that pass beside every run: to send it, to start it, to store it."""


class VirtualWorkers(Executor):
    """Runs that are over at a time of this clock, which moves only when somebody waits.

    The driver never has more in flight than it has jobs, so each is begun when it is submitted.
    """

    def __init__(self) -> None:
        self.now = 0.0
        """Seconds that have passed."""
        self.busy = 0.0
        """Seconds that all workers together have worked."""
        self._ends: list[tuple[float, int, Future[Run], Run]] = []
        self._number = count()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Begin a run now."""
        future: Future[Any] = Future()
        run: Run = function(*args, **kwargs)
        seconds = run.runtime + START_SECONDS
        self.busy += seconds
        heappush(self._ends, (self.now + seconds, next(self._number), future, run))
        return future

    def pass_time(self) -> None:
        """Let time pass until the next run is over, and all that are over at the same time."""
        self._end_one()
        while self._ends and self._ends[0][0] <= self.now:
            self._end_one()

    def _end_one(self) -> None:
        self.now, _, future, run = heappop(self._ends)
        if future.set_running_or_notify_cancel():
            future.set_result(run)


class VirtualDriver(Driver):
    """The driver, with nothing changed but how it waits."""

    executor: VirtualWorkers

    def _wait(self) -> None:
        self.executor.pass_time()
