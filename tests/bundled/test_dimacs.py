import bz2
import gzip
import lzma
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.bundled.instances.dimacs import Formula, dimacs, parse_formula, read_formula
from paramhs.core.errors import BadInput

PLAIN = "c two clauses\np cnf 3 2\n1 -2 0\n3 0\n"


def parsed(text: str, name: str = "f.cnf") -> Formula:
    return parse_formula(text.encode(), name)


def problem(text: str, name: str = "f.cnf") -> str:
    with pytest.raises(BadInput) as caught:
        parsed(text, name)
    return str(caught.value)


@st.composite
def formulas(draw: st.DrawFn) -> Formula:
    variables = draw(st.integers(0, 9))
    numbers = st.integers(1, variables) if variables else st.nothing()
    literal = st.builds(lambda v, sign: v * sign, numbers, st.sampled_from([1, -1]))
    clause = st.lists(literal, max_size=5, unique=True).map(tuple)
    clauses = tuple(draw(st.lists(clause, max_size=8)))
    if draw(st.booleans()):
        return Formula(variables, clauses)
    weight = st.integers(1, 99).map(float) | st.floats(0.001, 1e6)
    weights = tuple(draw(st.lists(weight, min_size=len(clauses), max_size=len(clauses))))
    return Formula(variables, clauses, weights, draw(st.none() | st.just(1000.0)))


def test_a_formula_has_the_clauses_of_the_file_in_its_order() -> None:
    assert parsed(PLAIN) == Formula(3, ((1, -2), (3,)))


@pytest.mark.parametrize("packed", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_compressed_files_are_read_whatever_their_name(
    tmp_path: Path, packed: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "f.cnf"
    path.write_bytes(packed(PLAIN.encode()))
    assert read_formula(path) == parsed(PLAIN)


@given(formulas())
def test_what_is_written_is_read_again(formula: Formula) -> None:
    assert parsed(dimacs(formula, "a comment", "")) == formula


@given(formulas(), st.data())
def test_line_breaks_and_comments_anywhere_between_numbers_change_nothing(
    formula: Formula, data: st.DataObject
) -> None:
    header, _, body = dimacs(formula).partition("\n")
    gap = st.sampled_from([" ", "\n", "\t", "  ", "\r\n", "\n\n", "\nc 5 p cnf 0\n", "\ncomment\n"])
    loose = "".join(word + data.draw(gap) for word in body.split())
    assert parsed(f"{header}\n{loose}") == formula


def test_repeated_literals_are_dropped_and_opposite_ones_kept() -> None:
    assert parsed("p cnf 2 2\n1 2 1 -2 2 0\n-1 -1 0\n").clauses == ((1, 2, -2), (-1,))


def test_empty_and_repeated_clauses_are_kept() -> None:
    assert parsed("p cnf 1 4\n0\n1 0 1 0\n0\n").clauses == ((), (1,), (1,), ())


def test_a_percent_sign_ends_a_formula_as_in_satlib() -> None:
    assert parsed("c uf20\np cnf 2 1 \n 1 -2 0\n%\n0\n\n").clauses == ((1, -2),)


def test_comments_may_be_in_any_encoding() -> None:
    content = "c Jos\xe9\x85 1 2\np cnf 1 1\n1 0\n".encode("latin-1")
    assert parse_formula(content, "f.cnf").clauses == ((1,),)


def test_no_clauses_at_all_is_a_formula() -> None:
    assert parsed("p cnf 0 0") == Formula(0, ())


def test_weights_and_top_of_an_old_weighted_file() -> None:
    read = parsed("p wcnf 2 3 10\n10 1 2 0\n3 -1 0 2.5\n-2 0\n")
    assert read == Formula(2, ((1, 2), (-1,), (-2,)), (10.0, 3.0, 2.5), 10.0)
    assert parsed("p wcnf 1 1\n4 1 0\n") == Formula(1, ((1,),), (4.0,), None)
    assert parsed("p wcnf 1 1 18446744073709551615\n4 1 0\n").top == 2.0**64


def test_hard_clauses_of_a_new_weighted_file_outweigh_all_soft_ones() -> None:
    read = parsed("c 2022\nh 1 -3 0\n2 -1 0\n4 3 0\n")
    assert read == Formula(3, ((1, -3), (-1,), (3,)), (7.0, 2.0, 4.0), 7.0)


def test_a_new_weighted_file_may_begin_with_a_soft_clause_if_its_name_says_so() -> None:
    assert parsed("2 -1 0\nh 1 0\n", "f.wcnf.gz").weights == (2.0, 3.0)
    assert "before the header" in problem("2 -1 0\nh 1 0\n", "f.cnf")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.cnf has no header"),
        ("c only a comment\n", "f.cnf has no header"),
        ("1 0\n", "f.cnf:1: '1' before the header"),
        ("c\np sat 3 2\n", "f.cnf:2: the header is 'p sat 3 2', expected 'p cnf VARIABLES CLAU"),
        ("p\n", "f.cnf:1: the header is 'p', expected"),
        ("p cnf 3\n", "f.cnf:1: the header is 'p cnf 3'"),
        ("p cnf 3 -1\n", "f.cnf:1: the header has '3 -1', expected whole numbers"),
        (f"p cnf {'9' * 5000} 1\n", "f.cnf:1: the header has '999"),
        ("p cnf 20000001 1\n", "f.cnf:1: 20,000,001 variables are more than 20,000,000"),
        (
            "h 9000000000000000000 0\n",
            "f.cnf:1: literal 9000000000000000000 is out of range",
        ),
        ("p cnf 1 1\n1 0\np cnf 1 1\n", "f.cnf:3: a second header; the first is in line 1"),
        ("p cnf 3 2\n1 0\n2\n-4 0\n", "f.cnf:4: literal -4 is out of range, the header (line 1) "),
        (f"p cnf 3 1\n{'9' * 4_000} 0\n", "f.cnf:2: literal 9999"),
        ("p cnf 3 1\n1 x 0\n", "f.cnf:2: 'x' is not a literal"),
        ("p cnf 30 1\n1_0 0\n", "f.cnf:2: '1_0' is not a literal"),
        ("p cnf 3 1\n1.0 0\n", "f.cnf:2: '1.0' is not a literal"),
        ("c\np cnf 3 1\n1 0\n\n2 0\n", "f.cnf:5: more clauses than the 1 of the header (line 2)"),
        (
            "p cnf 3 2\n1 0\n",
            "f.cnf:2: the file ends after 1 clauses, the header (line 1) promises",
        ),
        ("p cnf 3 1\n1\n2\n", "f.cnf:3: the clause that begins in line 2 does not end with 0"),
        ("p wcnf 3 1 9\nh 2 0\n", "f.cnf:2: 'h' is not a weight"),
        ("p wcnf 3 1 9\n-1 2 0\n", "f.cnf:2: '-1' is not a weight, expected a number above 0"),
        ("p wcnf 3 1 9\nnan 2 0\n", "f.cnf:2: 'nan' is not a weight"),
        ("p cnf 3 1 9\n2 0\n", "f.cnf:1: the header is 'p cnf 3 1 9'"),
        ("p cnf 3 1\n\xe9 0\n", "f.cnf:2: "),
    ],
)
def test_a_bad_file_is_a_message_with_its_line(text: str, message: str) -> None:
    assert problem(text).startswith(message)
    assert len(problem(text)) < 1_000


def test_a_file_that_cannot_be_read_is_a_message(tmp_path: Path) -> None:
    cut = gzip.compress(PLAIN.encode() * 50)[:-12]
    contents = [cut, lzma.compress(PLAIN.encode())[:-9], b"\x1f\x8bnot gzip", b"BZhnot bzip2"]
    contents.append(bz2.compress(PLAIN.encode())[:-9])
    for number, content in enumerate(contents):
        path = tmp_path / f"{number}.gz"
        path.write_bytes(content)
        with pytest.raises(BadInput, match=f"{number}.gz cannot be read: "):
            read_formula(path)
    with pytest.raises(BadInput, match="absent cannot be read: No such file"):
        read_formula(tmp_path / "absent")


def test_fifty_thousand_clauses_take_well_under_a_second() -> None:
    content = b"p cnf 20000 50000\n" + b"19999 -20000 17 0\n" * 50_000
    began = time.process_time()
    parse_formula(content, "f.cnf")
    assert time.process_time() - began < 0.8


@pytest.mark.parametrize("text", ["p " + "x " * 9999, "p cnf 2 1\n" + "9" * 5000, "z" * 5000])
def test_what_is_long_and_wrong_is_quoted_in_part(text: str):
    with pytest.raises(BadInput) as caught:
        parse_formula(text.encode(), "f")
    assert len(str(caught.value)) < 300
