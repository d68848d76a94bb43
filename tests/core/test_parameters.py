import json
import math
import pickle
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.space import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
    Space,
    value_text,
)
from paramhs.core.space.from_description import space_of
from paramhs.core.space.parameters import DEFAULT_LEVELS, parameter
from tests.support.scale import examples
from tests.support.spaces import parameters

MILLION = 10**6


def grid(parameter: Parameter) -> list[object]:
    return [parameter.value(i) for i in range(parameter.levels)]


def test_integer_values_run_from_low_to_high():
    assert grid(Integer(-1, 2)) == [-1, 0, 1, 2]


def test_integer_values_go_in_steps_up_to_at_most_high():
    assert grid(Integer(1, 9, 3)) == [1, 4, 7]


@pytest.mark.parametrize(
    ("given_", "default"),
    [
        (Integer(1, 5), 3),
        (Integer(1, 4), 2),
        (Integer(0, 10, 5), 5),
        (Integer(0, 10, default=0), 0),
        (Real(0, 1), 0.5),
        (Real(1, 100, log=True), 10.0),
        (Real(0, 1, default=0.123), 0.123),
        (Ordinal(["low", "medium", "high"]), "medium"),
        (Ordinal([1, 2, 4, 8]), 2),
        (Ordinal([1, 2, 4, 8], default=8), 8),
        (Categorical(["a", "b", "c"]), "a"),
        (Categorical(["a", "b", "c"], default="c"), "c"),
        (Boolean(), False),
        (Boolean(default=True), True),
    ],
)
def test_the_default_is_given_or_the_middle_or_the_first_category(
    given_: Parameter, default: object
):
    assert given_.default == default
    assert given_.value(given_.default_index) == default


def test_a_real_grid_is_even_and_has_short_values():
    assert grid(Real(0.1, 2.0, 20)) == [round(0.1 * i, 1) for i in range(1, 21)]


def test_a_log_grid_is_even_in_its_logarithms():
    assert grid(Real(0.001, 1000, 7, log=True)) == [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]


def test_a_real_parameter_has_its_number_of_levels_whatever_its_default():
    assert grid(Real(0, 1, 5, default=0.3)) == [0.0, 0.3, 0.5, 0.75, 1.0]
    assert grid(Real(0, 1, 3, default=0.9)) == [0.0, 0.9, 1.0]
    assert grid(Real(0, 1, 3, default=0.01)) == [0.0, 0.01, 1.0]


def test_a_real_default_on_an_end_stays_there():
    assert grid(Real(0, 1, 3, default=1)) == [0.0, 0.5, 1.0]
    assert Real(0, 1, 3, default=1).default_index == 2


@given(
    low=st.floats(1e-3, 1e3),
    factor=st.floats(1.01, 1e6),
    levels=st.integers(3, 200),
    log=st.booleans(),
    part=st.floats(0, 1),
)
@examples(50)
def test_a_real_grid_rises_from_end_to_end_through_its_default(low, factor, levels, log, part):
    high = low * factor
    default = min(max(low + part * (high - low), low), high)
    real = Real(low, high, levels, log=log, default=default)
    values = grid(real)
    assert all(a < b for a, b in pairwise(values))
    assert real.default == default
    assert default in values
    assert math.isclose(values[0], low, rel_tol=1e-9)
    assert math.isclose(values[-1], high, rel_tol=1e-9)


@given(parameters())
@examples(50)
def test_every_value_has_its_index(any_parameter: Parameter):
    assert [any_parameter.index(v) for v in grid(any_parameter)] == list(
        range(any_parameter.levels)
    )


def test_close_real_values_have_their_own_indices():
    """The forgiven error of 1e-9 must not reach the neighbours."""
    fine = Real(1, 1.0001, MILLION)
    near = range(fine.default_index - 20, fine.default_index + 20)
    assert [fine.index(fine.value(i)) for i in near] == list(near)


@pytest.mark.parametrize(
    ("low", "high", "levels"),
    [(999999999999.7, 1000000000002.4, 4), (1, 1 + 0.99e-9, 101)],
)
def test_a_real_grid_too_fine_for_its_digits_is_refused(low: float, high: float, levels: int):
    with pytest.raises(BadInput, match="too close"):
        Real(low, high, levels)


def test_a_real_grid_through_zero_contains_zero():
    for levels in range(4, 41, 3):
        for tenths in range(1, 10):
            real = Real(-tenths / 10, 2 * tenths / 10, levels)
            assert real.value((levels - 1) // 3) == 0


def test_the_index_of_a_real_forgives_rounding():
    real = Real(0, 1, 11)
    assert real.index(0.1 + 0.2) == 3
    assert real.index(1) == 10


def test_the_index_of_a_real_forgives_rounding_at_the_ends():
    assert Real(0.1, 0.3, 3).index(0.1 + 0.2) == 2


def test_the_index_of_an_integer_takes_whole_floats():
    assert Integer(0, 10).index(3.0) == 3


def test_a_million_levels_are_not_materialised():
    tracemalloc.start()
    try:
        for large in (
            Integer(0, MILLION),
            Real(0, 1, MILLION),
            Real(1e-6, 1, MILLION, log=True, default=0.1),
        ):
            assert large.index(large.value(MILLION // 3)) == MILLION // 3
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000  # bytes; a million values take eight times as many


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ((0.5, 25.0), Real(0.5, 25.0, DEFAULT_LEVELS)),
        ((1, 2.5), Real(1, 2.5)),
        ((1, 50), Integer(1, 50)),
        (range(1, 51), Integer(1, 50)),
        (range(0, 10, 4), Integer(0, 8, 4)),
        (range(5, 0, -2), Integer(1, 5, 2)),
        (["a", "b"], Categorical(["a", "b"])),
        (bool, Boolean()),
        (Ordinal([1, 2]), Ordinal([1, 2])),
    ],
)
def test_a_shorthand_means_a_parameter(spec: object, meant: Parameter):
    assert parameter(spec) == meant


@pytest.mark.parametrize("spec", [(1,), (1, 2, 3), ("a", "b"), (False, True), ()])
def test_a_tuple_that_is_no_range_is_refused(spec: object):
    with pytest.raises(BadInput) as caught:
        parameter(spec)
    assert repr(spec) in str(caught.value)
    assert "expected (low, high), two numbers" in str(caught.value)


@pytest.mark.parametrize("spec", ["text", 5, None, {"low": 1}, int])
def test_an_unknown_shorthand_is_refused_with_the_known_ones(spec: object):
    with pytest.raises(BadInput) as caught:
        parameter(spec)
    assert repr(spec) in str(caught.value)
    assert "expected (low, high), range(...), a list of values, bool" in str(caught.value)


def test_a_log_spaced_range_of_integers_may_begin_at_zero():
    values = grid(Integer(0, 20_000, log=True))
    assert values[:4] == [0, 1, 2, 3]
    assert values[-1] == 20_000
    assert len(values) == 65
    assert grid(Integer(0, 1, log=True)) == [0, 1]


def test_a_short_log_spaced_range_is_not_all_of_its_integers():
    values = grid(Integer(4, 64, log=True))
    steps = [after - before for before, after in pairwise(values)]
    assert steps == sorted(steps)
    assert steps[0] == 1
    assert steps[-1] >= 7
    assert 9 <= sum(value <= 16 for value in values) <= 12  # 16 is the middle of 21 levels


@pytest.mark.parametrize(
    "ranged",
    [
        Integer(10, 100, special=[-1, 0, 1000], default=-1),
        Integer(10, 100, 10, special=[5], default=20),
        Integer(0, 100, log=True, special=[-1]),
        Real(0.001, 1.0, log=True, special=[-1]),
        Real(0.001, 1.0, log=True, special=[0, 2], default=0.3),
        Real(0.001, 1.0, 5, special=[7], default=7),
    ],
)
def test_special_values_lie_beside_the_range_in_order(ranged: Parameter):
    values = grid(ranged)
    assert values == sorted(values)
    assert set(ranged.special) < set(values)
    assert [ranged.index(value) for value in values] == list(range(ranged.levels))
    space = Space({"a": ranged})
    assert space_of(space.describe()).parameters["a"] == ranged


def test_a_special_value_may_be_the_default():
    assert Integer(1, 9, special=[-1], default=-1).default == -1
    assert Real(1, 9, special=[-1], default=-1).default == -1.0
    assert Integer(1, 9, special=[-1]).default == 5


def test_what_is_neither_in_the_range_nor_special_is_refused():
    with pytest.raises(BadInput, match=r"0 is not in 1 .. 9, nor one of -1"):
        Integer(1, 9, special=[-1]).index(0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Integer(1, 9, special=[3]), "the special value 3 is in the range 1 .. 9 already"),
        (lambda: Integer(1, 9, special=[0.5]), "the special value 0.5 is not a number of the"),
        (lambda: Integer(1, 9, special=[0, 0]), "special values must differ"),
        (lambda: Integer(1, 9, special=0), "special must be a list of numbers, not 0"),
        (lambda: Real(0, 1, log=True), "give special = [0] for 0 itself"),
        (lambda: Integer(-1, 9, log=True), "give special = [-1] for a value that is no quantity"),
        (lambda: Integer(0.5, 3), "low must be an integer, not 0.5"),
        (lambda: Integer(0, "3"), "high must be an integer, not '3'"),
        (lambda: Integer(0, 3, 1.0), "step must be an integer, not 1.0"),
        (lambda: Integer(False, 3), "low must be an integer, not False"),
        (lambda: Integer(0, 3, 0), "step must be at least 1, not 0"),
        (lambda: Integer(4, 3), "low 4 > high 3"),
        (lambda: Integer(0, 3, default=4), "4 is not in 0 .. 3"),
        (lambda: Integer(0, 9, 3, default=4), "4 is not in 0 .. 9 in steps of 3"),
        (lambda: Integer(0, 3, default=1.5), "1.5 is not an integer"),
        (lambda: Real("0", 1), "low must be a finite number, not '0'"),
        (lambda: Real(0, math.inf), "high must be a finite number, not inf"),
        (lambda: Real(math.nan, 1), "low must be a finite number, not nan"),
        (lambda: Real(True, 2), "low must be a finite number, not True"),
        (lambda: Real(0, 1, 1), "at least 2 levels, not 1"),
        (lambda: Real(0, 1, 6.5), "at least 2 levels, not 6.5"),
        (lambda: Real(1, 1), "low 1 >= high 1"),
        (lambda: Real(-1, 1, log=True), "low > 0, not -1"),
        (lambda: Real(1, 1 + 1e-12, 65), "too close to tell apart"),
        (lambda: Real(0, 1, default=2), "the default 2 is not in 0.0 .. 1.0"),
        (lambda: Real(0, 1, default="x"), "the default 'x' is not in 0.0 .. 1.0"),
        (lambda: Real(0, 1, default=math.nan), "the default nan is not in 0.0 .. 1.0"),
        (lambda: Real(0, 1, 2, default=0.5), "no room for the default 0.5: give 3 or more"),
        (lambda: Ordinal("abc"), "must be a list, not 'abc'"),
        (lambda: Categorical([]), "at least one value"),
        (lambda: Categorical(["a", "a"]), "values must differ"),
        (lambda: Categorical([1, "1"]), "values must differ, also in writing"),
        (lambda: Categorical([1, 1.0]), "values must differ"),
        (lambda: Categorical({None: 1}), "a boolean, a number or a text, not None"),
        (lambda: Categorical({math.nan: 1}), "must be finite, not nan"),
        (lambda: Categorical(["a", "b"], default="c"), "'c' is not one of a, b"),
        (lambda: Categorical(list(range(30)), default=99), "99 is not one of 0, 1, 2,"),
        (lambda: Boolean(default="no"), "'no' is not one of false, true"),
        (lambda: Boolean(default=1), "1 is not one of false, true"),
    ],
)
def test_a_wrong_parameter_is_refused_and_the_message_says_why(make, message: str):
    with pytest.raises(BadInput) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "value", "message"),
    [
        (Integer(0, 3), 4, "4 is not in 0 .. 3"),
        (Integer(0, 3), True, "True is not an integer"),
        (Integer(0, 3), math.inf, "inf is not an integer"),
        (Integer(0, 3), "2", "'2' is not an integer"),
        (Real(0, 1, 11), 0.25, "not one of the 11 values from 0.0 to 1.0; the nearest is 0.2"),
        (Real(0, 1), 1.5, "1.5 is not in 0.0 .. 1.0"),
        (Real(0, 1), math.nan, "nan is not a number"),
        (Real(0, 1), True, "True is not a number"),
        (Categorical(["a", "b"]), "c", "'c' is not one of a, b"),
        (Categorical([0, 1]), True, "True is not one of 0, 1"),
        (Boolean(), 0, "0 is not one of false, true"),
        (Ordinal(["a"]), ["a"], "not ['a']"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(asked: Parameter, value, message: str):
    with pytest.raises(BadInput) as caught:
        asked.index(value)
    assert message in str(caught.value)


def test_a_number_is_distinguished_from_a_text_like_it():
    with pytest.raises(BadInput) as caught:
        Categorical(["0", "1"]).index(1)
    assert '1 is not one of "0", "1"' in str(caught.value)


def test_a_long_list_is_not_printed_in_full():
    with pytest.raises(BadInput) as caught:
        Categorical(list(range(1000))).index(-1)
    assert len(str(caught.value)) < 200
    assert str(caught.value).endswith("...")


@pytest.mark.parametrize("low", [10**400, -(10**400)], ids=["positive", "negative"])
def test_a_number_beyond_the_floats_is_bad_input(low: int):
    with pytest.raises(BadInput):
        Real(low, 0)


def test_listed_values_must_be_a_list():
    with pytest.raises(BadInput):
        Categorical(5)


@given(parameters())
def test_a_parameter_survives_pickling(any_parameter: Parameter):
    copy = pickle.loads(pickle.dumps(any_parameter))
    assert copy == any_parameter
    assert hash(copy) == hash(any_parameter)
    assert grid(copy) == grid(any_parameter)


@given(parameters(), parameters())
@examples(66)
def test_parameters_are_equal_iff_their_descriptions_are(one: Parameter, other: Parameter):
    assert (one == other) == (json.dumps(one.describe()) == json.dumps(other.describe()))
    assert one != other or hash(one) == hash(other)


def test_numbers_and_truths_are_different_categories():
    assert Categorical([0, 1]) != Categorical([False, True])


def test_kinds_with_the_same_values_differ():
    assert Ordinal(["a", "b"], default="a") != Categorical(["a", "b"])
    assert Boolean() != Categorical([False, True])


def test_a_parameter_says_how_to_make_it():
    for made in (Categorical(["a", "b"]), Ordinal([1, 2]), Boolean(default=True)):
        assert eval(repr(made)) == made


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        ("a-b_c.d", "a-b_c.d"),
        ("two words", '"two words"'),
        ("", '""'),
        ("1", '"1"'),
        ("true", '"true"'),
        ("null", '"null"'),
        ("a=b", '"a=b"'),
        ("é", "é"),
        (True, "true"),
        (1, "1"),
        (0.1, "0.1"),
        (1e-05, "1e-05"),
    ],
)
def test_a_value_is_written_plainly_or_as_json(value, text: str):
    assert value_text(value) == text


ANY_VALUE = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(ANY_VALUE, ANY_VALUE)
@settings(deadline=None)
def test_different_values_have_different_texts(one, other):
    assert (value_text(one) == value_text(other)) == (repr(one) == repr(other))
