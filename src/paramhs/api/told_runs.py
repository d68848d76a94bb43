"""Results reported to an ask-and-tell search: kept in a store, and replayed from it."""

from pathlib import Path

from paramhs.core.description import description
from paramhs.core.runs import Run, Task
from paramhs.execution.driver import Session
from paramhs.execution.storage import Known, open_store
from paramhs.procedures.recommendation import keep_ending
from paramhs.search.configurators import Configurator
from paramhs.search.history import History
from paramhs.search.record import Ending

TARGET = {"kind": "ask and tell"}
"""Description of the target, which only the caller knows."""


class ToldRuns:
    """The store of one search; without a path it is in memory.

    The search is replayed: everything that it requests and that is stored is answered at once.
    """

    def __init__(
        self, path: Path | None, history: History, configurator: Configurator, session: Session
    ) -> None:
        self._path = path
        self._session = session
        self._points = self._races = self._references = 0
        scenario = history.scenario
        described = {
            "scenario": scenario.describe() if path else {},
            "target": TARGET,
            "configurator": description(configurator, "the configurator") if path else {},
            "seed": history.seed,
        }
        known = Known(scenario.known, scenario.initial)
        self._store = open_store(path, scenario.space, described, None, known)

    def replay(self) -> set[Task]:
        """Answer from the store what the search requests; return the tasks answered."""
        answered: set[Task] = set()
        while (run := self._next()) is not None:
            answered.add(run.task)
            self._session.answer(run)
            self.note()
        return answered

    def _next(self) -> Run | None:
        """The next stored run that the search waits for."""
        request, number = self._session.request, self._session.runs
        waiting = self._session.unanswered
        for position, task in enumerate(request.tasks, number):
            if task in waiting:
                run = self._store.get(task, position)
                if run is not None:
                    return run._replace(task=task)
        return None

    def keep(self, run: Run, wanted: bool) -> None:
        """Store a run before the search receives it."""
        self._store.put(run, self._position(run.task) if wanted else None)

    def _position(self, task: Task) -> int:
        return self._session.runs + list(self._session.request.tasks).index(task)

    def note(self) -> None:
        """Store what the search concluded from its runs."""
        record, history = self._session.record, self._session.history
        while history.judge.relabelled:
            self._store.relabel(history.judge.relabelled.pop(0), history.scenario.cutoff)
        if history.references > self._references:
            self._references = history.references
            self._store.record_references(self._references)
        while self._points < len(record.trajectory):
            self._store.record(self._points, record.trajectory[self._points])
            self._points += 1
        while self._races < len(history.races):
            self._store.record_race(self._races, history.races[self._races])
            self._races += 1

    def close(self, ending: Ending) -> None:
        """Release the store, and keep how the search ended."""
        self._store.close()
        if self._path is not None:
            keep_ending(self._path, ending)
