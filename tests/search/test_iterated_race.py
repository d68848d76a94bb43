"""A race of many: its tests, held to scipy's and to what they promise, and its searches."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paramhs.core.costs import Runtime
from paramhs.core.distribution_tails import f_tail, t_tail
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from paramhs.core.runs import Evaluate
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.search.configurators import IteratedRace
from paramhs.search.configurators.iterated_race import _by_rank, _test
from paramhs.search.configurators.iterated_race_tests import Friedman, PairedT, _ranks, _sign_test
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import UniformRandom
from paramhs.testing.driving import steps
from tests.support.driving import begin, drive, instances, noise, ok

WIDE = Space({"x": range(30), "y": range(30)})
SCENARIO = Scenario(WIDE, instances(3))


def noisy(task):
    x, y = task.config.indices
    return ok(task, abs(x - 20) / 10 + abs(y - 3) / 10 + noise(task))


# The tests of many.

FREEDOMS = [1, 2, 3, 7, 30, 200, 5_000]


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_tails_of_t_are_those_of_scipy(freedom):
    for t in (0.0, 0.01, 0.5, 1.0, 2.0, 3.7, 12.0, 100.0):
        assert t_tail(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-9)


@pytest.mark.parametrize("between", FREEDOMS)
@pytest.mark.parametrize("within", FREEDOMS)
def test_tails_of_f_are_those_of_scipy(between, within):
    for f in (0.0, 0.01, 0.5, 1.0, 1.1, 2.0, 3.7, 12.0, 100.0):
        expected = stats.f.sf(f, between, within)
        assert f_tail(f, between, within) == pytest.approx(expected, rel=1e-8, abs=1e-290)


def table(seed, many, pairs, levels=None, shift=0.0):
    """Costs of this many candidates; with few levels there are ties."""
    rng = stream(seed, "table", many, pairs)

    def cost(i):
        value = rng.random() + shift * i
        return (value if levels is None else float(int(value * levels)),)

    return [[cost(i) for _ in range(pairs)] for i in range(many)]


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, math.inf]), min_size=1, max_size=9))
def test_ranks_are_those_of_scipy(costs):
    assert _ranks([(cost,) for cost in costs]) == list(stats.rankdata(costs))


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_is_that_of_scipy(first, second):
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert _sign_test(first, second) == pytest.approx(expected)


def worse_by_hand(costs, alpha):
    """Friedman's test with Conover's comparisons, from scipy's parts."""
    many, pairs = len(costs), len(costs[0])
    plain = [[c for (c,) in own] for own in costs]
    ranks = [stats.rankdata(on_pair) for on_pair in zip(*plain, strict=True)]
    sums = [sum(column) for column in zip(*ranks, strict=True)]
    chi2 = stats.friedmanchisquare(*plain).statistic
    f = (pairs - 1) * chi2 / (pairs * (many - 1) - chi2)
    freedom = (pairs - 1) * (many - 1)
    if stats.f.sf(f, many - 1, freedom) >= alpha:
        return set()
    squares = sum(r * r for on_pair in ranks for r in on_pair)
    unit = math.sqrt(2 * (pairs * squares - sum(s * s for s in sums)) / freedom)
    least = stats.t.isf(alpha / 2, freedom) * unit
    return {i for i, total in enumerate(sums) if total - min(sums) > least}


@pytest.mark.parametrize("levels", [None, 4])
def test_friedmans_test_is_the_one_made_of_scipys_parts(levels):
    found = 0
    for seed in range(60):
        many, pairs = 3 + seed % 5, 5 + seed % 11
        costs = table(seed, many, pairs, levels, shift=0.15)
        worse = worse_by_hand(costs, 0.1)
        assert Friedman(0.9).worse(costs) == worse
        found += bool(worse)
    assert 10 < found < 60


def test_the_paired_t_test_is_scipys_with_holms_correction():
    found = 0
    for seed in range(60):
        costs = table(seed, 2 + seed % 5, 5 + seed % 11, shift=0.15)
        plain = [[c for (c,) in own] for own in costs]
        best = min(plain, key=math.fsum)
        values = {
            i: stats.ttest_rel(own, best).pvalue for i, own in enumerate(plain) if own is not best
        }
        ordered = sorted(values, key=values.get)
        held = [values[i] * (len(ordered) - k) < 0.1 for k, i in enumerate(ordered)]
        expected = set(ordered[: held.index(False) if False in held else len(held)])
        assert PairedT(0.9).worse(costs) == expected
        found += bool(expected)
    assert 10 < found < 60


@pytest.mark.parametrize("test", [Friedman(), PairedT()])
def test_equals_and_single_ones_stay_and_failures_leave(test):
    assert test.worse([[(1.0,)] * 9]) == set()
    assert test.worse([[(1.0,)] * 9] * 2) == set()
    assert test.worse([[(1.0,)] * 9] * 4) == set()
    assert test.worse([[(math.inf,)] * 9] * 3) == set()
    fine = [(float(k),) for k in range(9)]
    assert test.worse([fine, [(math.inf,)] * 9, fine]) == {1}
    assert test.worse([fine, [(math.inf,)] * 9]) == {1}


def test_the_same_ranks_on_two_pairs_prove_little_and_on_five_enough():
    for pairs, worse in ((2, set()), (5, {1, 2})):
        assert Friedman().worse([[(float(i),)] * pairs for i in range(3)]) == worse


@pytest.mark.parametrize("test", [Friedman(0.9), PairedT(0.9)])
@pytest.mark.parametrize("many", [2, 3, 8])
def test_at_one_look_the_best_of_equals_is_lost_no_more_often_than_is_stated(test, many):
    """All have the same law, so any of them is a best one: the first is lost with probability at
    most 0.1, and so of 600 independent looks 100 or more with probability below 1e-6."""
    lost = sum(0 in test.worse(table(seed, many, 12)) for seed in range(600))
    assert stats.binom.sf(99, 600, 0.1) < 1e-6
    assert lost < 100


def test_a_test_at_a_fourfold_error_rate_would_be_found():
    lost = sum(bool(Friedman(0.6).worse(table(seed, 2, 12))) for seed in range(600))
    assert lost >= 100


# Races.


@pytest.mark.parametrize(
    "wrong",
    [
        {"operator": 5},
        {"candidates": 2, "survivors": 2},
        {"candidates": 1},
        {"candidates": 4.0},
        {"survivors": 0},
        {"first_test": 1},
        {"first_test": 9, "max_runs": 8},
        {"confidence": 0.0},
        {"confidence": 1},
        {"test": "wilcoxon"},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(BadInput):
        IteratedRace(**wrong)


def test_parents_are_drawn_by_rank():
    counts = [0, 0, 0]
    for k in range(600):
        counts[_by_rank(3, (k + 0.5) / 600)] += 1
    assert counts == [300, 200, 100]


@pytest.mark.parametrize("test", ["friedman", "t"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_race_uses_common_pairs_and_those_of_the_elites(seed, test):
    """What is written of a race, read from its requests and incumbents."""
    history = History(SCENARIO, seed)
    search = Dialogue(IteratedRace(test=test).search(history))
    incumbent, runs = None, 0
    for step in steps(search, noisy):
        if isinstance(step, Evaluate):
            runs += len(step.tasks)
            if runs >= 600:
                break
            continue
        if incumbent is not None:
            before, now = history.costs(incumbent), history.costs(step.config)
            assert before.keys() <= now.keys()
        incumbent = step.config
    assert len(history.costs(incumbent)) > 10
    assert max(map(len, map(history.costs, history.configs))) == len(history.costs(incumbent))


def test_the_clearly_worse_leave_after_the_first_test():
    space = Space({"x": range(100)})
    scenario = Scenario(space)
    rules = IteratedRace(UniformRandom(), candidates=12, survivors=2)
    history = History(scenario, 1)

    def cost(task):
        return ok(task, noise(task) + 10 * (task.config.indices[0] % 10 != 0))

    drive(rules.search(history), cost, runs=400)
    runs = {config: len(history.costs(config)) for config in history.configs}
    bad = [n for config, n in runs.items() if config.indices[0] % 10]
    assert len(bad) > 20
    assert max(bad) <= 6
    assert max(runs.values()) > 12


def test_a_better_elite_is_the_likelier_parent_and_the_eliminated_do_not_return():
    history = History(SCENARIO, 1)
    driven = drive(IteratedRace().search(history), noisy, runs=800)
    lost = [race.challenger for race in history.races if not race.won]
    assert len(lost) == len(set(lost)) > 30
    for earlier, later in pairwise(history.races):
        assert earlier.asked <= later.asked
    assert driven.incumbents[1:] == [race.challenger for race in history.races if race.won]


def test_runtimes_are_tested_by_their_means_and_qualities_by_ranks():
    timed = Scenario(WIDE, cost=Runtime(), cutoff=100.0)
    assert _test(IteratedRace(confidence=0.9), History(SCENARIO, 1)) == Friedman(0.9)
    assert _test(IteratedRace(), History(timed, 1)) == PairedT(0.95)
    assert _test(IteratedRace(test="t"), History(SCENARIO, 1)) == PairedT(0.95)
    assert _test(IteratedRace(test="friedman"), History(timed, 1)) == Friedman(0.95)


def test_the_candidate_with_the_best_mean_is_never_eliminated():
    """x = 0 is better on nine pairs of ten, and a hundred times worse on the others."""
    space = Space({"x": [0, 1]})
    history = History(Scenario(space), 3)

    def cost(task):
        rare = noise(task) < 0.1
        return ok(task, 1.0 if task.config["x"] else 50.0 if rare else 0.5)

    driven = drive(
        IteratedRace(candidates=2, survivors=1, max_runs=200).search(history), cost, runs=400
    )
    assert driven.incumbents[-1] == space.config(x=1)
    assert history.costs(space.config(x=1))


def test_initial_configurations_race_first():
    initial = tuple(WIDE.config(x=k, y=k) for k in range(14))
    scenario = Scenario(WIDE, instances(3), initial=initial)
    driven = drive(begin(IteratedRace(candidates=8), scenario, 1), noisy, runs=120)
    assert {task.config for task in driven.batches[1]} - {WIDE.default} == set(initial)


def test_all_candidates_are_asked_for_at_once_and_the_next_pair_is_likely():
    rules = IteratedRace(candidates=10, survivors=2)
    driven = drive(begin(rules, SCENARIO, 1), noisy, runs=100, peek=[0, 10, 10, 10])
    assert {task.config for task in driven.batches[0]} == {WIDE.default}
    assert len({task.config for task in driven.batches[1]}) == 10
    assert len({task.pair for task in driven.batches[1]}) == 5
    likely, following = driven.looked_at[1], driven.batches[2]
    assert set(following) <= set(likely)


def test_runs_known_before_are_used_and_not_asked_for_again():
    first = drive(begin(IteratedRace(), SCENARIO, 1), noisy, runs=150)
    known = tuple(noisy(task) for task in first.tasks)
    history = History(Scenario(WIDE, instances(3), initial=first.configs[-1:], known=known), 2)
    driven = drive(IteratedRace().search(history), noisy, runs=150)
    assert not set(driven.tasks) & set(first.tasks)
    assert len(history.costs(WIDE.default)) > len(
        {t for t in driven.tasks if t.config == WIDE.default}
    )
