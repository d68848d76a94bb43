"""A confidence sequence is rarely wrong at any moment, and says something."""

import math

import numpy as np
import pytest

from benchmarks.calibration.saving import LAWS, ever_wrong, savings, truth
from paramhs import Space
from paramhs.analysis.confidence_sequence import mean_saving
from paramhs.analysis.verdict import verdict
from paramhs.core.costs import Quality
from paramhs.core.runs import Instance, Run, Status, Task

TRIALS = 300
# Counts of 300 at a rate of 5 % are above 31 with a probability below 1e-4.
MOST_WRONG = 31


@pytest.fixture(scope="module", params=["two kinds, 10 %", "constant against exponential"])
def drawn(request):
    law = LAWS[request.param]
    return savings(law, np.random.default_rng(5), TRIALS, 100), truth(law)


def test_the_interval_is_rarely_wrong_at_any_moment(drawn):
    assert ever_wrong(*drawn) <= MOST_WRONG


def test_an_interval_for_one_moment_that_is_looked_at_often_is_noticed(drawn):
    numbers, mean = drawn
    n = np.arange(1, numbers.shape[1] + 1)
    means = numbers.cumsum(axis=1) / n
    spread = np.sqrt((numbers**2).cumsum(axis=1) / n - means**2)
    wrong = np.abs(means - mean) > 1.96 * spread / np.sqrt(n)
    assert wrong[:, 10:].any(axis=1).sum() > MOST_WRONG


def test_a_steady_saving_is_found():
    interval = mean_saving([2.0] * 50, [1.0] * 50)
    assert 0.3 < interval.low < interval.estimate == 0.5 < interval.high < 0.6


def test_swapped_sides_turn_the_interval():
    first, second = [3.0, 1.0, 2.0, 5.0, 4.0, 9.0], [1.0, 2.0, 2.0, 1.0, 3.0, 2.0]
    there, back = mean_saving(first, second), mean_saving(second, first)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_more_instances_never_make_a_mean_possible_that_bets_at_that_moment_refute():
    interval = mean_saving([1.0] * 4000, [1.0] * 4000)
    assert -0.01 < interval.low < 0 < interval.high < 0.01


@pytest.mark.parametrize("costs", [[0.0] * 6, [-1.0] * 6, [math.inf] * 6, []])
def test_nothing_is_said_where_a_saving_is_not_defined(costs):
    assert mean_saving(costs, costs) is None


def made(costs, metric):
    space = Space({"x": range(2)})
    sides = [space.config({"x": x}) for x in range(2)]
    runs = [
        [Run(Task(side, Instance(str(i)), 1, 1.0), Status.OK, 0.0, cost[k])
         for i, cost in enumerate(costs)]
        for k, side in enumerate(sides)
    ]  # fmt: skip
    return verdict(*runs, metric)


def test_every_view_of_a_verdict_says_the_same_saving():
    found = made([(2.0, 1.0)] * 20, Quality())
    assert found.saving == mean_saving([2.0] * 20, [1.0] * 20)
    assert found.to_json()["saving"]["low"] == found.saving.low
    sentence = f"saves {100 * found.saving.low:.0f} % to {100 * found.saving.high:.0f} %"
    assert sentence in " ".join(str(found).split())
    assert sentence in found.as_html()


def test_a_loss_is_told_as_what_the_default_saves():
    found = made([(1.0, 2.0)] * 20, Quality())
    low, high = -100 * found.saving.high, -100 * found.saving.low
    assert f"Default saves {low:.0f} % to {high:.0f} % of the cost" in " ".join(str(found).split())


def test_failures_few_instances_and_maximising_have_no_saving():
    assert made([(2.0, 1.0)] * 5, Quality()).saving is None
    assert made([(2.0, None), *[(2.0, 1.0)] * 9], Quality()).saving is None
    assert made([(2.0, 1.0)] * 9, Quality(maximise=True)).saving is None
