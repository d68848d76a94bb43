"""The landscape of SAPS, measured: every setting on every instance, run after run.

Runs are made in blocks, each setting's first block before anybody's second, and each block is a
line of a text file as soon as it is made. So a measurement can be stopped at any time, goes on
where it was, and what there is so far covers all settings alike. A run is a function of instance,
setting and number, so it does not matter who made which block.
"""

import csv
import lzma
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from paramhs.errors import BadInput
from paramhs.instances.dimacs import read_formula
from paramhs.targets.saps import Settings, Smoothing, encoded, solve
from paramhs.targets.saps.arrays import Clauses

FIFTEENTHS = 15
ALPHAS = tuple(range(16, 46))
"""In fifteenths: 16/15 to 3."""
RHOS = tuple(range(16))
"""In fifteenths: 0 to 1."""
PS, WP = 0.05, 0.01
STEPS = 10_000
BLOCK = 100  # runs in a line
HEADER = ("instance", "alpha", "rho", "first_run", "runs", "best", "final", "null_flips")


class Cell(NamedTuple):
    """A setting, in fifteenths, on an instance."""

    instance: str
    alpha: int
    rho: int


class Block(NamedTuple):
    """Some runs of a cell: how often each number of false clauses was the best, and the last."""

    cell: Cell
    first_run: int
    runs: int
    best: Mapping[int, int]
    final: Mapping[int, int]
    null_flips: float
    """Their mean."""

    def row(self) -> tuple[object, ...]:
        """As it is written."""
        counts = (written(self.best), written(self.final))
        return (*self.cell, self.first_run, self.runs, *counts, f"{self.null_flips:.1f}")


def measure(
    instances: Mapping[str, Path],
    smoothing: Smoothing,
    runs: int,
    file: Path,
    jobs: int,
    advance: Callable[[int], object] = lambda done: None,
    *,
    seed: int = 0,
    steps: int = STEPS,
) -> None:
    """Make the runs that the file does not have yet, and add them to it.

    `advance` is told at once how many blocks were there already, then of each that is made.
    """
    _drop_cut_line(file)
    done = {(b.cell, b.first_run): b.runs for b in blocks(file)} if begun(file) else {}
    formulas = {name: encoded(read_formula(path)) for name, path in instances.items()}
    wanted = [
        (Cell(name, alpha, rho), first, min(BLOCK, runs - first))
        for first in range(0, runs, BLOCK)
        for name in formulas
        for alpha in ALPHAS
        for rho in RHOS
    ]
    missing = [task for task in wanted if done.get(task[:2], 0) < task[2]]
    advance(len(wanted) - len(missing))

    def made(cell: Cell, first: int, count: int) -> Block:
        return _block(formulas[cell.instance], cell, first, count, smoothing, seed, steps)

    headed = begun(file)
    with file.open("a", newline="", encoding="utf-8") as out, ThreadPoolExecutor(jobs) as pool:
        writer = csv.writer(out)
        if not headed:
            writer.writerow(HEADER)
        try:
            for block in _as_made(pool, made, iter(missing), jobs):
                writer.writerow(block.row())
                out.flush()
                advance(1)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _block(
    clauses: Clauses, cell: Cell, first: int, runs: int, smoothing: Smoothing, seed: int, steps: int
) -> Block:
    settings = Settings(cell.alpha / FIFTEENTHS, cell.rho / FIFTEENTHS, PS, WP)
    outcomes = solve(clauses, settings, steps, seed, runs, smoothing, first_run=first)
    best, final = (_counted(x) for x in (outcomes.best_false, outcomes.final_false))
    return Block(cell, first, runs, best, final, float(outcomes.null_flips.mean()))


def _as_made(
    pool: ThreadPoolExecutor,
    made: Callable[[Cell, int, int], Block],
    tasks: Iterator[tuple[Cell, int, int]],
    jobs: int,
) -> Iterator[Block]:
    """Blocks as they are finished, with few in flight, so that stopping loses little."""
    flying: set[Future[Block]] = {pool.submit(made, *task) for task in islice(tasks, 2 * jobs)}
    while flying:
        finished, flying = wait(flying, return_when=FIRST_COMPLETED)
        flying |= {pool.submit(made, *task) for task in islice(tasks, len(finished))}
        for future in finished:
            yield future.result()


def blocks(file: Path) -> Iterator[Block]:
    """What a file holds; a last line that was cut off is not counted."""
    for number, row in rows_of(file, HEADER):
        try:
            yield _read(row)
        except ValueError as error:
            raise BadInput(f"{file}, line {number}: {error}") from None


def rows_of(file: Path, header: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with these columns, and the numbers of their lines."""
    try:
        with _opened(file) as lines:
            reader = csv.reader(line for line in lines if line.endswith("\n"))
            if tuple(next(reader, ())) != tuple(header):
                raise BadInput(f"{file}: expected a table with the columns {', '.join(header)}")
            for number, row in enumerate(reader, 2):
                if len(row) != len(header):
                    message = f"expected {len(header)} columns, found {len(row)}"
                    raise BadInput(f"{file}, line {number}: {message}")
                yield number, row
    except (OSError, UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from None


def _opened(file: Path) -> TextIO:
    if file.suffix == ".xz":
        return lzma.open(file, "rt", encoding="utf-8", newline="")
    return file.open(encoding="utf-8", newline="")


def begun(file: Path) -> bool:
    """Whether there is anything in a file."""
    return file.exists() and file.stat().st_size > 0


def _drop_cut_line(file: Path) -> None:
    """What was being written when a measurement was killed would spoil the next line."""
    if begun(file):
        with file.open("r+b") as out:
            out.truncate(out.read().rfind(b"\n") + 1)


def _read(row: Sequence[str]) -> Block:
    cell = Cell(row[0], int(row[1]), int(row[2]))
    counts = (counts_of(row[5]), counts_of(row[6]))
    return Block(cell, int(row[3]), int(row[4]), *counts, float(row[7]))


def _counted(numbers: np.ndarray) -> dict[int, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def written(counts: Mapping[int, int]) -> str:
    """The least number, then how often it and each following one came: `318: 1 0 3`."""
    low, high = min(counts), max(counts)
    return f"{low}: " + " ".join(str(counts.get(k, 0)) for k in range(low, high + 1))


def counts_of(text: str) -> dict[int, int]:
    """What `written` wrote."""
    match = re.fullmatch(r"(\d+): ([\d ]+)", text)
    if not match:
        raise ValueError(f"{text!r} is not a list of counts such as '318: 1 0 3'")
    return {int(match[1]) + k: int(n) for k, n in enumerate(match[2].split()) if int(n)}


def instances_in(folder: Path) -> dict[str, Path]:
    """The formulas in a folder, by the names of their files without suffix."""
    found = sorted(folder.glob("*.cnf*")) if folder.is_dir() else []
    if not found:
        raise BadInput(f"{folder}: there are no .cnf files")
    return {path.name.split(".cnf")[0]: path for path in found}


def blocks_of(instances: int, runs: int) -> int:
    """How many blocks a measurement has."""
    return instances * len(ALPHAS) * len(RHOS) * math.ceil(runs / BLOCK)


def all_cores() -> int:
    """How many processors there are to use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
