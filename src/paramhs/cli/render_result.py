"""Results and stores, printed for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from paramhs.analysis.evidence import Rival, closest_rivals, steps
from paramhs.analysis.solved_runs import Answers
from paramhs.api.terminal.text_layout import brief, tell, tell_table
from paramhs.cli.console import called
from paramhs.core.runs import Point
from paramhs.core.text.numbers import counted
from paramhs.report.result import Result
from paramhs.search.history import History

_MAX_PARAMETERS = 8  # parameters of a default that is shown in full
_MAX_CHANGES = 24  # changes of the default that are all shown
_MAX_COMMAND_CHARACTERS = 1_500  # characters of a command that is printed whole
_MIN_COMMON_RUNS = 8  # common runs needed for a closest rival; with fewer it is the luckiest


def print_result(console: Console, result: Result) -> None:
    """Print the incumbents, the best compared with the default, and the closest rivals."""
    print_trajectory(console, result.history, result.trajectory)
    console.print()
    stopped = "" if result.stopped.startswith("the budget") else "the search ended: "
    more = f" (and {result.speculative:,} speculative)" if result.speculative else ""
    counts = f"{counted(result.asked, 'run')}{more}, {result.target_time:.1f} s of target time"
    tell(console, f"{counts}: {stopped}{result.stopped}")
    if result.capped:
        tell(console, f"capping: {result.capped} (estimated)")
    if result.best != result.default:
        order = [one.name for one in result.importance]
        changed = brief(result.best, order, _MAX_CHANGES)
        tell(console, f"best, as changes of the default: {changed}", style="bold", indent="  ")
    if len(result.default) <= _MAX_PARAMETERS:
        tell(console, f"default: {result.default}", indent="  ")
    tell(console, f"during the search: {result.comparison}", indent="  ")
    for line in _how_sure(result):
        tell(console, line, indent="    ")


def print_command(console: Console, command: str, what: str, store: object) -> None:
    """Print a command line, or how to print it where it is very long.

    Args:
        console: where to print.
        command: the command line; a configuration in full where there is none.
        what: the configuration, such as "command of the best configuration".
        store: the file that `show --best` reads.
    """
    if len(command) <= _MAX_COMMAND_CHARACTERS:
        console.print(f"\n{what}:")
        console.print(Text(command), soft_wrap=True)
        return
    console.print()
    tell(console, f"{what}, {len(command):,} characters: {called('show', store, '--best')}")


def print_answers(console: Console, answers: Answers) -> None:
    """Print the answers of the runs, with warnings in bold."""
    for line in answers.lines:
        tell(console, line, style="bold" if line in answers.warnings else "")


def print_trajectory(
    console: Console, history: History, trajectory: Sequence[Point], most: int = 12
) -> None:
    """Print one line per incumbent; the numbers of a line share their runs."""
    rows: list[tuple[str, ...]] = []
    made = steps(history, trajectory)
    for index, step in enumerate(made):
        if most // 2 <= index < len(made) - most // 2:
            if index == most // 2:
                rows.append(("...", "", "", "", f"({len(made) - most} more)"))
            continue
        numbers = (f"{step.runs:,}", *map(_number, (step.cost, step.before)))
        rows.append((*numbers, f"{step.common or ''}", brief(step.config)))
    label = history.scenario.cost.label
    tell_table(console, ("after runs", label, "previous", "common runs", "incumbent"), rows)
    note = "incumbents are shown as changes of the default; each is compared with the"
    tell(console, f"({note} previous one over the runs both have made)", style="dim")


def _number(cost: float | None) -> str:
    return "" if cost is None else f"{cost:.6g}"


def _how_sure(result: Result) -> list[str]:
    """Describe the closest rivals, with twice the standard error on common runs."""
    alone = result.best == result.default and len(result.trajectory) <= 1
    if alone or result.front is not None:
        return []
    rivals = closest_rivals(result.history, result.best)
    # With many rivals and few common runs, the closest one is merely the luckiest.
    closest = ([r for r in rivals if r.common >= _MIN_COMMON_RUNS] or rivals)[:2]
    lines = [_rival("closest", rival) for rival in closest]
    lines += [_rival("", r) for r in rivals if r.config == result.default and r not in closest]
    if lines:
        lines.insert(0, "closest rivals (on runs of the search; ± is two standard errors):")
    return lines


def _rival(role: str, rival: Rival) -> str:
    words = f"{rival.words} over {counted(rival.common, 'common run')}"
    open_end = words.startswith(("clearly better", "probably better"))
    settle = ": the search ended before they were compared; a larger budget continues it"
    name = f"{role} {brief(rival.config)}".strip()
    return f"  {name} is {words}{settle if open_end else ''}"


def print_counts(console: Console, about: dict[str, Any]) -> None:
    """Print the number of runs and configurations in a store."""
    counts = ", ".join(f"{count:,} {status}" for status, count in about["statuses"].items())
    counts += f", {about['speculative']:,} speculative" if about.get("speculative") else ""
    head = f"{about['store']}: {counted(about['runs'], 'run')} ({counts.lstrip(', ') or 'none'})"
    tell(console, head)
    console.print(
        f"{counted(about['configurations'], 'configuration')}, {about['target_time']:.1f} s of"
        f" target time, {counted(about['sessions'], 'session')}"
    )
    others = [
        f"{counted(count, 'run')} of the {name}"
        for name, count in about["records"].items()
        if name != "search" and count
    ]
    if others:
        console.print(f"also {' and '.join(others)}")


def print_most_run(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print configurations with many runs, compared with the best on common runs."""
    console.print("\nconfigurations with the most runs, compared with the best on common runs")
    headings = ("runs", "failures", "common runs", "cost", "best's cost", "configuration")
    lines = [
        (
            f"{row['runs']:,}",
            str(row["failures"] or ""),
            f"{row['common_runs']:,}",
            *map(_number, (row["cost"], row["best_cost"])),
            row["shown"],
        )
        for row in rows
    ]
    tell_table(console, headings, lines)
