"""Searches with and without capping: `python -m benchmarks.capping.searching`.

The same budget of target time for each, the same seeds; PAR10 of the incumbent on the instances
that the search does not see, as time passes. Everything is replayed from the collected runs, so
the machine's noise changes nothing. Writes docs/capping.csv and docs/capping.svg, and prints the
table of docs/capping.md.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from benchmarks.capping.collect import FAMILIES, Family
from benchmarks.capping.replaying import Replayed, halves, replayed, scenario
from paramhs.search.comparison import FixedRuns
from paramhs.search.configurators import Configurator, ParamHS, ParamILS
from paramhs.search.history import History
from paramhs.search.operators import Harmonic, One
from paramhs.values.capping import Capping
from paramhs.values.runs import Point, Status
from paramhs.world.driver import Budget, Driver
from paramhs.world.store import MemoryStore

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = 20
CAPPINGS = [Capping("none"), Capping("preserving"), Capping("aggressive"), Capping("aggressive", 2)]
CONFIGURATORS: dict[str, Configurator] = {
    "ParamHS": ParamHS(),
    "BasicILS(15)": ParamILS(comparison=FixedRuns(15)),
    "BasicILS(15), harmonic": ParamILS(One(Harmonic()), FixedRuns(15)),
}


class Study(NamedTuple):
    """A family and where its searches begin."""

    family: Family
    default: str
    seconds: float
    """The budget of target time."""

    @property
    def name(self) -> str:
        """For people."""
        begin = "a bad start" if self.default else "its default"
        return f"{self.family.name}, from {begin}"


class Searched(NamedTuple):
    """What became of one search."""

    study: str
    configurator: str
    capping: str
    seed: int
    races: int
    cut: int
    """How many runs were cut short."""
    points: tuple[tuple[float, float], ...]
    """Seconds, and the incumbent's PAR10 elsewhere from then on."""

    def cost_at(self, seconds: float) -> float:
        """The PAR10 at this time."""
        return next(cost for at, cost in reversed(self.points) if at <= seconds)

    def reached(self, cost: float) -> float:
        """The time from which on it is no worse than this; infinite if never."""
        after = float("inf")
        for at, found in reversed(self.points):
            if found > cost * (1 + 1e-9):
                break
            after = at
        return after


def searches(
    study: Study, target: Replayed, name: str, capping: Capping, seeds: int
) -> Iterator[Searched]:
    """One for each seed."""
    train, test = halves(study.family)
    for seed in range(seeds):
        history = History(scenario(study.family, train, capping, study.default), seed)
        driver = Driver(
            CONFIGURATORS[name].search(history),
            history,
            target,
            MemoryStore(),
            Budget(target_time=study.seconds),
        )
        driver.run()
        points = [(p.target_time, target.cost(p.config, test)) for p in driver.session.trajectory]
        words = capping.kind + (f" {capping.factor:g}" if capping.factor else "")
        cut = sum(run.status is Status.CAPPED for run in history.runs)
        made = tuple((0.0 if k == 0 else at, cost) for k, (at, cost) in enumerate(points))
        yield Searched(study.name, name, words, seed, len(history.races), cut, made)
