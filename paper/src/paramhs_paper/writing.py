"""Output of the reproduction: tables as CSV, figures as SVG, text as Markdown."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from paramhs.core.errors import BadInput
from paramhs.report.chart_files import draw

Row = dict[str, Any]
R = TypeVar("R")


def make_folder(folder: Path) -> Path:
    """Create a folder to write into, or explain why that is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot write into {folder}: {error.strerror}") from None
    return folder


def write_rows(file: Path, rows: Sequence[Row]) -> Path:
    """Write a table as CSV; numbers are written so that reading restores them exactly."""
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return file


def read_rows(file: Path, kind: type[R]) -> list[R]:
    """Read a table written from this dataclass."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            return [
                kind(**{name: _parsed(row[name]) for name in names})
                for row in csv.DictReader(lines)
            ]
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise BadInput(f"{file}: there is no column {error.args[0]!r}") from None


def _parsed(text: str) -> Any:
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def markdown(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty line after it."""
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
    yield ""


def number(x: float | None, digits: int = 2) -> str:
    """Format a number with fixed digits; empty for None."""
    return "" if x is None else f"{x:.{digits}f}"


class Output:
    """Output of a command: text to print; tables and figures in a folder, if there is one."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = None if folder is None else make_folder(folder)
        self.words: list[str] = []
        self.written: list[Path] = []
        self.rows: dict[str, list[Row]] = {}

    def say(self, heading: str, text: str) -> None:
        """Add text for people."""
        self.words.append(f"## {heading}\n\n{text}")

    def table(self, name: str, rows: Sequence[Row]) -> None:
        """Write a table."""
        self.rows[name] = list(rows)
        if self.folder is not None:
            self.written.append(write_rows(self.folder / f"{name}.csv", rows))

    def draw(self, name: str, figure: Callable[..., Any], *parts: Any) -> None:
        """Draw a figure, if there is a folder."""
        if self.folder is not None:
            self.written += draw(figure(*parts), self.folder, name, ("svg",))
