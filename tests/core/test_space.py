import copy
import pickle
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below, stream
from paramhs.core.space import (
    INACTIVE,
    Boolean,
    Categorical,
    Compare,
    Config,
    Integer,
    Ordinal,
    Real,
    Space,
)
from paramhs.search.operators import SeveralParameters
from tests.support.laws import DRAWS, fits
from tests.support.scale import examples
from tests.support.spaces import (
    filled,
    full_indices,
    is_forbidden,
    only_active,
    rebuilt,
    spaces,
    spaces_with_config,
)

MILLION = 10**6


def chained() -> Space:
    """A child `depth` that is on in mode b, and its own child `width`, on from depth 2."""
    return Space(
        {"width": (0, 2), "depth": (0, 3), "mode": ["a", "b"], "always": [1]},
        conditions={"width": "depth >= 2", "depth": "mode == b"},
    )


def texts(configs) -> list[str]:
    return [config.key for config in configs]


def test_shorthands_make_a_space():
    space = Space({"chi": (0.5, 25.0), "k": range(1, 51), "mode": ["a", "b"], "on": bool})
    assert list(space.parameters.values()) == [
        Real(0.5, 25.0),
        Integer(1, 50),
        Categorical(["a", "b"]),
        Boolean(),
    ]
    assert space.default.as_dict() == {"chi": 12.75, "k": 25, "mode": "a", "on": False}


def test_a_config_is_a_mapping_of_the_active_parameters():
    config = chained().config(mode="b", depth=1)
    assert dict(config) == {"depth": 1, "mode": "b", "always": 1}
    assert list(config) == ["depth", "mode", "always"]
    assert len(config) == 3
    assert config["depth"] == 1
    assert "width" not in config
    assert config.get("width") is None
    assert {**config} == config.as_dict()


def test_an_inactive_or_unknown_parameter_is_a_key_error():
    config = chained().default
    with pytest.raises(KeyError, match="depth is not active"):
        config["depth"]
    with pytest.raises(KeyError):
        config["zeta"]


def test_a_config_has_a_readable_text():
    config = chained().config(mode="b", depth=3, width=0)
    assert config.key == str(config) == "width=0 depth=3 mode=b always=1"
    assert repr(chained().default) == "Config({'mode': 'a', 'always': 1})"


def test_a_config_equals_the_dictionary_of_its_values():
    assert chained().default == {"mode": "a", "always": 1}
    assert chained().default != {"mode": "a"}
    assert chained().default != 3


def test_a_config_cannot_be_changed():
    config = chained().default
    with pytest.raises(AttributeError):
        config.indices = (0, 0, 0, 0)


def test_values_of_inactive_parameters_are_forgotten():
    space = chained()
    assert space.config(mode="a", depth=3, width=2) == space.config(mode="a")


def test_a_chain_of_conditions_switches_off_from_the_top():
    space = chained()
    assert space.active((2, 3, 0, 0)) == [INACTIVE, INACTIVE, 0, 0]
    assert space.active((2, 3, 1, 0)) == [2, 3, 1, 0]
    assert space.active((2, 1, 1, 0)) == [INACTIVE, 1, 1, 0]


def test_a_child_is_switched_on_at_its_default():
    space = chained()
    on = space.moved(space.default, ((space.position["mode"], 1),))
    assert on == {"depth": 1, "mode": "b", "always": 1}


def test_a_whole_chain_is_switched_on_at_its_defaults():
    space = Space(
        {"mode": ["a", "b"], "depth": Integer(0, 3, default=2), "width": (0, 2)},
        conditions={"depth": "mode == b", "width": "depth >= 2"},
    )
    on = space.moved(space.default, ((0, 1),))
    assert on == {"mode": "b", "depth": 2, "width": 1}


def test_a_child_switched_off_and_on_again_is_back_at_its_default():
    space = chained()
    config = space.config(mode="b", depth=3, width=2)
    off = space.moved(config, ((2, 0),))
    assert space.moved(off, ((2, 1),)) == {"depth": 1, "mode": "b", "always": 1}


def test_a_move_to_what_is_forbidden_is_none():
    space = Space({"k": (0, 3), "n": (0, 3)}, forbidden=["k == 1 and n == 2", "n < k"])
    at = space.config(k=1, n=1)
    assert space.moved(at, ((1, 2),)) is None
    assert space.moved(at, ((0, 2),)) is None
    assert space.moved(at, ((0, 2), (1, 2))) == {"k": 2, "n": 2}


def test_only_active_parameters_with_two_values_can_move():
    space = chained()
    assert space.default.movable == (2,)
    assert space.config(mode="b", depth=3).movable == (0, 1, 2)


def test_neighbours_differ_in_one_parameter_and_are_allowed():
    space = Space({"k": (0, 2), "mode": ["a", "b"]}, forbidden=["k == 0"])
    assert texts(space.neighbours(space.config(k=1))) == ["k=2 mode=a", "k=1 mode=b"]


def test_configs_lists_every_allowed_configuration_once():
    space = Space(
        {"mode": ["a", "b"], "k": (0, 2)}, conditions={"k": "mode == b"}, forbidden=["k == 2"]
    )
    assert texts(space.configs()) == ["mode=a", "mode=b k=0", "mode=b k=1"]
    assert space.size() == 3
    assert space.combinations == 6


def test_a_large_space_is_counted_only_by_a_formula():
    assert Space({"k": (0, MILLION), "n": (0, MILLION)}).size() == (MILLION + 1) ** 2
    assert Space({"k": (0, MILLION)}, forbidden=["k > 10 and k < 20"]).size() is None


def test_sampling_without_conditions_is_uniform():
    space = Space({"k": (0, 2), "mode": ["a", "b"], "chi": Real(0, 1, 4)})
    rng = stream(0, "space")
    law = {config: Fraction(1, 24) for config in space.configs()}
    assert fits([space.sample(rng) for _ in range(DRAWS)], law)


def test_sampling_is_uniform_over_what_is_not_forbidden():
    space = Space({"k": (0, 4), "n": (0, 4)}, forbidden=["n < k", "k == 0 and n == 0"])
    rng = stream(0, "space", "forbidden")
    law = {config: Fraction(1, 14) for config in space.configs()}
    assert len(law) == 14
    assert fits([space.sample(rng) for _ in range(DRAWS)], law)


def test_sampling_draws_every_parameter_before_it_asks_which_are_active():
    space = Space({"mode": ["a", "b"], "k": (0, 2)}, conditions={"k": "mode == b"})
    rng = stream(0, "space", "conditions")
    law = {config: Fraction(1, 6) for config in space.configs()}
    law[space.config(mode="a")] = Fraction(1, 2)
    assert fits([space.sample(rng) for _ in range(DRAWS)], law)


def test_a_key_may_leave_out_the_quotes_of_texts_that_look_like_numbers():
    space = Space({"a": ["1", "2"], "b": [1, 2], "c": ["x", "true"]})
    assert space.from_key("a=2 b=2 c=true") == space.config(a="2", b=2, c="true")
    assert space.from_key(space.config(a="2").key) == space.config(a="2")
    with pytest.raises(BadInput, match="3 is not one of"):
        space.from_key("a=3")


def test_sampling_where_nearly_all_is_forbidden_finds_what_is_allowed():
    space = Space({"k": Integer(0, MILLION, default=0)}, forbidden=["k > 0 and k < 999999"])
    drawn = Counter(space.sample(stream(seed, "rare"))["k"] for seed in range(60))
    assert drawn.keys() == {0, MILLION - 1, MILLION}
    assert space.size() == 3


def test_sampling_says_so_where_what_is_allowed_cannot_be_found():
    scattered = "(k * 48271) % 2147483647 > 2000"
    space = Space({"k": Integer(0, MILLION, default=0)}, forbidden=[scattered])
    assert space.size() is None
    with pytest.raises(BadInput, match=r"10,000 random configurations in a row were forbidden"):
        space.sample(stream(0, "hopeless"))


@given(spaces(), st.data())
def test_activity_and_permission_mean_what_the_texts_say(space: Space, data: st.DataObject):
    indices = data.draw(full_indices(space))
    full = {
        name: p.value(i) for (name, p), i in zip(space.parameters.items(), indices, strict=True)
    }
    config = space.configured(indices)
    assert config.as_dict() == only_active(space, full)
    assert space.allowed(config) == (not is_forbidden(space, full))


@given(spaces_with_config(), st.data())
def test_a_move_means_what_the_texts_say(case: tuple[Space, Config], data: st.DataObject):
    space, config = case
    positions = data.draw(st.lists(st.sampled_from(range(len(config.indices))), unique=True))
    positions = [position for position in positions if config.indices[position] != INACTIVE]
    changes = [(i, data.draw(st.integers(0, space.listed[i].levels - 1))) for i in positions]
    full = filled(space, config)
    names = list(space.parameters)
    full.update({names[i]: space.listed[i].value(to) for i, to in changes})
    moved = space.moved(config, changes)
    if is_forbidden(space, full):
        assert moved is None
    else:
        assert moved is not None
        assert moved.as_dict() == only_active(space, full)


@given(spaces_with_config())
def test_neighbours_are_legal_and_distinct_and_one_setting_away(case: tuple[Space, Config]):
    space, config = case
    neighbours = list(space.neighbours(config))
    expected = set()
    for name, parameter in space.parameters.items():
        for value in (parameter.value(i) for i in range(parameter.levels)):
            full = filled(space, config) | {name: value}
            if name in config and value != config[name] and not is_forbidden(space, full):
                expected.add(space.config(only_active(space, full)))
    assert len(neighbours) == len(set(neighbours))
    assert set(neighbours) == expected
    assert config not in neighbours


@given(spaces(3))
def test_keys_are_equal_iff_configurations_are(space: Space):
    every = product(*(range(p.levels) for p in space.listed))
    made = [space.configured(indices) for indices in islice(every, 300)]
    assert len({config.key for config in made}) == len(set(made))
    of_key = {config.key: config for config in made}
    assert all(of_key[config.key] == config for config in made)


@given(spaces(), st.data())
def test_inactive_parameters_are_not_part_of_the_identity(space: Space, data: st.DataObject):
    indices, others = data.draw(full_indices(space)), data.draw(full_indices(space))
    config = space.configured(indices)
    blurred = [
        other if kept == INACTIVE else kept
        for kept, other in zip(config.indices, others, strict=True)
    ]
    assert space.configured(blurred) == config
    assert hash(space.configured(blurred)) == hash(config)
    assert space.configured(blurred).key == config.key


@given(spaces_with_config())
def test_a_config_is_made_again_from_its_values(case: tuple[Space, Config]):
    space, config = case
    assert space.config(config.as_dict()) == config
    assert space.config(**config) == config


@given(spaces_with_config())
@examples(30)
def test_a_config_survives_pickling_and_copying(case: tuple[Space, Config]):
    _, config = case
    for twin in (pickle.loads(pickle.dumps(config)), copy.deepcopy(config)):
        assert twin == config
        assert hash(twin) == hash(config)
        assert twin.key == config.key
        assert twin.movable == config.movable


@given(spaces())
def test_a_description_makes_an_equal_space(space: Space):
    twin = rebuilt(space.describe())
    assert twin == space
    assert hash(twin) == hash(space)
    assert twin.describe() == space.describe()
    assert twin.default == space.default


@given(spaces())
@examples(30)
def test_a_space_survives_pickling(space: Space):
    twin = pickle.loads(pickle.dumps(space))
    assert twin == space
    assert hash(twin) == hash(space)
    assert list(twin.parameters) == list(space.parameters)


@given(spaces(), st.integers(0, 2**32))
def test_what_is_sampled_is_allowed(space: Space, seed: int):
    """One combination in at most 4 ** 4, the default, is allowed, so 10,000 draws find one."""
    rng = stream(seed, "sample")
    drawn = [space.sample(rng) for _ in range(5)]
    assert all(space.allowed(config) for config in drawn)
    assert all(config == space.config(config.as_dict()) for config in drawn)


def test_spaces_differ_if_anything_does():
    made = [
        Space({"k": (0, 3), "n": (0, 3)}),
        Space({"k": (0, 3), "n": (0, 4)}),
        Space({"k": Integer(0, 3, default=3), "n": (0, 3)}),
        Space({"k": (0, 3), "n": (0, 3)}, conditions={"n": "k > 1"}),
        Space({"k": (0, 3), "n": (0, 3)}, conditions={"n": "k > 2"}),
        Space({"k": (0, 3), "n": (0, 3)}, forbidden=["k == 3"]),
    ]
    assert all((a == b) == (a is b) for a, b in product(made, made))
    assert made[0] != "k"


def test_the_order_of_the_parameters_is_part_of_a_space():
    """Configurations are equal if their indices are, so the places must mean the same."""
    one, other = Space({"k": (0, 3), "n": (0, 3)}), Space({"n": (0, 3), "k": (0, 3)})
    assert one != other
    assert one.config(k=0, n=1) != other.config(k=1, n=0)


def test_spaces_of_numbers_and_of_truths_differ():
    assert Space({"on": [0, 1]}) != Space({"on": [False, True]})


def test_a_space_is_printed_briefly():
    assert repr(chained()) == "Space(width, depth, mode, always, 2 conditional)"
    many = Space({f"p{i}": (0, 1) for i in range(20)}, forbidden=["p0 == 1"])
    assert repr(many) == "Space(p0, p1, p2, p3, p4, p5, p6, p7, ... (20), 1 forbidden)"


@pytest.mark.parametrize(
    ("make", "printed"),
    [
        (lambda: Space({}), "at least one parameter"),
        (lambda: Space({1: (0, 3)}), "a parameter's name must be a text, not 1"),
        (lambda: Space({"": (0, 3)}), "a parameter's name must be a text, not ''"),
        (lambda: Space({"k": (3, 0)}), "parameter 'k': an integer parameter's range is empty"),
        (lambda: Space({"k": "abc"}), "parameter 'k': 'abc' is not a parameter; expected"),
        (
            lambda: Space({"k": (0, 3)}, conditions={"n": "k > 1"}),
            "a condition for 'n', which is not a parameter",
        ),
        (
            lambda: Space({"k": (0, 3), "n": (0, 3)}, conditions={"n": "zeta > 1"}),
            "the condition of 'n': in 'zeta > 1', column 1: expected a parameter's name",
        ),
        (
            lambda: Space({"k": (0, 3)}, forbidden=["k >"]),
            "a forbidden clause: in 'k >', column 4: expected a value",
        ),
        (
            lambda: Space({"k": (0, 3)}, forbidden=[Compare("zeta", "==", 1)]),
            "'zeta == 1' mentions 'zeta', which is not a parameter",
        ),
        (
            lambda: Space({"k": (0, 3), "n": (0, 3)}, conditions={"n": Compare("z", "==", 1)}),
            "'z == 1' mentions 'z', which is not a parameter",
        ),
        (
            lambda: Space({"k": (0, 3), "n": (0, 3)}, conditions={"n": "k == 7"}),
            "in 'k == 7': 7 is not in 0 .. 3",
        ),
        (
            lambda: Space({"k": (0, 3)}, forbidden=["k == 7"]),
            "in 'k == 7': 7 is not in 0 .. 3",
        ),
        (
            lambda: Space({"k": (0, 3)}, forbidden=["k > 2", "k < 2"]),
            "the default configuration is forbidden by 'k < 2'",
        ),
        (
            lambda: Space({"k": (0, 3)}, conditions={"k": "k > 1"}),
            "conditions depend on each other in a cycle: k -> k",
        ),
    ],
)
def test_a_wrong_space_is_refused_and_the_message_says_where(make, printed: str):
    with pytest.raises(BadInput) as caught:
        make()
    assert printed in str(caught.value)


def test_conditions_in_a_circle_are_refused_with_the_circle():
    with pytest.raises(BadInput) as caught:
        Space(
            {"a": (0, 3), "b": (0, 3), "c": (0, 3), "d": (0, 3)},
            conditions={"a": "b > 1 and d > 1", "b": "c > 1", "c": "a > 1"},
        )
    message = str(caught.value)
    assert message.startswith("conditions depend on each other in a cycle: ")
    circle = message.split(": ")[1].split(" -> ")
    assert circle[0] == circle[-1]
    assert sorted(circle[1:]) == ["a", "b", "c"]


@pytest.mark.parametrize("odd", [5, None, ["k == 1"], Ordinal([1, 2])])
def test_a_condition_or_clause_that_is_no_expression_is_bad_input(odd: object):
    with pytest.raises(BadInput):
        Space({"k": (0, 3), "n": (0, 3)}, conditions={"n": odd})
    with pytest.raises(BadInput):
        Space({"k": (0, 3), "n": (0, 3)}, forbidden=[odd])


def test_parameters_that_are_no_mapping_are_bad_input():
    with pytest.raises(BadInput):
        Space([("k", (0, 3))])


def test_forbidden_clauses_given_as_one_text_are_refused_as_such():
    with pytest.raises(BadInput) as caught:
        Space({"k": (0, 3)}, forbidden="k == 3")
    assert "'k == 3'" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ({"zeta": 1}, "no parameter is called 'zeta'; there are k, n"),
        ([1], "expected a dictionary of values, not [1]"),
        ({"k": 9}, "k: 9 is not in 0 .. 3"),
        ({"k": "x"}, "k: 'x' is not an integer"),
        ({"k": 3, "n": 0}, "k=3 n=0 is forbidden by 'n < k'"),
    ],
)
def test_wrong_values_are_refused_with_the_name(values: dict[str, object], printed: str):
    space = Space({"k": (0, 3), "n": (0, 3)}, forbidden=["n < k"])
    with pytest.raises(BadInput) as caught:
        space.config(values)
    assert printed in str(caught.value)


def test_many_names_are_not_all_printed():
    space = Space({f"p{i}": (0, 1) for i in range(1000)})
    with pytest.raises(BadInput) as caught:
        space.config(zeta=1)
    assert str(caught.value).endswith("p0, p1, p2, p3, p4, p5, p6, p7, ... (1000)")


def large() -> Space:
    """1,000 parameters in chains of ten: a mode, then what each needs the one before it for."""
    parameters: dict[str, object] = {}
    conditions = {}
    for i in range(1000):
        parameters[f"p{i}"] = ["a", "b"] if i % 10 == 0 else Integer(0, 9, default=5)
        if i % 10:
            conditions[f"p{i}"] = f"p{i - 1} == b" if i % 10 == 1 else f"p{i - 1} >= 5"
    return Space(parameters, conditions=conditions, forbidden=["p1 == 9 and p11 == 9", "p2 < p12"])


def test_a_thousand_parameters_with_conditions_work():
    space = large()
    rng = stream(0, "large")
    assert len(space.default) == 100
    at = space.moved(space.default, ((0, 1),))
    assert len(at) == 109
    for _ in range(20):
        some = list(islice(space.neighbours(at), 50))
        at = some[below(len(some), rng)]
        assert space.allowed(at)
        (at,) = SeveralParameters().sample(space, at, rng)
        assert space.config(at.as_dict()) == at
    drawn = space.sample(rng)
    assert pickle.loads(pickle.dumps(drawn)) == drawn
    assert rebuilt(space.describe()) == space


def test_a_chain_of_a_thousand_conditions_works():
    space = Space(
        {f"p{i}": (0, 1) for i in range(1000)},
        conditions={f"p{i}": f"p{i - 1} == 1" for i in range(999, 0, -1)},
    )
    for depth in (0, 1, 500, 999):
        assert len(space.configured([1] * depth + [0] * (1000 - depth))) == depth + 1


def test_a_million_levels_cost_no_memory():
    tracemalloc.start()
    try:
        space = Space(
            {"k": Integer(0, MILLION), "rho": Real(0, 1, MILLION)}, forbidden=["k < 10", "rho > k"]
        )
        at = space.sample(stream(0, "million"))
        assert len(list(islice(space.neighbours(at), 100))) == 100
        assert space.config(at.as_dict()) == at
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_neighbours_are_made_one_by_one():
    class Counted(Integer):
        """Counts how often it is asked for a value."""

        asked = 0

        def value(self, index: int) -> int:
            type(self).asked += 1
            return super().value(index)

    space = Space({"k": Counted(0, MILLION)}, forbidden=["k > 999999"])
    before = Counted.asked
    list(islice(space.neighbours(space.default), 10))
    assert Counted.asked - before <= 10


def test_sampling_costs_one_draw_a_parameter():
    class Counting:
        """A source that counts its draws."""

        def __init__(self) -> None:
            self.rng, self.draws = stream(0, "counting"), 0

        def random(self) -> float:
            self.draws += 1
            return self.rng.random()

    space, rng = Space({"k": (0, MILLION), "mode": ["a", "b"]}), Counting()
    space.sample(rng)
    assert rng.draws == 2
    assert 0 <= below(5, rng) < 5
