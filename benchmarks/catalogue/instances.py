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


def larger_cnf(rng: Random, number: int) -> str:
    """Random 3-SAT near its threshold that takes some ten milliseconds."""
    return dimacs(random_ksat(3, 170, 4.2, False, rng))


def small_program(rng: Random, number: int) -> Program:
    """Set cover, or a multidimensional knapsack; a few milliseconds with most configurations."""
    return set_cover(12, 24, 0.2, rng) if number % 2 else knapsack(10, 3, 0.5, rng)


def mip(rng: Random, number: int) -> str:
    """A small integer program."""
    return lp(small_program(rng, number))


def larger_mip(rng: Random, number: int) -> str:
    """A multidimensional knapsack that takes some tenths of a second."""
    return lp(knapsack(35, 5, 0.5, rng))


def cp(rng: Random, number: int) -> str:
    """A small integer program for CP-SAT."""
    return pbtxt(small_program(rng, number))


def larger_cp(rng: Random, number: int) -> str:
    """A multidimensional knapsack for CP-SAT that takes some tenths of a second."""
    return pbtxt(knapsack(25, 5, 0.5, rng))


def pbtxt(program: Program) -> str:
    """An integer program in the text format of CP-SAT."""
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


def asp(rng: Random, number: int) -> str:
    """Colouring of a random graph with three colours, or an assignment of tasks to slots."""
    nodes = 26 if number % 2 else 12
    pairs = [(one, other) for one in range(nodes) for other in range(one)]
    edges = rng.sample(pairs, round((2.25 if number % 2 else 2.0) * nodes))
    facts = [f"edge({one},{other})." for one, other in edges]
    if number % 2:
        rules = "1 {colour(X,1..3)} 1 :- node(X). :- edge(X,Y), colour(X,C), colour(Y,C)."
    else:
        rules = (
            "1 {at(X,1..n)} 1 :- node(X). :- edge(X,Y), at(X,T), at(Y,T)."
            " :- at(X,T), at(Y,T+1), edge(X,Y), T > 2. :- at(X,T), at(Y,T), X != Y, T > 3."
        )
    return "\n".join([f"#const n={nodes // 3}.", f"node(0..{nodes - 1}).", *facts, rules]) + "\n"


def larger_asp(rng: Random, number: int) -> str:
    """Colouring of a random graph with three colours, near the threshold."""
    nodes = 200
    pairs = [(one, other) for one in range(nodes) for other in range(one)]
    facts = [f"edge({one},{other})." for one, other in rng.sample(pairs, round(2.3 * nodes))]
    rules = "1 {colour(X,1..3)} 1 :- node(X). :- edge(X,Y), colour(X,C), colour(Y,C)."
    return "\n".join([f"node(0..{nodes - 1}).", *facts, rules]) + "\n"


_KERNELS = (
    """  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)
    for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j] % 7;""",
    """  for (int r = 0; r < 30; r++) for (int i = 1; i < N-1; i++) for (int j = 1; j < N-1; j++)
    c[i][j] = (a[i-1][j] + a[i+1][j] + a[i][j-1] + b[i][j+1] + c[i][j]) / (r % 3 + 2);""",
    """  for (int i = 0; i < N; i++) for (int j = 1; j < N; j++) {
    int x = a[i][j], k = j - 1;
    while (k >= 0 && a[i][k] > x) { a[i][k + 1] = a[i][k]; k--; }
    a[i][k + 1] = x;
  }
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) c[i][j] = a[i][j] ^ b[j][i];""",
    """  for (int r = 0; r < 40; r++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)
    c[i][j] = step(c[i][j] + (unsigned) a[j][i] * b[i][j]);""",
)


def program(rng: Random, number: int) -> str:
    """A C program: products of matrices, stencils, sorting or hashing of integers."""
    size = 60 + below(20, rng)
    return f"""#include <stdio.h>
#define N {size}
static int a[N][N], b[N][N], c[N][N];
static unsigned state = {1 + below(10**6, rng)}u;
static unsigned step(unsigned x) {{ x ^= x << 13; x ^= x >> 17; return x ^ (x << 5); }}
int main(void) {{
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {{
    state = step(state); a[i][j] = state % 1000; b[i][j] = (state >> 8) % 1000;
  }}
  for (int round = 0; round < 150; round++) {{
{_KERNELS[number % len(_KERNELS)]}
  }}
  unsigned sum = 0;
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sum = sum * 31 + (unsigned) c[i][j];
  printf("%u\\n", sum);
  return 0;
}}
"""


MAKERS: Mapping[str, Maker] = {
    ".cnf": cnf,
    ".lp": mip,
    ".pbtxt": cp,
    ".smt2": smt2,
    ".c": program,
}
"""Makers by the ending of a solver's instances."""
_OWN: Mapping[str, Maker] = {"clingo": asp}  # where an ending means something else
_OWN_FOR_SEARCHES: Mapping[str, Maker] = {"clingo": larger_asp}
_FOR_SEARCHES: Mapping[str, Maker] = {".cnf": larger_cnf, ".lp": larger_mip, ".pbtxt": larger_cp}


def write(
    entry: Entry, folder: Path, count: int, first: int = 0, *, larger: bool = False
) -> Iterator[Path]:
    """Write instances for a solver.

    Args:
        entry: the solver.
        folder: where to write.
        count: number of instances.
        first: number of the first; others begin with another.
        larger: write larger ones where there are some, for searches.
    """
    suffix = next(suffix for suffix in (*entry.suffixes, *MAKERS) if suffix in MAKERS)
    maker = _OWN.get(entry.name, MAKERS[suffix])
    if larger:
        maker = _OWN_FOR_SEARCHES.get(entry.name, _FOR_SEARCHES.get(suffix, maker))
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + count):
        path = folder / f"{number:03}{suffix}"
        path.write_text(maker(stream(0, "catalogue", suffix, number), number))
        yield path
