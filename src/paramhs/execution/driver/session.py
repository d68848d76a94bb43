"""A running search: its current request, and the answers so far."""

import math
from collections.abc import Sequence

from paramhs.core.costs import score
from paramhs.core.runs import Evaluate, Incumbent, Point, Run, Search, Task
from paramhs.core.space import Config
from paramhs.search.dialogue import Dialogue
from paramhs.search.record import Record
from paramhs.search.references import with_references


class Session:
    """A search with the answers it has received, written into its record.

    It advances when all runs of the current request are answered. Answers may arrive early and in
    any order; the search receives them in its own.
    """

    def __init__(self, search: Search, record: Record) -> None:
        self.record = record
        self.history = record.history
        self._search = Dialogue(with_references(search, self.history))
        self._answers: dict[Task, tuple[Run, float]] = {}
        self.request = Evaluate(())
        self.runs = 0
        self.target_time = 0.0
        """Target time in seconds, over the requests that were answered in full."""
        self.ended: str | None = None
        self._take_up(self._search.request)

    def answer(self, run: Run, elapsed: float = 0.0) -> None:
        """Take a run of the current request; the search continues when no run is missing."""
        self._answers[run.task] = run, elapsed
        if len(self._answers) == len(self.request.tasks):
            answers = [self._answers[task] for task in self.request.tasks]
            self._answers = {}
            self._advance(answers)

    def _advance(self, answers: Sequence[tuple[Run, float]]) -> None:
        runs = [run for run, _ in answers]
        self.record.elapsed.extend(elapsed for _, elapsed in answers)
        self.runs += len(runs)
        self.target_time += math.fsum(run.runtime for run in runs)
        self._take_up(self._search.advance(runs))

    def _take_up(self, step: Evaluate | Incumbent | None) -> None:
        """Record incumbents up to the next request, or the end."""
        while isinstance(step, Incumbent):
            self._note(step.config)
            step = self._search.advance()
        self.request = step or Evaluate(())
        if step is None:
            self.ended = str(self._search.result)

    def _note(self, incumbent: Config) -> None:
        costs = list(self.history.costs(incumbent).values())
        cost = self.history.scenario.cost.shown(score(costs)) if costs else None
        self.record.trajectory.append(
            Point(incumbent, self.runs, self.target_time, cost, len(costs))
        )

    @property
    def unanswered(self) -> set[Task]:
        """Tasks of the current request that have no answer yet."""
        return {task for task in self.request.tasks if task not in self._answers}

    @property
    def unfinished(self) -> tuple[Run, ...]:
        """The answers to the current request so far, judged, in the order of its tasks."""
        answered = (self._answers[t][0] for t in self.request.tasks if t in self._answers)
        return tuple(map(self.history.judge.copy(), answered))

    def take_unfinished(self) -> None:
        """Put the answers to an incomplete last request into the record."""
        answered = [self._answers[t] for t in self.request.tasks if t in self._answers]
        for run, elapsed in answered:
            self.history.add(run)
            self.record.elapsed.append(elapsed)

    @property
    def incumbent(self) -> Config | None:
        """The current incumbent; None before the search has reported one."""
        return self.record.incumbent
