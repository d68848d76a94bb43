"""Lines of a file, the values written on them, and errors that name the line."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paramhs.values.errors import BadInput
from paramhs.values.space.parameters import Integer, Parameter, Real
from paramhs.values.space.space import ClauseError, Space
from paramhs.values.space.terms import DIGITS
from paramhs.values.space.values import Value, number_of

NUMBER = rf"[-+]?{DIGITS}"
_MOST_BYTES = 16 * 2**20  # of a file of parameters


def text_of(path: Path) -> str:
    """What a file says; `BadInput` if it cannot be read, or is far too large to be meant."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            os.set_blocking(file.fileno(), True)
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a ValueError for a path with a NUL in it
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{shown_path(path)} cannot be read: {why}") from None
    if len(content) > _MOST_BYTES:
        raise BadInput(f"{path}: more than {_MOST_BYTES >> 20} MB cannot be a file of parameters")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:  # a comment of the last century
        return content.decode("latin-1")


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for somebody to write to it, if it is a pipe with a name."""
    return os.open(path, flags | os.O_NONBLOCK)


def shown_path(path: Path) -> str:
    """A path in a message, cut if no file system would take it."""
    text = os.fspath(path).replace("\0", "\\0")
    return text if len(text) <= 300 else f"{text[:100]}...{text[-100:]}"


@dataclass(frozen=True)
class Span:
    """A part of one line of a file."""

    path: Path
    line: int
    column: int
    text: str

    @property
    def where(self) -> str:
        """Where it is, in words."""
        return f"{self.path}, line {self.line}, column {self.column}"

    @property
    def found(self) -> str:
        """Its text in quotes, for messages: the beginning of a long one."""
        return repr(self.text) if len(self.text) <= 60 else f"{self.text[:60]!r}..."

    def error(self, message: str) -> BadInput:
        """What is wrong, and where."""
        return BadInput(f"{self.where}: {message}")

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

    def number(self) -> int | float:
        """The number it is; an integer stays one."""
        if not re.fullmatch(NUMBER, self.text):
            raise self.error(f"expected a number, found {self.found}")
        try:
            return number_of(self.text)
        except BadInput as error:
            raise self.error(str(error)) from None

    def integer(self) -> int:
        """The integer it is; 3.0 is one."""
        number = self.number()
        if number != int(number):
            raise self.error(f"expected an integer, found {self.found}")
        return int(number)


def lines(path: Path, text: str) -> Iterator[Span]:
    """The lines that say something, without comments."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        content = line.split("#", 1)[0]
        if content.strip():
            yield Span(path, number, 1, content).part(0)


def located(
    make: Callable[[], Space], conditions: Mapping[str, Span], forbidden: Sequence[Span]
) -> Space:
    """The space that is made; what is wrong with a condition or a clause is told with its line."""
    try:
        return make()
    except ClauseError as error:
        whose = [conditions[name] for name in error.conditions if name in conditions]
        if error.clause is not None and error.clause < len(forbidden):
            whose.append(forbidden[error.clause])
        if not whose:
            raise
        raise whose[0].error(str(error)) from None


def value_on(span: Span, name: str, parameter: Parameter) -> Value:
    """The value of a parameter that is written there."""
    if not isinstance(parameter, Integer | Real):
        found = matching(span.text, _listed(parameter))
        if found is None:
            raise span.error(
                f"{span.found} is not a value of {name}; expected {shown(_listed(parameter))}"
            )
        return found
    value = span.number() if isinstance(parameter, Real) else span.integer()
    if not parameter.low <= value <= parameter.high:
        raise span.error(
            f"{span.text} is not in the range of {name}, {parameter.low} .. {parameter.high}"
        )
    return value


def value_if_any(span: Span, name: str, parameter: Parameter, notes: list[str]) -> Value | None:
    """The same; None, and a note, if the parameter can never have it."""
    try:
        return value_on(span, name, parameter)
    except BadInput as error:
        notes.append(f"{error}; {name} is never equal to it")
        return None


@lru_cache(maxsize=64)
def _listed(parameter: Parameter) -> tuple[str, ...]:
    return tuple(str(value) for value in getattr(parameter, "values", ()))


def matching(text: str, values: tuple[str, ...]) -> str | None:
    """The value written so, or else the one that is the same number, or None.

    ParamILS looks for the same number too: its files may say [0.10] for a value 0.1.
    """
    by_text, by_number = _looked_up(values)
    if text in by_text:
        return text
    return by_number.get(_size(text))


@lru_cache(maxsize=64)
def _looked_up(values: tuple[str, ...]) -> tuple[frozenset[str], dict[float | None, str]]:
    numbers = {_size(value): value for value in reversed(values)}
    numbers.pop(None, None)
    return frozenset(values), numbers


def _size(text: str) -> float | None:
    """The number that a text is; None if it is none, or beyond all doubles."""
    number = float(text) if re.fullmatch(NUMBER, text) else math.inf
    return number if math.isfinite(number) else None


def shown(words: Iterable[str], most: int = 12) -> str:
    """The words, or the first ones of many."""
    listed = list(words)
    cut = [word if len(word) <= 60 else f"{word[:60]}..." for word in listed[:most]]
    return ", ".join(cut) + (", ..." if len(listed) > most else "")


def written_value(value: Value) -> str:
    """A value as plain text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def is_listed(parameter: Parameter) -> bool:
    """Whether its values are written one by one: also a range of one value."""
    return not parameter.numeric or parameter.levels == 1
