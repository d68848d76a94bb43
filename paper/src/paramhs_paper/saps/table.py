"""The measured landscape of SAPS: one row a cell, a setting on an instance."""

import csv
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

import numpy as np

from paramhs.results.landscape.outcomes import Array
from paramhs.world.targets.saps import Smoothing

Quality = Literal["best", "final"]
"""The fewest false clauses of a run, or those after its last step."""
QUALITIES: tuple[Quality, ...] = ("best", "final")

HEADER = (
    "instance", "alpha", "rho", "runs", "best_mean", "best_se", "final_mean", "final_se",
    "null_flips", "best",
)  # fmt: skip
"""Settings are in fifteenths; the last column counts how often each number of false clauses was the
best of a run."""


@dataclass(frozen=True)
class Landscape:
    """A full grid; arrays are [instance, alpha, rho]."""

    smoothing: Smoothing
    instances: tuple[str, ...]
    alphas: tuple[int, ...]
    """In fifteenths, as `rhos`."""
    rhos: tuple[int, ...]
    runs: int
    """Of each cell."""
    mean: Mapping[Quality, Array]
    error: Mapping[Quality, Array]
    """The standard errors of the means."""
    null_flips: Array


def read_landscape(file: Path, smoothing: Smoothing) -> Landscape:
    """A table as `measure` writes it, with its rows in order."""
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
    """The landscape that comes with the package: our own measurement."""
    name = f"{smoothing}.csv.xz"
    with resources.as_file(resources.files("paramhs_paper.saps").joinpath(name)) as file:
        return read_landscape(file, smoothing)
