"""The landscape of SAPS, measured: every setting on every instance, run after run.

Runs are made in blocks, each setting's first block before anybody's second, and each block is a
line of a text file as soon as it is made. So a measurement can be stopped at any time, goes on
where it was, and what there is so far covers all settings alike. A run is a function of formula,
setting, seed and number, so it does not matter who made which block; and each line says what it was
made of, so that a file may hold blocks of several measurements.
"""

import csv
import hashlib
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

from paramhs.values.errors import BadInput
from paramhs.world.instances.dimacs import read_formula
from paramhs.world.store.lock import WriterLock
from paramhs.world.targets.saps import Settings, Smoothing, encoded, solve
from paramhs.world.targets.saps.arrays import Clauses

FIFTEENTHS = 15
ALPHAS = tuple(range(16, 46))
"""In fifteenths: 16/15 to 3."""
RHOS = tuple(range(16))
"""In fifteenths: 0 to 1."""
PS, WP = 0.05, 0.01
STEPS = 10_000
BLOCK = 100  # runs in a line
HEADER = (
    "made_of",
    "instance",
    "alpha",
    "rho",
    "first_run",
    "runs",
    "best",
    "final",
    "null_flips",
)


class Cell(NamedTuple):
    """A setting, in fifteenths, on an instance."""

    instance: str
    alpha: int
    rho: int


class Part(NamedTuple):
    """Some runs of a cell, to be made."""

    made_of: str
    """What besides setting and number determines a run, in short: see `_made_of`."""
    cell: Cell
    first_run: int
    runs: int


class Block(NamedTuple):
    """Some runs of a cell: how often each number of false clauses was the best, and the last."""

    part: Part
    best: Mapping[int, int]
    final: Mapping[int, int]
    null_flips: float
    """Their mean."""

    def row(self) -> tuple[object, ...]:
        """As it is written."""
        made_of, cell, first_run, runs = self.part
        counts = (written(self.best), written(self.final))
        return (made_of, *cell, first_run, runs, *counts, f"{self.null_flips:.1f}")


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
) -> list[Block]:
    """Make the runs that the file does not have yet, and add them to it; all that were asked for.

    `advance` is told at once how many blocks were there already, then of each that is made. One
    process at a time may do so.
    """
    formulas = {name: _formula(path) for name, path in instances.items()}
    made_of = {name: _made_of(f, smoothing, seed, steps) for name, f in formulas.items()}
    wanted = {
        Part(made_of[name], Cell(name, alpha, rho), first, min(BLOCK, runs - first)): None
        for first in range(0, runs, BLOCK)
        for name in formulas
        for alpha in ALPHAS
        for rho in RHOS
    }

    def made(part: Part) -> Block:
        return _block(formulas[part.cell.instance], part, smoothing, seed, steps)

    lock = WriterLock(file)
    try:
        _begin(file)
        done = {block.part for block in blocks(file)}
        missing = [part for part in wanted if part not in done]
        advance(len(wanted) - len(missing))
        _add(file, missing, made, jobs, advance)
        return [block for block in blocks(file) if block.part in wanted]
    finally:
        lock.release()


def _formula(path: Path) -> Clauses:
    formula = read_formula(path)
    if formula.weights is not None:
        raise BadInput(f"{path}: its clauses have weights, but the landscape counts false clauses")
    return encoded(formula)


def _made_of(clauses: Clauses, smoothing: Smoothing, seed: int, steps: int) -> str:
    """The formula, whatever its file is called, and how it is searched."""
    digest = hashlib.sha256(repr((smoothing, seed, steps, PS, WP)).encode())
    for numbers in (clauses.starts, clauses.members, clauses.literal_starts, clauses.clauses):
        digest.update(numbers.tobytes())
    return digest.hexdigest()[:12]


def _begin(file: Path) -> None:
    """The columns. What was being written when a measurement was killed would spoil a line."""
    with file.open("a+b") as out:
        out.seek(0)
        out.truncate(out.read().rfind(b"\n") + 1)
        if out.seek(0, os.SEEK_END) == 0:
            out.write(",".join(HEADER).encode() + b"\n")


def _add(
    file: Path,
    parts: Sequence[Part],
    made: Callable[[Part], Block],
    jobs: int,
    advance: Callable[[int], object],
) -> None:
    with file.open("a", newline="", encoding="utf-8") as out, ThreadPoolExecutor(jobs) as pool:
        writer = csv.writer(out, lineterminator="\n")
        try:
            for block in _as_made(pool, made, iter(parts), jobs):
                writer.writerow(block.row())
                out.flush()
                advance(1)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _block(clauses: Clauses, part: Part, smoothing: Smoothing, seed: int, steps: int) -> Block:
    settings = Settings(part.cell.alpha / FIFTEENTHS, part.cell.rho / FIFTEENTHS, PS, WP)
    first = part.first_run
    outcomes = solve(clauses, settings, steps, seed, part.runs, smoothing, first_run=first)
    best, final = (_counted(x) for x in (outcomes.best_false, outcomes.final_false))
    return Block(part, best, final, float(outcomes.null_flips.mean()))


def _as_made(
    pool: ThreadPoolExecutor,
    made: Callable[[Part], Block],
    parts: Iterator[Part],
    jobs: int,
) -> Iterator[Block]:
    """Blocks as they are finished, with few in flight, so that stopping loses little."""
    flying: set[Future[Block]] = {pool.submit(made, part) for part in islice(parts, 2 * jobs)}
    while flying:
        finished, flying = wait(flying, return_when=FIRST_COMPLETED)
        flying |= {pool.submit(made, part) for part in islice(parts, len(finished))}
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


def _read(row: Sequence[str]) -> Block:
    cell = Cell(row[1], int(row[2]), int(row[3]))
    part = Part(row[0], cell, int(row[4]), int(row[5]))
    return Block(part, counts_of(row[6]), counts_of(row[7]), float(row[8]))


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


def blocks_of(instances: int, runs: int) -> int:
    """How many blocks a measurement has."""
    return instances * len(ALPHAS) * len(RHOS) * math.ceil(runs / BLOCK)
