"""Verdicts, printed for people."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from paramhs.analysis.families import Disagreement
from paramhs.analysis.front import Front
from paramhs.analysis.verdict import NoVerdict, Verdict
from paramhs.analysis.verdict_text import caveats, counts, heading, table_lines
from paramhs.api.terminal.text_layout import brief, tell, tell_table
from paramhs.core.runs import NO_INSTANCE
from paramhs.core.space import Config
from paramhs.formats.scenario import ScenarioFile


def print_outcome(console: Console, outcome: Verdict | NoVerdict) -> None:
    """Print the verdict of a search, or the reason for its absence."""
    if isinstance(outcome, Verdict):
        print_verdict(console, outcome)
    else:
        tell(console, outcome.recommendation, style="bold")


def print_front(console: Console, front: Front) -> None:
    """Print the points of a front, how to read them, and the changes or commands of each."""
    if not front.points:
        return
    heads, *rows = front.table
    console.print(f"\nfront of {front.metric}")
    tell_table(console, heads, rows)
    tell(console, front.caveat)
    for point in front.points:
        tell(console, f"{point.name}: {brief(point.config)}", indent="  ")


def best_named(front: Front) -> str:
    """The configuration that the search reports as its best, and how to choose another."""
    choose = " (--pick chooses another)" if front.points and not front.metric.bounds else ""
    return f"{front.best_name}{choose}"


def print_groups(console: Console, families: Disagreement, notes: Sequence[str]) -> None:
    """Print a row for each family of instances, and sentences about groups of instances."""
    if families.table:
        heads, *rows = families.table
        console.print("\nby family of instances (p and intervals corrected for their number)")
        tell_table(console, heads, rows)
    for line in notes:
        tell(console, line, style="bold" if line == families.sentence else "")


def print_accepted(console: Console, accepted: Sequence[str]) -> None:
    """Print the accepted changes, because costs before and after may not be comparable."""
    for text in accepted:
        tell(console, f"Note: {text}", style="bold")


def command_of(scenario_file: ScenarioFile, config: Config) -> dict[str, str]:
    """Command line of a configuration; empty unless the target is a command."""
    command = scenario_file.target.command_line(config)
    return {"command": command} if command else {}


def why_none(scenario_file: ScenarioFile, asked: bool) -> str:
    """Reason why a search of a scenario has no verdict."""
    if not asked:
        return (
            "none was requested; the means of the search are biased, because it selected by them."
        )
    instances = scenario_file.scenario.instances
    if instances == (NO_INSTANCE,):
        return "the target is deterministic and has no instances, so no held-out runs are possible."
    few = (
        ""
        if len(instances) >= 12
        else (
            f" (of {len(instances)}, too few for a significant verdict: only more instances can"
            " help)"
        )
    )
    return (
        "the search has used every instance, and the target is deterministic. Hold some out with"
        f" test_instances = 0.3{few}, or name other ones."
    )


def print_verdict(console: Console, verdict: Verdict) -> None:
    """Print both sides of a verdict and its conclusion."""
    tell(console, heading(verdict))
    for line in table_lines(verdict):
        console.print(Text(line), soft_wrap=True)
    tell(console, verdict.recommendation, style="bold")
    tell(console, counts(verdict))
    for line in caveats(verdict):
        tell(console, line)
