import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.bundled.instances.circuit_fuzz import Gate, Kind, circuit_fuzz, random_circuit
from paramhs.bundled.instances.colouring import colouring
from paramhs.bundled.instances.dimacs import Formula
from paramhs.bundled.instances.families import Family
from paramhs.bundled.instances.integer_programs import Program, knapsack, lp, set_cover
from paramhs.bundled.instances.random_ksat import random_clause, random_ksat
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from tests.support.laws import DRAWS, fits
from tests.support.scale import examples

FAMILIES = {
    "3sat": Family("random-ksat", {"k": 3}, lambda rng: random_ksat(3, 50, 4.26, False, rng)),
    "planted": Family("random-ksat", {"k": 5}, lambda rng: random_ksat(5, 40, 20, True, rng)),
    "fuzz": Family("circuit-fuzz", {"inputs": 20}, lambda rng: circuit_fuzz(20, None, None, rng)),
    "colouring": Family("colouring", {"colours": 3}, lambda rng: colouring(40, 4.6, 3, rng)),
    "cover": Family("set-cover", {"rows": 30}, lambda rng: set_cover(30, 60, 0.05, rng)),
    "knapsack": Family("knapsack", {"items": 20}, lambda rng: knapsack(20, 5, 0.5, rng)),
}
DIGESTS = {
    "3sat": "3589350e1355e624",
    "planted": "dd937846dfb71137",
    "fuzz": "61937b4c9f13fc7f",
    "colouring": "339489a1d26a90d1",
    "cover": "019ada86c45d68ec",
    "knapsack": "c9a65ab5dd9b1c54",
}

seeds = st.integers(0, 2**31)


def solutions(formula: Formula) -> Iterator[tuple[bool, ...]]:
    for values in product([False, True], repeat=formula.variables):
        if all(any(true(literal, values) for literal in clause) for clause in formula.clauses):
            yield values


def true(literal: int, values: tuple[bool, ...] | list[bool]) -> bool:
    return values[abs(literal) - 1] == (literal > 0)


def unsatisfied(clauses: tuple[tuple[int, ...], ...], values: list[bool]) -> int:
    return sum(not any(true(literal, values) for literal in clause) for clause in clauses)


@pytest.mark.parametrize("name", FAMILIES)
def test_an_instance_is_the_same_in_every_version(name: str) -> None:
    """These files are what scenarios and published numbers rest on: a digest never changes."""
    file, _, text = FAMILIES[name].instance(1, 7)
    assert hashlib.sha256(f"{file}\n{text}".encode()).hexdigest()[:16] == DIGESTS[name]


def test_seeds_and_numbers_give_different_instances() -> None:
    texts = [FAMILIES["3sat"].instance(seed, i)[2] for seed in range(4) for i in range(4)]
    bodies = {text.split("\n", 1)[1] for text in texts}
    assert len(bodies) == 16


# Random k-SAT


def test_a_random_clause_is_uniform_among_all_of_its_length() -> None:
    rng = stream(0, "clauses")
    drawn = (tuple(sorted(random_clause(2, 4, rng), key=abs)) for _ in range(DRAWS))
    all_of_them = [
        (a * i, b * j)
        for a, b in combinations((1, 2, 3, 4), 2)
        for i, j in product((1, -1), (1, -1))
    ]
    assert fits(drawn, dict.fromkeys(all_of_them, Fraction(1, 24)))


@given(st.integers(1, 5), st.integers(5, 30), st.floats(0.1, 9), st.booleans(), seeds)
def test_random_ksat_has_its_number_of_clauses_and_literals(
    k: int, variables: int, ratio: float, planted: bool, seed: int
) -> None:
    formula = random_ksat(k, variables, ratio, planted, stream(seed))
    assert len(formula.clauses) == round(ratio * variables)
    assert all(len({abs(literal) for literal in clause}) == k for clause in formula.clauses)
    assert all(1 <= abs(literal) <= variables for clause in formula.clauses for literal in clause)


def test_planted_formulas_are_satisfiable_where_others_are_not() -> None:
    """Without a hidden solution, at ratio 30 the expected number of solutions is 256 / 10^13."""
    for number in range(20):
        assert any(solutions(random_ksat(3, 8, 30, True, stream(0, "planted", number))))
        assert not any(solutions(random_ksat(3, 8, 30, False, stream(0, "planted", number))))


def test_planted_clauses_are_uniform_among_those_the_hidden_solution_satisfies() -> None:
    formula = random_ksat(2, 2, DRAWS / 2, True, stream(0, "planted law"))
    law = {
        clause: Fraction(1, 3) for clause in {tuple(sorted(c, key=abs)) for c in formula.clauses}
    }
    assert len(law) == 3
    assert fits((tuple(sorted(c, key=abs)) for c in formula.clauses), law)


# Circuits


def value(gate: Gate, values: list[bool]) -> bool:
    left, right = true(gate.left, values), true(gate.right, values)
    if gate.kind is Kind.IFF:
        return left == right
    return left and right if gate.kind is Kind.AND else left or right


@given(seeds)
@examples(30)
def test_the_encoding_says_what_every_gate_computes(seed: int) -> None:
    """Values computed gate by gate break no clause; a single wrong one does."""
    gates = random_circuit(3, 12, stream(seed))
    formula = circuit_fuzz(3, 12, 1, stream(seed))
    encoding = formula.clauses[:-4]  # three random clauses, and the root's
    for inputs in product([False, True], repeat=3):
        values = list(inputs)
        for gate in gates:
            values.append(value(gate, values))
        assert unsatisfied(encoding, values) == 0
        for node in range(3, len(values)):
            wrong = [v != (i == node) for i, v in enumerate(values)]
            assert unsatisfied(encoding, wrong) > 0


@given(st.integers(2, 20), st.integers(0, 300), seeds)
def test_a_circuit_uses_every_node_but_its_root_and_only_earlier_ones(
    inputs: int, variables: int, seed: int
) -> None:
    gates = random_circuit(inputs, variables, stream(seed))
    used = {abs(literal) for gate in gates for literal in (gate.left, gate.right)}
    assert used == set(range(1, inputs + len(gates)))
    assert inputs + len(gates) >= variables
    for node, gate in enumerate(gates, inputs + 1):
        assert abs(gate.left) != abs(gate.right)
        assert max(abs(gate.left), abs(gate.right)) < node


@given(st.integers(2, 20), seeds)
def test_a_circuit_of_no_given_size_ends_growing_when_every_input_is_used(
    inputs: int, seed: int
) -> None:
    missing, used = set(range(1, inputs + 1)), set()
    for gate in random_circuit(inputs, 0, stream(seed)):
        operands = {abs(gate.left), abs(gate.right)}
        assert missing or not operands & used  # a joining gate takes what no gate has used
        missing -= operands
        used |= operands


def test_a_circuit_has_the_size_that_was_asked_for() -> None:
    """Unless an input is unused: by 4,000 nodes that happens to one circuit in a million."""
    for number in range(20):
        size = len(random_circuit(3, 4000, stream(0, "size", number))) + 3
        assert 4000 <= size <= 4001


def test_gates_and_signs_are_fair() -> None:
    gates = random_circuit(50, DRAWS, stream(0, "fair"))
    drawn = ((gate.kind, gate.left > 0, gate.right > 0) for gate in gates)
    outcomes = product(Kind, (True, False), (True, False))
    assert fits(drawn, dict.fromkeys(outcomes, Fraction(1, 12)))


def test_operands_of_a_growing_circuit_are_uniform_pairs_of_earlier_nodes() -> None:
    rng = stream(0, "pairs")
    firsts = (random_circuit(4, 0, rng)[0] for _ in range(DRAWS))
    pairs = (tuple(sorted((abs(gate.left), abs(gate.right)))) for gate in firsts)
    assert fits(pairs, dict.fromkeys(combinations((1, 2, 3, 4), 2), Fraction(1, 6)))


def test_lookalikes_have_the_sizes_of_the_ten_real_formulas() -> None:
    """Real ones: 1,799 to 9,611 variables, 3.36 to 3.44 clauses each, one of them a unit."""
    for number in range(8):
        formula = circuit_fuzz(100, None, None, stream(0, "lookalike", number))
        lengths = Counter(map(len, formula.clauses))
        extra = sum(lengths[length] for length in (4, 5, 6))
        assert 3.3 < len(formula.clauses) / formula.variables < 3.6
        assert lengths[1] == 1
        assert set(lengths) == {1, 2, 3, 4, 5, 6}
        assert 450 * 3 / 5 * 0.8 < extra < 660 * 3 / 5 * 1.2
        assert formula.clauses[-1] == (formula.variables,)


def test_the_smallest_circuit_works() -> None:
    formula = circuit_fuzz(2, 0, 3, stream(0))
    assert formula.variables == 3
    assert max(map(len, formula.clauses)) <= 3


# Colouring


@pytest.mark.parametrize(("colours", "possible"), [(1, False), (2, False), (3, False), (4, True)])
def test_a_complete_graph_needs_a_colour_for_each_vertex(colours: int, possible: bool) -> None:
    formula = colouring(4, 3, colours, stream(0))
    assert any(solutions(formula)) == possible


@given(st.integers(2, 12), st.floats(0.01, 1), st.integers(1, 4), seeds)
def test_a_random_graph_is_simple_and_has_its_number_of_edges(
    vertices: int, share: float, colours: int, seed: int
) -> None:
    degree = share * (vertices - 1)
    formula = colouring(vertices, degree, colours, stream(seed))
    edges = formula.clauses[vertices:]
    assert len(edges) == colours * round(vertices * degree / 2)
    assert len(set(edges)) == len(edges)
    for left, right in edges:
        assert (left - right) % colours == 0
        assert left != right


def test_edges_are_uniform() -> None:
    rng = stream(0, "edges")
    drawn = (colouring(4, 0.5, 1, rng).clauses[-1] for _ in range(DRAWS))
    pairs = combinations((1, 2, 3, 4), 2)
    assert fits(drawn, {(-a, -b): Fraction(1, 6) for a, b in pairs})


# Integer programs


@given(st.integers(1, 12), st.integers(2, 20), st.floats(0.001, 1), seeds)
def test_set_cover_rows_have_two_columns_and_columns_have_a_row(
    rows: int, columns: int, density: float, seed: int
) -> None:
    program = set_cover(rows, columns, density, stream(seed))
    covers = [[column for _, column in row.terms] for row in program.rows]
    assert all(len(set(cover)) == len(cover) >= 2 for cover in covers)
    assert set().union(*covers) == set(range(columns))
    assert all(1 <= cost <= 100 for cost in program.costs)


@given(st.integers(1, 20), st.integers(1, 6), st.floats(0.01, 0.99), seeds)
def test_a_knapsack_is_worth_its_size_and_holds_its_share(
    items: int, dimensions: int, tightness: float, seed: int
) -> None:
    program = knapsack(items, dimensions, tightness, stream(seed))
    sizes = [[size for size, _ in row.terms] for row in program.rows]
    for row, line in zip(program.rows, sizes, strict=True):
        assert row.bound == int(tightness * sum(line))
        assert all(1 <= size <= 1000 for size in line)
    for worth, size in zip(program.costs, zip(*sizes, strict=True), strict=True):
        assert 0 <= worth - sum(size) // dimensions <= 500


@pytest.mark.parametrize(
    "program",
    [set_cover(15, 40, 0.1, stream(0, "cover")), knapsack(12, 3, 0.5, stream(0, "knapsack"))],
    ids=["set-cover", "knapsack"],
)
def test_highs_reads_the_program_that_was_written(program: Program, tmp_path: Path) -> None:
    highspy = pytest.importorskip("highspy")
    path = tmp_path / "program.lp"
    path.write_text(lp(program, "a comment"), encoding="ascii")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    model = highs.getLp()
    assert list(model.col_cost_) == list(program.costs)
    assert set(model.integrality_) == {highspy.HighsVarType.kInteger}
    assert (set(model.col_lower_), set(model.col_upper_)) == ({0.0}, {1.0})
    assert (model.sense_ == highspy.ObjSense.kMaximize) == (program.sense == "Maximize")
    bounds = model.row_upper_ if program.sense == "Maximize" else model.row_lower_
    assert list(bounds) == [row.bound for row in program.rows]
    matrix = {(i, c): factor for i, row in enumerate(program.rows) for factor, c in row.terms}
    assert entries(model.a_matrix_) == matrix


def entries(matrix: object) -> dict[tuple[int, int], float]:
    """The entries of a matrix that HiGHS keeps by columns."""
    spans = enumerate(zip(matrix.start_, matrix.start_[1:], strict=False))
    positions = [(column, k) for column, (begin, end) in spans for k in range(begin, end)]
    return {(matrix.index_[k], column): matrix.value_[k] for column, k in positions}


# Bad options


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rng: random_ksat(0, 5, 4, False, rng), "k must be at least 1, not 0"),
        (lambda rng: random_ksat(6, 5, 4, False, rng), "k = 6 distinct variables need more than 5"),
        (lambda rng: random_ksat(3, 5, 0, False, rng), "ratio must be a number above 0, not 0"),
        (lambda rng: random_ksat(3, 5, float("nan"), False, rng), "ratio must be a number above 0"),
        (lambda rng: random_ksat(3, 5, float("inf"), False, rng), "ratio must be a number above 0"),
        (lambda rng: circuit_fuzz(1, 5, 4, rng), "inputs must be at least 2, not 1"),
        (lambda rng: circuit_fuzz(5, -1, 4, rng), "variables must be at least 0, not -1"),
        (lambda rng: circuit_fuzz(5, 5, -4, rng), "extra must be a number above 0, not -4"),
        (lambda rng: circuit_fuzz(200_000, 0, 1, rng), "2.7e+09 numbers in it"),
        (lambda rng: colouring(1, 4, 3, rng), "vertices must be at least 2, not 1"),
        (lambda rng: colouring(5, 4, 0, rng), "colours must be at least 1, not 0"),
        (lambda rng: colouring(5, 0, 3, rng), "degree must be a number above 0, not 0"),
        (lambda rng: colouring(5, 5, 3, rng), "5 vertices have at most 10 edges, not 12"),
        (lambda rng: set_cover(0, 5, 0.1, rng), "rows must be at least 1, not 0"),
        (lambda rng: set_cover(5, 1, 0.1, rng), "columns must be at least 2, not 1"),
        (lambda rng: set_cover(5, 5, 1.1, rng), "density must be above 0 and at most 1, not 1.1"),
        (lambda rng: knapsack(0, 5, 0.5, rng), "items must be at least 1, not 0"),
        (lambda rng: knapsack(5, 0, 0.5, rng), "dimensions must be at least 1, not 0"),
        (lambda rng: knapsack(5, 5, 1, rng), "tightness must be below 1"),
    ],
)
def test_impossible_options_are_a_message(make: object, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        make(Random(0))
