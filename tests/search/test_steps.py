import math
import sys
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.search.operators import Harmonic, LStep, Step, Uniform, law
from paramhs.search.operators.harmonic_numbers import TABLE, first_above, harmonic_number
from tests.support.laws import (
    WRONG_HARMONIC,
    Draw,
    biased_sign,
    fits,
    indices,
    two_step_by_distance_first,
    two_step_clipped,
    uniform_shifted,
    uniform_with_the_current,
)
from tests.support.scale import examples

STEPS = (Harmonic(), Uniform(), LStep(1), LStep(3), LStep(1000))
LARGEST = 1 - 2**-53  # what random() gives at most
PRECISION = 1e-12
MILLION = 10**6
MANY = 500_000  # enough that a sign bias of 2 % passes less than once in 10^8 times


def exact_harmonic_numbers(n: int) -> list[Fraction]:
    """Harmonic numbers H_0, ..., H_n."""
    return [Fraction(0), *accumulate(Fraction(1, d) for d in range(1, n + 1))]


@lru_cache
def summed(n: int) -> float:
    """H_n to double precision, the slow way."""
    return math.fsum(1 / d for d in range(1, n + 1))


def drawing(step: Step) -> Draw:
    """The step as a draw of a new index."""

    def draw(levels: int, at: int, rng: Random) -> int:
        return step.quantile(levels, at)(rng.random())

    return draw


def reach(step: Step, levels: int, at: int) -> list[int]:
    return [to for to in range(levels) if to != at and step.weight(abs(to - at))]


@pytest.mark.parametrize(
    ("step", "levels", "at", "table"),
    [
        (Harmonic(), 2, 0, {1: "1"}),
        (Harmonic(), 2, 1, {0: "1"}),
        (Harmonic(), 5, 1, {0: "6/17", 2: "6/17", 3: "3/17", 4: "2/17"}),
        (Harmonic(), 5, 2, {0: "1/6", 1: "1/3", 3: "1/3", 4: "1/6"}),
        (Harmonic(), 4, 0, {1: "6/11", 2: "3/11", 3: "2/11"}),
        (Harmonic(), 4, 3, {2: "6/11", 1: "3/11", 0: "2/11"}),
        (Uniform(), 5, 1, {0: "1/4", 2: "1/4", 3: "1/4", 4: "1/4"}),
        (Uniform(), 2, 1, {0: "1"}),
        (LStep(1), 5, 1, {0: "1/2", 2: "1/2"}),
        (LStep(1), 5, 0, {1: "1"}),
        (LStep(2), 5, 1, {0: "1/3", 2: "1/3", 3: "1/3"}),
        (LStep(2), 5, 2, {0: "1/4", 1: "1/4", 3: "1/4", 4: "1/4"}),
        (LStep(2), 5, 4, {2: "1/2", 3: "1/2"}),
        (LStep(9), 3, 0, {1: "1/2", 2: "1/2"}),
    ],
)
def test_a_law_equals_its_table(step: Step, levels: int, at: int, table: dict[int, str]):
    assert law(step, levels, at) == {to: Fraction(p) for to, p in table.items()}


def test_the_harmonic_step_is_the_signed_distance_drawn_again_while_out_of_range():
    levels, at = 9, 2
    joint = {
        at + sign * d: Fraction(1, 2 * d) / exact_harmonic_numbers(levels - 1)[-1]
        for d in range(1, levels)
        for sign in (-1, 1)
    }
    inside = {to: p for to, p in joint.items() if 0 <= to < levels}
    total = sum(inside.values())
    assert law(Harmonic(), levels, at) == {to: p / total for to, p in inside.items()}


@given(st.sampled_from(STEPS), st.integers(2, 60), st.data())
def test_a_law_sums_to_one_and_never_stays(step: Step, levels: int, data: st.DataObject):
    at = data.draw(st.integers(0, levels - 1))
    table = law(step, levels, at)
    assert sum(table.values()) == Fraction(1)
    assert sorted(table) == reach(step, levels, at)


@pytest.mark.parametrize("length", [0, -1])
def test_a_step_of_no_length_is_refused(length: int):
    with pytest.raises(BadInput, match=f"length must be 1, 2, ..., not {length}"):
        LStep(length)


@given(st.sampled_from(STEPS), st.integers(2, 300), st.data())
def test_the_mass_is_the_sum_of_the_weights(step: Step, levels: int, data: st.DataObject):
    at = data.draw(st.integers(0, levels - 1))
    weights = sum(step.weight(abs(to - at)) for to in range(levels) if to != at)
    assert math.isclose(step.mass(levels, at), weights, rel_tol=1e-14)


@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize("levels", [2, 3, 5, 64, 127, 128, 129, 130, 400])
def test_a_quantile_function_inverts_the_cumulative_law(step: Step, levels: int):
    for at in sorted({0, 1, levels // 3, levels // 2, levels - 2, levels - 1}):
        draw = step.quantile(levels, at)
        below = Fraction(0)
        for to, probability in sorted(law(step, levels, at).items()):
            assert draw(float(below) + PRECISION) == to
            below += probability
            assert draw(float(below) - PRECISION) == to
        assert below == 1


@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize("levels", [*range(2, 12), 64, 127, 128, 129, 300])
def test_the_least_and_the_largest_draw_reach_the_ends_of_the_law(step: Step, levels: int):
    weights = [step.weight(d) for d in range(1, levels)]
    farthest = max(d for d, weight in enumerate(weights, 1) if weight)
    for at in range(levels):
        draw = step.quantile(levels, at)
        assert draw(0.0) == (max(at - farthest, 0) if at else 1)
        assert draw(LARGEST) == (min(at + farthest, levels - 1) if at < levels - 1 else at - 1)


@given(
    st.sampled_from(STEPS),
    st.integers(2, 2**31),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, LARGEST),
)
@examples(166)
def test_a_draw_stays_in_range_and_never_stays(step: Step, levels: int, part: float, u: float):
    at = int(part * levels)
    for position in (0, at, levels - 1):
        to = step.quantile(levels, position)(u)
        assert isinstance(to, int)
        assert 0 <= to < levels
        assert to != position
        assert step.weight(abs(to - position)) > 0


@given(st.sampled_from(STEPS), st.integers(2, 5000), st.data())
def test_a_quantile_function_rises(step: Step, levels: int, data: st.DataObject):
    at = data.draw(st.integers(0, levels - 1))
    us = sorted(data.draw(st.lists(st.floats(0, LARGEST), min_size=2)))
    drawn = [step.quantile(levels, at)(u) for u in us]
    assert drawn == sorted(drawn)


@pytest.mark.parametrize("at", [0, 1, 1000, 2048, 499_999, 999_998, 999_999])
def test_a_harmonic_draw_among_a_million_levels_is_exact(at: int):
    draw = Harmonic().quantile(MILLION, at)
    down, up = summed(at), summed(MILLION - 1 - at)
    for d in (1, 2, 31, 32, 100, 2047, 2048, 2049, 2050, 10_000, 499_999, 999_998):
        if 1 < d < at:  # Pr(at most at - d) = (H_at - H_(d-1)) / (H_at + H_up)
            edge = (down - summed(d - 1)) / (down + up)
            assert (draw(edge - PRECISION), draw(edge + PRECISION)) == (at - d, at - d + 1)
        if d < MILLION - 1 - at:  # Pr(at most at + d) = (H_at + H_d) / (H_at + H_up)
            edge = (down + summed(d)) / (down + up)
            assert (draw(edge - PRECISION), draw(edge + PRECISION)) == (at + d, at + d + 1)


def lines_run(call: Callable[[], object]) -> int:
    """How many lines of Python a call runs."""
    lines = 0

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("levels", [MILLION, 2**31])
def test_a_draw_does_not_loop_over_the_levels(levels: int):
    for step in STEPS:
        for at in (0, levels // 2, levels - 1):
            for u in (0.0, 0.25, 0.5, 0.9, 0.999999, LARGEST):
                assert lines_run(lambda: step.quantile(levels, at)(u)) < 60  # noqa: B023


def test_a_draw_among_a_million_levels_needs_no_memory():
    tracemalloc.start()
    try:
        for step in STEPS:
            step.quantile(MILLION, 7)(0.5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100_000


@pytest.mark.parametrize(
    ("levels", "at"), [(2, 0), (5, 2), (9, 2), (9, 8), (128, 40), (129, 40), (1000, 0)]
)
@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_the_draws_have_the_law(step: Step, levels: int, at: int):
    assert fits(indices(drawing(step), levels, at, f"{step}", 50_000), law(step, levels, at))


@pytest.mark.parametrize(("levels", "at"), [(5, 2), (9, 2)])
def test_many_draws_have_the_harmonic_law(levels: int, at: int):
    drawn = indices(drawing(Harmonic()), levels, at, "many", MANY)
    assert fits(drawn, law(Harmonic(), levels, at))


@pytest.mark.parametrize("wrong", WRONG_HARMONIC, ids=lambda wrong: wrong.__name__)
def test_wrong_harmonic_steps_are_rejected(wrong: Draw):
    drawn = indices(wrong, 5, 1, wrong.__name__, MANY if wrong is biased_sign else 100_000)
    assert not fits(drawn, law(Harmonic(), 5, 1))


@pytest.mark.parametrize("wrong", [uniform_with_the_current, uniform_shifted])
def test_wrong_uniform_steps_are_rejected(wrong: Draw):
    assert not fits(indices(wrong, 9, 2, wrong.__name__, 50_000), law(Uniform(), 9, 2))


@pytest.mark.parametrize("wrong", [two_step_by_distance_first, two_step_clipped])
def test_wrong_l_steps_are_rejected(wrong: Draw):
    assert not fits(indices(wrong, 9, 1, wrong.__name__, 50_000), law(LStep(2), 9, 1))


def test_each_step_is_distinguished_from_the_others():
    drawn = indices(drawing(Uniform()), 9, 2, "uniform", 50_000)
    assert not fits(drawn, law(Harmonic(), 9, 2))
    assert not fits(drawn, law(LStep(3), 9, 2))
    assert not fits(indices(drawing(LStep(2)), 9, 2, "two", 50_000), law(LStep(3), 9, 2))


def test_harmonic_numbers_equal_their_sums():
    exact = exact_harmonic_numbers(3000)
    for n, number in enumerate(exact):
        assert harmonic_number(n) == pytest.approx(float(number), rel=4e-16, abs=0)


def test_large_harmonic_numbers_equal_their_sums():
    for n in (10_000, 123_456, MILLION):
        assert harmonic_number(n) == pytest.approx(summed(n), rel=4e-16, abs=0)


def test_harmonic_numbers_rise_also_where_the_table_ends():
    numbers = [harmonic_number(n) for n in range(len(TABLE) + 1000)]
    assert all(a < b for a, b in pairwise(numbers))


@given(st.integers(1, 10**9), st.floats(0, 1))
@examples(166)
def test_first_above_is_the_first_above(limit: int, part: float):
    x = part * harmonic_number(limit)
    d = first_above(x, limit)
    assert 1 <= d <= limit
    assert d == limit or harmonic_number(d) > x
    assert d == 1 or harmonic_number(d - 1) <= x


def test_first_above_a_harmonic_number_is_the_next():
    for d in (*range(3000), 10**5, MILLION, 10**9):
        assert first_above(harmonic_number(d), 2 * 10**9) == d + 1


def test_first_above_all_is_the_limit():
    for limit in (1, 2, 2047, 2048, 2049, MILLION):
        assert first_above(harmonic_number(limit), limit) == limit
        assert first_above(harmonic_number(limit) + 1, limit) == limit


def test_first_above_has_the_harmonic_law():
    limit = 20
    total = exact_harmonic_numbers(limit)[-1]
    drawn = indices(
        lambda n, at, rng: first_above(rng.random() * harmonic_number(n), n),
        limit,
        0,
        "first",
        50_000,
    )
    assert fits(drawn, {d: Fraction(1, d) / total for d in range(1, limit + 1)})
