"""Steps a second of SAPS, beside UBCSAT's if that is on the PATH, else beside plain Python.

python -m benchmarks.overhead.saps          formula by formula

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

from rich.console import Console
from rich.table import Table

from paramhs.bundled.instances.circuit_fuzz import circuit_fuzz
from paramhs.bundled.instances.dimacs import Formula, dimacs, read_formula
from paramhs.bundled.plain_saps import Clauses, fewest_false
from paramhs.bundled.saps import Settings, encoded, solve
from paramhs.core.random_streams import stream

SETTINGS = Settings(alpha=16 / 15, rho=0.8)
STEPS = 10_000
RUNS = 20  # in each round
ROUNDS = 5
MIN_RATIO = 2.5  # of our speed to UBCSAT's, the goal
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
    """Our speed and UBCSAT's for each formula, without names."""
    return [(speed.ours, speed.theirs) for speed in speeds()]


def other() -> str:
    """What we are measured beside."""
    return "UBCSAT" if shutil.which("ubcsat") else "plain Python"


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
    has_ubcsat = bool(shutil.which("ubcsat"))
    theirs = _ubcsat(formula, folder) if has_ubcsat else _python(formula)
    runs, rounds = (RUNS, ROUNDS) if has_ubcsat else (1, 1)
    ours = _ours(formula)
    ours()  # compiling is not measured
    times = [(_seconds(ours), _seconds(theirs)) for _ in range(rounds)]
    our_best, their_best = (min(each) for each in zip(*times, strict=True))
    return Speed(name, RUNS * STEPS / our_best, runs * STEPS / their_best)


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


def _python(formula: Formula) -> Callable[[], object]:
    clauses = Clauses(formula)
    return lambda: fewest_false(clauses, vars(SETTINGS), STEPS, 1)


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
