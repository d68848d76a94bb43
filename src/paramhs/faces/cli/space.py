"""`paramhs space`: a file of parameters, counted or converted."""

import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from paramhs.faces.cli.output import Json, print_json, say, write_text
from paramhs.faces.scenario_file import read_scenario_space
from paramhs.values.errors import BadInput
from paramhs.values.space import Space
from paramhs.values.space.formats import FORMATS, SpaceFile, counts, losses, read_space, written
from paramhs.values.wording import counted, exact

_KNOWN = ", ".join(FORMATS)


def space(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of parameters, or a scenario (TOML).")
    ],
    to: Annotated[
        str | None, typer.Option(metavar="FORMAT", help=f"Print it in another format: {_KNOWN}.")
    ] = None,
    of: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="The file's format, if it is not obvious."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read parameters of ParamILS, SMAC, irace, ConfigSpace or a scenario: count or convert them.

    Conditions and forbidden clauses are counted as ConfigSpace counts them.
    """
    if to is not None and to not in FORMATS:
        raise BadInput(f"--to {to}: there is no such format; there are {_KNOWN}")
    scenario = of is None and file.suffix.lower() == ".toml"
    read = read_scenario_space(file) if scenario else read_space(file, of)
    converted = {} if to is None else _converted(read, to)
    if as_json:
        print_json(_facts(read.space) | {"notes": list(read.notes)} | converted)
        return
    if to is None:
        say(_summary(file, read.space))
    else:
        write_text(converted["text"])
    for note in (*read.notes, *converted.get("losses", ())):
        say(f"note: {note}", err=True)


def _converted(read: SpaceFile, to: str) -> dict[str, Any]:
    return {
        "format": to,
        "text": written(read.space, to, read.switches),
        "losses": losses(read.space, to, read.switches),
    }


def _facts(space: Space) -> dict[str, Any]:
    return {
        **counts(space),
        "kinds": dict(Counter(type(p).__name__.lower() for p in space.listed)),
        "configurations": exact(space.size()),
        "log10_combinations": round(math.log10(space.combinations), 4),
    }


def _summary(file: Path, space: Space) -> str:
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
