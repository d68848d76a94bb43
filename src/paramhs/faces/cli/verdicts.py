"""Verdicts, printed for people."""

import math

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.faces.scenario_file import ScenarioFile
from paramhs.faces.tuning import Result
from paramhs.results.evidence import Common, common_costs
from paramhs.results.verdict import Interval, Side, Verdict
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


def conclusion(verdict: Verdict, metric: CostMetric, names: tuple[str, str]) -> list[str]:
    """In plain words, with how much and how sure."""
    first, second = names
    much = how_much(verdict, metric)
    if verdict.conclusion == "better":
        return [f"{second.capitalize() if second.isalpha() else second} is better: {much}."]
    if verdict.conclusion == "worse":
        return [f"Keep {_the(first)}: {second} is worse; {much}."]
    few = ""
    cases = verdict.wins + verdict.ties + verdict.losses
    if cases < 6:
        few = f" {counted(cases, verdict.case)} cannot prove one."
    elif verdict.ratio and not verdict.ratio.low <= 1 <= verdict.ratio.high:
        few = f" The p-value decides: of {counted(cases, verdict.case)} the interval is too narrow."
    return [f"Keep {_the(first)}: no difference is proven ({much}).{few}"]


def _the(name: str) -> str:
    return f"the {name}" if name.isalpha() else name


def how_much(verdict: Verdict, metric: CostMetric) -> str:
    """How much better or worse the second is, with the interval."""
    better, worse = _directions(verdict, metric)
    tail = ""
    if verdict.by == "quality" and metric.needs_runtime:
        tail = " in quality, with equal runtimes"
    if verdict.ratio is not None:
        return f"{_times(verdict.ratio, better, worse)}{tail}"
    if verdict.gain is None:
        return "no run on which both gave a usable answer"
    gain = verdict.gain
    if gain.estimate < 0:
        better, gain = worse, Interval(-gain.estimate, -gain.high, -gain.low)
    return f"{better} by {gain}{tail}"


def _directions(verdict: Verdict, metric: CostMetric) -> tuple[str, str]:
    """What better and worse are called."""
    if verdict.by == "runtime":
        return "faster", "slower"
    return ("higher", "lower") if metric.maximise else ("lower", "higher")


def _times(ratio: Interval, better: str, worse: str) -> str:
    """Such as 2.7 times faster (95 % interval 1.9 to 3.6), or 1.3 times slower (...)."""
    if ratio.estimate >= 1:
        return f"{ratio.estimate:.3g} times {better} (95 % interval {_range(ratio)})"
    low = 1 / ratio.low if ratio.low else math.inf
    turned = Interval(1 / ratio.estimate, 1 / ratio.high, low)
    return f"{turned.estimate:.3g} times {worse} (95 % interval {_range(turned)})"


def _range(interval: Interval) -> str:
    return f"{interval.low:.3g} to {interval.high:.3g}"
