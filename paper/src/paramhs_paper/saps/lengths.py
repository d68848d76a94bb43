"""The l of SAPS's l-step, which the paper does not state: 1, 2 and 3 on every table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from paramhs.world.targets.saps import SMOOTHINGS
from paramhs_paper import published
from paramhs_paper.points import exact
from paramhs_paper.saps.ranking import AGGREGATIONS
from paramhs_paper.saps.table import QUALITIES
from paramhs_paper.scenarios import Curve, SapsScenario, saps_scenario
from paramhs_paper.statistics import mean_square, verdict, z_score
from paramhs_paper.writing import markdown, number

LENGTHS = (1, 2, 3)


@dataclass(frozen=True)
class Length:
    """The published l-step curve against a table and an l."""

    table: str
    l: int  # noqa: E741 -- the paper's letter
    mean_square_z: float | None
    never: float
    """The largest probability of never ending, over the sizes."""
    mean_at_largest: float
    verdict: str


def lengths(sizes: Sequence[int] = ()) -> list[Length]:
    """Every way to make the table, times every l; over all sizes if none are given."""
    tables = [saps_scenario(*how) for how in product(SMOOTHINGS, AGGREGATIONS, QUALITIES)]
    return [_length(table, length, sizes) for table in tables for length in LENGTHS]


def _length(scenario: SapsScenario, length: int, sizes: Sequence[int]) -> Length:
    curve = Curve("paramrls", "l-step", length)
    zs, never, mean = [], 0.0, 0.0
    for size in sizes or scenario.sizes:
        found = exact(scenario.arena(size), curve, length)
        if found is None:
            raise AssertionError("an l-step can always be computed")
        there = published.mean_calls("saps", "paramrls", "l-step", size)
        ending, mean = found.ending, found.ending.mean
        zs.append(z_score(there, mean, ending.sd, 1 / scenario.repetitions))
        never = max(never, ending.never)
    square = mean_square(zs)
    judged = verdict(square or 0.0, len(zs), never, scenario.repetitions)
    return Length(scenario.table, length, square, never, mean, judged)


def lengths_summary(rows: Sequence[Length]) -> str:
    """Mean z^2 and the probability of never ending, table by table."""

    def cells(table: str) -> Iterator[str]:
        yield table
        for length in LENGTHS:
            row = next(r for r in rows if (r.table, r.l) == (table, length))
            yield f"{number(row.mean_square_z, 1)} ({row.never:.2f})"

    headings = ("table", *(f"l = {length}" for length in LENGTHS))
    tables = dict.fromkeys(row.table for row in rows)
    return "\n".join(markdown(headings, (list(cells(table)) for table in tables))) + "\n"
