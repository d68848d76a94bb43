"""What all commands share: how they print, and how they name this program."""

import json
import math
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from paramhs.faces.scenario_file import seconds
from paramhs.faces.terminal import Terminal
from paramhs.values.errors import BadInput
from paramhs.values.wording import printable, printable_json

__all__ = [
    "Json",
    "Terminal",
    "again",
    "called",
    "duration",
    "print_json",
    "program",
    "say",
    "write_text",
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def say(text: str, err: bool = False) -> None:
    """A line for people."""
    typer.echo(printable(text), err=err)


def write_text(text: str) -> None:
    """The content of a file, as it is; to a terminal, only what can be printed."""
    typer.echo(printable(text) if sys.stdout.isatty() else text, nl=False)


def print_json(value: Mapping[str, Any], version: int = 1) -> None:
    """JSON, for programs; `version` is that of the command's schema in docs/json."""
    text = json.dumps({"version": version, **value}, indent=2, ensure_ascii=False, allow_nan=False)
    typer.echo(printable_json(text))


def program() -> str:
    """How the user can call this program again."""
    script = Path(sys.argv[0])
    here = script.name == "paramhs" and not shutil.which("paramhs")
    return os.path.relpath(script) if here else "paramhs"


def called(*words: object) -> str:
    """A call of this program, ready to paste."""
    return shlex.join([program(), *map(str, words)])


def again() -> str:
    """The same call as now."""
    return called(*sys.argv[1:])


def duration(text: str | None) -> float | None:
    """Seconds, from a text such as '10 min'."""
    if text is None:
        return None
    try:
        length = float(str(seconds(text)))
    except ValueError as error:
        raise BadInput(f"{text!r} is not a duration: {error}") from None
    if math.isinf(length):
        raise BadInput(f"{text!r} is longer than any budget; leave it out for none")
    return length
