from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from paramhs.core.errors import BadInput
from paramhs.core.scenario import FIXED_SEED, Scenario
from paramhs.search.comparison import FreshRuns
from paramhs.search.configurators import ParamHS, ParamRLS
from paramhs.search.operators import OneParameter
from tests.support.driving import (
    Compared,
    at,
    begin,
    drive,
    instances,
    noise,
    ok,
    one_parameter,
    settle,
)

SPACE = one_parameter(5)
A, B, C = (at(SPACE, x) for x in range(3))
SCENARIO = Scenario(SPACE, instances(3), cutoff=2.0)


def low_wins(task):
    return ok(task, task.config["x"])


def noisy(task):
    return ok(task, noise(task))


def test_at_least_one_run_is_needed():
    with pytest.raises(BadInput, match="at least 1 run"):
        FreshRuns(0)


def test_a_start_costs_nothing():
    compared = Compared(FreshRuns(4), SCENARIO, 1)
    assert settle(compared.start(A), low_wins) == (True, [])
    assert compared.history.asked == 0


@given(st.integers(0), st.integers(1, 6))
def test_each_call_makes_new_runs_of_both_at_once(seed, runs):
    compared = Compared(FreshRuns(runs), SCENARIO, seed)
    for call in range(1, 5):
        _, (batch,) = settle(compared.better(A, B), low_wins)
        assert [task.config for task in batch] == [A] * runs + [B] * runs
        assert {task.cutoff for task in batch} == {2.0}
        assert compared.history.asked == 2 * runs * call


@given(st.integers(0), st.integers(1, 6))
def test_no_pair_of_instance_and_seed_is_ever_used_again(seed, runs):
    compared = Compared(FreshRuns(runs), SCENARIO, seed)
    tasks = []
    for challenger, incumbent in [(A, B), (B, A), (A, B), (C, A), (A, C)] * 4:
        _, batches = settle(compared.better(challenger, incumbent), noisy)
        tasks += batches[0]
    assert len({(task.instance, task.seed) for task in tasks}) == len(tasks)
    assert len({task.seed for task in tasks}) == len(tasks)


@given(st.integers(0), st.integers(1, 7))
def test_both_are_run_on_the_same_instances(seed, runs):
    compared = Compared(FreshRuns(runs), Scenario(SPACE, instances(5)), seed)
    for _ in range(4):
        _, (batch,) = settle(compared.better(A, B), noisy)
        names = [task.instance.name for task in batch]
        assert names[:runs] == names[runs:]


def test_the_better_mean_wins_on_either_side():
    compared = Compared(FreshRuns(3), SCENARIO, 1)
    for _ in range(50):
        assert settle(compared.better(A, B), low_wins)[0] is True
        assert settle(compared.better(B, A), low_wins)[0] is False


def test_a_fair_coin_decides_ties():
    compared = Compared(FreshRuns(1), SCENARIO, 1)
    calls = 20_000
    wins = sum(settle(compared.better(A, B), lambda task: ok(task, 1.0))[0] for _ in range(calls))
    assert binomtest(wins, calls).pvalue > 1e-6  # fails for one seed in a million


def test_the_coin_also_decides_ties_of_runs_without_a_usable_cost():
    compared = Compared(FreshRuns(1), SCENARIO, 2)
    calls = 20_000
    wins = sum(
        settle(compared.better(A, B), lambda task: ok(task, float("nan")))[0] for _ in range(calls)
    )
    assert binomtest(wins, calls).pvalue > 1e-6  # fails for one seed in a million


def test_calls_are_independent_of_each_other():
    compared = Compared(FreshRuns(1), SCENARIO, 3)
    calls = 20_000
    answers = [settle(compared.better(A, B), noisy)[0] for _ in range(calls + 1)]
    repeats = sum(a == b for a, b in pairwise(answers))
    assert binomtest(repeats, calls).pvalue > 1e-6  # fails for one seed in a million
    assert binomtest(sum(answers[1:]), calls).pvalue > 1e-6  # the same


def test_nothing_is_ever_final():
    compared = Compared(FreshRuns(2), SCENARIO, 1)
    settle(compared.better(A, B), low_wins)
    assert not compared.is_final(B, A)


def test_the_history_keeps_the_runs_of_all_calls():
    compared = Compared(FreshRuns(2), SCENARIO, 1)
    settle(compared.better(A, B), low_wins)
    settle(compared.better(C, A), low_wins)
    assert compared.costs(C) == [(2.0,)] * 2
    assert compared.costs(A) == [(0.0,)] * 4
    assert compared.costs(B) == [(1.0,)] * 2


def test_a_seed_decides_all_tasks_and_answers():
    def answers(seed):
        compared = Compared(FreshRuns(2), SCENARIO, seed)
        return [settle(compared.better(A, B), lambda task: ok(task, 0.0)) for _ in range(30)]

    assert answers(1) == answers(1)
    assert answers(1) != answers(2)


@pytest.mark.parametrize("runs", [1, 2, 7])
def test_a_deterministic_target_is_run_once_an_instance(runs):
    """With its one seed it would say the same again; a call still takes the next instances."""
    scenario = Scenario(SPACE, instances(5), deterministic=True)
    for rules in (
        ParamRLS(OneParameter(), FreshRuns(runs)),
        ParamHS(OneParameter(), FreshRuns(runs)),
    ):
        driven = drive(begin(rules, scenario, 1), low_wins)
        assert driven.ended
        assert driven.incumbents[-1] == A
        assert {task.seed for task in driven.tasks} == {FIXED_SEED}
        assert len(driven.tasks) == len(set(driven.tasks)) == 5 * 5
