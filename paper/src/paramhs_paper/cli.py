"""`paramhs-paper`: figures, theorems and claims of the paper, computed and measured."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paramhs.cli import EXIT_CODES
from paramhs.core.errors import ParamhsError

if TYPE_CHECKING:
    from paramhs_paper.scenarios import PaperScenario
    from paramhs_paper.writing import Output


class Scenario(StrEnum):
    """All scenarios, including SAPS with each of our measured tables."""

    RIDGE = "ridge"
    LEADINGONES = "leadingones"
    ONEMAX = "onemax"
    SAPS = "saps"
    SAPS_TEXTBOOK = "saps-textbook"


class Smoothing(StrEnum):
    """Variants of smoothing in a null flip of SAPS."""

    UBCSAT = "ubcsat"
    TEXTBOOK = "textbook"


Scenarios = Annotated[
    list[Scenario] | None,
    typer.Argument(help="Scenarios. Default: the paper's three heuristics and saps."),
]
Seed = Annotated[int, typer.Option(help="Random seed of searches and draws.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of processes; does not affect results.")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write tables and figures into this folder.")
]
Folder = Annotated[Path, typer.Option(metavar="DIR", help="Folder for all output.")]
Json = Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")]

app = typer.Typer(
    help="The figures and theorems of Hall, Oliveto, Sudholt: Fast Perturbative Algorithm"
    " Configurators (PPSN 2020), computed exactly, next to what was published.",
    epilog="Exit codes: 0 success, 2 invalid input, 3 a file cannot be used, 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def figure1(
    scenarios: Scenarios = None, seed: Seed = 0, out: Out = None, as_json: Json = False
) -> None:
    """Show the landscapes: computed, and measured for SAPS."""
    from paramhs_paper import reproduction

    with _output(out, as_json) as output:
        reproduction.figure1(_chosen(scenarios), seed, output)


@app.command()
def figure2(
    scenarios: Scenarios = None,
    searches: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Searches of the real configurators behind each point. Default: none, except"
            " the paper's 500 for ParamILS on SAPS, which cannot all be computed.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compute the calls to the optimum, and Cliff's deltas."""
    from paramhs_paper import reproduction

    tasks = reproduction.figure2_tasks(_chosen(scenarios), searches, seed)
    with _output(out, as_json) as output, _progress(len(tasks), as_json) as advance:
        reproduction.figure2(tasks, jobs, output, advance)


@app.command()
def theorems(seed: Seed = 0, out: Out = None, as_json: Json = False) -> None:
    """Compare the theorems' bounds with exact numbers of calls."""
    from paramhs_paper import reproduction

    with _output(out, as_json) as output, _progress(3, as_json) as advance:
        reproduction.prove(seed, output, advance)


@app.command("all")
def everything(
    out: Folder,
    searches: Annotated[
        int | None,
        typer.Option(
            min=0, help="Searches behind each point. Default: as in the paper, 200 (SAPS: 500)."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Compute everything, and write it with a page README.md."""
    from paramhs_paper import reproduction
    from paramhs_paper.page import page
    from paramhs_paper.scenarios import SCENARIOS

    scenarios = list(SCENARIOS.values())
    tasks = [
        task
        for scenario in scenarios
        for task in reproduction.figure2_tasks(
            [scenario], scenario.repetitions if searches is None else searches, seed
        )
    ]
    with _output(out, False) as output:
        with _progress(len(tasks) + 3, False) as advance:
            reproduction.figure1(scenarios, seed, output)
            reproduction.figure2(tasks, jobs, output, advance)
            reproduction.prove(seed, output, advance)
        readme = out / "README.md"
        readme.write_text(page(out), encoding="utf-8")
        output.written.append(readme)


@app.command()
def measure(
    instances: Annotated[Path, typer.Argument(metavar="DIR", help="Formulas in DIMACS CNF.")],
    out: Folder,
    smoothing: Annotated[Smoothing, typer.Option(help="Variant of smoothing in a null flip.")] = (
        Smoothing.UBCSAT
    ),
    runs: Annotated[
        int, typer.Option(min=2, help="Number of runs of each setting on each instance.")
    ] = 500,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads. Default: all cores.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Measure the landscape of SAPS.

    This takes hours; run the command again to resume.
    """
    from paramhs.execution.supervisor.limits import cores
    from paramhs_paper import reproduction
    from paramhs_paper.saps.measuring import Measurement, instances_in
    from paramhs_paper.saps.table import read_landscape

    with _output(out, False) as output:
        plan = Measurement(instances_in(instances), smoothing.value, runs, out, seed)
        with _progress(len(plan.instances), False) as advance:
            plan.measure(threads or cores(), advance)
        output.written.append(plan.table)
        landscape = read_landscape(plan.table, smoothing.value)
        reproduction.settings(landscape, "measured", seed, output)


def _chosen(scenarios: list[Scenario] | None) -> "list[PaperScenario]":
    from paramhs_paper.scenarios import HEURISTICS, SCENARIOS

    names = [s.value for s in scenarios] if scenarios else [*HEURISTICS, "saps"]
    return [SCENARIOS[name] for name in dict.fromkeys(names)]


@contextmanager
def _output(out: Path | None, as_json: bool) -> "Iterator[Output]":
    """Output of a command; what it reported is printed at the end."""
    from paramhs_paper.writing import Output

    output = Output(out)
    yield output
    if as_json:
        typer.echo(json.dumps(output.rows, indent=1, allow_nan=False))
        return
    typer.echo("\n".join(output.words))
    for path in output.written:
        typer.echo(f"wrote {path}")


@contextmanager
def _progress(total: int, silent: bool) -> Iterator[Callable[..., None]]:
    """Progress bar, as a function that advances it."""
    columns = (TextColumn("computing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(total, silent)
        return
    with Progress(*columns, console=console, transient=True, disable=silent) as progress:
        bar = progress.add_task("", total=total)
        yield lambda steps=1: progress.advance(bar, steps)


def _lines(total: int, silent: bool) -> Callable[..., None]:
    """Progress as a line for each tenth, where no bar can be drawn."""
    done = shown = 0
    started = time.monotonic()

    def advance(steps: int = 1) -> None:
        nonlocal done, shown
        done += steps
        if not silent and 10 * done // total > shown:
            shown = 10 * done // total
            seconds = time.monotonic() - started
            typer.echo(f"computing: {done:,} of {total:,} after {seconds:.0f} s", err=True)

    if not silent:
        typer.echo(f"computing: 0 of {total:,}", err=True)
    return advance


def main() -> None:
    """Run the command line; report known errors as a message and an exit code."""
    try:
        app()
    except ParamhsError as error:
        typer.echo(f"paramhs-paper: {error}", err=True)
        sys.exit(EXIT_CODES.get(type(error), 1))
