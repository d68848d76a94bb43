"""`paramhs show`: what is in a store, in a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paramhs.faces.cli.output import Json, print_json
from paramhs.faces.cli.printed import print_counts, print_summary
from paramhs.faces.cli.verdicts import print_verdict
from paramhs.faces.terminal import Terminal

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
    if "scenario" not in about["scenario"]:  # the runs of a verdict or an ablation
        if as_json:
            print_json(about)
        else:
            print_counts(Terminal(), about)
            print_summary(Terminal(), about)
        return
    from paramhs.faces.reporting import stored_material

    material = stored_material(store)
    if as_json:
        print_json({**about, **_as_json(material)})
        return
    console = Terminal()
    print_counts(console, about)
    console.print()
    _print_verdict(console, material)
    _print_ablation(console, material)
    _print_importance(console, material)
    _print_failures(console, material)
    print_summary(console, about)


def _as_json(material: "Material") -> dict[str, Any]:
    verdict, simplified = material.verdict, material.simplified
    return {
        "running": material.running,
        "best": material.best.as_dict(),
        "default": material.default.as_dict(),
        "verdict": verdict and verdict.to_json(),
        "no_verdict": None if verdict else material.no_verdict,
        "simplified": simplified and simplified.to_json(),
        "importance": [one.to_json() for one in material.importance],
        "failures": [group.to_json() for group in material.failures],
        "unsolved": list(material.unsolved),
        **({"command": material.command} if material.command else {}),
    }


def _print_verdict(console: Console, material: "Material") -> None:
    if material.verdict is not None:
        print_verdict(console, material.verdict)
    elif material.best == material.default and not material.running:
        console.print(Text("Keep the default: the search found nothing better.", style="bold"))
    else:
        console.print(Text(material.no_verdict, style="bold"), soft_wrap=True)
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
        console.print(Text(text), soft_wrap=True)
        return
    console.print(Text(part.about), soft_wrap=True)
    headings = (
        "changes",
        "made here",
        material.metric.label,
        "against before",
        "in all",
        "of gain",
    )
    _print_table(console, headings, part.steps)
    console.print(Text(f"simplified: {part.simplified}"), soft_wrap=True)
    for line in part.verdicts:
        console.print(Text(line), soft_wrap=True)


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
        console.print(Text(group.text), soft_wrap=True)
        if group.toml:
            console.print(Text(f"  to forbid it: {group.toml}"), soft_wrap=True)


def _print_table(console: Console, headings: Any, rows: Any) -> None:
    table = Table(*headings, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
