"""`paramhs space`: parameter files, counted or converted."""

import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from paramhs.cli.console import Json, print_json, say, write_text
from paramhs.cli.solver_scenario import Allow, Options, solver_of
from paramhs.core.errors import BadInput
from paramhs.core.space import Space
from paramhs.core.text.numbers import counted, exact
from paramhs.formats.scenario import read_scenario_space
from paramhs.formats.scenario.writer import space_text
from paramhs.formats.space_files import FORMATS, SpaceFile, counts, losses, read_space, written

_KNOWN = ", ".join(FORMATS)


def space(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Parameter file, or scenario (TOML).")
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="FORMAT", help=f"Convert to this format: {_KNOWN}, toml.")
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT|SOLVER",
            help="Format of the file, if it cannot be recognised; without a file, a solver of the"
            " catalogue.",
        ),
    ] = None,
    options: Options = "all",
    allow: Allow = None,
    as_json: Json = False,
) -> None:
    """Count or convert the parameters in a file.

    Reads files of ParamILS, SMAC, irace and ConfigSpace, and scenarios. Conditions and forbidden
    clauses are counted as ConfigSpace counts them.
    """
    if to is not None and to not in (*FORMATS, "toml"):
        raise BadInput(f"--to {to}: unknown format; choose one of {_KNOWN}, toml")
    read = _read(file, of, options, allow)
    converted = {} if to is None else _converted(read, to)
    if as_json:
        print_json(_facts(read.space) | {"notes": list(read.notes)} | converted)
        return
    if to is None:
        say(_summary(file or of, read.space))
    else:
        write_text(converted["text"])
    for note in (*read.notes, *converted.get("losses", ())):
        say(f"note: {note}", err=True)


def _read(file: Path | None, of: str | None, options: str, allow: list[str] | None) -> SpaceFile:
    """The space of a file, or of a solver."""
    if file is None:
        if of is None:
            raise BadInput("give a file of parameters, or a solver: --from kissat")
        solver = solver_of(of, options, allow)
        return SpaceFile(solver.space, solver.switches)
    if of is None and file.suffix.lower() == ".toml":
        return read_scenario_space(file)
    return read_space(file, of)


def _converted(read: SpaceFile, to: str) -> dict[str, Any]:
    return {
        "format": to,
        "text": space_text(read.space) if to == "toml" else written(read.space, to, read.switches),
        "losses": [] if to == "toml" else losses(read.space, to, read.switches),
    }


def _facts(space: Space) -> dict[str, Any]:
    return {
        **counts(space),
        "kinds": dict(Counter(type(p).__name__.lower() for p in space.listed)),
        "configurations": exact(space.size()),
        "log10_combinations": round(math.log10(space.combinations), 4),
    }


def _summary(file: Path | str | None, space: Space) -> str:
    facts = _facts(space)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in facts["kinds"].items())
    return "\n".join(
        [
            f"{file}",
            f"parameters  {facts['parameters']:,}: {kinds}",
            f"conditions  {facts['conditions']:,}",
            f"forbidden   {counted(facts['forbidden'], 'clause')}",
            f"size        {_size(facts)}",
        ]
    )


def _size(facts: dict[str, Any]) -> str:
    if facts["configurations"] is not None:
        return counted(facts["configurations"], "configuration")
    return f"about 10^{facts['log10_combinations']:.1f} combinations of values"
