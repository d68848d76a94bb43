"""What a reproduction writes: tables as CSV, figures as SVG, words as Markdown."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from paramhs.results.drawing import draw
from paramhs.values.errors import BadInput

Row = dict[str, Any]
R = TypeVar("R")


def make_folder(folder: Path) -> Path:
    """A folder to write into; refused with the reason if there cannot be one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot write into {folder}: {error.strerror}") from None
    return folder


def write_rows(file: Path, rows: Sequence[Row]) -> Path:
    """A table as CSV; numbers are written so that they are read as they were."""
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return file


def read_rows(file: Path, kind: type[R]) -> list[R]:
    """The rows of a table that was written of this dataclass."""
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
    """The lines of a table, and an empty one after it."""
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
    yield ""


def number(x: float | None, digits: int = 2) -> str:
    """With so many digits; nothing where there is no number."""
    return "" if x is None else f"{x:.{digits}f}"


class Output:
    """What a command makes: words to show; tables and figures in a folder, if there is one."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = None if folder is None else make_folder(folder)
        self.words: list[str] = []
        self.written: list[Path] = []
        self.rows: dict[str, list[Row]] = {}

    def say(self, heading: str, text: str) -> None:
        """Words for people."""
        self.words.append(f"## {heading}\n\n{text}")

    def table(self, name: str, rows: Sequence[Row]) -> None:
        """A table."""
        self.rows[name] = list(rows)
        if self.folder is not None:
            self.written.append(write_rows(self.folder / f"{name}.csv", rows))

    def draw(self, name: str, figure: Callable[..., Any], *parts: Any) -> None:
        """A figure, made only if there is a folder."""
        if self.folder is not None:
            self.written += draw(figure(*parts), self.folder, name, ("svg",))
