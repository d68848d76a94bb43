import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.space import (
    And,
    Boolean,
    Calculation,
    Categorical,
    Compare,
    Integer,
    Member,
    Or,
    Ordinal,
    Real,
    Ref,
    Relation,
    parse,
)
from paramhs.core.space.conditions.expressions import compiled, names
from paramhs.core.space.conditions.terms import calculated
from tests.support.scale import examples
from tests.support.spaces import expressions

KNOWN = {
    "k": Integer(0, 9),
    "n": Integer(0, 9),
    "rho": Real(0, 1, 11),
    "mode": Categorical(["a", "b", "rho", "true"]),
    "size": Ordinal(["small", "medium", "large"]),
    "power": Ordinal([1, 2, 4, 8]),
    "on": Boolean(),
    "use-x": Boolean(),
}
INACTIVE = -1


def holds(text: str, **given_: object) -> bool:
    """Whether the text is true; parameters that are not given are inactive."""
    indices = [p.index(given_[n]) if n in given_ else INACTIVE for n, p in KNOWN.items()]
    return compiled(parse(text, KNOWN), KNOWN)(indices)


K3, ON, A = Compare("k", ">", 3), Compare("on", "==", True), Compare("mode", "==", "a")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("k > 3", K3),
        ("k>3", K3),
        ("  k  >  3  ", K3),
        ("(k > 3)", K3),
        ("((k > 3))", K3),
        ("k = 3", Compare("k", "==", 3)),
        ("k != -3", Compare("k", "!=", -3)),
        ("k <= +3", Compare("k", "<=", 3)),
        ("rho >= 0.5", Compare("rho", ">=", 0.5)),
        ("rho < 1e-3", Compare("rho", "<", 0.001)),
        ("rho < .5", Compare("rho", "<", 0.5)),
        ("k < n", Compare("k", "<", Ref("n"))),
        ("mode == a", A),
        ("mode == 'a'", A),
        ('mode == "a"', A),
        ("mode == rho", Compare("mode", "==", Ref("rho"))),
        ("mode == 'rho'", Compare("mode", "==", "rho")),
        ("mode == 'true'", Compare("mode", "==", "true")),
        ('mode == "\\u0061"', A),
        ("on == true", ON),
        ("on == True", ON),
        ("on == false", Compare("on", "==", False)),
        ("use-x == true", Compare("use-x", "==", True)),
        ("mode in {a, b}", Member("mode", ("a", "b"))),
        ("mode in [a, rho]", Member("mode", ("a", "rho"))),
        ("k in (1)", Member("k", (1,))),
        ("k > 3 and on == true", And((K3, ON))),
        ("k > 3 && on == true", And((K3, ON))),
        ("k > 3 or on == true or mode == a", Or((K3, ON, A))),
        ("k > 3 || on == true", Or((K3, ON))),
        ("k > 3 and on == true or mode == a", Or((And((K3, ON)), A))),
        ("k > 3 or on == true and mode == a", Or((K3, And((ON, A))))),
        ("k > 3 and (on == true or mode == a)", And((K3, Or((ON, A))))),
        ("k > and", Compare("k", ">", "and")),
        ("mode in {}", Member("mode", ())),
        ("3 < k", K3),
        ("(k) > (3)", K3),
        ("k > 2 + 1", K3),
        ("k > 2 ^ 2 - 1", K3),
        ("k > -(-3)", K3),
        ("k + n > 3", Relation(Calculation("+", (Ref("k"), Ref("n"))), ">", 3)),
        ("3 < k + n", Relation(3, "<", Calculation("+", (Ref("k"), Ref("n"))))),
        (
            "k * n / 2 == -rho",
            Relation(
                Calculation("/", (Calculation("*", (Ref("k"), Ref("n"))), 2)),
                "==",
                Calculation("-", (0, Ref("rho"))),
            ),
        ),
        (
            "(k + n + 1) * 2 > min(k, 4, rho)",
            Relation(
                Calculation("*", (Calculation("+", (Ref("k"), Ref("n"), 1)), 2)),
                ">",
                Calculation("min", (Ref("k"), 4, Ref("rho"))),
            ),
        ),
    ],
)
def test_a_text_means_an_expression(text: str, meant: object):
    assert parse(text, KNOWN) == meant


@pytest.mark.parametrize(
    ("text", "column", "expected", "found"),
    [
        ("", 1, "a parameter's name", "the end"),
        ("   ", 4, "a parameter's name", "the end"),
        ("zeta > 3", 1, "a parameter's name", "zeta > 3"),
        ("k > 3 and zeta > 3", 11, "a parameter's name", "zeta > 3"),
        ("k", 2, "==, !=, <, <=, >, >= or in", "the end"),
        ("k 3", 3, "==, !=, <, <=, >, >= or in", "3"),
        ("k >", 4, "a value", "the end"),
        ("k>3and on==true", 8, "'and', 'or' or the end", "on==true"),
        ("k > > 3", 5, "a value", "> 3"),
        ("k > 3 n > 2", 7, "'and', 'or' or the end", "n > 2"),
        ("k > 3 and", 10, "a parameter's name", "the end"),
        ("(k > 3", 7, "')'", "the end"),
        ("k > 3)", 6, "'and', 'or' or the end", ")"),
        ("mode in a", 9, "'{'", "a"),
        ("mode in {a, b", 14, "'}'", "the end"),
        ("mode in {a b}", 12, "'}'", "b}"),
        ("k > 3 ; n", 7, "a comparison", "; n"),
        ("mode == 'a", 9, "a comparison", "'a"),
        ("3 < 4", 1, "a parameter's name", "3 < 4"),
        ("k > -x", 6, "a parameter's name", "x"),
        ("k + > 3", 5, "a number", "> 3"),
        ("k + zeta > 3", 5, "a parameter's name", "zeta > 3"),
        ("min(k, n", 9, "')'", "the end"),
        ("not k > 3", 1, "a parameter's name", "not k > 3"),
        ("k > __import__('os')", 15, "'and', 'or' or the end", "('os')"),
    ],
)
def test_a_wrong_text_is_refused_with_its_column(text, column, expected, found):
    with pytest.raises(BadInput) as caught:
        parse(text, KNOWN)
    assert (
        str(caught.value) == f"in {text!r}, column {column}: expected {expected}, found {found!r}"
    )


@pytest.mark.parametrize("text", ['mode == "\\q"', 'mode == "a\tb"', '"\\q" == 1'])
def test_quotes_that_are_not_json_are_bad_input(text: str):
    with pytest.raises(BadInput, match="column"):
        parse(text, KNOWN)


def test_a_text_is_never_evaluated():
    with pytest.raises(BadInput):
        parse("__import__('os').abort()", KNOWN)


@given(st.text(alphabet="kn rho()<>=!{},'\"\\0123.andor-&|", max_size=30))
@examples(100)
def test_any_text_is_an_expression_or_bad_input(text: str):
    with suppress(BadInput):
        assert parse(str(parse(text, KNOWN)), KNOWN)


@given(expressions(KNOWN, 3))
def test_an_expression_survives_being_written(expression):
    assert parse(str(expression), KNOWN) == expression


def test_a_conjunction_within_a_conjunction_survives_being_written():
    nested = And((And((K3, ON)), A))
    assert parse("(k > 3 and on == true) and mode == a", KNOWN) == nested
    assert parse(str(nested), KNOWN) == nested


@pytest.mark.parametrize("name", ["two words", "--restarts", "10", "a=b", "(", "it's", 'say "a"'])
def test_a_name_that_needs_quotes_survives_being_written(name: str):
    known = {name: Integer(0, 9)}
    for expression in (Compare(name, "==", 1), Member(name, (1, 2))):
        assert parse(str(expression), known) == expression


@given(expressions(KNOWN))
@examples(30)
def test_an_expression_survives_pickling(expression):
    assert pickle.loads(pickle.dumps(expression)) == expression


@given(expressions(KNOWN))
@examples(30)
def test_an_expression_mentions_known_names_only(expression):
    assert set(names(expression)) <= KNOWN.keys()


def test_both_sides_of_a_comparison_are_mentioned():
    assert list(names(parse("k < n and (mode in {a} or on == true)", KNOWN))) == [
        "k",
        "n",
        "mode",
        "on",
    ]


@pytest.mark.parametrize(
    ("text", "given_", "truth"),
    [
        ("k > 3", {"k": 4}, True),
        ("k > 3", {"k": 3}, False),
        ("k >= 3", {"k": 3}, True),
        ("k < 2.5", {"k": 2}, True),
        ("k < 2.5", {"k": 3}, False),
        ("k < 100", {"k": 9}, True),
        ("k > -100", {"k": 0}, True),
        ("k == 3", {"k": 3}, True),
        ("k != 3", {"k": 3}, False),
        ("k != 3", {"k": 2}, True),
        ("rho <= 0.3", {"rho": 0.3}, True),
        ("rho == 0.3", {"rho": 0.3}, True),
        ("size < large", {"size": "small"}, True),
        ("size < large", {"size": "large"}, False),
        ("size >= medium", {"size": "medium"}, True),
        ("power > 2", {"power": 8}, True),
        ("mode == a", {"mode": "a"}, True),
        ("mode == 'rho'", {"mode": "rho"}, True),
        ("mode in {a, b}", {"mode": "b"}, True),
        ("mode in {a, b}", {"mode": "rho"}, False),
        ("on == true", {"on": True}, True),
        ("on == true", {"on": False}, False),
        ("k < n", {"k": 2, "n": 3}, True),
        ("k < n", {"k": 3, "n": 3}, False),
        ("k > rho", {"k": 1, "rho": 0.9}, True),
        ("k < power", {"k": 3, "power": 4}, True),
        ("k == n", {"k": 3, "n": 3}, True),
        ("k != n", {"k": 3, "n": 3}, False),
        ("on == use-x", {"on": True, "use-x": True}, True),
        ("k > 3 and n > 3", {"k": 4, "n": 3}, False),
        ("k > 3 or n > 3", {"k": 4, "n": 3}, True),
    ],
)
def test_an_expression_is_true_or_false(text: str, given_: dict[str, object], truth: bool):
    assert holds(text, **given_) is truth


@pytest.mark.parametrize(
    "text", ["k != 3", "k < 5", "k in {1}", "k < n", "n > k", "k != n", "mode != a", "k == 0"]
)
def test_a_comparison_with_an_inactive_parameter_is_false(text: str):
    assert not holds(text, n=5)


def test_a_disjunction_may_hold_although_a_part_is_inactive():
    assert holds("k > 3 or n > 3", n=4)
    assert not holds("k > 3 and n > 3", n=4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k == 12", "12 is not in 0 .. 9"),
        ("k in {1, 12}", "12 is not in 0 .. 9"),
        ("k == a", "'a' is not an integer"),
        ("k > a", "'a' is not a number"),
        ("k > true", "True is not a number"),
        ("mode == c", "'c' is not one of"),
        ("mode < b", "categories have no order"),
        ("on > false", "categories have no order"),
        ("size < huge", "'huge' is not one of"),
        ("k < mode", "needs numbers on both sides"),
        ("size > k", "needs numbers on both sides"),
        ("on < use-x", "needs numbers on both sides"),
    ],
)
def test_an_expression_without_meaning_is_refused_with_its_text(text: str, message: str):
    expression = parse(text, KNOWN)
    with pytest.raises(BadInput) as caught:
        compiled(expression, KNOWN)
    assert str(caught.value).startswith(f"in '{expression}': ")
    assert message in str(caught.value)


@pytest.mark.parametrize("made", [Compare("zeta", "<", 1), Compare("k", "<", Ref("zeta"))])
def test_a_made_expression_may_mention_parameters_only(made):
    with pytest.raises(BadInput) as caught:
        compiled(made, KNOWN)
    assert str(caught.value) == f"'{made}' mentions 'zeta', which is not a parameter"


def test_a_made_comparison_needs_a_known_sign():
    with pytest.raises(BadInput, match="~"):
        compiled(Compare("k", "~", 3), KNOWN)


# Arithmetic.


@pytest.mark.parametrize(
    ("text", "given_", "truth"),
    [
        ("k + n > 3", {"k": 1, "n": 3}, True),
        ("k + n > 3", {"k": 1, "n": 2}, False),
        ("k + n > 3", {"k": 9}, False),
        ("k + n <= 3", {"k": 9}, False),
        ("k - n == -2", {"k": 1, "n": 3}, True),
        ("2 * k ^ 2 == 18", {"k": 3}, True),
        ("-k ^ 2 == -9", {"k": 3}, True),
        ("(-2) ^ k == 4", {"k": 2}, True),
        ("2 ^ 3 ^ k == 512", {"k": 2}, True),
        ("k / n >= 1e300", {"k": 1, "n": 0}, True),
        ("k / n == k / n", {"k": 0, "n": 0}, False),
        ("k / n != 1", {"k": 0, "n": 0}, False),
        ("k % 3 == 1", {"k": 7}, True),
        ("k % n != 1", {"k": 7, "n": 0}, False),
        ("max(k, n, 5) - min(k, n) == 4", {"k": 1, "n": 2}, True),
        ("abs(k - n) > 2", {"k": 1, "n": 5}, True),
        ("floor(k / 2) == 3 and ceiling(k / 2) == 4", {"k": 7}, True),
        ("trunc(0 - k / 2) == -3", {"k": 7}, True),
        ("round(k / 2) == 2", {"k": 5}, True),
        ("power * 2 < k", {"power": 4, "k": 9}, True),
        ("rho * 10 == k", {"rho": 0.3, "k": 3}, True),
        ("k > n + 1 or n > 3", {"n": 4}, True),
    ],
)
def test_arithmetic_is_that_of_doubles_and_false_if_anything_in_it_is_inactive(
    text: str, given_: dict[str, object], truth: bool
):
    assert holds(text, **given_) is truth


def terms(depth: int = 3) -> st.SearchStrategy[object]:
    leaf = st.sampled_from([Ref("k"), Ref("rho"), Ref("n")]) | st.integers(-3, 9) | st.just(0.25)
    if not depth:
        return leaf
    inner = terms(depth - 1)
    two = st.builds(calculated, st.sampled_from(["+", "-", "*"]), inner, inner)
    function = st.builds(calculated, st.sampled_from(["min", "max"]), inner, inner, inner)
    return leaf | two | function | st.builds(calculated, st.sampled_from(["abs", "trunc"]), inner)


@given(terms(), st.sampled_from(["<", ">=", "==", "!="]), terms())
@examples(66)
def test_arithmetic_survives_being_written(left: object, sign: str, right: object):
    relation = Relation(left, sign, right)
    if not any(isinstance(side, Calculation) for side in (left, right)):
        return
    again = parse(str(relation), KNOWN)
    assert again == relation
    assert pickle.loads(pickle.dumps(again)) == relation


def test_arithmetic_mentions_its_parameters():
    assert list(names(parse("k + n > max(rho, 2)", KNOWN))) == ["k", "n", "rho"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mode + 1 > 2", "mode has values that are not numbers"),
        ("k * on == 1", "on has values that are not numbers"),
        ("size > k + 1", "size has values that are not numbers"),
    ],
)
def test_there_is_no_arithmetic_without_numbers(text: str, message: str):
    with pytest.raises(BadInput) as caught:
        compiled(parse(text, KNOWN), KNOWN)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Calculation("-", (1,)),
        lambda: Calculation("sin", (1,)),
        lambda: Calculation("+", (1, float("nan"))),
        lambda: Calculation("+", (1, "a")),
        lambda: Relation(Ref("k"), "~", 3),
        lambda: Relation("k", "<", 3),
        lambda: calculated("/", 1, 0),
        lambda: parse("k > 1 / 0", KNOWN),
        lambda: parse("k > 10 ^ 400", KNOWN),
        lambda: parse("(k > 3) + 1 > 2", KNOWN),
        lambda: parse("k + 'a' > 2", KNOWN),
        lambda: parse("k + true > 2", KNOWN),
        lambda: parse("k > (n > 3)", KNOWN),
        lambda: parse("k > 3 > 2", KNOWN),
        lambda: parse("abs(k, n) > 2", KNOWN),
    ],
)
def test_what_is_no_arithmetic_is_refused(made):
    with pytest.raises(BadInput):
        made()
