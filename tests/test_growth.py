from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramhs.results.landscape.bounds import halving_bound, l_step_distance_bound
from paramhs.results.landscape.growth import (
    growth,
    harmonic_calls,
    harmonic_calls_from,
    l_step_calls,
    uniform_calls,
    uniform_calls_without_replacement,
)
from paramhs.results.landscape.param_rls import table_chain
from paramhs.search.operators import Harmonic, LStep, Step, Uniform
from paramhs.values.errors import BadInput


def densely(step: Step, levels: int, optimum: int) -> float:
    """By a linear system over all values."""
    costs = np.abs(np.arange(levels) - optimum).astype(float)
    return table_chain(costs, step).moments()[0]


@given(st.integers(1, 40), st.integers(0, 39))
def test_harmonic_calls_are_those_of_the_linear_system(levels: int, optimum: int) -> None:
    optimum %= levels
    assert harmonic_calls(levels, optimum) == pytest.approx(densely(Harmonic(), levels, optimum))


@pytest.mark.parametrize(
    ("levels", "optimum"), [(33, 0), (34, 33), (67, 33), (300, 0), (400, 133), (501, 40)]
)
def test_also_where_blocks_are_halved(levels: int, optimum: int) -> None:
    expected = densely(Harmonic(), levels, optimum)
    assert harmonic_calls(levels, optimum) == pytest.approx(expected, rel=1e-12)


@given(st.integers(1, 30), st.integers(0, 29), st.integers(1, 35))
@settings(max_examples=60)
def test_l_step_calls_are_those_of_the_linear_system(
    levels: int, optimum: int, length: int
) -> None:
    optimum %= levels
    expected = densely(LStep(length), levels, optimum)
    assert l_step_calls(levels, optimum, length) == pytest.approx(expected)


@pytest.mark.parametrize("levels", [2, 3, 10, 60])
def test_uniform_calls_are_those_of_the_linear_system(levels: int) -> None:
    assert uniform_calls(levels) == pytest.approx(densely(Uniform(), levels, levels // 3))


def test_two_values_take_half_a_call_whatever_the_operator() -> None:
    (row,) = growth([2])
    assert vars(row) == {
        "levels": 2,
        "l_step": 0.5,
        "uniform": 0.5,
        "uniform_without_replacement": 0.5,
        "harmonic": 0.5,
    }


def test_means_from_each_distance_worked_by_hand() -> None:
    """From 1 of 0, 1, 2: weights 1 and 1, half of the calls hit. From 2: weights 1/2 and 1."""
    below, above = harmonic_calls_from(3, 0)
    assert len(below) == 0
    assert above == pytest.approx([2, 1 + 2 * (2 / 3)])


@given(st.integers(1, 300), st.integers(0, 299))
@settings(max_examples=30)
def test_a_mirrored_landscape_takes_as_many(levels: int, optimum: int) -> None:
    optimum %= levels
    mirrored = harmonic_calls(levels, levels - 1 - optimum)
    assert harmonic_calls(levels, optimum) == pytest.approx(mirrored)


def test_harmonic_grows_like_a_squared_logarithm_and_the_others_like_the_number_of_values() -> None:
    rows = growth([10**3, 10**4, 10**5])
    for small, large in pairwise(rows):
        assert large.harmonic / small.harmonic < 2
        for name in ("l_step", "uniform", "uniform_without_replacement"):
            assert vars(large)[name] / vars(small)[name] == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize("levels", [10, 1000, 100_000])
def test_growth_respects_the_bounds(levels: int) -> None:
    (row,) = growth([levels])
    assert row.harmonic <= halving_bound(levels, 1, 1)
    assert row.l_step >= l_step_distance_bound([levels], [0])
    assert row.uniform_without_replacement >= levels / 4


def test_without_replacement_halves_the_calls_of_uniform() -> None:
    assert uniform_calls(1000) / uniform_calls_without_replacement(1000) == pytest.approx(2, 0.01)


@pytest.mark.parametrize("optimum", [-1, 5])
def test_an_optimum_out_of_range_is_refused(optimum: int) -> None:
    with pytest.raises(BadInput, match=r"not in 0 \.\. 4"):
        growth([5], optimum)
