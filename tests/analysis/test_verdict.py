"""Verdicts: which configuration is better on held-out runs, and how sure that is."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paramhs import Space
from paramhs.analysis.cases import MIN_INSTANCES
from paramhs.analysis.paired_means import mean_p_value, p_values
from paramhs.analysis.verdict import verdict
from paramhs.analysis.verdict_text import conclusion
from paramhs.core import Quality, Runtime
from paramhs.core.costs import RuntimeThenQuality
from paramhs.core.random_streams import stream
from paramhs.core.runs import NO_INSTANCE, Instance, Run, Status, Task
from tests.support.scale import examples

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


def mean_test(*differences):
    return mean_p_value(np.array(differences, dtype=float))


class TestMeans:
    """The test of a mean that all intervals are made of."""

    def test_one_case_cannot_carry_a_claim(self):
        small = [0.1, -0.1] * 10
        assert mean_test(*small, *[5.0] * 8) < 0.05
        assert mean_test(*small, 5.0, *[0.0] * 7) > 0.2

    def test_many_samples_are_tested_as_single_ones_are(self):
        x = np.random.default_rng([9, 3]).lognormal(0, 1, (30, 9)) - 1.4
        x[0], x[1], x[2, :4], x[3, 0] = 1.0, 0.0, 0.0, np.nan
        assert p_values(x) == pytest.approx([mean_p_value(row) for row in x])

    @given(st.lists(finite, max_size=12))
    def test_p_value_is_a_probability_and_needs_no_side(self, differences):
        p = mean_test(*differences)
        assert 0 < p <= 1
        assert mean_test(*(-d for d in differences)) == pytest.approx(p)

    @pytest.mark.parametrize("differences", [[], [0.0], [0.0] * 40])
    def test_no_difference_is_no_evidence(self, differences):
        assert mean_test(*differences) == 1.0

    @pytest.mark.parametrize(("count", "p"), [(5, 2 / 32), (6, 2 / 64), (10, 2 / 1024)])
    def test_unanimous_cases_have_the_smallest_p_value(self, count, p):
        assert mean_test(*[1.0] * count) == p

    def test_fewest_cases_are_those_that_can_show_something(self):
        assert mean_test(*[1.0] * MIN_INSTANCES) < 0.05
        assert mean_test(*[1.0] * (MIN_INSTANCES - 1)) >= 0.05

    @examples(30)
    @given(st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=9))
    def test_p_value_is_never_below_that_of_sign_flips(self, differences):
        # Whole numbers, so that equal sums are equal for both.
        result = stats.permutation_test(
            (np.array(differences),), np.sum, permutation_type="samples", n_resamples=np.inf
        )
        assert mean_test(*differences) >= min(result.pvalue, 1.0) - 1e-9

    @given(st.lists(finite, min_size=2, max_size=9), st.sampled_from([1e-200, 1e-3, 1e200]))
    def test_unit_does_not_matter(self, differences, unit):
        whole = [round(d) for d in differences]
        assert mean_test(*(d * unit for d in whole)) == pytest.approx(mean_test(*whole))


class TestPower:
    """What few instances can show, and what they cannot."""

    GAINS = (1.4, 1.5, 1.6, 1.45, 1.55, 1.7)

    def test_six_instances_that_all_gain_alike_are_enough(self):
        sizes = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0]
        made = compared([g * s for g, s in zip(self.GAINS, sizes, strict=True)], sizes)
        assert made.conclusion == "better"
        assert made.p_value == pytest.approx(2 / 2**6)

    def test_six_instances_that_all_gain_very_much_are_enough(self):
        made = compared([50.0, 5000.0, 40.0, 800.0, 1e4, 100.0], [1.0, 9.0, 9.0, 8.0, 900.0, 5.0])
        assert made.conclusion == "better"

    def test_a_gain_that_fades_on_costly_instances_is_not_enough(self):
        # The small ones are 4 times faster, the large ones hardly: the means differ by 4 %.
        made = compared([4.0, 4.2, 3.9, 4.1, 100.0, 102.0], [1.0, 1.0, 1.0, 1.0, 99.0, 99.5])
        assert made.conclusion == "unclear"

    @pytest.mark.parametrize("last", [1.0, 1.2])
    def test_a_tie_or_a_loss_among_six_is_too_much(self, last):
        made = compared([3.0] * 5 + [1.0], [1.0] * 5 + [last])
        assert made.conclusion == "unclear"
        assert re.search(r"about (8|10|12) instances like these are needed", made.recommendation)

    def test_what_is_needed_is_enough_for_most_samples(self):
        rng = np.random.default_rng(4)
        few = rng.lognormal(math.log(1.5), 0.5, 8)
        made = compared(list(few), [1.0] * 8)
        assert made.conclusion == "unclear"
        assert made.needed is not None
        again = rng.choice(few, (40, made.needed))
        shown = [compared(list(row), [1.0] * made.needed).conclusion for row in again]
        assert shown.count("better") > 20

    def test_noise_alone_needs_more_instances_than_there_are(self):
        made = compared([1.0, 3.0] * 20, [3.0, 0.95] * 20)
        assert made.conclusion == "unclear"
        assert "Even 200 instances like these would probably not show" in made.recommendation

    def test_nothing_is_needed_where_all_is_decided_or_the_second_is_not_better(self):
        assert compared([2.0] * 8, [1.0] * 8).needed is None
        assert compared([1.0] * 8, [2.0, 0.9] * 4).needed is None


class TestIntervals:
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

    def test_qualities_tie_up_to_one_percent(self):
        made = compared([1.0] * 8, [1.009, 1.02, *[1.0] * 6])
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
        assert verdict(late, wrong, Runtime()).conclusion == "worse"
        assert verdict(wrong, late, Runtime()).conclusion == "unclear", "nothing to compare with"

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

    def test_repetitions_are_compared_where_there_are_few_instances(self):
        made = verdict(runs(FIRST, [[1.0, 3.0]] * 5), runs(SECOND, [[2.0, 2.0]] * 5), Quality())
        assert (made.case, made.wins, made.losses) == ("repetition", 1, 1)
        assert compared([[1.0, 3.0]], [[2.0, 2.0]]).case == "run"

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
        assert "2 times higher (no interval)" in message

    def test_a_loss_is_reported_without_a_minus(self):
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
    def test_where_failures_decide_that_is_the_reason(self):
        made = compared([3.0] * 6 + [3.0, 3.0], [1.0] * 6 + [None, None])
        assert made.conclusion == "unclear"
        assert made.ratio.low > 1
        (message,) = conclusion(made)
        assert "Failures count before costs here (0 against 2 failed runs)" in message

    @pytest.mark.parametrize("costs", [[2.0] * 5, [[2.0, 2.0]] * 2, [[2.0] * 50]])
    def test_too_few_instances_say_so_and_ask_for_more(self, costs):
        other = [[1.0] * len(entry) if isinstance(entry, list) else 1.0 for entry in costs]
        (message,) = conclusion(compared(costs, other))
        assert "other" in message
        assert message.endswith("test on at least 6.")

    def test_verdict_on_few_instances_is_about_these(self):
        rng = stream(11, "these")
        made = compared(
            [[rng.gauss(20, 1) for _ in range(17)] for _ in range(3)],
            [[rng.gauss(10, 1) for _ in range(17)] for _ in range(3)],
        )
        assert made.about_these_only
        assert (made.conclusion, made.conclusion_here) == ("unclear", "better")
        assert made.recommendation.startswith("On these 3 instances, best is better: ")
        assert "This proves nothing about other instances" in made.recommendation

    def test_failures_on_few_instances_are_about_these_too(self):
        made = compared([[None] * 9] * 3, [[1.0] * 9] * 3)
        assert (made.conclusion, made.conclusion_here) == ("unclear", "better")
        assert "This proves nothing about other instances" in made.recommendation

    def test_seeds_alone_are_enough_where_there_are_no_instances(self):
        sides = [
            [Run(Task(config, NO_INSTANCE, k, 10.0), Status.OK, 0.0, cost) for k in range(12)]
            for config, cost in ((FIRST, 2.0), (SECOND, 1.0))
        ]
        assert verdict(*sides, Quality()).conclusion == "better"

    def test_interval_on_both_sides_names_them(self):
        made = timed_verdict([1.0, 2.0, 1.5, 3.0] * 2, [2.0, 1.0, 3.0, 1.6] * 2)
        assert made.conclusion == "unclear"
        assert re.search(
            r"the difference is not significant; best is .*interval [\d.]+ times slower to [\d.]+"
            r" times faster\)",
            made.recommendation,
        )

    def test_a_worse_ratio_is_reported_as_a_number_above_one(self):
        made = timed_verdict([1.0] * 8, [2.0, 2.1] * 4)
        assert made.conclusion == "worse"
        assert re.search(
            r"2.05 times slower \(95 % interval [\d.]+ to 2[\d.]*\)", made.recommendation
        )

    def test_recommendation_is_in_the_text_and_in_json(self):
        made = compared([3.0, 3.2] * 4, [1.0, 1.1] * 4)
        assert made.recommendation in str(made).replace("\n", " ")
        assert made.to_json()["recommendation"] == made.recommendation

    def test_rare_kinds_of_instances_are_named_as_not_covered(self):
        assert "make up less than 26 % may be missing among these 12" in str(
            compared([2.0] * 12, [1.0] * 12)
        ).replace("\n", " ")
        several = verdict(
            runs(FIRST, [2.0] * 12), runs(SECOND, [1.0] * 12), Quality(), comparisons=4
        )
        assert "make up less than 34 % may be missing" in str(several).replace("\n", " ")
        assert "may be missing" not in str(compared([2.0] * 60, [1.0] * 60))


def timed_verdict(first, second, **more):
    return verdict(timed(FIRST, first), timed(SECOND, second), Runtime(), **more)


class TestDifferencesThatMatter:
    def test_less_than_the_clock_can_tell_is_no_proof(self):
        # A solver that ended 0.9 ms earlier on each of seven instances was "proven better".
        first = [0.03 + 0.001 * k for k in range(7)]
        made = timed_verdict(first, [t - 0.0009 for t in first])
        assert (made.wins, made.ties, made.losses) == (0, 7, 0)
        assert (made.conclusion, made.p_value) == ("unclear", 1.0)
        assert "too small to matter" in made.recommendation

    def test_less_than_one_percent_is_no_proof(self):
        costs = [10.0 + k for k in range(20)]
        assert compared(costs, [c * 0.995 for c in costs]).conclusion == "unclear"
        assert compared(costs, [c * 0.98 for c in costs]).conclusion == "better"
        made = verdict(runs(FIRST, costs), runs(SECOND, [c * 0.98 for c in costs]), Quality(),
                       margin=0.05)  # fmt: skip
        assert made.conclusion == "unclear"

    def test_tiny_differences_of_negative_costs_are_no_proof(self):
        costs = [-10.0 - k for k in range(20)]
        assert compared(costs, [c * 1.005 for c in costs]).conclusion == "unclear"
        assert compared(costs, [c * 1.02 for c in costs]).conclusion == "better"

    @examples(60)
    @given(
        st.lists(st.tuples(finite, finite), min_size=6, max_size=14),
        st.booleans(),
        st.booleans(),
    )
    def test_conclusion_and_intervals_agree(self, costs, positive, maximise):
        if positive:
            costs = [(abs(a) + 0.1, abs(b) + 0.1) for a, b in costs]
        made = compared(*zip(*costs, strict=True), Quality(maximise))
        for interval, none in ((made.ratio, 1.0), (made.gain, 0.0)):
            if interval is None:
                continue
            assert interval.low <= interval.estimate * (1 + 1e-9) + 1e-9
            includes = interval.low <= none <= interval.high
            assert includes == (made.conclusion == "unclear")
            if made.conclusion == "better":
                assert interval.low > none
        assert (made.p_value < 0.05) == (made.conclusion != "unclear")


class TestSeveral:
    def test_p_values_and_intervals_are_corrected(self):
        rng = stream(12, "several")
        first = [rng.gauss(10, 1) for _ in range(20)]
        second = [rng.gauss(9, 1) for _ in range(20)]
        one = compared(first, second)
        many = verdict(runs(FIRST, first), runs(SECOND, second), Quality(), comparisons=4)
        assert many.p_value == pytest.approx(min(1, 4 * one.p_value))
        assert many.ratio.low < one.ratio.low < one.ratio.high < many.ratio.high
        assert "Corrected for 4 comparisons on the same runs (Bonferroni)" in str(many)
        assert "98.8 % interval" in str(many)
        assert "Corrected" not in str(one)


class TestTimeBesideQuality:
    def test_slower_for_a_better_quality_is_said(self):
        first = [run(FIRST, i, 0, quality=3.0 + i, runtime=0.1 + 0.01 * i) for i in range(12)]
        second = [run(SECOND, i, 0, quality=2.0 + i, runtime=3.6 + 0.3 * i) for i in range(12)]
        made = verdict(first, second, Quality())
        assert made.time.estimate == pytest.approx(made.first.time / made.second.time)
        assert made.time.high < 1
        assert re.search(r"Best is 3\d\.?\d? times slower \([\d.]+ s against", str(made))
        assert made.to_json()["second"]["time"] == made.second.time

    def test_time_that_hardly_differs_needs_no_word(self):
        first = [run(FIRST, i, 0, quality=3.0, runtime=0.001) for i in range(12)]
        second = [run(SECOND, i, 0, quality=2.0, runtime=0.009) for i in range(12)]
        assert "slower" not in str(verdict(first, second, Quality()))

    def test_time_has_no_second_time(self):
        assert timed_verdict([1.0] * 8, [2.0] * 8).time is None


def test_a_verdict_about_time_has_the_quality_beside_it():
    def side(config, seconds, quality):
        return [run(config, i, 0, quality + i, seconds) for i in range(8)]

    text = str(verdict(side(FIRST, 2.0, 10.0), side(SECOND, 1.0, 40.0), Runtime()))
    assert "default 13.5, best 43.5" in " ".join(text.split())
    silent = [run(FIRST, i, 0, None, 2.0) for i in range(8)]
    text = str(verdict(silent, side(SECOND, 1.0, 40.0), Runtime()))
    assert "quality" not in text


class TestLook:
    def test_means_are_over_the_runs_that_neither_has_failed(self):
        made = compared([None, 4.0, 6.0, 8.0], [1.0, None, 3.0, 4.0])
        assert (made.first.cost, made.second.cost) == (7.0, 3.5)
        assert (made.first.failed, made.second.failed) == (1, 1)

    def test_beside_one_that_failed_always_stands_the_others_own_mean(self):
        made = compared([None] * 4, [1.0, None, 3.0, 5.0])
        assert (made.first.cost, made.second.cost) == (math.inf, 3.0)
        assert (made.first.failed, made.second.failed) == (4, 1)
