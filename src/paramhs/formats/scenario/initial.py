"""Initial configurations of a search: tables of values, or a file with them.

A file has one configuration per line: JSON objects, or a table with parameter names in its first
line, separated by commas (.csv) or blanks (as in irace's configurationsFile). A missing value, or
NA, means the default. The file may also be the output of `tune --json` or `show --json`: it then
contributes the incumbents of that search, the last one first.
"""

import csv
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.space import Config, Integer, Parameter, Real, Space, Value
from paramhs.core.space.literals import is_finite, value_text
from paramhs.core.space.nearest import is_between, nearest_index, switched_off
from paramhs.core.text.quoting import short
from paramhs.formats.scenario.source_map import read_text

_NOTHING = ("", "NA", "<NA>")


class Entry(NamedTuple):
    """Values of a configuration as written by a user."""

    where: str
    """File and line, or position in a list."""
    values: Mapping[str, object] | str
    """Values by name, or the canonical text of a configuration."""


def read_entries(path: Path) -> Iterator[Entry]:
    """Yield the configurations listed in a file."""
    text = read_text(path)
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if path.suffix.lower() == ".csv":
        yield from _rows(path, [(n, _cells(path, n, line)) for n, line in lines])
    elif lines and lines[0][1].lstrip()[0] in "{[":
        printed = _incumbents(path, text)
        yield from _objects(path, lines) if printed is None else printed
    else:
        bare = [(n, line) for n, line in lines if not line.lstrip().startswith("#")]
        yield from _rows(path, [(n, _words(path, n, line)) for n, line in bare])


def _incumbents(path: Path, text: str) -> list[Entry] | None:
    """Incumbents of a search printed as JSON; None if the text is something else."""
    try:
        points = json.loads(text)["trajectory"]
        configs = [point["config"] for point in reversed(points)]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    entries = [Entry(f"{path}, the trajectory", config) for config in configs]
    return entries if all(isinstance(entry.values, dict | str) for entry in entries) else None


def _objects(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    for number, line in lines:
        where = f"{path}, line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{where}: expected one JSON object per line ({error})") from None
        if not isinstance(found, dict):
            raise BadInput(f"{where}: expected a JSON object, such as " + '{"x": 1}')
        yield Entry(where, found)


def _cells(path: Path, number: int, line: str) -> list[str]:
    try:
        return next(csv.reader([line]))
    except csv.Error as error:
        raise BadInput(f"{path}, line {number}: not a line of CSV: {error}") from None


def _words(path: Path, number: int, line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise BadInput(f"{path}, line {number}: {error}") from None


def _rows(path: Path, rows: Sequence[tuple[int, Sequence[str]]]) -> Iterator[Entry]:
    """Yield the rows of a table with a header; as in R, a row may begin with an unnamed number."""
    names = [name.strip() for name in rows[0][1]] if rows else []
    for number, row in rows[1:]:
        words = [word.strip() for word in row]
        words = words[1:] if len(words) == len(names) + 1 else words
        if len(words) != len(names):
            raise BadInput(
                f"{path}, line {number}: {len(words)} values, but {len(names)} names in the header"
            )
        values = zip(names, words, strict=True)
        yield Entry(f"{path}, line {number}", {n: w for n, w in values if w not in _NOTHING})


def read_configs(path: Path, space: Space) -> tuple[Config, ...]:
    """Read the configurations listed in a file.

    Raises:
        BadInput: The message names the line of the faulty configuration.
    """
    return tuple(configured(entry, space)[0] for entry in read_entries(path))


def configured(entry: Entry, space: Space) -> tuple[Config, list[str]]:
    """Build the configuration of an entry; list the numbers that were rounded to a level."""
    try:
        given = space.values_in(entry.values) if isinstance(entry.values, str) else entry.values
        values = {name: _value(space, name, value) for name, value in given.items()}
        config = space.config(values)
        changes = {
            name: f"{name} = {value_text(level)} for {given[name]}"
            for name, level in values.items()
            if space.parameters[name].numeric and not isclose(_number(given[name]), float(level))
        }
        idle = switched_off(config, values, changes)
    except BadInput as error:
        raise BadInput(f"{entry.where}: {error}") from None
    return config, [*changes.values(), *(f"{name} is inactive then" for name in idle)]


def _value(space: Space, name: str, value: object) -> Value:
    if name not in space.parameters:
        some = ", ".join(list(space.parameters)[:8])
        raise BadInput(f"no parameter is called {short(name)}; there are {some}")
    try:
        return _meant(space.parameters[name], value)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None


def _meant(parameter: Parameter, value: object) -> Value:
    """Interpret a written value: text may hold a number, and a number is rounded to a level."""
    if isinstance(parameter, Real | Integer):
        number = _number(value)
        between = is_between(parameter, number)
        near = nearest_index(parameter, number) if between else parameter.index(number)
        return parameter.value(near)
    try:
        return parameter.value(parameter.index(value))
    except BadInput:
        levels = [parameter.value(index) for index in range(parameter.levels)]
        for same in (str, lambda thing: str(thing).lower()):
            for level in levels:
                if same(level) == same(value):
                    return level
        raise


def _number(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if not is_finite(number):
        raise BadInput(f"{str(value)[:40]!r} is not a number")
    return number  # type: ignore[return-value]
