"""The command line interface.

Exit codes: 0 success, 1 the target does not work, 2 invalid input, 3 the store cannot be used, 130
interrupted (run the same command again to resume).
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from paramhs import __version__
from paramhs.api.terminal.live_view import view
from paramhs.cli.check import check
from paramhs.cli.console import Json, Terminal, called, complain, print_json, say
from paramhs.cli.export import export
from paramhs.cli.import_search import import_
from paramhs.cli.init import init
from paramhs.cli.instances import app as instances
from paramhs.cli.landscape import landscape
from paramhs.cli.portfolio import portfolio
from paramhs.cli.render_result import print_result
from paramhs.cli.render_verdict import print_outcome
from paramhs.cli.report import report
from paramhs.cli.saps import saps
from paramhs.cli.show import show
from paramhs.cli.simplify import simplify
from paramhs.cli.solvers import solvers
from paramhs.cli.space import space
from paramhs.cli.tune import tune
from paramhs.cli.tuning import INTERRUPTED_CODE, tuning
from paramhs.cli.validate import validate
from paramhs.core.errors import BadInput, ParamhsError, StoreError, TargetError
from paramhs.execution.driver import INTERRUPTED

EXIT_CODES: dict[type[ParamhsError], int] = {TargetError: 1, BadInput: 2, StoreError: 3}

app = typer.Typer(
    help="Find good parameters for a program, and measure how much better they are.",
    epilog="Exit codes: 0 success, 1 the target does not work, 2 invalid input, 3 the store"
    " cannot be"
    " used, 130 interrupted (run the same command again to resume).",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"paramhs {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Random seed of the search.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the report into this folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tune a built-in SAT solver on generated instances in a minute.

    The solver is SAPS, a local search; half of the instances are held out for the verdict.
    """
    from paramhs.cli import demonstration  # numpy only where it is needed

    console = Terminal()
    if not as_json:
        console.print(demonstration.INTRODUCTION)
    with demonstration.instances() as paths:
        with tuning():
            result = demonstration.run(view(as_json), seed, paths)
        pictures = []
        if not as_json:
            print_result(console, result)
            console.print()
            print_outcome(console, result.verdict)
        if result.stopped != INTERRUPTED and (out is not None or not as_json):
            with Terminal(stderr=True, quiet=as_json).status("measuring a map of the costs ..."):
                chart = demonstration.chart(result, paths[0])
            if not as_json:
                demonstration.show(console, chart)
            if out is not None:
                pictures = demonstration.draw(result, chart, out)
    if as_json:
        print_json({**result.to_json(), "pictures": [str(path) for path in pictures]})
    else:
        for path in pictures:
            say(f"wrote {path}")
        next_step = called("init", "DIR")
        say(f"\nNext: {next_step} writes a scenario that you can adapt to your program.")
    if result.stopped == INTERRUPTED:
        raise typer.Exit(INTERRUPTED_CODE)


app.command()(tune)
app.command()(check)
app.command()(validate)
app.command()(simplify)
app.command()(portfolio)
app.command()(init)
app.command()(show)
app.command()(export)
app.command("import")(import_)
app.command()(report)
app.command()(landscape)
app.command()(saps)
app.add_typer(instances, name="instances")
app.command()(space)
app.command()(solvers)


def main() -> None:
    """Run the command line; report known errors as a message and an exit code."""
    try:
        app()
    except ParamhsError as error:
        complain(f"paramhs: {error}")
        sys.exit(EXIT_CODES.get(type(error), 1))
