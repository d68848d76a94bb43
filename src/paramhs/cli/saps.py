"""`paramhs saps`: the built-in solver as a program."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from paramhs.bundled.instances.dimacs import read_formula
from paramhs.cli.console import Json, Terminal, print_json
from paramhs.cli.tuning import INTERRUPTED_CODE

if TYPE_CHECKING:
    from paramhs.bundled.saps import Outcomes

_MEASURES = {
    "best_false": "fewest false",
    "final_false": "false at the end",
    "best_step": "step of the fewest",
    "null_flips": "null flips",
}


def saps(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.cnf", help="Formula in DIMACS CNF or WCNF.")
    ],
    alpha: Annotated[float, typer.Option(help="Factor applied to weights of false clauses.")] = 1.3,
    rho: Annotated[float, typer.Option(help="Smoothing factor; 1 disables smoothing.")] = 0.8,
    ps: Annotated[float, typer.Option(help="Probability of smoothing in a null flip.")] = 0.05,
    wp: Annotated[float, typer.Option(help="Probability of a random flip when stuck.")] = 0.01,
    cutoff: Annotated[int, typer.Option(help="Steps of a run, including the start.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Number of runs.")] = 1,
    seed: Annotated[int, typer.Option(help="Random seed of the runs.")] = 0,
    smoothing: Annotated[str, typer.Option(help="Variant: 'ubcsat' or 'textbook'.")] = "ubcsat",
    threads: Annotated[
        int, typer.Option(help="Number of parallel runs; does not affect results.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Run SAPS, a local search for satisfiability, on a formula.

    In weighted formulas, false clauses count with their weights. The k-th run of a seed is the same
    for any number of runs.
    """
    from paramhs.bundled.saps import Settings, encoded, solve

    settings = Settings(alpha, rho, ps, wp)
    formula = encoded(read_formula(file))
    how: dict[str, Any] = {"smoothing": smoothing, "threads": threads}
    solve(formula, settings, 1, seed, **how)  # so that compiling is not measured
    begin = time.perf_counter()
    try:
        outcomes = solve(formula, settings, cutoff, seed, runs, **how)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED_CODE) from None
    speed = float(outcomes.steps.sum()) / (time.perf_counter() - begin)
    if as_json:
        facts = {name: getattr(outcomes, name).tolist() for name in _MEASURES}
        print_json(facts | {"steps_per_second": speed})
    else:
        _print(Terminal(), outcomes, speed)


def _print(console: Console, outcomes: "Outcomes", speed: float) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for heading in ("mean", "least", "most"):
        table.add_column(heading, justify="right")
    for name, shown in _MEASURES.items():
        numbers = getattr(outcomes, name)
        table.add_row(shown, f"{numbers.mean():,.6g}", f"{numbers.min():,g}", f"{numbers.max():,g}")
    console.print(table)
    runs, solved = len(outcomes.steps), int((outcomes.best_false == 0).sum())
    typer.echo(f"{runs:,} {'run' if runs == 1 else 'runs'}, {solved:,} with all clauses true;")
    typer.echo(f"{speed / 1e6:.2f} million steps a second")
