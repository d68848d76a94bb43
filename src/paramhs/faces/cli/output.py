"""What all commands share: how they print, and how they name this program."""

import json
import math
import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from paramhs.faces.scenario_file import seconds
from paramhs.values.errors import BadInput
from paramhs.values.wording import printable, printable_json

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


class Terminal(Console):
    """A console that obeys what this program says, and only shows what comes from outside.

    All that a command prints for people goes through here or through `say`.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        # Standard error as it is now: later on it may be what a target's own prints go through.
        super().__init__(file=sys.stderr if stderr else None, quiet=quiet, highlight=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The parts to print; control characters in their texts are made visible."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


class Shown:
    """A text file whose text is made printable; what redraws a line begins a new one."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write what a terminal can be trusted with."""
        self._file.write(printable(text.replace("\r\n", "\n").replace("\r", "\n")))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """The same for many."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def say(text: str, err: bool = False) -> None:
    """A line for people."""
    typer.echo(printable(text), err=err)


def write_text(text: str) -> None:
    """The content of a file, as it is; to a terminal, only what can be printed."""
    typer.echo(printable(text) if sys.stdout.isatty() else text, nl=False)


def print_json(value: Any) -> None:
    """JSON, for programs."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
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
