"""Results and stores, printed for people."""

import math
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.faces.tuning import Result
from paramhs.faces.views import brief
from paramhs.results.evidence import Rival, closest_rivals
from paramhs.values.costs import CostMetric
from paramhs.values.wording import counted

_CLEAR = 2.5  # standard errors from which a difference is probable
_TELLING = 8  # common runs below which no difference is called probable


def print_result(console: Console, result: Result, metric: CostMetric) -> None:
    """Incumbent, default, trajectory, and how sure that is."""
    console.print(_trajectory(result))
    console.print()
    stopped = "" if result.stopped.startswith("the budget") else "the search ended: "
    more = f" (and {result.speculative:,} speculative)" if result.speculative else ""
    counts = f"{counted(result.asked, 'run')}{more}, {result.target_time:.1f} s of target time"
    console.print(Text(f"{counts}: {stopped}{result.stopped}"), soft_wrap=True)
    console.print(Text(f"best     {result.best}", style="bold"), soft_wrap=True)
    console.print(f"         {result.best_text}")
    console.print(Text(f"default  {brief(result.default)}"), soft_wrap=True)
    console.print(f"         {result.default_text}")
    for line in _how_sure(result, metric):
        console.print(Text(line), soft_wrap=True)


def _trajectory(result: Result, most: int = 12) -> Table:
    table = Table("after runs", "incumbent", "mean then", "over runs", box=None, pad_edge=False)
    points = list(result.trajectory)
    for index, point in enumerate(points):
        if most // 2 <= index < len(points) - most // 2:
            if index == most // 2:
                table.add_row("...", f"({len(points) - most} more)", "", "")
            continue
        cost = "" if point.cost is None else f"{point.cost:.6g}"
        table.add_row(f"{point.runs:,}", Text(brief(point.config)), cost, f"{point.evidence:,}")
    return table


def _how_sure(result: Result, metric: CostMetric) -> list[str]:
    """The closest rivals, with twice the standard error of the difference on common runs."""
    if result.best == result.default and len(result.trajectory) <= 1:
        return ["No configuration was found that is better than the default: keep it."]
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
