"""What things are, by value: nothing is taken for another."""

import enum
import json
import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core import Quality
from paramhs.core.description import description
from paramhs.core.errors import BadInput
from paramhs.search import Growing, Harmonic, OneParameter, ParamHS, SeveralParameters, Uniform


@dataclass
class Power:
    exponent: float

    def __call__(self, config):
        return config["x"] ** self.exponent

    def twice(self, config):
        return 2 * self(config)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Plain:
    def __init__(self, value):
        self.value = value

    def method(self, config):
        return self.value


class Says(Plain):
    def describe(self):
        return {"value": self.value}


def function(config, k=1, *, scale=2.0):
    return config["x"]


def bound(value):
    def inner(config):
        return value

    return inner


DIFFERENT = [
    None,
    0,
    1,
    True,
    1.5,
    math.inf,
    -math.inf,
    math.nan,
    "a",
    "1",
    b"a",
    b"b",
    [1, 2],
    [2, 1],
    {1, 2, 3},
    {"a": 1},
    {"a": 2},
    {1: "a"},
    range(3),
    range(4),
    Colour.RED,
    Colour.BLUE,
    Power(2),
    Power(3),
    Power(2).__call__,
    Power(2).twice,
    Power(3).twice,
    Power,
    Says(1),
    Says(2),
    function,
    bound(1),
    bound(2),
    bound(Power(1)),
    partial(function, k=2),
    partial(function, k=3),
    partial(function, 3),
    lambda config: 1,
    lambda config: 2,
    np.arange(4),
    np.arange(5),
    np.arange(4, dtype=float),
    len,
    math,
    OneParameter(Harmonic()),
    OneParameter(Uniform()),
    SeveralParameters(Uniform()),
    ParamHS(OneParameter(), Growing(2)),
    ParamHS(OneParameter(), Growing(3)),
    Quality(),
    Quality(maximise=True),
]


def text(thing):
    return json.dumps(description(thing))


def test_different_things_have_different_descriptions_in_json():
    texts = [text(thing) for thing in DIFFERENT]
    twice = [
        thing for thing, message in zip(DIFFERENT, texts, strict=True) if texts.count(message) > 1
    ]
    assert not twice


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Power(2), Power(2)),
        (bound([1, {"a": Power(1)}]), bound([1, {"a": Power(1)}])),
        (partial(function, k=2), partial(function, k=2)),
        ({3, 1, 2}, {2, 3, 1}),
        (Says([1]), Says([1])),
        (np.arange(4), np.arange(4)),
        (Path("a/b"), "a/b"),
        ((1, 2), [1, 2]),
    ],
)
def test_equal_things_have_equal_descriptions(one, other):
    assert text(one) == text(other)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_json_value_is_described_and_can_be_written(value):
    assert isinstance(text(value), str)


@pytest.mark.parametrize("thing", [Plain(1), Plain(1).method, bound(Plain(1)), [Power(Plain(2))]])
def test_what_cannot_say_what_it_is_is_refused_with_the_way_out(thing):
    with pytest.raises(BadInput, match=r"Plain, which does not say .* dataclass.*describe\(\)"):
        description(thing)


def test_the_message_says_which_part_it_is():
    with pytest.raises(BadInput, match="the target's value is a "):
        description(bound(Plain(1)), "the target")


def test_a_function_may_say_what_it_is():
    def f(config):
        return Plain(config)

    f.describe = lambda: {"version": 3}
    assert description(f)["version"] == 3


def test_what_holds_itself_is_described():
    loop = [1]
    loop.append(loop)
    assert description(loop) == [1, "itself"]

    def recursive(config):
        return recursive(config)

    assert "itself" in text(recursive)


def test_defaults_of_a_function_count():
    def f(config, k=1):
        return k

    before = text(f)
    f.__defaults__ = (2,)
    assert text(f) != before


def test_classes_of_ours_are_named_without_their_place():
    assert description(OneParameter(Uniform()))["kind"] == "OneParameter"
