"""The instances that a scenario means: lists, folders, patterns and files; and what is held out."""

import os
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from glob import glob, has_magic
from pathlib import Path

from paramhs.faces.choices import named_instances
from paramhs.values.errors import BadInput
from paramhs.values.runs import Instance
from paramhs.values.seeds import shuffled, stream
from paramhs.world.targets.command import Problem

USUAL_SHARE = 0.3  # of the instances that are held out, if nobody says anything
ENOUGH = 10  # instances from which on some are held out without being asked for

_LISTS = ("", ".txt", ".lst", ".list")  # names of lists, which need not be of files

Listing = Sequence[str | int | float] | str
Expected = str | Mapping[str, str]
_ANSWERS = {"SAT": "SAT", "SATISFIABLE": "SAT", "UNSAT": "UNSAT", "UNSATISFIABLE": "UNSAT"}


def instances_of(
    listing: Listing, folders: Sequence[Path], expected: Expected, plain: bool
) -> tuple[Instance, ...]:
    """The instances of a listing; paths are looked for in these folders, the first being home.

    `plain`: a list is given to the target as it is, which is what a Python function wants.
    """
    if not isinstance(listing, str):
        if plain:
            return named_instances(listing)
        return tuple(_found(str(entry), "0", "", folders, expected) for entry in listing)
    place = _existing(listing, folders)
    if place is not None and place.is_dir():
        paths: Iterable[Path] = (p for p in place.rglob("*") if _is_visible(p, place))
    elif place is not None:
        return _plain_if(plain, _listed(place, folders, expected))
    elif has_magic(listing):
        found = glob(listing, root_dir=folders[0], recursive=True)
        paths = (path for path in (folders[0] / name for name in found) if path.is_file())
    else:
        raise BadInput(f"there is no folder or file {listing} in {folders[0]}")
    names = sorted(os.path.relpath(path, folders[0]) for path in paths)
    if not names:
        raise BadInput(f"{listing}: no instances are there (in {folders[0]})")
    return _plain_if(plain, [_found(name, "0", "", folders, expected) for name in names])


def _plain_if(plain: bool, found: Iterable[Instance]) -> tuple[Instance, ...]:
    """A function is given paths, as text."""
    if not plain:
        return tuple(found)
    return tuple(Instance(instance.name, instance.value.path) for instance in found)


def _is_visible(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return path.is_file() and not hidden


def _existing(name: str, folders: Sequence[Path]) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).exists()), None)


def _found(
    name: str, info: str, answer: str, folders: Sequence[Path], expected: Expected
) -> Instance:
    """An instance whose path is made absolute if it exists; else it is whatever it is."""
    place = _existing(name, folders)
    path = name if place is None else os.path.abspath(place)
    if place is not None and not (folders[0] / name).exists():
        name = os.path.relpath(place, folders[0])  # one name for one file
    if isinstance(expected, str):
        answer = expected
    else:
        answer = expected.get(name, expected.get(os.path.basename(name), answer))
    return Instance(name, Problem(path, info, answer))


def _listed(file: Path, folders: Sequence[Path], expected: Expected) -> list[Instance]:
    """One instance a line; what follows it on the line is for the wrapper, or says SAT or UNSAT."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the list of instances {file}: {error}") from None
    found: dict[str, Instance] = {}
    places = [*folders, file.parent]
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            name, rest = _columns(line, places)
        except ValueError as error:
            raise BadInput(f"{file}, line {number}: {error}") from None
        answers = [_ANSWERS[word.upper()] for word in rest if word.upper() in _ANSWERS]
        info = " ".join(rest) or "0"
        found.setdefault(name, _found(name, info, "".join(answers[:1]), places, expected))
    if not found:
        raise BadInput(f"{file} lists no instances")
    if file.suffix not in _LISTS and not any(os.path.isabs(i.value.path) for i in found.values()):
        raise BadInput(
            f"no line of {file} names a file: if it is an instance itself, put it into a list,"
            f' ["{file.name}"]'
        )
    return list(found.values())


def _columns(line: str, folders: Sequence[Path]) -> tuple[str, list[str]]:
    """The name and what follows; a name with blanks is quoted, or is all of the line."""
    whole = line.strip()
    if _existing(whole, folders) is not None:
        return whole, []
    words = shlex.split(whole, posix=True) if whole[0] in "\"'" else whole.split()
    if len(words) > 1 and words[0].isdigit() and _existing(words[1], folders) is not None:
        words = words[1:]  # ParamILS's lists may have a seed before each name
    return words[0], words[1:]


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
    """What is held out if nobody says anything."""
    return USUAL_SHARE if count >= ENOUGH else 0.0
