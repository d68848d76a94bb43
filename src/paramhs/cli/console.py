"""Output functions and options shared by all commands."""

import json
import math
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, TextIO, cast

import typer

from paramhs.api.terminal.safe_console import Terminal, encodable, is_unicode
from paramhs.api.terminal.text_layout import tell
from paramhs.core.errors import BadInput
from paramhs.core.quantities import seconds
from paramhs.core.text.numbers import printable, printable_json
from paramhs.execution.safe_files import ShownBytes

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
    "standard_output",
    "write_text",
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AcceptChanged = Annotated[
    bool,
    typer.Option(
        "--accept-changed",
        help="Continue a store although the program or instances have changed. The change is"
        " recorded.",
    ),
]


class Shown:
    """Text file that escapes unprintable characters and turns carriage returns into newlines."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write the text with unprintable characters escaped."""
        self._file.write(printable(text.replace("\r\n", "\n").replace("\r", "\n")))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts with unprintable characters escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def say(text: str, err: bool = False) -> None:
    """Print one line for people."""
    typer.echo(encodable(printable(text), sys.stderr if err else sys.stdout), err=err)


def complain(text: str) -> None:
    """Print an error to standard error, wrapped between words in a terminal."""
    console = Terminal(stderr=True)
    if console.is_terminal:
        tell(console, text, indent="  ")
    else:
        say(text, err=True)


def write_text(text: str) -> None:
    """Write the content of a file to standard output; to a terminal, only printable characters."""
    with standard_output() as file:
        file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Standard output as a binary file; a terminal receives only printable characters."""
    sys.stdout.flush()
    file = typer.get_binary_stream("stdout")
    shown = ShownBytes(file, sys.stdout.encoding or "utf-8")
    yield cast("IO[bytes]", shown) if sys.stdout.isatty() else file
    file.flush()


def print_json(value: Mapping[str, Any], version: int = 1) -> None:
    """Print JSON for programs; `version` is that of the command's schema in docs/json."""
    plain = not is_unicode(sys.stdout)
    text = json.dumps({"version": version, **value}, indent=2, ensure_ascii=plain, allow_nan=False)
    typer.echo(printable_json(text))


def program() -> str:
    """Name by which the user can call this program again."""
    script = Path(sys.argv[0])
    here = script.name == "paramhs" and not shutil.which("paramhs")
    return os.path.relpath(script) if here else "paramhs"


def called(*words: object) -> str:
    """Format a command line of this program, ready to paste."""
    return shlex.join([program(), *map(str, words)])


def again() -> str:
    """Command line of the current call."""
    return called(*sys.argv[1:])


def duration(text: str | None) -> float | None:
    """Parse a duration such as '10 min' into seconds."""
    if text is None:
        return None
    try:
        length = float(str(seconds(text)))
    except ValueError as error:
        raise BadInput(f"{text!r} is not a duration: {error}") from None
    if math.isinf(length):
        raise BadInput(f"{text!r} is longer than any budget; leave it out for none")
    return length
