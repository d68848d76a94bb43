"""Whole configurators on four real solvers, with each operator of the paper.

python -m benchmarks.landscapes.configurators --case minisat     data/configurators.csv
python -m benchmarks.landscapes.configurators                    print what is there

Every run is a run of the solver. Searches share the runs: a configuration that another search has
run on a copy of an instance is not run on it again. So few copies exist, and runs are kept in
.cache/landscapes. Run it again to go on.
"""

import argparse
import csv
import math
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.landscapes.instances import small_asp, small_cnf
from benchmarks.landscapes.tables import DATA, PENALTY
from benchmarks.landscapes.targets import TARGETS, run_clingo
from benchmarks.landscapes.targets import Target as Solver
from paramhs.api.tune import tune_scenario
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Ordinal, Space
from paramhs.execution.driver import Budget
from paramhs.search.comparison import FixedRuns
from paramhs.search.configurators import Configurator, ParamHS, ParamILS, ParamRLS
from paramhs.search.operators import BothSides, Harmonic, Learned, LStep, OneParameter, Uniform

RESULTS = DATA / "configurators.csv"
CACHE = Path(".cache") / "landscapes"
HEADER = ("case", "space", "configurator", "operator", "runs", "seed", "cost")
BUDGETS = (100, 300, 1_000)
FEW_VALUES = 5
"""Values of a parameter in the spaces with few."""
BASIC_RUNS = 10
"""N of BasicILS: budgets of hundreds of runs do not allow more."""
TRAINED, TESTS = range(100, 120), range(200, 220)
"""Numbers of the instances of the searches, and of those that judge; others than the measured."""
COPIES = 2
"""Copies of each instance; the seed of a run says which."""

_STEPS = {"1-step": LStep(), "uniform": Uniform(), "harmonic": Harmonic()}
CONFIGURATORS: dict[tuple[str, str], Configurator] = {
    **{("ParamRLS", name): ParamRLS(OneParameter(step)) for name, step in _STEPS.items()},
    ("ParamRLS", "both sides"): ParamRLS(BothSides()),
    **{
        ("BasicILS", name): ParamILS(OneParameter(step), FixedRuns(BASIC_RUNS))
        for name, step in _STEPS.items()
    },
    **{("FocusedILS", name): ParamILS(OneParameter(step)) for name, step in _STEPS.items()},
    ("default", "harmonic"): ParamHS(),
    ("default", "uniform"): ParamHS(Learned(Uniform())),
}
"""By the name of the algorithm and of its operator; the default's is that of its plain part."""

ALGORITHMS = tuple(dict.fromkeys(name for name, _ in CONFIGURATORS))

CASES: Mapping[str, tuple[str, ...]] = {
    "minisat": ("rfirst", "grow", "var-decay", "rnd-freq"),
    "cadical": ("emagluefast", "restartmargin", "stabilizeint", "elimint"),
    "clasp": ("restarts-x-base", "rand-freq", "save-progress", "del-cfl"),
    "saps": ("alpha", "ps", "rho", "wp"),
}
"""Parameters whose values matter most; first those with most to gain."""
SPACES: Mapping[str, tuple[int, bool]] = {
    "2 of 33": (2, False),
    "4 of 5": (4, True),
    "4 of 33": (4, False),
}
"""Number of parameters, and whether they have few values."""
IN_PROCESS = ("clasp", "saps")
"""Solvers with runs of about a millisecond, which are searched in the largest space, too."""


def solver_of(case: str) -> Solver:
    """The solver of a case on smaller instances; clasp as a library, without starting processes."""
    target = TARGETS[case]()
    if case == "clasp":
        return replace(target, make=small_asp, run=run_clingo)
    return target if case == "saps" else replace(target, make=small_cnf)


def space_of(target: Solver, names: Sequence[str], *, few: bool) -> Space:
    """The measured values of some parameters; the one nearest to the default is the default."""
    return Space({name: _parameter(target, name, few=few) for name in names})


def _parameter(target: Solver, name: str, *, few: bool) -> Ordinal:
    values, default = list(target.parameters[name]), float(target.defaults[name])
    nearest = min(range(len(values)), key=lambda k: abs(float(values[k]) - default))
    if not few:
        return Ordinal(values, default=values[nearest])
    chosen = {round(k * (len(values) - 1) / (FEW_VALUES - 1)) for k in range(FEW_VALUES)}
    chosen.discard(min(chosen, key=lambda k: abs(k - nearest)))
    return Ordinal([values[k] for k in sorted({*chosen, nearest})], default=values[nearest])


Key = tuple[str, int, int]
"""A configuration's key, the number of an instance, and of its copy."""


class Runs:
    """The runs of a case so far, in memory and on disk."""

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
class Lab(Target):
    """A solver whose configurations can be searched, and judged on other instances."""

    solver: Solver
    space: Space
    runs: Runs
    folder: Path

    def __post_init__(self) -> None:
        self._file = cache(self._written)

    @property
    def scenario(self) -> Scenario:
        """What a search sees."""
        return Scenario(self.space, tuple(Instance(f"{k}", k) for k in TRAINED))

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


class Row(NamedTuple):
    """What a search had found after some runs."""

    case: str
    space: str
    configurator: str
    operator: str
    runs: int
    seed: int
    cost: float


def searched(lab: Lab, configurator: Configurator, seed: int) -> Iterator[tuple[int, float]]:
    """Held-out costs after each budget, of one search as long as the largest."""
    budget = Budget(runs=max(BUDGETS))
    result = tune_scenario(lab.scenario, lab, configurator, budget=budget, seed=seed)
    for runs in BUDGETS:
        best = [point.config for point in result.trajectory if point.runs <= runs][-1]
        yield runs, lab.held_out(best)


def read_results() -> list[Row]:
    """The searches so far."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return [
            Row(*row[:4], int(row[4]), int(row[5]), float(row[6]))
            for row in list(csv.reader(file))[1:]
        ]


def search(
    case: str, space: str, configurators: Sequence[str], seeds: int, minutes: float
) -> Iterator[str]:
    """Make the searches of a case that were not made; yields progress."""
    end = time.monotonic() + 60 * minutes
    known = {(*row[:4], row.seed) for row in read_results()}
    names, few = SPACES[space]
    runs, target = Runs(case), solver_of(case)
    with TemporaryDirectory() as folder:
        lab = Lab(target, space_of(target, CASES[case][:names], few=few), runs, Path(folder))
        for seed in range(seeds):
            for which, configurator in CONFIGURATORS.items():
                if which[0] not in configurators or (case, space, *which, seed) in known:
                    continue
                if time.monotonic() > end:
                    yield "time is up; run it again to go on"
                    return
                found = searched(lab, configurator, seed)
                add([Row(case, space, *which, runs, seed, cost) for runs, cost in found])
                runs.save()
            yield f"{case} {space}: seed {seed}"


def add(rows: Sequence[Row]) -> None:
    """Keep a search."""
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(HEADER)
        writer.writerows((*row[:-1], f"{row.cost:.5g}") for row in rows)


class Summary(NamedTuple):
    """Held-out costs of some searches, and how they compare with uniform steps."""

    searches: int
    cost: float
    """Geometric mean over seeds, relative to the default configuration."""
    error: float
    ratio: float
    """Geometric mean, seed by seed, of the cost over that with uniform steps."""
    ratio_error: float
    wins: int
    """Seeds with a lower cost than with uniform steps."""
    losses: int


def summaries(rows: Sequence[Row]) -> dict[tuple[str, str, str, str, int], Summary]:
    """By case, space, configurator, operator and budget."""
    groups: dict[tuple[str, str, str, str, int], dict[int, float]] = defaultdict(dict)
    for row in rows:
        groups[row[:5]][row.seed] = row.cost
    return {
        key: _summary(costs, groups.get((*key[:3], "uniform", key[4]), {}))
        for key, costs in groups.items()
    }


def _summary(costs: Mapping[int, float], uniform: Mapping[int, float]) -> Summary:
    logs = [math.log(cost) for cost in costs.values()]
    ratios = [math.log(costs[s] / uniform[s]) for s in costs if s in uniform]
    cost, ratio = math.exp(fmean(logs)), math.exp(fmean(ratios)) if ratios else math.nan
    return Summary(
        len(logs),
        cost,
        cost * _error(logs),
        ratio,
        ratio * _error(ratios),
        sum(r < -1e-9 for r in ratios),
        sum(r > 1e-9 for r in ratios),
    )


def _error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landscapes.configurators")
    parser.add_argument("--case", choices=CASES, help="make searches of this case")
    parser.add_argument("--space", choices=SPACES, default="2 of 33")
    parser.add_argument("--configurators", nargs="+", metavar="NAME", default=ALGORITHMS)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=8.0, help="stop after (default: 8)")
    given = parser.parse_args()
    if given.case:
        for line in search(
            given.case, given.space, given.configurators, given.seeds, given.minutes
        ):
            print(line, flush=True)
    for key, one in sorted(summaries(read_results()).items()):
        print(*key, f"{one.cost:.3f} ± {one.error:.3f}", f"{one.ratio:.3f} ± {one.ratio_error:.3f}")


if __name__ == "__main__":
    main()
