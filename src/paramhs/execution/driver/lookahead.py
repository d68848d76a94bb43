"""Runs that a search will request later, for workers that would be idle.

A search says which runs it will request next (`Evaluate.likely`). Those that were made early wait
here. The search sees only what it requests, so a wrong guess costs a run that no one asks for.
"""

import math
from collections.abc import Iterator
from itertools import chain, islice

from paramhs.core.runs import Evaluate, Run, Task, answer
from paramhs.execution.driver.in_flight import Call


class LookAhead:
    """The runs that were made early for one search, and those worth making next."""

    def __init__(self) -> None:
        self._early: dict[Call, Run] = {}

    def add(self, run: Run) -> None:
        """Keep a run that was made early; of two, the one with the larger cutoff."""
        known = self._early.get(run.task.call)
        if known is None or known.task.cutoff < run.task.cutoff:
            self._early[run.task.call] = run

    def drop(self, task: Task) -> None:
        """Forget a run, because the search has requested it."""
        if self._early:
            self._early.pop(task.call, None)

    def found(self, task: Task) -> Run | None:
        """The answer to a task, from a run that was made early."""
        run = self._early.get(task.call)
        return None if run is None else answer(run, task)

    def expected(self, request: Evaluate) -> Iterator[Task]:
        """The runs that the search requests now and later, as far as known."""
        return chain(request.tasks, request.likely, request.following(self.found))

    def tasks(self, request: Evaluate, left: float = math.inf) -> Iterator[Task]:
        """Tasks to make early, the most useful first; some may be under way.

        Args:
            request: The present request of the search.
            left: Number of runs that the search may still request.
        """
        now = len(request.tasks)
        end = None if left == math.inf else now + int(left)
        for task in islice(self.expected(request), now, end):
            if self.found(task) is None:
                yield task
