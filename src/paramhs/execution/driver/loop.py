"""The loop that answers a search."""

import math
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from paramhs.core.capping import MIN_CAP
from paramhs.core.errors import BadInput, TargetError
from paramhs.core.runs import (
    FAILURES,
    Evaluate,
    Run,
    Search,
    Status,
    Task,
    answer,
    capped,
    nothing_follows,
)
from paramhs.core.space import Config
from paramhs.execution.driver.broken_target import DefaultTrial
from paramhs.execution.driver.budget import Account, Budget, Later
from paramhs.execution.driver.callbacks import Progress, Watcher
from paramhs.execution.driver.in_flight import Call, Flights, Inline, Runner, Workers
from paramhs.execution.driver.lookahead import LookAhead
from paramhs.execution.driver.session import Session
from paramhs.execution.driver.signals import INTERRUPTED, Interrupts
from paramhs.execution.driver.stopping import Stopping
from paramhs.execution.storage import Store
from paramhs.search.history import History
from paramhs.search.open_race import challenger_leads
from paramhs.search.proposal_law import UNKNOWN_LAW, ProposalLaw
from paramhs.search.record import Ending, Record

_LOOKAHEAD_TASKS = 8  # tasks for each worker that are looked at, of those to make early

_LONG_SECONDS = 1.0  # after which a useless run is ended; a new process costs a part of it

_CUTOFF_FACTOR = 1.5  # by which the cutoffs of runs made early exceed what seems needed


class _Wanted(NamedTuple):
    """A run that the search waits for."""

    task: Task
    asked: int | None
    """Number of runs requested before it."""


@dataclass
class Driver:
    """Answers a search from the store where possible, else by runs of the target.

    Resuming is therefore repeating: the search does what it did, with stored answers, up to the
    first missing one. With a budget in runs, the number of workers never changes the search: idle
    workers only make speculative runs, which the search will probably request.
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
    """Configuration whose first runs, if all fail, show that the target is broken."""
    purpose: str = ""
    """Purpose of runs outside a search, whose order has no meaning."""
    later: Later | None = None
    """The verdict that follows, and may count against the budget."""
    reserve: float = 0.0
    """Share of the budget reserved to finish a race that the challenger is winning."""
    proposals: ProposalLaw = UNKNOWN_LAW
    """Known law of the search's proposals."""

    def __post_init__(self) -> None:
        self.record = Record(self.history, wall_time=self.store.wall_time, proposals=self.proposals)
        self.session = Session(self.search, self.record)
        self.taken = 0
        """Number of runs the search requested and was granted."""
        self.new_runs = 0
        """Number of runs made in this session, including speculative ones."""
        self.failed = 0
        """Number of failed runs among those given to the search."""
        self.last_failure: Run | None = None
        self.stopped = ""
        self._account = Account(self.budget, self.store, self.later, self.reserve)
        self._flights = Flights(self.target, self.executor, self.jobs, self.watcher.notice)
        self.jobs = self._flights.jobs
        self._stopping = Stopping(self.budget)
        self._interrupts = Interrupts(self.watcher.interrupting)
        self._trial = DefaultTrial(self.session.request.tasks, self.default)
        self._pending: dict[Call, _Wanted] = {}
        self._speculative: dict[Call, Task] = {}
        self._early: dict[Call, float] = {}
        """Time at which each speculative run of this session was stored."""
        self._ahead = LookAhead()
        self._notices_passed = 0
        self._points_seen = 0
        self._races_seen = 0
        self._races_weighed = 0
        """Number of decided races when useless runs were last looked for."""
        self._references_seen = 0
        self._weighed: Evaluate | None = None
        """Last request for which the use of the reserve was decided."""
        self._finishing = False
        """Whether that request may use the reserve."""

    @property
    def wall_time(self) -> float:
        """Seconds since the search began, over all sessions of the store."""
        return self._account.wall_time

    @property
    def pace(self) -> float:
        """Wall time per second of target time, as measured so far."""
        return self._account.pace(self.jobs)

    @property
    def interrupted(self) -> bool:
        """Whether the search was asked to stop."""
        return bool(self._interrupts)

    @property
    def progress(self) -> Progress:
        """Progress of the search so far."""
        return Progress(
            self.purpose,
            self.taken,
            self.new_runs,
            self.failed,
            self.last_failure,
            self.budget,
            self.store.target_time,
            self.wall_time,
            self.pace,
            self.jobs,
            self.executor.workers if isinstance(self.executor, Workers) else "",
            self.later,
            self.stopped,
        )

    def interrupt(self) -> None:
        """Stop after the runs in progress; on a second call, immediately."""
        self._interrupts.add()

    def run(self) -> None:
        """Run the search until it ends, a budget is spent, or it is interrupted."""
        with self._interrupts.heard():
            self.watcher.started(self.record, self.progress)
            try:
                self._pass_on_notices()
                self._note_points()
                while not self.stopped:
                    self._answer_request()
                self._end_trial()
                self.session.take_unfinished()
                self._keep_judged()
                self._end(self._flights.calls)
            finally:
                self._flights.cancel()
                self._flights.pass_on_notices()
                self._pass_on_notices()
                self._close_record()
                self.watcher.ended(self.record, self.progress)

    def _pass_on_notices(self) -> None:
        """Pass on the notices of the store that are new."""
        for notice in self.store.notices[self._notices_passed :]:
            self.watcher.notice(notice)
        self._notices_passed = len(self.store.notices)

    def _close_record(self) -> None:
        """Write how the search ended into its record."""
        record = self.record
        record.speculative, record.sessions = self.store.unasked, self.store.sessions
        record.target_time = self.store.target_time
        record.ending = Ending(self.stopped)

    def _answer_request(self) -> None:
        if self.session.ended is not None:
            self.stopped = self.session.ended
            return
        self.stopped = self._stopping.why(self.record)
        if self.stopped:
            return
        request = self.session.request
        self._end_useless(request)
        for task in request.tasks:
            self._take(task)
            if self.stopped:
                break
        while self._pending:
            self._make_early(request)
            self._collect()
        # Runs are awaited by their call, so two equal tasks of a request get one answer, and the
        # session would wait for the other for ever.
        if self.session.request is request and not self.stopped:
            raise BadInput("the search asks for the same run twice in one request")

    def _take(self, task: Task) -> None:
        """Answer a task from the store, or start it; or stop if a limit is reached.

        Only making a run takes time, so only then are the time limits checked: a replay always gets
        as far as before.
        """
        # First what follows from the requests alone, which ends a replay at the same request; then
        # the store; and only if a run is to be started, the limits in time. A run that is under way
        # is awaited.
        self.stopped = self._why_stop_replaying()
        asked = None if self.purpose else self.taken
        run = None if self.stopped else self.store.get(task, asked)
        flying = task.call in self._flights
        if run is None and not self.stopped and not flying:
            while self._flights.full:
                self._collect()
            self.stopped = self._why_stop()
        if self.stopped:
            return
        if self._speculative:
            self._speculative.pop(task.call, None)
            self._ahead.drop(task)
        if run is not None:
            self.taken += 1
            self._deliver(run, self._stored_at(task, self.taken - 1))
            return
        self.taken += 1
        self._pending[task.call] = _Wanted(task, asked)
        if not flying:
            self._start(task)
        if self._flights.is_over(task.call):
            self._collect()

    def _why_stop_replaying(self) -> str:
        """Reason why no run is granted, stored or not; empty if one is."""
        spent = self._account.runs_spent(self.taken, finishing=False)
        if spent and self._may_finish():
            spent = _undecided(self._account.runs_spent(self.taken))
        return INTERRUPTED if self._interrupts else spent

    def _why_stop(self) -> str:
        """Reason why no run is made; empty if one is."""
        spent = self._time_spent(finishing=False)
        if spent and self._may_finish():
            spent = _undecided(self._time_spent(finishing=True))
        return self._why_stop_replaying() or spent

    def _time_spent(self, finishing: bool) -> str:
        incumbent = self.session.incumbent
        return self._account.time_spent(incumbent, self.jobs, self.taken, finishing)

    def _may_finish(self) -> bool:
        """Whether the rest of this request may use the reserve.

        It may if the challenger is ahead in an open race. This is decided once per request, from
        all runs before it, whose results are awaited first, so that it does not depend on the
        number of workers.
        """
        request, incumbent = self.session.request, self.session.incumbent
        if not self.reserve:
            return False
        if self._weighed is not request:
            while self._pending:
                self._collect()
            self._weighed = request
            self._finishing = incumbent is not None and challenger_leads(
                self.history, incumbent, self.session.unfinished
            )
        return self._finishing

    def _is_over(self) -> bool:
        """Whether idle workers should start nothing more."""
        finishing = self._finishing and self._weighed is self.session.request
        spent = self._account.runs_spent(self.taken, finishing) or self._time_spent(finishing)
        return bool(self._interrupts) or bool(spent)

    def _make_early(self, request: Evaluate) -> None:
        """Give idle workers runs that the search will probably request."""
        if self._flights.full or self._is_over():
            return
        left = self._account.runs_left(self.taken, self._finishing)
        for task in islice(self._ahead.tasks(request, left), _LOOKAHEAD_TASKS * self.jobs):
            if task.call not in self._flights:
                # An earlier session may have made it, and ended before the search requested it.
                found = self.store.get(task)
                if found is not None:
                    self._ahead.add(found)
                    continue
                self._start(self._with_margin(task))
                if self._flights.full:
                    return

    def _end_useless(self, request: Evaluate) -> None:
        """After a race, end long runs that were made early and that no race will request."""
        decided = len(self.history.races)
        if decided == self._races_weighed or request.following is nothing_follows:
            return
        self._races_weighed = decided
        early = [task.call for task in self._flights.longer_than(_LONG_SECONDS)]
        if not early:
            return
        racing = {task.config for task in self._ahead.expected(request)}
        racing.update(filter(None, [self.session.incumbent]))
        self._end(call for call in early if call[0] not in racing)

    def _end(self, calls: Iterable[Call]) -> None:
        """End runs without a result. Their time counts, since the target has used it."""
        seconds = math.fsum(map(self._flights.end, calls))
        if seconds:
            self.store.add_time(seconds)

    def _with_margin(self, task: Task) -> Task:
        """A task with a larger cutoff than seems needed, because its cap may still grow."""
        limit = self.history.scenario.cutoff
        return task._replace(cutoff=min(_CUTOFF_FACTOR * task.cutoff, limit))

    def _start(self, task: Task) -> None:
        """Start a run, limited to the remaining time if runs may be capped at all."""
        if self.history.scenario.capping.kind != "none":
            left = self._account.time_left(self.session.incumbent, self.jobs)
            task = task._replace(cutoff=min(task.cutoff, max(left, MIN_CAP)))
        self._flights.start(task)

    def _collect(self) -> None:
        """Wait for a run, store it, and only then pass it to the search."""
        if not self._flights.any_over:
            self._wait()
        for run in self._flights.land():
            if self._interrupts and run.status is Status.CRASHED:
                # A stop of this process may have stopped the run as well; it will be made again.
                self._pending.pop(run.task.call, None)
                self.stopped = INTERRUPTED
                continue
            self._keep(self._told_apart(run))

    def _wait(self) -> None:
        self._flights.wait()
        self.jobs = self._flights.jobs

    def _told_apart(self, run: Run) -> Run:
        """Mark a run that reached a cutoff below the scenario's as capped."""
        if run.status is Status.TIMEOUT and run.task.cutoff < self.history.scenario.cutoff:
            return capped(run.task, run.runtime)
        return run

    def _keep(self, run: Run) -> None:
        """Store a run, and pass it to the search if that waits for it."""
        call = run.task.call
        wanted = self._pending.get(call)
        # A run that was begun early may have been requested meanwhile, with a cutoff larger than
        # its own. Then it answers nothing yet, and is made again. Every run is stored before the
        # search sees it, so a resumed search finds all answers that it ever used.
        found = answer(run, wanted.task) if wanted else None
        asked = wanted.asked if wanted and found else None
        elapsed = self.record.wall_time = self.store.put(run, asked)
        self.new_runs += 1
        if run.status is Status.WRONG:
            self._announce(run)
        if found:
            del self._pending[call]
            self._deliver(found, elapsed)
        elif wanted:
            self._make_again(wanted)
        else:
            self._speculative[call] = run.task
            self._early[call] = elapsed
            self._ahead.add(run)

    def _make_again(self, wanted: _Wanted) -> None:
        """Repeat a run that was capped too early, by an idle worker or at the end of a budget."""
        self.taken -= 1  # it is granted once more, or not at all
        spent = self._account.runs_spent(self.taken) or self._time_spent(finishing=True)
        self.stopped = INTERRUPTED if self._interrupts else spent
        if self.stopped:
            del self._pending[wanted.task.call]
            return
        self.taken += 1
        self._start(wanted.task)

    def _stored_at(self, task: Task, asked: int) -> float:
        """Seconds until a run that the store has was stored there."""
        earlier = self.store.elapsed
        if asked < len(earlier):
            return earlier[asked]
        return self._early.pop(task.call, self.record.wall_time)

    def _deliver(self, run: Run, elapsed: float) -> None:
        """Give the search a run that it waits for."""
        if run.status in FAILURES:
            self.failed += 1
            self.last_failure = run
        tried = self._trial.note(run)
        self.session.answer(run, elapsed)
        self._keep_judged()
        if self.history.references > self._references_seen:
            self._references_seen = self.history.references
            self.store.record_references(self._references_seen)
        if tried:
            self._end_trial()
        self._note_points()
        self.watcher.ran(self.record, self.progress)

    def _keep_judged(self) -> None:
        """Store the judgement of runs by their answers; a wrong default ends the search."""
        judge = self.history.judge
        while judge.relabelled:
            run = judge.relabelled.pop(0)
            self.store.relabel(run, self.history.scenario.cutoff)
            if run.status is Status.WRONG:
                self.failed += 1
                self.last_failure = run
                self._announce(run)
        if self.default is not None and self.default in self.history.wrong:
            raise TargetError(self._why_wrong())

    def _announce(self, run: Run) -> None:
        self.watcher.notice(f"{run.detail}\n  the call was {self.target.shown(run.task)}")

    def _why_wrong(self) -> str:
        of_default = (run for run in self.history.runs if run.task.config == self.default)
        run = next(run for run in of_default if run.status is Status.WRONG)
        return (
            f"the default configuration gave a wrong answer: {run.reason}"
            f"\nThe call was {self.target.shown(run.task)}"
            "\nThere is nothing to compare with. Fix the target, say which answers are right with"
            " expected = ..., or allow a larger difference between numbers with"
            " answer_tolerance = ..., and use another store."
        )

    def _note_points(self) -> None:
        trajectory = self.record.trajectory
        while self._points_seen < len(trajectory):
            point = trajectory[self._points_seen]
            self.store.record(self._points_seen, point)
            self._points_seen += 1
            self.watcher.improved(self.record, self.progress, point)
        races = self.history.races
        while self._races_seen < len(races) and not self.purpose:
            self.store.record_race(self._races_seen, races[self._races_seen])
            self._races_seen += 1

    def _end_trial(self) -> None:
        speculative, cost = self._speculative.values(), self.history.scenario.cost
        if warning := self._trial.end(self.store, speculative, self.target, cost):
            self.watcher.notice(f"warning: {warning}")


def _undecided(spent: str) -> str:
    """Reason of a stop inside a race that used all of the budget."""
    return f"{spent}; a race was not decided, so the incumbent stays" if spent else ""
