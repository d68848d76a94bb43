"""Uniform random k-SAT, optionally with a planted solution.

Each clause has k distinct variables, chosen uniformly, with fair signs. For k = 3, large formulas
are almost all satisfiable below 4.267 clauses per variable and almost all unsatisfiable above, and
hardest there.

Source: Mitchell, Selman, Levesque, "Hard and Easy Distributions of SAT Problems" (AAAI 1992); the
threshold: Mertens, Mezard, Zecchina, "Threshold Values of Random K-SAT" (2006).
"""

from random import Random

from paramhs.bundled.instances.dimacs import Formula
from paramhs.bundled.instances.limits import at_least, positive, sized
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below


def random_ksat(k: int, variables: int, ratio: float, planted: bool, rng: Random) -> Formula:
    """Random formula with round(ratio * variables) clauses.

    With `planted` the clauses are uniform among those that a hidden assignment satisfies. Such
    formulas are easier than other satisfiable ones, the more so the higher the ratio.
    """
    at_least("k", k, 1)
    if k > variables:
        raise BadInput(
            f"clauses of k = {k} distinct variables need more than {variables} variables"
        )
    sized(k * positive("ratio", ratio) * variables)
    count = round(ratio * variables)
    hidden = [rng.random() < 0.5 for _ in range(variables)] if planted else None
    clauses: list[tuple[int, ...]] = []
    while len(clauses) < count:
        clause = random_clause(k, variables, rng)
        if hidden is None or any(hidden[abs(literal) - 1] == (literal > 0) for literal in clause):
            clauses.append(clause)
    return Formula(variables, tuple(clauses))


def random_clause(length: int, variables: int, rng: Random) -> tuple[int, ...]:
    """Clause of distinct uniform variables with fair signs; needs length <= variables."""
    chosen: dict[int, int] = {}
    while len(chosen) < length:
        variable = 1 + below(variables, rng)
        if variable not in chosen:
            chosen[variable] = signed(variable, rng)
    return tuple(chosen.values())


def signed(variable: int, rng: Random) -> int:
    """The variable or its negation, by a fair coin."""
    return variable if rng.random() < 0.5 else -variable
