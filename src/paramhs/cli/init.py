"""`paramhs init`: a scenario to start from, with a working example."""

import json
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from paramhs.bundled.instances.dimacs import dimacs
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.cli.console import Json, called, print_json, say
from paramhs.cli.solver_scenario import (
    Allow,
    Cutoff,
    Options,
    Program,
    SolverCostName,
    SolverFile,
    given_budget,
    solver_of,
    write_scenario,
)
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from paramhs.formats.scenario.schema import File
from paramhs.solvers import Solver

_COUNT = 16  # instances of the example
_VARIABLES, _RATIO = 60, 4.3


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write into.")] = Path(),
    solver: SolverFile = None,
    instances: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Instances for the solver; may be repeated."),
    ] = None,
    options: Options = "short",
    allow: Allow = None,
    cost: SolverCostName = "runtime",
    cutoff: Cutoff = None,
    program: Program = None,
    as_json: Json = False,
) -> None:
    """Write a commented scenario with a working example.

    The example is a small SAT solver with generated instances.
    """
    if solver is not None:
        found = solver_of(solver, options, allow, cost, program)
        _init_solver(folder, found, instances or (), cutoff, as_json)
        return
    contents = _contents()
    paths = [folder / name for name in contents]
    for path in paths:
        if os.path.exists(path):
            raise BadInput(f"{path} already exists; choose another folder")
    try:
        for path, text in zip(paths, contents.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write into {folder}: {error.strerror}") from None
    if as_json:
        print_json({"files": [str(path) for path in paths]})
        return
    say(f"wrote {paths[0]}, the solver it tunes, and {_COUNT} instances")
    say(f"next: {called('check', paths[0])}")
    say(f"then: {called('tune', paths[0])}")


def _init_solver(
    folder: Path, solver: Solver, instances: Sequence[str], cutoff: str | None, as_json: bool
) -> None:
    path = folder / "scenario.toml"
    if os.path.exists(path):
        raise BadInput(f"{path} already exists; choose another folder")
    write_scenario(path, solver, instances, cutoff, given_budget(None, None, None))
    if as_json:
        print_json({"files": [str(path)]})
        return
    say(f"next: {called('check', path)}")
    say(f"then: {called('tune', path)}")


def _contents() -> dict[str, str]:
    """Content of every file, the scenario first."""
    example = files("paramhs.cli.example")
    contents = {
        name: example.joinpath(name).read_text(encoding="utf-8")
        for name in ("scenario.toml", "solver.py")
    }
    contents["scenario.schema.json"] = schema()
    for number in range(_COUNT):
        formula = random_ksat(3, _VARIABLES, _RATIO, False, stream(0, "init", number))
        contents[f"instances/random-{number:02}.cnf"] = dimacs(formula)
    return contents


def schema() -> str:
    """JSON Schema of scenario files, for editors."""
    return json.dumps(File.model_json_schema(), indent=1) + "\n"
