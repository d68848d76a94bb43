"""Verdicts: who is better on runs that no search has seen, and how sure that is."""

import math
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paramhs import Quality, Runtime, Space
from paramhs.results.concluding import conclusion
from paramhs.results.verdict import LEAST_INSTANCES, sign_flip_test, verdict
from paramhs.values.costs import RuntimeThenQuality
from paramhs.values.runs import Instance, Run, Status, Task
from paramhs.values.seeds import stream
from scale import examples

SPACE = Space({"x": range(10)})
FIRST, SECOND = SPACE.config({"x": 0}), SPACE.config({"x": 1})
CUTOFF = 10.0

finite = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


def run(config, instance, seed, quality=None, runtime=0.0, status=Status.OK):
    task = Task(config, Instance(str(instance)), seed, CUTOFF)
    return Run(task, status, runtime, quality)


def runs(config, costs):
    """A run on every instance; where an entry is a list, one on each of its seeds."""
    return [
        run(config, i, seed, quality=cost)
        for i, entry in enumerate(costs)
        for seed, cost in enumerate(entry if isinstance(entry, list) else [entry])
    ]


def timed(config, seconds):
    return [
        run(config, i, 0, runtime=s, status=Status.OK if s < CUTOFF else Status.TIMEOUT)
        for i, s in enumerate(seconds)
    ]


def compared(first, second, metric=Quality()):  # noqa: B008 -- immutable
    return verdict(runs(FIRST, first), runs(SECOND, second), metric)


class TestSignFlips:
    """Against all sign patterns by brute force, and against scipy."""

    @given(st.lists(finite, min_size=1, max_size=8))
    def test_few_differences_are_tested_exactly(self, differences):
        observed = abs(math.fsum(differences))
        slack = 1e-9 * max(map(abs, differences))
        patterns = list(product((1, -1), repeat=len(differences)))
        sums = [abs(math.fsum(map(float.__mul__, map(float, s), differences))) for s in patterns]
        low = sum(total >= observed + slack for total in sums) / len(sums)
        high = sum(total >= observed - slack for total in sums) / len(sums)
        assert low <= sign_flip_test(differences, Random(0)) <= high

    @examples(30)
    @given(st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=9))
    def test_scipy_finds_the_same_p_value(self, differences):
        # Whole numbers, so that equal sums are equal for both.
        result = stats.permutation_test(
            (np.array(differences),), np.sum, permutation_type="samples", n_resamples=np.inf
        )
        # scipy doubles the smaller tail, which is the same, as flipping all signs is a mirror.
        assert sign_flip_test(differences, Random(0)) == pytest.approx(min(result.pvalue, 1.0))

    @given(st.lists(finite, max_size=10))
    def test_p_value_is_a_probability_and_needs_no_side(self, differences):
        p = sign_flip_test(differences, Random(0))
        assert 0 < p <= 1
        assert sign_flip_test([-d for d in differences], Random(0)) == p

    @pytest.mark.parametrize("differences", [[], [0.0], [0.0] * 40])
    def test_no_difference_is_no_evidence(self, differences):
        assert sign_flip_test(differences, Random(0)) == 1.0

    @given(st.lists(finite, min_size=1, max_size=8), st.integers(1, 30))
    def test_ties_change_nothing(self, differences, ties):
        p = sign_flip_test(differences, Random(0))
        assert sign_flip_test([*differences, *[0.0] * ties], Random(0)) == p

    @pytest.mark.parametrize(("count", "p"), [(5, 2 / 32), (6, 2 / 64), (12, 2 / 4096)])
    def test_unanimous_cases_have_the_smallest_p_value(self, count, p):
        assert sign_flip_test([1.0] * count, Random(0)) == p

    def test_fewest_instances_are_those_that_can_prove_something(self):
        assert sign_flip_test([1.0] * LEAST_INSTANCES, Random(0)) < 0.05
        assert sign_flip_test([1.0] * (LEAST_INSTANCES - 1), Random(0)) >= 0.05

    def test_many_differences_are_sampled_close_to_the_exact_value(self):
        # 14 cases: all 16,384 patterns against 9,999 random ones. The estimate's standard error is
        # at most 0.005, so it is off by 0.025 with a probability below 1e-6, for any seed.
        rng = stream(1, "flips")
        differences = [rng.random() - 0.35 for _ in range(14)]
        signs = np.array(list(product((1.0, -1.0), repeat=14)))
        sums = np.abs(signs @ np.array(differences))
        exact = np.mean(sums >= abs(sum(differences)) - 1e-9)
        assert sign_flip_test(differences, stream(2, "flips")) == pytest.approx(exact, abs=0.025)

    def test_sampled_p_value_is_never_zero(self):
        assert sign_flip_test([1.0] * 40, stream(3, "flips")) == 1 / 10_000

    def test_false_alarms_are_as_frequent_as_the_level_or_less(self):
        # The number of p-values up to a level in 2,000 trials is at most Binomial(2000, level);
        # its mean plus 5 standard deviations is passed with p < 3e-7. An exact test of 8 cases
        # has p-values in steps of 2 / 2^8, so it is conservative by less than that.
        rng, trials = stream(4, "null"), 2000
        cases = [[rng.gauss(0, 1) * (1 + 9 * (k % 2)) for k in range(8)] for _ in range(trials)]
        values = [sign_flip_test(differences, rng) for differences in cases]
        for level in (0.05, 0.2, 0.5):
            alarms = sum(value <= level for value in values)
            spread = math.sqrt(trials * level * (1 - level))
            assert alarms <= trials * level + 5 * spread
            assert alarms >= trials * (level - 2 / 2**8) - 5 * spread

    def test_clear_difference_is_found(self):
        # Differences of mean 1 and standard deviation 1, on 30 cases: a t of 5.5 on average.
        # A p-value above 0.05 needs a t below 2.05, so a draw from far below 1 in 1,000.
        rng = stream(5, "power")
        found = [
            sign_flip_test([rng.gauss(1, 1) for _ in range(30)], rng) < 0.05 for _ in range(10)
        ]
        assert all(found)


class TestIntervals:
    def test_interval_covers_the_truth_about_as_often_as_it_says(self, monkeypatch):
        # The percentile bootstrap of 25 exponential differences covers a little less than 95 %
        # (about 92 %). Of 200 intervals fewer than 164, or all, cover with p < 1e-4.
        monkeypatch.setattr("paramhs.results.verdict._RESAMPLES", 400)
        monkeypatch.setattr("paramhs.results.verdict.sign_flip_test", lambda differences, rng: 1.0)
        rng, hits, trials = stream(6, "coverage"), 0, 200
        for _ in range(trials):
            first = [3 + rng.expovariate(1) for _ in range(25)]
            second = [2 + rng.expovariate(1) for _ in range(25)]
            gain = compared(first, second).gain
            hits += gain.low <= 1.0 <= gain.high
        assert 164 <= hits < trials

    def test_ratio_is_that_of_the_means(self):
        made = compared([2.0] * 10, [1.0] * 10)
        assert made.ratio.estimate == made.ratio.low == made.ratio.high == 2.0
        assert made.gain.estimate == 1.0

    def test_ratio_says_how_many_times_more_where_more_is_better(self):
        made = compared([2.0] * 10, [6.0] * 10, Quality(maximise=True))
        assert made.ratio.estimate == 3.0
        assert made.gain.estimate == 4.0
        assert made.conclusion == "better"

    @pytest.mark.parametrize("costs", [[0.0, *[1.0] * 9], [-1.0, *[1.0] * 9]])
    def test_there_is_no_ratio_of_costs_that_are_not_positive(self, costs):
        made = compared([2.0] * 10, costs)
        assert made.ratio is None
        assert made.gain is not None

    @examples(10)
    @given(st.lists(st.tuples(finite, finite), min_size=6, max_size=10))
    def test_estimate_lies_in_its_interval(self, costs):
        gain = compared(*zip(*costs, strict=True)).gain
        assert gain.low <= gain.estimate + 1e-9
        assert gain.estimate <= gain.high + 1e-9

    def test_no_interval_where_no_case_is_usable(self):
        made = compared([None] * 8, [1.0] * 8)
        assert made.gain is None
        assert made.ratio is None
        assert made.conclusion == "better"

    def test_same_runs_give_the_same_verdict(self):
        rng = stream(7, "again")
        costs = [[rng.random() for _ in range(20)] for _ in range(2)]
        assert compared(*costs).to_json() == compared(*costs).to_json()

    @pytest.mark.parametrize("huge", [1e308, 1.7e308])
    def test_costs_at_the_end_of_the_numbers_are_compared(self, huge):
        made = compared([huge] * 8, [huge / 2] * 8)
        assert made.conclusion == "better"
        assert compared([huge] * 8, [-huge] * 8).conclusion == "better"


class TestDirections:
    def test_lower_is_better_where_costs_are_minimised(self):
        made = compared([5.0] * 8, [4.0] * 8)
        assert (made.wins, made.ties, made.losses) == (8, 0, 0)
        assert made.conclusion == "better"

    def test_higher_is_better_where_costs_are_maximised(self):
        made = compared([5.0] * 8, [4.0] * 8, Quality(maximise=True))
        assert (made.wins, made.ties, made.losses) == (0, 0, 8)
        assert made.conclusion == "worse"
        assert (made.first.cost, made.second.cost) == (5.0, 4.0)

    def test_run_that_does_not_finish_costs_ten_cutoffs(self):
        made = verdict(timed(FIRST, [1.0] * 7 + [99.0]), timed(SECOND, [2.0] * 8), Runtime())
        assert made.first.cost == pytest.approx((7 + 100) / 8)
        assert made.second.cost == 2.0
        assert (made.first.solved, made.second.solved) == (7, 8)
        assert (made.wins, made.losses) == (1, 7)

    def test_penalty_is_that_of_the_cost(self):
        made = verdict(timed(FIRST, [99.0] * 6), timed(SECOND, [1.0] * 6), Runtime(2))
        assert made.first.cost == 20.0

    @pytest.mark.parametrize("seconds", [(1.0, 1.005), (0.001, 0.009), (5.0, 5.04)])
    def test_runtimes_that_hardly_differ_are_ties(self, seconds):
        first, second = seconds
        made = verdict(timed(FIRST, [first] * 8), timed(SECOND, [second] * 8), Runtime())
        assert made.ties == 8

    def test_qualities_tie_only_if_they_are_equal(self):
        made = compared([1.0] * 8, [1.0 + 1e-12, *[1.0] * 7])
        assert (made.ties, made.losses) == (7, 1)

    def test_equal_everywhere_is_unclear(self):
        made = compared([1.0] * 8, [1.0] * 8)
        assert (made.conclusion, made.p_value, made.ties) == ("unclear", 1.0, 8)

    def test_runtime_counts_before_quality(self):
        fast = [run(FIRST, i, 0, 9.0, 1.0) for i in range(8)]
        slow = [run(SECOND, i, 0, 1.0, 2.0) for i in range(8)]
        assert verdict(fast, slow, RuntimeThenQuality()).conclusion == "worse"

    @given(
        st.lists(st.tuples(finite | st.none(), finite | st.none()), min_size=1, max_size=9),
        st.booleans(),
    )
    def test_swapping_the_sides_swaps_the_verdict(self, costs, maximise):
        first, second = zip(*costs, strict=True)
        there = compared(first, second, Quality(maximise))
        back = compared(second, first, Quality(maximise))
        assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
        assert there.p_value == back.p_value
        opposite = {"better": "worse", "worse": "better", "unclear": "unclear"}
        assert back.conclusion == opposite[there.conclusion]
        assert (there.first.cost, there.second.cost) == (back.second.cost, back.first.cost)


class TestFailures:
    """A run without a usable answer is worse than any with one."""

    def test_fewer_failures_win_whatever_the_costs(self):
        made = compared([*[None] * 8, 1.0], [*[1e6] * 8, 1.0])
        assert (made.wins, made.ties, made.losses) == (8, 1, 0)
        assert made.conclusion == "better"
        # A crash is a run that has no quality.
        assert made.first.cost == 1.0

    def test_each_failure_weighs_more_than_any_cost(self):
        # Three failures on one side against five small losses on the other: sum of 3 * 2 - 5.
        made = compared([None, None, None, *[1.0] * 5], [1.0, 1.0, 1.0, *[2.0] * 5])
        assert made.favours_second

    def test_crashes_and_wrong_answers_are_counted_as_failed(self):
        bad = [run(FIRST, i, 0, 1.0, status=Status.WRONG) for i in range(3)]
        bad += [run(FIRST, i, 0, None, status=Status.CRASHED) for i in range(3, 6)]
        bad += [run(FIRST, i, 0, 1.0, status=Status.TIMEOUT) for i in range(6, 8)]
        made = verdict(bad, runs(SECOND, [1.0] * 8), Quality())
        assert (made.first.runs, made.first.solved, made.first.failed) == (8, 0, 6)
        assert (made.second.solved, made.second.failed) == (8, 0)

    def test_wrong_answers_are_worse_than_timeouts(self):
        wrong = [run(FIRST, i, 0, None, 0.1, Status.WRONG) for i in range(8)]
        late = [run(SECOND, i, 0, None, CUTOFF, Status.TIMEOUT) for i in range(8)]
        assert verdict(wrong, late, Runtime()).conclusion == "better"

    def test_both_failing_is_a_tie(self):
        made = compared([None] * 8, [None] * 8)
        assert (made.wins, made.ties, made.losses) == (0, 8, 0)
        assert made.p_value == 1.0

    def test_failures_are_counted_within_an_instance(self):
        often, once = [[None] * 8 + [1.0]] * 6, [[None] + [1.0] * 8] * 6
        made = compared(often, once)
        assert (made.wins, made.ties, made.losses) == (6, 0, 0)
        assert made.conclusion == "better"
        assert compared(once, [[None] * 9] * 6).conclusion == "worse"
        assert compared(once, once).ties == 6

    def test_fewer_failures_within_an_instance_come_before_costs(self):
        made = compared([[None, 1.0, 1.0]] * 6, [[9.0, 9.0, 9.0]] * 6)
        assert (made.wins, made.conclusion) == (6, "better")

    def test_gain_is_over_the_runs_that_neither_has_failed(self):
        made = compared([[None, 5.0, 7.0]] * 6, [[1.0, 4.0, None]] * 6)
        assert (made.gain.estimate, made.ratio.estimate) == (1.0, 1.25)

    @pytest.mark.parametrize("bad", [math.inf, math.nan, None])
    def test_runs_without_a_usable_number_have_failed(self, bad):
        made = compared([[bad, 1.0]] * 6, [[1.0, 1.0]] * 6)
        assert (made.first.cost, made.first.solved, made.first.failed) == (1.0, 6, 6)
        late = [run(FIRST, i, 0, None, CUTOFF, Status.TIMEOUT) for i in range(6)]
        assert verdict(late, runs(SECOND, [1.0] * 6), Quality()).first.failed == 6
        assert verdict(late, late, Runtime()).first.failed == 0

    def test_infinite_costs_are_null_in_json(self):
        message = compared([None] * 8, [1.0] * 8).to_json()
        assert message["first"]["cost"] is None
        assert message["gain"] is None


class TestCases:
    def test_instances_are_compared_where_there_are_enough(self):
        made = verdict(runs(FIRST, [[1.0, 3.0]] * 6), runs(SECOND, [[2.0, 2.0]] * 6), Quality())
        assert (made.case, made.instances, made.ties) == ("instance", 6, 6)

    def test_runs_are_compared_where_there_are_few_instances(self):
        made = verdict(runs(FIRST, [[1.0, 3.0]] * 5), runs(SECOND, [[2.0, 2.0]] * 5), Quality())
        assert (made.case, made.wins, made.losses) == ("run", 5, 5)

    def test_seeds_of_one_instance_are_no_further_evidence_about_instances(self):
        # 6 instances, one of which is far better: however many seeds, the others say nothing.
        first, second = [[1.0] * 50] * 6, [[0.0] * 50, *[[1.0] * 50] * 5]
        made = verdict(runs(FIRST, first), runs(SECOND, second), Quality())
        assert made.conclusion == "unclear"
        assert made.p_value == 1.0

    def test_order_of_runs_does_not_matter(self):
        first, second = runs(FIRST, [1.0, 5.0, *[2.0] * 6]), runs(SECOND, [3.0, 4.0, *[1.0] * 6])
        made = verdict(first, second[::-1], Quality())
        assert made.to_json() == verdict(first, second, Quality()).to_json()

    def test_a_single_case_bounds_nothing(self):
        made = verdict(runs(FIRST, [4.0]), runs(SECOND, [2.0]), Quality())
        assert (made.gain.estimate, made.gain.low, made.gain.high) == (2.0, -math.inf, math.inf)
        assert (made.ratio.estimate, made.ratio.low, made.ratio.high) == (2.0, 0.0, math.inf)
        assert conclusion(made)[0].startswith("Keep the default")
        back = verdict(runs(FIRST, [2.0]), runs(SECOND, [4.0]), Quality())
        message = conclusion(back)[0]
        assert "2 times higher (95 % interval 0 to inf)" in message

    def test_a_loss_is_told_without_a_minus(self):
        made = compared([-1.0] * 8, [1.0] * 8)
        assert "higher by 2 (95 % interval 2 to 2)" in conclusion(made)[0]

    def test_runs_on_other_pairs_are_refused(self):
        with pytest.raises(ValueError, match="same pairs"):
            verdict(runs(FIRST, [1.0] * 6), runs(SECOND, [1.0] * 7), Quality())

    def test_json_has_both_sides_and_the_conclusion(self):
        message = compared([2.0] * 8, [1.0] * 8).to_json()
        assert message["first"]["config"] == {"x": 0}
        assert message["conclusion"] == "better"
        assert message["ratio"] == {"estimate": 2.0, "low": 2.0, "high": 2.0}
        assert set(message) >= {"wins", "ties", "losses", "p_value", "on", "instances", "case"}


def test_where_all_run_out_of_time_the_second_number_decides():
    def stopped(config, qualities):
        return [
            run(config, i, 0, runtime=CUTOFF, status=Status.TIMEOUT, quality=q)
            for i, q in enumerate(qualities)
        ]

    made = verdict(stopped(FIRST, [100.0] * 8), stopped(SECOND, [1.0] * 8), RuntimeThenQuality())
    assert (made.wins, made.ties, made.losses) == (8, 0, 0)
    assert made.conclusion == "better"
    # Numbers that would be a tie of runtimes, and words that are not about time.
    metric = RuntimeThenQuality(maximise=True)
    made = verdict(stopped(FIRST, [0.004] * 8), stopped(SECOND, [0.012] * 8), metric)
    assert (made.wins, made.ties, made.losses, made.by) == (8, 0, 0, "quality")
    (words,) = conclusion(made)
    assert words == (
        "Best is better: 3 times higher (95 % interval 3 to 3) in quality, with equal runtimes."
    )
    same = [run(c, i, 0, runtime=1.0) for c in (FIRST, SECOND) for i in range(8)]
    assert verdict(same[:8], same[8:], metric).by == "runtime"


class TestWords:
    """An interval that leaves out "no difference" beside "keep the default" has its sentence."""

    def test_an_interval_that_is_too_narrow_is_explained(self):
        # Six gains of 0.5, a loss of 0.6: 8 of 128 flips are as large, so p = 0.125. Of resampled
        # sevens only those with four losses lose, one in a hundred, so the interval leaves 1 out.
        made = compared([1.5] * 6 + [1.0], [1.0] * 6 + [1.6])
        assert made.conclusion == "unclear"
        assert made.ratio.low > 1
        (message,) = conclusion(made)
        assert message.endswith("not the interval, which is too narrow for so few as 7 instances.")
        assert f"The test decides (p = {made.p_value:.2g})" in message

    def test_where_failures_decide_that_is_the_reason(self):
        made = compared([3.0] * 6 + [3.0, 3.0], [1.0] * 6 + [None, None])
        assert made.conclusion == "unclear"
        assert made.ratio.low > 1
        (message,) = conclusion(made)
        assert "in which failures come first; the interval is about the runs that" in message
        assert "too narrow" not in message

    def test_the_same_of_a_difference_where_there_is_no_ratio(self):
        made = compared([-0.5] * 6 + [-1.0], [-1.0] * 6 + [-0.4])
        assert (made.ratio, made.conclusion) == (None, "unclear")
        assert made.gain.low > 0
        assert "The test decides" in conclusion(made)[0]

    @pytest.mark.parametrize(
        ("costs", "only"), [([2.0] * 5, "instances"), ([[2.0, 2.0]] * 2, "runs")]
    )
    def test_too_few_cases_say_what_more_would_help(self, costs, only):
        other = [[1.0] * len(entry) if isinstance(entry, list) else 1.0 for entry in costs]
        (message,) = conclusion(compared(costs, other))
        assert message.endswith(f"cannot prove one; only more {only} can.")

    def test_an_interval_with_no_difference_in_it_needs_none(self):
        (message,) = conclusion(compared([1.0, 2.0] * 4, [2.0, 1.0] * 4))
        assert message.endswith(")).")
        assert "decides" not in message

    def test_means_are_over_the_runs_that_neither_has_failed(self):
        made = compared([None, 4.0, 6.0, 8.0], [1.0, None, 3.0, 4.0])
        assert (made.first.cost, made.second.cost) == (7.0, 3.5)
        assert (made.first.failed, made.second.failed) == (1, 1)

    def test_beside_one_that_failed_always_stands_the_others_own_mean(self):
        made = compared([None] * 4, [1.0, None, 3.0, 5.0])
        assert (made.first.cost, made.second.cost) == (math.inf, 3.0)
        assert (made.first.failed, made.second.failed) == (4, 1)
