"""Real runs of two solvers on generated formulas, once: `python -m benchmarks.capping.collect`.

Every configuration of a small grid on every formula, one run at a time, into a table that the
studies replay: the same run is never made twice. What counts is the work that the solver says it
did, which is the same on every machine; the seconds it took here stand beside it.
"""

import argparse
import csv
import lzma
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from paramhs.values.seeds import stream
from paramhs.world.instances.dimacs import dimacs
from paramhs.world.instances.random_ksat import random_ksat

DATA = Path(__file__).parent.parent / "data"
COLUMNS = ("config", "instance", "solved", "conflicts", "propagations", "seconds")


@dataclass(frozen=True)
class Family:
    """A solver, a grid of its options and a family of formulas."""

    name: str
    command: str
    values: Mapping[str, tuple[object, ...]]
    """The first of each is the solver's own default."""
    option: str
    variables: int
    ratio: float
    planted: bool
    work: str
    """Which count is the clock."""
    second: float
    """How much work a second stands for."""
    cutoff: float
    """Seconds."""
    instances: int = 50

    @property
    def configs(self) -> list[dict[str, object]]:
        """The grid."""
        return [dict(zip(self.values, row, strict=True)) for row in product(*self.values.values())]

    def formula(self, number: int) -> str:
        """A formula as a file has it."""
        rng = stream(0, "capping", self.name, number)
        return dimacs(random_ksat(3, self.variables, self.ratio, self.planted, rng))

    def words(self, config: Mapping[str, object]) -> list[str]:
        """The command, without the formula."""
        return [*self.command.split(), *(self.option.format(*item) for item in config.items())]


MINISAT = Family(
    "minisat",
    "minisat -verb=1",
    {
        "var-decay": (0.95, 0.6, 0.75, 0.85, 0.99),
        "rnd-freq": (0.0, 0.02, 0.1),
        "phase-saving": (2, 1, 0),
        "rfirst": (100, 10, 1000, 10000),
    },
    "-{}={}",
    variables=220,
    ratio=4.26,
    planted=True,
    work="propagations",
    second=400_000,
    cutoff=12.5,
)
CADICAL = Family(
    "cadical",
    "cadical -c 70000",
    {
        "restartint": (2, 20, 200),
        "stabilize": (1, 0),
        "target": (1, 0, 2),
        "phase": (1, 0),
        "scorefactor": (950, 600, 800),
    },
    "--{}={}",
    variables=300,
    ratio=4.2,
    planted=True,
    work="conflicts",
    second=2_000,
    cutoff=12.5,
)
FAMILIES = {family.name: family for family in (MINISAT, CADICAL)}
_LIMIT = 3.0  # seconds of processor time: more than any cutoff above stands for


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


def runs(family: Family, only: int | None) -> Iterator[tuple[object, ...]]:
    """All runs, in a random order, so that a part of them is a fair sample."""
    grid = list(product(range(len(family.configs)), range(family.instances)))
    random.Random(0).shuffle(grid)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{k}.cnf") for k in range(family.instances)]
        for number, path in enumerate(paths):
            path.write_text(family.formula(number))
        for config, instance in grid[:only]:
            words = [*family.words(family.configs[config]), str(paths[instance])]
            yield (config, instance, *measure(words))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--only", type=int, help="so many runs, to standard output")
    args = parser.parse_args()
    family = FAMILIES[args.family]
    if args.only:
        csv.writer(sys.stdout).writerows(runs(family, args.only))
        return
    with lzma.open(DATA / f"capping_{family.name}.csv.xz", "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for row in runs(family, None):
            rows.writerow(row)


if __name__ == "__main__":
    main()
