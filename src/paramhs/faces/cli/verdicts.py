"""Verdicts, printed for people."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.faces.layout import brief, tell
from paramhs.faces.result import Result, common_text
from paramhs.faces.scenario_file import ScenarioFile
from paramhs.results.concluding import conclusion, counts, verdict_table
from paramhs.results.verdict import NoVerdict, Verdict
from paramhs.values.runs import NO_INSTANCE
from paramhs.values.space import Config


def print_outcome(console: Console, result: Result) -> None:
    """The verdict of a search, or why there is none."""
    if result.ahead is not None:
        stood = common_text(
            result.ahead.common, result.history, ("the challenger", "the incumbent")
        )
        console.print()
        tell(console, f"The budget ended inside a race, and the challenger was ahead: {stood}.")
        tell(
            console, f"The challenger, as it differs from the default: {brief(result.ahead.config)}"
        )
        if result.ahead_verdict is None:
            tell(console, "A larger budget finishes the race.")
    console.print()
    if isinstance(result.verdict, NoVerdict):
        tell(console, str(result.verdict), style="bold")
        return
    print_verdict(console, result.verdict)
    if result.ahead_verdict is not None and result.ahead_verdict != result.verdict:
        console.print()
        print_verdict(console, result.ahead_verdict)


def command_of(scenario_file: ScenarioFile, config: Config) -> dict[str, str]:
    """The command line of a configuration, where the target is a command."""
    command = scenario_file.target.command_line(config)
    return {"command": command} if command else {}


def why_none(scenario_file: ScenarioFile, asked: bool) -> str:
    """Why a search of a scenario may have no verdict."""
    if not asked:
        return "none was asked for, and the means above are on runs that the search has chosen by."
    instances = scenario_file.scenario.instances
    if instances == (NO_INSTANCE,):
        return "the target is deterministic and has no instances, so nothing is new to it."
    few = (
        ""
        if len(instances) >= 12
        else (f" (of {len(instances)} that is too few to prove anything: only more instances can)")
    )
    return (
        "the search has used every instance, and the target is deterministic. Hold some out with"
        f" test_instances = 0.3{few}, or name others."
    )


def print_verdict(console: Console, verdict: Verdict) -> None:
    """Both sides, then what follows."""
    tell(console, f"verdict, on {verdict.on}:")
    headings, *rows = verdict_table(verdict)
    table = Table(*headings, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    for line in conclusion(verdict):
        tell(console, line, style="bold")
    tell(console, counts(verdict))
