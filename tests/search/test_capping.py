"""Runs that are cut short: what is decided is the same, only sooner."""

import math
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs import Command, tune
from paramhs.analysis.capping_savings import saved, saved_in
from paramhs.core.capping import MIN_CAP, Capping, cap
from paramhs.core.costs import Quality, Runtime, RuntimeThenQuality, score
from paramhs.core.errors import BadInput, StoreError
from paramhs.core.random_streams import stream
from paramhs.core.runs import Evaluate, Incumbent, Run, Status, Target, Task, answer, capped, cut
from paramhs.core.scenario import Scenario
from paramhs.core.space import Ordinal, Space
from paramhs.execution.driver import Budget, Driver, Inline
from paramhs.execution.storage import MemoryStore
from paramhs.execution.storage.sqlite import SqliteStore
from paramhs.execution.targets.command import CommandTarget, Style, Template
from paramhs.search.comparison import FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.comparison.capped_race import meet
from paramhs.search.configurators import ParamHS, ParamILS, ParamRLS
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import SeveralParameters
from paramhs.testing.driving import steps
from tests.support.driving import drive, instances, one_parameter, settle
from tests.support.scale import examples

SPACE = one_parameter(6)
A, B, C, D, E, F = CONFIGS = list(SPACE.configs())
CUTOFF = 20.0
TIMED = Scenario(SPACE, instances(4), Runtime(), CUTOFF)
PRESERVING = replace(TIMED, capping=Capping("preserving"))


def hashed(*things):
    """A number in [0, 1) that is a function of these."""
    return zlib.crc32(repr(things).encode()) / 2**32


class Virtual:
    """A target with a clock of its own: what it takes is a function of the configuration and pair.

    `spread` is how much times differ, from all the same to heavy tails with failures and timeouts.
    """

    def __init__(self, scenario, law, spread):
        self.scenario, self.law, self.spread = scenario, law, spread
        self.seconds = 0.0

    def __call__(self, task):
        seconds, status = self.whole(task)
        if seconds > task.cutoff:
            late = Status.TIMEOUT if task.cutoff == self.scenario.cutoff else Status.CAPPED
            seconds, status = task.cutoff, late
        self.seconds += seconds
        return Run(task, status, seconds, float(task.seed % 3), "")

    def whole(self, task):
        seed = 0 if self.scenario.deterministic else task.seed
        slow = 1 + 0.3 * hashed(self.law, task.config.indices)
        u, kind = (hashed(self.law, task.config.indices, task.instance, seed, k) for k in (0, 1))
        if self.spread == "equal":
            return 1.0, Status.OK
        if self.spread == "ties":
            return float(1 + int(3 * u)), Status.OK
        if self.spread == "zero":
            return round(0.006 * int(3 * u), 3), Status.OK
        seconds = slow * 0.05 / (1.0001 - u) ** 1.5
        failure = {0: Status.CRASHED, 1: Status.WRONG}.get(int(kind * 20))
        if self.spread == "failures" and failure:
            return seconds, failure
        return seconds, Status.OK

    def shown(self, task):
        return str(task)


def drawn(rng_seed):
    """A configurator, a scenario and a target, by this seed."""
    rng = stream(rng_seed, "capping tests")

    def one_of(*things):
        return things[int(rng.random() * len(things))]

    comparison = one_of(
        *(Growing(), Growing(), Growing(1, 9), Growing(2)),
        *(Focused(), Focused("shared"), Focused(max_runs=5)),
        *(FixedRuns(3), FixedRuns(7), FreshRuns(2)),
    )
    configurator = one_of(
        ParamHS(SeveralParameters(), comparison),
        ParamHS(SeveralParameters(), comparison),
        ParamILS(comparison=comparison, random_starts=2),
        ParamRLS(comparison=comparison, replacement=False),
    )
    cost = one_of(Runtime(1.0), Runtime(2.0), Runtime(), RuntimeThenQuality(1.0))
    scenario = Scenario(
        SPACE, instances(one_of(1, 3, 8)), cost, CUTOFF, deterministic=rng.random() < 0.4
    )
    spread = one_of("equal", "ties", "zero", "tails", "tails", "failures", "failures")
    return configurator, scenario, Virtual(scenario, rng_seed, spread)


def searched(configurator, scenario, target, races=25):
    """The first races and incumbents of a search, the statuses of its runs, and its time."""
    history, target = History(scenario, 3), Virtual(scenario, target.law, target.spread)
    search, incumbents = Dialogue(configurator.search(history)), []
    for step in steps(search, target):
        if isinstance(step, Incumbent):
            incumbents.append((len(history.races), step.config))
        if len(history.races) >= races:
            break
    else:
        if len(history.races) < races:
            incumbents.append(search.result)
    search.close()
    decided = [race[:3] for race in history.races[:races]]
    incumbents = [one for one in incumbents if isinstance(one, str) or one[0] < races]
    return decided, incumbents, Counter(run.status for run in history.runs), target.seconds


@examples(25)
@given(st.integers(0, 10**9))
def test_preserving_capping_decides_the_same(seed):
    configurator, scenario, target = drawn(seed)
    capped = replace(scenario, capping=Capping("preserving"))
    plain = searched(configurator, scenario, target)
    cut_short = searched(configurator, capped, target)
    assert cut_short[:2] == plain[:2]
    assert not plain[2][Status.CAPPED]


def test_capping_saves_time():
    target = Virtual(TIMED, 1, "tails")
    plain = searched(ParamHS(), TIMED, target, 60)
    capped = searched(ParamHS(), PRESERVING, target, 60)
    assert capped[3] < plain[3]
    assert capped[2][Status.CAPPED] > 10


@examples(25)
@given(st.integers(0, 10**9), st.sampled_from([None, 1.0, 2.0]))
def test_a_search_with_aggressive_capping_ends_or_resumes(seed, factor):
    """No race is repeated for ever without a run, and a winner has all its costs."""
    configurator, scenario, target = drawn(seed)
    scenario = replace(scenario, capping=Capping("aggressive", factor))
    driven = drive(configurator.search(History(scenario, 3)), target, 300)
    assert driven.ended or len(driven.tasks) >= 300


@given(st.integers(0, 10**9), st.sampled_from(["preserving", "aggressive"]))
@examples(20)
def test_an_incumbent_has_no_run_that_was_cut_short(seed, kind):
    configurator, scenario, target = drawn(seed)
    history = History(replace(scenario, capping=Capping(kind)), 3)
    search = Dialogue(configurator.search(history))
    for step in islice(steps(search, target), 150):
        if isinstance(step, Incumbent):
            cut_short = {r.task.pair for r in history.runs if r.task.config == step.config}
            assert all(history.censored(step.config, pair) is None for pair in cut_short)


# One race.


def by_table(table, scenario=PRESERVING):
    """Answers from {configuration: seconds on each instance}."""

    def target(task):
        seconds = table[task.config][int(task.instance.name[1:])]
        if isinstance(seconds, Status):
            return Run(task, seconds, 0.5)
        if seconds <= task.cutoff:
            return Run(task, Status.OK, seconds)
        late = Status.TIMEOUT if task.cutoff == CUTOFF else Status.CAPPED
        return Run(task, late, task.cutoff)

    return target


FIXED = replace(PRESERVING, deterministic=True)


def met(table, capping=None, challenger=B):
    """Whether the challenger came through all instances, and the cutoffs it was given."""
    scenario = replace(FIXED, capping=capping or Capping("preserving"))
    history = History(scenario, 0)
    pairs = sorted(history.pairs(0, 4))
    target = by_table(table)
    asking = meet(history, challenger, A, pairs, gained=pairs)
    through, batches = settle(asking, target)
    assert batches[0] == [Task(A, *pair, CUTOFF) for pair in pairs]
    assert all(len(batch) == 1 for batch in batches[1:])
    return through, [batch[0].cutoff for batch in batches[1:]]


def test_a_cap_is_what_is_left_of_the_incumbents_time():
    through, caps = met({A: (1, 2, 3, 4), B: (2, 2, 7, 1)})
    assert not through
    assert caps == pytest.approx([10, 8, 6], abs=0.002)


def test_a_challenger_that_is_not_capped_has_all_its_costs():
    assert met({A: (1, 2, 3, 4), B: (4, 3, 2, 1)}) == (True, pytest.approx([10, 6, 3, 1], abs=0.01))


def test_no_cap_is_above_the_cutoff_and_none_below_the_least():
    _, caps = met({A: (19, 19, 19, 19), B: (0, 0, 0, 0)})
    assert caps == [CUTOFF] * 4
    _, caps = met({A: (0, 0, 0, 0), B: (0, 0, 0, 0)})
    assert caps == [MIN_CAP] * 4


def test_a_crash_costs_by_the_scenarios_cutoff_not_by_the_cap():
    assert met({A: (1, 1, 1, 1), B: (Status.CRASHED, 0, 0, 0)}) == (False, [pytest.approx(4, 1e-3)])
    through, caps = met({A: (30, 30, 1, 1), B: (Status.CRASHED, 0, 0, 0)})
    assert through
    assert caps[:2] == [CUTOFF, CUTOFF]


def test_fewer_wrong_answers_win_whatever_the_time():
    through, caps = met({A: (Status.WRONG, 1, 1, 1), B: (5, 5, 5, 5)})
    assert (through, caps) == (True, [CUTOFF] * 4)
    through, caps = met({A: (Status.WRONG, 1, 1, 1), B: (Status.WRONG, 2, 2, 0)})
    assert (through, caps) == (False, [CUTOFF, *(pytest.approx(x, abs=0.01) for x in (3, 1))])
    assert met({A: (1, 1, 1, 1), B: (Status.WRONG, 0, 0, 0)})[0] is False


def test_aggressive_capping_bounds_every_beginning():
    through, caps = met({A: (1, 2, 3, 4), B: (3, 0, 0, 0)}, Capping("aggressive", 2))
    assert (through, caps) == (False, [2.0])
    through, caps = met({A: (1, 2, 3, 4), B: (2, 2, 2, 2)}, Capping("aggressive", 2))
    assert (through, caps) == (True, [2, 4, *(pytest.approx(x, abs=0.01) for x in (6, 4))])


def test_what_was_cut_short_counts_at_once_and_is_made_again_last():
    history = History(FIXED, 0)
    pairs = sorted(history.pairs(0, 4))
    target = by_table({A: (1, 2, 3, 4), B: (1, 3.5, 1, 1)})
    assert settle(meet(history, B, A, pairs[:2], gained=pairs), target)[0] is False
    assert history.at_least(B, pairs[1]) == pytest.approx(2, abs=0.002)
    through, batches = settle(meet(history, B, A, pairs), target)
    assert through
    assert [(b[0].instance.name, b[0].cutoff) for b in batches] == [
        ("i2", pytest.approx(7, abs=0.01)),
        ("i3", pytest.approx(6, abs=0.01)),
        ("i1", pytest.approx(7, abs=0.01)),
    ]


def test_a_quality_is_compared_in_one_request():
    history = History(Scenario(SPACE, instances(4), Quality()), 0)
    pairs = history.pairs(0, 4)
    through, batches = settle(
        meet(history, B, A, pairs, gained=pairs), lambda task: Run(task, Status.OK, 1.0, 1.0)
    )
    assert (through, [len(batch) for batch in batches]) == (True, [8])


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0, 30)), min_size=4, max_size=4))
@examples(25)
def test_no_challenger_that_is_no_worse_is_capped(times):
    table = {A: [a for a, _ in times], B: [b for _, b in times]}
    through, _ = met(table)
    costs = [[(x if x <= CUTOFF else 10 * CUTOFF,) for x in table[config]] for config in (A, B)]
    assert through or score(costs[1]) > score(costs[0])


# Without capping, targets are not told, and all else is the same.


def test_without_capping_a_run_is_known_up_to_the_cap_until_more_is_needed():
    history = History(TIMED, 0)
    pair = history.pair(0)
    given_to = []

    def target(task):
        given_to.append(task.cutoff)
        return Run(task, Status.OK, 7.0)

    settle(history.ask((B, [pair]), cutoff=2.0), target)
    assert given_to == [CUTOFF]
    assert not history.costs(B)
    assert history.at_least(B, pair) == 2.0
    assert history.runs[0].runtime == 7.0
    settle(history.ask((B, [pair]), cutoff=5.0), target)
    assert history.at_least(B, pair) == 5.0
    settle(history.ask((B, [pair])), target)
    assert history.costs(B) == {pair: (7.0,)}
    assert (len(given_to), history.asked, history.learned) == (1, 1, 3)


def test_without_capping_runs_become_known_in_the_same_order():
    """What is remembered takes its place among those that are made."""
    orders = []
    for scenario in (TIMED, PRESERVING):
        history = History(scenario, 0)
        target = by_table({B: (7.0, 7.0, 7.0, 7.0)}, scenario)
        first, second, third = history.pairs(0, 3)
        settle(history.ask((B, [second]), cutoff=2.0), target)
        settle(history.ask((B, [first, second, third])), target)
        orders.append(list(history.pairs_of(B)))
    assert orders == [[first, second, third]] * 2


# Whose runs count as what.

OUTCOMES = st.sampled_from([Status.OK, Status.CRASHED, Status.WRONG])


@given(st.floats(0.01, 30), OUTCOMES, st.floats(0.01, 20), st.floats(0.01, 20))
def test_a_longer_run_answers_as_a_shorter_would_have(seconds, status, one, other):
    def made(cutoff):
        task = Task(A, *History(TIMED, 0).pair(0), cutoff)
        if seconds <= cutoff:
            return Run(task, status, seconds)
        return Run(task, Status.TIMEOUT if cutoff == CUTOFF else Status.CAPPED, cutoff)

    small, large = sorted((one, other))
    small_run = made(small)
    assert answer(made(large), small_run.task)[:3] == small_run[:3]
    assert answer(made(CUTOFF), small_run.task)[:3] == small_run[:3]
    longer = answer(small_run, made(large).task)
    assert longer == (None if small_run.status is Status.CAPPED and small < large else made(large))
    assert cut(made(CUTOFF), CUTOFF) == made(CUTOFF)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.0, MIN_CAP), (0.0001, MIN_CAP), (0.0123, 0.013), (math.inf, math.inf), (5.0, 5.0)],
)
def test_caps_are_rounded_up_and_never_nothing(seconds, expected):
    assert cap(seconds) == expected


# The driver.


class Shared(Virtual):
    """It also keeps what it was asked for."""

    def __init__(self, scenario):
        super().__init__(scenario, 5, "tails")
        self.tasks = []

    def __call__(self, task):
        self.tasks.append(task)
        run = super().__call__(task)
        # As real targets do, it does not know the scenario's cutoff.
        return run._replace(status=Status.TIMEOUT) if run.status is Status.CAPPED else run


RUNS = Budget(runs=150)


def driven(jobs, kind="preserving", store=None, budget=RUNS, executor=None):
    """A driver that has run, and its target; `executor` may finish runs in another order."""
    scenario = replace(TIMED, capping=Capping(kind))
    history, target = History(scenario, 3), Shared(scenario)
    driver = Driver(
        *(
            ParamHS().search(history),
            history,
            target,
            MemoryStore() if store is None else store,
            budget,
        ),
        *(executor or Inline(), jobs),
    )
    driver.run()
    return driver, target


def told(driver):
    """All that a search was told, and what it made of it."""
    return list(driver.history.runs), driver.history.races, driver.record.trajectory


@pytest.mark.parametrize("kind", ["none", "preserving", "aggressive"])
def test_any_number_of_jobs_gives_the_same_search(kind):
    alone, _ = driven(1, kind)
    for jobs in (2, 8):
        with ThreadPoolExecutor(jobs) as pool:
            several, _ = driven(jobs, kind, executor=pool)
        assert told(several) == told(alone)
        assert several.record.speculative > 0


def test_some_runs_of_idle_workers_had_other_caps():
    with ThreadPoolExecutor(8) as pool:
        driver, target = driven(8, executor=pool)
    made = {task.call: task.cutoff for task in target.tasks}
    assert any(made[run.task.call] > run.task.cutoff for run in driver.history.runs)


def test_what_reached_a_cap_is_capped_and_what_reached_the_cutoff_timed_out():
    driver, _ = driven(1, budget=Budget(runs=400))
    statuses = {run.status for run in driver.history.runs}
    assert statuses >= {Status.OK, Status.TIMEOUT, Status.CAPPED}
    for run in driver.history.runs:
        assert (run.status is Status.TIMEOUT) == (run.runtime >= CUTOFF)


def test_a_store_with_capped_runs_is_replayed_exactly(tmp_path):
    """From the middle, and by another number of jobs."""

    def opened():
        return SqliteStore(tmp_path / "runs.sqlite", SPACE, {})

    for runs, jobs in ((40, 1), (80, 3), (110, 8), (150, 3)):
        store = opened()
        with ThreadPoolExecutor(jobs) as pool:
            driven(jobs, store=store, budget=Budget(runs=runs), executor=pool)
        store.close()
    store = opened()
    again, target = driven(1, store=store)
    store.close()
    assert target.tasks == []
    assert told(again) == told(driven(1)[0])


def test_no_run_is_given_more_than_is_left_of_a_budget_in_time():
    budget = Budget(target_time=20.0)
    driver, target = driven(1, budget=budget)
    assert driver.store.target_time <= 20.0 + MIN_CAP
    assert "20 s" in driver.stopped
    whole, unbounded = driven(1)
    known = list(driver.history.runs)
    assert known == list(whole.history.runs)[: len(known)]
    assert target.tasks[-1].cutoff < unbounded.tasks[len(target.tasks) - 1].cutoff


def test_a_run_that_the_budget_cut_short_is_made_again_when_there_is_more():
    store = MemoryStore()
    driven(1, store=store, budget=Budget(target_time=40.0))
    more, _ = driven(1, store=store)
    assert told(more) == told(driven(1)[0])


def test_without_capping_the_runs_that_are_waited_for_are_finished():
    driver, _ = driven(1, "none", budget=Budget(target_time=40.0))
    assert {run.task.cutoff for run in driver.history.runs} == {CUTOFF}


def test_a_run_that_was_speculated_with_too_small_a_cap_is_made_again_within_the_budget():
    """Also if the search may ask for no more runs than this one."""
    scenario = PRESERVING
    history, target = History(scenario, 3), Shared(scenario)
    pairs = history.pairs(0, 2)
    first, second = (Task(A, *pair, CUTOFF) for pair in pairs)

    def search():
        yield Evaluate([first], [second._replace(cutoff=MIN_CAP)])
        yield from history.make([second])
        return "done"

    with ThreadPoolExecutor(2) as pool:
        driver = Driver(
            *(search(), history, target, MemoryStore(), Budget(runs=2)), executor=pool, jobs=2
        )
        driver.run()
    assert (driver.stopped, driver.taken) == ("done", 2)
    assert second in {run.task for run in history.runs}


# The setting.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fast",), "there is no capping 'fast'"),
        (("preserving", 2.0), "only aggressive capping"),
        (("aggressive", 0.5), "at least 1"),
        (("aggressive", math.nan), "at least 1"),
        (("aggressive", True), "at least 1"),
    ],
)
def test_a_capping_must_make_sense(arguments, message):
    with pytest.raises(BadInput, match=message):
        Capping(*arguments)


def test_a_quality_refuses_capping_with_the_reason():
    with pytest.raises(BadInput, match="cannot be known to have lost"):
        Scenario(SPACE, capping=Capping("preserving"))


def test_another_capping_is_another_scenario():
    described = [
        replace(TIMED, capping=capping).describe().get("capping")
        for capping in (Capping(), Capping("preserving"), Capping("aggressive", 2.0))
    ]
    assert described == [None, {"name": "preserving"}, {"name": "aggressive", "factor": 2.0}]


def test_the_factor_falls_with_the_number_of_pairs_unless_it_is_fixed():
    factors = [Capping("aggressive").times(n) for n in (1, 2, 5, 10, 100)]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] >= 1
    assert Capping("aggressive", 3.0).times(7) == 3.0
    assert Capping("preserving").times(7) == math.inf


# What is saved.


def runs_of(ended, cuts):
    """Runs that ended by themselves, and runs that were cut short, after this many seconds."""
    task = Task(A, *History(TIMED, 0).pair(0), CUTOFF)
    whole = [Run(task, Status.OK, seconds) for seconds in ended]
    return [*whole, *(capped(task._replace(cutoff=seconds), seconds) for seconds in cuts)]


@pytest.mark.parametrize(
    ("ended", "cuts", "more"),
    [
        ([1, 2, 4], [1.5], 1.5),  # as those that lasted longer: 2 and 4
        ([1, 2, 4], [0.5], 11 / 6),
        ([1, 2, 4], [5.0], 0.0),  # no run lasted longer
        ([], [3.0], 0.0),
        ([10, 10, 10], [1.0, 1.0], 18.0),
    ],
)
def test_what_is_saved_is_what_those_take_more_that_last_so_long(ended, cuts, more):
    found = saved(runs_of(ended, cuts))
    assert (found.runs, found.seconds) == (len(cuts), sum(cuts))
    assert found.more == pytest.approx(more)


def test_nothing_is_saved_where_nothing_is_cut_short():
    assert saved(runs_of([1, 2], [])) is None


def test_what_only_counts_as_cut_short_saved_nothing():
    history = History(PRESERVING, 0)
    (early, late) = (history.task(A, history.pair(k)) for k in range(2))
    whole = Run(late, Status.OK, 3.0)
    for run in (Run(early, Status.OK, 1.0), cut(whole, 2.0)):
        history.add(run)
    assert history.runs[-1].status is Status.CAPPED
    assert saved_in(history, [Run(early, Status.OK, 1.0), whole]) is None
    assert saved_in(history, history.runs).runs == 1


# For users.


@dataclass(frozen=True)
class Slow(Target):
    """One that takes 0.02 s for each step of x."""

    def __call__(self, task):
        seconds = 0.02 * (1 + task.config["x"])
        late = seconds > task.cutoff
        return Run(task, Status.TIMEOUT if late else Status.OK, min(seconds, task.cutoff))


def tuned(**more):
    return tune(
        Slow(), {"x": range(6)}, budget=30, cost="runtime", cutoff=CUTOFF, executor="inline", **more
    )


def test_tune_cuts_runs_short_where_time_counts():
    result = tuned()
    assert result.history.scenario.capping == Capping("preserving")
    assert result.best["x"] == 0
    assert str(result.capped) in repr(result)
    assert result.to_json()["capping"]["runs"] == result.capped.runs > 0
    none = tuned(capping="none")
    assert none.capped is None
    assert none.to_json()["capping"] is None


def test_tune_takes_a_capping_by_name_or_as_it_is():
    assert tuned(capping="aggressive").history.scenario.capping == Capping("aggressive")
    fixed = Capping("aggressive", 3.0)
    assert tuned(capping=fixed).history.scenario.capping == fixed
    with pytest.raises(BadInput, match="there is no capping 'some'"):
        tuned(capping="some")


def test_another_capping_needs_another_store(tmp_path):
    tuned(store=tmp_path / "runs.sqlite")
    with pytest.raises(StoreError, match="capping"):
        tuned(store=tmp_path / "runs.sqlite", capping="aggressive")


def test_a_new_search_learns_from_runs_that_were_cut_short(tmp_path):
    first = tuned(store=tmp_path / "old.sqlite")
    warm = tuned(store=tmp_path / "new.sqlite", warm_start=tmp_path / "old.sqlite")
    known = warm.history.scenario.known
    assert len(known) == len(first.runs)
    assert {run.status for run in known} >= {Status.OK, Status.CAPPED}


def test_a_command_is_stopped_at_its_cap():
    space = {"s": Ordinal(["0.01", "30"], default="0.01")}
    sleep = Command("sleep {s}", clock="wall")
    result = tune(sleep, space, budget=5, cost="PAR1", cutoff=60.0)
    assert result.stopped == "all 2 configurations tried"
    assert [run.status for run in result.runs] == [Status.OK, Status.CAPPED]


def test_a_command_receives_its_cap_and_irace_in_whole_seconds():
    space = Space({"x": range(3)})
    target = CommandTarget(Template("/bin/true {x} {cutoff}", space, Style()), Path())
    task = Task(space.default, *History(TIMED, 0).pair(0), 1.234)
    assert target.words(task)[-1] == "1.234"
    assert replace(target, cutoff_digits=0).words(task)[-1] == "2"
    assert replace(target, cutoff_digits=1).words(task)[-1] == "1.3"
    assert target.describe() != replace(target, cutoff_digits=0).describe()


class Unequal(Target):
    """A target that takes fifty times as long with one of two values."""

    def __call__(self, task):
        noise = stream(task.seed, "unequal", task.instance.name).uniform(0.8, 1.2)
        seconds = noise * (5.0 if task.config["x"] else 0.1)
        if seconds > task.cutoff:
            return Run(task, Status.TIMEOUT, task.cutoff)
        return Run(task, Status.OK, seconds)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["none", "preserving", "aggressive"])
def test_a_race_that_is_lost_without_a_run_does_not_repeat_for_ever(kind):
    scenario = Scenario(
        Space({"x": [0, 1]}), TIMED.instances, Runtime(), cutoff=10.0, capping=Capping(kind)
    )
    driven = drive(ParamHS().search(History(scenario, 1)), Unequal(), 80)
    assert len(driven.tasks) >= 80
