import os
import threading
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import ThreadPoolExecutor as Threads
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs import Budget, Result, Watcher, tune
from paramhs.core.errors import BadInput, StoreError, TargetError
from paramhs.core.random_streams import stream
from paramhs.core.runs import Evaluate, Point, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Integer, Space
from paramhs.core.space import space as spaces
from paramhs.execution.driver import INTERRUPTED, Driver, Inline
from paramhs.execution.storage import MemoryStore, Store
from paramhs.execution.storage.sqlite import SqliteStore
from paramhs.execution.targets import FunctionTarget
from paramhs.search.comparison import FixedRuns
from paramhs.search.configurators import ParamILS, ParamRLS
from paramhs.search.history import History
from paramhs.search.operators import several_parameters as several
from paramhs.search.registry import CONFIGURATORS
from tests.support.children import output
from tests.support.driving import noise, ok, one_parameter
from tests.support.scale import examples, slow
from tests.support.stores import rows
from tests.support.targets import SPACE, failing_by_default, noisy, noisy_with_pauses

pytestmark = pytest.mark.forks

SCENARIO = Scenario(one_parameter(100))


@dataclass
class Counted:
    """A target that counts its runs, each of this many seconds."""

    seconds: float = 0.0
    made: list[Task] = field(default_factory=list)

    def __call__(self, task: Task) -> Run:
        self.made.append(task)
        quality = abs(task.config["x"] - 70) + 10 * noise(task)
        return Run(task, Status.OK, self.seconds, quality)


def driver(target=None, store: Store | None = None, scenario=SCENARIO, **limits) -> Driver:
    """One in this process; `limits` may also hold its `jobs`, `executor` and `watcher`."""
    parts = {name: limits.pop(name) for name in ("jobs", "executor", "watcher") if name in limits}
    history = History(scenario, 0)
    return Driver(
        CONFIGURATORS["paramhs"].search(history),
        history,
        target or Counted(),
        MemoryStore() if store is None else store,
        Budget(**limits),
        default=scenario.space.default,
        **parts,
    )


def done(*args, **limits) -> Driver:
    driven = driver(*args, **limits)
    driven.run()
    return driven


def steps(points: Sequence[Point]) -> list[tuple[object, ...]]:
    """A trajectory without measured time."""
    return [(p.config, p.runs, p.cost, p.evidence) for p in points]


def test_a_budget_in_runs_is_met_exactly():
    for runs in (1, 2, 3, 4, 50, 333):
        target = Counted()
        driven = done(target, runs=runs)
        assert driven.taken == len(target.made) == len(driven.store) == runs
        assert driven.stopped == f"the budget of {runs} runs is spent"


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_target_time_is_exceeded_by_no_more_than_the_runs_in_flight(jobs):
    target = Counted(seconds=0.75)
    with Threads(jobs) as pool:
        driven = done(target, target_time=100.0, jobs=jobs, executor=pool)
    assert driven.stopped == "the budget of 100 s of target time is spent"
    assert 100 <= 0.75 * len(driven.store) < 100 + 0.75 * jobs


@given(st.lists(st.floats(0.01, 3), min_size=30, max_size=30), st.floats(1, 20))
def test_no_run_is_started_after_target_time_is_spent(seconds, limit):
    made = []

    def target(task):
        made.append(seconds[len(made) % 30])
        return Run(task, Status.OK, made[-1], noise(task))

    driven = done(target, target_time=limit, runs=3000)
    assert sum(made[:-1]) < limit + 1e-9
    assert len(made) == driven.taken


@pytest.fixture
def clock(monkeypatch):
    """The driver's clock, moved by hand."""
    now = SimpleNamespace(seconds=1000.0)
    by_hand = SimpleNamespace(monotonic=lambda: now.seconds)
    monkeypatch.setattr("paramhs.execution.driver.budget.time", by_hand)
    return now


def test_no_run_is_started_after_wall_time_is_spent(clock):
    made = Counted()

    def target(task):
        clock.seconds += 1.5
        return made(task)

    driven = done(target, wall_time=30.0)
    assert driven.taken == len(made.made) == 20
    assert driven.stopped == "the budget of 30 s of wall time is spent"


def test_wall_time_of_earlier_sessions_counts(clock):
    store = MemoryStore()
    store.wall_time = 27.0

    def target(task):
        clock.seconds += 1.5
        return ok(task, noise(task))

    assert done(target, store, wall_time=30.0).taken == 2


@pytest.mark.parametrize(
    ("limits", "spent"),
    [
        ({"runs": 10, "target_time": 100.0, "wall_time": 1e6}, "10 runs"),
        ({"runs": 1000, "target_time": 5.0, "wall_time": 1e6}, "5 s of target time"),
        ({"runs": 1000, "target_time": 1e6, "wall_time": 7.0}, "7 s of wall time"),
    ],
)
def test_whichever_limit_is_first_stops(clock, limits, spent):
    def target(task):
        clock.seconds += 1.0
        return Run(task, Status.OK, 1.0, noise(task))

    assert done(target, **limits).stopped == f"the budget of {spent} is spent"


@pytest.mark.parametrize("name", ["runs", "target_time", "wall_time"])
@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_a_limit_that_is_not_positive_is_refused(name, limit):
    with pytest.raises(
        BadInput, match=f"the budget's {name} must be a positive number.*not {limit}"
    ):
        Budget(**{name: limit})


def test_an_exhausted_space_ends_the_search():
    scenario = Scenario(one_parameter(12), deterministic=True)
    driven = done(Counted(), scenario=scenario)
    assert driven.stopped == "all 12 configurations tried"
    assert driven.taken == 12


def test_the_same_budget_again_makes_no_new_run():
    store = MemoryStore()
    first = done(store=store, runs=200)
    target = Counted()
    again = done(target, store, runs=200)
    assert target.made == []
    assert again.new_runs == 0
    assert again.record.trajectory == first.record.trajectory
    assert again.stopped == first.stopped


def test_a_larger_budget_extends_a_search():
    store, target = MemoryStore(), Counted()
    done(store=store, runs=120)
    extended = done(target, store, runs=300)
    assert len(target.made) == extended.new_runs == 180
    assert extended.record.trajectory == done(runs=300).record.trajectory


def test_the_same_target_time_again_makes_no_new_run_and_finds_the_same():
    store, target = MemoryStore(), Counted(0.5)
    first = done(Counted(0.5), store, target_time=60.0)
    again = done(target, store, target_time=60.0)
    assert target.made == []
    assert again.record.trajectory == first.record.trajectory


def test_target_time_spent_by_many_jobs_finds_the_same_again():
    store, target = MemoryStore(), Counted(0.5)
    with Threads(8) as pool:
        first = done(Counted(0.5), store, target_time=60.3, jobs=8, executor=pool)
    again = done(target, store, target_time=60.3)
    assert len(first.record.trajectory) > 1
    assert again.taken == first.taken
    assert again.record.trajectory == first.record.trajectory


def test_the_same_wall_time_again_finds_what_was_found(tmp_path):
    def slow(config, seed):
        threading.Event().wait(0.01)
        return abs(config["x"] - 70) + seed % 5

    limits = {"budget": Budget(wall_time=0.8), "store": tmp_path / "runs.sqlite"}
    first = tune(slow, SCENARIO.space, **limits)
    again = tune(slow, SCENARIO.space, **limits)
    assert first.asked > 5
    assert again.asked >= first.asked
    assert again.trajectory[: len(first.trajectory)] == first.trajectory


BUDGET = 60


def tuned(function=noisy, **how) -> Result:
    return tune(function, **{"space": SPACE, "instances": ["i", "j"], "budget": BUDGET, **how})


scenarios = st.fixed_dictionaries(
    {
        "space": st.sampled_from(
            [SPACE, {"x": range(30)}, {"x": range(5), "mode": ["a", "b"]}, {"mode": ["a", "b"]}]
        ),
        "instances": st.sampled_from([None, ["i"], [1, 2, 3]]),
        "seed": st.integers(0, 10**6),
        "configurator": st.sampled_from(sorted(CONFIGURATORS)),
        "deterministic": st.booleans(),
        "budget": st.integers(1, 80),
    }
)


@examples(20)
@given(scenarios, st.sampled_from([2, 8]))
def test_threads_do_not_change_the_trajectory(scenario, jobs):
    alone = tuned(noisy, **scenario)
    together = tuned(noisy_with_pauses, **scenario, jobs=jobs, executor="threads")
    assert steps(together.trajectory) == steps(alone.trajectory)
    assert together.asked == alone.asked
    assert together.stopped == alone.stopped
    assert (together.best_cost, together.default_cost) == (alone.best_cost, alone.default_cost)


@examples(6)
@given(scenarios, st.sampled_from([1, 2, 8]))
def test_processes_do_not_change_the_trajectory(scenario, jobs):
    alone = tuned(noisy, **scenario)
    together = tuned(noisy_with_pauses, **scenario, jobs=jobs, executor="processes")
    assert steps(together.trajectory) == steps(alone.trajectory)
    assert together.asked == alone.asked


@pytest.mark.parametrize("configurator", sorted(CONFIGURATORS))
@pytest.mark.parametrize("pool", [Threads, ProcessPoolExecutor])
@pytest.mark.parametrize("jobs", [slow(1), 2, slow(8)])
def test_executors_of_ones_own_do_not_change_the_trajectory(pool, jobs, configurator):
    alone = tuned(configurator=configurator)
    with pool(2) as executor:
        together = tuned(noisy_with_pauses, configurator=configurator, jobs=jobs, executor=executor)
        assert executor.submit(abs, -1).result() == 1
    assert steps(together.trajectory) == steps(alone.trajectory)


class Lazy(Executor):
    """Runs what it was given when it pleases: the last first, in a thread of its own."""

    def __init__(self, name: str) -> None:
        self.rng = stream(0, name)
        self.waiting: list[tuple[Future[Run], object, Task]] = []
        self.changed = threading.Condition()
        self.open = True
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def submit(self, function, /, *args, **kwargs):
        future: Future[Run] = Future()
        with self.changed:
            self.waiting.append((future, function, *args))
            self.changed.notify()
        return future

    def _work(self):
        while self.open:
            with self.changed:
                self.changed.wait_for(lambda: self.waiting or not self.open)
                if not self.open:
                    return
                self.waiting.sort(key=lambda _: self.rng.random())
                future, function, task = self.waiting.pop()
            if future.set_running_or_notify_cancel():
                future.set_result(function(task))

    def shutdown(self, wait=True, *, cancel_futures=False):
        with self.changed:
            self.open = False
            self.changed.notify()
        self.thread.join()


@examples(15)
@given(st.integers(1, 12), st.integers(1, 200))
def test_the_order_in_which_runs_end_does_not_change_the_trajectory(jobs, runs):
    with Lazy(f"lazy {jobs} {runs}") as executor:
        driven = done(runs=runs, jobs=jobs, executor=executor)
    alone = done(runs=runs)
    assert steps(driven.record.trajectory) == steps(alone.record.trajectory)
    assert driven.taken == runs


def test_no_more_than_jobs_runs_are_in_flight():
    flying, most, lock = 0, 0, threading.Lock()

    def target(task):
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        threading.Event().wait(0.001)
        with lock:
            flying -= 1
        return ok(task, noise(task))

    with Threads(16) as pool:
        done(target, runs=100, jobs=4, executor=pool)
    assert 2 <= most <= 4


def test_speculative_runs_are_counted_apart():
    with Threads(8) as pool:
        driven = done(runs=100, jobs=8, executor=pool)
    assert driven.taken == 100
    assert driven.record.speculative == len(driven.store) - 100 > 0


@pytest.mark.parametrize("jobs", [slow(4), 16, slow(64)])
def test_most_speculative_runs_are_used_where_few_challengers_win(jobs):
    """Those to come are known, and what came of their first runs decides about the next."""
    alone, driven = (done(runs=600, jobs=number) for number in (1, jobs))
    assert steps(driven.record.trajectory) == steps(alone.record.trajectory)
    assert driven.taken > 0.5 * len(driven.store)


def test_one_job_makes_no_speculative_run():
    driven = done(runs=100)
    assert driven.record.speculative == 0


def test_speculative_runs_are_used_when_they_are_asked_for():
    """As idle workers leave them: some that a longer search asks for, and one that it does not."""
    whole, store, target = Counted(), MemoryStore(), Counted()
    alone = done(whole, runs=200)
    done(store=store, runs=100)
    never = whole.made[0]._replace(seed=whole.made[0].seed + 1)
    for task in (*whole.made[120:180:7], never):
        store.put(Counted()(task))
    extended = done(target, store, runs=200)
    assert target.made == [task for task in whole.made[100:] if task not in whole.made[120:180:7]]
    assert steps(extended.record.trajectory) == steps(alone.record.trajectory)


class Noted(Watcher):
    def __init__(self):
        self.heard = []

    def started(self, record, progress):
        self.heard.append("started")

    def ran(self, record, progress):
        self.heard.append("ran")

    def improved(self, record, progress, point):
        self.heard.append(point)

    def notice(self, text):
        self.heard.append(text)

    interrupting = notice

    def ended(self, record, progress):
        self.heard.append(("ended", progress.stopped))


def test_a_watcher_sees_every_run_and_every_incumbent():
    watcher = Noted()
    driven = done(runs=150, watcher=watcher)
    assert watcher.heard[0] == "started"
    assert watcher.heard[-1] == ("ended", "the budget of 150 runs is spent")
    assert watcher.heard.count("ran") == 150
    points = [heard for heard in watcher.heard if isinstance(heard, Point)]
    assert points == driven.record.trajectory
    for point in points:
        assert watcher.heard[: watcher.heard.index(point)].count("ran") == point.runs - 1


def test_a_watcher_sees_runs_that_come_from_the_store():
    store, watcher = MemoryStore(), Noted()
    done(store=store, runs=50)
    done(store=store, runs=50, watcher=watcher)
    assert watcher.heard.count("ran") == 50


def test_a_watcher_receives_the_notices_of_a_store():
    store, watcher = MemoryStore(), Noted()
    store.notices.append("slow disk")
    done(store=store, runs=5, watcher=watcher)
    assert watcher.heard[:2] == ["started", "slow disk"]


def test_a_watcher_sees_the_end_when_the_target_raises():
    watcher = Noted()

    def target(task):
        raise Stopped

    with pytest.raises(Stopped):
        done(target, runs=5, watcher=watcher)
    assert watcher.heard == ["started", ("ended", "")]


def test_a_base_watcher_looks_away():
    assert done(runs=5, watcher=Watcher()).taken == 5


@pytest.mark.parametrize("how", [{}, {"executor": "threads", "jobs": 4}, {"jobs": 2}])
def test_a_default_that_crashes_stops_with_the_call_and_the_traceback(tmp_path, how):
    path = tmp_path / "runs.sqlite"
    with pytest.raises(TargetError) as caught:
        tune(failing_by_default, {"x": range(10)}, budget=50, store=path, **how)
    message = str(caught.value)
    assert "the target fails with its default configuration, in 1 of 1 runs" in message
    assert "tests.support.targets:failing_by_default({'x': 4})" in message
    assert "ZeroDivisionError: no answer today" in message
    assert "in failing_by_default" in message
    assert rows(path) == set()


def test_a_default_that_crashes_is_found_even_if_the_budget_is_smaller_than_its_first_runs():
    def failing(config, seed):
        raise ZeroDivisionError

    with pytest.raises(TargetError):
        tune(failing, {"x": range(10)}, budget=1)


def test_a_fixed_target_starts_again_on_the_same_store(tmp_path):
    path, licence = tmp_path / "runs.sqlite", tmp_path / "licence"

    def repaired(config, seed):
        if not licence.exists():
            raise ValueError("broken")
        return config["x"] + seed % 3

    with pytest.raises(TargetError, match="3 of 3 runs"):
        tune(repaired, {"x": range(10)}, budget=50, store=path)
    licence.touch()
    result = tune(repaired, {"x": range(10)}, budget=50, store=path)
    assert {row[4] for row in rows(path)} == {"ok"}
    assert result.best["x"] == 0


def test_a_default_that_crashes_now_and_then_continues():
    def fragile(config, seed):
        if config["x"] == 4 and stream(seed, "fragile").random() < 0.5:
            raise ValueError
        return config["x"]

    assert tune(fragile, {"x": range(10)}, budget=100).best["x"] < 4


def test_quick_failures_among_the_first_runs_do_not_count_before_slow_answers():
    """However many jobs: what was asked for first is judged, not what ends first."""
    quick = threading.Event()

    def fragile(config, instance, seed):
        if instance in (7, 8, 9):
            if instance == 9:
                quick.set()
            raise ValueError("at once")
        quick.wait(5)
        return config["x"]

    how = {"instances": range(10), "executor": "threads", "jobs": 10, "budget": 30}
    configurator = ParamILS(comparison=FixedRuns(10))
    for seed in range(3):
        tune(fragile, {"x": range(10)}, configurator=configurator, seed=seed, **how)


def test_a_default_that_is_run_later_may_crash():
    def fragile(config, seed):
        if config["x"] == 4:
            raise ValueError
        return config["x"]

    configurator = ParamRLS(start="uniform")
    for seed in (0, 2, 3):  # which do not start there
        tune(fragile, {"x": range(10)}, configurator=configurator, budget=40, seed=seed)


def test_no_run_of_a_broken_default_is_kept_however_many_were_made(tmp_path):
    def failing(config, instance, seed):
        raise ValueError

    path = tmp_path / "runs.sqlite"
    how = {"instances": range(20), "executor": "threads", "jobs": 8, "budget": 90}
    with pytest.raises(TargetError, match="3 of 3 runs"):
        tune(
            failing,
            {"x": range(10)},
            configurator=ParamILS(comparison=FixedRuns(20)),
            store=path,
            **how,
        )
    assert rows(path) == set()


@pytest.mark.parametrize(
    ("highest", "listable"), [(25, 10), pytest.param(299, 10, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("configurator", ["paramhs", "paramils", "random"])
def test_a_search_continues_where_nearly_all_is_forbidden(
    configurator, highest, listable, monkeypatch
):
    """Among more configurations than are ever listed."""
    for module in (several, spaces):
        monkeypatch.setattr(module, "MAX_LISTED_CONFIGS", listable)
    number = Integer(0, highest, default=0)
    space = Space({"a": number, "b": number}, forbidden=["a > 3", "b > 3"])
    result = tune(lambda c: c["a"] + c["b"], space, budget=40, configurator=configurator)
    assert result.stopped


def test_a_crash_in_later_runs_is_data():
    def fragile(config, seed):
        if config["x"] > 4:
            raise ValueError("too large")
        return 10 - config["x"] + seed % 2

    result = tune(fragile, {"x": range(10)}, budget=200)
    assert result.best["x"] == 4
    crashed = [run for run in result.runs if run.status is Status.CRASHED]
    assert crashed
    assert {run.task.config["x"] > 4 for run in crashed} == {True}
    assert all("ValueError: too large" in run.detail for run in crashed)


class Broken(Executor):
    """One whose workers are gone."""

    def __init__(self, after: int, at_submit: bool) -> None:
        self.after, self.at_submit = after, at_submit

    def submit(self, function, /, *args, **kwargs):
        self.after -= 1
        future: Future[Run] = Future()
        if self.after >= 0:
            future.set_result(function(*args))
        elif self.at_submit:
            raise BrokenExecutor("a process died")
        else:
            future.set_exception(BrokenExecutor("a process died"))
        return future


@pytest.mark.parametrize("at_submit", [False, True])
def test_a_broken_executor_is_reported_and_stored_runs_are_kept(at_submit):
    driven = driver(runs=50, executor=Broken(7, at_submit))
    with pytest.raises(
        TargetError, match="could not run the target: BrokenExecutor: a process died"
    ):
        driven.run()
    assert len(driven.store) == 7


def test_inline_runs_at_once_in_the_calling_thread():
    future = Inline().submit(threading.get_ident)
    assert future.done()
    assert future.result() == threading.get_ident()


def test_a_search_in_another_thread_leaves_signals_alone():
    found = []
    thread = threading.Thread(target=lambda: found.append(done(runs=20).taken))
    thread.start()
    thread.join()
    assert found == [20]


def test_an_interrupt_stops_after_the_run_in_flight():
    target, watcher = Counted(), Noted()

    def interrupting(task):
        if len(target.made) == 10:
            driven.interrupt()
        return target(task)

    driven = driver(interrupting, runs=100, watcher=watcher)
    driven.run()
    assert driven.stopped == INTERRUPTED
    assert driven.taken == len(driven.store) == 11
    assert "stopping after the runs in flight; Ctrl-C again stops at once" in watcher.heard


@pytest.mark.parametrize("position", range(3, 12))
def test_no_run_is_started_after_an_interrupt(position):
    target, started_after = Counted(), []

    def interrupting(task):
        if driven.interrupted:
            started_after.append(task)
        elif len(target.made) == position:
            threading.Event().wait(0.02)  # until the driver waits for this run
            driven.interrupt()
        return target(task)

    with Threads(1) as pool:
        driven = driver(interrupting, runs=100, executor=pool)
        driven.run()
    assert driven.stopped == INTERRUPTED
    assert started_after == []


class Stopped(BaseException):
    """As if the process ended here."""


def stopping_at(position: int):
    """Targets that end the process at this place."""
    calls, answer = 0, FunctionTarget.answer

    def stopping(self, arguments):
        nonlocal calls
        calls += 1
        if calls > position:
            raise Stopped
        return answer(self, arguments)

    return patch.object(FunctionTarget, "answer", stopping)


def failing_at(position: int):
    """A store whose file fails at this place."""
    calls, put = 0, SqliteStore.put

    def failing(self, run, asked=None):
        nonlocal calls
        calls += 1
        if calls > position:
            raise StoreError("the disk is full")
        put(self, run)

    return patch.object(SqliteStore, "put", failing)


crashes = st.lists(st.tuples(st.sampled_from(["target", "store"]), st.integers(0, 40)), max_size=4)


def crashed_and_resumed(path: Path, crashes, **how) -> Result:
    for kind, position in crashes:
        before = rows(path)
        with (
            suppress(Stopped, StoreError),
            stopping_at(position) if kind == "target" else failing_at(position),
        ):
            tuned(store=path, **how)
        assert rows(path) >= before
    before = rows(path)
    result = tuned(store=path, **how)
    assert rows(path) >= before
    return result


@examples(20)
@given(crashes, st.integers(0, 10**6), st.sampled_from(sorted(CONFIGURATORS)))
def test_a_search_crashed_anywhere_and_resumed_is_the_uninterrupted_one(
    crashes, seed, configurator
):
    how = {"seed": seed, "configurator": configurator}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        resumed = crashed_and_resumed(path, crashes, **how)
        assert len(rows(path)) == resumed.asked
    whole = tuned(**how)
    assert (resumed.asked, resumed.stopped) == (whole.asked, whole.stopped)
    assert steps(resumed.trajectory) == steps(whole.trajectory)


@examples(10)
@given(crashes, st.sampled_from([2, 5]))
def test_threads_crashed_anywhere_and_resumed_give_the_uninterrupted_search(crashes, jobs):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        resumed = crashed_and_resumed(path, crashes, jobs=jobs, executor="threads")
    assert steps(resumed.trajectory) == steps(tuned().trajectory)


SHOW_TRAJECTORIES = """
import sys
from paramhs import tune
from tests.support.targets import SPACE, noisy
for name in sys.argv[1:]:
    result = tune(noisy, SPACE, instances=["i", "j"], budget=100, configurator=name)
    print([(point.config.key, point.runs, point.cost) for point in result.trajectory])
"""


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_trajectory_is_the_same_in_other_processes_with_other_hash_seeds(seed):
    names = sorted(CONFIGURATORS)
    here = (tuned(budget=100, configurator=name).trajectory for name in names)
    expected = [str([(p.config.key, p.runs, p.cost) for p in points]) for points in here]
    there = output(SHOW_TRAJECTORIES, *names, PYTHONHASHSEED=seed)
    assert there.splitlines() == expected


def test_a_search_that_asks_twice_for_a_run_at_once_is_refused():
    history = History(SCENARIO, 0)

    def twice():
        task = history.task(SCENARIO.space.default, history.pair(0))
        yield Evaluate([task, task])
        return "never"

    stuck = Driver(twice(), history, Counted(), MemoryStore(), Budget(runs=10))
    with pytest.raises(BadInput, match="the same run twice"):
        stuck.run()


def test_a_driver_needs_no_default():
    history = History(SCENARIO, 0)
    crashed = Driver(
        CONFIGURATORS["random"].search(history),
        history,
        lambda task: Run(task, Status.CRASHED, 0.0),
        MemoryStore(),
        Budget(runs=10),
    )
    crashed.run()
    assert crashed.taken == 10


def test_processes_are_not_made_for_one_job_without_a_cutoff():
    pids = set()
    tune(lambda config: pids.add(os.getpid()) or config["x"], {"x": range(5)}, budget=5)
    assert pids == {os.getpid()}
