"""Scenario files as text: settings and parameters in TOML."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from paramhs.core.space import Space
from paramhs.formats.space_files.lowering import has_own_levels

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MAX_LINE_CHARACTERS = 100  # characters of a line, beyond which a list has one entry a line


def scenario_text(settings: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """Settings in the order given; tables, which must come last, as tables.

    Args:
        settings: what `Source` reads back as the same mapping.
        comments: text to put above a setting, by its name.
    """
    blocks = []
    for name, value in settings.items():
        above = [f"# {line}".rstrip() for line in comments.get(name, "").splitlines()]
        if isinstance(value, Mapping):
            inner = [f"{key_text(key)} = {value_text(one)}" for key, one in value.items()]
            blocks.append("\n".join(["", *above, f"[{key_text(name)}]", *inner]))
        else:
            blocks.append("\n".join([*above, f"{key_text(name)} = {value_text(value)}"]))
    return "\n".join(blocks) + "\n"


def space_text(space: Space, comments: Mapping[str, str] = MappingProxyType({})) -> str:
    """The table `[space]` of a scenario, one parameter a line, and what is forbidden before it."""
    lines = []
    if space.forbidden:
        lines += [f"forbidden = {value_text([str(clause) for clause in space.forbidden])}", ""]
    return "\n".join([*lines, "[space]", *_parameters(space, comments)]) + "\n"


def _parameters(space: Space, comments: Mapping[str, str]) -> Iterator[str]:
    for name, parameter in space.parameters.items():
        described = parameter.describe()
        if described["type"] == "boolean":
            del described["values"]
        if described.get("step") == 1:
            del described["step"]
        if described.get("log") is False:
            del described["log"]
        if "levels" in described and not has_own_levels(parameter):
            del described["levels"]
        if name in space.conditions:
            described["condition"] = str(space.conditions[name])
        comment = f"  # {' '.join(comments[name].split())}" if comments.get(name) else ""
        yield f"{key_text(name)} = {value_text(described)}{_printable(comment)}"


def key_text(name: str) -> str:
    """A name as TOML writes it."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def value_text(value: object) -> str:
    """A value as TOML writes it: a text, a number, a truth value, a list or an inline table."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        inner = [f"{key_text(key)} = {value_text(one)}" for key, one in value.items()]
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, Sequence):
        listed = [value_text(one) for one in value]
        line = f"[{', '.join(listed)}]"
        if len(line) <= _MAX_LINE_CHARACTERS:
            return line
        return "[\n" + "".join(f"    {one},\n" for one in listed) + "]"
    return repr(value)


def _quoted(text: str) -> str:
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"  # a literal string, in which regular expressions stay readable
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _printable(text: str) -> str:
    return "".join(mark if mark.isprintable() else "?" for mark in text)
