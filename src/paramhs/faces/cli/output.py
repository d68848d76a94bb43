"""What all commands share: how they print, and how they name this program."""

import json
import math
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from paramhs.faces.layout import tell
from paramhs.faces.scenario_file import seconds
from paramhs.faces.terminal import Terminal, encodable, is_unicode
from paramhs.values.errors import BadInput
from paramhs.values.wording import printable, printable_json

__all__ = [
    "Json",
    "Shown",
    "Terminal",
    "again",
    "called",
    "complain",
    "duration",
    "print_json",
    "program",
    "say",
    "write_bytes",
    "write_text",
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


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
    typer.echo(encodable(printable(text), sys.stderr if err else sys.stdout), err=err)


def complain(text: str) -> None:
    """What is wrong, on standard error; in a terminal, in lines that end between words."""
    console = Terminal(stderr=True)
    if console.is_terminal:
        tell(console, text, indent="  ")
    else:
        say(text, err=True)


def write_text(text: str) -> None:
    """The content of a file, as it is; to a terminal, only what can be printed."""
    write_bytes(text.encode("utf-8", "backslashreplace"))


def write_bytes(content: bytes) -> None:
    """The same of a content that is written already, in UTF-8."""
    if sys.stdout.isatty():
        typer.echo(encodable(printable(content.decode()), sys.stdout), nl=False)
    else:
        typer.echo(content, nl=False)


def print_json(value: Mapping[str, Any], version: int = 1) -> None:
    """JSON, for programs; `version` is that of the command's schema in docs/json."""
    plain = not is_unicode(sys.stdout)
    text = json.dumps({"version": version, **value}, indent=2, ensure_ascii=plain, allow_nan=False)
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
