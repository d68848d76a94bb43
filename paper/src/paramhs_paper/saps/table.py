"""The measured landscape as a table: one row a cell, with all its runs."""

import csv
import lzma
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from paramhs.results.landscape.outcomes import Array
from paramhs.values.errors import BadInput
from paramhs.world.targets.saps import SMOOTHINGS, Smoothing
from paramhs_paper.saps.grid import Block, Cell, counts_of, rows_of, written

Quality = Literal["best", "final"]
"""The fewest false clauses of a run, or those after its last step."""
QUALITIES: tuple[Quality, ...] = ("best", "final")

HEADER = (
    "instance",
    "alpha",
    "rho",
    "runs",
    "best_mean",
    "best_se",
    "final_mean",
    "final_se",
    "null_flips",
    "best",
)


class Row(NamedTuple):
    """All runs of a cell."""

    cell: Cell
    runs: int
    mean: Mapping[Quality, float]
    error: Mapping[Quality, float]
    """The standard errors of the means."""
    null_flips: float
    best: Mapping[int, int]
    """How often each number of false clauses was the best of a run."""

    def columns(self) -> tuple[object, ...]:
        """As it is written."""
        moments = [
            text
            for quality in QUALITIES
            for text in (f"{self.mean[quality]:.6f}", f"{self.error[quality]:.4f}")
        ]
        return (*self.cell, self.runs, *moments, f"{self.null_flips:.1f}", written(self.best))


def merged(blocks: Iterable[Block]) -> list[Row]:
    """The blocks of each cell put together."""
    cells: dict[Cell, list[Block]] = {}
    for block in blocks:
        cells.setdefault(block.part.cell, []).append(block)
    return [_row(cell, cells[cell]) for cell in sorted(cells)]


def _row(cell: Cell, blocks: Sequence[Block]) -> Row:
    counts: dict[Quality, dict[int, int]] = {
        "best": _summed(block.best for block in blocks),
        "final": _summed(block.final for block in blocks),
    }
    runs = sum(block.part.runs for block in blocks)
    moments = {quality: _moments(of_quality) for quality, of_quality in counts.items()}
    return Row(
        cell,
        runs,
        {quality: mean for quality, (mean, _) in moments.items()},
        {quality: error for quality, (_, error) in moments.items()},
        sum(block.part.runs * block.null_flips for block in blocks) / runs,
        counts["best"],
    )


def _summed(parts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total: dict[int, int] = {}
    for part in parts:
        for number, count in part.items():
            total[number] = total.get(number, 0) + count
    return total


def _moments(counts: Mapping[int, int]) -> tuple[float, float]:
    """The mean and its standard error (infinite after one run)."""
    runs = sum(counts.values())
    mean = sum(number * count for number, count in counts.items()) / runs
    squares = sum(count * (number - mean) ** 2 for number, count in counts.items())
    return mean, math.sqrt(squares / (runs - 1) / runs) if runs > 1 else math.inf


def write_table(rows: Iterable[Row], file: Path) -> None:
    """Write a table, compressed."""
    with lzma.open(file, "wt", encoding="utf-8", newline="", preset=9 | lzma.PRESET_EXTREME) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(row.columns() for row in rows)


def read_table(file: Path) -> list[Row]:
    """The rows of a file that `write_table` wrote."""
    return list(_rows(file))


def _rows(file: Path) -> Iterator[Row]:
    for number, row in rows_of(file, HEADER):
        try:
            cell = Cell(row[0], int(row[1]), int(row[2]))
            best, best_error, final, final_error, null_flips = map(float, row[4:9])
            mean: dict[Quality, float] = {"best": best, "final": final}
            error: dict[Quality, float] = {"best": best_error, "final": final_error}
            yield Row(cell, int(row[3]), mean, error, null_flips, counts_of(row[9]))
        except ValueError as problem:
            raise BadInput(f"{file}, line {number}: {problem}") from None


@dataclass(frozen=True)
class Landscape:
    """A full grid; arrays are [instance, alpha, rho]."""

    smoothing: Smoothing
    instances: tuple[str, ...]
    alphas: tuple[int, ...]
    """In fifteenths, as `rhos`."""
    rhos: tuple[int, ...]
    runs: Array
    mean: Mapping[Quality, Array]
    error: Mapping[Quality, Array]
    null_flips: Array
    best: Mapping[Cell, Mapping[int, int]]

    @property
    def runs_text(self) -> str:
        """How many runs a cell has, in words."""
        low, high = int(self.runs.min()), int(self.runs.max())
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def landscape_of(rows: Sequence[Row], smoothing: Smoothing) -> Landscape:
    """The rows as arrays; refused if a cell is missing, or was run once only."""
    found = {row.cell: row for row in rows}
    instances, alphas, rhos = (tuple(sorted(set(column))) for column in zip(*found, strict=True))
    shape = (len(instances), len(alphas), len(rhos))
    cells = [Cell(i, a, r) for i in instances for a in alphas for r in rhos]
    for cell in cells:
        if cell not in found or found[cell].runs < 2:
            raise BadInput(
                f"{cell.instance} at alpha {cell.alpha}/15 and rho {cell.rho}/15: at least two runs"
                " are needed for a landscape"
            )
    ordered = [found[cell] for cell in cells]

    def array(numbers: Iterable[float]) -> Array:
        return np.array(list(numbers), dtype=np.float64).reshape(shape)

    return Landscape(
        smoothing,
        instances,
        alphas,
        rhos,
        array(row.runs for row in ordered),
        {quality: array(row.mean[quality] for row in ordered) for quality in QUALITIES},
        {quality: array(row.error[quality] for row in ordered) for quality in QUALITIES},
        array(row.null_flips for row in ordered),
        {row.cell: row.best for row in ordered},
    )


@cache
def kept(smoothing: Smoothing) -> Landscape:
    """The landscape that comes with the package: our own measurement."""
    if smoothing not in kept_smoothings():
        raise BadInput(f"no landscape with {smoothing} smoothing comes with this package")
    name = f"{smoothing}.csv.xz"
    with resources.as_file(resources.files("paramhs_paper.saps").joinpath(name)) as file:
        return landscape_of(read_table(file), smoothing)


def kept_smoothings() -> list[Smoothing]:
    """The smoothing forms whose landscapes come with the package."""
    folder = resources.files("paramhs_paper.saps")
    return [name for name in SMOOTHINGS if folder.joinpath(f"{name}.csv.xz").is_file()]
