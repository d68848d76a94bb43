"""The theorems, held against exact numbers of calls."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from paramhs.landscape.bounds import param_ils_lower_bound, upper_bound
from paramhs.landscape.calls import without_replacement
from paramhs.landscape.growth import Growth, growth
from paramhs.landscape.study import Row, study

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
    yield f"{len(rows)} landscapes drawn; comparisons always right, uniform start. A ratio below 1"
    yield "would contradict a theorem: upper bound / exact for Theorem 4, exact / lower bound else."
    yield ""
    yield "| kind | landscapes | Theorem 4, least | median | 1-step (Th. 1), least | stuck |"
    yield "|---|---|---|---|---|---|"
    for kind in dict.fromkeys(row.kind for row in rows):
        chosen = [row for row in rows if row.kind == kind]
        upper = sorted(row.upper_ratio for row in chosen)
        lower = [row.l_step_ratio for row in chosen]
        stuck = sum(math.isinf(ratio) for ratio in lower)
        yield (
            f"| {kind} | {len(chosen)} | {upper[0]:.2f} | {upper[len(upper) // 2]:.1f} |"
            f" {min(lower):.2f} | {stuck} |"
        )
    violated = sum(row.upper_ratio < 1 or row.l_step_ratio < 1 for row in rows)
    yield ""
    yield f"Bounds violated: {violated}."
    yield f"Theorem 2 (uniform moves, at least M/4): least ratio {_least_uniform(rows):.2f}."
    yield f"Theorem 3 (ParamILS, at least M/16): least ratio {_least_param_ils():.2f}."
    yield ""
    yield "## Growth on a landscape with one valley"
    yield ""
    yield "| values | 1-step | random | random, without replacement | harmonic | Theorem 4 |"
    yield "|---|---|---|---|---|---|"
    for row in sizes:
        bound = upper_bound(row.levels, 1, 1)
        yield (
            f"| {row.levels:,} | {row.l_step:,.1f} | {row.uniform:,.1f} |"
            f" {row.uniform_without_replacement:,.1f} | {row.harmonic:.2f} | {bound:,.0f} |"
        )


def _least_uniform(rows: Sequence[Row]) -> float:
    return min(row.uniform_ratio for row in rows)


def _least_param_ils() -> float:
    """The exact mean of its local search over undiscovered neighbours, over the bound."""
    return min(
        without_replacement(size).mean / float(param_ils_lower_bound([size]))
        for size in STUDY_SIZES
    )
