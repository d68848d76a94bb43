"""Verdicts, printed for people."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.faces.scenario_file import ScenarioFile
from paramhs.faces.tuning import Result
from paramhs.results.concluding import conclusion
from paramhs.results.evidence import Common, common_costs
from paramhs.results.verdict import Side, Verdict
from paramhs.values.costs import CostMetric
from paramhs.values.runs import NO_INSTANCE
from paramhs.values.space import Config
from paramhs.values.wording import counted
from paramhs.world.driver import INTERRUPTED


def print_outcome(console: Console, result: Result, metric: CostMetric, missing: str) -> None:
    """The verdict of a search, or why there is none."""
    console.print()
    if result.verdict is not None:
        search = common_costs(result.history, result.default, result.best)
        print_verdict(console, result.verdict, metric, ("default", "best"), search)
    else:
        console.print(Text(no_verdict(result, missing), style="bold"), soft_wrap=True)


def no_verdict(result: Result, missing: str) -> str:
    """Why there is none."""
    if result.stopped == INTERRUPTED:
        return "No verdict: it was interrupted."
    if result.best == result.default:
        return "Keep the default: the search found nothing better."
    return f"No verdict: {missing}"


def command_of(scenario_file: ScenarioFile, config: Config) -> dict[str, str]:
    """The command line of a configuration, where the target is a command."""
    command = scenario_file.target.command_line(config)
    return {"command": command} if command else {}


def why_none(scenario_file: ScenarioFile, asked: bool) -> str:
    """Why a search of a scenario may have no verdict."""
    if not asked:
        return "none was asked for, and the means above are on runs that the search has chosen by."
    if scenario_file.scenario.instances == (NO_INSTANCE,):
        return "the target is deterministic and has no instances, so nothing is new to it."
    return (
        "the search has used every instance, and the target is deterministic. Hold some out with"
        " test_instances = 0.3, or name others."
    )


def print_verdict(
    console: Console,
    verdict: Verdict,
    metric: CostMetric,
    names: tuple[str, str],
    search: Common | None = None,
) -> None:
    """Both sides, beside what they cost in the search, then what follows."""
    console.print(Text(f"verdict, on {verdict.on}:"))
    what = metric.label
    columns = ["", f"{what}, here" if search else what, "finished", "failed"]
    if search:
        columns.append(f"{what}, in the search ({counted(search.runs, 'common run')})")
    table = Table(*columns, box=None, pad_edge=False)
    costs = ("", "") if search is None else (f"{search.first:.4g}", f"{search.second:.4g}")
    sides = (verdict.first, verdict.second)
    for name, side, cost in zip(names, sides, costs, strict=True):
        table.add_row(*_row(name, side), *([cost] if search else []))
    console.print(table)
    for line in conclusion(verdict, metric, names):
        console.print(Text(line, style="bold"), soft_wrap=True)
    console.print(
        f"{verdict.wins} won, {verdict.ties} tied, {verdict.losses} lost by {verdict.case};"
        f" p = {verdict.p_value:.2g}"
    )


def _row(name: str, side: Side) -> list[str]:
    return [name, f"{side.cost:.4g}", f"{side.solved} of {side.runs}", str(side.failed or "")]
