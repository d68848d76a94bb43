import math
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.costs import Runtime, score
from paramhs.core.errors import BadInput
from paramhs.core.runs import Run, Status
from paramhs.core.scenario import Scenario
from paramhs.search.comparison import Growing
from paramhs.search.history import History
from paramhs.search.model.inert_parameters import enough_ties, ties
from tests.support.driving import by_pair, instances, one_parameter, settle
from tests.support.laws import fits

SPACE = one_parameter(6)
A, B, C, D, E, F = CONFIGS = list(SPACE.configs())
RANDOM = Scenario(SPACE, instances(3))
SEED = 1


def fixed(count):
    """A deterministic scenario."""
    return Scenario(SPACE, instances(count), deterministic=True)


class Races:
    """Races of one search, whose runs cost what `costs(config, k)` says on the k-th pair."""

    def __init__(self, costs, rules=None, scenario=RANDOM, seed=SEED):
        self.rules = rules or Growing(3)
        self.history = History(scenario, seed)
        self.target = by_pair(scenario, seed, costs)
        self.tasks = []

    def start(self, config):
        return self._settle(self.rules.start(self.history, config))

    def better(self, challenger, incumbent):
        won = self._settle(self.rules.better(self.history, challenger, incumbent))
        self.history.decide(challenger, incumbent, won)
        return won

    def is_final(self, challenger, incumbent):
        return self.rules.is_final(self.history, challenger, incumbent)

    def _settle(self, asking):
        answer, batches = settle(asking, self.target)
        self.tasks += [task for batch in batches for task in batch]
        self.batches = [[(t.config, self.k(t.pair)) for t in batch] for batch in batches]
        return answer

    def k(self, pair):
        return next(k for k in range(5000) if self.history.pair(k) == pair)

    def met(self, config):
        """On which pairs it was run, in order."""
        return [self.k(pair) for pair in self.history.costs(config)]

    def sizes(self, config):
        """Batches of the last race: how many runs of a configuration each had."""
        return [sum(c == config for c, _ in batch) for batch in self.batches]

    def runs(self, config):
        return len(self.history.costs(config))


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


def test_by_default_two_runs_come_first():
    assert Growing().min_runs == 2


@pytest.mark.parametrize(("min_runs", "first"), [(1, 3), (2, 3), (3, 3), (5, 5)])
def test_a_start_makes_min_runs_and_at_least_three(min_runs, first):
    races = Races(ranked, Growing(min_runs))
    assert races.start(A) is True
    assert races.batches == [[(A, k) for k in range(first)]]


def test_a_start_makes_no_more_runs_than_there_are():
    races = Races(ranked, scenario=fixed(2))
    races.start(A)
    assert races.runs(A) == 2
    races = Races(ranked, Growing(1, max_runs=1))
    races.start(A)
    assert races.runs(A) == 1


def test_the_incumbent_gains_one_run_for_every_challenger():
    races = Races(ranked)
    races.start(A)
    for met, challenger in enumerate([B, C, D, E, F], start=1):
        assert races.better(challenger, A) is False
        assert races.runs(A) == 3 + met


def test_the_incumbent_gains_a_run_when_a_challenger_is_revisited():
    races = Races(ranked)
    races.start(A)
    for met in range(1, 6):
        races.better(B, A)
        assert races.runs(A) == 3 + met


def test_beyond_twenty_runs_the_evidence_grows_as_the_root_of_all_runs():
    space = one_parameter(1_000)
    first, *others = space.configs()
    races = Races(ranked, Growing(2), Scenario(space, instances(3)))
    races.start(first)
    for challenger in others[:150]:
        races.better(challenger, first)
        known = races.runs(first)
        assert known <= 20 or (known - 1) ** 2 < races.history.learned
    assert known == 20
    for challenger in others[150:500]:
        races.better(challenger, first)
    assert 20 < races.runs(first) <= math.isqrt(races.history.learned) + 1


def test_a_challenger_that_knows_all_pairs_brings_the_incumbent_to_another():
    races = Races(lambda config, k: spread(k) + (config["x"] if k >= 25 else -config["x"]))
    races.start(A)
    while races.runs(A) < 20:
        races.better(F, A) if races.runs(A) > 18 else races.better(B, A)
    before = races.runs(A)
    for _ in range(12):
        races.better(B, A)
    assert races.runs(A) > max(before, 20)


def test_the_incumbent_gains_no_more_than_max_runs():
    races = Races(ranked, Growing(max_runs=5))
    races.start(A)
    for challenger in CONFIGS[1:]:
        races.better(challenger, A)
    assert races.runs(A) == 5


def test_the_incumbent_of_a_deterministic_target_gains_no_more_than_one_run_an_instance():
    races = Races(ranked, scenario=fixed(5))
    races.start(A)
    for challenger in CONFIGS[1:]:
        races.better(challenger, A)
    assert races.runs(A) == 5
    assert len({task.instance for task in races.tasks if task.config == A}) == 5


def test_a_challenger_comes_in_doubling_batches():
    races = Races(lambda config, k: spread(k) - (config == B))
    races.start(A)
    for _ in range(20):
        races.better(C, A)
    assert races.better(B, A) is True
    assert races.sizes(B) == [3, 3, 6, 11]
    assert races.runs(B) == races.runs(A) == 23


def test_batches_begin_with_min_runs_and_the_last_is_cut_short():
    races = Races(lambda config, k: spread(k) - (config == B), Growing(2))
    races.start(A)
    for _ in range(7):
        races.better(C, A)
    races.better(B, A)
    assert races.sizes(B) == [2, 2, 4, 3]


def test_a_challenger_races_on_the_incumbents_own_pairs():
    races = Races(lambda config, k: spread(k) - (config == B))
    races.start(A)
    races.better(B, A)
    first, second = races.batches
    assert first[0] == (A, 3)
    assert sorted([*first[1:], *second]) == [(B, k) for k in range(4)]


def first_pairs(config, seed, incumbent_runs=5):
    """The first three pairs on which a new challenger meets an incumbent with this many runs."""
    races = Races(ranked, seed=seed)
    races.start(A)
    while races.runs(A) < incumbent_runs - 1:
        races.better(F, A)
    races.better(config, A)
    return tuple(races.met(config)[:3])


def test_each_challenger_races_on_the_incumbents_pairs_in_uniformly_random_order():
    orders = [first_pairs(B, seed) for seed in range(3_000)]
    assert fits(orders, {order: Fraction(1, 60) for order in permutations(range(5), 3)})


def test_where_noise_is_known_what_tells_most_tends_to_come_first():
    weights = {0: Fraction(1), 1: Fraction(4), 2: Fraction(1, 2), 3: Fraction(1)}

    def first(seed):
        races = Races(ranked, Growing(1), fixed(4), seed)
        names = [races.history.pair(k).instance for k in range(4)]
        races.start(A)
        while races.runs(A) < 4:
            races.better(F, A)
        races.history.weigh_instances({names[k]: float(1 / w) for k, w in weights.items() if k < 3})
        races.better(B, A)
        return races.met(B)[0]

    total = sum(weights.values())
    assert fits(map(first, range(2_000)), {k: w / total for k, w in weights.items()})


def test_orders_of_different_challengers_are_independent():
    both = [(first_pairs(B, seed)[0], first_pairs(C, seed)[0]) for seed in range(3_000)]
    assert fits(both, {(i, j): Fraction(1, 25) for i in range(5) for j in range(5)})


def test_pairs_that_are_known_of_a_challenger_come_first_and_cost_nothing():
    races = Races(ranked)
    races.start(A)
    for _ in range(10):
        races.better(F, A)
    races.better(B, A)
    known = races.met(B)
    races.better(C, A)
    assert races.better(B, A) is False
    assert races.met(B)[:3] == known
    assert races.runs(B) == 6
    assert races.sizes(B) == [3]


def test_a_revisited_challenger_is_judged_on_twice_the_runs():
    races = Races(ranked)
    races.start(A)
    for _ in range(60):
        races.better(F, A)
    for judged in (3, 6, 12, 24, 48):
        races.better(B, A)
        assert races.runs(B) == judged


def test_no_incumbent_is_safe_behind_lucky_first_pairs():
    """A was lucky on its first three pairs. In one order for all, none would pass them."""

    def costs(config, k):
        return -5.0 if config == A and k < 3 else spread(k) - 2 * (config != A)

    def beaten(seed):
        races = Races(costs, seed=seed)
        races._settle(races.history.ask((A, races.history.pairs(0, 30))))
        return any(races.better(challenger, A) for challenger in (B, C, D, E))

    assert sum(beaten(seed) for seed in range(20)) >= 15


def test_a_challenger_is_rejected_as_soon_as_its_mean_is_worse():
    """Better by a little on its first three pairs, whichever they are, and then much worse."""
    met = []

    def costs(config, k):
        if config != B:
            return spread(k)
        met.append(k)
        return spread(k) + (-1 if len(met) <= 3 else 10)

    races = Races(costs)
    races.start(A)
    for _ in range(20):
        races.better(C, A)
    assert races.better(B, A) is False
    assert races.runs(B) == 6


def test_a_challenger_is_not_rejected_before_min_runs():
    met = []

    def costs(config, k):
        if config != B:
            return spread(k)
        met.append(k)
        return spread(k) + (5, 5, -99, 0)[len(met) - 1]

    races = Races(costs)
    races.start(A)
    assert races.better(B, A) is True


def test_with_one_run_at_first_a_challenger_may_be_rejected_on_it():
    races = Races(lambda config, k: spread(k) + (config == B), Growing(1))
    races.start(A)
    assert races.better(B, A) is False
    assert races.runs(B) == 1


@pytest.mark.parametrize(("noise", "looked_after"), [(0.5, 1), (1.0, 2), (1.5, 3), (9.0, 4)])
def test_how_many_runs_reject_at_first_follows_from_the_noise(noise, looked_after):
    races = Races(ranked, Growing(2), fixed(8))
    races.start(A)
    while races.runs(A) < 8:
        races.better(F, A)
    races.history.weigh_instances({races.history.pair(k).instance: noise for k in range(8)})
    assert races.better(B, A) is False
    assert races.runs(B) == looked_after


def test_a_returning_candidate_is_tested_after_twice_the_pairs():
    races = Races(ranked, Growing(2), fixed(9))
    races.start(A)
    while races.runs(A) < 9:
        races.better(F, A)
    runs = []
    for noise in (1.0, 1.0, 0.5, 1.0):  # with little noise, what is known is enough
        races.history.weigh_instances({races.history.pair(k).instance: noise for k in range(9)})
        assert races.better(B, A) is False
        runs.append(races.runs(B))
    assert runs == [2, 4, 4, 9]


def test_a_challenger_takes_over_only_after_all_pairs_of_the_incumbent():
    met = []

    def costs(config, k):
        if config != B:
            return spread(k)
        met.append(k)
        return spread(k) + (1000 if len(met) == 23 else -1)

    races = Races(costs)
    races.start(A)
    for _ in range(20):
        races.better(C, A)
    assert races.better(B, A) is False
    assert races.runs(B) == races.runs(A) == 23


def test_a_challenger_with_an_equal_mean_that_has_an_effect_takes_over():
    races = Races(lambda config, k: float((k + config["x"]) % 2), Growing(4), fixed(4))
    races.start(A)
    assert races.better(B, A) is True


@pytest.mark.parametrize("min_runs", [1, 2, 3])
def test_the_incumbent_is_never_dropped_on_one_or_two_runs(min_runs):
    races = Races(lambda config, k: spread(k) - (config == B), Growing(min_runs))
    assert races.better(B, A) is True
    assert races.runs(A) >= 3
    assert races.runs(B) >= 3


@pytest.mark.parametrize("count", [1, 2])
def test_the_incumbent_is_dropped_on_fewer_runs_only_where_there_are_no_more(count):
    races = Races(lambda config, k: spread(k) - (config == B), scenario=fixed(count))
    races.start(A)
    assert races.better(B, A) is True
    assert races.runs(A) == races.runs(B) == count


def test_a_challenger_equal_pair_by_pair_is_rejected_after_the_first_few():
    races = Races(lambda config, k: float(k))
    races.start(A)
    for _ in range(20):
        races.better(C, A)
    assert races.better(B, A) is False
    assert races.runs(B) == 3


@pytest.mark.parametrize(
    ("levels", "known", "rejected"),
    [(100, 20, True), (100, 3, False), (4, 20, False)],  # few costs, or coarse ones, are no proof
)
def test_two_equal_costs_reject_a_challenger_that_is_not_equal_by_chance(levels, known, rejected):
    met = []

    def costs(config, k):
        if config != B:
            return float(k % levels)
        met.append(k)
        return float(k % levels) - (len(met) > 2)

    races = Races(costs, Growing(2))
    races.start(A)
    while races.runs(A) < known:
        races.better(C, A)
    assert races.better(B, A) is not rejected
    assert (races.runs(B) == 2) is rejected


def test_one_equal_cost_rejects_no_challenger():
    met = []

    def costs(config, k):
        if config != B:
            return float(k)
        met.append(k)
        return float(k) - (len(met) > 1)

    races = Races(costs, Growing(1))
    races.start(A)
    for _ in range(30):
        races.better(C, A)
    assert races.better(B, A) is True


def test_a_challenger_equal_in_mean_only_is_not_taken_for_equal():
    met = []

    def costs(config, k):
        if config != B:
            return 0.0
        met.append(k)
        return (1.0, 0.0, -1.0)[len(met) - 1] if len(met) <= 3 else -9.0

    races = Races(costs)
    races.start(A)
    for _ in range(6):
        races.better(C, A)
    assert races.better(B, A) is True


def test_three_equal_timeouts_do_not_reject_a_challenger():
    met = []

    def costs(config, k):
        met.extend([k] * (config == B))
        return 1.0 if config == B and len(met) > 3 else 50.0

    races = Races(costs)
    races.start(A)
    for _ in range(8):
        races.better(C, A)
    assert races.better(B, A) is True


def equal_timeouts(runs):
    """Number of runs a challenger makes against an incumbent whose runs all cost the same."""
    races = Races(lambda config, k: 50.0)
    races.start(A)
    while races.runs(A) < runs - 1:
        races.better(C, A)
    assert races.better(B, A) is False
    return races.runs(B)


def test_equal_timeouts_reject_a_challenger_after_12():
    assert [equal_timeouts(runs) for runs in (4, 11, 12, 13, 40)] == [4, 11, 12, 12, 12]


def test_a_challenger_equal_on_all_pairs_there_are_is_rejected_for_good():
    races = Races(lambda config, k: 50.0, scenario=fixed(4))
    races.start(A)
    assert races.better(B, A) is False
    assert races.is_final(B, A)
    assert races.runs(B) == 4


def test_a_challenger_equal_on_all_pairs_so_far_may_come_again():
    races = Races(lambda config, k: 50.0)
    races.start(A)
    assert races.better(B, A) is False
    assert not races.is_final(B, A)
    asked = len(races.tasks)
    races.better(B, A)
    assert len(races.tasks) > asked


def test_runs_without_a_usable_cost_are_equal_to_each_other():
    races = Races(lambda config, k: math.nan, scenario=fixed(4))
    races.start(A)
    assert races.better(B, A) is False
    assert races.is_final(B, A)


def test_a_race_is_final_once_all_pairs_were_met():
    races = Races(ranked, scenario=fixed(3))
    races.start(B)
    races.better(C, B)
    assert races.better(A, B) is True
    assert races.is_final(B, A)
    assert races.is_final(C, A)
    assert not races.is_final(A, B)


def is_final_after(excess, runs):
    """Whether it is final that B, costing excess(k) more on pair k, has lost on this many runs."""
    races = Races(
        lambda config, k: spread(k) + (excess(k) if config == B else 0.0), Growing(runs, 2 * runs)
    )
    races.start(A)
    assert races.better(B, A) is False
    return races.is_final(B, A)


def test_a_clearly_worse_challenger_is_final():
    assert is_final_after(lambda k: 10.0 + k % 2, 8)


def test_a_challenger_without_usable_costs_is_final():
    assert is_final_after(lambda k: math.inf, 8)


@pytest.mark.parametrize("cost", [1.7e308, 9e307, 1e300])
def test_the_largest_floats_are_costs_like_others(cost):
    assert is_final_after(lambda k: cost * (1 - k % 2 / 100), 8)
    assert not is_final_after(lambda k: cost * (-1) ** k, 8)


def test_nothing_is_clear_on_fewer_than_eight_runs():
    assert not is_final_after(lambda k: 10.0 + k % 2, 7)


def test_nothing_is_clear_below_four_standard_errors():
    assert not is_final_after(lambda k: 10.0 * (-1) ** k + 1.5, 16)


def test_a_challenger_without_effect_so_far_is_not_final():
    assert not is_final_after(lambda k: 0.0, 16)


@pytest.mark.parametrize(
    ("rules", "scenario"),
    [
        (Growing(), fixed(7)),
        (Growing(1, 1), RANDOM),
        (Growing(1, 7), RANDOM),
        (Growing(5, 50), RANDOM),
    ],
)
def test_racing_again_and_again_becomes_final(rules, scenario):
    races = Races(lambda config, k: spread(k) + (-1) ** k * (config == B) * 0.1, rules, scenario)
    races.start(A)
    for _ in range(100):
        if races.better(B, A) or races.is_final(B, A):
            return
    raise AssertionError("it never becomes final")


def test_likely_names_what_the_challenger_asks_for_after_the_next_look():
    races = Races(lambda config, k: float(config != B), Growing(3), fixed(7))
    races.start(A)
    for challenger in (C, D, E, F):
        races.better(challenger, A)
    asked = next(races.rules.better(races.history, B, A))
    likely = list(asked.likely)
    assert races.better(B, A)
    assert likely == [races.history.task(c, races.history.pair(k)) for c, k in races.batches[1]]
    assert len(likely) == 3


def test_nothing_is_likely_after_the_last_look():
    races = Races(ranked, Growing(3), fixed(3))
    races.start(A)
    assert list(next(races.rules.better(races.history, B, A)).likely) == []


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
    st.lists(st.sampled_from(CONFIGS), max_size=40),
)
def test_whatever_comes_the_rules_are_kept(table, rules, scenario, seed, challengers):
    def cost(config, k):
        return table[12 * config["x"] + k % 12]

    def scored(config, on):
        return score([(cost(config, k),) for k in on])

    races = Races(cost, rules, scenario, seed)
    limit = min(rules.max_runs, races.history.pair_count)
    incumbent = A
    races.start(A)
    for challenger in challengers:
        if challenger == incumbent:
            continue
        before = races.runs(incumbent)
        times = races.history.times_met(challenger, incumbent)
        won = races.better(challenger, incumbent)
        on, own = races.met(incumbent), races.met(challenger)
        assert before <= len(on) <= max(limit, before)
        assert len(on) > before or len(on) >= limit
        common = [k for k in own if k in on]
        assert len(common) >= min(rules.min_runs << times, len(on)) or scored(
            challenger, common
        ) > scored(incumbent, common)
        if won:
            assert set(own) >= set(on)
            assert len(on) >= min(3, limit)
            assert scored(challenger, on) <= scored(incumbent, on)
            assert any(cost(challenger, k) != cost(incumbent, k) for k in on)
            incumbent = challenger
        else:
            same = all(cost(challenger, k) == cost(incumbent, k) for k in common)
            assert same or scored(challenger, common) > scored(incumbent, common)
    assert len(set(races.tasks)) == len(races.tasks) == races.history.asked


TIMES = (6.5, 13.8, 58.4, 11.3, 21.1, 3.2, 35.0, 9.0)
"""Seconds on instances that differ tenfold."""
AGAIN = (1.5, 2.2, -1.7, 2.6, 0.0, -1.2, 0.7, -2.9)
"""Percent by which each takes longer when it is run again."""


def timed(factor, rules=None):
    """Races for time, in which B takes `factor(k)` times as long as A on pair k."""
    scenario = Scenario(SPACE, instances(8), Runtime(), 100.0, True)
    races = Races(lambda config, k: 0.0, rules or Growing(8), scenario)
    number = {i.name: k for k, i in enumerate(scenario.instances)}

    def run(task):
        k = number[task.instance.name]
        races.tasks.append(task)
        seconds = TIMES[k] * (factor(k) if task.config == B else 1.0)
        late = seconds > task.cutoff
        return Run(task, Status.CAPPED if late else Status.OK, min(seconds, task.cutoff))

    races.target = run
    return races


def wins(races):
    races.start(A)
    return races.better(B, A)


def test_times_within_the_noise_of_the_clock_are_a_tie():
    races = timed(lambda k: 1 - AGAIN[k] / 100 - 0.002)
    assert not wins(races)
    assert ties(races.history) == races.history.races


@pytest.mark.parametrize("factor", [0.9, 0.97])
def test_a_clear_difference_in_one_direction_is_no_tie(factor):
    races = timed(lambda k: factor + AGAIN[k] / 1000)
    assert wins(races)
    assert ties(races.history) == []


def test_one_other_time_is_no_tie():
    races = timed(lambda k: 0.8 if k == 2 else 1.0)
    assert wins(races)
    assert ties(races.history) == []


def test_times_that_resemble_each_other_everywhere_prove_little():
    alike = [(10.0 + k / 100,) for k in range(8)]
    assert enough_ties(alike, timed=True) > 8
    assert enough_ties(alike) == 3
    assert enough_ties([(t,) for t in TIMES], timed=True) == 3
