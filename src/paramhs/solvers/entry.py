"""An entry of the catalogue: how one solver is found, asked, called and tuned.

An entry is a TOML file. It holds what the solver does not say about itself, and no copy of what it
does say: names, bounds and defaults of options are read from the installed program.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from paramhs.core.errors import BadInput
from paramhs.core.space import Value
from paramhs.formats.scenario.source_map import Source, parse_toml, read_text, toml_lines
from paramhs.solvers.readers import READERS

_Number = Annotated[int | float, Field(union_mode="left_to_right")]
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Find(_Table):
    """Where the program or the library is, and how it says its version."""

    program: list[str] = []
    """Names on the PATH, the first that is there; or a path relative to the entry's file."""
    distribution: str | None = None
    """A Python distribution that has the program among its files, or that is the library."""
    module: str | None = None
    """A Python module: the solver is a library, called by the runner of this name (`run_NAME`)."""
    version: list[str] = ["--version"]
    """Arguments with which the program prints its version; empty if it never does."""
    version_regex: str = r"\d+(?:\.\d+)+"

    @field_validator("version_regex")
    @classmethod
    def _is_regex(cls, regex: str) -> str:
        try:
            re.compile(regex)
        except re.error as error:
            raise ValueError(f"it is not a regular expression: {error}") from None
        return regex


class Listing(_Table):
    """How the solver lists its options."""

    arguments: list[str]
    """Arguments of the call; `{file}` is a file that the solver writes and that is read then."""
    reader: str
    stream: Literal["output", "errors"] = "output"
    """Where the list is printed: on standard output or on standard error."""
    by_runner: bool = False
    """Whether the runner of this name (`run_NAME`) lists the options of the program."""

    @field_validator("reader")
    @classmethod
    def _is_reader(cls, name: str) -> str:
        if name not in READERS:
            raise ValueError(f"there is no such reader; there are {', '.join(READERS)}")
        return name


class Call(_Table):
    """Settings of the scenario: how the solver is run and what it answers."""

    command: str
    """With {program}, {instance}, {seed}, {changed} (or {params}) and perhaps {cutoff}.

    `{runner}` is the call of the runner of this name, for a program that is run through one.
    """
    style: str = "--name=value"
    booleans: list[str] | None = None
    numbers: Literal["shortest", "decimal"] = "shortest"
    switches: dict[str, str] = {}
    native: dict[str, str] | None = None
    """How its own users write a configuration: {line = "name = value"} or {command = "..."}."""
    solved: list[int] | list[str] | dict[str, str] | None = None
    answer: dict[str, str] | None = None
    read: dict[str, str] | None = None
    """Where the solver says its own time, which is believed: {time_regex = ...} or {time_json}."""


class Work(_Table):
    """Counted work, a cost that does not depend on the machine or on its load."""

    unit: str
    read: dict[str, str]
    command: str | None = None
    """The command, where it differs from that of `call`: statistics must be printed."""


class Range(_Table):
    """What replaces the derived range of one option; what is left out is derived."""

    low: _Number | None = None
    high: _Number | None = None
    log: bool | None = None
    levels: int | None = None
    special: list[_Number] | None = None
    values: list[Value] | None = None
    """The values to try, one by one."""
    unset: bool = False
    """Whether the default is not to write it: the list says a wrong one, or it has none of its own.

    The values of a boolean or a choice are its own where `values` gives none.
    """


class Short(_Table):
    """The options worth tuning first."""

    source: str
    """Where the advice is from."""
    names: list[str]


class Entry(_Table):
    """A solver: how it is found, asked, called and tuned."""

    extends: str | None = None
    """Entry of the catalogue whose settings and tables this one adds to."""
    title: str
    """What it is, in a few words: "Kissat, a SAT solver"."""
    url: str
    install: str
    """The shortest way to install it."""
    suffixes: list[str]
    """Endings of names of instances; empty: any."""
    find: Find
    options: Listing
    call: Call
    work: Work | None = None
    conditions_by_prefix: bool = False
    """Whether an option depends on the one whose name its own begins with."""
    conditions: dict[str, str] = {}
    forbidden: list[str] = []
    far: Annotated[float, Field(gt=1)] = 100.0
    """How many times the default, or what part of it, a range without sensible ends goes."""
    bounded_only: bool = False
    """Whether an option is left out where neither the solver nor the entry says its bounds."""
    left_out: dict[str, str] = {}
    """Reasons by name, or by pattern such as "proof*"."""
    answer_changing: dict[str, str] = {}
    """Reasons for options with which the solver may give another answer."""
    ranges: dict[str, Range] = {}
    short: Short | None = None
    initial: list[dict[str, Value]] = []
    """Configurations to try first, as its documentation names them: the values that they change."""
    notes: list[str] = []
    """What the user should know, such as the limits of a licence."""
    name: str = ""
    path: Path = Path()


def names() -> Sequence[str]:
    """Names of the solvers of the catalogue.

    Returns:
        The names, sorted.

    Examples:
        >>> import paramhs
        >>> "kissat" in paramhs.solvers.names()
        True
    """
    return sorted(entry.name.removesuffix(".toml") for entry in _entries())


def entry_of(solver: str | Path) -> Entry:
    """The entry of a solver in the catalogue, or in a file (whose name ends with .toml).

    Args:
        solver: Name of a solver, or path of an entry.

    Returns:
        The entry.

    Examples:
        >>> import paramhs
        >>> paramhs.solvers.entry_of("kissat").title
        'Kissat, a SAT solver'
    """
    text = str(solver)
    if text.endswith(".toml"):
        return read_entry(Path(text))
    found = {entry.name.removesuffix(".toml"): entry for entry in _entries()}
    if text.lower() not in found:
        close = get_close_matches(text.lower(), found, n=1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        raise BadInput(
            f"there is no solver {text[:60]!r} in the catalogue{meant}; there are"
            f" {', '.join(names())}"
            " (an entry of your own is a file: --solver ./mysolver.toml)"
        )
    return read_entry(Path(str(found[text.lower()])))


def _entries() -> list[Any]:
    folder = files("paramhs.solvers").joinpath("entries")
    return [file for file in folder.iterdir() if file.name.endswith(".toml")]


def read_entry(path: Path) -> Entry:
    """The entry in a file; `BadInput` with all problems and their lines."""
    text = read_text(path)
    source = Source(path, toml_lines(text))
    settings: Mapping[str, Any] = parse_toml(path, text)
    name = path.stem.lower()
    if not _NAME.fullmatch(name):
        raise BadInput(f"{path}: an entry's name has lower-case letters, digits and '-' only")
    for own in {"name", "path"} & settings.keys():
        source.complain((own,), "there is no such setting")
    try:
        whole = {**_extended(settings), "name": name, "path": path.absolute()}
        entry = Entry.model_validate(whole)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False):
            key = tuple(str(part) for part in problem["loc"])
            source.complain(key, _explained(problem))
    source.refuse()
    return entry


def _extended(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an entry, and below them those of the entry that it extends."""
    base = settings.get("extends")
    if not isinstance(base, str):
        return dict(settings)
    below = entry_of(base).path
    return _merged(_extended(parse_toml(below, read_text(below))), settings)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, where tables are merged and other values of `above` replace those of `below`."""
    merged = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], Mapping) and isinstance(above[name], Mapping):
            merged[name] = _merged(below[name], above[name])
    return merged


def _explained(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "extra_forbidden":
        return "there is no such setting"
    if problem["type"] == "missing":
        return "is missing"
    return str(problem["msg"]).removeprefix("Value error, ")
