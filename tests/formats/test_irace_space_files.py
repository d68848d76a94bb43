"""Files of irace: domains that depend on others, values that do not exist, what irace is given."""

from itertools import product
from math import trunc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.space import Categorical, Integer, Real, Space
from paramhs.formats.space_files import SpaceFile, losses, read_space, written
from tests.support.command_line import paramhs


def read(tmp_path: Path, text: str) -> SpaceFile:
    path = tmp_path / "parameters.txt"
    path.write_text(text, encoding="utf-8")
    return read_space(path, "irace")


# Values and numbers as R has them.

A = 'a "" c (x,y,z)\n'


@pytest.mark.parametrize("one", ['("x")', '"x"', 'c("x")', "'x'"])
def test_one_value_after_in_needs_no_c(tmp_path: Path, one: str):
    space = read(tmp_path, f'{A}b "" i (1,9) | a %in% {one}\n').space
    assert str(space.conditions["b"]) == 'a in {"x"}'


def test_numbers_may_be_written_as_r_has_them(tmp_path: Path):
    space = read(
        tmp_path, 'a "" i (1L, 2^10)\nb "" r ("1/4", 1e3)\nc "" i,log (-1+2, 10L*2)\n'
    ).space
    assert space.parameters == {
        "a": Integer(1, 1024),
        "b": Real(0.25, 1000),
        "c": Integer(1, 20, log=True),
    }


def test_a_condition_may_name_a_value_that_does_not_exist(tmp_path: Path):
    text = f'{A}b "" i (1,9) | a %in% c("x", "old")\n'
    space, _, notes = read(tmp_path, text)
    assert str(space.conditions["b"]) == 'a in {"x"}'
    assert notes == (
        f"{tmp_path / 'parameters.txt'}, line 2, column 31: 'old' is not a value of a;"
        " expected x, y, z; a is never equal to it",
    )


@pytest.mark.parametrize(
    ("condition", "with_a"),
    [
        ('a == "old"', ""),
        ('a != "old"', "xyz"),
        ('!(a == "old")', "xyz"),
        ('a %in% c("old", "older")', ""),
        ('!(a %in% "old")', "xyz"),
        ('a == "old" | a == "x"', "x"),
        ("n == 12", ""),
        ("n != 12", "xyz"),
        ("n %in% c(12, 13)", ""),
    ],
)
def test_what_never_holds_never_holds(tmp_path: Path, condition: str, with_a: str):
    text = f'{A}n "" i (1,9)\nb "" c (0,1) | {condition}\n'
    space, _, notes = read(tmp_path, text)
    assert notes
    assert "".join(a for a in "xyz" if "b" in space.config(a=a)) == with_a


def test_a_forbidden_clause_that_never_holds_forbids_nothing(tmp_path: Path):
    space = read(tmp_path, f'{A}n "" i (1,9)\n[forbidden]\na == "old" & n == 3\n').space
    assert space.size() == 27


def test_is_na_means_inactive(tmp_path: Path):
    text = f'{A}b "" c (0,1) | a == "x"\nc "" c (0,1) | is.na(b)\nd "" c (0,1) | !is.na(b)\n'
    text += 'e "" c (0,1) | !(!(is.na(b)))\nf "" c (0,1) | is.na(a)\n'
    space = read(tmp_path, text).space
    assert set(space.config(a="x")) == {"a", "b", "d"}
    assert set(space.config(a="y")) == {"a", "c", "e"}


# Domains that depend on other parameters.


def truths(space: Space, *names: str) -> set[tuple[object, ...]]:
    """The values of parameters in the allowed configurations; None where inactive."""
    return {tuple(config.get(name) for name in names) for config in space.configs()}


def test_the_greatest_value_may_be_another_parameter(tmp_path: Path):
    space, _, notes = read(tmp_path, 'a "" i (1,6)\nb "" i (1,"a")\n')
    assert space.parameters["b"].describe()["high"] == 6
    assert truths(space, "a", "b") == {(a, b) for a in range(1, 7) for b in range(1, a + 1)}
    assert "the domain of b depends on other parameters; it becomes 1 .. 6" in notes[0]


ENDS = {
    "a": lambda a, c: a,
    "-a": lambda a, c: -a,
    "a*2": lambda a, c: a * 2,
    "a - 2*c": lambda a, c: a - 2 * c,
    "a/2": lambda a, c: a / 2,
    "-a/2 - 0.5": lambda a, c: -a / 2 - 0.5,
    "a %% 3": lambda a, c: a % 3,
    "min(a, c)": lambda a, c: min(a, c),
    "max(a, c, 2)": lambda a, c: max(a, c, 2),
    "ceiling(a/3)": lambda a, c: -(-a // 3),
    "round(a * 0.3)": lambda a, c: round(a * 0.3),
    "2^a": lambda a, c: 2**a,
    "abs(c - a)": lambda a, c: abs(c - a),
    "-2": lambda a, c: -2,
    "7": lambda a, c: 7,
}


@given(low=st.sampled_from(sorted(ENDS)), high=st.sampled_from(sorted(ENDS)))
def test_a_dependent_domain_is_what_irace_would_compute(tmp_path_factory, low: str, high: str):
    """Both ends cut towards zero; nothing is left where the lower is above the upper one."""
    path = tmp_path_factory.getbasetemp() / "dependent.txt"
    path.write_text(f'b "" i ("{low}","{high}")\na "" i (1,5)\nc "" i (0,3)\n', encoding="utf-8")
    both = product(range(1, 6), range(4))
    meant = {
        (a, c, b)
        for a, c in both
        for b in range(trunc(ENDS[low](a, c)), trunc(ENDS[high](a, c)) + 1)
    }
    try:
        space = read_space(path, "irace").space
    except BadInput:  # nothing is left at all, or a range that is no range
        lows = {trunc(ENDS[low](a, c)) for a, c in product(range(1, 6), range(4))}
        highs = {trunc(ENDS[high](a, c)) for a, c in product(range(1, 6), range(4))}
        assert not meant or min(lows) >= max(highs)
        return
    assert truths(space, "a", "c", "b") == meant


def test_a_dependent_domain_needs_the_others_to_be_active(tmp_path: Path):
    text = 's "" c (x,y)\na "" i (1,3) | s == "x"\nb "" i (1,"a")\nc "" i (0,"b + 1") | s != "q"\n'
    space = read(tmp_path, text).space
    assert set(space.config(s="y")) == {"s"}
    assert set(space.config(s="x")) == {"s", "a", "b", "c"}
    with pytest.raises(BadInput, match="forbidden"):
        space.config(s="x", a=2, b=3)


def test_what_a_dependent_domain_forbids_is_as_simple_as_it_can_be(tmp_path: Path):
    text = 'a "" r (1.5,7.5)\nb "" i (1,"a")\nc "" i ("a",9)\nd "" i ("0 - a", "b")\n'
    text += 'e "" r (0,"trunc(a)")\n'
    space = read(tmp_path, text).space
    assert list(map(str, space.forbidden)) == [
        "b > a", "c < trunc(a)", "d < 0 - a", "d > b", "e > trunc(a)",
    ]  # fmt: skip


def test_a_chain_of_dependent_domains_may_be_written_in_any_order(tmp_path: Path):
    space = read(tmp_path, 'c "" r (0,"2*b")\nb "" r ("a",4)\na "" r (1,2)\n').space
    assert [(p.low, p.high) for p in space.listed] == [(0, 8), (1, 4), (1, 2)]


def test_a_dependent_domain_starts_in_the_middle_of_its_own_range(tmp_path: Path):
    """However long the chain: by chance, no allowed configuration of it would be found."""
    lines = ['p0 "" i (10, 30)'] + [
        f'p{i} "" i ("p{i - 1}", "p{i - 1} + 10")' for i in range(1, 30)
    ]
    space = read(tmp_path, "\n".join(reversed(lines))).space
    assert [space.default[f"p{i}"] for i in range(30)] == [20 + 5 * i for i in range(30)]
    space = read(tmp_path, 'a "" r (0, 1)\nb "" r ("a", "a * 1.5")\n').space
    assert 0.5 <= space.default["b"] <= 0.75


def test_when_a_division_by_zero_does_not_hold_is_not_said(tmp_path: Path):
    text = 'a "" i (0,9)\nb "" c (0,1) | a / {} > 2\nc "" c (0,1) | is.na(b)\n'
    with pytest.raises(BadInput, match="line 2, column 16: 'a / a > 2' may divide by zero"):
        read(tmp_path, text.format("a"))
    assert set(read(tmp_path, text.format("2")).space.config(a=1)) == {"a", "c"}


def test_notes_are_printed_by_the_command_and_by_check(tmp_path: Path):
    (tmp_path / "parameters.txt").write_text(f'{A}b "" i (1,9) | a == "old"\n', encoding="utf-8")
    scenario = 'command = "echo {params} 1"\nread = "last number"\nspace = "parameters.txt"\n'
    (tmp_path / "s.toml").write_text(scenario + "[budget]\nruns = 3\n", encoding="utf-8")
    message = (
        "line 2, column 22: 'old' is not a value of a; expected x, y, z; a is never equal to it"
    )
    assert message in paramhs("space", "parameters.txt", cwd=tmp_path).stderr
    assert message in " ".join(paramhs("check", "s.toml", cwd=tmp_path).stdout.split())
    done = paramhs("tune", "s.toml", cwd=tmp_path)
    assert message in done.stdout + done.stderr


# What irace is given.


def test_a_switch_is_never_left_empty_unless_the_file_says_so(tmp_path: Path):
    space = Space({"alpha": (0, 9), "mode": ["x", "y"]})
    assert written(space, "irace", {"mode": ""}) == (
        'alpha "-alpha " i (0, 9)\nmode "" c ("x", "y")\n'
    )
    assert losses(space, "irace") == [
        "the default is lost: alpha, mode",
        "parameters have no switches; '-name ' was written, such as '-alpha '",
    ]


def test_names_that_irace_cannot_have_are_written_in_letters_it_can(tmp_path: Path):
    names = ["sp-rand", "@1:x", "sp_rand", "in", "2nd", "é", "c", "min", "mip:cuts/x", "sp:rand"]
    parameters = {name: Categorical(["a", "b"]) for name in names[:-1]} | {names[-1]: (1, 9)}
    space = Space(
        parameters,
        conditions={"2nd": "`in` == b", "sp-rand": "@1:x == a"},
        forbidden=["sp-rand == b and sp:rand > 4"],
    )
    text = written(space, "irace")
    again, switches, _ = read(tmp_path, text)
    assert list(again.parameters) == [
        "sp_rand_2", "p__1_x", "sp_rand", "p_in", "p_2nd", "p__", "p_c", "p_min", "mip_cuts_x",
        "sp_rand_3",
    ]  # fmt: skip
    assert list(switches.values()) == [f"-{name} " for name in names]
    assert [str(e) for e in again.conditions.values()] == ['p__1_x == "a"', 'p_in == "b"']
    assert [str(e) for e in again.forbidden] == ['sp_rand_2 == "b" and sp_rand_3 > 4']
    assert losses(space, "irace")[1].startswith(
        "irace's names may contain only letters, digits, '.' and '_': sp-rand is sp_rand_2, "
    )


def test_what_irace_passes_on_otherwise_is_said():
    space = Space({"a": ["x y", "z"], "b": ["$HOME", "1"], "c": ["-3.5e+7"]}, forbidden=["b == 1"])
    assert losses(space, "irace")[-2:] == [
        "irace calls programs through a shell, which changes values of a, b",
        "irace 3 does not read [forbidden]; use its forbiddenFile",
    ]


def test_arithmetic_is_written_for_irace_and_for_no_other(tmp_path: Path):
    space = Space(
        {"k": (1, 9), "n": (1, 9), "m": (0, 1)},
        conditions={"m": "2 * (k + n) - 1 > n ^ 2"},
        forbidden=["k % 3 == min(n, 2) - -1"],
    )
    again = read(tmp_path, written(space, "irace")).space
    assert again.conditions == space.conditions
    assert again.forbidden == space.forbidden
    for format in ("pcs", "pcs-new", "configspace-json"):
        with pytest.raises(BadInput, match="cannot be expressed"):
            written(space, format)
