"""Small generated instances for every kind of file that solvers of the catalogue read."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from paramhs.bundled.instances.colouring import colouring
from paramhs.bundled.instances.dimacs import Formula, dimacs
from paramhs.bundled.instances.integer_programs import Program, knapsack, lp, set_cover
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.core.random_streams import below, stream
from paramhs.solvers import Entry

Maker = Callable[[Random, int], str]
"""The text of an instance; even and odd numbers give different kinds."""


def cnf(rng: Random, number: int) -> str:
    """Random 3-SAT near its threshold, or colouring: some satisfiable, some not."""
    formula: Formula = (
        colouring(60, 4.5, 3, rng) if number % 2 else random_ksat(3, 110, 4.3, False, rng)
    )
    return dimacs(formula)


def mip(rng: Random, number: int) -> str:
    """Set cover, or a multidimensional knapsack."""
    program: Program = set_cover(40, 120, 0.1, rng) if number % 2 else knapsack(25, 4, 0.5, rng)
    return lp(program)


def cp(rng: Random, number: int) -> str:
    """The same programs in the text format of CP-SAT."""
    program = set_cover(40, 120, 0.1, rng) if number % 2 else knapsack(25, 4, 0.5, rng)
    sign = 1 if program.sense == "Minimize" else -1
    lines = ["variables { domain: [0, 1] }"] * len(program.costs)
    for row in program.rows:
        columns = ", ".join(str(column) for _, column in row.terms)
        factors = ", ".join(str(factor) for factor, _ in row.terms)
        domain = f"0, {row.bound}" if row.sense == "<=" else f"{row.bound}, {10**9}"
        linear = f"vars: [{columns}] coeffs: [{factors}] domain: [{domain}]"
        lines.append(f"constraints {{ linear {{ {linear} }} }}")
    columns = ", ".join(map(str, range(len(program.costs))))
    costs = ", ".join(str(sign * cost) for cost in program.costs)
    objective = f"vars: [{columns}] coeffs: [{costs}] scaling_factor: {sign}"
    return "\n".join([*lines, f"objective {{ {objective} }}"]) + "\n"


def smt2(rng: Random, number: int) -> str:
    """Ordering with gaps (difference logic), or sums of bounded integers (linear arithmetic)."""
    names = [f"x{index}" for index in range(12)]
    lines = ["(set-logic QF_LIA)", *(f"(declare-fun {name} () Int)" for name in names)]
    lines += [f"(assert (and (>= {name} 0) (<= {name} 30)))" for name in names]
    for _ in range(22):
        one, other, third = rng.sample(names, 3)
        gap = 1 + below(9, rng)
        if number % 2:
            either = f"(>= (- {one} {other}) {gap})", f"(>= (- {other} {one}) {gap + 2})"
            lines.append(f"(assert (or {either[0]} {either[1]} (= {third} {gap})))")
        else:
            total = 20 + below(30, rng)
            lines.append(f"(assert (or (= (+ {one} (* 2 {other})) {total}) (< {third} {gap})))")
    return "\n".join([*lines, "(check-sat)"]) + "\n"


MAKERS: Mapping[str, Maker] = {".cnf": cnf, ".lp": mip, ".pbtxt": cp, ".smt2": smt2}
"""Makers by the ending of a solver's instances."""


def write(entry: Entry, folder: Path, count: int, first: int = 0) -> Iterator[Path]:
    """Write instances for a solver; others begin with another `first`."""
    suffix = next(suffix for suffix in (*entry.suffixes, *MAKERS) if suffix in MAKERS)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + count):
        path = folder / f"{number:03}{suffix}"
        path.write_text(MAKERS[suffix](stream(0, "catalogue", suffix, number), number))
        yield path
