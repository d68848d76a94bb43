"""The loop that answers a search."""

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from paramhs.search.history import History
from paramhs.values.capping import LEAST_CAP
from paramhs.values.errors import BadInput, StoreError
from paramhs.values.runs import FAILURES, Evaluate, Run, Search, Status, Task, answer, capped
from paramhs.values.space import Config
from paramhs.world.driver.budget import Account, Budget, Later
from paramhs.world.driver.default_trial import DefaultTrial
from paramhs.world.driver.flights import Call, Flights, Inline, Runner
from paramhs.world.driver.interrupts import INTERRUPTED, Interrupts
from paramhs.world.driver.session import Session
from paramhs.world.driver.watcher import Watcher
from paramhs.world.store import Store

_FARTHEST = 8  # tasks for each worker that one looks ahead


class _Wanted(NamedTuple):
    """A run that the search waits for."""

    task: Task
    asked: int | None
    """After how many other runs it asked for that."""


@dataclass
class Driver:
    """Answers a search from the store where it can and from the target where it must.

    So resuming is running again: the search repeats what it did, from stored answers, up to the
    first that is missing. With a budget in runs, the number of jobs never changes what it does:
    idle workers only make speculative runs, which the search will probably ask for.
    """

    search: Search
    history: History
    target: Runner
    store: Store
    budget: Budget
    executor: Executor = field(default_factory=Inline)
    jobs: int = 1
    watcher: Watcher = field(default_factory=Watcher)
    default: Config | None = None
    """If this configuration fails in all the first runs, the target is taken to be broken."""
    purpose: str = ""
    """What the runs are for, where that is no search. Then their order means nothing."""
    later: Later | None = None
    """What comes after the search, and may be part of its budget."""

    def __post_init__(self) -> None:
        self.session = Session(self.search, self.history)
        self.taken = 0
        """How many runs the search has asked for and been granted."""
        self.new_runs = 0
        """How many were made in this session, speculative ones included."""
        self.failed = 0
        """How many of the runs that the search was given have failed."""
        self.last_failure: Run | None = None
        self.stopped = ""
        self._account = Account(self.budget, self.store, self.later)
        self._flights = Flights(self.target, self.executor, self.jobs, self.watcher.notice)
        self.jobs = self._flights.jobs
        self._interrupts = Interrupts(self.watcher.interrupting)
        self._trial = DefaultTrial(self.session.request.tasks, self.default)
        self._pending: dict[Call, _Wanted] = {}
        self._speculative: dict[Call, Task] = {}
        self._arrived = 0
        """How many runs the search was given, where their order is that in which they ended."""
        self._points_seen = 0

    @property
    def wall_time(self) -> float:
        """Seconds since the search began, over all sessions of the store."""
        return self._account.wall_time

    @property
    def interrupted(self) -> bool:
        """Whether somebody wants it to stop."""
        return bool(self._interrupts)

    def interrupt(self) -> None:
        """Stop after the runs in flight; the second time, at once."""
        self._interrupts.add()

    @property
    def speculative_runs(self) -> int:
        """How many speculative runs of this session were never asked for."""
        return len(self._speculative)

    def run(self) -> None:
        """Search until the search ends, a budget is spent, or somebody interrupts."""
        with self._interrupts.heard():
            self.watcher.started(self)
            try:
                for notice in self.store.notices:
                    self.watcher.notice(notice)
                self._note_points()
                while not self.stopped:
                    self._answer_request()
                self._end_trial()
            finally:
                self._flights.cancel()
                self._flights.pass_on_notices()
                self.watcher.ended(self)

    def _answer_request(self) -> None:
        if self.session.ended is not None:
            self.stopped = self.session.ended
            return
        request = self.session.request
        if request.first:
            self._answer_by_first(request)
            return
        for task in request.tasks:
            self._take(task)
            if self.stopped:
                break
        while self._pending:
            self._speculate(request.likely)
            self._collect()
        if self.session.request is request and not self.stopped:
            raise BadInput("the search asks for the same run twice in one request")

    def _answer_by_first(self, request: Evaluate) -> None:
        """Give the search whichever run is over first: what was so then, if that is stored."""
        then = self.store.arrived(self._arrived)
        if then is not None:
            self._repeat(request, then)
            return
        for task in request.tasks:
            if task.call not in self._pending and not self.stopped:
                self._take(task)
            if self.session.request is not request:
                break
        if self.stopped:
            while self._pending:
                self._collect()
        elif self.session.request is request:
            self._collect()

    def _repeat(self, request: Evaluate, then: Run) -> None:
        self.stopped = self._why_stop_replaying()
        if self.stopped:
            return
        task = next((task for task in request.tasks if task.call == then.task.call), None)
        found = answer(then, task) if task else None
        if task is None or found is None:
            raise StoreError(
                f"the store was made by a search that went another way: run {self._arrived + 1:,}"
                f" was {then.task.config} on {then.task.instance.name}, which it does not ask for"
            )
        self.taken += 1
        self._arrived += 1
        self._deliver(found._replace(task=task))

    def _take(self, task: Task) -> None:
        """Answer a task from the store, or start it; or stop, if a limit is reached.

        Only making a run takes time, so only then are the limits on time asked: replaying a store
        always comes as far as it came before.
        """
        self.stopped = self._why_stop_replaying()
        number = self._arrived if self.session.request.first else self.taken
        asked = None if self.purpose else number
        run = None if self.stopped else self.store.get(task, asked)
        flying = task.call in self._flights
        if run is None and not self.stopped and not flying:
            while self._flights.full:
                self._collect()
            self.stopped = self._why_stop()
        if self.stopped:
            return
        self.taken += 1
        if self._speculative:
            self._speculative.pop(task.call, None)
        if run is not None:
            self._arrived += 1
            self._deliver(run)
            return
        self._pending[task.call] = _Wanted(task, asked)
        if not flying:
            self._start(task)
        if self._flights.is_over(task.call):
            self._collect()

    def _why_stop_replaying(self) -> str:
        return INTERRUPTED if self._interrupts else self._account.runs_spent(self.taken)

    def _why_stop(self) -> str:
        late = self._account.time_spent(self.session.incumbent, self.jobs)
        return self._why_stop_replaying() or late

    def _speculate(self, likely: Iterable[Task]) -> None:
        """Give idle workers what the search will probably ask for.

        It is told what was found, for that may change what is likely.
        """
        self.history.left = self._account.runs_left(self.taken)
        ahead = islice(likely, _FARTHEST * self.jobs)
        while not self._flights.full and not self._why_stop():
            task = next(ahead, None)
            if task is None:
                return
            if task.call in self._flights:
                continue
            found = self.store.get(task)
            if found is None:
                self._start(task)
            else:
                self.history.foresee(found)

    def _start(self, task: Task) -> None:
        """Have a run made, with no more time than is left where runs may be cut short at all."""
        if self.history.scenario.capping.kind != "none":
            left = self._account.time_left(self.session.incumbent, self.jobs)
            task = task._replace(cutoff=min(task.cutoff, max(left, LEAST_CAP)))
        self._flights.start(task)

    def _collect(self) -> None:
        """Wait until a run is over, store it, and only then let the search see it."""
        if not self._flights.any_over:
            self._wait()
        for run in self._flights.land():
            if self._interrupts and run.status is Status.CRASHED:
                # Who stops us may have stopped the run as well; it will be made again.
                self._pending.pop(run.task.call, None)
                self.stopped = INTERRUPTED
                continue
            self._keep(self._told_apart(run))

    def _wait(self) -> None:
        self._flights.wait()
        self.jobs = self._flights.jobs

    def _told_apart(self, run: Run) -> Run:
        """The run; what reached a cutoff below the scenario's was capped, and did not time out."""
        if run.status is Status.TIMEOUT and run.task.cutoff < self.history.scenario.cutoff:
            return capped(run.task, run.runtime)
        return run

    def _keep(self, run: Run) -> None:
        """Store a run, and give it to the search if that waits for it."""
        call = run.task.call
        wanted = self._pending.get(call)
        found = answer(run, wanted.task) if wanted else None
        asked = wanted.asked if wanted and found else None
        if asked is not None and self.session.request.first:
            asked = self._arrived
        self._arrived += found is not None
        self.store.put(run, asked)
        self.new_runs += 1
        if run.status is Status.WRONG:
            self.watcher.notice(f"{run.detail}\n  the call was {self.target.shown(run.task)}")
        if found:
            del self._pending[call]
            self._deliver(found)
        elif wanted:
            self._make_again(wanted)
        else:
            self._speculative[call] = run.task
            self.history.foresee(run)

    def _make_again(self, wanted: _Wanted) -> None:
        """Make a run that was cut short too early: by an idle worker, or at the budget's end."""
        self.taken -= 1  # it is granted once more, or not at all
        self.stopped = self._why_stop()
        if self.stopped:
            del self._pending[wanted.task.call]
            return
        self.taken += 1
        self._start(wanted.task)

    def _deliver(self, run: Run) -> None:
        if run.status in FAILURES:
            self.failed += 1
            self.last_failure = run
        tried = self._trial.note(run)
        self.session.answer(run)
        if tried:
            self._end_trial()
        self._note_points()
        self.watcher.ran(self)

    def _note_points(self) -> None:
        trajectory = self.session.trajectory
        while self._points_seen < len(trajectory):
            point = trajectory[self._points_seen]
            self.store.record(self._points_seen, point)
            self._points_seen += 1
            self.watcher.improved(self, point)

    def _end_trial(self) -> None:
        self._trial.end(self.store, self._speculative.values(), self.target)
