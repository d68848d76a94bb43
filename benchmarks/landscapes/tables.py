"""The measured runs of a solver: a compressed table, to which pieces are added."""

import csv
import lzma
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).parent / "data"
HEADER = ("base", "parameter", "value", "copy", "work")
DEFAULT = ""
"""Parameter of the rows in which nothing differs from the base."""
PENALTY = 10.0
"""A run without an answer costs this many times the mean work of the base on the instance."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """The work on every instance, with one value of one parameter, on one copy of each."""

    base: str
    parameter: str
    value: str
    copy: int
    work: tuple[float, ...]

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What was run."""
        return self.base, self.parameter, self.value, self.copy


def path_of(solver: str, folder: Path = DATA) -> Path:
    """The file of a solver."""
    return folder / f"{solver}.csv.xz"


def read_rows(solver: str, folder: Path = DATA) -> list[Row]:
    """All rows so far."""
    path = path_of(solver, folder)
    if not path.exists():
        return []
    with lzma.open(path, "rt", newline="") as file:
        return [_row(line) for line in csv.reader(file) if line and line[0] != HEADER[0]]


def _row(line: Sequence[str]) -> Row:
    base, parameter, value, copy, work = line
    return Row(base, parameter, value, int(copy), tuple(map(_work, work.split())))


def _work(text: str) -> float:
    return math.nan if text == "-" else float(text)


def add_rows(solver: str, rows: Iterable[Row], folder: Path = DATA) -> None:
    """Append rows, as one more part of the compressed file."""
    folder.mkdir(parents=True, exist_ok=True)
    with lzma.open(path_of(solver, folder), "at", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            work = " ".join("-" if math.isnan(w) else f"{w:.6g}" for w in row.work)
            writer.writerow((*row.key, work))


def pack(solver: str, folder: Path = DATA) -> None:
    """Write the table anew in order, as one part: much smaller than many."""
    rows = sorted({row.key: row for row in read_rows(solver, folder)}.values(), key=_order)
    fresh = path_of(solver, folder).with_suffix(".new")
    with lzma.open(fresh, "wt", newline="", preset=9) as file:
        csv.writer(file, lineterminator="\n").writerow(HEADER)
    fresh.rename(path_of(solver, folder))
    add_rows(solver, rows, folder)


def _order(row: Row) -> tuple[str, str, float, int]:
    return row.base, row.parameter, float(row.value or 0), row.copy


@dataclass(frozen=True)
class Measured:
    """Runs with the values of one parameter: `ratios[value, copy, instance]`.

    A ratio is the work divided by the mean work of the base on the same instance, so every instance
    counts the same.
    """

    solver: str
    base: str
    parameter: str
    values: tuple[float, ...]
    ratios: Array
    base_ratios: Array
    """Those of the base itself: `[copy, instance]`."""
    unanswered: int
    """Runs without an answer, which count `PENALTY`."""

    @property
    def name(self) -> str:
        """The solver and the parameter."""
        tuned = ", tuned" if self.base != "default" else ""
        return f"{self.solver} {self.parameter}{tuned}"

    @property
    def has_effect(self) -> bool:
        """Whether any run differs from that with another value."""
        return bool(np.any(np.ptp(self.ratios, axis=0)))

    @property
    def costs(self) -> Array:
        """The mean ratio of each value."""
        return np.asarray(self.ratios.mean(axis=(1, 2)))

    @property
    def errors(self) -> Array:
        """Standard error of each value's difference to the mean of all, on these instances.

        Runs are paired: the same copy of the same instance. With one copy of each, it is the
        standard error over instances, which is larger.
        """
        if not self.has_effect:
            return np.zeros(len(self.values))
        copies = self.ratios.shape[1]
        return self.instance_errors if copies == 1 else _errors(self._differences)

    @property
    def _differences(self) -> Array:
        return np.asarray(self.ratios - self.ratios.mean(axis=0))

    @property
    def instance_errors(self) -> Array:
        """Standard error of each value's difference to the mean of all, over such instances."""
        means = self._differences.mean(axis=1)
        return np.asarray(means.std(axis=1, ddof=1) / math.sqrt(means.shape[1]))


def _errors(differences: Array) -> Array:
    """Standard errors of means over copies, instances being fixed."""
    copies, instances = differences.shape[-2:]
    variance = differences.var(axis=-2, ddof=1).sum(axis=-1)
    return np.asarray(np.sqrt(variance / copies) / instances)


def measured(solver: str, rows: Sequence[Row]) -> list[Measured]:
    """All parameters of a solver, each with the copies on which every value was run."""
    bases: dict[str, dict[int, Array]] = defaultdict(dict)
    groups: dict[tuple[str, str], dict[float, dict[int, Array]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in rows:
        if row.parameter == DEFAULT:
            bases[row.base][row.copy] = np.array(row.work)
        else:
            groups[row.base, row.parameter][float(row.value)][row.copy] = np.array(row.work)
    return [
        one
        for (base, parameter), values in groups.items()
        if (one := _measured(solver, base, parameter, values, bases[base]))
    ]


def _measured(
    solver: str,
    base: str,
    parameter: str,
    values: Mapping[float, Mapping[int, Array]],
    bases: Mapping[int, Array],
) -> Measured | None:
    copies = sorted(set(bases).intersection(*values.values()))
    if not copies:
        return None
    level = np.nanmean([bases[copy] for copy in copies], axis=0)
    ordered = sorted(values)
    work = np.array([[values[v][copy] for copy in copies] for v in ordered])
    base_work = np.array([bases[copy] for copy in copies])
    return Measured(
        solver,
        base,
        parameter,
        tuple(ordered),
        _penalised(work / level),
        _penalised(base_work / level),
        int(np.isnan(work).sum()),
    )


def _penalised(ratios: Array) -> Array:
    return np.where(np.isnan(ratios), PENALTY, ratios)
