"""`paramhs reproduce`: the paper's figures and theorems."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paramhs.errors import BadInput

if TYPE_CHECKING:
    from paramhs.paper.reproduction import Reproduction


class What(StrEnum):
    """What can be reproduced."""

    FIGURE1 = "figure1"
    FIGURE2 = "figure2"
    THEOREMS = "theorems"
    ALL = "all"


def reproduce(
    what: Annotated[What, typer.Argument(help="The landscapes, the calls, the bounds, or all.")],
    scenario: Annotated[
        str | None, typer.Option(help="ridge, leadingones or onemax [all of them].")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="exact: laws alone; search: the real configurators too, comparisons drawn from the"
            " laws; simulate: every bit of every run (slow)."
        ),
    ] = "exact",
    repetitions: Annotated[int, typer.Option(help="Searches behind each point.")] = 200,
    runs: Annotated[int, typer.Option(help="Runs of each side in a comparison (r).")] = 1500,
    seed: Annotated[int, typer.Option(help="Another seed, other searches.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write tables, figures and summaries there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Reproduce the figures and theorems of Hall, Oliveto, Sudholt (PPSN 2020).

    Everything is computed exactly, next to what was published.
    """
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=as_json,
    ) as progress:
        plan = _plan(scenario, method, repetitions, seed, jobs, runs, out)
        bar = progress.add_task(
            f"reproducing {what}",
            total=plan.points_to_compute(
                what in (What.FIGURE2, What.ALL), what in (What.THEOREMS, What.ALL)
            ),
        )
        plan.advance = lambda: progress.advance(bar)
        parts = [What.FIGURE1, What.FIGURE2, What.THEOREMS] if what is What.ALL else [what]
        results: dict[str, Any] = {part.value: getattr(plan, part.value)() for part in parts}
    if as_json:
        printed = results if what is What.ALL else results[what.value]
        typer.echo(json.dumps(printed, indent=1, allow_nan=False))
        return
    console = Console(highlight=False)
    console.print(Markdown(plan.text))
    if what in (What.FIGURE2, What.ALL):
        typer.echo(_cost_of_better(scenario or "ridge", runs))
    for path in plan.written:
        typer.echo(f"wrote {path}")
    if out is None:
        typer.echo("With --out DIR it also writes the tables and figures.")


def _plan(
    scenario: str | None,
    method: str,
    repetitions: int,
    seed: int,
    jobs: int,
    runs: int,
    out: Path | None,
) -> "Reproduction":
    try:
        from paramhs.paper.reproduction import Reproduction
        from paramhs.paper.scenarios import chosen_scenarios

        return Reproduction(chosen_scenarios(scenario), method, repetitions, seed, jobs, runs, out)
    except ModuleNotFoundError as error:
        raise BadInput(f"{error.name} is not installed: pip install 'paramhs[all]'") from None


def _cost_of_better(scenario: str, runs: int) -> str:
    from paramhs.paper.reproduction import cost_of_better

    law, bits = cost_of_better(scenario, runs)
    return (
        f"One call of better on {scenario} with {runs:,} runs of each side: {law * 1e6:.2g} us"
        f" drawn from the law, {bits:.2g} s bit by bit; ratio {bits / law:,.0f}\n"
    )
