"""Instances of a scenario (lists, folders, patterns, files), and the held-out share."""

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from itertools import islice
from pathlib import Path

from paramhs.core.arguments import named_instances
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance
from paramhs.execution.targets.command import Expected, Problem
from paramhs.formats.scenario.source_map import read_text

_LISTS = ("", ".txt", ".lst", ".list")  # names of lists, which need not be of files

Listing = Sequence[str | int | float] | str
_MAX_FILES = 100_000  # files in a folder; guards against "/"
_SEED = re.compile(r"-?\d{1,20}")
_ANSWERS = {"SAT": "sat", "SATISFIABLE": "sat", "UNSAT": "unsat", "UNSATISFIABLE": "unsat"}


def instances_of(
    listing: Listing,
    folders: Sequence[Path],
    expected: Expected | str | Mapping[str, str | float],
    plain: bool,
) -> tuple[Instance, ...]:
    """Find the instances of a listing; the first of the folders is home.

    With `plain`, a list is passed to the target unchanged, as a Python function expects.
    """
    right = expected if isinstance(expected, Expected) else Expected.of(expected)
    return Lister(folders, right, plain).instances(listing)


@dataclass
class Lister:
    """Finder of instances.

    Args:
        folders: Folders in which paths are resolved; the first is home.
        expected: Right answers.
        plain: Whether lists are passed to the target unchanged.
        inside: Folder searched first for names in a list, as irace's trainInstancesDir.
        seeded: Whether every line starts with a seed, as in ParamILS's instance_seed_file.
        alone: Whether nothing may follow a name; irace would pass it on as further arguments.
    """

    folders: Sequence[Path]
    expected: Expected
    plain: bool
    inside: Path | None = None
    seeded: bool = False
    alone: bool = False
    families: dict[str, str] = field(default_factory=dict)
    """Families by instance name, from the words `family=NAME` of a list."""
    seeds: int = 0
    """Number of lines that start with a seed, which is ignored."""

    def instances(self, listing: Listing) -> tuple[Instance, ...]:
        """Find the instances of a list, a folder, a pattern, or a file with one per line."""
        if not isinstance(listing, str):
            if self.plain:
                return named_instances(listing)
            return tuple(self._found(str(entry)) for entry in listing)
        path = self._existing(listing)
        if path is None or os.path.isdir(path):
            return self._given([self._found(name) for name in self._names(listing, path)])
        return self._given(self._listed(path))

    def _names(self, listing: str, folder: Path | None) -> list[str]:
        """List the files of a folder, or those that match a pattern."""
        home = self.folders[0]
        if folder is not None:
            if home.resolve().is_relative_to(folder.resolve()):
                raise BadInput(
                    f"{listing!r} contains the scenario itself and the runs that it"
                    " stores; expected a folder with only instances, or a pattern such as '*.cnf'"
                )
            paths: Iterable[Path] = (p for p in folder.rglob("*") if _is_visible(p, folder))
        elif has_magic(listing) and "\0" not in listing:
            found = glob(listing, root_dir=home, recursive=True)
            paths = (path for path in (home / name for name in found) if path.is_file())
        else:
            raise BadInput(f"there is no folder or file {listing} in {home}")
        names = [os.path.relpath(path, home) for path in islice(paths, _MAX_FILES + 1)]
        if not names:
            raise BadInput(f"{listing}: no instances found (in {home})")
        if len(names) > _MAX_FILES:
            raise BadInput(f"{listing}: more than {_MAX_FILES:,} files found (in {home})")
        return sorted(names)

    def _given(self, found: Iterable[Instance]) -> tuple[Instance, ...]:
        """Convert instances to paths, as text, if the target is a function."""
        if not self.plain:
            return tuple(found)
        return tuple(Instance(instance.name, instance.value.path) for instance in found)

    def _existing(self, name: str, *more: Path) -> Path | None:
        folders = (*self.folders, *more)
        if self.inside is not None and more:  # an entry of a list
            folders = (self.inside, *folders)
        return next((f / name for f in folders if os.path.exists(f / name)), None)

    def _found(self, name: str, info: str = "0", said: str = "", *more: Path) -> Instance:
        """Build an instance; its path is made absolute if the file exists."""
        path = self._existing(name, *more)
        home = self.folders[0] / name
        if path is not None and path != home:
            name = os.path.relpath(path, self.folders[0])  # the same name for the same file
        answer = self.expected.answer(name, said)
        return Instance(
            name, Problem(name if path is None else os.path.abspath(path), info, answer)
        )

    def _listed(self, file: Path) -> list[Instance]:
        """Read one instance per line; the rest of a line is for the wrapper, or the answer."""
        found: dict[str, Instance] = {}
        for number, line in enumerate(read_text(file, "the list of instances").splitlines(), 1):
            if self.alone:
                line = line.partition("#")[0]  # irace's names contain no #
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                name, rest = self._columns(line.strip(), file.parent)
            except ValueError as error:
                raise BadInput(f"{file}, line {number}: {error}") from None
            rest, family = _without_family(rest)
            answers = [_ANSWERS[word.upper()] for word in rest if word.upper() in _ANSWERS]
            info = " ".join(rest) or "0"
            made = self._found(name, info, "".join(answers[:1]), file.parent)
            found.setdefault(name, made)
            if family:
                self.families.setdefault(made.name, family)
        if not found:
            raise BadInput(f"{file} lists no instances")
        if file.suffix not in _LISTS and not any(
            os.path.isabs(i.value.path) for i in found.values()
        ):
            raise BadInput(
                f"no line of {file} names a file. If it is itself an instance, write a list:"
                f' ["{file.name}"]'
            )
        return list(found.values())

    def _columns(self, line: str, folder: Path) -> tuple[str, list[str]]:
        """Split a line into a name and the rest; a name with blanks is quoted or fills the line."""
        if not self.seeded and self._existing(line, folder) is not None:
            return line, []
        seed, rest = self._seed(line, folder)
        self.seeds += bool(seed)
        if self._existing(rest, folder) is not None:
            return rest, []
        words = shlex.split(rest, posix=True) if rest[0] in "\"'" else rest.split()
        if self.alone and words[1:]:
            raise ValueError(
                f"{' '.join(words[1:])[:80]!r} after the name is not passed to the target runner;"
                " let it"
                " derive this from the name"
            )
        return words[0], words[1:]

    def _seed(self, line: str, folder: Path) -> tuple[str, str]:
        """Split off a seed: required if `seeded`, else only before the name of a file."""
        first, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        rest = rest.strip()
        if self.seeded and not (_SEED.fullmatch(first) and rest):
            raise ValueError(f"expected a seed and an instance, found {line[:80]!r}")
        names = [rest, *rest.split()[:1]]
        before_file = any(self._existing(n, folder) is not None for n in names if n)
        if self.seeded or (_SEED.fullmatch(first) and before_file):
            return first, rest
        return "", line


def _without_family(words: list[str]) -> tuple[list[str], str]:
    """Split off the word `family=NAME` of a line; the rest is for the wrapper."""
    named = [word for word in words if word.startswith("family=")]
    family = named[0].removeprefix("family=") if named else ""
    return [word for word in words if word not in named], family


def _is_visible(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return path.is_file() and not hidden


def check_distinct(instances: Sequence[Instance]) -> None:
    """Reject an instance that is listed twice."""
    counts = Counter(instance.name for instance in instances)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise BadInput(f"instance {twice[0]!r} is listed twice")
