"""`paramhs show`: the content of a store, in a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.analysis.evidence import common_costs, steps
from paramhs.analysis.front import FrontPoint
from paramhs.analysis.solved_runs import failed_by_config
from paramhs.api.load import load
from paramhs.api.terminal.safe_console import Terminal
from paramhs.api.terminal.text_layout import brief, tell
from paramhs.cli.console import Json, print_json, program, say
from paramhs.cli.render_result import (
    print_answers,
    print_command,
    print_counts,
    print_most_run,
    print_trajectory,
)
from paramhs.cli.render_verdict import (
    best_named,
    print_accepted,
    print_front,
    print_groups,
    print_outcome,
)
from paramhs.core.errors import BadInput
from paramhs.core.several_costs import Costs
from paramhs.core.text.numbers import finite
from paramhs.report.next_steps import next_steps
from paramhs.report.result import Result, against_default

if TYPE_CHECKING:
    from paramhs.analysis.importance import Importance

_MAX_PARAMETERS = 12  # parameters in the table of importance


def show(
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="Store written by `paramhs tune`.")
    ],
    best: Annotated[
        bool,
        typer.Option(
            "--best",
            help="Print only the best, as the program's settings file or its command.",
        ),
    ] = False,
    pick: Annotated[
        str | None,
        typer.Option(
            "--pick",
            metavar="BOUNDS",
            help="With several costs: print only the point of the front that is best within these"
            " bounds, such as 'runtime <= 0.1'.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the results in a store, even while a search is writing it.

    Prints the verdict, the ablation, the importance of parameters, failures and incumbents.
    """
    if best and not as_json:  # the JSON has it beside everything else
        result = load(store)
        if result.native:
            say(result.native)
        else:
            say("the default is the best: there is nothing to set", err=True)
        return
    if pick is not None and not as_json:
        point = _picked(load(store), pick)
        say(point.command or str(point.config))
        return
    from paramhs.execution.storage.stats import summary

    about = summary(store)
    console = Terminal(quiet=as_json)
    print_counts(console, about)
    if "scenario" not in about["scenario"]:  # the runs of a verdict or an ablation
        if as_json:
            print_json({**about, "trajectory": [], "most_run": []})
        return
    result = load(store)
    most_run = _most_run(result, [row["config"] for row in about["most_run"]])
    if as_json:
        told = _as_json(result, most_run)
        if pick is not None:
            told["picked"] = _picked(result, pick).to_json()
        print_json({**about, **told, "accepted": list(result.accepted)})
        return
    console.print()
    print_answers(console, result.answers)
    print_accepted(console, result.accepted)
    _print_verdict(console, result, store)
    _print_certificate(console, result)
    if result.front is None:
        _print_ablation(console, result)
    _print_importance(console, result)
    _print_failures(console, result)
    console.print("\nincumbents")
    print_trajectory(console, result.history, result.trajectory)
    met = common_costs(result.history, result.default, result.best)
    tell(console, against_default(met, result.history, ("the best", "the default")))
    print_most_run(console, most_run)


def _picked(result: Result, bounds: str) -> FrontPoint:
    """The point of the front that is best within bounds."""
    if result.front is None and isinstance(result.scenario.cost, Costs):
        raise BadInput(f"there is no front yet: {result.recommendation}")
    if result.front is None:
        raise BadInput("--pick chooses among several costs, and this search has one")
    return result.front.pick(bounds)


def _most_run(result: Result, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Configurations with the most runs, each compared with the best on common runs."""
    configs = {config.key: config for config in result.history.configs}
    failures = failed_by_config(result.history)
    rows = []
    for config in (configs[key] for key in keys if key in configs):
        met = common_costs(result.history, result.best, config)
        costs = result.history.costs(config).values()
        rows.append(
            {
                "config": config.as_dict(),
                "shown": brief(config),
                "runs": len(costs),
                "failures": failures[config],
                "common_runs": met.runs if met else 0,
                "cost": finite(met.second) if met else None,
                "best_cost": finite(met.first) if met else None,
            }
        )
    return rows


def _as_json(result: Result, most_run: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    simplified = result.simplified
    met = common_costs(result.history, result.default, result.best)
    return {
        "running": result.running,
        "best": result.best.as_dict(),
        "best_cost": finite(met.second) if met else None,
        "default": result.default.as_dict(),
        "default_cost": finite(met.first) if met else None,
        "common_runs": met.runs if met else 0,
        "ratio": finite(met.ratio) if met else None,
        "recommendation": result.verdict.recommendation,
        "verdict": result.verdict.to_json(),
        "groups": result.groups_json(),
        **({"front": result.front.to_json()} if result.front else {}),
        "certificate": result.certificate.to_json(),
        "simplified": simplified and simplified.to_json(),
        "importance": [one.to_json() for one in result.importance],
        "answers": result.answers.to_json(),
        "failures": [group.to_json() for group in result.failures],
        "unsolved": list(result.unsolved),
        "trajectory": [step.to_json() for step in steps(result.history, result.trajectory)],
        "most_run": [{k: v for k, v in row.items() if k != "shown"} for row in most_run],
        **({"command": result.command} if result.command else {}),
    }


def _print_verdict(console: Console, result: Result, store: Path) -> None:
    print_outcome(console, result.verdict)
    if result.front:
        print_front(console, result.front)
    print_groups(console, result.families, result.group_notes)
    if result.command:
        best = best_named(result.front) if result.front else "the best configuration"
        print_command(console, result.command, f"command of {best}", store)


def _print_certificate(console: Console, result: Result) -> None:
    lines = result.certificate.lines
    if lines:
        console.print("\nhow sure")
    for line in lines:
        tell(console, line, indent="  ")


def _print_ablation(console: Console, result: Result) -> None:
    from paramhs.report.sections import matter

    part = matter(result, next_steps(result, program=program()))
    console.print("\nchanges that matter")
    if not part.steps:
        nothing = result.best == result.default
        call = f": {part.call}" if part.call else ""
        text = "the default is the best" if nothing else f"not examined yet{call}"
        tell(console, text)
        return
    tell(console, part.about)
    headings = (
        "changes",
        "in this step",
        result.metric.label,
        "vs. previous",
        "total",
        "gain kept",
    )
    _print_table(console, headings, part.steps)
    tell(console, f"simplified: {part.simplified}", indent="  ")
    for line in part.verdicts:
        tell(console, line)


def _print_importance(console: Console, result: Result) -> None:
    console.print("\nimportance of parameters (share of the variance between configurations)")
    if not result.importance:
        console.print("too few configurations for an estimate")
        return
    from paramhs.report.sections import ablated, ablated_first

    if ablated(result):
        tell(console, "(in the order of the ablation above, which is more reliable)")
    rows = [_row(one) for one in ablated_first(result)[:_MAX_PARAMETERS]]
    _print_table(console, ("parameter", "importance", "95 % interval", "effect"), rows)
    more = len(result.importance) - len(rows)
    if more:
        console.print(f"and {more} less important parameters")


def _row(one: "Importance") -> tuple[str, ...]:
    bound = "at least " if one.at_least else ""
    effect = f"{bound}{one.effect:.3g}{' times' if one.log else ''}"
    return (one.name, f"{one.share:.1%}", f"{one.low:.1%} to {one.high:.1%}", effect)


def _print_failures(console: Console, result: Result) -> None:
    if not result.failures:
        return
    console.print("\nfailures")
    for group in result.failures:
        tell(console, group.text, indent="  ")
        if group.toml:
            console.print(Text(f"  to forbid it: {group.toml}"), soft_wrap=True)


def _print_table(console: Console, headings: Any, rows: Any) -> None:
    table = Table(*headings, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
