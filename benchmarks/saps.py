"""Steps a second of SAPS, beside UBCSAT's if that is on the PATH, else beside `saps_plain`.

python -m benchmarks.saps          formula by formula

The formulas are AClib's circuit-fuzz if PARAMHS_CIRCUIT_FUZZ names a folder that has them, else
ten of our own that look like them. Processor time of one core is measured, in turns, so that what
else the machine does falls on both. UBCSAT's time includes reading the file, a few per cent.
"""

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from benchmarks.saps_plain import plain_saps
from rich.console import Console
from rich.table import Table

from paramhs.values.seeds import stream
from paramhs.world.instances.circuit_fuzz import circuit_fuzz
from paramhs.world.instances.dimacs import Formula, dimacs, read_formula
from paramhs.world.targets.saps import Settings, encoded, solve

SETTINGS = Settings(alpha=16 / 15, rho=0.8)
STEPS = 10_000
RUNS = 20  # in each round
ROUNDS = 5
VARIABLES = (1799, 2151, 2312, 2360, 4448, 4645, 4976, 5318, 8313, 9611)  # as AClib's have


class Speed(NamedTuple):
    """Steps a second on one formula."""

    name: str
    ours: float
    theirs: float


def speeds() -> list[Speed]:
    """Both, on each formula."""
    with tempfile.TemporaryDirectory() as folder:
        return [_speed(name, formula, Path(folder)) for name, formula in _formulas()]


def pairs() -> list[tuple[float, float]]:
    """The same without names."""
    return [(speed.ours, speed.theirs) for speed in speeds()]


def other() -> str:
    """What we are measured beside."""
    return "UBCSAT" if shutil.which("ubcsat") else "a plain port"


def _formulas() -> Iterator[tuple[str, Formula]]:
    folder = os.environ.get("PARAMHS_CIRCUIT_FUZZ")
    if folder:
        for path in sorted(Path(folder).glob("*.cnf"), key=lambda p: p.stat().st_size):
            yield path.stem, read_formula(path)
        return
    for variables in VARIABLES:
        rng = stream(0, "benchmark", variables)
        yield f"{variables:,} variables", circuit_fuzz(100, variables, None, rng)


def _speed(name: str, formula: Formula, folder: Path) -> Speed:
    theirs = _ubcsat(formula, folder) if shutil.which("ubcsat") else _plain(formula)
    ours = _ours(formula)
    ours(), theirs()  # compiling is not measured
    times = [(_seconds(ours), _seconds(theirs)) for _ in range(ROUNDS)]
    steps = RUNS * STEPS
    return Speed(name, steps / min(o for o, _ in times), steps / min(t for _, t in times))


def _seconds(action: Callable[[], object]) -> float:
    start = _used()
    action()
    return _used() - start


def _used() -> float:
    """Seconds of processor time so far, of this process and of those it has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _ours(formula: Formula) -> Callable[[], object]:
    clauses = encoded(formula)
    return lambda: solve(clauses, SETTINGS, STEPS, 1, RUNS)


def _plain(formula: Formula) -> Callable[[], object]:
    clauses = encoded(formula)
    kept = [c for c in formula.clauses if not any(-x in c for x in c)]
    literals = np.array([2 * abs(x) - 2 + (x < 0) for c in kept for x in c])
    arrays = (clauses.starts, literals, clauses.literal_starts, clauses.clauses)
    arguments = [array.astype(np.int64) for array in arrays]
    numbers = [float(np.float32(SETTINGS.alpha)), SETTINGS.rho, SETTINGS.ps, SETTINGS.wp]
    return lambda: plain_saps(*arguments, *numbers, STEPS, RUNS, 1)


def _ubcsat(formula: Formula, folder: Path) -> Callable[[], object]:
    path = folder / "formula.cnf"
    path.write_text(dimacs(formula), encoding="utf-8")
    words = ["ubcsat", "-alg", "saps", "-i", str(path), "-cutoff", str(STEPS), "-runs", str(RUNS)]
    words += ["-seed", "1"]
    for name, value in vars(SETTINGS).items():
        words += [f"-{name}", str(value)]
    return lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    table = Table("formula", "million steps/s", other(), "ratio", title="SAPS at (16/15, 0.8)")
    measured = speeds()
    for name, ours, theirs in measured:
        table.add_row(name, f"{ours / 1e6:.2f}", f"{theirs / 1e6:.2f}", f"{ours / theirs:.2f}")
    ratio = fmean(ours / theirs for _, ours, theirs in measured)
    table.add_row("mean", f"{fmean(s.ours for s in measured) / 1e6:.2f}", "", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
