"""Solvers that whole configurators search: with real runs that searches share, or replayed ones."""

import math
import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.landscapes.instances import COUNT, small_asp, small_cnf
from benchmarks.landscapes.tables import PENALTY, Array, Measured, measured, read_rows
from benchmarks.landscapes.targets import TARGETS, run_clingo
from benchmarks.landscapes.targets import Target as Solver
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Ordinal, Space, Value

CACHE = Path(".cache") / "landscapes"
FEW_VALUES = 5
"""Values of a parameter in the spaces with few."""
TRAINED, TESTS = range(100, 120), range(200, 220)
"""Numbers of the instances of real searches, and of those that judge; others than the measured."""
COPIES = 2
"""Copies of each instance in real searches; the seed of a run says which."""

CASES: Mapping[str, tuple[str, ...]] = {
    "minisat": ("rfirst", "grow", "var-decay", "rnd-freq"),
    "cadical": ("emagluefast", "restartmargin", "stabilizeint", "elimint"),
    "clasp": ("restarts-x-base", "rand-freq", "save-progress", "del-cfl"),
    "saps": ("alpha", "ps", "rho", "wp"),
}
"""Parameters whose values matter most; first those with most to gain."""
SPACES = ("2 of 33", "4 of 5", "all of 33, replayed", "all of 5, replayed")
"""Number of parameters, and of values of each."""
ALTERNATIVES = ("restarts-x-factor", "restarts-d-window", "restarts-d-factor")
"""Parameters of clasp that set the same option as another."""


class Lab(Target):
    """A solver whose configurations can be searched, and judged on instances of their own."""

    scenario: Scenario
    """What a search sees."""

    @abstractmethod
    def held_out(self, config: Config) -> float:
        """Mean cost on other instances, relative to the default's."""

    @abstractmethod
    def save(self) -> None:
        """Keep the runs that were made."""


@contextmanager
def lab_of(case: str, space: str) -> Iterator[Lab]:
    """A solver with one of the spaces."""
    few = "of 5" in space
    if "replayed" in space:
        yield Replayed.of(case, few=few)
        return
    names = CASES[case][: int(space[0])]
    solver = searchable(case)
    with TemporaryDirectory() as folder:
        yield Real(solver, space_of(solver, names, few=few), Runs(case), Path(folder))


def searchable(case: str) -> Solver:
    """A solver on smaller instances; clasp as a library, without starting processes."""
    solver = TARGETS[case]()
    if case == "clasp":
        return replace(solver, make=small_asp, run=run_clingo)
    return solver if case == "saps" else replace(solver, make=small_cnf)


def space_of(solver: Solver, names: Sequence[str], *, few: bool) -> Space:
    """The measured values of some parameters; the one nearest to the default is the default."""
    return Space({name: _parameter(solver, name, few=few) for name in names})


def _parameter(solver: Solver, name: str, *, few: bool) -> Ordinal:
    values, default = list(solver.parameters[name]), float(solver.defaults[name])
    nearest = min(range(len(values)), key=lambda k: abs(float(values[k]) - default))
    if not few:
        return Ordinal(values, default=values[nearest])
    chosen = {round(k * (len(values) - 1) / (FEW_VALUES - 1)) for k in range(FEW_VALUES)}
    chosen.discard(min(chosen, key=lambda k: abs(k - nearest)))
    return Ordinal([values[k] for k in sorted({*chosen, nearest})], default=values[nearest])


Key = tuple[str, int, int]
"""A configuration's key, the number of an instance, and of its copy."""


class Runs:
    """The real runs of a case so far, in memory and on disk."""

    def __init__(self, case: str) -> None:
        CACHE.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(CACHE / f"{case}.sqlite")
        self._file.execute("CREATE TABLE IF NOT EXISTS runs (config, number, copy, work)")
        rows = self._file.execute("SELECT config, number, copy, work FROM runs")
        self._known: dict[Key, float] = {tuple(row[:3]): row[3] for row in rows}

    def get(self, key: Key) -> float | None:
        """The work of a run, if it was made."""
        return self._known.get(key)

    def add(self, key: Key, work: float) -> None:
        """Keep a run."""
        self._known[key] = work
        self._file.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (*key, work))

    def save(self) -> None:
        """Write what was added to disk."""
        self._file.commit()


@dataclass(eq=False)
class Real(Lab):
    """Runs of the solver. What another search has run on a copy of an instance is not run again."""

    solver: Solver
    space: Space
    runs: Runs
    folder: Path

    def __post_init__(self) -> None:
        self.scenario = Scenario(self.space, tuple(Instance(f"{k}", k) for k in TRAINED))
        self._file = cache(self._written)

    def __call__(self, task: Task) -> Run:
        """A run of the solver, on the copy that the seed says."""
        work = self.work(task.config, task.instance.value, 1 + task.seed % COPIES)
        return Run(task, Status.OK, 0.0, work)

    def work(self, config: Config, number: int, copy: int) -> float:
        """The work; without an answer it counts as that of the default `PENALTY` times."""
        key = config.key, number, copy
        known = self.runs.get(key)
        if known is None:
            known = self.solver.run(dict(config), self._file(number, copy), copy)
            if math.isnan(known):
                known = PENALTY * self.work(self.space.default, number, copy)
            self.runs.add(key, known)
        return known

    def _written(self, number: int, copy: int) -> str:
        path = self.folder / f"{number}-{copy}{self.solver.suffix}"
        path.write_text(self.solver.make(number, copy), encoding="utf-8")
        return str(path)

    def held_out(self, config: Config) -> float:
        """The mean over other instances of the work, relative to the default's on the same."""
        return fmean(
            self._total(config, number) / self._total(self.space.default, number)
            for number in TESTS
        )

    def _total(self, config: Config, number: int) -> float:
        return sum(self.work(config, number, copy) for copy in range(1, COPIES + 1))

    def save(self) -> None:
        """Write new runs to disk."""
        self.runs.save()


@dataclass(eq=False)
class Replayed(Lab):
    """Runs made up of measured ones: of the default, times a factor for each parameter."""

    scenario: Scenario
    factors: Mapping[str, Mapping[Value, Array]]
    """Mean work with a value, relative to the base, on each instance."""
    base: Array
    """Work of the base: `[copy, instance]`, relative to its mean."""

    def __post_init__(self) -> None:
        self._factor = cache(self._product)

    @staticmethod
    def of(solver: str, *, few: bool) -> "Replayed":
        """Even instances for the search, odd ones to judge."""
        target = TARGETS[solver]()
        ones = [one for one in measured(solver, read_rows(solver)) if one.base == "default"]
        names = [one.parameter for one in ones if one.parameter not in ALTERNATIVES]
        instances = tuple(Instance(f"{k:02}", k) for k in range(0, COUNT, 2))
        factors = {one.parameter: _factors(one, target) for one in ones}
        longest = max(ones, key=lambda one: one.base_ratios.shape[0])
        scenario = Scenario(space_of(target, names, few=few), instances)
        return Replayed(scenario, factors, longest.base_ratios)

    def __call__(self, task: Task) -> Run:
        """The work of the base on a copy, times the factors."""
        number = task.instance.value
        noise = self.base[task.seed % len(self.base), number]
        return Run(task, Status.OK, 0.0, float(noise * self._factor(task.config)[number]))

    def _product(self, config: Config) -> Array:
        return np.prod([self.factors[name][value] for name, value in config.items()], axis=0)

    def held_out(self, config: Config) -> float:
        """The mean on the odd instances."""
        mine, default = (
            self._factor(c)[1::2].mean() for c in (config, self.scenario.space.default)
        )
        return float(mine / default)

    def save(self) -> None:
        """Nothing: no run is made."""


def _factors(one: Measured, target: Solver) -> dict[Value, Array]:
    base = one.base_ratios.mean(axis=0)
    means = one.ratios.mean(axis=1) / base
    by_value = dict(zip(one.values, means, strict=True))
    return {value: by_value[float(value)] for value in target.parameters[one.parameter]}
