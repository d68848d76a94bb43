"""Files of parameters that are made to break a reader: one message, soon, and a short one."""

import os
from pathlib import Path

import pytest

from paramhs.core.errors import BadInput
from paramhs.core.space import (
    And,
    Boolean,
    Calculation,
    Categorical,
    Compare,
    Integer,
    Or,
    Ordinal,
    Real,
    Ref,
    Relation,
    Space,
    parse,
)
from paramhs.formats.space_files import FORMATS, read_space, written
from tests.support.command_line import paramhs
from tests.support.scale import of

MANY = of(30_000, 100_000)
HUGE = 10**5000
DIGITS = ["9" * 5000, "0." + "9" * 5000, "1e5000", "9" * 350, "-" + "9" * 5000, "9" * 1_000_000]


def refusal(tmp_path: Path, text: str, format: str | None = None, name: str = "f.txt") -> str:
    """The message, which is one short line that begins with the file."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_space(path, format)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert len(message) < 1500 + len(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


# Numbers that no double holds, and those that Python does not even read.

WITH_NUMBER = [
    ("pcs", "a [0,{}] [1]i\n", "line 1, column 6"),
    ("pcs", "a {{0,1..{}}} [0]\n", "line 1, column "),
    ("pcs-new", "a real [0,1] [{}]\n", "line 1, column 15"),
    ("pcs-new", "a real [0,1] [1]\nb integer [0,9] [1]\nb | a > {}\n", "line 3, column 9"),
    ("pcs-new", "a real [0,1] [1]\nb integer [0,9] [1]\n{{b={}}}\n", "line 3, column 4"),
    ("irace", 'a "" i (0,{})\n', "line 1, column 11"),
    ("irace", 'a "" i (0,9)\nb "" c (0,1) | a ^ {} > 2\n', "line 2, column 20"),
    ("irace", 'a "" i (0,9)\n[forbidden]\na > {}\n', "line 3, column 5"),
]


@pytest.mark.parametrize("digits", DIGITS, ids=range(len(DIGITS)))
@pytest.mark.parametrize(("format", "text", "where"), WITH_NUMBER)
def test_a_huge_number_is_refused_with_its_place(
    tmp_path: Path, format: str, text: str, where: str, digits: str
):
    message = refusal(tmp_path, text.format(digits), format)
    signed = digits.startswith("-") and format == "irace"  # there, the sign is no part of it
    assert message.startswith(f", {where}" if not signed else ", line")


@pytest.mark.parametrize(
    "kind", ['"uniform_int", "upper": {}', '"categorical", "choices": [1, {}]']
)
@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 350, "1.0e+5000", "-1.0e+5000", ".nan"])
def test_a_huge_number_in_json_is_refused(tmp_path: Path, kind: str, digits: str):
    item = '{"name": "a", "lower": 0, "type": ' + kind.replace("{}", digits) + "}"
    json = '{"hyperparameters": [' + item.replace(".nan", "NaN") + "]}"
    message = refusal(tmp_path, json, name="f.json")
    assert ", line 1, column " in message
    yaml = f"hyperparameters:\n- {item}\n"
    message = refusal(tmp_path, yaml, name="f.yaml")
    assert ", line 2, column " in message


def test_huge_numbers_in_a_list_are_texts_like_others(tmp_path: Path):
    assert "the default '1e998' is not one of 1, 1e999" in refusal(tmp_path, "a {1,1e999} [1e998]")
    path = tmp_path / "f.pcs"
    path.write_text(f"a {{1,{DIGITS[0]}}} [1]\n", encoding="utf-8")
    assert read_space(path).space.parameters["a"].value(1) == DIGITS[0]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Integer(0, HUGE),
        lambda: Integer(0, 9, HUGE),
        lambda: Integer(0, 9, default=HUGE),
        lambda: Integer(1, HUGE, log=True),
        lambda: Integer(1, 9, log=True, levels=HUGE),
        lambda: Integer(1, 10**12, log=True, levels=10**9),
        lambda: Integer(0, 9).index(HUGE),
        lambda: Integer(1, 9, log=True).index(HUGE),
        lambda: Integer("x" * 10**6, 9),
        lambda: Real(0, HUGE),
        lambda: Real(0, 1, HUGE),
        lambda: Real(0, 1, default=HUGE),
        lambda: Real(0, 1).index(HUGE),
        lambda: Real(1e-320, 10, log=True),
        lambda: Real(0, 1e-320),
        lambda: Categorical([HUGE]),
        lambda: Categorical([1, HUGE]),
        lambda: Categorical([1]).index(HUGE),
        lambda: Categorical(["x" * 10**6]).index("y" * 10**6),
        lambda: Categorical(["\ud800"]),
        lambda: Ordinal(range(10**9)),
        lambda: Boolean(default=HUGE),
        lambda: Space({"a": (0, HUGE)}),
        lambda: Space({"a": (HUGE, HUGE, HUGE)}),
        lambda: Space({"a": range(HUGE)}),
        lambda: Space({"a": HUGE}),
        lambda: Space({"a" * 10**6: HUGE}),
        lambda: Space({"\ud800": (0, 9)}),
        lambda: Space({HUGE: (0, 9)}),
        lambda: Space([HUGE]),
        lambda: Space({"a": (0, 9)}, conditions=[HUGE]),
        lambda: Space({"a": (0, 9)}, conditions={HUGE: "a > 3"}),
        lambda: Space({"a": (0, 9)}, forbidden=[HUGE]),
        lambda: Space({"a": (0, 9)}, forbidden=HUGE),
        lambda: Space({"a": (0, 9)}, forbidden=[Compare("a", "==", HUGE)]),
        lambda: Space({"a": (0, 9)}, forbidden=[f"a > {'9' * 5000}"]),
        lambda: Space({"a": (0, 9)}).config(a=HUGE),
        lambda: Space({"a": (0, 9)}).config({"b" * 10**6: 1}),
        lambda: Space({"a": (0, 9)}).from_key(f"a={'9' * 5000}"),
        lambda: Space({"a": (0, 9)}).from_key("a" * MANY),
        lambda: Space({"a": (0, 9)}).from_key("a=" + "[" * MANY),
    ],
)
def test_a_huge_thing_given_to_python_is_refused_in_few_words(made):
    with pytest.raises(BadInput) as caught:
        made()
    assert len(str(caught.value)) < 600


def test_a_huge_object_is_shown_in_few_words():
    parameter = Categorical([["a"] * 10**6])
    assert len(parameter.values[0]) < 100
    assert len(repr(parameter)) < 600


def test_a_range_may_span_almost_all_doubles():
    parameter = Real(1e-300, 1e300, log=True, default=1.0)
    assert parameter.value(32) == 1.0
    values = [parameter.value(i) for i in range(parameter.levels)]
    assert values == sorted(set(values))
    assert [parameter.index(value) for value in values] == list(range(65))
    space = Space({"a": Integer(-(10**300), 10**300, 10**290), "b": parameter})
    assert space.from_key(space.default.key) == space.default
    for format in ("pcs", "pcs-new", "irace"):
        with pytest.raises(BadInput):
            written(space, format)


# Nesting.


def nested(depth: int, joints: tuple = (And, Or)):
    made = Compare("a", ">", 3)
    for level in range(depth):
        made = joints[level % 2]((made, Compare("a", "<", 2)))
    return made


def deep_sum(depth: int) -> Calculation:
    made: object = Ref("a")
    for _ in range(depth):
        made = Calculation("-", (made, 1))
    return made


@pytest.mark.parametrize(
    "made",
    [
        nested(300),
        nested(20_000),
        Relation(deep_sum(300), ">", 3),
        Relation(3, "<", deep_sum(9000)),
    ],
    ids=["300", "20000", "sum", "long sum"],
)
def test_expressions_nested_beyond_all_use_are_refused(made):
    for given in ({"forbidden": [made]}, {"conditions": {"b": made}}):
        with pytest.raises(BadInput, match="nested more than 50 deep"):
            Space({"a": (0, 9), "b": (0, 9)}, **given)


def test_what_is_nested_less_is_read_and_written():
    made = nested(40)
    space = Space({"a": (0, 9), "b": (0, 9)}, conditions={"b": made})
    assert parse(str(made), space.parameters) == made
    assert space == Space(space.parameters, conditions={"b": str(made)})


HOSTILE = [
    "(" * MANY, "a > " + "9" * MANY + "x", "a" * MANY, "a " * MANY, "- " * MANY + "a > 3",
    "a ^ " * MANY + "2 > 3", "a + " * MANY + "a > 3", '"' * MANY, "'" + "x" * MANY, "`" * MANY,
    '"\\' * MANY, "a > 1" + " " * MANY + "$", "min(" * MANY, "a == " + "1.1" * MANY, "=" * MANY,
    "a > 3 or (a > 3 and (" * 100 + "a>3" + "))" * 100, "not " * MANY, "!" * MANY, "a - " * 5000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_long_text_is_refused_soon_by_every_reader(tmp_path: Path, text: str):
    known = {"a": Integer(0, 9), "b": Boolean()}
    with pytest.raises(BadInput) as caught:
        Space(known, forbidden=[text])
    assert len(str(caught.value)) < 600
    refusal(tmp_path, f'a "" i (0,9)\nb "" c (1,2) | {text}\n', "irace")
    refusal(tmp_path, f'a "" i (0,9)\nb "" i ("{text}", 3)\n', "irace")
    refusal(tmp_path, f"a [0,9][1]i\nb {{1,2}} [1]\n b | {text}\n", "pcs")
    refusal(tmp_path, f"a [0,9][1]i\nb {{1,2}} [1]\n {{{text}}}\n", "pcs")
    refusal(tmp_path, "{" + text, "configspace-json")
    for format in (None, *FORMATS[:4]):
        refusal(tmp_path, text, format)


@pytest.mark.parametrize(
    "text",
    ["\n" * MANY, "a\n" * MANY, "a categorical \n" * MANY, "a" + "\t" * MANY, 'a "' + " " * MANY,
     "[" * MANY, "{" * MANY, "- " * MANY, "\x00" * MANY, '{"a":' * MANY, "? " * MANY],
    ids=range(11),
)  # fmt: skip
@pytest.mark.parametrize("format", [None, *FORMATS])
def test_a_long_file_of_nothing_is_refused_soon(tmp_path: Path, text: str, format: str | None):
    refusal(tmp_path, text, format)


def test_conditions_that_would_grow_without_end_are_refused_with_their_line(tmp_path: Path):
    lines = ['p0 "" c (0,1)', 'p1 "" c (0,1) | p0 == 1']
    lines += [f'p{i} "" c (0,1) | p{i - 1} == 1 | p{i - 2} == 1' for i in range(2, 60)]
    lines += ['q "" c (0,1) | is.na(p59)']
    message = refusal(tmp_path, "\n".join(lines), "irace")
    assert ", line " in message
    assert "nested too deeply" in message


def test_what_is_nested_too_deeply_is_refused_with_its_line(tmp_path: Path):
    lines = [f"p{i} categorical {{a,b}} [a]" for i in range(3000)]
    lines += [f"p{i} | p{i - 1} == a" for i in range(1, 2999)] + ["p2999 | p2998 != a"]
    assert ", line 5" in refusal(tmp_path, "\n".join(lines))
    items = '{"type": "constant", "name": "p", "value": 1}'
    condition = '{"type": "EQ", "child": "p", "parent": "p", "value": 1}'
    for _ in range(60):
        condition = '{"type": "AND", "child": "p", "conditions": [' + condition + "]}"
    text = f'{{"hyperparameters": [{items}],\n "conditions": [{condition}]}}'
    assert ", line 2, column 33: the condition of p: it is nested" in refusal(tmp_path, text)
    text = text.replace("[{", "[" * 200 + "{").replace("}]", "}" + "]" * 200)
    assert "column 170: it is nested too deeply" in refusal(tmp_path, text)


# YAML.

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)
CONDITIONS = "hyperparameters: [{name: p, type: constant, value: 1}]\n"
CONDITIONS += "x0: &x0 {type: EQ, child: p, parent: p, value: 1}\n" + "".join(
    f"x{i + 1}: &x{i + 1} {{type: AND, child: p, conditions: [{','.join([f'*x{i}'] * 9)}]}}\n"
    for i in range(12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB + "hyperparameters: *j", "hyperparameter 1 must be a table with a name, not [[[["),
        (BOMB + "hyperparameters: [{name: *j}]", "hyperparameter 1 must be a table with a name"),
        (BOMB + "hyperparameters: [{name: p, type: categorical, choices: *j}]",
         "line 11, column 20: p: a value must be a boolean, a number or a text, not [[["),
        (CONDITIONS + "conditions: [*x12]", "have more than 100,000 parts"),
        (CONDITIONS + "conditions: [&a {type: AND, child: p, conditions: [*a]}]", "50 deep"),
        ("a: &a {x: 1}\nhyperparameters: {<<: *a}", "line 2, column 19: merging tables with"),
        ("hyperparameters: !!bool x", "a value has the wrong type"),
        ("hyperparameters: !!int x", "a value has the wrong type"),
        ("hyperparameters: !!int", "a value has the wrong type"),
        ("hyperparameters: !!float", "a value has the wrong type"),
        ("hyperparameters: !!timestamp x", "line 1, column 18: could not determine a constr"),
        ("hyperparameters: !!python/object/apply:os.abort []", "could not determine a constr"),
        ("hyperparameters: \x01", "line 1, column 18: unacceptable character"),
        ("hyperparameters: &h [*h]", "hyperparameter 1 must be a table with a name"),
        ("- " * MANY, "it is nested too deeply"),
    ],
)  # fmt: skip
def test_hostile_yaml_is_refused(tmp_path: Path, text: str, message: str):
    assert message in refusal(tmp_path, text, name="f.yaml")


def test_a_date_is_a_text(tmp_path: Path):
    path = tmp_path / "f.yaml"
    item = "{name: p, type: categorical, choices: [2020-01-01, 2020-99-99]}"
    path.write_text(f"hyperparameters: [{item}]", encoding="utf-8")
    assert read_space(path).space.parameters["p"].value(1) == "2020-99-99"


# Files that are none.


def test_a_path_that_is_no_file_is_refused(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    for path, message in (
        (tmp_path / "folder", "Is a directory"),
        (tmp_path / ("x" * 5000), "File name too long"),
        (tmp_path / "a\0b", "a\\0b cannot be read: embedded null byte"),
        (Path("/dev/zero"), "more than 16 MB is too large for a parameter file"),
    ):
        with pytest.raises(BadInput) as caught:
            read_space(path)
        assert message in str(caught.value)
        assert len(str(caught.value)) < 400


def test_a_pipe_with_a_writer_is_read(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="it contains no parameters"):
        read_space(tmp_path / "pipe", "pcs")
    reading, writing = os.pipe()
    os.write(writing, b"a {1,2} [1]\n")
    os.close(writing)
    assert read_space(Path(f"/dev/fd/{reading}")).space.parameters
    os.close(reading)


def test_the_command_refuses_hostile_files_in_one_line(tmp_path: Path):
    (tmp_path / "bomb.yaml").write_text(BOMB + "hyperparameters: *j", encoding="utf-8")
    for name in ("bomb.yaml", "/dev/zero", "x" * 5000, os.devnull):
        done = paramhs("space", name, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("paramhs: ")
        assert done.stderr.count("\n") == 1


def test_a_space_of_more_configurations_than_json_can_count_is_described(tmp_path: Path):
    lines = "\n".join(f"p{i} {{a,b,c,d,e,f,g,h,i,j}} [a]" for i in range(5000))
    (tmp_path / "many.pcs").write_text(lines, encoding="utf-8")
    done = paramhs("space", "many.pcs", "--json", cwd=tmp_path)
    assert '"configurations": null' in done.stdout
    assert '"log10_combinations": 5000.0' in done.stdout
    assert "about 10^5000.0 combinations" in paramhs("space", "many.pcs", cwd=tmp_path).stdout
