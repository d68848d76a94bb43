"""Integer programs with 0/1 variables, in the LP format of HiGHS, SCIP, CBC and GLPK."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple

from paramhs.bundled.instances.limits import at_least, positive, sized
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below

_TERMS_A_LINE = 8  # LP readers limit the length of a line, some to 255


class Row(NamedTuple):
    """A constraint: its terms (coefficient, column from 0) against a bound."""

    terms: tuple[tuple[int, int], ...]
    sense: Literal["<=", ">="]
    bound: int


@dataclass(frozen=True, slots=True)
class Program:
    """Objective over 0/1 variables under linear constraints."""

    sense: Literal["Minimize", "Maximize"]
    costs: tuple[int, ...]
    rows: tuple[Row, ...]


def set_cover(rows: int, columns: int, density: float, rng: Random) -> Program:
    """Set cover: choose the cheapest columns that cover every row.

    A column covers each row with probability `density` and costs 1 .. 100, uniformly; a row covered
    by fewer than two columns, and a column that covers none, receive some at random.

    Source: Balas, Ho, "Set covering algorithms using cutting planes, heuristics, and subgradient
    optimization" (Mathematical Programming Study 12, 1980).
    """
    at_least("rows", rows, 1)
    at_least("columns", columns, 2)
    sized(rows * columns)
    if not 0 < density <= 1:
        raise BadInput(f"density must be above 0 and at most 1, not {density}")
    costs = tuple(1 + below(100, rng) for _ in range(columns))
    covers = [[c for c in range(columns) if rng.random() < density] for _ in range(rows)]
    for column in sorted(set(range(columns)).difference(*covers)):
        covers[below(rows, rng)].append(column)
    for cover in covers:
        while len(cover) < 2:
            column = below(columns, rng)
            cover += [column] if column not in cover else []
    constraints = (Row(tuple((1, c) for c in sorted(cover)), ">=", 1) for cover in covers)
    return Program("Minimize", costs, tuple(constraints))


def knapsack(items: int, dimensions: int, tightness: float, rng: Random) -> Program:
    """Knapsack: choose the most valuable items whose sizes satisfy every capacity.

    Sizes are 1 .. 1000, uniformly; a capacity is `tightness` times the sum of the sizes; an item is
    worth its mean size plus 0 .. 500, uniformly, so large ones are worth more.

    Source: Chu, Beasley, "A Genetic Algorithm for the Multidimensional Knapsack Problem" (Journal
    of Heuristics 4, 1998).
    """
    at_least("items", items, 1)
    at_least("dimensions", dimensions, 1)
    sized(items * dimensions)
    if not positive("tightness", tightness) < 1:
        raise BadInput(f"tightness must be below 1, or everything fits, not {tightness}")
    sizes = [[1 + below(1000, rng) for _ in range(items)] for _ in range(dimensions)]
    values = [sum(of) // dimensions + below(501, rng) for of in zip(*sizes, strict=True)]
    rows = (
        Row(tuple((size, i) for i, size in enumerate(line)), "<=", int(tightness * sum(line)))
        for line in sizes
    )
    return Program("Maximize", tuple(values), tuple(rows))


def lp(program: Program, *comments: str) -> str:
    """Write a program as LP; columns are x1, x2, ... and rows r1, r2, ..."""
    lines = [f"\\ {comment}".rstrip() for comment in comments]
    lines += [program.sense, *_sum("cost", [(c, i) for i, c in enumerate(program.costs)])]
    lines.append("Subject To")
    for number, row in enumerate(program.rows, 1):
        lines += _sum(f"r{number}", row.terms)
        lines.append(f"  {row.sense} {row.bound}")
    names = [f"x{i}" for i in range(1, len(program.costs) + 1)]
    lines += ["Binary", *_wrapped(names), "End"]
    return "\n".join(lines) + "\n"


def _sum(name: str, terms: Sequence[tuple[int, int]]) -> list[str]:
    first, *rest = _wrapped([f"+ {factor} x{column + 1}" for factor, column in terms])
    return [f" {name}:{first}", *rest]


def _wrapped(words: Sequence[str]) -> list[str]:
    starts = range(0, len(words), _TERMS_A_LINE)
    return [" " + " ".join(words[i : i + _TERMS_A_LINE]) for i in starts]
