"""Uniform random k-SAT, as it is or with a hidden solution.

Each clause has k distinct variables, uniformly chosen, with fair signs. For k = 3 formulas of many
variables are nearly all satisfiable below 4.267 clauses a variable and nearly all unsatisfiable
above it, and hardest there.

Source: Mitchell, Selman, Levesque, "Hard and Easy Distributions of SAT Problems" (AAAI 1992); the
threshold: Mertens, Mezard, Zecchina, "Threshold Values of Random K-SAT" (2006).
"""

from random import Random

from paramhs.values.errors import BadInput
from paramhs.values.seeds import below
from paramhs.world.instances.dimacs import Formula
from paramhs.world.instances.limits import at_least, positive, sized


def random_ksat(k: int, variables: int, ratio: float, planted: bool, rng: Random) -> Formula:
    """A formula of round(ratio * variables) clauses.

    With `planted` the clauses are uniform among those that a hidden assignment satisfies. Such
    formulas are easier than others that are satisfiable, the more so the higher the ratio.
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
    """Distinct variables, uniformly chosen, with fair signs; needs length <= variables."""
    chosen: dict[int, int] = {}
    while len(chosen) < length:
        variable = 1 + below(variables, rng)
        if variable not in chosen:
            chosen[variable] = signed(variable, rng)
    return tuple(chosen.values())


def signed(variable: int, rng: Random) -> int:
    """The variable or its negation, by a fair coin."""
    return variable if rng.random() < 0.5 else -variable
