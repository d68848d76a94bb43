"""Our SAPS against UBCSAT's: means of 500 runs of UBCSAT 1.1.0, in `ubcsat_reference.csv`.

The instances (AClib's circuit-fuzz, fuzz_100_N.cnf) are not ours to give away: the tests run where
the environment variable names a folder that has them.
"""

import csv
import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import norm, t

from paramhs.bundled.instances.dimacs import read_formula
from paramhs.bundled.saps import Settings, Smoothing, encoded, solve

VARIABLE = "PARAMHS_CIRCUIT_FUZZ"
REFERENCE = Path(__file__).with_name("ubcsat_reference.csv")
RUNS = 100
STEPS = 10_000
ERROR_RATE = 1e-3  # how often right runs are rejected, over all rows and measures together

MEASURES = {
    "best_false": ("best_false_mean", "best_false_sd"),
    "final_false": ("final_false_mean", "final_false_sd"),
    "null_flips": ("nullflips_mean", None),
    "best_step": ("beststep_mean", None),
}

pytestmark = pytest.mark.skipif(
    VARIABLE not in os.environ, reason=f"{VARIABLE} does not say where AClib's instances are"
)


class Difference(NamedTuple):
    """How far our mean is from UBCSAT's, in standard errors."""

    row: str
    measure: str
    z: float


@cache
def formula(instance: str):
    return encoded(read_formula(Path(os.environ[VARIABLE]) / f"fuzz_100_{instance}.cnf"))


@cache
def differences(runs: int = RUNS, smoothing: Smoothing = "ubcsat", steps: int = STEPS):
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        rows = enumerate(csv.DictReader(file))
        return [d for seed, row in rows for d in compared(row, seed, runs, smoothing, steps)]


def compared(
    row: dict[str, str], seed: int, runs: int, smoothing: Smoothing, steps: int
) -> Iterator[Difference]:
    settings = Settings(*(float(row[name]) for name in ("alpha", "rho", "ps", "wp")))
    outcomes = solve(formula(row["instance"]), settings, steps, seed, runs, smoothing)
    name = f"instance {row['instance']} alpha {row['alpha']} rho {row['rho']}"
    for measure, (mean, deviation) in MEASURES.items():
        ours = getattr(outcomes, measure).astype(float)
        sd = np.std(ours, ddof=1)
        theirs = float(row[deviation]) if deviation else sd  # where none is given: as ours
        error = math.hypot(sd / math.sqrt(runs), theirs / math.sqrt(float(row["runs"])))
        yield Difference(name, measure, (ours.mean() - float(row[mean])) / error)


def rejected(found: list[Difference], runs: int) -> list[Difference]:
    """Rows that differ, and measures that differ over all rows; Bonferroni's correction."""
    together = [
        Difference("all rows", m, sum(z) / math.sqrt(len(z)))
        for m in MEASURES
        if (z := [d.z for d in found if d.measure == m])
    ]
    share = ERROR_RATE / (len(found) + len(together)) / 2
    return [d for d in found if abs(d.z) > t.isf(share, runs - 1)] + [
        d for d in together if abs(d.z) > norm.isf(share)
    ]


def test_runs_are_distributed_as_those_of_ubcsat():
    assert len(differences()) == 36 * len(MEASURES)
    assert rejected(differences(), RUNS) == []


def test_textbook_and_ubcsat_smoothing_are_distinguished():
    assert rejected(differences(20, "textbook"), 20)


def test_one_step_in_fifty_less_is_noticed():
    assert rejected(differences(20, steps=STEPS * 49 // 50), 20)
