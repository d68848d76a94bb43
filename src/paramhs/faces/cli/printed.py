"""Results and stores, printed for people."""

import math
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.faces.layout import brief, tell, tell_table
from paramhs.faces.result import Result
from paramhs.results.evidence import Rival, closest_rivals, steps
from paramhs.values.costs import CostMetric
from paramhs.values.wording import counted

_CLEAR = 2.5  # standard errors from which a difference is probable
_FEW = 8  # parameters up to which the default is shown whole
_TELLING = 8  # common runs below which no difference is called probable


def print_result(console: Console, result: Result, metric: CostMetric) -> None:
    """Incumbents, the best beside the default on common runs, and how sure that is."""
    _print_trajectory(console, result, metric)
    console.print()
    stopped = "" if result.stopped.startswith("the budget") else "the search ended: "
    more = f" (and {result.speculative:,} speculative)" if result.speculative else ""
    counts = f"{counted(result.asked, 'run')}{more}, {result.target_time:.1f} s of target time"
    tell(console, f"{counts}: {stopped}{result.stopped}")
    if result.best != result.default:
        changed = f"as it differs from the default: {brief(result.best, most=1_000)}"
        tell(console, f"best, {changed}", style="bold", indent="  ")
    if len(result.default) <= _FEW:
        tell(console, f"default: {result.default}", indent="  ")
    tell(console, f"while searching: {result.comparison}", indent="  ")
    for line in _how_sure(result):
        tell(console, line, indent="    ")


def _print_trajectory(console: Console, result: Result, metric: CostMetric, most: int = 12) -> None:
    """One line an incumbent; its numbers are over the same runs."""
    rows: list[tuple[str, ...]] = []
    made = steps(result.history, result.trajectory)
    for index, step in enumerate(made):
        if most // 2 <= index < len(made) - most // 2:
            if index == most // 2:
                rows.append(("...", "", "", "", f"({len(made) - most} more)"))
            continue
        numbers = (f"{step.runs:,}", *map(_number, (step.cost, step.before)))
        rows.append((*numbers, f"{step.common or ''}", brief(step.config)))
    headings = ("after runs", metric.label, "before", "common runs", "incumbent")
    tell_table(console, headings, rows)
    note = "incumbents are shown as they differ from the default; each number beside that of the"
    tell(console, f"({note} incumbent before, over the runs both have made)", style="dim")


def _number(cost: float | None) -> str:
    return "" if cost is None else f"{cost:.6g}"


def _how_sure(result: Result) -> list[str]:
    """The closest rivals, with twice the standard error of the difference on common runs."""
    if result.best == result.default and len(result.trajectory) <= 1:
        return []
    rivals = closest_rivals(result.history, result.best)
    # Of many with few common runs, the closest is merely the luckiest.
    closest = ([r for r in rivals if r.common >= _TELLING] or rivals)[:2]
    lines = [_rival("closest", rival) for rival in closest]
    lines += [
        _rival("default", r) for r in rivals if r.config == result.default and r not in closest
    ]
    if lines:
        lines.insert(0, "how sure (on runs made while searching; ± is two standard errors):")
    return lines


def _rival(role: str, rival: Rival) -> str:
    common = f"over {counted(rival.common, 'common run')}"
    if rival.worse_by == 0 and rival.error == 0:
        return f"  {role} {brief(rival.config)}: the same {common}"
    difference = f"by {abs(rival.worse_by):.3g} ± {2 * rival.error:.2g} {common}"
    if rival.worse_by < -_CLEAR * rival.error and rival.common >= _TELLING:
        settle = "the search ended before that was settled; a larger budget goes on"
        return f"  {role} {brief(rival.config)} is probably better, {difference}: {settle}"
    if rival.worse_by <= 0:
        return f"  {role} {brief(rival.config)} is no worse (better {difference})"
    return f"  {role} {brief(rival.config)} is {_how_clearly(rival)} worse, {difference}"


def _how_clearly(rival: Rival) -> str:
    """In words, with room for the luck of few runs and of having been selected by them."""
    if rival.common < _TELLING:
        return "perhaps"
    errors = rival.worse_by / rival.error if rival.error else math.inf
    return "clearly" if errors > 4 else "probably" if errors > _CLEAR else "perhaps"


def print_summary(console: Console, about: dict[str, Any]) -> None:
    """What is in a store."""
    counts = ", ".join(f"{count:,} {status}" for status, count in about["statuses"].items())
    head = f"{about['store']}: {counted(about['runs'], 'run')} ({counts or 'none'})"
    console.print(Text(head), soft_wrap=True)
    console.print(
        f"{counted(about['configurations'], 'configuration')}, {about['target_time']:.1f} s of"
        f" target time, {counted(about['sessions'], 'session')}"
    )
    console.print("\nincumbents")
    table = Table("after runs", "incumbent", "mean then", "over runs", box=None, pad_edge=False)
    for point in about["trajectory"][-20:]:
        cost = "" if point["cost"] is None else f"{point['cost']:.6g}"
        table.add_row(f"{point['runs']:,}", Text(point["config"]), cost, f"{point['evidence']:,}")
    console.print(table)
    console.print("\nmost run")
    table = Table("runs", "config", "mean quality", "mean runtime", "failures", box=None)
    for row in about["most_run"]:
        quality = "" if row["mean_quality"] is None else f"{row['mean_quality']:.6g}"
        runtime = f"{row['mean_runtime']:.4g} s"
        table.add_row(
            f"{row['runs']:,}", Text(row["config"]), quality, runtime, str(row["failures"])
        )
    console.print(table)
