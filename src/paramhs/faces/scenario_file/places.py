"""Where in a TOML text something is, and what is wrong with it, in words."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from paramhs.faces.scenario_file.models import ALL_TABLES

_IN_SEVERAL_WAYS = {"command", "checker", "expected", "instances", "read", "space"}
_IN_SEVERAL_WAYS |= {"test_instances"}


class Places:
    """Names the places of a scenario file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: tuple[str, ...] = ()

    def line(self, place: tuple[str, ...]) -> int | None:
        """The line of a place."""
        raise NotImplementedError

    def where(self, place: tuple[str, ...]) -> str:
        """File, line and name of a place."""
        line = self.line(place)
        name = ".".join(place)
        return f"{self.path}{f', line {line}' if line else ''}{f', {name}' if name else ''}"

    def explained(self, error: ValidationError) -> str:
        """A line for each place that is wrong; a value no kind of which fits is one problem."""
        lines: dict[tuple[str, ...], str] = {}
        for problem in error.errors():
            place, message = _explained(problem)
            lines.setdefault(_place(problem["loc"]), f"{self.where(place)}: {message}")
        return "\n".join(lines.values())


class TomlPlaces(Places):
    """Places in a TOML text."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(path)
        self._text = text

    def line(self, place: tuple[str, ...]) -> int | None:
        """The line of a place, or of the closest thing around it."""
        return line_of(self._text, place)


def _explained(problem: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """The place of a validation problem, and what is wrong."""
    place = _place(problem["loc"])
    kind, given = problem["type"], problem["input"]
    message = str(problem["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        message = f"there is no such setting{_suggestion(place[-1])}"
    elif kind in ("model_type", "dict_type"):
        message = f"should be a table (it is {given!r})"
    elif kind == "missing":
        message = "is missing"
    elif kind == "string_pattern_mismatch":
        message = f"should be module:function (it is {given!r})"
    elif kind == "union_tag_invalid" and "type" not in problem["ctx"]["discriminator"]:
        wanted = problem["ctx"]["expected_tags"].replace("'", "a ", 1).replace(" '", " or a ")
        message = f"should be {wanted.replace(chr(39), '')} (it is {given!r})"
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        place = (*place, "type")
        found = given.get("type") if isinstance(given, dict) else given
        message = "should be real, integer, ordinal, categorical or boolean"
        message += " (it is missing)" if found is None else f" (it is {found!r})"
    elif not isinstance(given, dict):
        message += f" (it is {given!r})"
    return place, message


def _suggestion(name: str) -> str:
    known = {name for table in ALL_TABLES for name in table.model_fields}
    close = get_close_matches(name, sorted(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def _place(loc: Sequence[object]) -> tuple[str, ...]:
    """Where a problem is, without the names of union members that pydantic puts in."""
    place = [str(part) for part in loc]
    if place[0] in _IN_SEVERAL_WAYS:
        del place[1:2]
    if place[0] == "space":
        del place[2:3]  # the parameter's type
    if place[-1] in ("bool", "int", "float", "str"):
        place.pop()
    return tuple(place)


_KEY = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"


def line_of(text: str, place: tuple[str, ...]) -> int | None:
    """The line of a TOML text where a place, or the closest thing around it, is set."""
    best, best_depth, depth = None, 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        bare = re.sub(r"""\"(?:[^"\\]|\\.)*\"|'[^']*'|#.*""", "", line)
        inside, depth = depth, max(depth + bare.count("[") - bare.count("]"), 0)
        header = re.match(rf"\s*\[+\s*({_DOTTED})\s*\]+\s*(?:#.*)?$", line)
        key = re.match(rf"\s*({_DOTTED})\s*=", line)
        if inside or not (header or key):
            continue
        if header:
            found = table = _parts(header[1])
        elif key:
            found = table + _parts(key[1])
        if found == place[: len(found)] and len(found) > best_depth:
            best, best_depth = number, len(found)
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(_unquoted(part) for part in re.findall(_KEY, dotted))


def _unquoted(part: str) -> str:
    if part.startswith('"'):
        return str(tomllib.loads(f"x = {part}")["x"])
    return part.strip("'")
