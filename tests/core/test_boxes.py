"""The allowed part of a space, found without drawing: exactly what is allowed, each once."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given

from paramhs import tune
from paramhs.core.random_streams import stream
from paramhs.core.space import Categorical, Integer, Ordinal, Real, Space
from paramhs.core.space.boxes import Clauses, DrawnBoxes
from tests.support.laws import fits
from tests.support.spaces import spaces

NUMBERS = {
    "a": Integer(-3, 4, default=0),
    "b": Integer(0, 6, default=0, special=[-1, 20]),
    "r": Real(0.5, 8.0, 6, log=True, default=0.5),
    "o": Ordinal([3, 1, 2.5]),
    "m": Categorical(["x", "y", "3"]),
}
CONDITIONS = {"r": "m in {x, y}", "b": "r < 4"}


def boxes_of(space: Space) -> list[tuple[range, ...]] | None:
    names = list(space.parameters)
    ordered = {names[at]: space.conditions[names[at]] for at, _ in space._switches}
    return Clauses(space.parameters, ordered, space.forbidden, space._clauses).boxes()


def assert_exact(space: Space) -> None:
    boxes = boxes_of(space)
    found = [indices for box in boxes for indices in product(*box)]
    every = product(*(range(p.levels) for p in space.listed))
    assert sorted(found) == [i for i in every if space.allowed(space.configured(i))]


@given(spaces())
def test_boxes_contain_what_is_allowed_once(space: Space):
    assert_exact(space)


@pytest.mark.parametrize("conditions", [{}, CONDITIONS])
@pytest.mark.parametrize(
    "clause",
    [
        "a + b > 3",
        "a * b * r > 4",
        "a - b != -2",
        "a / b > 0.5",
        "b / a <= 1 and o > 1",
        "b % 3 == 1",
        "r ^ a > 2",
        "abs(a) > 1 or m == y",
        "min(a, b, r) < 0 and max(a, o) > 2",
        "round(r) == b",
        "floor(r) + ceiling(r) > 2 * trunc(r)",
        "a == b",
        "a != b and a > 0",
        "a > o",
        "o > 1",
        "m != x",
        "b > a and r > b and o < r",
    ],
)
def test_arithmetic_is_bounded_by_what_it_can_be(clause: str, conditions: dict[str, str]):
    forbidden = [f"({clause}) and a != 0"]  # the default is allowed
    assert_exact(Space(NUMBERS, conditions=conditions, forbidden=forbidden))


def test_draws_from_boxes_are_uniform():
    boxes = [(range(2), range(3)), (range(2, 3), range(1))]
    drawn = DrawnBoxes(boxes)
    rng = stream(0, "boxes")
    law = dict.fromkeys([*product(*boxes[0]), *product(*boxes[1])], Fraction(1, 7))
    assert fits([tuple(drawn.draw(rng)) for _ in range(7_000)], law)


@pytest.mark.parametrize(
    ("clauses", "count"),
    [
        (["a > 0 and a < 50", "b != a", "c != b", "d != c", "e != d"], 2),
        (["a + b + c + d + e > 1 and a + b + c + d + e < 250"], 7),
        (["b != a", "c != b", "d != c", "e != d"], 51),
    ],
)
def test_a_search_finds_all_that_345_million_combinations_allow(clauses: list[str], count: int):
    space = Space({name: Integer(0, 50, default=0) for name in "abcde"}, forbidden=clauses)
    found = tune(lambda config: -sum(config.values()), space, budget=100, seed=1)
    assert len(found.history.configs) == count
    assert sum(found.best.values()) == 250
