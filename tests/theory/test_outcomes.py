import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from paramhs.theory.outcomes import by_cost, outcomes, sum_law

ERROR = 1e-12

weights = st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any)


def exact_power(numbers: list[int], runs: int) -> list[Fraction]:
    """The law of the sum, in whole numbers: one long number holds all the coefficients."""
    width = (sum(numbers) ** runs).bit_length() + 1
    packed = sum(number << (width * i) for i, number in enumerate(numbers)) ** runs
    mask, total = (1 << width) - 1, sum(numbers) ** runs
    length = (len(numbers) - 1) * runs + 1
    return [Fraction((packed >> (width * k)) & mask, total) for k in range(length)]


def convolved(numbers: list[int], runs: int) -> list[Fraction]:
    """The law of the sum, term by term."""
    one = [Fraction(number, sum(numbers)) for number in numbers]
    law = [Fraction(1)]
    for _ in range(runs):
        longer = [Fraction(0)] * (len(law) + len(one) - 1)
        for i, p in enumerate(law):
            for j, q in enumerate(one):
                longer[i + j] += p * q
        law = longer
    return law


def as_law(numbers: list[int]) -> np.ndarray:
    return np.array(numbers) / sum(numbers)


def off(found: np.ndarray, exact: list[Fraction]) -> float:
    assert len(found) == len(exact)
    return max(abs(float(Fraction(float(p)) - q)) for p, q in zip(found, exact, strict=True))


@given(weights, st.integers(1, 6))
def test_the_law_of_a_sum_is_the_convolution(numbers: list[int], runs: int) -> None:
    exact = convolved(numbers, runs)
    assert exact == exact_power(numbers, runs)
    assert off(sum_law(as_law(numbers), runs), exact) < ERROR


@pytest.mark.parametrize(
    "numbers", [[1, 1], [1, 0, 0, 999], [3, 1, 4, 1, 5, 9, 2, 6], list(range(1, 52))]
)
def test_the_law_of_fifty_runs_is_right_to_twelve_places(numbers: list[int]) -> None:
    assert off(sum_law(as_law(numbers), 50), exact_power(numbers, 50)) < ERROR


@given(weights, st.integers(1, 200))
def test_the_law_of_a_sum_is_a_law(numbers: list[int], runs: int) -> None:
    law = sum_law(as_law(numbers), runs)
    assert len(law) == (len(numbers) - 1) * runs + 1
    assert law.min() >= 0
    assert abs(law.sum() - 1) < ERROR


def test_one_run_is_its_own_sum() -> None:
    law = as_law([1, 2, 3, 4])
    np.testing.assert_allclose(sum_law(law, 1), law, atol=1e-15)


@pytest.mark.parametrize("value", [0, 1, 50])
def test_the_sum_of_constants_is_certain(value: int) -> None:
    law = np.zeros(51)
    law[value] = 1.0
    total = sum_law(law, 1500)
    assert abs(total[1500 * value] - 1) < ERROR
    assert abs(total.sum() - 1) < ERROR


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.5, 0.999])
def test_1500_runs_carry_the_stated_error(chance: float) -> None:
    law = sum_law(binom.pmf(np.arange(51), 50, chance), 1500)
    exact = binom.pmf(np.arange(75_001), 75_000, chance)
    assert np.abs(law - exact).max() < 1500 * 2**-52


def test_wins_after_1500_runs_carry_the_stated_error() -> None:
    chances = (0.5, 0.5005, 0.51)
    found = outcomes([binom.pmf(np.arange(51), 50, p) for p in chances], 1500)
    at = np.arange(75_001)
    for a, p in enumerate(chances):
        for b, q in enumerate(chances):
            win = float(binom.pmf(at, 75_000, p) @ binom.cdf(at - 1, 75_000, q))
            assert abs(found.win[a, b] - win) < 1e-11
            tie = float(binom.pmf(at, 75_000, p) @ binom.pmf(at, 75_000, q))
            assert abs(found.tie[a, b] - tie) < ERROR


def test_a_law_that_does_not_sum_to_one_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="precision"):
        sum_law(np.array([0.5, 0.4]), 3)


@given(st.integers(2, 5), st.integers(1, 30), st.data())
def test_win_tie_and_loss_make_one(size: int, runs: int, data: st.DataObject) -> None:
    law = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
    found = outcomes([as_law(data.draw(law)) for _ in range(size)], runs)
    np.testing.assert_allclose(found.win + found.win.T + found.tie, 1.0, atol=ERROR)
    np.testing.assert_allclose(found.tie, found.tie.T, atol=1e-15)
    np.testing.assert_allclose(found.beats() + found.beats().T, 1.0, atol=ERROR)


@given(
    st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
    st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
    st.integers(1, 4),
)
def test_wins_and_ties_are_counted_pair_by_pair(a: list[int], b: list[int], runs: int) -> None:
    found = outcomes([as_law(a), as_law(b)], runs)
    first, second = convolved(a, runs), convolved(b, runs)
    pairs = [(i, j, p * q) for i, p in enumerate(first) for j, q in enumerate(second)]
    assert abs(found.win[0, 1] - float(sum(p for i, j, p in pairs if i > j))) < ERROR
    assert abs(found.win[1, 0] - float(sum(p for i, j, p in pairs if i < j))) < ERROR
    assert abs(found.tie[0, 1] - float(sum(p for i, j, p in pairs if i == j))) < ERROR


def test_of_two_constants_the_larger_wins_and_equal_ones_tie() -> None:
    found = outcomes([np.eye(3)[k] for k in (0, 2, 2)], 7)
    np.testing.assert_allclose(found.win, [[0, 0, 0], [1, 0, 0], [1, 0, 0]], atol=ERROR)
    np.testing.assert_allclose(found.tie, [[1, 0, 0], [0, 1, 1], [0, 1, 1]], atol=ERROR)


def test_the_challenger_that_beats_is_the_second_index() -> None:
    found = outcomes([np.eye(2)[0], np.eye(2)[1]], 1)
    np.testing.assert_allclose(found.beats(), [[0.5, 1.0], [0.0, 0.5]], atol=ERROR)


def test_a_table_decides_by_the_lower_cost_and_equal_costs_tie() -> None:
    costs = [2.0, 1, 2, math.inf]
    wins = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0]])
    ties = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]])
    for tie in (0.0, 0.5, 1.0):
        assert by_cost(costs, tie).tolist() == (wins + tie * ties).tolist()
    assert by_cost(costs)[0].tolist() == [0.5, 1.0, 0.5, 0.0]


def test_the_rule_decides_ties() -> None:
    found = outcomes([np.eye(3)[k] for k in (0, 2, 2)], 7)
    for tie in (0.0, 0.5, 1.0):
        beats = [[tie, 1, 1], [0, tie, tie], [0, tie, tie]]
        np.testing.assert_allclose(found.beats(tie), beats, atol=ERROR)
