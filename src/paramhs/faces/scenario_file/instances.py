"""The instances that a scenario means: lists, folders, patterns and files; and what is held out."""

import os
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import islice
from pathlib import Path

from paramhs.faces.choices import named_instances
from paramhs.faces.scenario_file.source import read_text
from paramhs.values.errors import BadInput
from paramhs.values.runs import Instance
from paramhs.values.seeds import shuffled, stream
from paramhs.world.targets.command import Problem

USUAL_SHARE = 0.3  # of the instances that are held out, if nobody says anything
PROVING = 6  # pairs from which on a sign-flip test can fall below p = 0.05: 2 / 2^6
ENOUGH = 10  # instances from which on some are held out without being asked for

_LISTS = ("", ".txt", ".lst", ".list")  # names of lists, which need not be of files

Listing = Sequence[str | int | float] | str
Expected = str | Mapping[str, str]
_MOST = 100_000  # files of a folder: nobody means "/"
_SEED = re.compile(r"-?\d{1,20}")
_ANSWERS = {"SAT": "SAT", "SATISFIABLE": "SAT", "UNSAT": "UNSAT", "UNSATISFIABLE": "UNSAT"}


def instances_of(
    listing: Listing, folders: Sequence[Path], expected: Expected, plain: bool
) -> tuple[Instance, ...]:
    """The instances of a listing; paths are looked for in these folders, the first being home.

    `plain`: a list is given to the target as it is, which is what a Python function wants.
    """
    return Lister(folders, expected, plain).instances(listing)


@dataclass
class Lister:
    """Finds instances.

    `inside` is where the names of a list are looked for first, as in irace's trainInstancesDir;
    `seeded` says that every line of a list begins with a seed, as in ParamILS's instance_seed_file;
    `alone` that nothing may follow a name, which irace would pass on as words of its own.
    """

    folders: Sequence[Path]
    expected: Expected
    plain: bool
    inside: Path | None = None
    seeded: bool = False
    alone: bool = False
    seeds: int = 0
    """How many lines began with a seed, which is not used."""

    def instances(self, listing: Listing) -> tuple[Instance, ...]:
        """The instances of a list, a folder, a pattern or a file with one a line."""
        if not isinstance(listing, str):
            if self.plain:
                return named_instances(listing)
            return tuple(self._found(str(entry)) for entry in listing)
        path = self._existing(listing)
        if path is None or os.path.isdir(path):
            return self._given([self._found(name) for name in self._names(listing, path)])
        return self._given(self._listed(path))

    def _names(self, listing: str, folder: Path | None) -> list[str]:
        """The files of a folder, or those that a pattern means."""
        home = self.folders[0]
        if folder is not None:
            if home.resolve().is_relative_to(folder.resolve()):
                raise BadInput(
                    f"{listing!r} is a folder that the scenario itself is in, and the runs that it"
                    " stores; expected a folder of instances alone, or a pattern such as '*.cnf'"
                )
            paths: Iterable[Path] = (p for p in folder.rglob("*") if _is_visible(p, folder))
        elif has_magic(listing) and "\0" not in listing:
            found = glob(listing, root_dir=home, recursive=True)
            paths = (path for path in (home / name for name in found) if path.is_file())
        else:
            raise BadInput(f"there is no folder or file {listing} in {home}")
        names = [os.path.relpath(path, home) for path in islice(paths, _MOST + 1)]
        if not names:
            raise BadInput(f"{listing}: no instances are there (in {home})")
        if len(names) > _MOST:
            raise BadInput(f"{listing}: more than {_MOST:,} files are there (in {home})")
        return sorted(names)

    def _given(self, found: Iterable[Instance]) -> tuple[Instance, ...]:
        """A function is given paths, as text."""
        if not self.plain:
            return tuple(found)
        return tuple(Instance(instance.name, instance.value.path) for instance in found)

    def _existing(self, name: str, *more: Path) -> Path | None:
        folders = (*self.folders, *more)
        if self.inside is not None and more:  # the name of an instance in a list
            folders = (self.inside, *folders)
        return next((f / name for f in folders if os.path.exists(f / name)), None)

    def _found(self, name: str, info: str = "0", answer: str = "", *more: Path) -> Instance:
        """An instance whose path is made absolute if it exists; else it is whatever it is."""
        path = self._existing(name, *more)
        home = self.folders[0] / name
        if path is not None and path != home:
            name = os.path.relpath(path, self.folders[0])  # one name for one file
        if isinstance(self.expected, str):
            answer = self.expected
        else:
            known = self.expected.get(os.path.basename(name), answer)
            answer = self.expected.get(name, known)
        return Instance(
            name, Problem(name if path is None else os.path.abspath(path), info, answer)
        )

    def _listed(self, file: Path) -> list[Instance]:
        """One instance a line; what follows it is for the wrapper, or says SAT or UNSAT."""
        found: dict[str, Instance] = {}
        for number, line in enumerate(read_text(file, "the list of instances").splitlines(), 1):
            if self.alone:
                line = line.partition("#")[0]  # irace's names have none
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                name, rest = self._columns(line.strip(), file.parent)
            except ValueError as error:
                raise BadInput(f"{file}, line {number}: {error}") from None
            answers = [_ANSWERS[word.upper()] for word in rest if word.upper() in _ANSWERS]
            info = " ".join(rest) or "0"
            found.setdefault(name, self._found(name, info, "".join(answers[:1]), file.parent))
        if not found:
            raise BadInput(f"{file} lists no instances")
        if file.suffix not in _LISTS and not any(
            os.path.isabs(i.value.path) for i in found.values()
        ):
            raise BadInput(
                f"no line of {file} names a file: if it is an instance itself, put it into a list,"
                f' ["{file.name}"]'
            )
        return list(found.values())

    def _columns(self, line: str, folder: Path) -> tuple[str, list[str]]:
        """The name and what follows; a name with blanks is quoted, or is all of the line."""
        if not self.seeded and self._existing(line, folder) is not None:
            return line, []
        seed, rest = self._seed(line, folder)
        self.seeds += bool(seed)
        if self._existing(rest, folder) is not None:
            return rest, []
        words = shlex.split(rest, posix=True) if rest[0] in "\"'" else rest.split()
        if self.alone and words[1:]:
            raise ValueError(
                f"{' '.join(words[1:])[:80]!r} after the name is not passed on here; let the target"
                " runner find it by the name"
            )
        return words[0], words[1:]

    def _seed(self, line: str, folder: Path) -> tuple[str, str]:
        """The seed before a name, and the rest: where one must be, or else before a file's name."""
        first, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        rest = rest.strip()
        if self.seeded and not (_SEED.fullmatch(first) and rest):
            raise ValueError(f"expected a seed and an instance, found {line[:80]!r}")
        names = [rest, *rest.split()[:1]]
        before_file = any(self._existing(n, folder) is not None for n in names if n)
        if self.seeded or (_SEED.fullmatch(first) and before_file):
            return first, rest
        return "", line


def _is_visible(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return path.is_file() and not hidden


def check_distinct(instances: Sequence[Instance]) -> None:
    """Refuse an instance that is listed twice."""
    counts = Counter(instance.name for instance in instances)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise BadInput(f"instance {twice[0]!r} is listed twice")


def split(
    instances: Sequence[Instance], share: float, seed: int
) -> tuple[tuple[Instance, ...], tuple[Instance, ...]]:
    """Those to search on and those held out: a share of every family, if names tell families."""
    if not 0 <= share < 1:
        raise BadInput(f"the share of instances held out must be at least 0 and below 1: {share}")
    out: set[Instance] = set()
    grouped = families(instances)
    for (family, members), count in zip(grouped.items(), _apportioned(grouped, share), strict=True):
        out.update(shuffled(members, stream(seed, "split", family))[:count])
    return tuple(i for i in instances if i not in out), tuple(i for i in instances if i in out)


def _apportioned(grouped: Mapping[str, Sequence[Instance]], share: float) -> list[int]:
    """How many of each family are held out: whole numbers near their share, by the largest
    remainders, that sum up to the share of all; at least one of all, and never a whole family."""
    sizes = [len(members) for members in grouped.values()]
    wanted = min(max(round(share * sum(sizes)), 1), sum(sizes) - len(sizes)) if share else 0
    counts = [min(int(share * size), size - 1) for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda i: counts[i] - share * sizes[i])
    while sum(counts) < wanted:
        for i in by_remainder:
            if sum(counts) < wanted and counts[i] < sizes[i] - 1:
                counts[i] += 1
    return counts


def families(instances: Sequence[Instance]) -> Mapping[str, list[Instance]]:
    """Instances by family: their folder, or their name without numbers.

    All are one family where that would leave some families with a single member.
    """
    for family in (_folder, _stem):
        grouped: dict[str, list[Instance]] = defaultdict(list)
        for instance in instances:
            grouped[family(instance.name)].append(instance)
        if len(grouped) > 1 and min(map(len, grouped.values())) > 1:
            return grouped
    return {"": list(instances)}


def _folder(name: str) -> str:
    return os.path.dirname(name)


def _stem(name: str) -> str:
    return re.sub(r"\d+", "", os.path.basename(name).split(".")[0])


def usual_share(count: int) -> float:
    """What is held out if nobody says anything: enough to prove something, where that leaves as
    many to search on."""
    if count < ENOUGH:
        return 0.0
    return max(USUAL_SHARE, PROVING / count) if count >= 2 * PROVING else USUAL_SHARE
