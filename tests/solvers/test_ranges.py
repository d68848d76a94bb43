"""Ranges worth tuning, from the bounds that solvers accept."""

import pytest

from paramhs.core.space import Boolean, Categorical, Integer, Ordinal, Real
from paramhs.solvers.entry import Range
from paramhs.solvers.options import Option
from paramhs.solvers.ranges import NoRange, parameter_of

MAX = 2**31 - 1


@pytest.mark.parametrize(
    ("option", "parameter"),
    [
        (Option("a", "boolean", True), Boolean(default=True)),
        (
            Option("a", "choice", "on", choices=("off", "on")),
            Categorical(["off", "on"], default="on"),
        ),
        (Option("a", "choice", 3, choices=(5, 3, -1)), Ordinal([-1, 3, 5], default=3)),
        (Option("a", "integer", 1, 0, 2), Integer(0, 2, default=1)),
        (Option("a", "integer", -1, -1, 5), Integer(-1, 5, default=-1)),
        (Option("a", "integer", 990, 0, 1000), Integer(0, 1000, default=990)),
        (Option("a", "integer", 100, 1, MAX), Integer(1, 10_000, log=True, default=100)),
        (
            Option("a", "integer", 1_000_000, 0, MAX),
            Integer(10_000, 100_000_000, log=True, special=[0], default=1_000_000),
        ),
        (Option("a", "integer", 0, 0, None), Integer(0, 1000, log=True, default=0)),
        (
            Option("a", "integer", 20, -1, None),
            Integer(0, 2000, log=True, special=[-1], default=20),
        ),
        (
            Option("a", "integer", -1, -1, MAX),
            Integer(0, 1000, log=True, special=[-1], default=-1),
        ),
        (
            Option("a", "integer", 2**32 - 1, 0, None),
            Integer(0, 1000, log=True, special=[2**32 - 1], default=2**32 - 1),
        ),
        (Option("a", "integer", 0, -500, 500), Integer(-500, 500, default=0)),
        (Option("a", "real", 0.95, 0.0, 1.0), Real(0, 1, 41, default=0.95)),
        (Option("a", "real", 0.0, 0.0, 1.0), Real(0, 1, 41, default=0)),
        (
            Option("a", "real", 0.001, 0.0, 1.0),
            Real(0.00001, 0.1, log=True, special=[0], default=0.001),
        ),
        (
            Option("a", "real", 0.2, 0.0, None),
            Real(0.002, 20, log=True, special=[0], default=0.2),
        ),
        (Option("a", "real", 2.0, 1.0, None), Real(1, 200, log=True, default=2)),
    ],
)
def test_a_range_is_cut_to_what_may_make_sense(option, parameter):
    assert parameter_of(option, Range(), 100.0) == parameter


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        (Range(high=32), Integer(0, 32, default=7)),
        (Range(low=1, high=64, log=True), Integer(1, 64, log=True, default=7)),
        (Range(values=[1, 2, 4]), Ordinal([1, 2, 4, 7], default=7)),
        (Range(low=1, high=5), Integer(1, 5, special=[7], default=7)),
    ],
)
def test_an_entry_says_what_is_better(given, parameter):
    assert parameter_of(Option("a", "integer", 7, 0, MAX), given, 100.0) == parameter


@pytest.mark.parametrize(
    ("option", "why"),
    [
        (Option("a", "text", ""), "its value is a text of any kind"),
        (Option("a", "choice", "x", choices=("x",)), "it has one value only"),
        (Option("a", "real", 0.0, 0.0, None), "it has no upper bound"),
    ],
)
def test_an_option_without_a_range_is_left_out_with_the_reason(option, why):
    with pytest.raises(NoRange, match=why):
        parameter_of(option, Range(), 100.0)


@pytest.mark.parametrize(
    ("option", "parameter"),
    [
        (Option("a", "boolean", True), Categorical(["-", False, True], default="-")),
        (
            Option("a", "choice", "on", choices=("off", "on")),
            Categorical(["-", "off", "on"], default="-"),
        ),
    ],
)
def test_an_option_that_is_chosen_by_the_problem_is_not_set_by_default(option, parameter):
    assert parameter_of(option, Range(unset=True), 100.0) == parameter


def test_a_number_that_is_chosen_by_the_problem_needs_values():
    with pytest.raises(NoRange, match="the entry gives it no values"):
        parameter_of(Option("a", "integer", 7, 0, 9), Range(unset=True), 100.0)
