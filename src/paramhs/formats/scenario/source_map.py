"""The text of a scenario file: line numbers of its settings, and the problems found in it."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from paramhs.core.errors import BadInput
from paramhs.core.text.quoting import shortened

Key = tuple[str, ...]
"""Names that lead to a setting, from the outermost table inwards."""

T = TypeVar("T")

_MAX_BYTES = 16 << 20  # far more than any handwritten file
_MAX_PROBLEMS = 100  # problems in one message


@dataclass
class Source:
    """A scenario file with the problems and notes collected about it."""

    path: Path
    lines: Mapping[Key, int] = field(default_factory=dict)
    """Line number of each setting."""
    names: Mapping[Key, str] = field(default_factory=dict)
    """Names of settings in the file, where they differ from ours."""
    problems: list[str] = field(default_factory=list)
    wrong: set[str] = field(default_factory=set)
    """Outermost names of faulty settings."""
    notes: list[str] = field(default_factory=list)

    def line(self, key: Key) -> int | None:
        """Line of a setting, or of the closest table around it."""
        around = (key[:length] for length in range(len(key), 0, -1))
        return next((self.lines[part] for part in around if part in self.lines), None)

    def where(self, key: Key) -> str:
        """File, line and name of a setting."""
        line = self.line(key)
        name = self.names.get(key) or self.names.get(key[:1]) or ".".join(key)
        return f"{self.path}{f', line {line}' if line else ''}{f', {name}' if name else ''}"

    def complain(self, key: Key, what: object) -> None:
        """Record a problem with a setting."""
        self.problems.append(f"{self.where(key)}: {shortened(str(what))}")
        self.wrong.update(key[:1])

    def attempt(self, key: Key, make: Callable[[], T]) -> T | None:
        """Call a function; on an error, record a problem of the setting and return None."""
        try:
            return make()
        except BadInput as error:
            self.complain(key, error)
        except OSError as error:
            self.complain(key, f"{error.strerror}: {error.filename}")
        return None

    def refuse(self) -> None:
        """Raise `BadInput` with all problems, if there are any."""
        more = len(self.problems) - _MAX_PROBLEMS
        if self.problems:
            rest = [f"{self.path}: and {more:,} more problems"] if more > 0 else []
            in_order = sorted(self.problems, key=self._line_of)
            raise BadInput("\n".join([*in_order[:_MAX_PROBLEMS], *rest]))

    def _line_of(self, problem: str) -> float:
        found = re.match(r", line (\d+)", problem[len(str(self.path)) :])
        return int(found[1]) if found else math.inf


def read_text(path: Path, what: str = "") -> str:
    """Read a text file.

    Raises:
        BadInput: The file cannot be read, is not UTF-8, or is too large.
    """
    named = f"cannot read {what}{' ' * bool(what)}{shortened(str(path))}"
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{named}: {error.strerror}") from None
    except ValueError:
        raise BadInput(f"{named!r}: a file name cannot contain NUL") from None
    if len(content) > _MAX_BYTES:
        raise BadInput(f"{named}: it is larger than {_MAX_BYTES >> 20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{named}: it is not UTF-8 text ({error})") from None


def parse_toml(path: Path, text: str) -> dict[str, object]:
    """Parse TOML.

    Raises:
        BadInput: The message names the line of the error.
    """
    long = _MANY_NAMES.search(text)
    if long:  # the parser takes quadratic time on such names
        raise BadInput(f"{path}, line {_line_at(text, long)}: a name has too many dots")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: {error}") from None
    except RecursionError:
        line = max(enumerate(_depths(text), 1), key=lambda pair: pair[1])[0]
        raise BadInput(f"{path}, line {line}: lists or tables are nested too deeply") from None
    # The only other ValueError: Python rejects integers of more than 4,300 digits.
    except ValueError:
        line = _line_at(text, re.search(r"\d[\d_]{4000}", text))
        raise BadInput(f"{path}, line {line}: an integer has too many digits") from None


_MANY_NAMES = re.compile(r"(?<![\w.-])(?:[\w-]++ *+\. *+){200}")


def _line_at(text: str, match: re.Match[str] | None) -> int:
    return text.count("\n", 0, match.start() if match else 0) + 1


def _depths(text: str) -> Iterator[int]:
    """Yield the nesting depth of each line, ignoring strings."""
    depth = 0
    for line in text.split("\n"):
        marks = re.findall(r"[\[\]{}]", _STRING.sub("", line))
        steps = [1 if mark in "[{" else -1 for mark in marks]
        yield depth + steps.count(1)
        depth = max(depth + sum(steps), 0)


_NAME = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"\s*(\[+)\s*({_DOTTED})\s*\]+\s*(?:#.*)?$")
_SETTING = re.compile(rf"\s*({_DOTTED})\s*=")
# Texts and comments. An unclosed text extends to the end of the line, so that no part of a line is
# scanned twice. The groups are the closing quotes of multi-line texts.
_STRING = re.compile(
    r'"""(?:\\.|(?!""")[^\\])*+("""|\\?$)'
    r"|'''(?:(?!''').)*+('''|$)"
    r'|"(?:\\.|[^"\\])*+(?:"|\\?$)'
    r"|'[^']*+(?:'|$)"
    r"|#.*"
)


def toml_lines(text: str) -> dict[Key, int]:
    """Line number of each setting and each table of a TOML text."""
    lines: dict[Key, int] = {}
    for number, key in _keys(text):
        lines.setdefault(key, number)
    for key, number in list(lines.items()):  # tables that exist only as prefixes of longer names
        for length in range(1, len(key)):
            lines.setdefault(key[:length], number)
    return lines


def _keys(text: str) -> Iterator[tuple[int, Key]]:
    table: Key = ()
    items: Counter[Key] = Counter()
    for number, line in _statements(text):
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":  # the next item of an array of tables
                items[table] += 1
                table = (*table, str(items[table] - 1))
            yield number, table
        elif setting := _SETTING.match(line):
            yield number, table + _parts(setting[1])


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield numbered lines that do not continue a list or a text begun earlier."""
    depth, quotes = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        rest = line.partition(quotes)[2] if quotes else line
        if quotes and quotes not in line:
            continue
        if not quotes and not depth:
            yield number, line
        bare = _STRING.sub("", rest)
        depth = max(depth + bare.count("[") - bare.count("]"), 0)
        quotes = _open_quotes(rest)


def _open_quotes(line: str) -> str:
    """Quotes of a text that continues on the next line."""
    last = max(_STRING.finditer(line), key=re.Match.end, default=None)
    if last is not None and last[1] not in (None, '"""'):
        return '"""'
    return "'''" if last is not None and last[2] == "" else ""


def _parts(dotted: str) -> Key:
    return tuple(_unquoted(part) for part in re.findall(_NAME, dotted))


def _unquoted(part: str) -> str:
    if part.startswith('"'):
        return str(tomllib.loads(f"x = {part}")["x"])
    return part.strip("'")
