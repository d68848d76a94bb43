"""Measurement of the landscape of SAPS: every setting on every instance.

The file of an instance is written when all its runs are made, so an interrupted measurement resumes
with the instance it was at. A run is a function of formula, setting, seed and number.
"""

import csv
import lzma
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from paramhs.bundled.instances.dimacs import read_formula
from paramhs.bundled.saps import Settings, Smoothing, encoded, solve
from paramhs.bundled.saps.arrays import Clauses
from paramhs.core.errors import BadInput
from paramhs_paper.saps.table import HEADER

FIFTEENTHS = 15
ALPHAS = tuple(range(16, 46))
"""Values of alpha in fifteenths: 16/15 to 3."""
RHOS = tuple(range(16))
"""Values of rho in fifteenths: 0 to 1."""
PS, WP = 0.05, 0.01
STEPS = 10_000


@dataclass(frozen=True)
class Measurement:
    """Runs of every setting on these instances."""

    instances: Mapping[str, Path]
    smoothing: Smoothing
    runs: int
    folder: Path
    seed: int = 0
    steps: int = STEPS

    @property
    def table(self) -> Path:
        """File with all cells, in order."""
        return self.folder / f"{self.smoothing}.csv.xz"

    def measure(self, jobs: int, advance: Callable[[], object]) -> None:
        """Measure instances without a file, then join the files; `advance` after each instance."""
        files = []
        for name in sorted(self.instances):
            files.append(self.folder / f"{self.smoothing}_{self.runs}_{self.seed}_{name}.csv")
            if not files[-1].exists():
                _write_whole(files[-1], self._rows(name, jobs))
            advance()
        with lzma.open(self.table, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as out:
            out.write(",".join(HEADER) + "\n")
            out.writelines(file.read_text("utf-8") for file in files)

    def _rows(self, name: str, jobs: int) -> Iterator[list[str]]:
        clauses = _clauses(self.instances[name])
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for row in pool.map(lambda s: self._row(clauses, *s), product(ALPHAS, RHOS)):
                    yield [name, *row]
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _row(self, clauses: Clauses, alpha: int, rho: int) -> list[str]:
        settings = Settings(alpha / FIFTEENTHS, rho / FIFTEENTHS, PS, WP)
        outcomes = solve(clauses, settings, self.steps, self.seed, self.runs, self.smoothing)
        row = [str(alpha), str(rho), str(self.runs)]
        for numbers in (outcomes.best_false, outcomes.final_false):
            error = numbers.std(ddof=1) / math.sqrt(self.runs)
            row += [f"{numbers.mean():.6f}", f"{error:.4f}"]
        return [*row, f"{outcomes.null_flips.mean():.1f}", _counted(outcomes.best_false)]


def _clauses(path: Path) -> Clauses:
    formula = read_formula(path)
    if formula.weights is not None:
        raise BadInput(f"{path}: its clauses have weights, but the landscape counts false clauses")
    return encoded(formula)


def _counted(numbers: np.ndarray) -> str:
    """Histogram: the least number, then the count of it and of each following one: `318: 1 0 3`."""
    low = int(numbers.min())
    return f"{low}: " + " ".join(map(str, np.bincount(numbers - low)))


def _write_whole(file: Path, rows: Iterator[list[str]]) -> None:
    """Write all rows, or no file."""
    begun = file.with_suffix(".part")
    with begun.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)
    os.replace(begun, file)


def instances_in(folder: Path) -> dict[str, Path]:
    """Formulas in a folder, by file name without suffix."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    found: dict[str, Path] = {}
    for path in files:
        match = re.fullmatch(r"(.+)\.cnf(\.gz|\.xz|\.bz2)?", path.name)
        if match and match[1] in found:
            raise BadInput(f"{folder} has both {found[match[1]].name} and {path.name}")
        if match:
            found[match[1]] = path
    if not found:
        raise BadInput(f"{folder}: there are no .cnf files (nor .cnf.gz, .cnf.xz, .cnf.bz2)")
    return found
