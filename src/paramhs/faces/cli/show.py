"""`paramhs show`: what is in a store, in a terminal."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.faces.cli.output import Json, print_json
from paramhs.faces.cli.printed import print_counts, print_most_run, print_trajectory
from paramhs.faces.cli.verdicts import print_verdict
from paramhs.faces.layout import brief, tell
from paramhs.faces.result import common_text
from paramhs.faces.terminal import Terminal
from paramhs.results.evidence import common_costs, steps
from paramhs.results.verdict import NoVerdict, Verdict
from paramhs.values.wording import finite

if TYPE_CHECKING:
    from paramhs.results.importance import Importance
    from paramhs.results.report import Material

_SHOWN = 12  # parameters


def show(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A file made by `paramhs tune`.")],
    as_json: Json = False,
) -> None:
    """Show what is in a store, also while a search is writing it: verdict, ablation, importance."""
    from paramhs.world.store.summary import summary

    about = summary(store)
    console = Terminal(quiet=as_json)
    print_counts(console, about)
    if "scenario" not in about["scenario"]:  # the runs of a verdict or an ablation
        if as_json:
            print_json({**about, "trajectory": [], "most_run": []})
        return
    from paramhs.faces.reporting import stored_material

    material = stored_material(store)
    verdict = material.verdict or _verdict(store, material)
    most_run = _most_run(material, [row["config"] for row in about["most_run"]])
    if as_json:
        print_json({**about, **_as_json(material, verdict, most_run)})
        return
    console.print()
    _print_verdict(console, material, verdict)
    _print_ablation(console, material)
    _print_importance(console, material)
    _print_failures(console, material)
    console.print("\nincumbents")
    print_trajectory(console, material.history, material.trajectory)
    met = common_costs(material.history, material.default, material.best)
    tell(console, common_text(met, material.history, ("the best", "the default")))
    print_most_run(console, most_run)


def _most_run(material: "Material", keys: Sequence[str]) -> list[dict[str, Any]]:
    """Each beside the best, on the runs that both have made."""
    configs = {config.key: config for config in material.history.configs}
    rows = []
    for config in (configs[key] for key in keys if key in configs):
        met = common_costs(material.history, material.best, config)
        costs = material.history.costs(config).values()
        rows.append(
            {
                "config": config.as_dict(),
                "shown": brief(config),
                "runs": len(costs),
                "failures": sum(math.isinf(cost[0]) for cost in costs),
                "common_runs": met.runs if met else 0,
                "cost": finite(met.second) if met else None,
                "best_cost": finite(met.first) if met else None,
            }
        )
    return rows


def _as_json(
    material: "Material", verdict: Verdict | NoVerdict, most_run: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
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
        "verdict": verdict.to_json(),
        "simplified": simplified and simplified.to_json(),
        "importance": [one.to_json() for one in material.importance],
        "failures": [group.to_json() for group in material.failures],
        "unsolved": list(material.unsolved),
        "trajectory": [step.to_json() for step in steps(material.history, material.trajectory)],
        "most_run": [{k: v for k, v in row.items() if k != "shown"} for row in most_run],
        **({"command": material.command} if material.command else {}),
    }


def _verdict(store: Path, material: "Material") -> Verdict | NoVerdict:
    """What there is to say where the default and the best have not met."""
    from paramhs.faces.opening import open as open_store

    if material.best == material.default and not material.running:
        return open_store(store).result.verdict
    return NoVerdict("none", material.no_verdict.removeprefix("No verdict: "))


def _print_verdict(console: Console, material: "Material", verdict: Verdict | NoVerdict) -> None:
    if isinstance(verdict, Verdict):
        print_verdict(console, verdict)
    else:
        tell(console, str(verdict), style="bold")
    if material.command:
        console.print("\nthe best configuration's command:")
        console.print(Text(material.command), soft_wrap=True)


def _print_ablation(console: Console, material: "Material") -> None:
    from paramhs.results.report.sections import matter

    part = matter(material)
    console.print("\nwhat matters")
    if not part.steps:
        nothing = material.best == material.default
        text = "the default is the best" if nothing else f"not examined yet: {part.call}"
        tell(console, text)
        return
    tell(console, part.about)
    headings = (
        "changes",
        "made here",
        material.metric.label,
        "against before",
        "in all",
        "of gain",
    )
    _print_table(console, headings, part.steps)
    tell(console, f"simplified: {part.simplified}", indent="  ")
    for line in part.verdicts:
        tell(console, line)


def _print_importance(console: Console, material: "Material") -> None:
    console.print("\nwhich parameters matter (share of the differences between configurations)")
    if not material.importance:
        console.print("too few configurations were run to say")
        return
    rows = [_row(one) for one in material.importance[:_SHOWN]]
    _print_table(console, ("parameter", "importance", "95 % interval", "effect"), rows)
    more = len(material.importance) - len(rows)
    if more:
        console.print(f"and {more} more of less importance")


def _row(one: "Importance") -> tuple[str, ...]:
    effect = f"{one.effect:.3g}{' times' if one.log else ''}"
    return (one.name, f"{one.share:.1%}", f"{one.low:.1%} to {one.high:.1%}", effect)


def _print_failures(console: Console, material: "Material") -> None:
    if not material.failures:
        return
    console.print("\nwhat went wrong")
    for group in material.failures:
        tell(console, group.text, indent="  ")
        if group.toml:
            console.print(Text(f"  to forbid it: {group.toml}"), soft_wrap=True)


def _print_table(console: Console, headings: Any, rows: Any) -> None:
    table = Table(*headings, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
