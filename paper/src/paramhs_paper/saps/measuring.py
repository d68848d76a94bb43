"""The landscape of SAPS, measured: every setting on every instance.

Each cell is a line of a text file as soon as its runs are made, so a measurement can be stopped at
any time and goes on where it was. A run is a function of formula, setting, seed and number; each
line says what it was made of, so that one of another measurement is not taken for it.
"""

import csv
import hashlib
import lzma
import math
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paramhs.values.errors import BadInput
from paramhs.world.instances.dimacs import read_formula
from paramhs.world.store.lock import WriterLock
from paramhs.world.targets.saps import Settings, Smoothing, encoded, solve
from paramhs.world.targets.saps.arrays import Clauses
from paramhs_paper.saps.table import HEADER

FIFTEENTHS = 15
ALPHAS = tuple(range(16, 46))
"""In fifteenths: 16/15 to 3."""
RHOS = tuple(range(16))
"""In fifteenths: 0 to 1."""
PS, WP = 0.05, 0.01
STEPS = 10_000


class Cell(NamedTuple):
    """A setting, in fifteenths, on an instance."""

    instance: str
    alpha: int
    rho: int


@dataclass(frozen=True)
class Measurement:
    """So many runs of every setting on these instances."""

    instances: Mapping[str, Path]
    smoothing: Smoothing
    runs: int
    folder: Path
    seed: int = 0
    steps: int = STEPS

    @property
    def file(self) -> Path:
        """The cells as they are made."""
        return self.folder / f"saps_{self.smoothing}_cells.csv"

    @property
    def table(self) -> Path:
        """All of them, in order."""
        return self.folder / f"{self.smoothing}.csv.xz"

    @property
    def cells(self) -> list[Cell]:
        """What is measured."""
        return [Cell(i, a, r) for i in sorted(self.instances) for a in ALPHAS for r in RHOS]

    def measure(self, jobs: int, advance: Callable[[int], object]) -> None:
        """Make what the file does not have, and the table. One process at a time may do so.

        `advance` is told at once how many cells there were already, then of each that is made.
        """
        formulas = {name: _formula(path) for name, path in self.instances.items()}
        made_of = {name: self._made_of(formula) for name, formula in formulas.items()}
        lock = WriterLock(self.file)
        try:
            done = _read(self.file, made_of)
            missing = [cell for cell in self.cells if cell not in done]
            advance(len(done))

            def make(cell: Cell) -> list[str]:
                return [made_of[cell.instance], *self._row(formulas[cell.instance], cell)]

            _add(self.file, missing, make, jobs, advance)
            _write_table(self.table, _read(self.file, made_of))
        finally:
            lock.release()

    def _made_of(self, clauses: Clauses) -> str:
        """What besides the setting determines the runs of a cell, in short: the formula, whatever
        its file is called, and how it is searched."""
        how = (self.smoothing, self.seed, self.steps, self.runs, PS, WP)
        digest = hashlib.sha256(repr(how).encode())
        for numbers in (clauses.starts, clauses.members, clauses.literal_starts, clauses.clauses):
            digest.update(numbers.tobytes())
        return digest.hexdigest()[:12]

    def _row(self, clauses: Clauses, cell: Cell) -> list[str]:
        settings = Settings(cell.alpha / FIFTEENTHS, cell.rho / FIFTEENTHS, PS, WP)
        outcomes = solve(clauses, settings, self.steps, self.seed, self.runs, self.smoothing)
        row = [*map(str, cell), str(self.runs)]
        for numbers in (outcomes.best_false, outcomes.final_false):
            error = numbers.std(ddof=1) / math.sqrt(self.runs)
            row += [f"{numbers.mean():.6f}", f"{error:.4f}"]
        return [*row, f"{outcomes.null_flips.mean():.1f}", _counted(outcomes.best_false)]


def _formula(path: Path) -> Clauses:
    formula = read_formula(path)
    if formula.weights is not None:
        raise BadInput(f"{path}: its clauses have weights, but the landscape counts false clauses")
    return encoded(formula)


def _counted(numbers: np.ndarray) -> str:
    """The least number, then how often it and each following one came: `318: 1 0 3`."""
    low = int(numbers.min())
    return f"{low}: " + " ".join(map(str, np.bincount(numbers - low)))


def _read(file: Path, made_of: Mapping[str, str]) -> dict[Cell, list[str]]:
    """The rows of this measurement, by cell; a last line that was cut off is made again."""
    data = file.read_bytes() if file.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        file.write_bytes(whole)
    rows = csv.reader(whole.decode("utf-8", "replace").splitlines())
    return {
        Cell(row[1], int(row[2]), int(row[3])): row[1:]
        for row in rows
        if len(row) == 1 + len(HEADER) and made_of.get(row[1]) == row[0]
    }


def _add(
    file: Path,
    cells: list[Cell],
    make: Callable[[Cell], list[str]],
    jobs: int,
    advance: Callable[[int], object],
) -> None:
    with file.open("a", newline="", encoding="utf-8") as out, ThreadPoolExecutor(jobs) as pool:
        writer = csv.writer(out, lineterminator="\n")
        try:
            for row in pool.map(make, cells):
                writer.writerow(row)
                out.flush()
                advance(1)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _write_table(file: Path, rows: Mapping[Cell, list[str]]) -> None:
    with lzma.open(file, "wt", encoding="utf-8", newline="", preset=9 | lzma.PRESET_EXTREME) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows[cell] for cell in sorted(rows))


def instances_in(folder: Path) -> dict[str, Path]:
    """The formulas in a folder, by the names of their files without suffix."""
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
