import math
from itertools import pairwise

import pytest
from scipy.stats import t

from paramhs.analysis.evidence import (
    SURENESS,
    Rival,
    closest_rivals,
    difference_words,
    standard_error,
)
from paramhs.cli.render_result import _rival
from paramhs.core.costs import Quality, Runtime
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.search.history import History
from tests.support.driving import at, one_parameter

SPACE = one_parameter(5)
BEST = at(SPACE, 0)
WORDS = ("not visibly different", *(word for word, _ in reversed(SURENESS)))
BOUNDARIES = [
    (weaker, stronger, chance)
    for (weaker, stronger), (_, chance) in zip(pairwise(WORDS), reversed(SURENESS), strict=True)
]
"""Two words that are next to each other, and the probability between them."""


def runs(x, *qualities, first=0):
    """Runs on consecutive pairs, alternating between two instances."""
    config = at(SPACE, x)
    return [
        Run(Task(config, Instance("ab"[k % 2]), k), Status.OK, 0.0, quality)
        for k, quality in enumerate(qualities, start=first)
    ]


def known(*made, metric=Quality()):  # noqa: B008
    """A history of these runs."""
    cutoff = 10.0 if metric.needs_runtime else math.inf
    instances = tuple(map(Instance, "abc"))
    runs = tuple(run for some in made for run in some)
    return History(Scenario(SPACE, instances, metric, cutoff, known=runs), 0)


def crashed(x, seed):
    return Run(Task(at(SPACE, x), Instance("ab"[seed % 2]), seed), Status.CRASHED, 0.0)


def test_standard_error_of_a_mean_worked_by_hand():
    # mean 5, squared deviations 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, variance 32 / 7
    numbers = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    assert standard_error(numbers) == pytest.approx(math.sqrt(32 / 7 / 8))


@pytest.mark.parametrize("numbers", [[], [3.0]])
def test_fewer_than_two_numbers_say_nothing_about_their_spread(numbers):
    assert math.isinf(standard_error(numbers))


def test_costs_near_the_largest_float_have_rivals():
    (rival,) = closest_rivals(known(runs(0, 0, 0, 0) + runs(1, *[1.7e308] * 3)), BEST)
    assert rival.worse_by == 1.7e308
    (rival,) = closest_rivals(known(runs(0, 0, 0, 0) + runs(1, 1.7e308, -1.7e308, 0)), BEST)
    assert rival.error == pytest.approx(1.7e308 / math.sqrt(3))
    assert math.isinf(standard_error([1.7e308, -1.7e308]))


def test_rival_is_judged_on_common_pairs_only():
    # the best on pairs 0..3: 1 2 3 4; the rival on 1..4: 4 4 8 99, so excess 2 1 4 on 1, 2, 3
    (rival,) = closest_rivals(known(runs(0, 1, 2, 3, 4) + runs(1, 4, 4, 8, 99, first=1)), BEST)
    assert rival.config == at(SPACE, 1)
    assert rival.common == 3
    assert rival.worse_by == pytest.approx(7 / 3)
    # deviations -1/3, -4/3, 5/3: squares sum to 42/9, variance 21/9, over 3 runs
    assert rival.error == pytest.approx(math.sqrt(21 / 9 / 3))


def test_same_seed_on_another_instance_is_another_pair():
    other = [run._replace(task=run.task._replace(instance=Instance("c"))) for run in runs(1, 5, 5)]
    assert closest_rivals(known(runs(0, 1, 1) + other), BEST, least=1) == []


def test_closest_rival_comes_first_even_if_it_looks_better():
    made = runs(0, 5, 5, 5) + runs(1, 9, 9, 9) + runs(2, 4, 4, 4) + runs(3, 6, 6, 6)
    rivals = closest_rivals(known(made), BEST)
    assert [rival.config["x"] for rival in rivals] == [2, 3, 1]
    assert [rival.worse_by for rival in rivals] == [-1, 1, 4]


def test_when_maximising_a_smaller_quality_is_worse():
    made = known(runs(0, 9, 9, 9), runs(1, 7, 7, 7), metric=Quality(maximise=True))
    (rival,) = closest_rivals(made, BEST)
    assert (rival.config, rival.common, rival.worse_by, rival.error) == (at(SPACE, 1), 3, 2.0, 0.0)


@pytest.mark.parametrize(("least", "found"), [(2, 1), (3, 0)])
def test_rival_must_share_enough_pairs(least, found):
    made = runs(0, 1, 2, 3) + runs(1, 4, 5)
    assert len(closest_rivals(known(made), BEST, least)) == found


def test_rival_that_crashed_has_no_finite_excess_and_is_left_out():
    made = [*runs(0, 1, 2, 3, 4), *runs(1, 1, 2, 3), crashed(1, 3)]
    assert closest_rivals(known(made), BEST) == []


def test_best_without_runs_has_no_rivals():
    assert closest_rivals(known(runs(1, 1, 2, 3)), BEST) == []


def test_no_runs_give_no_rivals():
    assert closest_rivals(known([]), BEST) == []


def test_evidence_follows_the_metric():
    def timed(x, seed, seconds):
        task = Task(at(SPACE, x), Instance("a"), seed, 10.0)
        late = seconds > 10
        return Run(task, Status.TIMEOUT if late else Status.OK, min(seconds, 10.0), -1.0)

    made = [timed(0, k, 1.0) for k in range(3)] + [timed(1, k, s) for k, s in enumerate((2, 3, 11))]
    (rival,) = closest_rivals(known(made, metric=Runtime()), BEST)
    assert rival.worse_by == pytest.approx((1 + 2 + 99) / 3)


def test_order_of_the_runs_does_not_matter():
    made = runs(0, 1, 2, 3, 4) + runs(1, 4, 4, 8, 9) + runs(2, 0, 5, 5, 7)
    forwards = closest_rivals(known(made), BEST)
    backwards = closest_rivals(known(made[::-1]), BEST)
    assert [r.config for r in forwards] == [r.config for r in backwards]
    for one, other in zip(forwards, backwards, strict=True):
        assert (one.common, one.worse_by) == (other.common, pytest.approx(other.worse_by))
        assert one.error == pytest.approx(other.error)


@pytest.mark.parametrize(
    ("worse_by", "error", "common", "words"),
    [
        (0.48, 1.35e-7, 3, "clearly worse, by 0.48 ± 2.7e-07"),
        (-0.48, 1.35e-7, 3, "clearly better, by 0.48 ± 2.7e-07"),
        (1.6e-5, 0.029, 12, "not visibly different (± 0.058)"),
        (-1.6e-5, 0.029, 12, "not visibly different (± 0.058)"),
        (0.0, 0.029, 12, "not visibly different (± 0.058)"),
        (9.0, 0.55, 29, "clearly worse, by 9 ± 1.1"),
        (2.0, 0.55, 29, "probably worse, by 2 ± 1.1"),
        (1.0, 0.55, 29, "perhaps worse, by 1 ± 1.1"),
        (-1.0, 0.55, 29, "perhaps better, by 1 ± 1.1"),
        (2.0, 0.0, 3, "clearly worse, by 2 ± 0"),
        (2.0, math.inf, 1, "not visibly different"),
        (0.0, 0.0, 5, "the same"),
    ],
)
def test_words_follow_from_standard_errors(worse_by, error, common, words):
    assert difference_words(worse_by, error, common) == words


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("runs", [2, 3, 8, 30, 1_000])
@pytest.mark.parametrize(("weaker", "stronger", "chance"), BOUNDARIES)
def test_each_word_begins_at_its_probability(sign, runs, weaker, stronger, chance):
    at = t.isf(chance / 2, runs - 1)
    assert difference_words(sign * at * 0.999, 1.0, runs).startswith(weaker)
    assert difference_words(sign * at * 1.001, 1.0, runs).startswith(stronger)


def test_a_difference_is_small_or_none_beside_what_is_compared():
    assert difference_words(0.9, 0.01, 20, 100.0) == "clearly worse, by 0.9 ± 0.02 (less than 1 %)"
    assert difference_words(1.1, 0.01, 20, 100.0) == "clearly worse, by 1.1 ± 0.02"
    assert difference_words(1e-12, 0.0, 20, 100.0) == "the same"


def test_a_rival_that_is_better_says_that_the_search_ended_too_early():
    told = _rival("closest", Rival(BEST, 29, -4.38, 0.55))
    assert " is clearly better, by 4.38 ± 1.1 over 29 common runs: the search ended" in told
    assert "the search ended" not in _rival("closest", Rival(BEST, 29, 4.38, 0.55))


def test_the_reason_of_a_failure_is_one_line():
    task = Task(BEST, Instance("a"), 1, 1.0)
    trace = 'Traceback (most recent call last):\n  File "x", line 1\nValueError: that is why\n'
    for detail, reason in (
        (trace, "ValueError: that is why"),
        ("exit code 3\nmore", "exit code 3"),
    ):
        assert Run(task, Status.CRASHED, 0.0, None, detail).reason == reason
    assert Run(task, Status.CRASHED, 0.0).reason == ""
