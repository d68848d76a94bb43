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
from paramhs.core.text.quoting import short
from paramhs.solvers.entry import Entry
from paramhs.solvers.options import Option
from paramhs.solvers.readers import READERS

_PATIENCE = 60.0  # seconds for a solver to say its version or its options
_RUNNERS = Path(__file__).parent / "runners"


@dataclass(frozen=True)
class Installation:
    """An installed solver: the words that call it, and its version.

    Args:
        words: Words that call the solver.
        version: Version that it reported; empty if it has none.
        package: Python distribution that it belongs to; None if there is none.
    """

    words: tuple[str, ...]
    version: str
    package: str | None = None
    """The Python distribution that it is, or that has the program among its files."""

    @property
    def place(self) -> str:
        """Where it is, for people: a path or a Python package."""
        return f"Python package {self.package}" if self.package else self.words[0]


def find(entry: Entry, program: str | Path | None = None) -> Installation:
    """The installed solver; `BadInput` says how to install one.

    Args:
        entry: the solver.
        program: a path to the program, where it is not the one that would be found.

    Returns:
        The words that call it, and its version.
    """
    if program is not None:
        words, package = _given(program), None
    else:
        words, package = _found(entry)
    return Installation(words, _version(entry, words), package)


def runner(name: str) -> tuple[str, ...]:
    """Words that call the runner of a solver, `runners/run_NAME.py`."""
    return (sys.executable, str(_RUNNERS), name)


def _given(program: str | Path) -> tuple[str, ...]:
    found = shutil.which(os.path.abspath(program)) or shutil.which(str(program))
    if found is None:
        raise BadInput(f"there is no program {program}, or it may not be executed")
    return (os.path.abspath(found),)


def _found(entry: Entry) -> tuple[tuple[str, ...], str | None]:
    """Words that call it, and the Python distribution that it is from."""
    find = entry.find
    if find.module is not None and importlib.util.find_spec(find.module) is not None:
        return runner(entry.name), find.distribution
    for name in find.program:
        beside = entry.path.parent / name
        path = shutil.which(str(beside) if os.sep in name else name)
        if path is not None:
            return (os.path.abspath(path),), None
    for path in _in_distribution(entry):
        return (path,), find.distribution
    raise BadInput(f"{entry.name} is not installed here ({_looked(entry)}): {entry.install}")


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


def _lister(entry: Entry, installation: Installation) -> tuple[str, ...]:
    if not entry.options.by_runner:
        return installation.words
    return (*runner(entry.name), f"--PROGRAM={installation.words[0]}")


def options_of(entry: Entry, installation: Installation) -> Sequence[Option]:
    """The options that the installed version lists; `BadInput` with the line that is unreadable."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "options"
        words = [word.replace("{file}", str(file)) for word in entry.options.arguments]
        output, errors = printed((*_lister(entry, installation), *words))
        text = errors if entry.options.stream == "errors" else output
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
    try:
        options = READERS[entry.options.reader](text)
        if not options:
            last = errors.strip().rpartition("\n")[2]
            raise BadInput(f"the list is empty{f' ({short(last)})' if last else ''}")
    except BadInput as error:
        call = " ".join((*_lister(entry, installation), *entry.options.arguments))
        raise BadInput(
            f"{entry.name}: the options of this version cannot be read from `{call}`: {error}. The"
            f" entry {entry.path} does not fit this version; correct a copy of it and"
            " give that with --solver"
        ) from None
    return options
