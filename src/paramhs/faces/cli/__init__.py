"""The command line. Exit codes: 0 done, 1 the target does not work, 2 bad input, 3 the store cannot
be used, 130 interrupted (run the same command again to go on)."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from paramhs import __version__
from paramhs.faces.cli.check import check
from paramhs.faces.cli.export import export
from paramhs.faces.cli.init import init
from paramhs.faces.cli.instances import app as instances
from paramhs.faces.cli.landscape import landscape
from paramhs.faces.cli.output import Json, Terminal, called, complain, print_json, say
from paramhs.faces.cli.printed import print_result
from paramhs.faces.cli.report import report
from paramhs.faces.cli.saps import saps
from paramhs.faces.cli.show import show
from paramhs.faces.cli.simplify import simplify
from paramhs.faces.cli.space import space
from paramhs.faces.cli.tune import INTERRUPTED_CODE, tune, tuning
from paramhs.faces.cli.validate import validate
from paramhs.faces.cli.verdicts import print_outcome
from paramhs.faces.views import view
from paramhs.values.errors import BadInput, ParamhsError, StoreError, TargetError
from paramhs.world.driver import INTERRUPTED

EXIT_CODES: dict[type[ParamhsError], int] = {TargetError: 1, BadInput: 2, StoreError: 3}

app = typer.Typer(
    help="Find good parameters for a program, and say honestly how much better they are.",
    epilog="Exit codes: 0 done, 1 the target does not work, 2 bad input, 3 the store cannot be"
    " used, 130 interrupted (run the same command again to go on).",
    no_args_is_help=True,
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
    seed: Annotated[int, typer.Option(help="Another seed, another search.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the page of it there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tune a built-in solver, SAPS, on a dozen generated instances, within a minute."""
    from paramhs.faces.cli import demonstration  # numpy only where it is needed

    console = Terminal()
    if not as_json:
        console.print(demonstration.INTRODUCTION)
    with demonstration.instances() as paths:
        with tuning():
            result = demonstration.run(view(as_json), seed, paths)
        pictures = []
        if not as_json:
            print_result(console, result)
            print_outcome(console, result)
        if result.stopped != INTERRUPTED and (out is not None or not as_json):
            with Terminal(stderr=True, quiet=as_json).status("measuring a map ..."):
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
        say(f"\nNext: {next_step} writes a scenario for a program of your own.")
    if result.stopped == INTERRUPTED:
        raise typer.Exit(INTERRUPTED_CODE)


app.command()(tune)
app.command()(check)
app.command()(validate)
app.command()(simplify)
app.command()(init)
app.command()(show)
app.command()(export)
app.command()(report)
app.command()(landscape)
app.command()(saps)
app.add_typer(instances, name="instances")
app.command()(space)


def main() -> None:
    """Run the command line; problems we know are a message and an exit code."""
    try:
        app()
    except ParamhsError as error:
        complain(f"paramhs: {error}")
        sys.exit(EXIT_CODES.get(type(error), 1))
