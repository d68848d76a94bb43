"""Where a solver is on this machine, its version, and the list of its options."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from paramhs.core.errors import BadInput
from paramhs.solvers.entry import Entry
from paramhs.solvers.options import Option
from paramhs.solvers.readers import READERS

_PATIENCE = 60.0  # seconds for a solver to say its version or its options
_RUNNERS = Path(__file__).parent / "runners"


@dataclass(frozen=True)
class Installation:
    """An installed solver: the words that call it, and its version."""

    words: tuple[str, ...]
    version: str


def find(entry: Entry, program: str | Path | None = None) -> Installation:
    """The installed solver; `BadInput` says how to install one.

    Args:
        entry: the solver.
        program: a path to the program, where it is not the one that would be found.
    """
    words = _given(program) if program is not None else _words(entry)
    if words is None:
        raise BadInput(f"{entry.name} is not installed here ({_looked(entry)}): {entry.install}")
    return Installation(words, _version(entry, words))


def _given(program: str | Path) -> tuple[str, ...]:
    found = shutil.which(str(program))
    if found is None:
        raise BadInput(f"there is no program {program}, or it may not be executed")
    return (os.path.abspath(found),)


def _words(entry: Entry) -> tuple[str, ...] | None:
    if entry.find.module is not None:
        there = importlib.util.find_spec(entry.find.module) is not None
        return (sys.executable, str(_RUNNERS), entry.name) if there else None
    for name in entry.find.program:
        beside = entry.path.parent / name
        found = shutil.which(str(beside) if os.sep in name else name)
        if found is not None:
            return (os.path.abspath(found),)
    return next(((path,) for path in _in_distribution(entry)), None)


def _in_distribution(entry: Entry) -> Iterator[str]:
    """Programs among the files of a Python distribution."""
    if entry.find.distribution is None:
        return
    try:
        listed = metadata.files(entry.find.distribution) or []
    except metadata.PackageNotFoundError:
        return
    for file in listed:
        path = str(file.locate())
        if file.name in entry.find.program and os.access(path, os.X_OK):
            yield os.path.abspath(path)


def _looked(entry: Entry) -> str:
    find = entry.find
    if find.module is not None:
        return f"Python has no module {find.module}"
    places = [f"no {' or '.join(find.program)} on the PATH"]
    if find.distribution is not None:
        places.append(f"none in the Python package {find.distribution}")
    return ", ".join(places)


def _version(entry: Entry, words: Sequence[str]) -> str:
    if entry.find.module is not None and entry.find.distribution is not None:
        return metadata.version(entry.find.distribution)
    if not entry.find.version:
        return ""
    text = "\n".join(printed((*words, *entry.find.version)))
    match = re.search(entry.find.version_regex, text)
    if match is None:
        shown = text.strip()[:200] or "nothing"
        raise BadInput(
            f"{words[0]} does not say a version of {entry.name}: it printed {shown!r} when called"
            f" with {' '.join(entry.find.version)}"
        )
    return match[1] if match.groups() else match[0]


def printed(words: Sequence[str]) -> tuple[str, str]:
    """Standard output and standard error of a call.

    The exit code says nothing here: minisat ends with 1 after `--help`.
    """
    try:
        done = subprocess.run(  # noqa: S603 -- the user's own solver, without a shell
            words,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadInput(f"{' '.join(words)} did not end within {_PATIENCE:g} s") from None
    except OSError as error:
        raise BadInput(f"{words[0]} cannot be run: {error.strerror}") from None
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def options_of(entry: Entry, installation: Installation) -> Sequence[Option]:
    """The options that the installed version lists; `BadInput` with the line that is unreadable."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "options"
        words = [word.replace("{file}", str(file)) for word in entry.options.arguments]
        output, errors = printed((*installation.words, *words))
        text = errors if entry.options.stream == "errors" else output
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
    try:
        options = READERS[entry.options.reader](text)
        if not options:
            raise BadInput("the list is empty")
    except BadInput as error:
        call = " ".join((*installation.words, *entry.options.arguments))
        raise BadInput(
            f"{entry.name}: the options of this version cannot be read from `{call}`: {error}. The"
            f" entry {entry.path} does not fit this version; correct a copy of it and"
            " give that with --solver"
        ) from None
    return options
