"""Twenty generated instances for each solver, and copies of them that differ in names and order.

Most solvers are nearly deterministic: another seed changes little or nothing. So run number k is
made on copy k of the instance: the same problem with its variables renamed and its parts reordered.
"""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from random import Random

from paramhs.bundled.instances.circuit_fuzz import circuit_fuzz
from paramhs.bundled.instances.colouring import colouring
from paramhs.bundled.instances.dimacs import Formula, dimacs
from paramhs.bundled.instances.integer_programs import Program, Row, knapsack, lp, set_cover
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.core.random_streams import shuffled, stream

COUNT = 20
"""Instances of each solver."""

Make = Callable[[int, int], str]
"""The text of a copy of an instance, from the number of the instance and of the copy."""


def cnf(number: int, copy: int) -> str:
    """Random 3-SAT above its threshold, or three colours for a graph near theirs."""
    rng = stream(0, "landscapes", "cnf", number)
    even = number % 2 == 0
    formula = random_ksat(3, 110, 4.6, False, rng) if even else colouring(140, 4.8, 3, rng)
    return _copy(formula, number, copy)


def larger_cnf(number: int, copy: int) -> str:
    """Harder formulas, for a solver that does more before it searches."""
    rng = stream(0, "landscapes", "larger cnf", number)
    even = number % 2 == 0
    formula = random_ksat(3, 115, 4.6, False, rng) if even else colouring(155, 4.8, 3, rng)
    return _copy(formula, number, copy)


def small_cnf(number: int, copy: int) -> str:
    """Easier formulas, for whole searches."""
    rng = stream(0, "landscapes", "small cnf", number)
    even = number % 2 == 0
    formula = random_ksat(3, 95, 4.6, False, rng) if even else colouring(120, 4.8, 3, rng)
    return _copy(formula, number, copy)


def _copy(formula: Formula, number: int, copy: int) -> str:
    return dimacs(_renamed(formula, stream(copy, "landscapes", "cnf copy", number)))


def _renamed(formula: Formula, rng: Random) -> Formula:
    """Variables renamed, clauses and their literals in another order."""
    names = shuffled(range(1, formula.variables + 1), rng)
    clauses = (
        tuple(shuffled([names[abs(x) - 1] * (1 if x > 0 else -1) for x in clause], rng))
        for clause in shuffled(formula.clauses, rng)
    )
    return Formula(formula.variables, tuple(clauses))


def circuit(number: int, copy: int) -> str:
    """A circuit with too many constraints, for local search; all copies are the same."""
    return dimacs(circuit_fuzz(40, 1_000, 5.5, stream(0, "landscapes", "circuit", number)))


def asp(number: int, copy: int, nodes: int = 30) -> str:
    """A smallest dominating set of a random graph, ground by gringo."""
    rng = stream(0, "landscapes", "asp", number)
    edges = [(a, b) for a in range(nodes) for b in range(a) if rng.random() < 0.13]
    order = stream(copy, "landscapes", "asp copy", number)
    names = shuffled(range(nodes), order)
    facts = [f"edge({names[a]},{names[b]})." for a, b in shuffled(edges, order)]
    rules = (
        f"node(0..{nodes - 1}). near(X,Y) :- edge(X,Y). near(Y,X) :- edge(X,Y)."
        " {in(X)} :- node(X). :- node(X), not in(X), not in(Y) : near(X,Y)."
        " #minimize {1,X : in(X)}."
    )
    gringo = shutil.which("gringo")
    if gringo is None:
        raise RuntimeError("gringo is missing: install Debian's package gringo")
    text = "\n".join([*facts, rules])
    return subprocess.run([gringo], input=text, capture_output=True, text=True, check=True).stdout


def small_asp(number: int, copy: int) -> str:
    """The same with fewer nodes, for whole searches."""
    return asp(number, copy, nodes=22)


def _program(number: int, copy: int) -> Program:
    """Set cover or a knapsack with many capacities, with columns and rows reordered."""
    rng = stream(0, "landscapes", "mip", number)
    program = set_cover(60, 120, 0.06, rng) if number % 2 else knapsack(9, 5, 0.5, rng)
    order = stream(copy, "landscapes", "mip copy", number)
    places = shuffled(range(len(program.costs)), order)
    place = {column: k for k, column in enumerate(places)}
    rows = tuple(
        Row(
            tuple(sorted(((factor, place[c]) for factor, c in row.terms), key=lambda t: t[1])),
            *row[1:],
        )
        for row in shuffled(program.rows, order)
    )
    return Program(program.sense, tuple(program.costs[c] for c in places), rows)


def mip(number: int, copy: int) -> str:
    """A linear program with binary variables, in the format of CPLEX."""
    return lp(_program(number, copy))


class _Shop:
    """A job shop: each job visits all machines in an order of its own."""

    def __init__(self, jobs: int, machines: int, rng: Random) -> None:
        self.jobs, self.machines = range(jobs), range(machines)
        self.times = {(j, m): 1 + int(9 * rng.random()) for j in self.jobs for m in self.machines}
        self.order = {j: shuffled(self.machines, rng) for j in self.jobs}

    @property
    def load(self) -> int:
        """The longest job or the busiest machine."""
        by_job = [sum(self.times[j, m] for m in self.machines) for j in self.jobs]
        by_machine = [sum(self.times[j, m] for j in self.jobs) for m in self.machines]
        return max(*by_job, *by_machine)

    def sequences(self) -> list[tuple[int, int, int]]:
        """A job with two machines that follow each other."""
        return [
            (j, a, b)
            for j in self.jobs
            for a, b in zip(self.order[j], self.order[j][1:], strict=False)
        ]


def smt2(number: int, copy: int) -> str:
    """Whether an odd number of 15 bits is a product of two of 8 bits: bit-vectors."""
    rng = stream(0, "landscapes", "smt2", number)
    factors, product = 8, 2 * 8
    odd = 2 ** (product - 2) + 2 * int(2 ** (product - 3) * rng.random()) + 1
    order = stream(copy, "landscapes", "smt2 copy", number)
    small, large = shuffled(["x", "y"], order)
    bound = f"(_ bv{2**factors} {product})"
    asserted = [
        f"(= (bvmul {small} {large}) (_ bv{odd} {product}))",
        f"(bvult x {bound})",
        f"(bvult y {bound})",
        f"(bvugt {small} (_ bv1 {product}))",
        f"(bvuge {large} {small})",
    ]
    declared = [f"(declare-fun {name} () (_ BitVec {product}))" for name in (small, large)]
    lines = [f"(assert {text})" for text in shuffled(asserted, order)]
    return "\n".join(["(set-logic QF_BV)", *declared, *lines, "(check-sat)"]) + "\n"


def cp(number: int, copy: int) -> str:
    """The shortest schedule of a job shop, or a knapsack, in the text format of CP-SAT."""
    if number % 2:
        return _knapsack_cp(_knapsack(number, copy))
    return _shop_cp(_Shop(5, 5, stream(0, "landscapes", "cp", number)), number, copy)


def _knapsack(number: int, copy: int) -> Program:
    program = knapsack(10, 4, 0.5, stream(0, "landscapes", "cp", number))
    order = stream(copy, "landscapes", "cp copy", number)
    places = shuffled(range(len(program.costs)), order)
    place = {column: k for k, column in enumerate(places)}
    rows = tuple(
        Row(tuple((factor, place[c]) for factor, c in row.terms), *row[1:])
        for row in shuffled(program.rows, order)
    )
    return Program(program.sense, tuple(program.costs[c] for c in places), rows)


def _linear(columns: Sequence[int], factors: Sequence[int], domain: tuple[int, int]) -> str:
    return (
        f"constraints {{ linear {{ vars: {list(columns)} coeffs: {list(factors)}"
        f" domain: {list(domain)} }} }}"
    )


def _knapsack_cp(program: Program) -> str:
    lines = ["variables { domain: [0, 1] }"] * len(program.costs)
    for row in program.rows:
        lines.append(_linear([c for _, c in row.terms], [f for f, _ in row.terms], (0, row.bound)))
    columns, costs = list(range(len(program.costs))), [-cost for cost in program.costs]
    lines.append(f"objective {{ vars: {columns} coeffs: {costs} scaling_factor: -1 }}")
    return "\n".join(lines) + "\n"


def _shop_cp(shop: _Shop, number: int, copy: int) -> str:
    order = stream(copy, "landscapes", "cp copy", number)
    keys, end = shuffled(list(shop.times), order), sum(shop.times.values())
    index = {key: k for k, key in enumerate(keys)}
    lines = [f"variables {{ domain: [0, {end}] }}"] * (len(keys) + 1)
    for k, key in enumerate(keys):
        start, size = f"start {{ vars: [{k}] coeffs: [1] }}", shop.times[key]
        stop = f"end {{ vars: [{k}] coeffs: [1] offset: {size} }} size {{ offset: {size} }}"
        lines.append(f"constraints {{ interval {{ {start} {stop} }} }}")
    rest = [
        _linear([index[j, b], index[j, a]], [1, -1], (shop.times[j, a], end))
        for j, a, b in shop.sequences()
    ]
    for j in shop.jobs:
        last = (j, shop.order[j][-1])
        rest.append(_linear([len(keys), index[last]], [1, -1], (shop.times[last], end)))
    for m in shop.machines:
        intervals = [index[j, m] for j in shop.jobs]
        rest.append(f"constraints {{ no_overlap {{ intervals: {intervals} }} }}")
    objective = f"objective {{ vars: [{len(keys)}] coeffs: [1] }}"
    return "\n".join([*lines, *shuffled(rest, order), objective]) + "\n"
