import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driving import by_pair, instances, one_parameter, settle
from paramhs.search.comparison import Growing
from paramhs.values.costs import score
from paramhs.values.errors import BadInput
from paramhs.values.scenario import Pairs, Scenario

SPACE = one_parameter(6)
A, B, C, D, E, F = CONFIGS = list(SPACE.configs())
RANDOM = Scenario(SPACE, instances(3))
SEED = 1


def fixed(count):
    """A deterministic scenario."""
    return Scenario(SPACE, instances(count), deterministic=True)


class Meetings:
    """A contest whose runs cost what `costs(config, k)` says on the k-th pair."""

    def __init__(self, costs, rules=None, scenario=RANDOM, seed=SEED):
        self.contest = (rules or Growing()).begin(scenario, seed)
        self.target = by_pair(scenario, seed, costs)
        self.pairs = Pairs(scenario, seed)
        self.tasks = []

    def enter(self, config):
        return self._settle(self.contest.enter(config))

    def better(self, challenger, incumbent):
        return self._settle(self.contest.better(challenger, incumbent))

    def _settle(self, asking):
        answer, batches = settle(asking, self.target)
        self.tasks += [task for batch in batches for task in batch]
        self.batches = [[(t.config, self.k(t)) for t in batch] for batch in batches]
        return answer

    def k(self, task):
        return next(k for k in range(5000) if self.pairs.task(task.config, k) == task)

    def runs(self, config):
        return len(self.contest.costs(config))


def spread(k):
    """Costs that differ from pair to pair, and so show whether a parameter has an effect."""
    return float(k % 7)


def ranked(config, k):
    """A is best, on every pair."""
    return spread(k) + config["x"]


@pytest.mark.parametrize(("few", "most"), [(0, 5), (-1, 5), (6, 5)])
def test_the_numbers_of_runs_must_make_sense(few, most):
    with pytest.raises(BadInput, match="min_runs"):
        Growing(few, most)


def test_by_default_three_runs_come_first():
    assert Growing().min_runs == 3


@pytest.mark.parametrize(("min_runs", "first"), [(1, 3), (2, 3), (3, 3), (5, 5)])
def test_a_start_makes_min_runs_and_at_least_three(min_runs, first):
    meetings = Meetings(ranked, Growing(min_runs))
    assert meetings.enter(A) is True
    assert meetings.batches == [[(A, k) for k in range(first)]]


def test_a_start_makes_no_more_runs_than_there_are():
    meetings = Meetings(ranked, scenario=fixed(2))
    meetings.enter(A)
    assert meetings.runs(A) == 2
    meetings = Meetings(ranked, Growing(1, max_runs=1))
    meetings.enter(A)
    assert meetings.runs(A) == 1


def test_the_incumbent_gains_one_run_for_every_challenger():
    meetings = Meetings(ranked)
    meetings.enter(A)
    for met, challenger in enumerate([B, C, D, E, F], start=1):
        assert meetings.better(challenger, A) is False
        assert meetings.runs(A) == 3 + met


def test_the_incumbent_gains_a_run_when_it_meets_a_challenger_again():
    meetings = Meetings(ranked)
    meetings.enter(A)
    for met in range(1, 6):
        meetings.better(B, A)
        assert meetings.runs(A) == 3 + met


def test_the_incumbent_gains_no_more_than_max_runs():
    meetings = Meetings(ranked, Growing(max_runs=5))
    meetings.enter(A)
    for challenger in CONFIGS[1:]:
        meetings.better(challenger, A)
    assert meetings.runs(A) == 5


def test_the_incumbent_of_a_deterministic_target_gains_no_more_than_one_run_an_instance():
    meetings = Meetings(ranked, scenario=fixed(5))
    meetings.enter(A)
    for challenger in CONFIGS[1:]:
        meetings.better(challenger, A)
    assert meetings.runs(A) == 5
    assert len({task.instance for task in meetings.tasks if task.config == A}) == 5


def test_a_challenger_comes_in_doubling_batches():
    meetings = Meetings(lambda config, k: spread(k) - (config == B))
    meetings.enter(A)
    for _ in range(20):
        meetings.better(C, A)
    assert meetings.better(B, A) is True
    assert [len([1 for config, _ in batch if config == B]) for batch in meetings.batches] == [
        3,
        3,
        6,
        12,
    ]
    assert meetings.runs(B) == meetings.runs(A) == 24


def test_batches_begin_with_min_runs_and_the_last_is_cut_short():
    meetings = Meetings(lambda config, k: spread(k) - (config == B), Growing(2))
    meetings.enter(A)
    for _ in range(7):
        meetings.better(C, A)
    meetings.better(B, A)
    assert [len([1 for config, _ in batch if config == B]) for batch in meetings.batches] == [
        2,
        2,
        4,
        3,
    ]


def test_a_challenger_meets_the_incumbent_on_the_same_pairs_from_the_first():
    meetings = Meetings(lambda config, k: spread(k) - (config == B))
    meetings.enter(A)
    meetings.better(B, A)
    assert meetings.batches == [[(A, 3), (B, 0), (B, 1), (B, 2)], [(B, 3)]]


def test_a_challenger_is_rejected_as_soon_as_its_mean_is_worse():
    meetings = Meetings(lambda config, k: spread(k) + (10 * (k == 4) - 1) * (config == B))
    meetings.enter(A)
    for _ in range(20):
        meetings.better(C, A)
    assert meetings.better(B, A) is False
    assert meetings.runs(B) == 6


def test_a_challenger_is_not_rejected_before_min_runs():
    meetings = Meetings(lambda config, k: spread(k) + ((5, 5, -99)[min(k, 2)] * (config == B)))
    meetings.enter(A)
    assert meetings.better(B, A) is True


def test_with_one_run_at_first_a_challenger_may_be_rejected_on_it():
    def costs(config, k):
        return spread(k) + (1 if k == 0 else -9) * (config == B)

    meetings = Meetings(costs, Growing(1))
    meetings.enter(A)
    assert meetings.better(B, A) is False
    assert meetings.runs(B) == 1


def test_a_challenger_takes_over_only_after_all_pairs_of_the_incumbent():
    def costs(config, k):
        return spread(k) + (config == B) * (1000 if k == 22 else -1)

    meetings = Meetings(costs)
    meetings.enter(A)
    for _ in range(20):
        meetings.better(C, A)
    assert meetings.better(B, A) is False
    assert meetings.runs(B) == meetings.runs(A) == 24


def test_a_challenger_with_an_equal_mean_that_has_an_effect_takes_over():
    meetings = Meetings(lambda config, k: float((k + config["x"]) % 2), Growing(4), fixed(4))
    meetings.enter(A)
    assert meetings.better(B, A) is True


@pytest.mark.parametrize("min_runs", [1, 2, 3])
def test_the_incumbent_is_never_dropped_on_one_or_two_runs(min_runs):
    meetings = Meetings(lambda config, k: spread(k) - (config == B), Growing(min_runs))
    assert meetings.better(B, A) is True
    assert meetings.runs(A) >= 3
    assert meetings.runs(B) >= 3


@pytest.mark.parametrize("count", [1, 2])
def test_the_incumbent_is_dropped_on_fewer_runs_only_where_there_are_no_more(count):
    meetings = Meetings(lambda config, k: spread(k) - (config == B), scenario=fixed(count))
    meetings.enter(A)
    assert meetings.better(B, A) is True
    assert meetings.runs(A) == meetings.runs(B) == count


def test_a_challenger_equal_pair_by_pair_is_set_aside_after_the_first_few():
    meetings = Meetings(lambda config, k: spread(k))
    meetings.enter(A)
    for _ in range(20):
        meetings.better(C, A)
    assert meetings.better(B, A) is False
    assert meetings.runs(B) == 3
    assert B in meetings.contest.settled


@pytest.mark.parametrize("min_runs", [1, 2])
def test_equality_on_one_or_two_pairs_sets_nobody_aside(min_runs):
    def costs(config, k):
        return spread(k) - (config == B and k >= 3)

    meetings = Meetings(costs, Growing(min_runs))
    meetings.enter(A)
    for _ in range(6):
        meetings.better(E, A)
    assert meetings.better(B, A) is True


def test_a_challenger_equal_in_mean_only_is_not_set_aside():
    def costs(config, k):
        if config == B:
            return -9.0 if k > 2 else (2.0, 1.0, 0.0)[k]
        return spread(k)

    meetings = Meetings(costs)
    meetings.enter(A)
    for _ in range(6):
        meetings.better(C, A)
    assert meetings.better(B, A) is True


def test_three_equal_timeouts_do_not_set_a_challenger_aside():
    meetings = Meetings(lambda config, k: 50.0 if k < 3 or config != B else 1.0)
    meetings.enter(A)
    for _ in range(8):
        meetings.better(C, A)
    assert meetings.better(B, A) is True


def timeouts_met(rounds):
    """Whether a challenger is set aside after meeting on nothing but equal costs."""
    meetings = Meetings(lambda config, k: 50.0)
    meetings.enter(A)
    for _ in range(rounds):
        assert meetings.better(C, A) is False
    return meetings.runs(C), C in meetings.contest.settled


def test_11_equal_timeouts_do_not_set_a_challenger_aside():
    assert timeouts_met(8) == (11, False)


def test_12_equal_timeouts_set_a_challenger_aside():
    assert timeouts_met(9) == (12, True)


def test_a_challenger_equal_on_all_pairs_there_are_is_set_aside():
    meetings = Meetings(lambda config, k: 50.0, scenario=fixed(4))
    meetings.enter(A)
    assert meetings.better(B, A) is False
    assert B in meetings.contest.settled
    assert meetings.runs(B) == 4


def test_a_challenger_equal_on_all_pairs_so_far_may_come_again():
    meetings = Meetings(lambda config, k: 50.0)
    meetings.enter(A)
    assert meetings.better(B, A) is False
    assert B not in meetings.contest.settled
    asked = len(meetings.tasks)
    meetings.better(B, A)
    assert len(meetings.tasks) > asked


def test_runs_without_a_usable_cost_are_equal_to_each_other():
    meetings = Meetings(lambda config, k: math.nan, scenario=fixed(4))
    meetings.enter(A)
    assert meetings.better(B, A) is False
    assert B in meetings.contest.settled


def test_a_rejected_challenger_is_settled():
    meetings = Meetings(ranked)
    meetings.enter(A)
    meetings.better(B, A)
    assert set(meetings.contest.settled) == {B}
    assert set(meetings.contest.tried) == {A, B}


def test_a_new_incumbent_reopens_all_but_the_beaten():
    meetings = Meetings(ranked)
    meetings.enter(B)
    meetings.better(C, B)
    meetings.better(D, B)
    assert meetings.better(A, B) is True
    assert set(meetings.contest.settled) == {B}


def test_a_new_incumbent_reopens_nobody_once_all_were_met_on_all_pairs():
    meetings = Meetings(ranked, scenario=fixed(3))
    meetings.enter(B)
    meetings.better(C, B)
    assert meetings.better(A, B) is True
    assert set(meetings.contest.settled) == {B, C}


def test_deepening_doubles_the_runs_on_which_a_challenger_is_judged():
    def costs(config, k):
        return spread(k) + (config == B) * (1.0 if k < 3 else -9.0)

    meetings = Meetings(costs)
    meetings.enter(A)
    assert meetings.better(B, A) is False
    assert meetings.contest.deepen(A) is True
    assert B not in meetings.contest.settled
    assert meetings.better(B, A) is True
    assert meetings.runs(B) == 6


def deepened(excess, runs):
    """Whether B is still settled after `runs` runs each, B costing excess(k) more on pair k."""
    meetings = Meetings(
        lambda config, k: spread(k) + (excess(k) if config == B else 0.0), Growing(runs, 2 * runs)
    )
    meetings.enter(A)
    assert meetings.better(B, A) is False
    meetings.contest.deepen(A)
    return B in meetings.contest.settled


def test_deepening_leaves_out_the_clearly_worse():
    assert deepened(lambda k: 10.0 + k % 2, 8)


def test_deepening_leaves_out_those_without_usable_costs():
    assert deepened(lambda k: math.inf, 8)


def test_deepening_reopens_the_clearly_worse_on_fewer_than_eight_runs():
    assert not deepened(lambda k: 10.0 + k % 2, 7)


def test_deepening_reopens_those_worse_by_less_than_four_standard_errors():
    assert not deepened(lambda k: 10.0 * (-1) ** k + 0.5, 16)


def test_deepening_reopens_those_set_aside_as_without_effect():
    assert not deepened(lambda k: 0.0, 16)


@pytest.mark.parametrize("rules", [Growing(), Growing(1, 1), Growing(1, 7), Growing(5, 2000)])
def test_deepening_ends(rules):
    contest = rules.begin(RANDOM, SEED)
    rounds = 0
    while contest.deepen(A):
        rounds += 1
        assert rounds <= math.ceil(math.log2(rules.max_runs / rules.min_runs))
    assert contest.deepen(A) is False


def test_there_is_nothing_to_deepen_where_all_pairs_were_met_at_once():
    assert Growing(3).begin(fixed(3), SEED).deepen(A) is False


def test_deepening_goes_up_to_all_pairs():
    meetings = Meetings(
        lambda config, k: spread(k) + (config == B) * (1.0 if k < 3 else -9.0), scenario=fixed(7)
    )
    meetings.enter(A)
    meetings.better(B, A)
    while meetings.contest.deepen(A):
        pass
    assert meetings.better(B, A) is True
    assert meetings.runs(B) == 7


def test_ahead_names_the_incumbents_next_run_and_the_first_runs_of_the_next_challenger():
    meetings = Meetings(ranked)
    meetings.enter(A)
    asked = next(meetings.contest.better(B, A, iter([C])))
    task = meetings.pairs.task
    assert list(asked.likely) == [task(A, 4), task(C, 0), task(C, 1), task(C, 2)]


def test_ahead_names_no_run_that_there_is_not():
    meetings = Meetings(ranked, scenario=fixed(4))
    meetings.enter(A)
    asked = next(meetings.contest.better(B, A, iter([C, D])))
    assert {task.config for task in asked.likely} == {C, D}


TABLES = st.lists(
    st.sampled_from([0.0, 1.0, 2.0, 2.5, 50.0, math.inf]) | st.floats(-100, 100),
    min_size=6 * 12,
    max_size=6 * 12,
)


@given(
    TABLES,
    st.sampled_from([Growing(), Growing(1), Growing(1, 2), Growing(4, 9), Growing(2, 40)]),
    st.sampled_from([RANDOM, fixed(1), fixed(2), fixed(5), fixed(12)]),
    st.integers(0),
    st.lists(st.sampled_from([*CONFIGS, "deepen"]), max_size=40),
)
def test_whatever_comes_the_rules_are_kept(table, rules, scenario, seed, challengers):
    def cost(config, k):
        return table[12 * config["x"] + k % 12]

    def scored(config, runs):
        return score([(cost(config, k),) for k in range(runs)])

    meetings = Meetings(cost, rules, scenario, seed)
    limit = min(rules.max_runs, meetings.pairs.count)
    incumbent = A
    meetings.enter(A)
    for challenger in challengers:
        if challenger == "deepen":
            meetings.contest.deepen(incumbent)
            continue
        if challenger == incumbent:
            continue
        before = meetings.runs(incumbent)
        won = meetings.better(challenger, incumbent)
        runs, own = meetings.runs(incumbent), meetings.runs(challenger)
        assert before <= runs <= limit
        assert runs > before or runs == limit
        assert challenger in meetings.contest.tried
        if won:
            assert own >= runs >= min(3, limit)
            assert scored(challenger, runs) <= scored(incumbent, runs)
            assert challenger not in meetings.contest.settled
            assert incumbent in meetings.contest.settled
            incumbent = challenger
        elif runs == limit:
            assert challenger in meetings.contest.settled
        if not won and challenger in meetings.contest.settled and own < runs:
            same = all(cost(challenger, k) == cost(incumbent, k) for k in range(own))
            assert same or scored(challenger, own) > scored(incumbent, own)
    assert len(set(meetings.tasks)) == len(meetings.tasks) == meetings.contest.asked
