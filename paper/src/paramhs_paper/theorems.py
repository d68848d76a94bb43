"""The theorems, held against exact numbers of calls."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from paramhs.results.landscape.bounds import l_step_lower_bound, param_ils_lower_bound, upper_bound
from paramhs.results.landscape.calls import without_replacement
from paramhs.results.landscape.growth import Growth, growth
from paramhs.results.landscape.study import Row, study

STUDY_SIZES = (5, 10, 20, 50, 100)
GROWTH_SIZES = tuple(10**k for k in range(1, 7))


def study_rows(repetitions: int, seed: int) -> list[Row]:
    """Landscapes of every kind, with their bounds and exact calls."""
    return study(STUDY_SIZES, repetitions, seed)


def growth_rows() -> list[Growth]:
    """From 10 to a million values, on a landscape with one valley."""
    return growth(GROWTH_SIZES)


def study_table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows by name, for CSV and JSON."""
    names = ("upper_ratio", "halving_ratio", "l_step_ratio", "uniform_ratio")
    return [
        {key: _plain(value) for key, value in vars(row).items()}
        | {name: _plain(getattr(row, name)) for name in names}
        for row in rows
    ]


def _plain(value: Any) -> Any:
    """A JSON type; infinity, where a search may get stuck, is null."""
    if isinstance(value, str | int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def theorems_summary(rows: Sequence[Row], sizes: Sequence[Growth]) -> str:
    """What they show, as Markdown."""
    return "\n".join(_lines(rows, sizes)) + "\n"


def _lines(rows: Sequence[Row], sizes: Sequence[Growth]) -> Iterator[str]:
    yield "# The theorems against exact numbers of calls"
    yield ""
    yield f"{len(rows)} landscapes of one parameter drawn; comparisons always right, uniform start."
    yield "A ratio below 1 would contradict a theorem: bound / exact for Theorem 4 (its logarithm"
    yield "to base 2, for which the proof holds), exact / bound else. *Stuck*: where the 1-step may"
    yield "never find the optimum."
    yield ""
    yield "| kind | landscapes | Theorem 4: least | median | Theorem 1 (M/8): least | stuck |"
    yield "|---|---|---|---|---|---|"
    for kind in dict.fromkeys(row.kind for row in rows):
        chosen = [row for row in rows if row.kind == kind]
        upper = sorted(row.upper_ratio for row in chosen)
        lower = [_first_ratio(row) for row in chosen]
        stuck = sum(math.isinf(ratio) for ratio in lower)
        yield (
            f"| {kind} | {len(chosen)} | {upper[0]:.2f} | {upper[len(upper) // 2]:.1f} |"
            f" {min(lower):.2f} | {stuck} |"
        )
    yield ""
    yield f"Bounds violated: {sum(_violated(row) for row in rows)}."
    yield "Theorems 2 and 3 need no landscapes: without replacement the exact mean is (M - 1)/2,"
    yield f"which is at least {_least_uniform(rows):.2f} times M/4 (uniform moves) and"
    yield f"{_least_param_ils():.2f} times M/16 (ParamILS) at these sizes."
    yield ""
    yield "## Growth on a landscape with one valley, the optimum at its end"
    yield ""
    yield "| values | 1-step | random | random, without replacement | harmonic | Theorem 4 |"
    yield "|---|---|---|---|---|---|"
    for row in sizes:
        bound = upper_bound(row.levels, 1, 1)
        yield (
            f"| {row.levels:,} | {row.l_step:,.1f} | {row.uniform:,.1f} |"
            f" {row.uniform_without_replacement:,.1f} | {row.harmonic:.2f} | {bound:,.0f} |"
        )


def _first_ratio(row: Row) -> float:
    """The exact calls of the 1-step over Theorem 1's M/8."""
    return row.l_step / float(l_step_lower_bound([row.levels]))


def _violated(row: Row) -> bool:
    ratios = (row.upper_ratio, row.halving_ratio, row.l_step_ratio, row.uniform_ratio)
    return min(*ratios, _first_ratio(row)) < 1


def _least_uniform(rows: Sequence[Row]) -> float:
    return min(row.uniform_ratio for row in rows)


def _least_param_ils() -> float:
    """The exact mean of its local search over undiscovered neighbours, over the bound."""
    return min(
        without_replacement(size).mean / float(param_ils_lower_bound([size]))
        for size in STUDY_SIZES
    )
