"""Many races at once, in which every result is used when it comes."""

from concurrent.futures import Executor, Future
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paramhs
from paramhs.core.capping import Capping
from paramhs.core.costs import Runtime
from paramhs.core.description import description
from paramhs.core.errors import BadInput, StoreError
from paramhs.core.random_streams import stream
from paramhs.core.runs import Run, Status
from paramhs.core.scenario import Scenario
from paramhs.core.space import Integer, Space
from paramhs.execution.driver import Budget, Driver
from paramhs.execution.storage import MemoryStore
from paramhs.search.comparison import FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.configurators import Asynchronous, ParamHS, ParamILS
from paramhs.search.history import History
from paramhs.search.operators import OneParameter, SeveralParameters
from paramhs.search.registry import rebuilt
from tests.support.driving import (
    at,
    by_instance,
    instances,
    noise,
    ok,
    one_parameter,
    random_table,
    total_score,
)

WIDE = Space({"x": range(40), "y": range(40)})
SCENARIO = Scenario(WIDE, instances(3))


class Counted:
    """Best at x = 30 and y = 10, with noise."""

    def __init__(self):
        self.made = 0

    def __call__(self, task):
        self.made += 1
        x, y = task.config["x"], task.config["y"]
        return ok(task, abs(x - 30) + abs(y - 10) + 5 * noise(task))

    def shown(self, task):
        return "counted"


class Shuffled(Executor):
    """Runs end in an order drawn at random, whenever a search waits."""

    def __init__(self, name):
        self.rng = stream(0, name)
        self.waiting = []

    def submit(self, function, /, *args, **kwargs):
        self.waiting.append((Future(), function(*args)))
        return self.waiting[-1][0]

    def end_one(self):
        future, run = self.waiting.pop(int(self.rng.random() * len(self.waiting)))
        future.set_result(run)


class Waiting(Driver):
    def _wait(self):
        self.executor.end_one()


def driven(width=8, store=None, runs=150, jobs=1, target=None, **how):
    history = History(how.pop("scenario", SCENARIO), 1)
    rules = Asynchronous(width, SeveralParameters(), how.pop("comparison", Growing()))
    parts = (target or Counted(), MemoryStore() if store is None else store, Budget(runs=runs))
    kind = Waiting if "executor" in how else Driver
    driver = kind(rules.search(history), history, *parts, jobs=jobs, **how)
    driver.run()
    return driver


def told(driver):
    """All that a search was given, and what it said."""
    points = [(p.config, p.runs, p.cost) for p in driver.record.trajectory]
    return points, [run.task for run in driver.history.runs]


@pytest.mark.parametrize("width", [1, 7, 64])
def test_no_run_is_unused_or_made_twice(width):
    one = driven(width, runs=200)
    calls = [run.task.call for run in one.history.runs]
    assert one.taken == one.new_runs == len(one.store) == 200
    assert len(calls) == len(set(calls))
    assert one.record.speculative == 0


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12), st.integers(1, 120))
def test_a_search_resumes_from_its_store_unchanged(width, jobs, others, runs):
    """However its runs ended, and by another number of workers."""
    store, target = MemoryStore(), Counted()
    executor = Shuffled(f"arrivals {width} {jobs} {runs}")
    first = driven(width, store, runs, jobs, executor=executor)
    again = driven(width, store, runs, others, target)
    assert told(again) == told(first)
    assert target.made == 0
    longer = driven(width, store, runs + 40, others)
    assert told(longer)[1][: len(told(first)[1])] == told(first)[1]
    assert longer.taken == runs + 40


def test_one_run_at_a_time_is_paramhs():
    history = History(SCENARIO, 1)
    search = ParamHS(SeveralParameters()).search(history)
    other = Driver(search, history, Counted(), MemoryStore(), Budget(runs=150))
    other.run()
    assert told(driven(1))[0] == told(other)[0]


def test_the_order_in_which_runs_end_matters():
    """Otherwise nothing above would be shown."""
    drawn = [told(driven(8, jobs=8, executor=Shuffled(f"order {k}")))[1] for k in range(2)]
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("comparison", [Growing(), Growing(1), Focused(), FixedRuns(4)])
@pytest.mark.parametrize("width", [1, 12])
def test_a_small_space_ends_with_the_best_of_all(comparison, width):
    scenario = Scenario(one_parameter(12), instances(4), deterministic=True)
    table = random_table(scenario, 3)
    target = Counted()
    target.__class__ = type("Table", (Counted,), {"__call__": lambda _, t: by_instance(table)(t)})
    one = driven(width, scenario=scenario, runs=1_000, target=target, comparison=comparison)
    assert one.stopped == "all 12 configurations tried"
    best = min(scenario.space.configs(), key=lambda c: total_score(scenario, table, c))
    assert one.record.incumbent == best


def test_it_begins_with_the_initial_configurations():
    first = (at(one_parameter(12), 2), at(one_parameter(12), 7))
    scenario = Scenario(first[0].space, instances(3), initial=first)
    target = type("X", (Counted,), {"__call__": lambda _, t: ok(t, abs(t.config["x"] - 7))})()
    one = driven(2, scenario=scenario, runs=30, target=target)
    assert list(one.history.configs)[1:3] == list(first)
    assert one.record.incumbent == first[1]


def test_a_winner_against_a_former_incumbent_races_the_new_one():
    one = driven(64, runs=900, comparison=FixedRuns(3))
    incumbent, late = WIDE.default, 0
    for race in one.history.races:
        if race.won and race.incumbent == incumbent:
            incumbent = race.challenger
        elif race.won:
            late += 1
            again = [r for r in one.history.races if r.challenger == race.challenger]
            assert len(again) > 1
    assert incumbent == one.record.incumbent
    assert late


def test_no_challenger_wins_on_much_less_evidence_than_the_incumbent_has():
    one = driven(64, runs=900)
    for race in one.history.races:
        if race.won:
            met = one.history.common(race.challenger, race.incumbent)
            assert len(met) >= 3
    assert len(one.record.trajectory) > 2


class Timed(Counted):
    """Takes as long as it is far from the best, and is cut short at its cutoff."""

    def __call__(self, task):
        self.made += 1
        seconds = 0.1 + abs(task.config["x"] - 30) * (1 + noise(task))
        late = Status.TIMEOUT if task.cutoff >= 25 else Status.CAPPED
        return Run(task, Status.OK if seconds <= task.cutoff else late, min(seconds, task.cutoff))


@pytest.mark.parametrize("jobs", [1, 6])
def test_runs_are_capped_and_the_search_resumes_unchanged(jobs):
    preserving = Capping("preserving")
    scenario = Scenario(WIDE, instances(9), Runtime(), 25.0, True, capping=preserving)
    store, again = MemoryStore(), Timed()
    how = {"scenario": scenario, "runs": 200}
    first = driven(6, store, jobs=6, target=Timed(), executor=Shuffled("timed"), **how)
    assert Status.CAPPED in {run.status for run in first.history.runs}
    assert told(driven(6, store, jobs=jobs, target=again, **how)) == told(first)
    assert again.made == 0


def test_a_search_of_another_way_is_refused():
    store = MemoryStore()
    driven(8, store, 50)
    with pytest.raises(StoreError, match="a different search: run"):
        driven(8, store, 60, comparison=FixedRuns(2))


def quality(config, instance, seed):
    return abs(config["x"] - 30) + seed % 5


def tuned(path, **how):
    how = {"space": {"x": range(60)}, "instances": ["a", "b"], "budget": 60, **how}
    return paramhs.tune(quality, **how, store=path, executor="threads")


class TestInAFile:
    def test_a_search_resumes_and_can_be_opened(self, tmp_path):
        path = tmp_path / "runs.sqlite"
        first = tuned(path, jobs=4, asynchronous=True)
        again = tuned(path, jobs=2, asynchronous=4)
        opened = paramhs.load(path)
        assert again.trajectory == first.trajectory == opened.trajectory
        assert again.history.races == first.history.races == opened.history.races
        assert len(paramhs.load(path).runs) == 60
        more = tuned(path, jobs=1, asynchronous=4, budget=90)
        assert more.history.runs[: len(first.history.runs)] == first.history.runs
        assert 0 <= 90 - more.asked <= 4  # a run that two races wait for is one run

    def test_how_many_runs_are_under_way_is_part_of_the_search(self, tmp_path):
        tuned(tmp_path / "runs.sqlite", jobs=4, asynchronous=True)
        with pytest.raises(StoreError, match="width: stored 4, now 2"):
            tuned(tmp_path / "runs.sqlite", jobs=2, asynchronous=True)
        with pytest.raises(StoreError, match="kind: stored"):
            tuned(tmp_path / "runs.sqlite", jobs=4)


def test_only_paramhs_can_be_asynchronous():
    with pytest.raises(BadInput, match="ParamILS cannot be asynchronous: only ParamHS"):
        paramhs.tune(quality, {"x": range(9)}, budget=9, configurator=ParamILS(), asynchronous=True)
    with pytest.raises(BadInput, match="width must be a whole number from 1 on, not 0"):
        Asynchronous(0)


def test_it_is_the_same_again_from_its_description():
    rules = Asynchronous(5, OneParameter(), FixedRuns(3))
    assert rebuilt(description(rules, "the configurator")) == rules


def test_a_crash_of_the_default_stops_it():
    crash = type("C", (Counted,), {"__call__": lambda _, t: Run(t, Status.CRASHED, 0.0)})()
    with pytest.raises(paramhs.TargetError, match="fails with its default"):
        driven(8, target=crash, default=WIDE.default)


@pytest.mark.parametrize("width", [1, 4])
def test_fresh_runs_have_no_common_pairs_and_win_all_the_same(width):
    def target(config, seed):
        return abs(config["x"] - 7) + Random(seed).random()

    configurator = ParamHS(SeveralParameters(), FreshRuns(3))
    how = {"budget": 300, "configurator": configurator, "asynchronous": width}
    result = paramhs.tune(target, {"x": Integer(0, 20, default=20)}, **how)
    assert len(result.trajectory) > 2
    assert result.best["x"] < 12
