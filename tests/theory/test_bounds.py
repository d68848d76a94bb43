import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from paramhs.search.operators import Harmonic, LStep, Step, Uniform
from paramhs.theory.bounds import (
    best_halving_bound,
    best_upper_bound,
    halving_bound,
    l_step_distance_bound,
    l_step_lower_bound,
    param_ils_lower_bound,
    uniform_lower_bound,
    upper_bound,
)
from paramhs.theory.outcomes import by_cost
from paramhs.theory.param_rls import grid_chain, table_chain
from paramhs.theory.unimodality import profile
from tests.support.chains import expected_calls, weighted

ROUNDING = 1e-9


def mean_calls(costs: np.ndarray, step: Step) -> float:
    return float(table_chain(costs, step).means().sum() / costs.size)


def on_line(step: Step, beats: np.ndarray, optimum: int) -> float:
    return grid_chain((len(beats),), step, lambda x, y: beats[x, y], [optimum]).moments()[0]


def any_landscape(costs: list[int], optimum: int) -> np.ndarray:
    array = np.array(costs, float)
    array[optimum % len(costs)] = 0
    return array


landscapes = st.builds(
    any_landscape, st.lists(st.integers(1, 9), min_size=2, max_size=14), st.integers(0, 13)
)


@given(landscapes)
def test_the_upper_bounds_hold_at_every_beta(costs: np.ndarray) -> None:
    exact = mean_calls(costs, Harmonic())
    for beta, alpha in enumerate(profile(costs), 1):
        assert exact <= halving_bound(len(costs), alpha, beta) * (1 + ROUNDING)
        assert exact <= upper_bound(len(costs), alpha, beta) * (1 + ROUNDING)


@given(landscapes, st.integers(0, 13))
def test_they_hold_around_any_of_several_optima(costs: np.ndarray, other: int) -> None:
    costs[other % len(costs)] = 0
    exact = mean_calls(costs, Harmonic())
    for optimum in np.flatnonzero(costs == 0):
        best = best_halving_bound(profile(costs, int(optimum)))
        assert exact <= best.calls * (1 + ROUNDING)


@given(landscapes)
def test_the_best_bound_is_the_smallest_of_the_profile(costs: np.ndarray) -> None:
    alphas = profile(costs)
    for best, bound in (
        (best_upper_bound(alphas), upper_bound),
        (best_halving_bound(alphas), halving_bound),
    ):
        calls = [bound(len(alphas), alpha, beta) for beta, alpha in enumerate(alphas, 1)]
        assert best.calls == pytest.approx(min(calls))
        assert best.alpha == alphas[best.beta - 1]


@given(landscapes)
def test_exact_calls_are_those_of_a_chain_written_from_the_papers_words(costs: np.ndarray) -> None:
    levels, optimum = len(costs), int(costs.argmin())

    def beats(challenger: int, incumbent: int) -> float:
        difference = costs[incumbent] - costs[challenger]
        return 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0

    for step in (Harmonic(), Uniform()):
        expected = expected_calls(range(levels), optimum, weighted(levels, step.weight), beats)
        assert on_line(step, by_cost(costs), optimum) == pytest.approx(expected)
        assert mean_calls(costs, step) == pytest.approx(expected)


def test_exact_calls_take_any_probabilities_of_winning() -> None:
    coin = np.full((9, 9), 0.5)
    expected = expected_calls(
        range(9), 2, weighted(9, LStep(2).weight), lambda challenger, incumbent: 0.5
    )
    assert on_line(LStep(2), coin, 2) == pytest.approx(expected)


def test_a_single_value_needs_no_call() -> None:
    assert mean_calls(np.zeros(1), Harmonic()) == 0
    assert upper_bound(1, 1, 1) == 0


def test_the_upper_bound_worked_by_hand() -> None:
    assert upper_bound(4, 1, 1) == pytest.approx(4 * (11 / 6) * 2 + 4 * (11 / 6))
    assert upper_bound(4, Fraction(3, 2), 3) == pytest.approx(6 * (11 / 6) * (2 + 3))


def test_every_landscape_of_m_values_takes_at_most_4_m_harmonic_numbers_and_a_logarithm() -> None:
    costs = np.array([stream(0, "any", i).random() for i in range(64)])
    harmonic = sum(1 / d for d in range(1, 64))
    assert best_upper_bound(profile(costs)).calls <= 4 * harmonic * (6 + 64)


@given(st.integers(2, 30), st.integers(0, 29), st.integers(1, 5))
def test_the_distance_bound_is_the_mean_number_of_steps(levels: int, at: int, length: int) -> None:
    at %= levels
    steps = [math.ceil(abs(x - at) / length) for x in range(levels)]
    bound = l_step_distance_bound([levels], [at], length)
    assert bound == Fraction(sum(steps), levels)
    assert bound >= l_step_lower_bound([levels], length)


def test_bounds_add_up_over_parameters() -> None:
    assert l_step_lower_bound([10, 6], 2) == 1
    assert uniform_lower_bound([10, 6]) == 4
    assert param_ils_lower_bound([10, 6]) == 1
    one, other = l_step_distance_bound([10], [3]), l_step_distance_bound([6], [5])
    assert l_step_distance_bound([10, 6], [3, 5]) == one + other


@pytest.mark.parametrize("sizes", [(5, 4), (2, 2, 2), (3, 4, 2)])
def test_several_parameters_need_at_least_the_lower_bounds(sizes: tuple[int, ...]) -> None:
    optimum = tuple(levels // 2 for levels in sizes)
    distances = [np.abs(np.arange(n) - at) for n, at in zip(sizes, optimum, strict=True)]
    costs = sum(np.meshgrid(*distances, indexing="ij")).astype(float)
    one_step, anywhere = mean_calls(costs, LStep()), mean_calls(costs, Uniform())
    assert one_step >= l_step_distance_bound(sizes, optimum) >= l_step_lower_bound(sizes)
    assert anywhere >= uniform_lower_bound(sizes)


def test_a_parameter_without_choice_or_an_optimum_out_of_range_is_refused() -> None:
    with pytest.raises(BadInput, match="at least two values"):
        uniform_lower_bound([5, 1])
    with pytest.raises(BadInput, match=r"not in 0 \.\. 4"):
        l_step_distance_bound([5], [5])
