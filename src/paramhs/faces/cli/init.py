"""`paramhs init`: a scenario to start from, with everything it needs to run."""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from paramhs.faces.cli.output import Json, called, print_json, say
from paramhs.faces.scenario_file.models import File
from paramhs.values.errors import BadInput
from paramhs.values.seeds import stream
from paramhs.world.instances.dimacs import dimacs
from paramhs.world.instances.random_ksat import random_ksat

_COUNT = 16  # instances of the example
_VARIABLES, _RATIO = 60, 4.3


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write.")] = Path(),
    as_json: Json = False,
) -> None:
    """Write a commented scenario with a working example: a small solver and instances for it."""
    contents = _contents()
    paths = [folder / name for name in contents]
    for path in paths:
        if os.path.exists(path):
            raise BadInput(f"{path} exists already; give another folder")
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


def _contents() -> dict[str, str]:
    """The text of every file, the scenario first."""
    example = files("paramhs.faces.cli.example")
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
    """The JSON Schema of scenario files, for editors."""
    return json.dumps(File.model_json_schema(), indent=1) + "\n"
