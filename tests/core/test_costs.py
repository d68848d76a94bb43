import math
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paramhs.core.costs import CountedWork, Quality, Runtime, RuntimeThenQuality, score
from paramhs.core.runs import FAILURES, NO_INSTANCE, Run, Status, Task
from paramhs.core.space import Space

CUTOFF = 5.0
TASK = Task(Space({"x": range(3)}).default, NO_INSTANCE, 1, CUTOFF)
NOT_USABLE = [None, math.nan, math.inf, -math.inf]

QUALITIES = st.floats(-1e100, 1e100)
MAYBE_QUALITIES = QUALITIES | st.sampled_from(NOT_USABLE)
RUNS = st.builds(
    Run, st.just(TASK), st.sampled_from(Status), st.floats(0.0, CUTOFF), MAYBE_QUALITIES
)
METRICS = st.sampled_from(
    [Quality(), Quality(maximise=True), Runtime(), RuntimeThenQuality(), RuntimeThenQuality(2.0)]
)


def run(status, quality=None, runtime=1.5):
    return Run(TASK, status, runtime, quality)


def test_work_counts_where_a_run_has_an_answer():
    assert CountedWork().of(run(Status.OK, 7.0)) == (7.0,)
    assert CountedWork().of(run(Status.OK, 7.0)._replace(answer="unsat")) == (7.0,)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        *((status, None) for status in Status if status is not Status.OK),
        (Status.OK, "unknown"),
        (Status.OK, "timeout"),
    ],
)
def test_work_of_a_run_without_an_answer_is_the_worst(status, answer):
    """A run that is stopped, or gives up early, has done little work."""
    assert CountedWork().of(run(status, 7.0)._replace(answer=answer)) == (math.inf,)


@pytest.mark.parametrize("status", [Status.OK, Status.TIMEOUT, Status.CAPPED])
def test_quality_of_a_run_that_did_not_crash_is_what_it_reported(status):
    assert Quality().of(run(status, 7.0)) == (7.0,)


@pytest.mark.parametrize("status", [Status.OK, Status.TIMEOUT, Status.CAPPED])
@pytest.mark.parametrize("quality", NOT_USABLE)
@pytest.mark.parametrize("maximise", [False, True])
def test_quality_that_is_missing_or_not_finite_is_the_worst(status, quality, maximise):
    assert Quality(maximise).of(run(status, quality)) == (math.inf,)


@pytest.mark.parametrize("quality", [7.0, *NOT_USABLE])
@pytest.mark.parametrize("maximise", [False, True])
def test_quality_of_a_crash_is_the_worst_whatever_it_reported(quality, maximise):
    assert Quality(maximise).of(run(Status.CRASHED, quality)) == (math.inf,)


@pytest.mark.parametrize("status", [Status.OK, Status.TIMEOUT, Status.CAPPED])
def test_maximised_quality_counts_with_its_sign_turned(status):
    assert Quality(maximise=True).of(run(status, 7.0)) == (-7.0,)


def test_maximised_quality_is_shown_with_its_own_sign():
    metric = Quality(maximise=True)
    assert metric.shown(score([metric.of(run(Status.OK, q)) for q in (2.0, 4.0)])) == 3.0


def test_minimised_quality_is_shown_as_its_mean():
    metric = Quality()
    assert metric.shown(score([metric.of(run(Status.OK, q)) for q in (2.0, 4.0)])) == 3.0


@pytest.mark.parametrize("quality", [7.0, *NOT_USABLE])
def test_runtime_of_a_finished_run_is_its_runtime_whatever_its_quality(quality):
    assert Runtime().of(run(Status.OK, quality)) == (1.5,)


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.CAPPED, Status.CRASHED])
@pytest.mark.parametrize("quality", [7.0, *NOT_USABLE])
@pytest.mark.parametrize("penalty", [10.0, 2.0])
def test_runtime_of_an_unfinished_run_is_penalty_times_cutoff(status, quality, penalty):
    assert Runtime(penalty).of(run(status, quality)) == (penalty * CUTOFF,)


def test_the_usual_penalty_is_ten():
    assert Runtime() == Runtime(10.0)
    assert RuntimeThenQuality() == RuntimeThenQuality(10.0)


@pytest.mark.parametrize("quality", [7.0, *NOT_USABLE])
def test_runtime_then_quality_ignores_the_quality_of_a_finished_run(quality):
    assert RuntimeThenQuality().of(run(Status.OK, quality)) == (1.5, 0.0)


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.CAPPED])
def test_runtime_then_quality_of_a_stopped_run_ends_with_its_quality(status):
    assert RuntimeThenQuality().of(run(status, 7.0)) == (50.0, 7.0)
    assert RuntimeThenQuality(maximise=True).of(run(status, 7.0)) == (50.0, -7.0)


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.CAPPED])
@pytest.mark.parametrize("quality", NOT_USABLE)
def test_runtime_then_quality_of_a_stopped_run_without_quality_ends_with_the_worst(status, quality):
    assert RuntimeThenQuality().of(run(status, quality)) == (50.0, math.inf)


@pytest.mark.parametrize("quality", [7.0, *NOT_USABLE])
def test_runtime_then_quality_of_a_crash_ends_with_the_worst(quality):
    assert RuntimeThenQuality().of(run(Status.CRASHED, quality)) == (50.0, math.inf)


@pytest.mark.parametrize("metric", [Runtime(), RuntimeThenQuality()])
def test_runtime_is_shown_as_the_penalised_average(metric):
    costs = [metric.of(run(Status.OK, runtime=2.0)), metric.of(run(Status.TIMEOUT, 1.0))]
    assert metric.shown(score(costs)) == 26.0


def test_quality_decides_between_runs_that_all_timed_out():
    metric = RuntimeThenQuality()
    good, bad = ([metric.of(run(Status.TIMEOUT, q))] * 3 for q in (1.0, 2.0))
    assert score(good) < score(bad)


def test_quality_never_outweighs_runtime():
    metric = RuntimeThenQuality()
    slow = [metric.of(run(Status.TIMEOUT, -1e9)), metric.of(run(Status.OK, runtime=1.0))]
    fast = [metric.of(run(Status.CRASHED)), metric.of(run(Status.OK, runtime=0.5))]
    assert score(fast) < score(slow)


def ranked(metric):
    """Groups of single runs that the table puts in this order, best first."""
    unusable = [run(s, q) for s in Status for q in NOT_USABLE if s is not Status.CRASHED]
    crashed = [run(Status.CRASHED, q) for q in (-9.0, *NOT_USABLE)]
    stopped = Status.TIMEOUT, Status.CAPPED, Status.UNSOLVED
    if isinstance(metric, Quality):
        return [
            [run(s, -3.0) for s in Status if s not in FAILURES],
            [run(s, 1e300) for s in Status if s not in FAILURES],
            unusable + crashed,
        ]
    finished = [
        [run(Status.OK, q, runtime=1.0) for q in (8.0, *NOT_USABLE)],
        [run(Status.OK, q, runtime=4.0) for q in (2.0, *NOT_USABLE)],
    ]
    silent = [run(s, q) for s in stopped for q in NOT_USABLE]
    if isinstance(metric, Runtime):
        return [*finished, [run(s, 2.0) for s in stopped] + silent + crashed]
    return [
        *finished,
        [run(s, 1.0) for s in stopped],
        [run(s, 1e300) for s in stopped],
        silent + crashed,
    ]


@pytest.mark.parametrize("metric", [Quality(), Runtime(), RuntimeThenQuality()])
def test_single_runs_are_ordered_as_the_table_says(metric):
    scores = [{score([metric.of(r)]) for r in group} for group in ranked(metric)]
    assert [len(group) for group in scores] == [1] * len(scores)
    assert all(min(worse) > max(better) for better, worse in pairwise(scores))


def test_means_are_compared():
    assert score([(1.0,), (5.0,)]) < score([(3.5,), (3.0,)])
    assert score([(1.0,), (5.0,)]) == score([(3.0,), (3.0,)])


def test_fewer_unusable_runs_win_whatever_the_mean_of_the_others():
    assert score([(1e9,), (1e9,), (1e9,)]) < score([(0.0,), (0.0,), (math.inf,)])
    assert score([(9.0,), (9.0,), (math.inf,)]) < score([(0.0,), (math.inf,), (math.inf,)])


def test_mean_of_the_usable_decides_among_equally_many_unusable():
    assert score([(1.0,), (math.inf,)]) < score([(math.inf,), (2.0,)])


def test_runs_that_are_all_unusable_are_equal():
    assert score([(math.inf,)] * 3) == score([(math.inf,)] * 3)


def test_huge_qualities_have_a_score():
    assert score([(1e308,), (1e308,)]) > score([(1e308,), (0.0,)])


@given(METRICS, st.integers(1, 6), st.data())
def test_scores_are_totally_preordered(metric, n, data):
    some = data.draw(st.lists(st.lists(RUNS, min_size=n, max_size=n), min_size=3, max_size=3))
    a, b, c = (score([metric.of(r) for r in runs]) for runs in some)
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a <= b and b <= c) <= (a <= c)
    assert not any(math.isnan(x) for x in a)


@given(st.booleans(), st.lists(QUALITIES, min_size=1, max_size=8), st.data())
def test_a_run_without_usable_quality_is_worse_than_any_with_one(maximise, others, data):
    metric = Quality(maximise)
    rest = [metric.of(run(Status.OK, q)) for q in others]
    usable = data.draw(st.builds(run, st.sampled_from(["ok", "timeout"]).map(Status), QUALITIES))
    unusable = data.draw(
        st.builds(run, st.just(Status.CRASHED), MAYBE_QUALITIES)
        | st.builds(run, st.sampled_from(Status), st.sampled_from(NOT_USABLE))
    )
    assert score([*rest, metric.of(usable)]) < score([*rest, metric.of(unusable)])


@given(METRICS, st.lists(RUNS, min_size=1, max_size=8).flatmap(lambda r: st.permutations(r)))
def test_the_order_of_runs_does_not_matter(metric, shuffled):
    costs = [metric.of(r) for r in shuffled]
    assert score(costs) == score(sorted(costs, key=repr))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
@example([1e308, 1e308, -1e308])
def test_any_finite_costs_have_a_score_that_does_not_depend_on_their_order(numbers):
    costs = [(x,) for x in numbers]
    assert score(costs) == score(costs[::-1])
    assert score(costs)[0] == 0.0


@given(st.lists(st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)), min_size=1))
def test_better_on_every_pair_is_better(pairs):
    low = [(float(min(pair)) - 1,) for pair in pairs]
    high = [(float(max(pair)),) for pair in pairs]
    assert score(low) < score(high)
