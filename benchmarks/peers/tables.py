"""Tables in markdown: what each tool found, and what it took itself."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, median, stdev

from benchmarks.peers.rows import Row

HEADING = ("scenario", "runs", "tool", "searches", "median", "geometric mean", "own ms a run")
LEVEL = 1.0  # standard errors within which two are called level


def table(rows: Sequence[Row]) -> str:
    """A line for each scenario, number of runs and tool, the best in bold."""
    lines = [_line(HEADING), _line(("---", "---:", "---", "---:", "---:", "---:", "---:"))]
    for case, runs in sorted({(row.case, row.runs) for row in rows}):
        here = [row for row in rows if (row.case, row.runs) == (case, runs)]
        best = min(map(_mean, _by_tool(here).values()))
        for tool, group in sorted(_by_tool(here).items(), key=lambda item: _mean(item[1])):
            lines.append(_line((case, f"{runs:,}", tool, *_summary(group, best))))
    return "\n".join(lines)


def _line(words: Iterable[str]) -> str:
    return f"| {' | '.join(words)} |"


def _by_tool(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.tool, []).append(row)
    return groups


def _summary(rows: Sequence[Row], best: float) -> tuple[str, str, str, str]:
    middle, error = math.exp(_mean(rows)), _error(rows)
    text = f"{middle:.3f} ± {middle * error:.3f}"
    level = _mean(rows) - LEVEL * error <= best
    own = f"{fmean(row.own for row in rows):.1f}"
    middle_row = f"{median(row.relative for row in rows):.3f}"
    return str(len(rows)), middle_row, f"**{text}**" if level else text, own


def _mean(rows: Sequence[Row]) -> float:
    """Of logarithms."""
    return fmean(math.log(row.relative) for row in rows)


def _error(rows: Sequence[Row]) -> float:
    """The standard error of that."""
    if len(rows) < 2:
        return math.nan
    return stdev(math.log(row.relative) for row in rows) / math.sqrt(len(rows))
