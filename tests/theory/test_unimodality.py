from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.theory.unimodality import is_approximately_unimodal, profile


def holds(costs: list[float], optimum: int, alpha: Fraction, beta: int) -> bool:
    """The definition, word by word."""
    positions = range(len(costs))
    return all(
        costs[x] < costs[y]
        for x in positions
        for y in positions
        if abs(x - optimum) >= beta and abs(y - optimum) > alpha * abs(x - optimum)
    )


def smallest_alpha(costs: list[float], optimum: int, beta: int) -> Fraction:
    """Whether it holds changes only where alpha passes a quotient of two distances."""
    m = len(costs)
    candidates = {Fraction(j, i) for i in range(1, m) for j in range(i, m)} | {Fraction(1)}
    return min(alpha for alpha in candidates if holds(costs, optimum, alpha, beta))


@st.composite
def landscapes(draw: st.DrawFn, tied_optima: bool = False) -> tuple[list[float], int]:
    """Few different costs, so that ties abound, and an optimum anywhere."""
    costs = draw(st.lists(st.integers(1 - tied_optima, 6), min_size=1, max_size=9))
    optimum = draw(st.integers(0, len(costs) - 1))
    costs[optimum] = 0
    return [float(cost) for cost in costs], optimum


@given(landscapes())
def test_the_profile_is_what_the_definition_gives(drawn: tuple[list[float], int]) -> None:
    costs, optimum = drawn
    expected = [smallest_alpha(costs, optimum, beta) for beta in range(1, len(costs) + 1)]
    assert profile(costs) == expected


@given(landscapes(tied_optima=True))
def test_around_a_chosen_one_of_several_optima_too(drawn: tuple[list[float], int]) -> None:
    costs, optimum = drawn
    expected = [smallest_alpha(costs, optimum, beta) for beta in range(1, len(costs) + 1)]
    assert profile(costs, optimum) == expected


@given(landscapes())
def test_the_profile_never_rises_and_ends_at_one(drawn: tuple[list[float], int]) -> None:
    alphas = profile(drawn[0])
    assert alphas == sorted(alphas, reverse=True)
    assert alphas[-1] == 1


@given(landscapes())
def test_a_mirrored_landscape_has_the_same_profile(drawn: tuple[list[float], int]) -> None:
    assert profile(drawn[0]) == profile(drawn[0][::-1])


@given(landscapes(), st.fractions(1, 10, max_denominator=9), st.integers(1, 9))
def test_being_approximately_unimodal_is_the_definition(
    drawn: tuple[list[float], int], alpha: Fraction, beta: int
) -> None:
    costs, optimum = drawn
    beta = min(beta, len(costs))
    assert is_approximately_unimodal(costs, alpha, beta) == holds(costs, optimum, alpha, beta)


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([0.0], [1]),
        ([0, 1, 2, 3], [1, 1, 1, 1]),
        ([3, 1, 0, 2, 4], [1, 1, 1, 1, 1]),
        ([0, 5, 1, 2], [3, 1, 1, 1]),  # the value at distance 1 beats nothing
        ([0, 1, 1, 1], [3, 1.5, 1, 1]),  # a tie beats nothing
        ([2, 0, 3, 4], [1, 1, 1, 1]),  # both at distance 1 beat the one at distance 2
        ([9, 0, 3, 4], [2, 1, 1, 1]),  # the worse of the two does not
        ([0, float("inf"), float("inf")], [2, 1, 1]),
    ],
)
def test_profiles_worked_by_hand(costs: list[float], expected: list[float]) -> None:
    assert profile(costs) == expected


def test_on_a_deceptive_landscape_every_beta_but_the_last_needs_all_distances() -> None:
    costs = [0.0, *range(9, 0, -1)]
    assert profile(costs) == [Fraction(9, i) for i in range(1, 10)] + [1]


@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_one_valley_with_unequal_slopes_has_their_ratio_for_alpha(ratio: int) -> None:
    """So that a unimodal landscape is (1, 1) only if both sides rise alike."""
    costs = [ratio * max(x - 40, 0) + max(40 - x, 0) for x in range(60)]
    assert profile(costs)[0] == ratio


def test_several_optima_need_a_choice_among_them() -> None:
    with pytest.raises(BadInput, match="2 values share the best cost 0"):
        profile([0, 1, 0])
    with pytest.raises(BadInput, match="value number 1 is not an optimum"):
        profile([0, 1, 0], 1)


@pytest.mark.parametrize("costs", [[], [1.0, float("nan")], [[1.0], [2.0]]])
def test_what_is_no_landscape_is_refused(costs: list[float]) -> None:
    with pytest.raises(BadInput, match="list of costs"):
        profile(costs)


@pytest.mark.parametrize(("alpha", "beta"), [(0.9, 1), (1, 0), (1, 4)])
def test_alpha_and_beta_out_of_range_are_refused(alpha: float, beta: int) -> None:
    with pytest.raises(BadInput, match=r"beta in 1 \.\. 3"):
        is_approximately_unimodal([0, 1, 2], alpha, beta)
