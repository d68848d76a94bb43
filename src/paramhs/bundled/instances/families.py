"""Families of generated instances: file names, contents, and writing many of them.

An instance is a function of its family, the options, the seed and its number alone: the same in
every version of Python, on every machine, and independent of the other instances.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from paramhs.bundled.instances.dimacs import Formula, dimacs
from paramhs.bundled.instances.integer_programs import Program, lp
from paramhs.bundled.instances.limits import at_least
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream


class Written(NamedTuple):
    """A written file with the size of its instance."""

    path: Path
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class Family:
    """Family of instances: a name, options as given by the user, and the generator.

    File names start with `title`, or with the name unless a title is more informative, such as
    `random-3sat`.
    """

    name: str
    options: Mapping[str, object]
    make: Callable[[Random], Formula | Program]
    title: str = ""

    def instance(self, seed: int, number: int) -> tuple[str, Mapping[str, int], str]:
        """File name, sizes and text of one instance."""
        made = self.make(stream(seed, self.name, number))
        sizes = _sizes(made)
        size = "-".join(f"{what[0]}{count}" for what, count in sizes.items())
        file = f"{self.title or self.name}-{size}-{number:04}{_suffix(made)}"
        return file, sizes, _text(made, self._origin(seed, number))

    def _origin(self, seed: int, number: int) -> str:
        words = [_option(name, value) for name, value in self.options.items()]
        command = " ".join(["paramhs instances", self.name, *filter(None, words)])
        return f"{command} --seed {seed}, number {number}"


def _option(name: str, value: object) -> str:
    """Option as typed on the command line; empty if it was not given."""
    if value is None or value is False:
        return ""
    return f"--{name}" if value is True else f"--{name} {value}"


def write_instances(family: Family, count: int, seed: int, folder: Path) -> list[Written]:
    """Write instances 0 .. count - 1, all or none, without overwriting any file."""
    at_least("count", count, 1)
    written: list[Written] = []
    with _all_or_none(written, folder):
        for number in range(count):
            file, sizes, text = family.instance(seed, number)
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / file).open("x", encoding="ascii", newline="\n") as output:
                written.append(Written(folder / file, sizes))
                output.write(text)
    return written


@contextmanager
def _all_or_none(written: list[Written], folder: Path) -> Iterator[None]:
    """Remove all written files if anything fails, including an interrupt."""
    try:
        yield
    except BaseException as error:
        for path, _ in written:
            path.unlink(missing_ok=True)
        if isinstance(error, FileExistsError):
            problem = f"{error.filename} exists already"
            raise BadInput(f"{problem}; nothing was written, give another folder") from None
        if isinstance(error, OSError):
            raise BadInput(f"cannot write into {folder}: {error.strerror}") from None
        raise


def _sizes(made: Formula | Program) -> dict[str, int]:
    if isinstance(made, Formula):
        return {"variables": made.variables, "clauses": len(made.clauses)}
    return {"rows": len(made.rows), "columns": len(made.costs)}


def _suffix(made: Formula | Program) -> str:
    return ".cnf" if isinstance(made, Formula) else ".lp"


def _text(made: Formula | Program, comment: str) -> str:
    return dimacs(made, comment) if isinstance(made, Formula) else lp(made, comment)
