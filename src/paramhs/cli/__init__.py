"""The command line. Exit codes: 0 done, 1 the target does not work, 2 bad input, 3 the store cannot
be used, 130 interrupted (run the same command again to go on)."""

import json
import math
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from paramhs import __version__
from paramhs.cli import demo as demonstration
from paramhs.cli.landscape import landscape
from paramhs.cli.printed import print_result, print_summary
from paramhs.cli.reproduce import reproduce
from paramhs.cli.views import view
from paramhs.driver import INTERRUPTED, Budget
from paramhs.errors import BadInput, ParamhsError, StoreError, TargetError
from paramhs.scenario_file import read_scenario, seconds
from paramhs.tuning import tune_scenario

EXIT_CODES: dict[type[ParamhsError], int] = {TargetError: 1, BadInput: 2, StoreError: 3}
INTERRUPTED_CODE = 130

app = typer.Typer(
    help="Find good parameters for a program, and say honestly how much better they are.",
    epilog="Exit codes: 0 done, 1 the target does not work, 2 bad input, 3 the store cannot be"
    " used, 130 interrupted (run the same command again to go on).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paramhs {__version__}")
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
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the example's files there instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tune a small example: the mutation rate of an evolutionary algorithm."""
    console = Console(highlight=False)
    if write is not None:
        paths = demonstration.write(write)
        if as_json:
            _print_json({"files": [str(path) for path in paths]})
        else:
            typer.echo(f"wrote {' and '.join(map(str, paths))}")
            typer.echo(f"next: {shlex.join([_program(), 'tune', str(paths[0])])}")
        return
    if not as_json:
        console.print(demonstration.INTRODUCTION)
    with _tuning():
        result = demonstration.run(view(as_json), seed)
    if as_json:
        _print_json(result.to_json())
    else:
        print_result(console, result, demonstration.METRIC)
        typer.echo(f"\nNext: {_program()} demo --write DIR makes it two files to start from.")
    if result.stopped == INTERRUPTED:
        raise typer.Exit(INTERRUPTED_CODE)


@app.command()
def tune(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The scenario.")],
    store: Annotated[
        Path | None,
        typer.Option(help="Where runs are kept [FILE.sqlite]; one that exists goes on."),
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Budget: number of runs.")] = None,
    target_time: Annotated[
        str | None, typer.Option(help="Budget: time the target runs, such as '10 min'.")
    ] = None,
    wall_time: Annotated[
        str | None, typer.Option(help="Budget: time that passes, such as '1.5 h'.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Runs at a time.")] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed, another search.")] = None,
    as_json: Json = False,
) -> None:
    """Tune what a scenario file describes. Options stand in for what the file says.

    Stopped, killed or done, the same command goes on where it was; a larger budget extends it.
    """
    said = read_scenario(file)
    given = Budget(runs, _duration(target_time), _duration(wall_time))
    budget = replace(said.budget, **{k: v for k, v in vars(given).items() if v is not None})
    place = store or said.store
    with _tuning():
        result = tune_scenario(
            said.scenario,
            said.target,
            said.configurator,
            budget=budget,
            seed=said.seed if seed is None else seed,
            jobs=said.jobs if jobs is None else jobs,
            store=place,
            executor=said.executor,
            watcher=view(as_json),
        )
    if as_json:
        _print_json(result.to_json())
    else:
        print_result(Console(highlight=False), result, said.scenario.cost)
        see = shlex.join([_program(), "show", str(place)])
        typer.echo(f"\nAll runs are in {place}; see them with: {see}")
    if result.stopped == INTERRUPTED:
        typer.echo(f"Interrupted; to go on: {_again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)


@app.command()
def show(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A file made by `paramhs tune`.")],
    as_json: Json = False,
) -> None:
    """Show what is in a store, also while a search is writing it."""
    from paramhs.store.summary import summary

    about = summary(store)
    if as_json:
        _print_json(about)
    else:
        print_summary(Console(highlight=False), about)


app.command()(reproduce)
app.command()(landscape)


def _duration(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        length = float(str(seconds(text)))
    except ValueError as error:
        raise BadInput(f"{text!r} is not a duration: {error}") from None
    if math.isinf(length):
        raise BadInput(f"{text!r} is longer than any budget; leave it out for none")
    return length


def _again() -> str:
    return shlex.join([_program(), *sys.argv[1:]])


def _program() -> str:
    """How the user can call this program again."""
    script = Path(sys.argv[0])
    here = script.name == "paramhs" and not shutil.which("paramhs")
    return os.path.relpath(script) if here else "paramhs"


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def main() -> None:
    """Run the command line; problems we know are a message and an exit code."""
    try:
        app()
    except ParamhsError as error:
        typer.echo(f"paramhs: {error}", err=True)
        sys.exit(EXIT_CODES.get(type(error), 1))


@contextmanager
def _tuning() -> Iterator[None]:
    """What the target prints goes to standard error; standard output is for the result.

    A second Ctrl-C ends the process: threads that run the target cannot be waited for.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        typer.echo(f"Stopped at once; nothing stored is lost. To run again: {_again()}", err=True)
        sys.stdout.flush()
        os._exit(INTERRUPTED_CODE)
