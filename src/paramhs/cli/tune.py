"""`paramhs tune`: search for a better configuration."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from paramhs.api.terminal.live_view import view
from paramhs.api.tune import tune_scenario
from paramhs.cli.console import (
    AcceptChanged,
    Json,
    Terminal,
    again,
    called,
    duration,
    print_json,
    say,
)
from paramhs.cli.portfolio import portfolio_of, print_portfolio
from paramhs.cli.render_failures import print_failures
from paramhs.cli.render_result import print_answers, print_command, print_result
from paramhs.cli.render_verdict import (
    best_named,
    command_of,
    print_accepted,
    print_front,
    print_groups,
    print_outcome,
    why_none,
)
from paramhs.cli.report import write_beside
from paramhs.cli.solver_scenario import (
    Allow,
    Cutoff,
    Options,
    Program,
    SolverCostName,
    SolverFile,
    given_budget,
    is_solver,
    scenario_of_solver,
    solver_of,
)
from paramhs.cli.tuning import INTERRUPTED_CODE, tuning
from paramhs.core.errors import BadInput
from paramhs.execution.cluster import Dask
from paramhs.execution.driver import INTERRUPTED, Budget
from paramhs.formats.scenario import ScenarioFile, read_configs, read_scenario
from paramhs.procedures.portfolio import check_one_cost, check_size
from paramhs.report.result import Result


def tune(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SOLVER",
            help="Scenario file (TOML, or AClib's .txt), or a solver of the catalogue.",
        ),
    ],
    instances: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INSTANCES]...", help="Instances for a solver of the catalogue."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="File that stores the runs; an existing one is resumed. Default: FILE.sqlite."
        ),
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Budget: number of runs.")] = None,
    target_time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Budget: total runtime of the target, such as '10 min'."),
    ] = None,
    wall_time: Annotated[
        str | None, typer.Option(metavar="TIME", help="Budget: elapsed time, such as '1.5 h'.")
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Stop earlier, when the next tenth of the budget would gain less, such as"
            " 'gain < 1 %'.",
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel runs.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of the search.")] = None,
    initial: Annotated[
        Path | None,
        typer.Option(
            help="Configurations to try first: JSON objects, one per line, or"
            " CSV. Those of the scenario come before them."
        ),
    ] = None,
    warm_start: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="STORE", help="Store of an earlier search of the same target; may be repeated."
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Make runs on the workers of this Dask scheduler, such as tcp://10.0.0.1:8786;"
            " 'local' starts workers on this machine.",
        ),
    ] = None,
    verdict: Annotated[
        bool, typer.Option(help="Compare the best with the default on held-out runs.")
    ] = True,
    portfolio: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Search for K configurations that together do well: each has an equal share of"
            " the budget of runs.",
        ),
    ] = None,
    verdict_in_budget: Annotated[
        bool | None,
        typer.Option(
            "--verdict-in-budget/--verdict-on-top",
            help="Whether runs of the verdict count against the budget. Default: --verdict-on-top.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[bool, typer.Option(help="Write an HTML report beside the store.")] = True,
    accept_changed: AcceptChanged = False,
    solver: SolverFile = None,
    options: Options = "short",
    allow: Allow = None,
    cost: SolverCostName = "runtime",
    cutoff: Cutoff = None,
    program: Program = None,
    as_json: Json = False,
) -> None:
    """Search for a better configuration of a program.

    The scenario file describes the program, its parameters and its instances; options override it.
    For a solver of the catalogue and instances, a scenario file is written first and kept.
    If the command is stopped or killed, run it again to resume; a larger budget extends a finished
    search.
    """
    path = Path(file)
    if instances and solver is None and path.is_file() and not is_solver(file):
        raise BadInput(
            f"unexpected extra argument {instances[0]!r}: {file} is a scenario file, which names"
            " its own instances; for a file that describes a solver, use --solver"
        )
    if solver is not None or instances or is_solver(file):
        path = scenario_of_solver(
            solver_of(solver or file, options, allow, cost, program),
            [*([file] if solver is not None else []), *(instances or [])],
            store,
            given_budget(runs, target_time, wall_time),
            cutoff,
        )
    scenario_file = _at(dask, read_scenario(path))
    given = Budget(runs, duration(target_time), duration(wall_time))
    limits = {**vars(given), "stop": stop}
    budget = replace(scenario_file.budget, **{k: v for k, v in limits.items() if v is not None})
    whole = budget
    if portfolio is not None:
        check_one_cost(scenario_file.scenario)
        budget = first_round(budget, portfolio)
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
            accept_changed=accept_changed,
        )
    together = None
    if portfolio is not None and result.stopped != INTERRUPTED:
        together = portfolio_of(
            scenario_file,
            store_path,
            portfolio,
            rounds_after(whole, budget),
            True,
            jobs,
            as_json,
            record=result.record,
        )
    page = write_beside(result, store_path, path) if report else None
    if as_json:
        written: dict[str, object] = {"page": page and str(page)}
        if together is not None:
            written["portfolio"] = together.to_json()
        print_json({**result.to_json(), **command_of(scenario_file, result.best), **written})
    else:
        if together is not None:
            print_portfolio(Terminal(), together)
            say("\nThe best of them alone:\n")
        _print(result, scenario_file, store_path)
        say(f"\nAll runs are in {store_path}; show them with: {called('show', store_path)}")
        if page:
            say(f"Report: {page}")
    if result.stopped == INTERRUPTED:
        say(f"Interrupted. Resume with: {again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)


def _print(result: Result, scenario_file: ScenarioFile, store: Path) -> None:
    console = Terminal()
    print_result(console, result)
    print_failures(console, result.failures)
    print_answers(console, result.answers)
    console.print()
    print_accepted(console, result.accepted)
    print_outcome(console, result.verdict)
    if result.front:
        print_front(console, result.front)
    print_groups(console, result.families, result.group_notes)
    command = scenario_file.target.command_line(result.best)
    what = "command of the best configuration" if command else "best configuration, complete"
    if result.front:
        what = f"{'command' if command else 'values'} of {best_named(result.front)}"
    print_command(console, command or str(result.best), what, store)


def _at(address: str | None, scenario_file: ScenarioFile) -> ScenarioFile:
    """Return the scenario with its runs made on this Dask scheduler, if one is named."""
    if address is None:
        return scenario_file
    named = scenario_file.executor
    given = named if isinstance(named, Dask) else Dask()
    elsewhere = Dask(address, ship=given.ship, patience=given.patience, tls=given.tls)
    return replace(scenario_file, executor=elsewhere)


def _make_folder(folder: Path) -> None:
    """Create the folder of the scenario's store."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot create the folder {folder}: {error.strerror}") from None


def first_round(budget: Budget, size: int) -> Budget:
    """Budget of the first of `size` rounds, each of which has as many runs."""
    check_size(size)
    if budget.runs is None or budget != Budget(runs=budget.runs) or budget.runs < 2 * size:
        raise BadInput(
            f"--portfolio {size} divides a budget of runs into {size} rounds: give --runs (at"
            f" least {2 * size}) and no other budget"
        )
    return Budget(runs=budget.runs // size)


def rounds_after(whole: Budget, first: Budget) -> int:
    """Number of runs left after the first round."""
    return (whole.runs or 0) - (first.runs or 0)
