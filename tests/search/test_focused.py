"""FocusedILS's comparison, and the searches that it makes."""

import math
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.costs import score
from paramhs.core.errors import BadInput
from paramhs.core.runs import Evaluate
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.search.comparison import Focused
from paramhs.search.configurators import ParamHS, ParamILS
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import SeveralParameters
from paramhs.testing.driving import steps
from tests.support.driving import (
    Compared,
    at,
    begin,
    by_instance,
    by_pair,
    drive,
    instances,
    noise,
    ok,
    one_parameter,
    random_table,
    settle,
    total_score,
)
from tests.support.scale import examples

SPACE = one_parameter(8)
A, B, C, D = (at(SPACE, x) for x in range(4))
CONFIGS = list(SPACE.configs())
SCENARIO = Scenario(SPACE, instances(3))
ORDERS = pytest.mark.parametrize("order", ["drawn", "shared"])


def low_wins(task):
    return ok(task, task.config["x"])


def race(compared, challenger, incumbent, target):
    """Decide, and tell the history as a configurator does."""
    won, batches = settle(compared.better(challenger, incumbent), target)
    compared.history.decide(challenger, incumbent, won)
    return won, batches


def runs_of(compared, config):
    return len(compared.history.costs(config))


@pytest.mark.parametrize("wrong", [{"max_runs": 0}, {"max_runs": 1.5}, {"order": "random"}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(BadInput):
        Focused(**wrong)


def test_a_worse_challenger_loses_after_one_run_and_a_better_one_runs_on_all_pairs():
    compared = Compared(Focused(), SCENARIO, 1)
    settle(compared.start(B), low_wins)
    assert race(compared, C, B, low_wins)[0] is False
    assert (runs_of(compared, C), runs_of(compared, B)) == (1, 3)
    assert race(compared, A, B, low_wins)[0] is True
    assert set(compared.history.costs(A)) > set(compared.history.costs(B))


def test_a_challenger_that_ties_on_all_pairs_wins_and_one_that_ties_on_the_first_loses():
    compared = Compared(Focused(), SCENARIO, 1)
    settle(compared.start(A), low_wins)
    assert race(compared, B, A, lambda task: ok(task, 0.0))[0] is False
    compared = Compared(Focused(max_runs=1), SCENARIO, 1)
    settle(compared.start(A), low_wins)
    assert race(compared, B, A, lambda task: ok(task, 0.0))[0] is True


@ORDERS
def test_the_bonus_is_one_run_for_each_race_since_the_last_that_was_won(order):
    compared = Compared(Focused(order), SCENARIO, 1)
    settle(compared.start(D), low_wins)
    for worse in CONFIGS[4:7]:
        assert not race(compared, worse, D, low_wins)[0]
    assert race(compared, C, D, low_wins)[0]
    assert runs_of(compared, C) == 3 + 4
    assert race(compared, B, C, low_wins)[0]
    assert runs_of(compared, B) == 7 + 1


def test_two_with_the_same_pairs_both_get_a_new_one():
    compared = Compared(Focused(), SCENARIO, 1)
    for config in (A, B):
        settle(compared.start(config), low_wins)
    _, (batch,) = race(compared, B, A, low_wins)
    assert [task.config for task in batch] == [A, B]
    assert batch[0].pair == batch[1].pair == compared.history.pair(3)


def test_in_the_shared_order_everybody_has_the_first_pairs_of_the_list():
    rules = ParamILS(comparison=Focused("shared"))
    history = History(SCENARIO, 4)
    drive(rules.search(history), lambda task: ok(task, noise(task)), runs=600)
    for config in history.configs:
        pairs = history.pairs_of(config)
        assert list(pairs) == history.pairs(0, len(pairs))


def test_in_the_drawn_order_any_pair_of_the_incumbent_may_come_first():
    """Uniformly, and another for each challenger and each incumbent."""
    space = one_parameter(2_000)
    compared = Compared(Focused(), Scenario(space), 1)
    first, second = at(space, 0), at(space, 1)
    for incumbent in (first, second):
        settle(compared.history.ask((incumbent, compared.history.pairs(0, 4))), low_wins)
    met = {first: [], second: []}
    for x in range(2, 2_000):
        for incumbent in (first, second):
            challenger = at(space, x)
            task = next(compared.better(challenger, incumbent)).tasks[0]
            met[incumbent].append(compared.history.pairs_of(incumbent).index(task.pair))
    both = list(zip(*met.values(), strict=True))
    expected = len(both) / 16
    chi2 = sum((both.count((i, j)) - expected) ** 2 / expected for i in range(4) for j in range(4))
    assert chi2 < 56.5  # of 15 degrees of freedom: p < 1e-6


TABLES = st.lists(st.sampled_from([0.0, 1.0, 2.5, math.inf]), min_size=8 * 7, max_size=8 * 7)
MEETINGS = st.lists(st.permutations(CONFIGS).map(lambda p: p[:2]), min_size=1, max_size=25)


@ORDERS
@given(st.integers(0), MEETINGS, TABLES, st.sampled_from([4, 50]))
def test_the_winner_was_run_on_all_pairs_of_the_loser_and_is_no_worse_there(
    order, seed, meetings, table, max_runs
):
    """So it never has fewer runs."""
    target = by_pair(SCENARIO, seed, lambda config, k: table[7 * config["x"] + k % 7])
    compared = Compared(Focused(order, max_runs), SCENARIO, seed)
    tasks = []
    for challenger, incumbent in meetings:
        before = [runs_of(compared, config) for config in (challenger, incumbent)]
        won, batches = race(compared, challenger, incumbent, target)
        tasks += [task for batch in batches for task in batch]
        winner, loser = (challenger, incumbent) if won else (incumbent, challenger)
        better, worse = compared.history.costs(winner), compared.history.costs(loser)
        assert worse.keys() <= better.keys()
        assert score([better[pair] for pair in worse]) <= score([*worse.values()])
        assert batches or before == [max_runs, max_runs]
    assert len(set(tasks)) == len(tasks) == compared.history.asked
    assert max(runs_of(compared, config) for config in CONFIGS) <= max(max_runs, 3)


@ORDERS
@given(st.integers(0))
def test_an_incumbent_never_has_fewer_runs_than_the_one_it_beat(order, seed):
    scenario = Scenario(Space({"x": range(6), "y": range(6)}), instances(3))
    history = History(scenario, seed)
    search = Dialogue(ParamILS(comparison=Focused(order)).search(history))
    runs, incumbent = 0, None
    for step in steps(search, lambda task: ok(task, task.config["x"] + 3 * noise(task))):
        if isinstance(step, Evaluate):
            runs += len(step.tasks)
            if runs >= 150:
                break
            continue
        if incumbent is not None:
            assert len(history.costs(step.config)) >= len(history.costs(incumbent))
        incumbent = step.config


@ORDERS
@examples(15)
@given(st.integers(0), st.integers(0))
def test_with_all_runs_the_best_of_a_small_space_wins(order, seed, tables):
    """Costs are exact: all instances of a deterministic target."""
    scenario = Scenario(Space({"x": range(3), "y": range(2)}), instances(6), deterministic=True)
    table = random_table(scenario, tables)
    best = min(scenario.space.configs(), key=lambda config: total_score(scenario, table, config))
    for rules in (
        ParamILS(comparison=Focused(order)),
        ParamHS(SeveralParameters(), Focused(order)),
    ):
        driven = drive(begin(rules, scenario, seed), by_instance(table))
        assert driven.incumbents[-1] == best


@ORDERS
def test_with_endless_runs_the_true_best_of_a_small_space_wins(order):
    """Bernoulli costs with means 0.2, 0.3, ..., 0.7: from some run on, no other leads."""
    space = one_parameter(6)
    search = ParamILS(comparison=Focused(order)).search(History(Scenario(space), 1))

    def cost(task):
        return ok(task, float(noise(task) < 0.2 + 0.1 * ((task.config["x"] + 3) % 6)))

    driven = drive(search, cost, runs=3_000)
    assert driven.incumbents[-1] == at(space, 3)
    last = max(k for k, event in enumerate(driven.events) if event in space.configs())
    assert last < 2_000


@ORDERS
def test_what_is_likely_is_asked_for_next_while_the_incumbent_survives(order):
    space = Space({"x": range(30), "y": range(30)})
    rules = ParamHS(SeveralParameters(), Focused(order))

    def default_is_best(task):
        return ok(task, noise(task) + 5 * (task.config != space.default))

    history = History(Scenario(space), 1)
    driven = drive(rules.search(history), default_is_best, runs=100, peek=[9] * 50, history=history)
    right = []
    for number, likely in enumerate(driven.looked_at):
        following = [task for later in driven.batches[number + 1 :] for task in later]
        expected = [task for task in likely if task.config != driven.batches[number][-1].config]
        right += [task in following for task in expected]
    assert len(right) > 25
    assert sum(right) > 0.4 * len(right)


def test_many_races_end():
    """A seed for which two that tie could take over from each other."""
    compared = Compared(Focused(max_runs=5), SCENARIO, 1)
    for challenger, incumbent in islice(zip(count(), count(1), strict=False), 12):
        new, old = CONFIGS[challenger % 2], CONFIGS[incumbent % 2]
        race(compared, new, old, lambda task: ok(task, 1.0))
    assert compared.is_final(A, B)
    assert compared.history.asked == 10
