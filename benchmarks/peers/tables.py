"""Tables in markdown: what each tool found, and what it took itself."""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median, stdev

from benchmarks.peers.rows import Row

Cell = Callable[[Sequence[Row], float], str]
"""What stands in a table of some searches of a tool; up to the number, logarithms are level."""


def tables(rows: Sequence[Row]) -> str:
    """Geometric means, medians, and the tools' own time."""
    parts = [
        ("Geometric mean of the cost relative to the default's ± its standard error", mean_cell),
        ("Median, of how many searches", median_cell),
        ("Milliseconds of processor time a run that the tool took itself", own_cell),
    ]
    return "\n\n".join(f"{title}:\n\n{table(rows, cell)}" for title, cell in parts)


def table(rows: Sequence[Row], cell: Cell) -> str:
    """A line for each scenario and number of runs, a column for each tool."""
    tools = list(dict.fromkeys(row.tool for row in sorted(rows, key=_order)))
    lines = [_line(["scenario", "runs", *tools]), _line(["---", *["---:"] * (1 + len(tools))])]
    for case, runs in sorted({(row.case, row.runs) for row in rows}):
        here = [row for row in rows if (row.case, row.runs) == (case, runs)]
        groups = [[row for row in here if row.tool == tool] for tool in tools]
        bound = level([group for group in groups if len(group) > 1])
        cells = [cell(group, bound) if group else "-" for group in groups]
        lines.append(_line([case, f"{runs:,}", *cells]))
    return "\n".join(lines)


def level(groups: Sequence[Sequence[Row]]) -> float:
    """The least mean and its standard error: what is not above that may be as good."""
    best = min(groups, key=log_mean, default=None)
    return -math.inf if best is None else log_mean(best) + log_error(best)


def _order(row: Row) -> tuple[bool, str]:
    """Sort key that lists our own searches first."""
    return not row.tool.startswith("paramhs"), row.tool.lower()


def _line(words: Iterable[str]) -> str:
    return f"| {' | '.join(words)} |"


def mean_cell(rows: Sequence[Row], bound: float) -> str:
    """In bold if it is the least or level with that; one search has no standard error."""
    middle = math.exp(log_mean(rows))
    if len(rows) < 2:
        return f"{middle:.3f}"
    error = log_error(rows)
    text = f"{middle:.3f} ± {middle * error:.3f}"
    return f"**{text}**" if log_mean(rows) <= bound else text


def median_cell(rows: Sequence[Row], _: float) -> str:
    """And of how many."""
    return f"{median(row.relative for row in rows):.3f} of {len(rows)}"


def own_cell(rows: Sequence[Row], _: float) -> str:
    """With starting the tool."""
    return f"{fmean(row.own for row in rows):,.3g}"


def log_mean(rows: Sequence[Row]) -> float:
    """The mean of logarithms of relative costs."""
    return fmean(math.log(row.relative) for row in rows)


def log_error(rows: Sequence[Row]) -> float:
    """The standard error of that, of two or more."""
    return stdev(math.log(row.relative) for row in rows) / math.sqrt(len(rows))
