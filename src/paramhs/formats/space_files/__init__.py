"""Parameter files, read and written: PCS of ParamILS and SMAC, irace, ConfigSpace."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.space.parameters import Integer, Ordinal, Parameter, Real
from paramhs.core.space.space import Space
from paramhs.formats.space_files.configspace_reader import read_configspace
from paramhs.formats.space_files.configspace_writer import written_configspace
from paramhs.formats.space_files.irace_reader import read_irace
from paramhs.formats.space_files.irace_writer import irace_names, written_irace
from paramhs.formats.space_files.lowering import has_own_levels, without_special
from paramhs.formats.space_files.pcs_reader import is_new_pcs, read_pcs
from paramhs.formats.space_files.pcs_writer import written_pcs
from paramhs.formats.space_files.source_lines import (
    is_listed,
    shown,
    shown_path,
    text_of,
    written_value,
)

_IRACE = re.compile(r'\s*+[\w.]++\s++"[^"]*+"\s++[cior](?:,log)?\s*+\(')
_SHELL_PROOF = re.compile(r"[\w@%+=:,./-]++")

FORMATS = ("pcs", "pcs-new", "irace", "configspace-json", "configspace-yaml")


class SpaceFile(NamedTuple):
    """Content of a parameter file."""

    space: Space
    switches: Mapping[str, str]
    """irace's switch of each parameter; empty for other formats."""
    notes: tuple[str, ...] = ()
    """Notes for the user on what was read differently from how it is written."""


def read_space(path: str | os.PathLike[str], format: str | None = None) -> SpaceFile:
    """Read the space from a file; without a format, it is guessed."""
    path = Path(path)
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
        raise BadInput(f"{format!r} is not a format; choose one of {', '.join(FORMATS)}")


def _read(path: Path, text: str, format: str) -> SpaceFile:
    if format == "irace":
        return SpaceFile(*read_irace(path, text))
    if format in ("pcs", "pcs-new"):
        space, notes = read_pcs(path, text)
    else:
        space, notes = read_configspace(path, text, format)
    return SpaceFile(space, {}, notes)


def guessed_format(path: Path, text: str) -> str:
    """Guess the format from the file name, or else from the text."""
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
    """Write a space in a format.

    Raises:
        BadInput: The format cannot express the space.
    """
    space = without_special(space)
    if format in ("pcs", "pcs-new"):
        return written_pcs(space, new=format == "pcs-new")
    if format == "irace":
        return written_irace(space, switches)
    _check_format(format)
    return written_configspace(space, format)


def losses(
    space: Space, format: str, switches: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Describe what `written` loses; never anything that decides what is active or allowed."""
    kinds = space.parameters.items()
    text = not format.startswith("configspace")
    found = {
        "that special values lie beside a range": [n for n, p in kinds if _is_more_than_range(p)],
        "the number of levels of a range": [n for n, p in kinds if text and has_own_levels(p)],
        "the order of values": [n for n, p in kinds if format == "pcs" and isinstance(p, Ordinal)],
        "the type of values that are not texts": [
            n for n, p in kinds if text and _has_other_than_texts(p)
        ],
        "the default": [n for n, p in kinds if format == "irace" and p.levels > 1],
        "irace's switch": [n for n, switch in switches.items() if format != "irace" and switch],
    }
    lost = [f"{what} is lost: {shown(names)}" for what, names in found.items() if names]
    return [*lost, *(_invented(space, switches) if format == "irace" else [])]


def _invented(space: Space, switches: Mapping[str, str]) -> list[str]:
    """Describe what is added for irace because the space lacks it."""
    notes = []
    given = irace_names(space)
    new = [f"{name} is {other}" for name, other in given.items() if other != name]
    if new:
        notes.append(f"irace's names may contain only letters, digits, '.' and '_': {shown(new)}")
    without = [name for name in space.parameters if name not in switches]
    if without:
        notes.append(f"parameters have no switches; '-name ' was written, such as '-{without[0]} '")
    if special := [name for name, p in space.parameters.items() if not _is_shell_proof(p)]:
        notes.append(
            f"irace calls programs through a shell, which changes values of {shown(special)}"
        )
    if space.forbidden:
        notes.append("irace 3 does not read [forbidden]; use its forbiddenFile")
    return notes


def _is_shell_proof(parameter: Parameter) -> bool:
    """Whether a shell reads each value as one unchanged word."""
    return all(_SHELL_PROOF.fullmatch(text) for text in map(written_value, parameter.choices))


def _is_more_than_range(parameter: Parameter) -> bool:
    return isinstance(parameter, Integer | Real) and bool(parameter.special)


def _has_other_than_texts(parameter: Parameter) -> bool:
    return is_listed(parameter) and not isinstance(parameter.default, str)


def counts(space: Space) -> dict[str, int]:
    """Numbers of parameters, conditions and forbidden clauses, as ConfigSpace counts them.

    All conditions of one parameter count as one; a repeated forbidden clause counts twice.
    """
    return {
        "parameters": len(space.parameters),
        "conditions": len(space.conditions),
        "forbidden": len(space.forbidden),
    }
