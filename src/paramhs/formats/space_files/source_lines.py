"""Lines of a file with their values, and errors that name line and column."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.terms import DIGITS
from paramhs.core.space.literals import Value, number_of
from paramhs.core.space.parameters import Integer, Parameter, Real
from paramhs.core.space.space import ClauseError, Space

NUMBER = rf"[-+]?{DIGITS}"
_MAX_BYTES = 16 * 2**20  # of a parameter file


def text_of(path: Path) -> str:
    """Read a parameter file.

    Raises:
        BadInput: The file cannot be read or is too large.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            os.set_blocking(file.fileno(), True)
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # a ValueError for a path with a NUL in it
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{shown_path(path)} cannot be read: {why}") from None
    if len(content) > _MAX_BYTES:
        raise BadInput(f"{path}: more than {_MAX_BYTES >> 20} MB is too large for a parameter file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:  # a Latin-1 comment
        return content.decode("latin-1")


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without blocking on a named pipe that has no writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def shown_path(path: Path) -> str:
    """Path for a message, shortened if it is too long for any file system."""
    text = os.fspath(path).replace("\0", "\\0")
    return text if len(text) <= 300 else f"{text[:100]}...{text[-100:]}"


@dataclass(frozen=True)
class Span:
    """Part of one line of a file."""

    path: Path
    line: int
    column: int
    text: str

    @property
    def where(self) -> str:
        """Place in the file, for messages."""
        return f"{self.path}, line {self.line}, column {self.column}"

    @property
    def found(self) -> str:
        """Quoted text for messages, shortened if it is long."""
        return repr(self.text) if len(self.text) <= 60 else f"{self.text[:60]!r}..."

    def error(self, message: str) -> BadInput:
        """Build an error with the place of this text."""
        return BadInput(f"{self.where}: {message}")

    def part(self, start: int, end: int | None = None) -> "Span":
        """Text from start to end, without surrounding blanks."""
        text = self.text[start:end]
        blank = len(text) - len(text.lstrip())
        return Span(self.path, self.line, self.column + start + blank, text.strip())

    def group(self, match: re.Match[str], name: str) -> "Span":
        """Text matched by a group."""
        return self.part(match.start(name), match.end(name))

    def split(self, separator: str) -> list["Span"]:
        """Parts between separators, which are literal texts."""
        ends = [m.start() for m in re.finditer(re.escape(separator), self.text)]
        starts = [0, *(end + len(separator) for end in ends)]
        return [
            self.part(start, end)
            for start, end in zip(starts, [*ends, len(self.text)], strict=True)
        ]

    def number(self) -> int | float:
        """Parse the text as a number; an integer stays an integer."""
        if not re.fullmatch(NUMBER, self.text):
            raise self.error(f"expected a number, found {self.found}")
        try:
            return number_of(self.text)
        except BadInput as error:
            raise self.error(str(error)) from None

    def integer(self) -> int:
        """Parse the text as an integer; 3.0 is one."""
        number = self.number()
        if number != int(number):
            raise self.error(f"expected an integer, found {self.found}")
        return int(number)


def lines(path: Path, text: str) -> Iterator[Span]:
    """Yield the non-empty lines without comments."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        content = line.split("#", 1)[0]
        if content.strip():
            yield Span(path, number, 1, content).part(0)


def located(
    make: Callable[[], Space], conditions: Mapping[str, Span], forbidden: Sequence[Span]
) -> Space:
    """Build a space; errors in conditions or clauses are reported with their lines."""
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
    """Parse the value of a parameter."""
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
    """Parse a value; if the parameter can never have it, return None and add a note."""
    try:
        return value_on(span, name, parameter)
    except BadInput as error:
        notes.append(f"{error}; {name} is never equal to it")
        return None


@lru_cache(maxsize=64)
def _listed(parameter: Parameter) -> tuple[str, ...]:
    return tuple(str(value) for value in parameter.choices)


def matching(text: str, values: tuple[str, ...]) -> str | None:
    """Find the value with this text, or else with the same number; None if there is none.

    ParamILS also compares numbers: its files may say [0.10] for a value 0.1.
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
    """The number a text stands for; None if it is not a number or not finite."""
    number = float(text) if re.fullmatch(NUMBER, text) else math.inf
    return number if math.isfinite(number) else None


def shown(words: Iterable[str], most: int = 12) -> str:
    """Join words for a message, shortening a long list."""
    listed = list(words)
    cut = [word if len(word) <= 60 else f"{word[:60]}..." for word in listed[:most]]
    return ", ".join(cut) + (", ..." if len(listed) > most else "")


def written_value(value: Value) -> str:
    """Write a value as plain text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def is_listed(parameter: Parameter) -> bool:
    """Whether values are listed one by one; also true for a range of one value."""
    return not parameter.numeric or parameter.levels == 1
