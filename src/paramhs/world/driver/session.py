"""A search as one talks to it: a request, and the answers it has had."""

import math
from collections.abc import Sequence

from paramhs.search.history import History
from paramhs.values.costs import score
from paramhs.values.runs import Evaluate, Incumbent, Point, Run, Search, Task
from paramhs.values.space import Config


class Session:
    """A search, and the answers it has had.

    It advances when all runs of the present request are answered. Answers may come early and in any
    order; the search gets them in its own.
    """

    def __init__(self, search: Search, history: History) -> None:
        self._search = search
        self.history = history
        self._answers: dict[Task, Run] = {}
        self.request = Evaluate(())
        self.runs = 0
        self.target_time = 0.0
        """Seconds that the target ran, over the requests answered in full."""
        self.trajectory: list[Point] = []
        self.ended: str | None = None
        self._advance([])

    def answer(self, run: Run) -> None:
        """Take a run of the present request; the search goes on when none is missing, or at once
        where the first is enough."""
        if self.request.first:
            self._advance([run])
            return
        self._answers[run.task] = run
        if len(self._answers) == len(self.request.tasks):
            runs = [self._answers[task] for task in self.request.tasks]
            self._answers = {}
            self._advance(runs)

    def _advance(self, runs: Sequence[Run]) -> None:
        self.runs += len(runs)
        self.target_time += math.fsum(run.runtime for run in runs)
        try:
            step = self._search.send(runs) if runs else next(self._search)
            while isinstance(step, Incumbent):
                self._note(step.config)
                step = next(self._search)
            self.request = step
        except StopIteration as end:
            self.ended = str(end.value)
            self.request = Evaluate(())

    def _note(self, incumbent: Config) -> None:
        costs = list(self.history.costs(incumbent).values())
        cost = self.history.scenario.cost.shown(score(costs)) if costs else None
        self.trajectory.append(Point(incumbent, self.runs, self.target_time, cost, len(costs)))

    @property
    def unfinished(self) -> tuple[Run, ...]:
        """The answers to the present request so far, in the order of its tasks."""
        return tuple(self._answers[t] for t in self.request.tasks if t in self._answers)

    @property
    def incumbent(self) -> Config | None:
        """The best that the search knows; None before it said so."""
        return self.trajectory[-1].config if self.trajectory else None
