"""Table of the measured landscape of SAPS: one row per setting and instance."""

import csv
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

import numpy as np

from paramhs.bundled.saps import Smoothing
from paramhs.theory.outcomes import Array

Quality = Literal["best", "final"]
"""Fewest false clauses of a run, or those after its last step."""
QUALITIES: tuple[Quality, ...] = ("best", "final")

HEADER = (
    "instance", "alpha", "rho", "runs", "best_mean", "best_se", "final_mean", "final_se",
    "null_flips", "best",
)  # fmt: skip
"""Columns of the table.

Settings are in fifteenths; the last column is a histogram of the fewest false clauses of each run.
"""


@dataclass(frozen=True)
class Landscape:
    """A full grid of measurements; arrays are [instance, alpha, rho]."""

    smoothing: Smoothing
    instances: tuple[str, ...]
    alphas: tuple[int, ...]
    """Values of alpha in fifteenths, like `rhos`."""
    rhos: tuple[int, ...]
    runs: int
    """Number of runs of each cell."""
    mean: Mapping[Quality, Array]
    error: Mapping[Quality, Array]
    """Standard errors of the means."""
    null_flips: Array


def read_landscape(file: Path, smoothing: Smoothing) -> Landscape:
    """Read a table written by `measure`, with its rows in order."""
    with lzma.open(file, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    instances = tuple(sorted({row["instance"] for row in rows}))
    alphas, rhos = (tuple(sorted({int(row[x]) for row in rows})) for x in ("alpha", "rho"))

    def array(column: str) -> Array:
        numbers = np.array([float(row[column]) for row in rows])
        return numbers.reshape(len(instances), len(alphas), len(rhos))

    return Landscape(
        smoothing,
        instances,
        alphas,
        rhos,
        int(array("runs").min()),
        {quality: array(f"{quality}_mean") for quality in QUALITIES},
        {quality: array(f"{quality}_se") for quality in QUALITIES},
        array("null_flips"),
    )


@cache
def kept(smoothing: Smoothing) -> Landscape:
    """Read the landscape in the package, our own measurement."""
    name = f"{smoothing}.csv.xz"
    with resources.as_file(resources.files("paramhs_paper.saps").joinpath(name)) as file:
        return read_landscape(file, smoothing)
