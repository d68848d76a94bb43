"""A store opened to look at: what was tuned, what was found, and every run."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramhs.faces.judging import found_in, without_verdict
from paramhs.faces.result import Result
from paramhs.faces.tables import dataframe, run_rows
from paramhs.results.capped import saved
from paramhs.results.validating import read_verdict, read_verdict_of
from paramhs.results.verdict import NoVerdict, Verdict
from paramhs.search.configurators.rebuilding import configurator_of
from paramhs.search.history import History
from paramhs.values.errors import BadInput
from paramhs.values.markup import html_table
from paramhs.values.runs import Run, Task, answer
from paramhs.values.scenario import Scenario
from paramhs.values.space import Space
from paramhs.values.wording import counted
from paramhs.world.driver import Session
from paramhs.world.store import MemoryStore
from paramhs.world.targets.command.template import command_line_of, target_name

if TYPE_CHECKING:
    import pandas

    from paramhs.results.ablation import Simplified
    from paramhs.world.store.reading import StoredSearch


def open(path: str | Path) -> "Opened":
    """Look at a store that `tune` has made, or is making: `paramhs.open("runs.sqlite").result`.

    Nothing is changed, and the target need not be there. What is read is the moment of the call;
    open it again to see more of a search that goes on.
    """
    from paramhs.world.store.reading import read_search  # sqlite3 only where it is needed

    return Opened(read_search(path))


@dataclass(frozen=True)
class Opened:
    """What is in a store."""

    stored: "StoredSearch"

    @property
    def path(self) -> Path:
        """The file."""
        return self.stored.path

    @property
    def scenario(self) -> Scenario:
        """What was tuned; of instances only the names are known."""
        return self.stored.scenario

    @property
    def space(self) -> Space:
        """The parameters."""
        return self.scenario.space

    @property
    def description(self) -> Mapping[str, Any]:
        """All that the search was defined by, in JSON types."""
        return self.stored.description

    @property
    def runs(self) -> Sequence[Run]:
        """The runs that the search has asked for, in order."""
        history = self.stored.history
        return history.runs[len(self.scenario.known) :]

    @cached_property
    def result(self) -> Result:
        """What `tune` would return for these runs.

        The search is played again from them, so that its races are known, too. A search of parts
        of one's own cannot be: then the result has all its runs, but no races.
        """
        return _judged(_played(self.stored) or _as_stored(self.stored), self.stored)

    @property
    def verdict(self) -> Verdict | NoVerdict:
        """The default against the best, if they have met; else why not."""
        return self.result.verdict

    def report(self, path: str | Path) -> Path:
        """Write what came of it as a page: one file, without scripts, that works offline."""
        from paramhs.faces.reporting import stored_material, told_of, write_report

        told = replace(told_of(self.result), stopped="", no_verdict="")  # which a store is not told
        return write_report(stored_material(self.path, told), Path(path))[0]

    @property
    def simplified(self) -> "Simplified | None":
        """What `simplify` made of the best; None if it was not called, or not finished."""
        from paramhs.results.simplifying import read_simplified  # numpy only where it is needed

        found = read_simplified(self.path, self.space, self.scenario.cost)
        return found if found and found.ablation.best == self.stored.best else None

    def to_dataframe(self) -> "pandas.DataFrame":
        """The runs as a table of pandas (extra `pandas`), one row a run."""
        return dataframe(run_rows(self.scenario, self.runs))

    def __repr__(self) -> str:
        return f"{self.path}: {counted(len(self.runs), 'run')} of {self.space!r}"

    def _repr_html_(self) -> str:
        return html_table([("store", self.path), ("runs", len(self.runs))]) + (
            self.result._repr_html_()
        )


def _played(stored: "StoredSearch") -> Result | None:
    """The result of the same search, given the stored runs; None if it cannot be played again."""
    with suppress(BadInput):
        configurator = configurator_of(stored.description["configurator"])
        history = History(stored.scenario, stored.history.seed)
        session = Session(configurator.search(history), history)
        _play(session, stored)
        if [p.config for p in session.trajectory] == [p.config for p in stored.trajectory]:
            return _result(stored, history, session.unfinished, session.ended)
    return None


def _play(session: Session, stored: "StoredSearch") -> None:
    """Answer a search from the runs of a store, as many as it was granted."""
    from paramhs.world.store.sqlite import read_runs

    runs = MemoryStore()
    for run in read_runs(stored.path, stored.scenario.space):
        runs.put(run)
    left = stored.history.asked
    arrived = iter(stored.history.runs[len(stored.scenario.known) :])
    while left and session.ended is None:
        if session.request.first:
            session.answer(_expected(session.request.tasks, next(arrived)))
            left -= 1
            continue
        for task in session.request.tasks[:left]:
            found = runs.get(task)
            if found is None:
                raise BadInput("the search would go another way now")
            session.answer(found)
            left -= 1


def _expected(tasks: Sequence[Task], run: Run) -> Run:
    """What a run says of the one of these tasks that it is of."""
    task = next((task for task in tasks if task.call == run.task.call), None)
    found = answer(run, task) if task else None
    if found is None:
        raise BadInput("the search would go another way now")
    return found


def _as_stored(stored: "StoredSearch") -> Result:
    return _result(stored, stored.history, (), None)


def _result(
    stored: "StoredSearch", history: History, unfinished: tuple[Run, ...], ended: str | None
) -> Result:
    stopped = ended or ("it is running" if stored.writing else "the store ends here")
    described = stored.description["target"]
    result = found_in(
        history,
        stored.trajectory,
        unfinished,
        asked=len(stored.history.runs) - len(stored.scenario.known),
        speculative=stored.speculative,
        target_time=stored.target_time,
        wall_time=stored.wall_time,
        stopped=stopped,
        capped=saved(stored.history.runs[len(stored.scenario.known) :]),
    )
    command = command_line_of(described, result.best)
    return replace(result, target=target_name(described), command=command, store=stored.path)


def _judged(result: Result, stored: "StoredSearch") -> Result:
    """The result with the verdicts that were made of it."""
    best, leading = result.best, result.ahead
    challenged = read_verdict_of(stored, best, leading.config) if leading else None
    if challenged:
        name = "default" if best == result.default else "best"
        challenged = replace(challenged, names=(name, "challenger"))
    made = challenged if best == result.default else read_verdict(stored)
    missing = without_verdict(result, "the default and the best have not met yet.")
    return replace(result, verdict=made or missing, ahead_verdict=challenged)
