import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.costs import score
from paramhs.core.errors import BadInput
from paramhs.core.scenario import Scenario
from paramhs.search.comparison import FixedRuns
from paramhs.search.history import History
from tests.support.driving import Compared, at, by_pair, instances, noise, ok, one_parameter, settle

SPACE = one_parameter(6)
A, B, C = (at(SPACE, x) for x in range(3))
CONFIGS = list(SPACE.configs())
SCENARIO = Scenario(SPACE, instances(3))


def low_wins(task):
    return ok(task, task.config["x"])


def test_at_least_one_run_is_needed():
    with pytest.raises(BadInput, match="at least 1 run"):
        FixedRuns(0)


def test_a_start_makes_the_runs_of_the_first_pairs():
    compared = Compared(FixedRuns(4), SCENARIO, 7)
    _, (batch,) = settle(compared.start(A), low_wins)
    pairs = History(SCENARIO, 7)
    assert batch == [pairs.task(A, pairs.pair(k)) for k in range(4)]


def test_a_challenger_is_run_on_the_first_pairs():
    compared = Compared(FixedRuns(4), SCENARIO, 7)
    settle(compared.start(A), low_wins)
    _, (batch,) = settle(compared.better(B, A), low_wins)
    pairs = History(SCENARIO, 7)
    assert batch == [pairs.task(B, pairs.pair(k)) for k in range(4)]


def test_a_deterministic_target_has_no_more_runs_than_instances():
    compared = Compared(FixedRuns(100), Scenario(SPACE, instances(3), deterministic=True), 1)
    _, (batch,) = settle(compared.start(A), low_wins)
    assert sorted(task.instance.name for task in batch) == ["i0", "i1", "i2"]


def test_racing_again_costs_no_run():
    compared = Compared(FixedRuns(4), SCENARIO, 1)
    first, _ = settle(compared.better(B, A), low_wins)
    assert settle(compared.better(B, A), low_wins) == (first, [])
    assert compared.history.asked == 8


def test_a_challenger_that_ties_wins():
    compared = Compared(FixedRuns(2), SCENARIO, 1)
    target = by_pair(SCENARIO, 1, lambda config, k: (1.0, 3.0)[k] if config == A else 2.0)
    assert settle(compared.better(B, A), target)[0] is True
    assert settle(compared.better(A, B), target)[0] is True


def test_a_worse_challenger_loses():
    compared = Compared(FixedRuns(2), SCENARIO, 1)
    assert settle(compared.better(B, A), low_wins)[0] is False


def test_the_means_over_all_pairs_are_final():
    compared = Compared(FixedRuns(2), SCENARIO, 1)
    settle(compared.start(A), low_wins)
    settle(compared.better(B, A), low_wins)
    assert set(compared.history.configs) == {A, B}
    assert compared.is_final(B, A)
    assert not compared.is_final(C, A)


@given(
    st.integers(0),
    st.integers(1, 5),
    st.lists(st.permutations(CONFIGS).map(lambda p: p[:2]), min_size=1, max_size=20),
    st.lists(st.sampled_from([0.0, 1.0, 2.5, math.inf]), min_size=30, max_size=30),
)
def test_no_task_is_asked_twice_and_means_over_all_runs_decide(seed, runs, meetings, table):
    def cost(config, k):
        return table[5 * config["x"] + k]

    target = by_pair(SCENARIO, seed, cost)
    compared = Compared(FixedRuns(runs), SCENARIO, seed)
    tasks = []
    for challenger, incumbent in meetings:
        won, batches = settle(compared.better(challenger, incumbent), target)
        tasks += [task for batch in batches for task in batch]
        new, old = (
            score([(cost(config, k),) for k in range(runs)]) for config in (challenger, incumbent)
        )
        assert won == (new <= old)
    assert len(set(tasks)) == len(tasks) == compared.history.asked


def test_costs_are_listed_run_by_run():
    compared = Compared(FixedRuns(3), SCENARIO, 1)
    settle(compared.start(A), lambda task: ok(task, noise(task)))
    pairs = History(SCENARIO, 1)
    assert compared.costs(A) == [(noise(pairs.task(A, pairs.pair(k))),) for k in range(3)]
