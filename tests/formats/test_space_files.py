"""Files of parameters: what is read, what is refused and where, what comes back from writing."""

import json
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.space import (
    Categorical,
    Integer,
    Ordinal,
    Real,
    Space,
    Value,
)
from paramhs.core.space.parameters import DEFAULT_LEVELS
from paramhs.formats.space_files import FORMATS, counts, losses, read_space, written
from tests.support.command_line import paramhs
from tests.support.scale import examples
from tests.support.spaces import SIGNS, full_indices, plain, spaces


def read(tmp_path: Path, text: str, format: str | None = None, name: str = "f.txt") -> Space:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return read_space(path, format).space


# What is read.

OLD = """\
# a solver\r
heur {0, 1,  2} [1]\t# 3 needs other input\r
rate [1e-3 , 1] [0.1]l
size[1,1000][20]il
  'mode'   {"fast",slow}[fast]
inc {0.10, 0.2} [.1]
depth [-5, 5] [0]i

Conditionals:
rate|heur in{0,2}
rate | mode in { fast }
rate | mode in {fast}
size |heur   in {1}
------
Forbidden:
{heur=2, mode=slow}
{heur=2 ,mode=slow}
{ depth = -5 }
"""


def test_an_old_pcs_file_with_oddities_is_read(tmp_path: Path):
    space = read(tmp_path, OLD)
    assert space.parameters == {
        "heur": Categorical(["0", "1", "2"], default="1"),
        "rate": Real(0.001, 1, log=True, default=0.1),
        "size": Integer(1, 1000, log=True, default=20),
        "mode": Categorical(["fast", "slow"]),
        "inc": Categorical(["0.10", "0.2"]),
        "depth": Integer(-5, 5, default=0),
    }
    assert {name: str(e) for name, e in space.conditions.items()} == {
        "rate": 'heur in {"0", "2"} and mode in {"fast"}',
        "size": 'heur in {"1"}',
    }
    assert counts(space) == {"parameters": 6, "conditions": 2, "forbidden": 3}


NEW = """\
heur categorical {a, b} [b]
size ordinal{small,medium , large}[medium]
n integer[1,100] [10]log
x real [0, 1] [0.25]
n | heur == a && size > small || x < 0.5
x | heur in {a, b}
{heur=a, size=large}
{n > 50 && heur != b}
{n < depth}
depth integer [0, 3] [0]
"""


def test_a_new_pcs_file_is_read(tmp_path: Path):
    space = read(tmp_path, NEW)
    assert space.parameters["size"] == Ordinal(["small", "medium", "large"])
    assert space.parameters["n"] == Integer(1, 100, log=True, default=10)
    assert str(space.conditions["n"]) == 'heur == "a" and size > "small" or x < 0.5'
    assert [str(e) for e in space.forbidden] == [
        'heur == "a" and size == "large"',
        'n > 50 and heur != "b"',
        "n < depth",
    ]


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        ("{0,2..10} [4]", "0 2 4 6 8 10"),
        ("{1..5} [4]", "1 2 3 4 5"),
        ("{0, 5 .. 10} [0]", "0 5 10"),
        ("{0, 0.25..1} [0.5]", "0 0.25 0.50 0.75 1.00"),
        ("{0,3..10} [9]", "0 3 6 9"),
        ("{5..1} [1]", "5 4 3 2 1"),
        ("{10,8..0} [2.0]", "10 8 6 4 2 0"),
        ("{-2..2} [0]", "-2 -1 0 1 2"),
        ("{1e2,2e2..5e2} [300]", "1e2 200 300 400 500"),
        ("{x..y} [x..y]", "x..y"),
    ],
)
def test_a_range_in_a_list_is_all_of_its_values(tmp_path: Path, domain: str, values: str):
    """As ParamILS 3 has it."""
    space = read(tmp_path, f"a {domain}\nb {{0,1}} [0]\n")
    assert list(space.parameters["a"].values) == values.split()


def test_a_range_may_stand_in_a_condition(tmp_path: Path):
    space = read(tmp_path, "a {0,2..10} [4]\nb {0,1} [0]\nb | a in {0,2..6}\n")
    assert str(space.conditions["b"]) == 'a in {"0", "2", "4", "6"}'


def test_values_may_have_blanks_in_them(tmp_path: Path):
    """As in the example that comes with ParamILS."""
    text = "gap {no 1e-06, yes 1e-06} [no 1e-06]\nb {0,1} [0]\n"
    text += "b | gap in {yes 1e-06}\n{gap=yes 1e-06, b=1}\n"
    space = read(tmp_path, text)
    assert space.parameters["gap"].values == ("no 1e-06", "yes 1e-06")
    for format in ("pcs", "pcs-new"):
        again = read(tmp_path, written(space, format))
        assert [dict(c) for c in again.configs()] == [dict(c) for c in space.configs()]


def test_a_stray_i_after_a_default_is_ignored_with_a_note(tmp_path: Path):
    path = tmp_path / "stray.pcs"
    path.write_text("a {1,2,3} [2]i\nb integer [1,9] [5]i\nc [1,9] [5] i\n", encoding="utf-8")
    read = read_space(path)
    assert list(read.space.parameters.values()) == [
        Categorical(["1", "2", "3"], default="2"),
        Integer(1, 9),
        Integer(1, 9),
    ]
    assert read.notes == (
        f"{path}, line 1, column 14: 'i' has no meaning here and is ignored",
        f"{path}, line 2, column 20: 'i' has no meaning here and is ignored",
    )
    done = paramhs("space", "stray.pcs", cwd=tmp_path)
    assert done.stderr.count("has no meaning here") == 2
    told = json.loads(paramhs("space", "stray.pcs", "--json", cwd=tmp_path).stdout)
    assert len(told["notes"]) == 2


IRACE = """\
# name    switch       type   values            conditions
algo      "--"         c      (as, "m m", 3)   # the middle one
ants      "--ants "    i,log  (5, 1000)
rho       "--rho="     r      (0.01, 1.00)     | algo != 3
q0        ""           r,log  (1e-3,1)         | algo %in% c("as", 3) & !(ants > 100 | ants == 5)
level     "-l "        o      (0,1,2,10)
depth     "-d"         i      (-3,3)           | !(level %in% c(0, 1)) && 2 < ants
[forbidden]
(algo == 'as') & (rho == 0.5)
ants < depth || `level` == "10"
[global]
digits = 3
"""


def test_an_irace_file_is_read_with_its_switches(tmp_path: Path):
    path = tmp_path / "parameters.txt"
    path.write_text(IRACE, encoding="utf-8")
    space, switches, notes = read_space(path)
    assert notes == ()
    assert space.parameters == {
        "algo": Categorical(["as", "m m", "3"]),
        "ants": Integer(5, 1000, log=True),
        "rho": Real(0.01, 1),
        "q0": Real(0.001, 1, log=True),
        "level": Ordinal(["0", "1", "2", "10"]),
        "depth": Integer(-3, 3),
    }
    assert {name: str(e) for name, e in space.conditions.items()} == {
        "rho": 'algo != "3"',
        "q0": 'algo in {"as", "3"} and ants <= 100 and ants != 5',
        "depth": 'level != "0" and level != "1" and ants > 2',
    }
    assert [str(e) for e in space.forbidden] == [
        'algo == "as" and rho == 0.5',
        'ants < depth or level == "10"',
    ]
    assert switches == {
        "algo": "--", "ants": "--ants ", "rho": "--rho=", "q0": "", "level": "-l ", "depth": "-d",
    }  # fmt: skip


def test_in_r_not_in_holds_of_an_inactive_parameter_and_not_equal_does_not(tmp_path: Path):
    text = 'a "" c (x,y)\nb "" c (0,1) | a == "x"\nc "" i (1,9) | {}\n'
    inactive_b = {"a": "y"}
    for condition, active in (("!(b %in% c(0))", True), ("b != 0", False), ("!(b == 0)", False)):
        space = read(tmp_path, text.format(condition))
        assert ("c" in space.config(inactive_b)) == active
        assert "c" in space.config(a="x", b="1")
        assert "c" not in space.config(a="x", b="0")


def test_a_forbidden_default_of_irace_is_replaced_by_an_allowed_one(tmp_path: Path):
    text = 'a "" c (x,y)\nb "" i (1,9)\n[forbidden]\na == "x"\nb > 3\n'
    space = read(tmp_path, text)
    assert space.allowed(space.default)
    with pytest.raises(BadInput, match="line 4, column 1: found no configuration"):
        read(tmp_path, text + 'a == "y"\n')


def test_a_value_between_levels_never_holds_and_is_always_different(tmp_path: Path):
    text = "x real [0,1] [0.5]\nn integer [1,100000] [1] log\na categorical {0,1} [0]\n"
    text += "b categorical {0,1} [0]\na | x == 0.3\nb | x != 0.3\n{n=77777}\n"
    space = read(tmp_path, text)
    levels = [space.config(x=space.parameters["x"].value(i)) for i in range(DEFAULT_LEVELS)]
    assert not any("a" in config for config in levels)
    assert all("b" in config for config in levels)


def test_the_format_is_recognised_from_the_text_if_not_from_the_name(tmp_path: Path):
    for text in (OLD, NEW, IRACE):
        assert read(tmp_path, text, name="parameters").parameters
    assert read(tmp_path, "﻿a {1} [1]\n", name="with_mark.pcs").parameters
    path = tmp_path / "old.pcs"
    path.write_bytes("a {1,2} [1] # für\n".encode("latin-1"))
    assert read_space(path).space.parameters


# What is refused.

A = "a {x,y} [x]\nb {0,1} [0]\n"
N = "a categorical {x,y} [x]\nb integer [0,9] [3]\n"
R = 'a "" c (x,y)\nb "" i (1,9)\n'
REFUSED = [
    ("a {x,y} [z]", "line 1, column 10: the default 'z' is not one of x, y"),
    ("\n\na {x,y [x]", "line 3, column 1: expected a parameter"),
    ("a {x,x} [x]", "line 1, column 6: the value 'x' is listed twice"),
    ("a {x,,y} [x]", "line 1, column 6: expected a value, found ''"),
    ("a {0,5..1} [0]", "line 1, column 6: '5..1' is empty in steps of 5"),
    ("a {0,0..9} [0]", "line 1, column 6: '0..9' is empty in steps of 0"),
    ("a {x,1..9} [x]", "line 1, column 4: expected a number, found 'x'"),
    ("a {1,2,3..9} [1]", "line 1, column 8: a range must come first or after one value"),
    ("a {1..99999} [1]", "line 1, column 4: '1..99999' has more than 10,000 values"),
    ("a {x,y} [x] also", "line 1, column 13: expected the end of the line, found 'also'"),
    ("a {x} [x]\na {y} [y]", "line 2, column 1: there is already a parameter called 'a'"),
    ("a [0,1] [2]", "line 1, column 10: the default 2 is not in 0 .. 1"),
    ("a [0,1] [0]q", "column 12: expected the end of the line or 'il', found 'q'"),
    ("a [0,x] [0]", "line 1, column 6: expected a number, found 'x'"),
    ("a [0,2.5] [1]i", "line 1, column 6: expected an integer, found '2.5'"),
    ("a [2,1] [1]", "the default 1 is not in 2 .. 1"),
    ("a [0,1] [0.5]l", "line 1, column 4: a log-spaced parameter must have low > 0, not 0"),
    ("a [1,1e999] [1]", "column 6: 1e999 is too large"),
    (A + "b | c in {x}", "line 3, column 5: no parameter is called 'c'; there are a, b"),
    (A + "c | a in {x}", "line 3, column 5: it is a condition of 'c', which is not a parameter"),
    (A + "b | a in x", "line 3, column 10: expected values in braces"),
    (A + "b | b in {0}", "line 3, column 5: 'b' is conditional on itself"),
    (A + "b | a > x", "line 3, column 5: the values of 'a' have no order"),
    (A + "a b | a in {x}", "line 3, column 1: expected a parameter's name before '|'"),
    (A + "{a != q}", "line 3, column 7: 'q' is not a value of a; expected x, y"),
    ("o ordinal {s, m} [m]\n" + A + "b | o > q", "line 4, column 9: 'q' is not a value of o"),
    (A + "{a=y, q=2}", "line 3, column 7: no parameter is called 'q'"),
    (A + "{a}", "line 3, column 2: expected one parameter compared with a value"),
    (A + "b | a in {x}\na | b in {0}", "line 3, column 5: conditions depend on each other"),
    (A + "{a=x, b=0}", "line 3, column 2: the default configuration is forbidden by"),
    (N + "a | b > 3\na | b < 5", "line 3, column 5: 'a' has several conditions"),
    (N + "{b + b > 3}", "without arithmetic, found 'b + b > 3'"),
    (R + 'c "" i (1, 9) | a == x', "line 3, column 22: no parameter is called 'x'"),
    (R + 'c "" i (1, 9) | a > "x"', "column 21: a has type c or o, whose values R compares"),
    (R + 'c "" i (1, 9) | a + 1 > 3', "line 3, column 17: a has type c or o, which does not"),
    (R + 'c "" i (1, 9) | b + 1', "line 3, column 22: expected a comparison, such as == or %in%"),
    (R + 'c "" i (1, 9) | b / 2 > c', "line 3, column 17: conditions depend on each other"),
    (R + 'c "" i (1, 9) | b > 1 / 0', "line 3, column 21: '1 / 0' is not a finite number"),
    (R + 'c "" i (1, 9) | is.na("a")', "line 3, column 17: expected one parameter's name in is"),
    (R + 'c "" i (1, 9) | a %in% c(b)', "line 3, column 26: expected a value, found 'b'"),
    (R + 'c "" i (1, 9) | (b > 3', "line 3, column 23: expected ')', found the end"),
    (R + 'c "" i (1, 9) | b > 3 a', "column 23: expected '&', '|' or the end, found 'a'"),
    (R + 'c "" i (1, d)', "line 3, column 12: no parameter is called 'd'"),
    (R + 'c "" i (1, "a*2")', "column 13: a has type c or o, which does not support arithmetic"),
    (R + 'c "" i (1, "9/(b-4)")', "line 3, column 9: '9 / (b - 4)' may divide by zero"),
    (R + 'c "" r (1, "d")\nd "" r (0, "c")', "domains depend on each other in a cycle"),
    (R + 'c "" i (1, 2.5)', "line 3, column 12: expected an integer, found '2.5'"),
    (R + 'c "" i (5, 5)', "line 3, column 9: lower and upper bound are the same"),
    (R + 'c "" i (1, 2, 3)', "line 3, column 9: expected (lower, upper)"),
    (R + 'c "" q (1, 2)', "line 3, column 6: the type must be c, o, i, r"),
    (R + 'c "" c (x, x)', "line 3, column 12: the value 'x' is listed twice"),
    (R + "c i (1, 2)", "line 3, column 1: expected a name, a \"switch\", a type"),
    (R + "[else]", "line 3, column 1: expected [forbidden] or [global]"),
    (R + "[global]\nfoo = 3", "line 4, column 1: expected a line such as 'digits = 4'"),
    (R + 'c "" i (1,9) | d == 1\nd "" i (1,9) | !(c %in% 1)', "line 3, column 16: conditions"),
    (R + '[forbidden]\nb >= 1', "line 4, column 1: found no configuration"),
    ("# nothing\n", "it contains no parameters"),
    ('{"hyperparameters": [}', "line 1, column 22: Expecting value"),
    ('{"hyperparameters": [{"name": "x"}]}', "line 1, column 23: x: unknown type None; known are"),
    ('{"hyperparameters": []}', "it contains no parameters"),
    ("hyperparameters: [a: b: c", "line 1, column 23: expected ',' or ']'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_bad_file_is_refused_with_the_place(tmp_path: Path, text: str, message: str):
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "f.txt"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "holds", "note"),
    [
        (
            A + "b | a in {x, q}",
            {"x"},
            "column 14: 'q' is not a value of a; expected x, y; a is ne",
        ),
        (A + "b | a in {q}", set(), "line 3, column 11: 'q' is not a value of a"),
        (N + "b | a == q", set(), "line 3, column 10: 'q' is not a value of a"),
        (N + "b | a != q", {"x", "y"}, "line 3, column 10: 'q' is not a value of a"),
    ],
)
def test_a_value_that_never_occurs_is_noted(tmp_path: Path, text: str, holds: set[str], note: str):
    (tmp_path / "f.txt").write_text(text, encoding="utf-8")
    found = read_space(tmp_path / "f.txt")
    assert {a for a in "xy" if "b" in found.space.config(a=a)} == holds
    assert note in found.notes[0]


def test_clauses_and_conditions_may_look_beyond_a_range(tmp_path: Path):
    (tmp_path / "f.txt").write_text(N + "a | b < 12\n{b=77}\n{b > 12}\n", encoding="utf-8")
    found = read_space(tmp_path / "f.txt")
    assert found.space.size() == 20
    assert len(found.notes) == 1
    assert "line 4, column 4: 77 is not in the range of b, 0 .. 9" in found.notes[0]


def test_an_unknown_format_and_a_missing_file_are_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="'xml' is not a format; choose one of pcs, pcs-new, irace"):
        read(tmp_path, OLD, "xml")
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        read_space(tmp_path / "none.pcs")


def test_without_the_extra_the_message_says_what_to_install(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(BadInput, match=r"yaml is not installed: pip install 'paramhs\[configspace"):
        read(tmp_path, "hyperparameters: []")
    with pytest.raises(BadInput, match="yaml is not installed"):
        written(Space({"a": ["x"]}), "configspace-yaml")
    assert read(tmp_path, written(Space({"a": ["x"]}), "configspace-json"), name="a.json")


# Writing, and reading again.


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
def test_what_is_written_reads_as_the_same_space(tmp_path_factory, format: str, data):
    if format.startswith("configspace"):
        pytest.importorskip("ConfigSpace")
    try:
        space = plain(data.draw(spaces()), irace=format == "irace")
    except BadInput:  # other defaults, and now they are forbidden
        assume(False)
    try:
        text = written(space, format)
    except BadInput as error:
        event(f"{format} cannot: {str(error)[:20]}")
        return
    path = tmp_path_factory.getbasetemp() / "written"
    path.write_text(text, encoding="utf-8")
    again = read_space(path, format).space
    assert set(again.parameters) == set(space.parameters)
    for _ in range(5):
        indices = data.draw(full_indices(space))
        by_name = dict(zip(space.parameters, indices, strict=True))
        one, two = (
            space.configured(indices),
            again.configured([by_name[n] for n in again.parameters]),
        )
        assert set(one) == set(two)
        assert space.allowed(one) == again.allowed(two)


@pytest.mark.parametrize("bound", [-1, 0, 2, 2.5, 5, 5.5, 9])
@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_bounds_between_integers_and_beyond_the_range_are_kept(tmp_path: Path, sign: str, bound):
    condition = f"k {sign} {bound}"
    space = Space({"k": Integer(0, 5), "c": ["x", "y"]}, conditions={"c": condition})
    active = [k for k in range(6) if "c" in space.config(k=k)]
    try:
        text = written(space, "pcs-new")
    except BadInput:  # a condition that nothing satisfies
        assert not active
        return
    again = read(tmp_path, text)
    assert [k for k in range(6) if "c" in again.config(k=k)] == active


def test_writing_gives_back_the_switches_of_irace(tmp_path: Path):
    path = tmp_path / "parameters.txt"
    path.write_text(IRACE, encoding="utf-8")
    first = read_space(path)
    path.write_text(written(first.space, "irace", first.switches), encoding="utf-8")
    second = read_space(path)
    assert second.switches == first.switches
    assert second.space.parameters == first.space.parameters


@pytest.mark.parametrize(
    ("space", "format", "message"),
    [
        (Space({"a": Integer(0, 9, 3)}), "pcs", "cannot express the step of a: 3"),
        (Space({"a": ["two  words"]}), "pcs-new", "cannot express the value 'two  words'"),
        (Space({"a": ["1..5"]}), "pcs", "cannot express the value '1..5'"),
        (Space({"a b": ["x"]}), "pcs", "cannot express the name 'a b'"),
        (Space({"a": Real(1e-20, 1, log=True)}), "irace", "too few for 1e-20 of a"),
        (Space({"a": ['x"y']}), "irace", "cannot express 'x\"y'"),
        (Space({"a": (0, 2**31)}), "irace", "R's integers end at 2147483647"),
        (Space({"a": Integer(1, 2**63, log=True)}), "configspace-json", "integers end at 2^63"),
        (
            Space({"a": ["x"], "b": ["y"], "c": ["z"]}, conditions={"c": "a == x or b == y"}),
            "pcs",
            "the condition of 'c' cannot be expressed: old PCS has no 'or'",
        ),
        (
            Space({"a": (0.0, 1.0), "c": ["z"]}, conditions={"c": "a < 0.5"}),
            "pcs",
            "'a < 0.5' has too many; try pcs-new",
        ),
        (Space({"a": (0.0, 1.0)}, forbidden=["a > 0.7"]), "pcs", "'a > 0.7' is not an equality"),
        (
            Space({"a": (0, 9), "b": (0, 9), "c": ["z"]}, conditions={"c": "a < b"}),
            "pcs-new",
            "cannot compare two parameters",
        ),
        (Space({"a": ["x"]}), "xml", "'xml' is not a format"),
    ],
)
def test_what_a_format_cannot_say_is_refused(space: Space, format: str, message: str):
    with pytest.raises(BadInput) as caught:
        written(space, format)
    assert message in str(caught.value)


def test_losses_are_stated():
    space = Space({"x": Real(0, 1, 11), "o": Ordinal([1, 2, 3]), "c": Categorical(["a", "b"])})
    assert losses(space, "pcs", {"x": "-x"}) == [
        "the number of levels of a range is lost: x",
        "the order of values is lost: o",
        "the type of values that are not texts is lost: o",
        "irace's switch is lost: x",
    ]
    assert "the default is lost: x, o, c" in losses(space, "irace", {"x": "-x"})
    assert losses(space, "configspace-json") == []


def test_thousands_of_parameters_are_read_in_seconds(tmp_path: Path):
    lines = [f"p{i} {{a,b,c}} [a]" for i in range(5000)]
    lines += [f"p{i} | p{i // 2} in {{a,b}}" for i in range(1, 5000)]
    lines += [f"{{p{i}=b, p{i + 7}=c}}" for i in range(2000)]
    begun = time.process_time()
    space = read(tmp_path, "\n".join(lines))
    assert time.process_time() - begun < 8  # half a second when nothing else runs
    assert counts(space) == {"parameters": 5000, "conditions": 4999, "forbidden": 2000}


def test_long_chains_of_inequalities_stay_short(tmp_path: Path):
    lines = [f"p{i} categorical {{a,b}} [a]" for i in range(3000)]
    lines += [f"p{i} | p{i - 1} != b" for i in range(1, 3000)]
    space = read(tmp_path, "\n".join(lines))
    assert str(space.conditions["p2999"]) == 'p2998 != "b" or p2997 in {"b"}'


def test_what_is_nested_too_deeply_is_refused(tmp_path: Path):
    lines = [f"p{i} categorical {{a,b}} [a]" for i in range(3000)]
    lines += [f"p{i} | p{i - 1} == a" for i in range(1, 2999)] + ["p2999 | p2998 != a"]
    with pytest.raises(BadInput, match="nested too deeply"):
        read(tmp_path, "\n".join(lines))
    nested = "(" * 5000 + "b > 3" + ")" * 5000
    with pytest.raises(BadInput, match="nested too deeply"):
        read(tmp_path, f'{R}c "" i (1, 9) | {nested}')


# The command.


def test_the_command_counts_and_converts(tmp_path: Path):
    (tmp_path / "old.pcs").write_text(OLD, encoding="utf-8")
    counted = paramhs("space", "old.pcs", "--json", cwd=tmp_path)
    assert counted.returncode == 0
    facts = json.loads(counted.stdout)
    assert (facts["parameters"], facts["conditions"], facts["forbidden"]) == (6, 2, 3)
    people = paramhs("space", "old.pcs", cwd=tmp_path)
    assert "parameters  6: 3 categorical, 1 real, 2 integer" in people.stdout
    converted = paramhs("space", "old.pcs", "--to", "irace", cwd=tmp_path)
    assert converted.stdout.startswith('heur "-heur " c ("0", "1", "2")\n')
    assert "note: the default is lost" in converted.stderr
    assert converted.stdout == written(read_space(tmp_path / "old.pcs").space, "irace")


def test_the_command_refuses_in_one_line(tmp_path: Path):
    (tmp_path / "bad.pcs").write_text("a {x,y} [z]\n", encoding="utf-8")
    done = paramhs("space", "bad.pcs", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "paramhs: bad.pcs, line 1, column 10: the default 'z' is not one of x, y\n"
    )
    assert "choose one of pcs, pcs-new" in paramhs("space", "x", "--to", "xml", cwd=tmp_path).stderr


# Log-spaced integers.


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.integers(3, 100), st.floats(0, 1))
def test_log_spaced_integers_are_distinct_ascending_and_hold_ends_and_default(
    low: int, width: int, levels: int, part: float
):
    default = low + int(width * part)
    parameter = Integer(low, low + width, log=True, levels=levels, default=default)
    values = [parameter.value(i) for i in range(parameter.levels)]
    assert values == sorted(set(values))
    assert (values[0], values[-1], parameter.default) == (low, low + width, default)
    assert parameter.levels == min(levels, width + 1)
    assert [parameter.index(value) for value in values] == list(range(parameter.levels))


def test_log_spaced_integers_grow_by_even_ratios_beyond_the_small_ones():
    parameter = Integer(1, 10**6, log=True)
    values = [parameter.value(i) for i in range(parameter.levels)]
    assert values[:6] == [1, 2, 3, 4, 5, 6]
    ratios = [b / a for a, b in pairwise(values[30:])]
    assert max(ratios) - min(ratios) < 0.01


def test_a_plain_integer_is_described_as_before_and_a_log_spaced_one_by_all_that_defines_it():
    assert Integer(0, 9).describe() == {
        "type": "integer", "low": 0, "high": 9, "step": 1, "default": 4,
    }  # fmt: skip
    logged = Integer(1, 1000, log=True, levels=9, default=500)
    assert logged.describe() == {
        "type": "integer",
        "low": 1,
        "high": 1000,
        "step": 1,
        "log": True,
        "levels": 9,
        "default": 500,
    }
    assert logged != Integer(1, 1000, log=True, levels=10, default=500)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Integer(-1, 9, log=True), "must have low >= 0, not -1"),
        (lambda: Integer(1, 9, 2, log=True), "has no step, and 2 is given"),
        (lambda: Integer(1, 9, levels=5), "levels only if it is log-spaced"),
        (lambda: Integer(1, 9, log=True, levels=2), "at least 3 levels"),
        (lambda: Integer(1, 9, log=True, default=10), "the default 10 is not an integer in 1 .. 9"),
        (lambda: Integer(1, 10**6, log=True).index(999_999), "next to it are"),
        (lambda: Integer(1, 10**6, log=True).index(0), "0 is not in 1 .. 1000000"),
    ],
)
def test_a_bad_log_spaced_integer_is_refused(made, message: str):
    with pytest.raises(BadInput) as caught:
        made()
    assert message in str(caught.value)


# irace's expressions against R's logic, in which a comparison with an inactive parameter is NA.

R_PARAMETERS = """\
a "" c (x,y,z)
b "" i (1,5) | a != "z"
c "" o (0,1,2) | (b > 2 & a %in% c("x", "z")) | b == 1
d "" c (0,1)"""


@st.composite
def r_expressions(draw: st.DrawFn, depth: int = 3) -> object:
    """A tree: a sign and its parts."""
    kind = draw(st.sampled_from(["leaf", "!", "&", "|", "&&"])) if depth else "leaf"
    if kind == "!":
        return ("!", draw(r_expressions(depth - 1)))
    if kind != "leaf":
        return (kind, draw(r_expressions(depth - 1)), draw(r_expressions(depth - 1)))
    name, words = draw(st.sampled_from([("a", "xyz"), ("b", "12345"), ("c", "012")]))
    other = draw(st.integers(0, 5))
    if other == 0:
        return ("is.na", name)
    if other == 1:
        return ("arithmetic", draw(st.sampled_from(sorted(R_ARITHMETIC))))
    words += draw(st.sampled_from(["", "?"]))  # a value that none has
    if draw(st.booleans()):
        return ("%in%", name, draw(st.lists(st.sampled_from(words), min_size=1, max_size=3)))
    signs = ["==", "!="] + ["<", "<=", ">", ">="] * (name == "b" and "?" not in words)
    return (draw(st.sampled_from(signs)), name, draw(st.sampled_from(words)))


R_ARITHMETIC = {
    "b + 1 > 3": lambda b: b + 1 > 3,
    "7L < 2 * b ^ 2 - 1": lambda b: 2 * b**2 - 1 > 7,
    "-b ^ 2 >= -9 && TRUE != a": lambda b: -(b**2) >= -9,
    "(b + 3) %% 3 == 1": lambda b: (b + 3) % 3 == 1,
    "min(b, 2^2) / 2 != 2": lambda b: min(b, 4) / 2 != 2,
    "floor(b / 2) == 1": lambda b: b // 2 == 1,
    "b / 0 > 1e300": lambda b: True,
}


def r_text(tree: tuple) -> str:
    sign, *parts = tree
    if sign == "is.na":
        return f"is.na({parts[0]})"
    if sign == "arithmetic":
        return parts[0]
    if sign == "!":
        return f"!({r_text(parts[0])})"
    if sign in ("&", "&&", "|"):
        return f"({r_text(parts[0])}) {sign} ({r_text(parts[1])})"
    quoted = [f'"{word}"' if word in "xyz?" else word for word in parts[1]]
    return f"{parts[0]} {sign} " + (f"c({', '.join(quoted)})" if sign == "%in%" else quoted[0])


def r_value(tree: tuple, values: dict[str, Value]) -> bool | None:
    sign, *parts = tree
    if sign == "is.na":
        return parts[0] not in values
    if sign == "arithmetic":
        return R_ARITHMETIC[parts[0]](values["b"]) if "b" in values else None
    if sign == "!":
        inner = r_value(parts[0], values)
        return None if inner is None else not inner
    if sign in ("&", "&&", "|"):
        both = [r_value(part, values) for part in parts]
        decisive = sign == "|"
        return decisive if decisive in both else None if None in both else not decisive
    known = parts[0] in values
    if sign == "%in%":
        return known and str(values[parts[0]]) in parts[1]
    return SIGNS[sign](str(values[parts[0]]), parts[1]) if known else None


@examples(50)
@given(condition=r_expressions(), clause=r_expressions())
def test_r_expressions_mean_what_r_says(tmp_path_factory, condition: tuple, clause: tuple):
    text = f"{R_PARAMETERS} | {r_text(condition)}\n[forbidden]\n{r_text(clause)}\n"
    path = tmp_path_factory.getbasetemp() / "parameters.txt"
    path.write_text(text, encoding="utf-8")
    try:
        space = read_space(path).space
    except BadInput:  # everything is forbidden
        assume(False)
    for number in range(space.combinations):
        config = space.numbered(number)
        values = {name: value for name, value in config.items() if name != "d"}
        assert ("d" in config) == (r_value(condition, values) is True)
        assert space.allowed(config) == (r_value(clause, values) is not True)
