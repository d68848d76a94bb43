from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.scenario import Scenario
from paramhs.core.space import Integer, Space
from paramhs.search.comparison import FixedRuns, FreshRuns, Growing
from paramhs.search.configurators import IteratedRace, ParamHS, ParamILS, ParamRLS, RestartWalk
from paramhs.search.history import History
from paramhs.search.operators import (
    BothSides,
    Harmonic,
    LStep,
    OneParameter,
    Operator,
    SeveralParameters,
    Uniform,
    UniformRandom,
)
from paramhs.search.registry import CONFIGURATORS
from tests.support.driving import (
    begin,
    by_instance,
    drive,
    instances,
    noise,
    ok,
    random_table,
    total_score,
)
from tests.support.laws import fits
from tests.support.scale import of

TWELVE = Space({"x": range(4), "y": ["a", "b", "c"]})
WIDE = Space({"x": range(30), "y": range(30), "z": ["a", "b", "c"]})

REMEMBERING = {
    **{name: rules for name, rules in CONFIGURATORS.items() if not isinstance(rules, ParamRLS)},
    "one harmonic": ParamHS(OneParameter(Harmonic()), Growing()),
    "one uniform, fixed": ParamHS(OneParameter(Uniform()), FixedRuns(4)),
    "both sides": ParamHS(BothSides(), Growing(2)),
    "several, one run": ParamHS(SeveralParameters(), Growing(1)),
    "ParamILS, harmonic": ParamILS(OneParameter(Harmonic()), FixedRuns(5)),
    "ParamILS, growing": ParamILS(comparison=Growing()),
    "race, t": IteratedRace(test="t", candidates=5, survivors=2),
}
EVERY = {
    **REMEMBERING,
    "paramrls": CONFIGURATORS["paramrls"],
    "fresh": ParamRLS(OneParameter(), FreshRuns(2)),
    "fresh, both sides": ParamRLS(BothSides(), FreshRuns(1)),
    "fresh ParamILS": ParamILS(OneParameter(Harmonic()), FreshRuns(2), walk=RestartWalk()),
}

remembering = pytest.mark.parametrize("rules", REMEMBERING.values(), ids=REMEMBERING)
every = pytest.mark.parametrize("rules", EVERY.values(), ids=EVERY)


def noisy(task):
    return ok(task, abs(task.config.indices[0] - 20) / 10 + noise(task))


def twelve(count, rules=None):
    """Twelve configurations; on a line where only one parameter moves, so that all are in reach."""
    line = isinstance(rules, ParamHS) and isinstance(rules.operator, OneParameter | BothSides)
    space = Space({"x": range(12)}) if line else TWELVE
    return Scenario(space, instances(count), deterministic=True)


@remembering
def test_the_default_is_run_first_and_is_the_first_incumbent(rules):
    driven = drive(begin(rules, Scenario(WIDE, instances(3)), 1), noisy, runs=200)
    assert {task.config for task in driven.batches[0]} == {WIDE.default}
    assert driven.events[len(driven.batches[0])] == WIDE.default
    assert driven.incumbents[0] == WIDE.default


@pytest.mark.parametrize("kind", [ParamRLS, ParamILS])
def test_a_uniform_start_is_run_first_and_is_uniform(kind):
    scenario = Scenario(TWELVE)
    rules = kind(comparison=FixedRuns(1), start="uniform")
    starts = []
    for seed in range(of(1_000, 5_000)):
        driven = drive(begin(rules, scenario, seed), lambda task: ok(task, 1.0), runs=1)
        starts.append(driven.tasks[0].config)
    assert fits(starts, {config: Fraction(1, 12) for config in TWELVE.configs()})


@remembering
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_a_small_space_is_exhausted(rules, count):
    scenario = twelve(count, rules)
    for seed in range(of(2, 20)):
        driven = drive(begin(rules, scenario, seed), by_instance(random_table(scenario, seed)))
        assert driven.ended == "all 12 configurations tried"
        assert set(driven.configs) == set(scenario.space.configs())


@pytest.mark.parametrize("name", [n for n in REMEMBERING if "growing" not in n])
@pytest.mark.parametrize("count", [1, 3, 4, 7])
def test_the_best_of_an_exhausted_space_is_found(name, count):
    """Up to 7 instances, so that every rejection by luck of the first pairs is reopened."""
    rules = REMEMBERING[name]
    scenario = twelve(count, rules)
    runs = min(count, getattr(getattr(rules, "comparison", None), "runs", count))
    for seed in range(of(4, 50)):
        table = random_table(scenario, seed)
        driven = drive(begin(rules, scenario, seed), by_instance(table))
        on = {task.instance for task in driven.batches[0]}
        judged = scenario if runs == count else replace(scenario, instances=tuple(on))
        best = min(scenario.space.configs(), key=lambda c: total_score(judged, table, c))
        assert driven.incumbents[-1] == best


@pytest.mark.parametrize("name", ["paramhs", "random", "both sides", "several, one run"])
@given(st.integers(0), st.integers(0), st.integers(1, 7))
def test_a_search_among_many_ties_ends_with_a_best(name, seed, tables, count):
    """Costs of 0, 1 and 2: as many configurations are equal as where runs are solved or not."""
    rules = REMEMBERING[name]
    scenario = twelve(count, rules)
    table = {key: int(3 * cost) for key, cost in random_table(scenario, tables).items()}
    driven = drive(begin(rules, scenario, seed), by_instance(table))
    best = min(total_score(scenario, table, config) for config in scenario.space.configs())
    assert driven.ended == "all 12 configurations tried"
    assert total_score(scenario, table, driven.incumbents[-1]) == best


def test_equal_means_from_different_costs_do_not_take_over_from_each_other_for_ever():
    space = Space({"x": range(3)})
    scenario = Scenario(space, instances(6), deterministic=True)
    table = {(space.config(x=x), f"i{k}"): float((k + x) % 3) for x in range(3) for k in range(6)}
    for seed in range(of(10, 30)):
        drive(
            ParamHS(OneParameter(), Growing(3)).search(History(scenario, seed)), by_instance(table)
        )


@remembering
def test_a_space_of_one_configuration_ends_after_its_runs(rules):
    scenario = Scenario(Space({"x": [1], "y": ["a"]}), instances(2), deterministic=True)
    driven = drive(begin(rules, scenario, 1), lambda task: ok(task, 1.0))
    assert driven.ended == "there is only one configuration"
    assert len(driven.tasks) == 2
    assert len(driven.incumbents) == 1


@pytest.mark.parametrize(
    "rules", [ParamRLS(OneParameter(), FreshRuns(1)), ParamILS(comparison=FreshRuns(1))]
)
def test_a_space_of_one_configuration_ends_with_fresh_runs_too(rules):
    driven = drive(begin(rules, Scenario(Space({"x": [1]})), 1), lambda task: ok(task, 1.0))
    assert driven.ended
    assert not driven.tasks


@pytest.mark.parametrize("cost", [lambda task: 1.0, noise], ids=["plateau", "noise"])
@pytest.mark.parametrize(
    "rules",
    [
        ParamHS(SeveralParameters(), Growing(3, 40)),
        ParamHS(UniformRandom(), Growing(1, 40)),
        ParamHS(OneParameter(LStep(1)), Growing(3, 40)),
        ParamHS(BothSides(), Growing(2, 40)),
        ParamRLS(OneParameter(), Growing(2, 40)),
        ParamHS(OneParameter(), FixedRuns(10)),
        ParamILS(comparison=FixedRuns(10)),
    ],
)
def test_a_search_of_a_random_target_ends_when_all_is_known_that_can_be(rules, cost):
    scenario = Scenario(TWELVE, instances(2))
    driven = drive(begin(rules, scenario, 1), lambda task: ok(task, cost(task)))
    assert driven.ended
    assert len(driven.tasks) == len(set(driven.tasks)) <= 12 * 40


@every
def test_a_seed_decides_the_whole_search(rules):
    def events(seed):
        return drive(begin(rules, Scenario(WIDE, instances(3)), seed), noisy, runs=300).events

    assert events(1) == events(1)
    assert events(1) != events(2)


@every
@given(st.integers(0), st.lists(st.sampled_from([0, 0, 1, 7, 50]), max_size=60))
def test_looking_at_likely_tasks_changes_nothing(rules, seed, peek):
    scenario = Scenario(WIDE, instances(3))
    plain = drive(begin(rules, scenario, seed), noisy, runs=60)
    history = History(scenario, seed)
    looked = drive(rules.search(history), noisy, runs=60, peek=peek, history=history)
    assert looked.events == plain.events


class Impatient(Operator):
    """An operator that says when it is drawn from for ever."""

    def __init__(self, operator):
        self.operator = operator
        self.drawn = 0

    def sample(self, *arguments):
        self.drawn += 1
        assert self.drawn < 100_000, "moves are drawn for ever"
        return self.operator.sample(*arguments)

    def distribution(self, *arguments):
        return self.operator.distribution(*arguments)


@pytest.mark.parametrize("comparison", [Growing(), Growing(1), FixedRuns(4)])
@pytest.mark.parametrize("count", [1, 4, 7])
def test_looking_at_likely_tasks_of_a_small_space_changes_nothing_and_ends(comparison, count):
    """Where nothing more is likely, the list of likely tasks is short."""
    scenario = twelve(count)
    for seed in range(3):
        target = by_instance(random_table(scenario, seed))
        plain = drive(ParamHS(OneParameter(), comparison).search(History(scenario, seed)), target)
        operator = Impatient(OneParameter())
        history = History(scenario, seed)
        search = ParamHS(operator, comparison).search(history)
        assert drive(search, target, peek=[50] * 1_000, history=history).events == plain.events


@pytest.mark.parametrize("comparison", [Growing(), FixedRuns(3)])
@pytest.mark.parametrize(
    "operator", [OneParameter(), SeveralParameters(), UniformRandom(), BothSides()]
)
def test_what_is_likely_is_asked_for_next_while_the_incumbent_survives(operator, comparison):
    scenario = Scenario(WIDE, instances(3))
    history = History(scenario, 1)
    search = ParamHS(operator, comparison).search(history)

    def default_is_best(task):
        return ok(task, noise(task) + 5 * (task.config != WIDE.default))

    driven = drive(search, default_is_best, runs=600, peek=[0] * 40 + [20] * 20, history=history)
    assert len(driven.incumbents) == 1
    right = []
    for number, (batch, likely) in enumerate(zip(driven.batches, driven.looked_at, strict=True)):
        following = [task for later in driven.batches[number + 1 :] for task in later]
        expected = dict.fromkeys(task for task in likely if task not in batch)
        right += [task in following for task in expected]
    assert len(right) > 50
    assert sum(right) > 0.5 * len(right)


def test_what_is_likely_is_asked_for_next_in_a_local_search():
    scenario = Scenario(WIDE, instances(3))
    history = History(scenario, 1)
    search = ParamILS(comparison=FixedRuns(3), random_starts=0).search(history)

    def default_is_best(task):
        return ok(task, float(task.config != WIDE.default))

    driven = drive(search, default_is_best, runs=120, peek=[0, *[9] * 10], history=history)
    following = [task for later in driven.batches for task in later]
    made_early = [task for likely in driven.looked_at for task in likely]
    assert len(made_early) > 50
    assert set(made_early) <= set(following)


@given(st.integers(0), st.integers(0))
def test_growing_never_goes_back_to_a_configuration_that_is_worse_on_all_pairs(seed, tables):
    scenario = twelve(3)
    table = random_table(scenario, tables)
    driven = drive(CONFIGURATORS["paramhs"].search(History(scenario, seed)), by_instance(table))
    for old, new in pairwise(driven.incumbents):
        assert total_score(scenario, table, new) <= total_score(scenario, table, old)


def test_random_search_proposes_in_uniformly_random_order():
    space = Space({"x": Integer(0, 4, default=0)})
    scenario = Scenario(space, instances(3), deterministic=True)
    orders = []
    for seed in range(of(2_000, 5_000)):
        search = CONFIGURATORS["random"].search(History(scenario, seed))
        driven = drive(search, lambda task: ok(task, 10.0 * task.config["x"]), runs=15)
        orders.append(tuple(config["x"] for config in driven.configs[1:]))
    assert fits(orders, {order: Fraction(1, 24) for order in permutations(range(1, 5))})


@pytest.mark.parametrize("searches", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_search_is_uniform_wherever_the_incumbent_is(searches):
    space = Space({"x": range(4), "y": range(3)})
    scenario = Scenario(space)
    best = space.config(x=3, y=2)
    after = []
    for seed in range(searches):
        search = ParamRLS(UniformRandom(), FreshRuns(1)).search(History(scenario, seed))
        driven = drive(search, lambda task: ok(task, float(task.config != best)), runs=40)
        proposals = [batch[0].config for batch in driven.batches]
        if best in proposals[:-1]:
            after.append(proposals[proposals.index(best) + 1])
    others = [config for config in space.configs() if config != best]
    assert len(after) > 0.8 * searches
    assert fits(after, {config: Fraction(1, 11) for config in others})
