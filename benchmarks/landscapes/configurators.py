"""Whole configurators with each operator, in spaces with many values a parameter and with few.

python -m benchmarks.landscapes.configurators                     the table, from the kept searches
python -m benchmarks.landscapes.configurators --case saps --minutes 8
python -m benchmarks.landscapes.configurators --case clasp --seeds 20

A case is real, or replayed: there a run's work is that of a measured run of the base, times a
factor for each parameter, which is its measured mean on that instance. So the landscape of each
parameter is real, and so is the noise, but parameters do not act together.
"""

import argparse
import csv
import math
import time
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks.landscapes.tables import DATA, Array, Measured, measured, read_rows
from benchmarks.landscapes.targets import TARGETS
from benchmarks.landscapes.targets import Target as Solver
from paramhs.api.tune import tune_scenario
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Ordinal, Space, Value
from paramhs.execution.driver import Budget
from paramhs.search.comparison import FixedRuns
from paramhs.search.configurators import Configurator, ParamHS, ParamILS, ParamRLS
from paramhs.search.operators import BothSides, Harmonic, Learned, LStep, OneParameter, Uniform

RESULTS = DATA / "configurators.csv"
HEADER = ("case", "space", "configurator", "operator", "runs", "seed", "cost")
BUDGETS = (100, 300, 1_000)
FEW_VALUES = 5
"""Values of a parameter in the small spaces."""
BASIC_RUNS = 10
"""N of BasicILS: budgets of hundreds of runs do not allow more."""

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


class Lab(Target):
    """A solver whose configurations can be searched, and judged on instances of their own."""

    scenario: Scenario
    """What a search sees."""
    budgets: Sequence[int]

    @abstractmethod
    def held_out(self, config: Config) -> float:
        """Mean cost on other instances, relative to the default's."""


def spaces(target: Solver, names: Sequence[str], *, few: bool) -> Space:
    """The measured values of some parameters, with the default instead of the nearest; or five."""
    return Space({name: _parameter(target, name, few=few) for name in names})


def _parameter(target: Solver, name: str, *, few: bool) -> Ordinal:
    values = list(target.parameters[name])
    nearest = nearest_to_default(target, name)
    if not few:
        return Ordinal(values, default=values[nearest])
    chosen = {round(k * (len(values) - 1) / (FEW_VALUES - 1)) for k in range(FEW_VALUES)}
    chosen.discard(min(chosen, key=lambda k: abs(k - nearest)))
    return Ordinal([values[k] for k in sorted({*chosen, nearest})], default=values[nearest])


def nearest_to_default(target: Solver, name: str) -> int:
    """Index of the measured value that is nearest to the default."""
    values, default = target.parameters[name], float(target.defaults[name])
    return min(range(len(values)), key=lambda k: abs(float(values[k]) - default))


@dataclass(eq=False)
class Replayed(Lab):
    """Runs made up of measured ones."""

    scenario: Scenario
    factors: Mapping[str, Mapping[Value, Array]]
    """Mean work with a value, relative to the base, on each instance."""
    base: Array
    """Work of the base: `[copy, instance]`, relative to its mean."""
    tests: Sequence[int]
    budgets: Sequence[int] = BUDGETS

    @staticmethod
    def of(solver: str, *, few: bool) -> "Replayed":
        """Even instances for the search, odd ones to judge."""
        target = TARGETS[solver]()
        ones = [one for one in measured(solver, read_rows(solver)) if one.base == "default"]
        names = [one.parameter for one in ones if one.parameter not in ALTERNATIVES]
        space = spaces(target, names, few=few)
        count = ones[0].ratios.shape[2]
        instances = tuple(Instance(f"{k:02}", k) for k in range(0, count, 2))
        factors = {one.parameter: _factors(one, target) for one in ones}
        scenario = Scenario(space, instances)
        return Replayed(scenario, factors, _base(ones), range(1, count, 2))

    def __call__(self, task: Task) -> Run:
        """The work of the base on a copy, times the factors."""
        number = task.instance.value
        noise = self.base[task.seed % len(self.base), number]
        return Run(task, Status.OK, 0.0, float(noise * self._factor(task.config)[number]))

    def _factor(self, config: Config) -> Array:
        known = self.__dict__.setdefault("_known", {})
        if config not in known:
            listed = [self.factors[name][value] for name, value in config.items()]
            known[config] = np.prod(listed, axis=0)
        return np.asarray(known[config])

    def held_out(self, config: Config) -> float:
        """The mean on the odd instances."""
        default = self.scenario.space.default
        return float(
            self._factor(config)[self.tests].mean() / self._factor(default)[self.tests].mean()
        )


ALTERNATIVES = ("restarts-x-factor", "restarts-d-window", "restarts-d-factor")
"""Parameters of clasp that set the same option as another."""


def _factors(one: Measured, target: Solver) -> dict[Value, Array]:
    base = one.base_ratios.mean(axis=0)
    means = one.ratios.mean(axis=1) / base
    by_value = dict(zip(one.values, means, strict=True))
    return {value: by_value[float(value)] for value in target.parameters[one.parameter]}


def _base(ones: Sequence[Measured]) -> Array:
    longest = max(ones, key=lambda one: one.base_ratios.shape[0])
    return longest.base_ratios


@dataclass(eq=False)
class Real(Lab):
    """Real runs, of instances that were not measured: others for the search, others to judge."""

    target: Solver
    scenario: Scenario
    folder: Path
    budgets: Sequence[int]

    TRAINED = range(100, 120)
    TESTS = range(200, 220)
    TEST_COPIES = (1, 2)

    def __post_init__(self) -> None:
        self._held_out = cache(self._judged)
        self._file = cache(self._written)

    def __call__(self, task: Task) -> Run:
        """A run of the solver, on a copy drawn by the seed."""
        return Run(
            task, Status.OK, 0.0, self.work(task.config, task.instance.value, task.seed % 1_000)
        )

    def work(self, config: Config, number: int, copy: int) -> float:
        """The work; without an answer it counts as that of the default ten times."""
        default = self.scenario.space.default
        changed = {name: value for name, value in config.items() if value != default[name]}
        work = self.target.run(changed, self._file(number, copy), copy)
        return 10 * self.work(default, number, copy) if math.isnan(work) else work

    def _written(self, number: int, copy: int) -> str:
        path = self.folder / f"{number}-{copy}{self.target.suffix}"
        path.write_text(self.target.make(number, copy), encoding="utf-8")
        return str(path)

    def held_out(self, config: Config) -> float:
        """The mean over instances of the work, relative to the default's on the same."""
        return self._held_out(config)

    def _judged(self, config: Config) -> float:
        default = self.scenario.space.default
        return fmean(
            sum(self.work(config, n, c) for c in self.TEST_COPIES) / self._default(n, default)
            for n in self.TESTS
        )

    def _default(self, number: int, default: Config) -> float:
        known = self.__dict__.setdefault("_defaults", {})
        if number not in known:
            known[number] = sum(self.work(default, number, copy) for copy in self.TEST_COPIES)
        return float(known[number])


@contextmanager
def real(solver: str, budgets: Sequence[int], *, few: bool) -> Iterator[Real]:
    """A solver with the instances of its runs in a temporary folder."""
    target = TARGETS[solver]()
    names = list(target.parameters)
    instances = tuple(Instance(f"{k}", k) for k in Real.TRAINED)
    with TemporaryDirectory() as folder:
        scenario = Scenario(spaces(target, names, few=few), instances)
        yield Real(target, scenario, Path(folder), budgets)


@contextmanager
def replayed(solver: str, *, few: bool) -> Iterator[Replayed]:
    """A solver whose runs were measured."""
    yield Replayed.of(solver, few=few)


CASES: Mapping[str, Callable[[bool], "contextmanager[Lab]"]] = {
    "saps": lambda few: real("saps", BUDGETS[:2], few=few),
    "saps, replayed": lambda few: replayed("saps", few=few),
    "minisat, replayed": lambda few: replayed("minisat", few=few),
    "cadical, replayed": lambda few: replayed("cadical", few=few),
    "clasp, replayed": lambda few: replayed("clasp", few=few),
}


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
    budget = Budget(runs=max(lab.budgets))
    result = tune_scenario(lab.scenario, lab, configurator, budget=budget, seed=seed)
    for runs in lab.budgets:
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


def search(case: str, seeds: int, minutes: float) -> None:
    """Make the searches of a case that were not made."""
    end = time.monotonic() + 60 * minutes
    known = {(*row[:4], row.seed) for row in read_results()}
    for learning in (False, True):  # slow: last
        for space in ("many", "few"):
            left = [
                (names, seed)
                for seed in range(seeds)
                for names in CONFIGURATORS
                if (names[0] == "default") == learning and (case, space, *names, seed) not in known
            ]
            if not left:
                continue
            with CASES[case](space == "few") as lab:
                for names, seed in left:
                    if time.monotonic() > end:
                        print("time is up; run it again to go on", flush=True)
                        return
                    found = searched(lab, CONFIGURATORS[names], seed)
                    add([Row(case, space, *names, runs, seed, cost) for runs, cost in found])
            print(case, space, flush=True)


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
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=8.0, help="stop after (default: 8)")
    given = parser.parse_args()
    if given.case:
        search(given.case, given.seeds, given.minutes)
    for key, one in sorted(summaries(read_results()).items()):
        print(*key, f"{one.cost:.3f} ± {one.error:.3f}", f"{one.ratio:.3f} ± {one.ratio_error:.3f}")


if __name__ == "__main__":
    main()
