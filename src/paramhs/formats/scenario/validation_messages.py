"""Readable messages for the errors that pydantic finds in a scenario file."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from paramhs.formats.scenario.schema import File, settings
from paramhs.formats.scenario.source_map import Key, Source

_VALUE_LENGTH = 100  # characters of a quoted value


def validate_settings(settings: Mapping[str, Any], source: Source) -> File:
    """Validate settings one by one, and return the valid ones.

    Faulty settings are recorded and left out, so that everything independent of them is still
    checked.
    """
    for key in _with_nul(settings):
        source.complain(key, "a text must not contain a NUL character")
    right = {name: value for name, value in settings.items() if name not in source.wrong}
    try:
        return File.model_validate(right)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False):
            key = tuple(str(part) for part in problem["loc"])
            source.complain(key, _explained(key, problem))
        right = {name: value for name, value in right.items() if name not in source.wrong}
        return File.model_validate(right)


def _with_nul(value: object, key: Key = ()) -> Iterator[Key]:
    """Yield keys of texts with NUL, which no file name and no program argument can contain."""
    if isinstance(value, str) and "\0" in value:
        yield key
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _with_nul(inner, (*key, name))
            yield from _with_nul(name, (*key, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _with_nul(inner, (*key, str(number)))


def _explained(key: Key, problem: Mapping[str, Any]) -> str:
    kind, given = problem["type"], problem["input"]
    if kind == "extra_forbidden":
        return f"there is no such setting{_advice(key)}"
    if kind == "missing":
        return "is missing"
    message = str(problem["msg"]).removeprefix("Value error, ")
    if kind in ("model_type", "dict_type"):
        message = "should be a table"
    elif kind == "string_pattern_mismatch":
        message = "should be module:function"
    if kind == "impossible" or isinstance(given, dict):
        return message
    return f"{message} (it is {_shown(given)})"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _VALUE_LENGTH else f"{text[:_VALUE_LENGTH]}..."


def _advice(key: Key) -> str:
    """Suggest a similar setting, or the table where a setting of this name belongs."""
    name, table = key[-1], "space.NAME" if key[0] == "space" else ".".join(key[:-1])
    tables = settings()
    known = sorted(tables.get(table, ()))
    homes = [home for home, names in tables.items() if name in names and home != table]
    close = get_close_matches(name, known, 1, cutoff=0.8 if homes else 0.6)
    if close:
        return f"; did you mean {close[0]}?"
    if "" in homes:
        return f" in [{'.'.join(key[:-1])}]; it belongs at the top, before the first [table]"
    return f" here; it belongs in [{homes[0]}]" if homes else ""
