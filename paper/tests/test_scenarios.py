import math

import numpy as np
import pytest
from scipy.stats import norm

from paramhs.theory.outcomes import Outcomes, outcomes, sum_law
from paramhs_paper.scenarios import HEURISTICS, RUNS

ERROR = 1e-12


def outcomes_of(name: str, runs: int = RUNS) -> Outcomes:
    scenario = HEURISTICS[name]
    return outcomes([scenario.heuristic.law(value) for value in scenario.values[:10]], runs)


def convolved_directly(law: np.ndarray, runs: int) -> np.ndarray:
    """By sums of products of positive numbers: nothing cancels, so nothing is lost."""
    power, result = law, np.ones(1)
    while runs:
        if runs % 2:
            result = np.convolve(result, power)
        runs //= 2
        power = np.convolve(power, power) if runs else power
    return result


@pytest.mark.parametrize(("name", "position"), [("ridge", 1), ("leadingones", 4), ("onemax", 7)])
@pytest.mark.parametrize("runs", [100, pytest.param(1500, marks=pytest.mark.slow)])
def test_sums_of_the_papers_targets_agree_with_direct_ones(
    name: str, position: int, runs: int
) -> None:
    scenario = HEURISTICS[name]
    law = scenario.heuristic.law(scenario.values[position])
    exact = convolved_directly(law, runs)
    assert abs(exact.sum() - 1) < 1e-11
    assert np.abs(sum_law(law, runs) - exact).max() < ERROR


@pytest.mark.parametrize("name", list(HEURISTICS))
def test_at_1500_runs_the_central_limit_theorem_is_a_fair_check(name: str) -> None:
    scenario = HEURISTICS[name]
    laws = [scenario.heuristic.law(value) for value in scenario.values[:10]]
    level = np.arange(51)
    means = [float(law @ level) for law in laws]
    variances = [float(law @ level**2) - m**2 for law, m in zip(laws, means, strict=True)]
    beats = outcomes_of(name).beats()
    for x in range(10):
        for y in range(10):
            scale = math.sqrt((variances[x] + variances[y]) * 1500)
            assert abs(beats[x, y] - norm.cdf(1500 * (means[y] - means[x]) / scale)) < 1e-3


@pytest.mark.parametrize("name", list(HEURISTICS))
def test_the_papers_outcomes_are_probabilities_to_the_stated_error(name: str) -> None:
    found = outcomes_of(name)
    assert np.abs(found.win + found.win.T + found.tie - 1).max() < ERROR


def test_more_runs_tell_better_from_worse_more_often() -> None:
    beats = [outcomes_of("leadingones", runs).beats()[3, 2] for runs in (1, 10, 100, 1500)]
    assert 0.5 < beats[0] < beats[1] < beats[2] < beats[3] <= 1
