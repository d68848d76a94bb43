"""Lines of a file, the values written on them, and errors that name the place."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paramhs.values.errors import BadInput
from paramhs.values.space.parameters import Integer, Parameter, Real
from paramhs.values.space.values import Value

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


@dataclass(frozen=True)
class Span:
    """A part of one line of a file."""

    path: Path
    line: int
    column: int
    text: str

    def error(self, message: str) -> BadInput:
        """What is wrong, and where."""
        return BadInput(f"{self.path}, line {self.line}, column {self.column}: {message}")

    def part(self, start: int, end: int | None = None) -> "Span":
        """The text from start to end, without blanks around it."""
        text = self.text[start:end]
        blank = len(text) - len(text.lstrip())
        return Span(self.path, self.line, self.column + start + blank, text.strip())

    def group(self, match: re.Match[str], name: str) -> "Span":
        """What a group of a match in this text matched."""
        return self.part(match.start(name), match.end(name))

    def split(self, separator: str) -> list["Span"]:
        """The parts between separators, which are texts, not patterns."""
        ends = [m.start() for m in re.finditer(re.escape(separator), self.text)]
        starts = [0, *(end + len(separator) for end in ends)]
        return [
            self.part(start, end)
            for start, end in zip(starts, [*ends, len(self.text)], strict=True)
        ]

    def number(self) -> float:
        """The number it is; an integer stays one."""
        if not re.fullmatch(NUMBER, self.text):
            raise self.error(f"expected a number, found {self.text!r}")
        value = int(self.text) if re.fullmatch(r"[-+]?\d+", self.text) else float(self.text)
        if not math.isfinite(value):
            raise self.error(f"{self.text} is too large")
        return value

    def integer(self) -> int:
        """The integer it is; 3.0 is one."""
        number = self.number()
        if number != int(number):
            raise self.error(f"expected an integer, found {self.text!r}")
        return int(number)


def lines(path: Path, text: str) -> Iterator[Span]:
    """The lines that say something, without comments."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        said = line.split("#", 1)[0]
        if said.strip():
            yield Span(path, number, 1, said).part(0)


def value_on(span: Span, name: str, parameter: Parameter) -> Value:
    """The value of a parameter that is written there."""
    if not isinstance(parameter, Integer | Real):
        values = [str(value) for value in getattr(parameter, "values", ())]
        found = matching(span.text, values)
        if found is None:
            raise span.error(f"{span.text!r} is not a value of {name}; expected {shown(values)}")
        return found
    value = span.number() if isinstance(parameter, Real) else span.integer()
    if not parameter.low <= value <= parameter.high:
        raise span.error(
            f"{span.text} is not in the range of {name}, {parameter.low} .. {parameter.high}"
        )
    return value


def matching(text: str, values: Iterable[str]) -> str | None:
    """The value written so, or else the one that is the same number, or None.

    ParamILS looks for the same number too: its files may say [0.10] for a value 0.1.
    """
    listed = list(values)
    if text in listed:
        return text
    if re.fullmatch(NUMBER, text):
        for value in listed:
            if re.fullmatch(NUMBER, value) and float(value) == float(text):
                return value
    return None


def shown(words: Iterable[str], most: int = 12) -> str:
    """The words, or the first ones of many."""
    listed = list(words)
    return ", ".join(listed[:most]) + (", ..." if len(listed) > most else "")


def written_value(value: Value) -> str:
    """A value as plain text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def is_listed(parameter: Parameter) -> bool:
    """Whether its values are written one by one: also a range of one value."""
    return not parameter.numeric or parameter.levels == 1
