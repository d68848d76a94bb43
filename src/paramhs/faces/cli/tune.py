"""`paramhs tune`."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Annotated, TextIO, cast

import typer
from rich.text import Text

from paramhs.faces.cli.failed import print_failures
from paramhs.faces.cli.output import (
    Json,
    Shown,
    Terminal,
    again,
    called,
    duration,
    print_json,
    say,
)
from paramhs.faces.cli.printed import print_result
from paramhs.faces.cli.report import write_beside
from paramhs.faces.cli.verdicts import command_of, print_outcome, why_none
from paramhs.faces.result import Result
from paramhs.faces.scenario_file import ScenarioFile, read_configs, read_scenario
from paramhs.faces.tuning import tune_scenario
from paramhs.faces.views import view
from paramhs.values.errors import BadInput
from paramhs.values.space import Config
from paramhs.world.cluster import Dask
from paramhs.world.driver import INTERRUPTED, Budget

INTERRUPTED_CODE = 130


def tune(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The scenario: TOML, or AClib's .txt.")
    ],
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
    initial: Annotated[
        Path | None,
        typer.Option(
            help="Configurations that challenge the default first: JSON objects, one a line, or"
            " CSV. They come after those of the scenario."
        ),
    ] = None,
    warm_start: Annotated[
        list[Path] | None,
        typer.Option(help="A store of an earlier search of the same target; may be repeated."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Runs are made by the workers of this Dask scheduler, such as tcp://10.0.0.1:8786;"
            " 'local' starts some here.",
        ),
    ] = None,
    asynchronous: Annotated[
        bool | None,
        typer.Option(
            "--asynchronous/--in-order",
            help="Use results as they come: keeps many more jobs busy, but the result depends on"
            " the order in which runs end [in order].",
            show_default=False,
        ),
    ] = None,
    verdict: Annotated[
        bool, typer.Option(help="Let the best and the default meet on what was held out.")
    ] = True,
    verdict_in_budget: Annotated[
        bool | None,
        typer.Option(
            "--verdict-in-budget/--verdict-on-top",
            help="Whether the verdict's runs are part of the budget [on top].",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option(help="Write what came of it as a page beside the store.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Tune what a scenario file describes. Options stand in for what the file says.

    Stopped, killed or done, the same command goes on where it was; a larger budget extends it.
    """
    scenario_file = _at(dask, read_scenario(file))
    given = Budget(runs, duration(target_time), duration(wall_time))
    budget = replace(
        scenario_file.budget, **{k: v for k, v in vars(given).items() if v is not None}
    )
    store_path = store or scenario_file.store
    watcher = view(as_json)
    for note in scenario_file.notes:
        watcher.notice(note)
    if store is None:
        _make_folder(store_path.parent)
    more = () if initial is None else read_configs(initial, scenario_file.scenario.space)
    scenario = replace(scenario_file.scenario, initial=(*scenario_file.scenario.initial, *more))
    with tuning(), scenario_file.running(watcher, jobs).reach() as running:
        result = tune_scenario(
            scenario,
            scenario_file.target,
            scenario_file.configurator,
            budget=budget,
            seed=scenario_file.seed if seed is None else seed,
            store=store_path,
            running=running,
            test_set=scenario_file.test_set if verdict else None,
            warm_start=(*scenario_file.warm_start, *(warm_start or ())),
            verdict_in_budget=(
                scenario_file.verdict_in_budget if verdict_in_budget is None else verdict_in_budget
            ),
            no_test_set=why_none(scenario_file, verdict),
            asynchronous=scenario_file.asynchronous if asynchronous is None else asynchronous,
        )
    page = write_beside(result, store_path, file) if report else None
    if as_json:
        written = {"page": page and str(page)}
        commands = {**command_of(scenario_file, result.best), **_of_ahead(result, scenario_file)}
        print_json({**result.to_json(), **commands, **written})
    else:
        _print(result, scenario_file)
        say(f"\nAll runs are in {store_path}; see them with: {called('show', store_path)}")
        if page:
            say(f"What came of it is on a page: {page}")
    if result.stopped == INTERRUPTED:
        say(f"Interrupted; to go on: {again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)


def _print(result: Result, scenario_file: ScenarioFile) -> None:
    console = Terminal()
    print_result(console, result)
    print_failures(console, result.failures)
    print_outcome(console, result)
    _print_whole(console, scenario_file, result.best, "the best configuration")
    if result.ahead and result.ahead_wins:
        _print_whole(console, scenario_file, result.ahead.config, "the challenger")


def _of_ahead(result: Result, scenario_file: ScenarioFile) -> dict[str, str]:
    """The command line of who was ahead, where the target is a command."""
    told = command_of(scenario_file, result.ahead.config) if result.ahead else {}
    return {f"ahead_{name}": command for name, command in told.items()}


def _print_whole(console: Terminal, scenario_file: ScenarioFile, config: Config, name: str) -> None:
    """A configuration as one would use it."""
    command = scenario_file.target.command_line(config)
    what = "'s command" if command else ", whole"
    console.print(f"\n{name}{what}:")
    console.print(Text(command or str(config)), soft_wrap=True)


def _at(address: str | None, scenario_file: ScenarioFile) -> ScenarioFile:
    """The same, with runs that are made by the workers of the scheduler there, if one is named."""
    if address is None:
        return scenario_file
    named = scenario_file.executor
    more = (named.ship, named.patience) if isinstance(named, Dask) else (False, None)
    return replace(scenario_file, executor=Dask(address, ship=more[0], patience=more[1]))


def _make_folder(folder: Path) -> None:
    """Make the folder where a scenario wants its store."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot make the folder {folder}: {error.strerror}") from None


@contextmanager
def tuning() -> Iterator[None]:
    """What the target prints goes to standard error; standard output is for the result.

    What Python prints is made printable. What a library or a process writes past Python is not:
    that would need another process in between, for code that is the user's own.

    A second Ctrl-C ends the process: threads that run the target cannot be waited for. SIGTERM is
    answered as Ctrl-C is.
    """
    before = signal.signal(signal.SIGTERM, _as_ctrl_c)
    shown = cast(TextIO, Shown(sys.stderr))
    try:
        with _on_standard_error(), redirect_stdout(shown), redirect_stderr(shown):
            yield
    except KeyboardInterrupt:
        say(f"Stopped at once; nothing stored is lost. To run again: {again()}", err=True)
        sys.stdout.flush()
        os._exit(INTERRUPTED_CODE)
    finally:
        signal.signal(signal.SIGTERM, before)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Also where Ctrl-C itself is ignored, as it is in the background of a shell."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


@contextmanager
def _on_standard_error() -> Iterator[None]:
    """The same for processes that the target starts, which know only the number of a file."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output to keep clean
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
