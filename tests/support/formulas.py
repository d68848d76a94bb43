"""Random formulas, with repeated and opposite literals, empty clauses and weights."""

from random import Random

from paramhs.bundled.instances.dimacs import Formula


def random_formula(rng: Random, variables: int, clauses: int, *, weighted: bool = False) -> Formula:
    """Clauses of 0 to 4 literals, most of 2 or 3; some literals repeat, some are opposite."""
    made = []
    for _ in range(clauses):
        length = rng.choice((0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4))
        made.append(tuple(rng.choice((-1, 1)) * rng.randint(1, variables) for _ in range(length)))
    weights = tuple(rng.choice((1.0, 2.0, 3.5, 40.0)) for _ in made) if weighted else None
    return Formula(variables, tuple(made), weights)
