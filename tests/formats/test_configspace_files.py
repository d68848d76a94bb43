"""ConfigSpace's files: those that its versions from 0.4 to 1.2 wrote, and oddities of others."""

import json
from pathlib import Path

import pytest

from paramhs.core.errors import BadInput
from paramhs.core.space import Boolean, Categorical, Integer, Ordinal, Real, Space
from paramhs.formats.space_files import read_space, written

DATA = Path(__file__).parent / "data"  # each written by the version in its name
VERSIONS = sorted(path.name for path in DATA.glob("configspace-*"))


def read(tmp_path: Path, *parameters: dict[str, object], **more: object) -> Space:
    path = tmp_path / "space.json"
    path.write_text(json.dumps({"hyperparameters": parameters, **more}), encoding="utf-8")
    return read_space(path).space


def test_there_are_files_of_all_the_versions():
    assert len(VERSIONS) == 7


@pytest.mark.parametrize("name", VERSIONS)
def test_every_version_is_read(name: str):
    space = read_space(DATA / name).space
    end = 0.000123456789 if "1.2" in name else 0.0001234567890123  # 1.2 rounds before it writes
    expected = {
        "uf": Real(end, 10, log=True, default=1.5),
        "ui": Integer(1, 1000, log=True, default=7),
        "cat": Categorical(["x", "y", "z"], default="y"),
        "flag": Boolean(default=True),
        "mixed": Categorical([1, "one", 2.5]),
        "ord": Ordinal(["low", "mid", "high"], default="mid"),
        "const": Categorical([5]),
        "un": Categorical(["u"]),
    }
    assert space.parameters.items() >= expected.items()
    assert {child: str(e) for child, e in space.conditions.items()} == {
        "flag": 'cat != "x"',
        "mixed": "flag == true",
        "ui": 'ord < "high" or uf > 2.0 and cat in {"y", "z"}',
    }
    assert str(space.forbidden[0]) == 'ord == "high"'
    assert str(space.forbidden[1]).endswith("and ui == 1")
    assert [str(e) for e in space.forbidden[2:]] == ["ui < bi"] * ("0.4" not in name)


def test_steps_of_version_0_7_are_kept():
    known = read_space(DATA / "configspace-0.7.1.json").space.parameters
    assert known["steps"] == Real(0, 1, 5, default=0.5)
    assert known["fives"] == Integer(0, 20, 5, default=10)


def test_a_normal_distribution_without_ends_gets_some_and_a_note():
    read = read_space(DATA / "configspace-0.6.1.json")
    assert read.space.parameters["nf"] == Real(-3, 3, default=0.0)
    assert read.notes == (
        f"{DATA / 'configspace-0.6.1.json'}, line 41, column 7: nf: a normal distribution without"
        " bounds is read as -3 .. 3, three sigma around mu",
    )


def test_parameters_keep_their_order_and_ranges_their_exact_ends(tmp_path: Path):
    ends = (0.12345678901234567, 98765.43210987654)
    space = Space({"z": ends, "a": Real(*ends, log=True), "m": (1, 2**53 - 2)})
    for form in ("json", "yaml"):
        path = tmp_path / f"space.{form}"
        path.write_text(written(space, f"configspace-{form}"), encoding="utf-8")
        assert read_space(path).space == space


def test_meta_may_be_anything(tmp_path: Path):
    """Sparkle writes a text there."""
    range_ = {"type": "uniform_float", "name": "x", "lower": 0, "upper": 1, "default_value": 0.5}
    for meta in ("-x", None, [1], {"paramhs": 3}, {"paramhs": {"levels": "many"}}, 7):
        assert read(tmp_path, {**range_, "meta": meta}).parameters["x"] == Real(0, 1)


def test_the_default_is_the_likeliest_category_if_none_is_said(tmp_path: Path):
    item = {"type": "categorical", "name": "c", "choices": ["a", "b", "c"]}
    assert read(tmp_path, item).default["c"] == "a"
    assert read(tmp_path, {**item, "weights": [1, 5, 2]}).default["c"] == "b"
    assert read(tmp_path, {**item, "probabilities": [0.1, 0.1, 0.8]}).default["c"] == "c"


X = {"type": "uniform_float", "name": "x", "lower": 0.0, "upper": 1.0}
N = {"type": "uniform_int", "name": "n", "lower": 0, "upper": 20}
C = {"type": "categorical", "name": "c", "choices": ["a", "b"]}


@pytest.mark.parametrize(
    ("parameters", "more", "message"),
    [
        ([{"q": 2, "type": "uniform_int"}], {}, "hyperparameter 1 must be a table with a name, n"),
        ([7], {}, "hyperparameter 1 must be a table with a name, not 7"),
        ([{**X, "name": ["x"]}], {}, "must be a table with a name"),
        ([{**X, "q": 0}], {}, "x: q, the step between values, must be a number above 0, not 0"),
        ([{**X, "q": "no"}], {}, "x: q, the step between values, must be a number above 0,"),
        ([{**X, "q": 1e-300}], {}, "x: a real parameter may have 2^53 levels"),
        ([{**X, "q": 5}], {}, "x: q = 5 leaves one value between 0.0 and 1.0"),
        ([{**N, "q": 0.5}], {}, "n: q must be an integer, not 0.5"),
        ([{**X, "lower": None}], {}, "x: lower must be a number, not None"),
        ([{**X, "lower": True}], {}, "x: lower must be a number, not True"),
        ([{**X, "log": "yes"}], {}, "x: log must be true or false, not 'yes'"),
        ([{**X, "default": "0.5"}], {}, "x: the default '0.5' is not in 0.0 .. 1.0"),
        ([{**X, "type": ["a"]}], {}, "x: unknown type ['a']; known are uniform_float"),
        ([{"type": "normal_float", "name": "x", "mu": 0}], {}, "x: sigma must be a number, not N"),
        ([{"type": "beta_float", "name": "x", "alpha": 0}], {}, "x: lower must be a number, not N"),
        ([X, X], {}, "x: this name is already used"),
        ([{**C, "choices": "ab"}], {}, "c: choices must be a list of values, not 'ab'"),
        ([{**C, "choices": [["a"]]}], {}, "c: a value must be a boolean, a number or a text"),
        ([{**C, "weights": [1, "x"]}], {}, "c: weights must be numbers, not [1, 'x']"),
        ([{"type": "constant", "name": "k", "value": None}], {}, "k: a value must be a boolean"),
        ([X, C], {"conditions": 7}, "conditions must be a list of tables"),
        ([X, C], {"conditions": [7]}, "conditions must be a list of tables"),
        ([X, C], {"conditions": [{"type": "EQ"}]}, "a condition refers to None, which"),
        (
            [X, C],
            {"conditions": [{"type": "EQ", "child": "x", "parent": "q", "value": 1}]},
            "column 182: the condition of x: parent is 'q'; expected one of x, c",
        ),
        (
            [X, C],
            {"conditions": [{"type": "EQ", "child": "x", "parent": "c", "value": "z"}]},
            "in 'c == \"z\"': 'z' is not one of a, b",
        ),
        (
            [X, C],
            {"conditions": [{"type": "XOR", "child": "x", "parent": "c"}]},
            "the condition of x: unknown type 'XOR'; known are EQ, NEQ, LT, GT, IN, AND, OR",
        ),
        (
            [X, C],
            {"conditions": [{"type": "AND", "child": "x", "conditions": []}]},
            "the condition of x: AND needs a list of conditions, not []",
        ),
        (
            [X, N, C],
            {"conditions": [{"type": "EQ", "child": "x", "parent": "c", "value": v} for v in "ab"]},
            "the condition of x: it has several conditions",
        ),
        (
            [X, C],
            {"conditions": [
                {"type": "EQ", "child": "x", "parent": "c", "value": "a"},
                {"type": "GT", "child": "c", "parent": "x", "value": 0.5},
            ]},
            "line 1, column 182: conditions depend on each other in a cycle: x -> c -> x",
        ),
        (
            [X, C],
            {"forbiddens": [{"type": "EQUALS", "name": "c", "value": "a"}]},
            "line 1, column 186: the default configuration is forbidden by 'c == \"a\"'",
        ),
        (
            [X, N],
            {"forbiddens": [{"type": "RELATION", "left": "x", "right": "n", "lambda": "NEAR"}]},
            "a forbidden clause: the relation 'NEAR' is not one of EQUALS, LESS, GREATER",
        ),
        (
            [X, N],
            {"forbiddens": [{"type": "IN", "name": "n", "values": 3}]},
            "a forbidden clause: expected a list of values, not 3",
        ),
        ([X], {"forbiddens": [{"type": "IN"}]}, "a forbidden clause: name is None; expected one"),
    ],
)  # fmt: skip
def test_errors_name_their_place(tmp_path: Path, parameters, more, message: str):
    with pytest.raises(BadInput) as caught:
        read(tmp_path, *parameters, **more)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'space.json'}, line 1, column ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("space.json", '{"hyperparameters": [\n {"name": "x", "type": "constant", "value": 1},\n'
                       ' {"type": "constant"}]}'),
        ("space.yaml", "hyperparameters:\n- {name: x, type: constant, value: 1}\n- type: ordinal"),
    ],
)  # fmt: skip
def test_a_parameter_without_a_name_is_reported_with_its_line(tmp_path: Path, name: str, text: str):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"line 3, column \d: hyperparameter 2 must be a table with"):
        read_space(path)
