"""Files of parameters, both ways: PCS of ParamILS and SMAC, irace, ConfigSpace."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from paramhs.values.errors import BadInput
from paramhs.values.space.formats.configspace import read_configspace
from paramhs.values.space.formats.configspace_writing import written_configspace
from paramhs.values.space.formats.irace import read_irace
from paramhs.values.space.formats.irace_writing import irace_names, written_irace
from paramhs.values.space.formats.pcs import is_new_pcs, read_pcs
from paramhs.values.space.formats.pcs_writing import written_pcs
from paramhs.values.space.formats.texts import (
    is_listed,
    shown,
    shown_path,
    text_of,
    written_value,
)
from paramhs.values.space.parameters import DEFAULT_LEVELS, Integer, Ordinal, Parameter, Real
from paramhs.values.space.space import Space

_IRACE = re.compile(r'\s*+[\w.]++\s++"[^"]*+"\s++[cior](?:,log)?\s*+\(')
_SHELL_PROOF = re.compile(r"[\w@%+=:,./-]++")

FORMATS = ("pcs", "pcs-new", "irace", "configspace-json", "configspace-yaml")


class SpaceFile(NamedTuple):
    """What a file of parameters says."""

    space: Space
    switches: Mapping[str, str]
    """irace's switch for each parameter; empty for the other formats."""
    notes: tuple[str, ...] = ()
    """What the user should know: what was read otherwise than it is written, and where."""


def read_space(path: Path, format: str | None = None) -> SpaceFile:
    """The space that a file describes; its format is guessed where none is given."""
    if format is not None:
        _check_format(format)
    text = text_of(path)
    try:
        return _read(path, text, format or guessed_format(path, text))
    except RecursionError:
        raise BadInput(f"{path}: its conditions are nested too deeply") from None
    except BadInput as error:
        if str(error).startswith(shown_path(path)):
            raise
        raise BadInput(f"{path}: {error}") from None


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise BadInput(f"{format!r} is not a format; there are {', '.join(FORMATS)}")


def _read(path: Path, text: str, format: str) -> SpaceFile:
    if format == "irace":
        return SpaceFile(*read_irace(path, text))
    if format in ("pcs", "pcs-new"):
        space, notes = read_pcs(path, text)
    else:
        space, notes = read_configspace(path, text, format)
    return SpaceFile(space, {}, notes)


def guessed_format(path: Path, text: str) -> str:
    """The format that the file's name tells, or else its text."""
    by_name = {".json": "configspace-json", ".yaml": "configspace-yaml", ".yml": "configspace-yaml"}
    if path.suffix.lower() in by_name:
        return by_name[path.suffix.lower()]
    if path.suffix.lower() == ".toml":
        raise BadInput(f"{path}: scenarios in TOML are not read here, only {', '.join(FORMATS)}")
    if any(map(_IRACE.match, text.splitlines())):
        return "irace"
    if re.search(r'^\s*\{.*"hyperparameters"', text, re.DOTALL):
        return "configspace-json"
    if re.search(r"^hyperparameters:", text, re.MULTILINE):
        return "configspace-yaml"
    return "pcs-new" if is_new_pcs(text) else "pcs"


def written(space: Space, format: str, switches: Mapping[str, str] = MappingProxyType({})) -> str:
    """The space in a format; `BadInput` says what the format cannot say."""
    if format in ("pcs", "pcs-new"):
        return written_pcs(space, new=format == "pcs-new")
    if format == "irace":
        return written_irace(space, switches)
    _check_format(format)
    return written_configspace(space, format)


def losses(
    space: Space, format: str, switches: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """What `written` leaves out, in words; nothing that decides what is active or allowed."""
    kinds = space.parameters.items()
    text = not format.startswith("configspace")
    found = {
        "the number of levels of a range": [n for n, p in kinds if text and _has_own_levels(p)],
        "the order of values": [n for n, p in kinds if format == "pcs" and isinstance(p, Ordinal)],
        "that values are no texts": [n for n, p in kinds if text and _has_other_than_texts(p)],
        "the default": [n for n, p in kinds if format == "irace" and p.levels > 1],
        "irace's switch": [n for n, switch in switches.items() if format != "irace" and switch],
    }
    lost = [f"{what} is lost: {shown(names)}" for what, names in found.items() if names]
    return [*lost, *(_invented(space, switches) if format == "irace" else [])]


def _invented(space: Space, switches: Mapping[str, str]) -> list[str]:
    """What a file for irace needs and the space does not have."""
    notes = []
    given = irace_names(space)
    new = [f"{name} is {other}" for name, other in given.items() if other != name]
    if new:
        notes.append(f"irace's names have letters, digits, '.' and '_' only: {shown(new)}")
    without = [name for name in space.parameters if name not in switches]
    if without:
        notes.append(
            f"there are no switches; '-name ' with the name was written, such as '-{without[0]} '"
        )
    if special := [name for name, p in space.parameters.items() if not _is_shell_proof(p)]:
        notes.append(f"irace's calls are read by a shell, which changes values of {shown(special)}")
    if space.forbidden:
        notes.append("irace 3 reads no section [forbidden]; it has a forbiddenFile for that")
    return notes


def _is_shell_proof(parameter: Parameter) -> bool:
    """Whether a shell reads each value as one word and leaves it as it is."""
    texts = map(written_value, parameter.values) if hasattr(parameter, "values") else ()
    return all(_SHELL_PROOF.fullmatch(text) for text in texts)


def _has_own_levels(parameter: Parameter) -> bool:
    if isinstance(parameter, Integer):
        size = parameter.high - parameter.low + 1
        return parameter.log and parameter.levels != min(DEFAULT_LEVELS, size)
    return isinstance(parameter, Real) and parameter.levels != DEFAULT_LEVELS


def _has_other_than_texts(parameter: Parameter) -> bool:
    return is_listed(parameter) and not isinstance(parameter.default, str)


def counts(space: Space) -> dict[str, int]:
    """How many parameters, conditions and forbidden clauses, counted as ConfigSpace does.

    All conditions of one parameter are one; a forbidden clause that comes twice is two.
    """
    return {
        "parameters": len(space.parameters),
        "conditions": len(space.conditions),
        "forbidden": len(space.forbidden),
    }
