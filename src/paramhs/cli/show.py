"""`paramhs show`: the content of a store, in a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.analysis.evidence import common_costs, steps
from paramhs.analysis.solved import failed_by_config
from paramhs.api.load import load
from paramhs.api.result import common_text
from paramhs.api.terminal.safe_console import Terminal
from paramhs.api.terminal.text_layout import brief, tell
from paramhs.cli.console import Json, print_json, say
from paramhs.cli.render_result import print_answers, print_counts, print_most_run, print_trajectory
from paramhs.cli.render_verdict import print_accepted, print_outcome
from paramhs.core.text.numbers import finite
from paramhs.procedures.recommendation import accepted_in

if TYPE_CHECKING:
    from paramhs.analysis.importance import Importance
    from paramhs.report import Material

_MAX_PARAMETERS = 12  # parameters in the table of importance


def show(
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="Store written by `paramhs tune`.")
    ],
    best: Annotated[
        bool,
        typer.Option("--best", help="Print only the best: its command, or its configuration."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the results in a store, even while a search is writing it.

    Prints the verdict, the ablation, the importance of parameters, failures and incumbents.
    """
    if best and not as_json:  # the JSON has it beside everything else
        result = load(store)
        say(result.command or str(result.best))
        return
    from paramhs.execution.storage.stats import summary

    about = summary(store)
    console = Terminal(quiet=as_json)
    print_counts(console, about)
    if "scenario" not in about["scenario"]:  # the runs of a verdict or an ablation
        if as_json:
            print_json({**about, "trajectory": [], "most_run": []})
        return
    from paramhs.api.reports import stored_material

    material = stored_material(store)
    most_run = _most_run(material, [row["config"] for row in about["most_run"]])
    if as_json:
        told = _as_json(material, most_run)
        print_json({**about, **told, "accepted": list(accepted_in(store))})
        return
    console.print()
    print_answers(console, material.answers)
    print_accepted(console, accepted_in(store))
    _print_verdict(console, material)
    _print_ablation(console, material)
    _print_importance(console, material)
    _print_failures(console, material)
    console.print("\nincumbents")
    print_trajectory(console, material.history, material.trajectory)
    met = common_costs(material.history, material.default, material.best)
    tell(console, common_text(met, material.history, ("the best", "the default")))
    print_most_run(console, most_run)


def _most_run(material: "Material", keys: Sequence[str]) -> list[dict[str, Any]]:
    """Configurations with the most runs, each compared with the best on common runs."""
    configs = {config.key: config for config in material.history.configs}
    failures = failed_by_config(material.history)
    rows = []
    for config in (configs[key] for key in keys if key in configs):
        met = common_costs(material.history, material.best, config)
        costs = material.history.costs(config).values()
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


def _as_json(material: "Material", most_run: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    simplified = material.simplified
    met = common_costs(material.history, material.default, material.best)
    return {
        "running": material.running,
        "best": material.best.as_dict(),
        "best_cost": finite(met.second) if met else None,
        "default": material.default.as_dict(),
        "default_cost": finite(met.first) if met else None,
        "common_runs": met.runs if met else 0,
        "ratio": finite(met.ratio) if met else None,
        "recommendation": material.verdict.recommendation,
        "verdict": material.verdict.to_json(),
        "simplified": simplified and simplified.to_json(),
        "importance": [one.to_json() for one in material.importance],
        "answers": material.answers.to_json(),
        "failures": [group.to_json() for group in material.failures],
        "unsolved": list(material.unsolved),
        "trajectory": [step.to_json() for step in steps(material.history, material.trajectory)],
        "most_run": [{k: v for k, v in row.items() if k != "shown"} for row in most_run],
        **({"command": material.command} if material.command else {}),
    }


def _print_verdict(console: Console, material: "Material") -> None:
    print_outcome(console, material.verdict)
    if material.command:
        console.print("\ncommand of the best configuration:")
        console.print(Text(material.command), soft_wrap=True)


def _print_ablation(console: Console, material: "Material") -> None:
    from paramhs.report.sections import matter

    part = matter(material)
    console.print("\nchanges that matter")
    if not part.steps:
        nothing = material.best == material.default
        text = "the default is the best" if nothing else f"not examined yet: {part.call}"
        tell(console, text)
        return
    tell(console, part.about)
    headings = (
        "changes",
        "in this step",
        material.metric.label,
        "vs. previous",
        "total",
        "gain kept",
    )
    _print_table(console, headings, part.steps)
    tell(console, f"simplified: {part.simplified}", indent="  ")
    for line in part.verdicts:
        tell(console, line)


def _print_importance(console: Console, material: "Material") -> None:
    console.print("\nimportance of parameters (share of the variance between configurations)")
    if not material.importance:
        console.print("too few configurations for an estimate")
        return
    from paramhs.report.sections import ablated, ablated_first

    if ablated(material):
        tell(console, "(in the order of the ablation above, which is more reliable)")
    rows = [_row(one) for one in ablated_first(material)[:_MAX_PARAMETERS]]
    _print_table(console, ("parameter", "importance", "95 % interval", "effect"), rows)
    more = len(material.importance) - len(rows)
    if more:
        console.print(f"and {more} less important parameters")


def _row(one: "Importance") -> tuple[str, ...]:
    bound = "at least " if one.at_least else ""
    effect = f"{bound}{one.effect:.3g}{' times' if one.log else ''}"
    return (one.name, f"{one.share:.1%}", f"{one.low:.1%} to {one.high:.1%}", effect)


def _print_failures(console: Console, material: "Material") -> None:
    if not material.failures:
        return
    console.print("\nfailures")
    for group in material.failures:
        tell(console, group.text, indent="  ")
        if group.toml:
            console.print(Text(f"  to forbid it: {group.toml}"), soft_wrap=True)


def _print_table(console: Console, headings: Any, rows: Any) -> None:
    table = Table(*headings, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
