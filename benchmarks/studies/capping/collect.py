"""Real runs of two solvers on generated formulas, each made once.

python -m benchmarks.studies.capping.collect minisat

Every configuration of a small grid on every formula, one run at a time, into a table that the
studies replay: the same run is never made twice. What counts is the work that the solver says it
did, which is the same on every machine; the seconds it took here stand beside it.
"""

import argparse
import csv
import lzma
import re
import resource
import signal
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from paramhs.bundled.instances.dimacs import dimacs
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.core.random_streams import stream

DATA = Path(__file__).parent / "data"
COLUMNS = ("config", "instance", "solved", "conflicts", "propagations", "seconds")


@dataclass(frozen=True)
class Family:
    """A solver, a grid of its options and a family of formulas."""

    name: str
    command: str
    values: Mapping[str, tuple[object, ...]]
    """The first of each is the solver's own default."""
    option: str
    variables: tuple[int, ...]
    """Number of variables of the formulas, in turn: most are easy, some are not."""
    ratio: float
    work: str
    """Which count is the clock."""
    second: float
    """How much work a second stands for."""
    cutoff: float
    """Cutoff of a run in seconds."""
    instances: int = 32
    planted: bool = False

    @property
    def configs(self) -> list[dict[str, object]]:
        """All configurations of the grid."""
        return [dict(zip(self.values, row, strict=True)) for row in product(*self.values.values())]

    def formula(self, number: int) -> str:
        """A formula as a file has it."""
        rng = stream(0, "capping", self.name, number)
        variables = self.variables[number % len(self.variables)]
        return dimacs(random_ksat(3, variables, self.ratio, self.planted, rng))

    def words(self, config: Mapping[str, object]) -> list[str]:
        """The command, without the formula."""
        return [*self.command.split(), *(self.option.format(*item) for item in config.items())]


MINISAT = Family(
    "minisat",
    "minisat -verb=1",
    {
        "var-decay": (0.95, 0.75, 0.85, 0.99),
        "rnd-freq": (0.0, 0.1, 0.3, 0.6),
        "ccmin-mode": (2, 0),
        "rfirst": (100, 10, 1000),
    },
    "-{}={}",
    variables=(90, 90, 90, 150),
    ratio=4.8,
    work="propagations",
    second=40_000,
    cutoff=10.0,
)
CADICAL = Family(
    "cadical",
    "cadical -c 30000",
    {
        "restartint": (2, 20, 200),
        "reduceint": (300, 30, 3000),
        "stabilize": (1, 0),
        "minimize": (1, 0),
        "bumpreason": (1, 0),
    },
    "--{}={}",
    variables=(90, 90, 90, 150),
    ratio=4.8,
    work="conflicts",
    second=4_000,
    cutoff=5.0,
)
PLANTED = replace(
    MINISAT,
    name="planted",
    planted=True,
    variables=(180, 180, 180, 280),
    ratio=4.26,
    second=100_000,
    cutoff=16.0,
    instances=16,
)
"""Satisfiable, so that luck decides much: the tails are heavy."""
FAMILIES = {family.name: family for family in (MINISAT, CADICAL, PLANTED)}
_LIMIT = 0.3  # seconds of processor time: more work than any cutoff stands for


def measure(words: list[str]) -> tuple[int, int, int, float]:
    """Whether it was solved, conflicts, propagations, seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.setitimer(signal.ITIMER_PROF, _LIMIT),
    )
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    counts = [
        int(found[-1]) if (found := re.findall(rf"{what}\s*: +(\d+)", done.stdout)) else -1
        for what in ("conflicts", "propagations")
    ]
    return int(done.returncode in (10, 20)), counts[0], counts[1], round(seconds, 4)


def runs(family: Family, made: Collection[tuple[str, str]]) -> Iterator[tuple[object, ...]]:
    """All runs that were not made."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{k}.cnf") for k in range(family.instances)]
        for number, path in enumerate(paths):
            path.write_text(family.formula(number))
        for instance, config in product(range(family.instances), family.configs):
            if (text(config), str(instance)) not in made:
                words = [*family.words(config), str(paths[instance])]
                yield (text(config), instance, *measure(words))


def text(config: Mapping[str, object]) -> str:
    """The values in the order of the grid."""
    return " ".join(map(str, config.values()))


def read(family: Family) -> list[dict[str, str]]:
    """The table as far as it was made."""
    path = DATA / f"{family.name}.csv.xz"
    if not path.exists():
        return []
    with lzma.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    family = FAMILIES[parser.parse_args().family]
    rows = read(family)
    made = {(row["config"], row["instance"]) for row in rows}
    with lzma.open(DATA / f"{family.name}.csv.xz", "wt", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        table.writerows(row.values() for row in rows)
        table.writerows(runs(family, made))


if __name__ == "__main__":
    main()
