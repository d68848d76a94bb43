"""The one loop that touches the world: search x target x store x budget x executor."""

import math
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple, Protocol

from paramhs.search.history import History
from paramhs.values.capping import LEAST_CAP
from paramhs.values.costs import score
from paramhs.values.errors import BadInput, ParamhsError, StoreError, TargetError
from paramhs.values.runs import (
    FAILURES,
    Evaluate,
    Incumbent,
    Instance,
    Point,
    Run,
    Search,
    Status,
    Task,
    answer,
    capped,
)
from paramhs.values.space import Config
from paramhs.values.wording import time_text
from paramhs.world.store import Store

INTERRUPTED = "interrupted"
STOPPING = "stopping after the runs in flight; Ctrl-C again stops at once"
_FARTHEST = 8  # tasks for each worker that one looks ahead
_LOOK = 1.0  # seconds between two looks at what an executor says
_ENOUGH = 3  # failures of the default after which the target is taken to be broken


@dataclass(frozen=True)
class Budget:
    """When to stop, whichever comes first; without any limit, when the space is exhausted.

    `runs` counts the runs that the search asks for; those that idle workers make early come on top.
    `target_time` is the seconds that the target ran, over all runs made; `wall_time` those that
    passed; both over all sessions of a store. No run is started once a limit is reached; the runs
    that the search waits for are finished, unless there is capping: then none is given more than
    what is left.
    """

    runs: int | None = None
    target_time: float | None = None
    wall_time: float | None = None

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if limit is None:
                continue
            number = isinstance(limit, int | float) and not isinstance(limit, bool)
            if not number or not 0 < limit < math.inf:
                raise BadInput(f"the budget's {name} must be a positive number, not {limit!r}")
        if isinstance(self.runs, float):
            raise BadInput(f"the budget's runs must be a whole number, not {self.runs!r}")

    def spent(self, runs: int = 0, target_time: float = 0.0, wall_time: float = 0.0) -> str:
        """Which limit is reached; empty if none."""
        if self.runs is not None and runs >= self.runs:
            return f"the budget of {self.runs:,} runs is spent"
        if self.target_time is not None and target_time >= self.target_time:
            return f"the budget of {self.target_time:g} s of target time is spent"
        if self.wall_time is not None and wall_time >= self.wall_time:
            return f"the budget of {self.wall_time:g} s of wall time is spent"
        return ""

    def left(self, target_time: float, wall_time: float) -> float:
        """Seconds until a limit on time is reached."""
        used = ((self.target_time, target_time), (self.wall_time, wall_time))
        return min((limit - spent for limit, spent in used if limit is not None), default=math.inf)


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


class Runner(Protocol):
    """Makes runs: a target, or a target under keepers."""

    def __call__(self, task: Task) -> Run:
        """The run of a task."""

    def shown(self, task: Task) -> str:
        """The call, for people."""


Call = tuple[Config, Instance, int]
"""What is run, whatever the cutoff."""


class _Flight(NamedTuple):
    """A run that is being made."""

    task: Task
    future: "Future[Run]"


class _Wanted(NamedTuple):
    """A run that the search waits for."""

    task: Task
    asked: int | None
    """After how many other runs it asked for that."""


class Inline(Executor):
    """Runs everything at once, in the calling thread."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Call now; what is raised is raised here."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


class Watcher:
    """Callbacks: is called while a search is at work, and the base class does nothing.

    Subclass it, define the methods that you need, and give an instance to `tune(watcher=...)`:

        class Stopwatch(paramhs.Watcher):
            def improved(self, driver, point):
                print(f"{driver.wall_time:.0f} s: {point.config}")

    They are called in the thread that called `tune`, between two runs, so the search waits for
    them; what they raise ends it (stored runs are safe). What they do cannot change the search.
    The driver has, to be read: `taken` (runs asked for), `new_runs`, `wall_time`, `jobs`, `budget`,
    `stopped`, `session.incumbent`, `session.trajectory` and the whole `history`. The verdict that
    follows a search has a driver of its own, whose `purpose` is "verdict".
    """

    def started(self, driver: "Driver") -> None:
        """The driver is about to begin."""

    def ran(self, driver: "Driver") -> None:
        """A run was answered, from the store or by the target."""

    def improved(self, driver: "Driver", point: Point) -> None:
        """There is a new incumbent."""

    def notice(self, text: str) -> None:
        """Something that the user should know."""

    def interrupting(self, text: str) -> None:
        """The search will stop soon. Called inside a signal handler, which may have interrupted
        a print: what it writes must not go through a buffer."""

    def ended(self, driver: "Driver") -> None:
        """The driver is done; `driver.stopped` says why."""


class Later(Protocol):
    """The verdict that will follow a search."""

    runs: int
    """How many runs of the budget are kept for it."""
    counts: bool
    """Whether it is part of the budget."""

    def time(self, incumbent: Config | None) -> float:
        """How many seconds of target time it will take, if this incumbent stays; 0 if unknown."""


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
        self.jobs = getattr(self.executor, "jobs", self.jobs)
        self.taken = 0
        """How many runs the search has asked for and been granted."""
        self.new_runs = 0
        """How many were made in this session, speculative ones included."""
        self.failed = 0
        """How many of the runs that the search was given have failed."""
        self.last_failure: Run | None = None
        self.stopped = ""
        self._flying: dict[Call, _Flight] = {}
        self._pending: dict[Call, _Wanted] = {}
        self._speculative: dict[Call, Task] = {}
        asked = (task for task in self.session.request.tasks if task.config == self.default)
        self._trial: set[Task] = set(islice(asked, _ENOUGH))
        self._trial_runs: list[Run] = []
        """Those of the first request, while its first few are not all there."""
        self._arrived = 0
        """How many runs the search was given, where their order is that in which they ended."""
        self._points_seen = 0
        self._interrupts = 0
        self._began = time.monotonic()

    @property
    def wall_time(self) -> float:
        """Seconds since the search began, over all sessions of the store."""
        return self.store.wall_time + time.monotonic() - self._began

    @property
    def interrupted(self) -> bool:
        """Whether somebody wants it to stop."""
        return self._interrupts > 0

    @property
    def speculative_runs(self) -> int:
        """How many speculative runs of this session were never asked for."""
        return len(self._speculative)

    def run(self) -> None:
        """Search until the search ends, a budget is spent, or somebody interrupts."""
        with self._interruptible():
            self.watcher.started(self)
            try:
                for notice in self.store.notices:
                    self.watcher.notice(notice)
                self._note_points()
                while not self.stopped:
                    self._answer_request()
                self._check_default()
            finally:
                for flight in self._flying.values():
                    flight.future.cancel()
                self._pass_on_notices()
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
        """Answer a task from the store, or launch it; or stop, if a limit is reached.

        Only making a run takes time, so only then are the limits on time asked: replaying a store
        always comes as far as it came before.
        """
        self.stopped = self._why_stop_replaying()
        place = self._arrived if self.session.request.first else self.taken
        asked = None if self.purpose else place
        run = None if self.stopped else self.store.get(task, asked)
        flight = self._flying.get(task.call) if self._flying else None
        if run is None and not self.stopped and flight is None:
            while len(self._flying) >= self.jobs:
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
        if (flight or self._submit(task)).future.done():
            self._collect()

    def _why_stop_replaying(self) -> str:
        if self._interrupts:
            return INTERRUPTED
        kept = self.later.runs if self.later else 0
        spent = self.budget.spent(runs=self.taken + kept)
        return f"{spent}, {kept:,} of them for the verdict" if spent and kept else spent

    @property
    def _kept(self) -> float:
        """Seconds of target time that are kept for the verdict."""
        return self.later.time(self.session.incumbent) if self.later and self.later.counts else 0.0

    def _why_stop(self) -> str:
        kept = self._kept
        passing = kept / self.jobs
        ran = self.budget.spent(target_time=self.store.target_time + kept)
        passed = self.budget.spent(wall_time=self.wall_time + passing)
        return self._why_stop_replaying() or _of_which(ran, kept) or _of_which(passed, passing)

    def _speculate(self, likely: Iterable[Task]) -> None:
        """Give idle workers what the search will probably ask for.

        It is told what was found, for that may change what is likely.
        """
        if self.budget.runs is not None:
            kept = self.later.runs if self.later else 0
            self.history.left = self.budget.runs - kept - self.taken
        ahead = islice(likely, _FARTHEST * self.jobs)
        while len(self._flying) < self.jobs and not self._why_stop():
            task = next(ahead, None)
            if task is None:
                return
            if task.call in self._flying:
                continue
            found = self.store.get(task)
            if found is None:
                self._submit(task)
            else:
                self.history.foresee(found)

    def _submit(self, task: Task) -> _Flight:
        task = self._within_budget(task)
        try:
            future = self.executor.submit(self.target, task)
        except BrokenExecutor as error:
            raise _broken(error) from error
        flight = self._flying[task.call] = _Flight(task, future)
        return flight

    def _within_budget(self, task: Task) -> Task:
        """The task with no more time than is left, where runs may be cut short at all."""
        if self.history.scenario.capping.kind == "none":
            return task
        kept = self._kept
        left = self.budget.left(self.store.target_time + kept, self.wall_time + kept / self.jobs)
        return task._replace(cutoff=min(task.cutoff, max(left, LEAST_CAP)))

    def _collect(self) -> None:
        """Wait until a run is over, store it, and only then let the search see it."""
        finished = [call for call, flight in self._flying.items() if flight.future.done()]
        if not finished:
            self._wait()
            finished = [call for call, flight in self._flying.items() if flight.future.done()]
        for call in finished:
            run = self._run_of(self._flying.pop(call))
            if self._interrupts and run.status is Status.CRASHED:
                # Who stops us may have stopped the run as well; it will be made again.
                self._pending.pop(call, None)
                self.stopped = INTERRUPTED
                continue
            self._keep(run)

    def _wait(self) -> None:
        """Wait until a run is over; meanwhile pass on what the executor has to say of itself."""
        futures = [flight.future for flight in self._flying.values()]
        speaks = hasattr(self.executor, "notices")
        while not wait(futures, _LOOK if speaks else None, FIRST_COMPLETED).done:
            self._pass_on_notices()
        self._pass_on_notices()
        self.jobs = getattr(self.executor, "jobs", self.jobs)  # workers may have come or gone

    def _pass_on_notices(self) -> None:
        for notice in getattr(self.executor, "notices", tuple)():
            self.watcher.notice(notice)

    def _run_of(self, flight: _Flight) -> Run:
        """What became of a run; what reached a cutoff below the scenario's was capped."""
        try:
            run = flight.future.result()._replace(task=flight.task)
        except ParamhsError:
            raise
        except Exception as error:
            raise _broken(error) from error
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
            self.watcher.notice(f"{run.detail}\n  the call was {self._shown(run.task)}")
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
        self._submit(wanted.task)

    def _deliver(self, run: Run) -> None:
        if self._trial:
            self._trial_runs.append(run)
        if run.status in FAILURES:
            self.failed += 1
            self.last_failure = run
        self.session.answer(run)
        if self._trial and self._trial <= {made.task for made in self._trial_runs}:
            self._check_default()
        self._note_points()
        self.watcher.ran(self)

    def _note_points(self) -> None:
        trajectory = self.session.trajectory
        while self._points_seen < len(trajectory):
            point = trajectory[self._points_seen]
            self.store.record(self._points_seen, point)
            self._points_seen += 1
            self.watcher.improved(self, point)

    def _check_default(self) -> None:
        """A target whose default fails at once is broken; its failures are not worth keeping.

        The first runs are those asked for first, not those that end first: failures are quick.
        """
        runs = [run for run in self._trial_runs if run.task in self._trial]
        made = {*self._speculative.values(), *(run.task for run in self._trial_runs)}
        self._trial, self._trial_runs = set(), []
        if not runs or any(run.status not in FAILURES for run in runs):
            return
        self.store.forget(made)
        last = runs[-1]
        raise TargetError(
            f"the target fails with its default configuration, in {len(runs)} of {len(runs)} runs."
            f"\nThe last call was {self._shown(last.task)}"
            f"\nand what came of it:\n{last.detail.rstrip()}"
            "\nThese runs are not kept: mend the target and start again."
        )

    def _shown(self, task: Task) -> str:
        """The call, for people."""
        return self.target.shown(task)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """The first Ctrl-C stops after the runs in flight, the second at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            raise KeyboardInterrupt
        self.watcher.interrupting(STOPPING)


def _of_which(spent: str, kept: float) -> str:
    """Which limit is reached, and what of it is kept for the verdict."""
    return f"{spent}, {time_text(kept)} of it for the verdict" if spent and kept else spent


def _broken(error: Exception) -> TargetError:
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return TargetError(f"the executor could not run the target: {what}. Stored runs are safe.")
