import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.arguments import cost_named
from paramhs.core.costs import Runtime
from paramhs.core.description import description
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Run, Status, Task
from paramhs.core.several_costs import Bound, bounds_of, costs_named, described_cost
from tests.support.driving import one_parameter

TASK = Task(one_parameter(3).default, NO_INSTANCE, 1, 10.0)
BOTH = costs_named(["minimise size", "maximise accuracy", "PAR2"])


def run(*numbers, status=Status.OK, seconds=1.5):
    first, *others = numbers or (None,)
    return Run(TASK, status, seconds, first, others=tuple(others))


def test_a_cost_has_one_number_for_each_name():
    assert BOTH.names == ("size", "accuracy", "runtime")
    assert BOTH.of(run(3.0, 0.9)) == (3.0, -0.9, 1.5)
    assert BOTH.of(run(3.0, 0.9, status=Status.TIMEOUT)) == (3.0, -0.9, 20.0)


def test_a_missing_number_is_the_worst_and_a_wrong_answer_is_the_worst_in_all():
    assert BOTH.of(run(3.0)) == (3.0, math.inf, 1.5)
    assert BOTH.of(run(status=Status.CRASHED)) == (math.inf, math.inf, 20.0)
    assert BOTH.of(run(3.0, 0.9, status=Status.WRONG)) == (math.inf,) * 3


def test_unnamed_numbers_are_called_quality():
    assert costs_named(["minimise", "runtime"]).names == ("quality", "runtime")
    assert costs_named(["minimise", "maximise"]).names == ("quality", "quality2")


def test_a_cost_is_rebuilt_from_its_description():
    costs = costs_named(["runtime", "minimise gap"], "gap <= 0.01")
    assert described_cost(description(costs)) == costs
    assert described_cost(description(Runtime(2.0))) == Runtime(2.0)


@pytest.mark.parametrize(
    ("entries", "bounds", "message"),
    [
        (["minimise"], (), "at least two"),
        (["runtime", "PAR2"], (), "two runtimes"),
        (["minimise size", "maximise size"], (), "two costs are called 'size'"),
        (["minimise", "seconds"], (), "'seconds' is none of several costs"),
        (["minimise", 3], (), "3 is none of several costs"),
        (["minimise", "runtime"], "gap <= 1", "there is no cost 'gap'; there are 'quality'"),
        (["minimise", "runtime"], "runtime < 1", "'runtime < 1' is no bound"),
        (["minimise", "runtime"], "runtime <= nan", "is no bound"),
        (["minimise", "runtime"], 3, "a bound must be a text"),
        (["minimise", "runtime"], "runtime <= 1 and quality <= 2", "none is left to improve"),
    ],
)
def test_what_cannot_be_several_costs_is_refused_with_a_reason(entries, bounds, message):
    with pytest.raises(BadInput, match=message):
        costs_named(entries, bounds)


def test_a_bound_of_a_single_cost_is_refused():
    with pytest.raises(BadInput, match="here there is one cost"):
        cost_named("minimise", "quality <= 3")


@pytest.mark.parametrize(
    "described",
    [
        {"kind": "Costs"},
        {"kind": "Costs", "parts": [3], "names": ["a"], "bounds": []},
        {"kind": "Costs", "parts": [], "names": [], "bounds": []},
        {"kind": "Costs", "parts": [{"kind": "Reported", "far": 1}], "names": 3, "bounds": 4},
    ],
)
def test_a_damaged_description_is_refused(described):
    with pytest.raises(BadInput):
        described_cost(described)


@given(st.floats(-1e6, 1e6), st.booleans())
def test_a_bound_reads_back_what_it_shows(limit, at_most):
    bound = Bound("gap", float(f"{limit:g}"), at_most)
    assert bounds_of(str(bound)) == (bound,)
    assert bound.holds(bound.limit)
    assert bound.holds(bound.limit + (-1 if at_most else 1))
    assert not bound.holds(bound.limit + (1 if at_most else -1) * (1 + abs(bound.limit)))
