import tracemalloc
from collections.abc import Mapping
from fractions import Fraction
from itertools import islice, permutations

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from paramhs.core.random_streams import stream
from paramhs.core.space import Boolean, Config, Integer, Ordinal, Space
from paramhs.search.operators import (
    BothSides,
    Harmonic,
    LStep,
    Move,
    OneParameter,
    Operator,
    SeveralParameters,
    Uniform,
    UniformRandom,
)
from paramhs.search.operators import one_parameter as one_module
from paramhs.search.operators import operator as moves_module
from paramhs.search.operators import several_parameters as several_module
from paramhs.search.operators import two_sided as both_sides_module
from paramhs.search.operators import uniform_random as anywhere_module
from paramhs.search.operators.operator import without_replacement
from tests.support.laws import (
    DRAWS,
    ByLevels,
    EquallyMany,
    WithReplacement,
    fits,
    moves,
    successive,
)
from tests.support.scale import examples
from tests.support.spaces import spaces_with_config

MILLION = 10**6
OPERATORS = (
    OneParameter(),
    OneParameter(Uniform()),
    OneParameter(LStep(1)),
    OneParameter(LStep(2)),
    BothSides(),
    SeveralParameters(),
    SeveralParameters(Uniform()),
    SeveralParameters(LStep(1)),
    UniformRandom(),
)
FAR = (
    OneParameter(),
    OneParameter(Uniform()),
    BothSides(),
    SeveralParameters(),
    SeveralParameters(Uniform()),
    UniformRandom(),
)
NEIGHBOURLY = OPERATORS[:5]  # whose order runs through neighbours

LINE = Space({"k": (0, 4)})
PAIR = Space({"x": Integer(0, 1, default=0), "y": Integer(0, 2, default=0)})
MIXED = Space({"k": Integer(0, 2, default=0), "mode": ["a", "b", "c"]})
CHILD = Space({"mode": ["a", "b"], "k": Integer(0, 2, default=1)}, conditions={"k": "mode == b"})
HOLED = Space({"k": Integer(0, 4, default=1)}, forbidden=["k == 2"])
RELATED = Space(
    {"x": Integer(0, 2, default=0), "y": Integer(0, 2, default=1), "on": Boolean()},
    forbidden=["y < x", "on == true and x == 0"],
)
RICH = Space(
    {"mode": ["a", "b", "c"], "k": Integer(0, 9, default=3), "n": (0, 5), "one": [7]},
    conditions={"n": "mode in {b, c} and k > 2"},
    forbidden=["n > k", "mode == c and k == 9"],
)


def some_of(configs: set[Config]) -> st.SearchStrategy[set[Config]]:
    listed = sorted(configs, key=str)
    return st.sets(st.sampled_from(listed)) if listed else st.just(set())


def readable(law: Mapping[Move, Fraction]) -> dict[str, Fraction]:
    """The law with its moves as texts: challengers joined by bars."""
    return {" | ".join(config.key for config in move): p for move, p in law.items()}


HAND = [
    (OneParameter(), LINE, {"k": 1}, {"k=0": "6/17", "k=2": "6/17", "k=3": "3/17", "k=4": "2/17"}),
    (OneParameter(LStep(2)), LINE, {"k": 1}, {"k=0": "1/3", "k=2": "1/3", "k=3": "1/3"}),
    (
        OneParameter(Uniform()),
        LINE,
        {"k": 1},
        {"k=0": "1/4", "k=2": "1/4", "k=3": "1/4", "k=4": "1/4"},
    ),
    (
        BothSides(),
        LINE,
        {"k": 1},
        {"k=0 | k=2": "3/11", "k=2 | k=0": "3/11", "k=3": "3/11", "k=4": "2/11"},
    ),
    (
        BothSides(),
        LINE,
        {"k": 2},
        {"k=1 | k=3": "1/3", "k=3 | k=1": "1/3", "k=0 | k=4": "1/6", "k=4 | k=0": "1/6"},
    ),
    (
        OneParameter(),
        MIXED,
        {},
        {"k=1 mode=a": "1/3", "k=2 mode=a": "1/6", "k=0 mode=b": "1/4", "k=0 mode=c": "1/4"},
    ),
    (
        OneParameter(LStep(1)),
        MIXED,
        {},
        {"k=1 mode=a": "1/2", "k=0 mode=b": "1/4", "k=0 mode=c": "1/4"},
    ),
    (
        BothSides(),
        MIXED,
        {"k": 1},
        {
            "k=0 mode=a | k=2 mode=a": "1/4",
            "k=2 mode=a | k=0 mode=a": "1/4",
            "k=1 mode=b": "1/4",
            "k=1 mode=c": "1/4",
        },
    ),
    (OneParameter(), CHILD, {}, {"mode=b k=1": "1"}),
    (
        OneParameter(),
        CHILD,
        {"mode": "b", "k": 0},
        {"mode=a": "1/2", "mode=b k=1": "1/3", "mode=b k=2": "1/6"},
    ),
    (BothSides(), CHILD, {}, {"mode=b k=1": "1"}),
    (SeveralParameters(), CHILD, {}, {"mode=b k=1": "1"}),
    (
        SeveralParameters(),
        CHILD,
        {"mode": "b", "k": 0},
        {"mode=a": "2/3", "mode=b k=1": "2/9", "mode=b k=2": "1/9"},
    ),
    (
        SeveralParameters(),
        PAIR,
        {},
        {"x=1 y=0": "1/3", "x=0 y=1": "2/9", "x=0 y=2": "1/9", "x=1 y=1": "2/9", "x=1 y=2": "1/9"},
    ),
    (
        SeveralParameters(Uniform()),
        PAIR,
        {},
        {"x=1 y=0": "1/3", "x=0 y=1": "1/6", "x=0 y=2": "1/6", "x=1 y=1": "1/6", "x=1 y=2": "1/6"},
    ),
    (
        SeveralParameters(),
        LINE,
        {"k": 1},
        {"k=0": "6/17", "k=2": "6/17", "k=3": "3/17", "k=4": "2/17"},
    ),
    (OneParameter(), HOLED, {}, {"k=0": "6/11", "k=3": "3/11", "k=4": "2/11"}),
    (SeveralParameters(), HOLED, {}, {"k=0": "6/11", "k=3": "3/11", "k=4": "2/11"}),
    (OneParameter(Uniform()), HOLED, {}, {"k=0": "1/3", "k=3": "1/3", "k=4": "1/3"}),
    (OneParameter(LStep(1)), HOLED, {}, {"k=0": "1"}),
    (BothSides(), HOLED, {}, {"k=0": "6/11", "k=3": "3/11", "k=4": "2/11"}),
    (
        OneParameter(),
        RELATED,
        {},
        {
            "x=1 y=1 on=false": "2/5",
            "x=0 y=0 on=false": "3/10",
            "x=0 y=2 on=false": "3/10",
        },
    ),
    (
        UniformRandom(),
        PAIR,
        {},
        {"x=0 y=1": "1/5", "x=0 y=2": "1/5", "x=1 y=0": "1/5", "x=1 y=1": "1/5", "x=1 y=2": "1/5"},
    ),
    (
        UniformRandom(),
        CHILD,
        {"mode": "b", "k": 0},
        {"mode=a": "3/5", "mode=b k=1": "1/5", "mode=b k=2": "1/5"},
    ),
    (UniformRandom(), HOLED, {}, {"k=0": "1/3", "k=3": "1/3", "k=4": "1/3"}),
]


@pytest.mark.parametrize(("operator", "space", "at", "law"), HAND)
def test_a_law_equals_its_table(operator: Operator, space: Space, at, law: dict[str, str]):
    found = readable(operator.distribution(space, space.config(at)))
    assert found == {move: Fraction(p) for move, p in law.items()}


@pytest.mark.parametrize(("operator", "space", "at", "law"), HAND)
def test_the_draws_have_the_law_of_the_table(operator: Operator, space: Space, at, law):
    rng = stream(0, "table", str(operator), space.default.key, str(at))
    drawn = moves(operator, space, space.config(at), rng)
    texts = {move: " | ".join(config.key for config in move) for move in set(drawn)}
    assert fits(map(texts.get, drawn), {move: Fraction(p) for move, p in law.items()})


EXCLUDED = [
    (OneParameter(), LINE, {"k": 1}, [{"k": 0}], {"k=2": "6/11", "k=3": "3/11", "k=4": "2/11"}),
    (OneParameter(LStep(1)), LINE, {"k": 1}, [{"k": 0}], {"k=2": "1"}),
    (
        BothSides(),
        LINE,
        {"k": 1},
        [{"k": 0}],
        {"k=2": "6/11", "k=3": "3/11", "k=4": "2/11"},
    ),
    (BothSides(), LINE, {"k": 1}, [{"k": 0}, {"k": 2}], {"k=3": "3/5", "k=4": "2/5"}),
    (
        OneParameter(),
        MIXED,
        {},
        [{"k": 1}, {"k": 2}],
        {"k=0 mode=b": "1/2", "k=0 mode=c": "1/2"},
    ),
    (
        SeveralParameters(),
        PAIR,
        {},
        [{"x": 1}],
        {"x=0 y=1": "1/3", "x=0 y=2": "1/6", "x=1 y=1": "1/3", "x=1 y=2": "1/6"},
    ),
    (
        UniformRandom(),
        PAIR,
        {},
        [{"x": 1}, {"y": 1}, {"y": 2}],
        {"x=1 y=1": "1/2", "x=1 y=2": "1/2"},
    ),
]


@pytest.mark.parametrize(("operator", "space", "at", "left_out", "law"), EXCLUDED)
def test_what_is_excluded_is_left_out_by_conditioning(operator, space, at, left_out, law):
    excluded = {space.config(values) for values in left_out}
    at = space.config(at)
    found = operator.distribution(space, at, excluded)
    assert readable(found) == {move: Fraction(p) for move, p in law.items()}
    rng = stream(0, "excluded", str(operator), space.default.key, len(excluded))
    assert fits(moves(operator, space, at, rng, excluded=excluded), found)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Lists what is left after this many failures, soon instead of nearly never."""
    for module in (moves_module, one_module, both_sides_module):
        monkeypatch.setattr(module, "REDRAWS", request.param)
    for module in (several_module, anywhere_module):
        monkeypatch.setattr(module, "PATIENCE", request.param)


@pytest.mark.parametrize("impatient", [1], indirect=True)
@pytest.mark.parametrize("operator", OPERATORS, ids=str)
@pytest.mark.usefixtures("impatient")
def test_a_draw_from_the_list_of_what_is_left_has_the_same_law(operator: Operator, monkeypatch):
    at = RELATED.config(x=1, y=1)
    excluded = {RELATED.config(x=0, y=1), RELATED.config(x=1, y=1, on=True)}
    law = operator.distribution(RELATED, at, excluded)
    monkeypatch.setattr(type(operator), "distribution", lambda *_: law)  # not written out again
    rng = stream(0, "impatient", str(operator))
    assert fits(moves(operator, RELATED, at, rng, excluded=excluded), law)


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_the_draws_have_the_law_in_a_rich_space(operator: Operator):
    for name, at in enumerate([RICH.default, RICH.config(mode="b", k=8, n=5)]):
        law = operator.distribution(RICH, at)
        assert sum(law.values()) == Fraction(1)
        assert fits(moves(operator, RICH, at, stream(0, "rich", str(operator), name)), law)


@given(spaces_with_config(3), st.sampled_from(OPERATORS), st.integers(0, 2**32))
@examples(8, suppress_health_check=list(HealthCheck))
def test_the_draws_have_the_law_in_any_space(case: tuple[Space, Config], operator, seed: int):
    space, at = case
    law = operator.distribution(space, at)
    assume(len(law) > 1)
    assert fits(moves(operator, space, at, stream(seed, "any")), law)


@given(spaces_with_config(3), st.sampled_from(OPERATORS), st.data())
@examples(25, suppress_health_check=list(HealthCheck))
def test_a_law_sums_to_one_and_stays_in_the_allowed_space(case, operator, data: st.DataObject):
    space, at = case
    reachable = {config for move in operator.distribution(space, at) for config in move}
    excluded = (
        data.draw(st.sets(st.sampled_from(sorted(reachable, key=str)))) if reachable else set()
    )
    law = operator.distribution(space, at, excluded)
    assert sum(law.values()) == (1 if reachable - excluded else 0)
    assert all(p > 0 for p in law.values())
    assert {config for move in law for config in move} == reachable - excluded
    assert at not in reachable
    assert all(space.allowed(config) for config in reachable)
    assert all(config == space.config(config.as_dict()) for config in reachable)


@given(spaces_with_config(3), st.sampled_from(NEIGHBOURLY))
def test_one_parameter_operators_reach_neighbours_only(case: tuple[Space, Config], operator):
    space, at = case
    reachable = {config for move in operator.distribution(space, at) for config in move}
    neighbours = set(space.neighbours(at))
    assert reachable <= neighbours
    if operator in (OneParameter(), OneParameter(Uniform()), BothSides()):
        assert reachable == neighbours


@given(spaces_with_config(3))
def test_random_search_reaches_every_other_configuration(case: tuple[Space, Config]):
    space, at = case
    reachable = {config for (config,) in UniformRandom().distribution(space, at)}
    assert reachable == set(space.configs()) - {at}


@given(spaces_with_config(3))
def test_several_reaches_all_with_the_same_active_parameters(case: tuple[Space, Config]):
    space, at = case
    reachable = {config for (config,) in SeveralParameters().distribution(space, at)}
    alike = {config for config in space.configs() if config.keys() == at.keys()} - {at}
    assert alike <= reachable


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
@pytest.mark.parametrize(
    ("space", "excluded"),
    [
        (Space({"k": [1]}), set()),
        (Space({"k": Integer(0, 4)}), set(Space({"k": Integer(0, 4)}).configs())),
    ],
)
def test_where_nothing_is_left_there_is_no_move(operator: Operator, space: Space, excluded):
    rng = stream(0, "nothing")
    assert operator.distribution(space, space.default, excluded) == {}
    assert operator.sample(space, space.default, rng, excluded) == ()
    assert list(operator.order(space, space.default, rng, excluded)) == []


def test_a_parameter_with_one_value_is_never_chosen():
    space = Space({"one": [7], "k": (0, 1), "also": Ordinal([1])})
    assert readable(OneParameter().distribution(space, space.default)) == {
        "one=7 k=1 also=1": Fraction(1)
    }


@pytest.mark.parametrize("wrong", [ByLevels()])
def test_a_wrongly_chosen_parameter_is_rejected(wrong):
    space = Space({"k": (0, 4), "mode": ["a", "b"]})
    law = OneParameter(Uniform()).distribution(space, space.default)
    drawn = moves(wrong, space, space.default, stream(0, "wrong", "one"))
    assert not fits(drawn, law)
    assert fits(
        moves(OneParameter(Uniform()), space, space.default, stream(0, "right", "one")), law
    )


@pytest.mark.parametrize("wrong", [EquallyMany(), WithReplacement()])
def test_a_wrong_number_of_parameters_is_rejected(wrong):
    space = Space({"x": (0, 2), "y": (0, 2), "z": (0, 2)})
    law = SeveralParameters(Uniform()).distribution(space, space.default)
    drawn = moves(wrong, space, space.default, stream(0, "wrong", "several"))
    assert not fits(drawn, law)
    assert fits(
        moves(SeveralParameters(Uniform()), space, space.default, stream(0, "right", "several")),
        law,
    )


def test_operators_are_distinguished():
    at = RICH.default
    told = (
        OneParameter(),
        OneParameter(Uniform()),
        BothSides(),
        SeveralParameters(),
        UniformRandom(),
    )
    drawn = {op: moves(op, RICH, at, stream(0, "told", str(op))) for op in told}
    for one, other in permutations(told, 2):
        assert not fits(drawn[one], other.distribution(RICH, at))


def test_a_forbidden_result_that_wastes_the_move_is_rejected():
    """Conditioning is not the same as staying."""

    class Wasteful:
        def sample(self, space: Space, at: Config, rng) -> Move:
            to = Harmonic().quantile(5, 1)(rng.random())
            config = space.moved(at, ((0, to),))
            return (at if config is None else config,)

    drawn = moves(Wasteful(), HOLED, HOLED.default, stream(0, "wasteful"))
    assert not fits(drawn, OneParameter().distribution(HOLED, HOLED.default))


def test_both_sides_come_in_fair_order():
    law = BothSides().distribution(LINE, LINE.config(k=2))
    drawn = moves(BothSides(), LINE, LINE.config(k=2), stream(0, "fair"))
    assert fits(drawn, law)
    assert not fits([tuple(sorted(move, key=str)) for move in drawn], law)


@given(spaces_with_config(3), st.sampled_from(OPERATORS), st.integers(0, 2**32), st.data())
@examples(25, suppress_health_check=list(HealthCheck))
def test_an_order_gives_all_that_can_be_reached_once(case, operator, seed: int, data):
    space, at = case
    reachable = {config for move in operator.distribution(space, at) for config in move}
    excluded = (
        data.draw(st.sets(st.sampled_from(sorted(reachable, key=str)))) if reachable else set()
    )
    assume(isinstance(operator, OneParameter | BothSides) or len(reachable) < 60)
    order = list(operator.order(space, at, stream(seed, "order"), excluded))
    assert len(order) == len(set(order))
    if not isinstance(operator, SeveralParameters):
        assert set(order) == reachable - excluded
    assert set(order) <= reachable - excluded


FOUR = Space({"k": Integer(0, 3, default=1), "mode": ["a", "b"]})
WEIGHTS = {"k=0 mode=a": 1, "k=2 mode=a": 1, "k=3 mode=a": Fraction(1, 2), "k=1 mode=b": 1}


def orders(operator: Operator, space: Space, name: str, draws: int = DRAWS, **how: object):
    """Many whole orders of the neighbours of the default, as texts."""
    rng = stream(0, "orders", name)
    return [
        tuple(config.key for config in operator.order(space, space.default, rng, **how))
        for _ in range(draws)
    ]


ORDERS = [
    (OneParameter(), {key: Fraction(weight) for key, weight in WEIGHTS.items()}),
    (BothSides(), {key: Fraction(weight) for key, weight in WEIGHTS.items()}),
    (OneParameter(Uniform()), {key: Fraction(1) for key in WEIGHTS}),
    (OneParameter(LStep(1)), {key: Fraction(1) for key in WEIGHTS if key != "k=3 mode=a"}),
]


@pytest.mark.parametrize("impatient", [0, 1, 3, 20], indirect=True)
@pytest.mark.parametrize(("operator", "weights"), ORDERS)
@pytest.mark.usefixtures("impatient")
def test_an_order_has_the_law_of_successive_draws(operator: Operator, weights):
    """Whether the last are drawn again and again, or listed and raced."""
    assert fits(orders(operator, FOUR, str(operator)), successive(weights))


def test_an_order_has_that_law_as_it_is_shipped():
    """The last of four follows from the first three."""
    rng, first = stream(0, "orders", "shipped"), []
    for _ in range(DRAWS):
        three = [config.key for config in islice(OneParameter().order(FOUR, FOUR.default, rng), 3)]
        first.append((*three, *(WEIGHTS.keys() - three)))
    assert fits(first, successive(ORDERS[0][1]))


@pytest.mark.parametrize(("operator", "weights"), ORDERS)
def test_the_first_of_an_order_has_its_weight(operator: Operator, weights):
    rng = stream(0, "first", str(operator))
    first = [next(operator.order(FOUR, FOUR.default, rng)).key for _ in range(DRAWS)]
    total = sum(weights.values())
    assert fits(first, {key: weight / total for key, weight in weights.items()})


@pytest.mark.parametrize("impatient", [2], indirect=True)
@pytest.mark.usefixtures("impatient")
def test_an_order_by_other_weights_is_rejected():
    right = ORDERS[0][1]
    assert not fits(orders(OneParameter(Uniform()), FOUR, "uniform"), successive(right))
    wrong = {key: 1 / (1 / weight + 1) for key, weight in right.items()}  # 1 / (d + 1)
    assert not fits(orders(OneParameter(), FOUR, "harmonic"), successive(wrong))


@pytest.mark.parametrize("impatient", [0, 2], indirect=True)
@pytest.mark.usefixtures("impatient")
def test_an_order_leaves_out_what_is_excluded_and_keeps_its_law():
    excluded = {FOUR.config(k=2)}
    weights = {key: Fraction(w) for key, w in WEIGHTS.items() if key != "k=2 mode=a"}
    assert fits(orders(OneParameter(), FOUR, "excluded", excluded=excluded), successive(weights))


@pytest.mark.parametrize("impatient", [0, 2], indirect=True)
@pytest.mark.usefixtures("impatient")
def test_an_order_leaves_out_what_is_forbidden_and_keeps_its_law():
    weights = {"k=0": Fraction(1), "k=3": Fraction(1, 2), "k=4": Fraction(1, 3)}
    assert fits(orders(OneParameter(), HOLED, "forbidden"), successive(weights))


def test_draws_without_replacement_list_the_rest_once_drawing_fails():
    """The law of the rest, where drawing only ever gives the first."""
    weights = {"b": Fraction(3), "c": Fraction(2), "d": Fraction(1)}
    rng = stream(0, "rest")

    def rest(seen):
        assert seen == {"a"}
        return [(item, float(weight)) for item, weight in weights.items()]

    drawn = [tuple(without_replacement(lambda: "a", rest, rng)) for _ in range(DRAWS)]
    law = {("a", *order): p for order, p in successive(weights).items()}
    assert fits(drawn, law)


@pytest.mark.parametrize("operator", [SeveralParameters(), UniformRandom()], ids=str)
@pytest.mark.parametrize("impatient", [5], indirect=True)
@pytest.mark.usefixtures("impatient")
def test_the_whole_space_comes_in_the_order_of_successive_draws(operator: Operator):
    space = Space({"x": Integer(0, 1, default=0), "y": Integer(0, 1, default=0)})
    law = operator.distribution(space, space.default)
    weights = {config.key: p for (config,), p in law.items()}
    assert fits(orders(operator, space, str(operator)), successive(weights))


class Counted(Integer):
    """Counts how often it is asked for a value."""

    asked = 0

    def value(self, index: int) -> int:
        type(self).asked += 1
        return super().value(index)


LARGE = Space({"k": Counted(0, MILLION), "n": Integer(0, MILLION)}, forbidden=["k > 999999"])


@pytest.mark.parametrize("operator", FAR, ids=str)
def test_the_first_ten_of_two_million_neighbours_are_drawn_without_a_list(operator: Operator):
    rng = stream(0, "lazy", str(operator))
    before = Counted.asked
    tracemalloc.start()
    try:
        ten = list(islice(operator.order(LARGE, LARGE.default, rng), 10))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(set(ten)) == 10
    assert peak < 200_000
    assert Counted.asked - before < 1000


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_a_draw_among_a_million_levels_tests_few_configurations(operator: Operator):
    rng = stream(0, "few", str(operator))
    before = Counted.asked
    for _ in range(100):
        assert operator.sample(LARGE, LARGE.default, rng)
    assert Counted.asked - before < 1000


class NotWrittenOut(BothSides):
    """Refuses the exact law: among 10^6 values its denominators have 434,000 digits."""

    def distribution(self, space: Space, at: Config, excluded=()) -> dict[Move, Fraction]:
        raise AssertionError("the law was written out")


@pytest.mark.parametrize(
    "operator", [OneParameter(), OneParameter(Uniform()), NotWrittenOut()], ids=str
)
def test_the_only_value_left_among_many_is_found_without_the_exact_law(operator: Operator):
    space = Space({"k": Integer(0, 20_000, default=0)}, forbidden=["k > 0 and k < 20000"])
    rng = stream(0, "last", str(operator))
    assert operator.sample(space, space.default, rng) == ({"k": 20_000},)
    assert list(operator.order(space, space.default, rng)) == [{"k": 20_000}]


@pytest.mark.parametrize("size", [90, 300, 3_000])
def test_a_jump_where_nearly_all_is_forbidden_finds_what_is_left(size: int):
    number = Integer(0, size - 1, default=0)
    corner = Space({"a": number, "b": number}, forbidden=["a > 1 or b > 0"])
    at, other = corner.config(a=0, b=0), corner.config(a=1, b=0)
    found = [UniformRandom().sample(corner, at, stream(seed, "corner")) for seed in range(2)]
    assert found == [(other,)] * 2


@given(spaces_with_config(3), st.sampled_from([SeveralParameters(), SeveralParameters(LStep(1))]))
@examples(25, suppress_health_check=list(HealthCheck))
def test_the_law_among_few_is_that_of_all_sets_of_parameters(case, operator):
    space, at = case
    with pytest.MonkeyPatch.context() as patch:
        law = operator.distribution(space, at)
        patch.setattr(several_module, "MAX_LISTED_CONFIGS", 0)  # every space has few
        assert operator.distribution(space, at) == law


@pytest.mark.parametrize("operator", [SeveralParameters(), UniformRandom()], ids=str)
def test_the_draws_have_the_law_where_seven_of_millions_are_allowed(operator: Operator):
    names = "abcde"
    space = Space(
        {name: Integer(0, 50, default=0) for name in names},
        forbidden=["a + b + c + d + e > 1 and a + b + c + d + e < 250"],
    )
    at = space.config(a=1)
    law = operator.distribution(space, at)
    assert len(law) == 6
    assert fits(moves(operator, space, at, stream(0, "seven", str(operator))), law)


class CountedStep(LStep):
    """Counts how often it is asked for a weight."""

    asked = 0

    def weight(self, distance: int) -> Fraction:
        type(self).asked += 1
        return super().weight(distance)


def test_an_order_looks_only_as_far_as_its_step_reaches():
    space = Space({"k": Integer(0, 100_000)})
    order = list(OneParameter(CountedStep(2)).order(space, space.default, stream(0, "reach")))
    assert sorted(config["k"] for config in order) == [49_998, 49_999, 50_001, 50_002]
    assert CountedStep.asked < 1000


def test_operators_are_values():
    assert OneParameter() == OneParameter(Harmonic()) != OneParameter(Uniform())
    assert (
        len(
            {
                OneParameter(),
                OneParameter(Harmonic()),
                SeveralParameters(),
                SeveralParameters(LStep(2)),
                SeveralParameters(LStep(2)),
            }
        )
        == 3
    )


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_the_same_stream_gives_the_same_draws(operator: Operator):
    twins = [moves(operator, RICH, RICH.default, stream(1, "twin"), 50) for _ in range(2)]
    assert twins[0] == twins[1]


def test_spaces_that_differ_in_order_only_are_not_mixed_up():
    """What is remembered of one configuration must not be used for another."""
    one = Space({"a": Integer(0, 1, default=0), "b": Integer(0, 99, default=0)})
    other = Space({"b": Integer(0, 99, default=0), "a": Integer(0, 1, default=0)})
    rng = stream(0, "mixed")
    for space in (one, other):
        law = SeveralParameters().distribution(space, space.default)
        assert fits(moves(SeveralParameters(), space, space.default, rng), law)
