"""Targets without noise and without instances: tables of measured systems, and two functions.

python -m benchmarks.studies.measured_systems FOLDER
python -m benchmarks.studies.measured_systems FOLDER --variants epsilon-0.1 --seeds 10
python -m benchmarks.studies.measured_systems FOLDER --rows searches.csv
python -m benchmarks.studies.measured_systems --functions --peers TPE GP

With a folder, mean ranks after 20, 50 and 100 evaluations (--rows: each search as it ends, in a
file that later calls go on with); with --functions, mean regrets on Branin
and Hartmann 6 after 100 runs, beside Optuna's samplers.

FOLDER holds a table for each system (a column for each option, the cost last) and
`published.csv`: what other tuners reached, mean of the best of 30 seeds. All options are ordinal.
The cost of a row that occurs several times is its worst; a configuration that was not measured is
answered by the nearest measured one, options scaled to 0 .. 1; to meet a measured row again is a
run, but no evaluation. A column called throughput is maximised. Each search begins at a random
measured row. Ranks are among the published tuners, system by system, by the mean; their mean over
the systems is printed, with its standard error when seeds are drawn again.
"""

import argparse
import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from time import process_time as cpu_seconds

import numpy as np
from rich.console import Console
from rich.table import Table

from paramhs import Watcher, tune
from paramhs.core.space import Config, Ordinal, Real, Space
from paramhs.execution.driver.callbacks import Progress
from paramhs.search.configurators import Configurator, ParamHS
from paramhs.search.operators import Learned, SeveralParameters, UniformRandom
from paramhs.search.record import Record

COUNTS = (20, 50, 100)
VARIANTS: dict[str, Configurator] = {
    "paramhs": ParamHS(),
    "plain": ParamHS(SeveralParameters()),
    "random": ParamHS(UniformRandom()),
    "epsilon-0.1": ParamHS(Learned(epsilon=0.1)),
    "epsilon-0.05": ParamHS(Learned(epsilon=0.05)),
    "epsilon-0.5": ParamHS(Learned(epsilon=0.5)),
}
RESAMPLES = 200
PATIENCE = 3
"""Runs for each evaluation that is counted, at the most."""


class Enough(Exception):
    """All evaluations were made."""


Published = dict[str, dict[int, dict[str, float]]]
"""By system, evaluations and tuner."""


@dataclass(frozen=True)
class System:
    """A table of measured configurations."""

    name: str
    options: Sequence[str]
    rows: np.ndarray
    costs: np.ndarray

    @staticmethod
    def read(file: Path) -> "System":
        """From a file; throughput is negated."""
        with file.open(encoding="utf-8", newline="") as text:
            header, *lines = csv.reader(text)
        worst: dict[tuple[float, ...], float] = {}
        sign = -1.0 if "throughput" in header[-1].lower() else 1.0
        for line in lines:
            *values, cost = map(float, line)
            worst[tuple(values)] = max(sign * cost, worst.get(tuple(values), -math.inf))
        return System(file.stem, header[:-1], np.array(list(worst)), np.array([*worst.values()]))

    def space(self, start: Sequence[float]) -> Space:
        """All values that occur, with this row as the default."""
        columns = zip(self.options, self.rows.T, start, strict=True)
        return Space(
            {
                name: Ordinal(np.unique(column).tolist(), default=float(first))
                for name, column, first in columns
            }
        )

    def nearest(self) -> Callable[[Mapping[str, float]], tuple[float, int]]:
        """What a configuration costs, and which row was measured."""
        low, width = self.rows.min(axis=0), np.ptp(self.rows, axis=0)
        scaled = (self.rows - low) / np.where(width > 0, width, 1.0)
        known: dict[tuple[float, ...], int] = {}

        def cost(config: Mapping[str, float]) -> tuple[float, int]:
            values = tuple(float(config[name]) for name in self.options)
            if values not in known:
                at = (np.array(values) - low) / np.where(width > 0, width, 1.0)
                known[values] = int(np.argmin(((scaled - at) ** 2).sum(axis=1)))
            return float(self.costs[known[values]]), known[values]

        return cost


def published(folder: Path) -> Published:
    """What the others reached."""
    found: Published = defaultdict(lambda: defaultdict(dict))
    with (folder / "published.csv").open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            mean = float(row["mean_best_of_30_seeds"])
            found[row["system"]][int(row["evaluations"])][row["tuner"]] = mean
    return found


def best_after(
    target: Callable[[Mapping[str, float]], tuple[float, int]],
    space: Space,
    configurator: Configurator,
    seed: int,
    counts: Sequence[int],
) -> list[float]:
    """The lowest cost after each of these numbers of different evaluations."""
    best: list[float] = []
    seen: set[int] = set()

    def cost(config: Mapping[str, float]) -> float:
        found, row = target(config)
        if row not in seen:
            seen.add(row)
            best.append(min(found, best[-1] if best else found))
        return found

    class Until(Watcher):
        def ran(self, record: Record, progress: Progress) -> None:
            if len(seen) >= max(counts):
                raise Enough

    runs = PATIENCE * max(counts)
    with suppress(Enough):
        tune(cost, space, budget=runs, configurator=configurator, seed=seed, watcher=Until())
    return [best[min(count, len(best)) - 1] for count in counts]


@dataclass(frozen=True)
class Rows:
    """Searches that were made: their best costs and their processor time, kept in a file."""

    file: Path | None
    known: dict[tuple[str, str, int], list[float]]

    @staticmethod
    def read(file: Path | None) -> "Rows":
        """Those of earlier calls."""
        if file is None or not file.exists():
            return Rows(file, {})
        with file.open(encoding="utf-8", newline="") as text:
            lines = csv.reader(text)
            next(lines)
            known = {(a, b, int(c)): [float(x) for x in rest] for a, b, c, *rest in lines}
        return Rows(file, known)

    def add(self, variant: str, system: str, seed: int, row: list[float]) -> None:
        """One more, written at once."""
        self.known[variant, system, seed] = row
        if self.file is None:
            return
        is_new = not self.file.exists()
        with self.file.open("a", encoding="utf-8", newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            if is_new:
                best = (f"best_after_{count}" for count in COUNTS)
                writer.writerow(["search", "system", "seed", *best, "cpu_seconds"])
            writer.writerow([variant, system, seed, *(float(f"{x:.9g}") for x in row)])


def searched(
    system: System, variant: str, seeds: Sequence[int], rows: Rows
) -> tuple[np.ndarray, float]:
    """The best by seed and count, and the milliseconds of a run."""
    target = system.nearest()
    for seed in seeds:
        if (variant, system.name, seed) not in rows.known:
            start, begun = system.rows[Random(seed).randrange(len(system.rows))], cpu_seconds()
            best = best_after(target, system.space(start), VARIANTS[variant], seed, COUNTS)
            rows.add(variant, system.name, seed, [*best, cpu_seconds() - begun])
    found = np.array([rows.known[variant, system.name, seed] for seed in seeds])
    return found[:, :-1], 1000 * float(found[:, -1].mean()) / max(COUNTS)


def rank(mean: float, others: Sequence[float]) -> float:
    """Among the others, ties shared; 1 is best."""
    better = sum(other < mean and not math.isclose(other, mean) for other in others)
    equal = sum(math.isclose(other, mean) for other in others)
    return 1 + better + equal / 2


def ranks(found: Mapping[str, np.ndarray], others: Published, rng: Random) -> Iterator[str]:
    """The mean rank at each count, and its standard error over seeds drawn again."""
    for column, number in enumerate(COUNTS):

        def mean_rank(chosen: Callable[[np.ndarray], np.ndarray], at: int, runs: int) -> float:
            return fmean(
                rank(float(chosen(costs)[:, at].mean()), [*others[name][runs].values()])
                for name, costs in found.items()
            )

        def again(costs: np.ndarray) -> np.ndarray:
            return costs[[rng.randrange(len(costs)) for _ in costs]]

        error = stdev(mean_rank(again, column, number) for _ in range(RESAMPLES))
        yield f"{mean_rank(lambda costs: costs, column, number):.2f} ± {error:.2f}"


def compare_systems(
    folder: Path, variants: Sequence[str], seeds: Sequence[int], rows: Rows
) -> None:
    """A row for each variant, of each of the systems and of all."""
    others = published(folder)
    systems = [System.read(folder / f"{name}.csv") for name in sorted(others)]
    table = Table("search", *(f"{count} runs" for count in COUNTS), *others, "ms a run")
    for variant in variants:
        both = {s.name: searched(s, variant, seeds, rows) for s in systems}
        found = {name: costs for name, (costs, _) in both.items()}
        each = [
            " ".join(
                f"{rank(float(costs[:, k].mean()), [*others[name][count].values()]):.0f}"
                for k, count in enumerate(COUNTS)
            )
            for name, costs in sorted(found.items())
        ]
        pace = fmean(spent for _, spent in both.values())
        table.add_row(variant, *ranks(found, others, Random(0)), *each, f"{pace:.1f}")
    Console(width=150).print(table)


# Functions of real parameters.


def branin(config: Mapping[str, float]) -> float:
    """Two parameters, three minima of 0.397887."""
    x, y = config["x"], config["y"]
    curve = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
    return curve**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def hartmann(config: Mapping[str, float]) -> float:
    """Six parameters, six minima of which the lowest is -3.32237."""
    x = [config[f"x{k}"] for k in range(6)]
    total = 0.0
    for weight, scale, centre in zip((1.0, 1.2, 3.0, 3.2), SCALES, CENTRES, strict=True):
        bend = sum(a * (v - p) ** 2 for a, v, p in zip(scale, x, centre, strict=True))
        total -= weight * math.exp(-bend)
    return total


SCALES = (
    (10, 3, 17, 3.5, 1.7, 8),
    (0.05, 10, 17, 0.1, 8, 14),
    (3, 3.5, 1.7, 10, 17, 8),
    (17, 8, 0.05, 10, 0.1, 14),
)
CENTRES = (
    (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
    (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
    (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
    (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381),
)
FUNCTIONS: dict[
    str, tuple[Callable[[Mapping[str, float]], float], dict[str, tuple[float, float]], float]
] = {
    "branin": (branin, {"x": (-5.0, 10.0), "y": (0.0, 15.0)}, 0.39788735),
    "hartmann": (hartmann, {f"x{k}": (0.0, 1.0) for k in range(6)}, -3.32236801),
}


def regrets(name: str, variant: str, levels: int, seeds: Sequence[int]) -> list[float]:
    """How far the best of 100 runs is from the lowest cost."""
    function, ranges, least = FUNCTIONS[name]

    def target(config: Mapping[str, float]) -> tuple[float, int]:
        return function(config), next(runs)

    found = []
    for seed in seeds:
        runs = count()
        rng = Random(seed)
        space = Space({k: Real(a, b, levels=levels) for k, (a, b) in ranges.items()})
        start: Config = space.sample(rng)
        begun = {
            k: Real(a, b, levels=levels, default=float(start[k]))  # type: ignore[arg-type]
            for k, (a, b) in ranges.items()
        }
        (best,) = best_after(target, Space(begun), VARIANTS[variant], seed, (100,))
        found.append(best - least)
    return found


def regrets_of_optuna(name: str, sampler: str, seeds: Sequence[int]) -> list[float]:
    """Regrets of one of Optuna's samplers, over real numbers."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    target, ranges, least = FUNCTIONS[name]
    made = {"TPE": optuna.samplers.TPESampler, "GP": optuna.samplers.GPSampler}[sampler]
    found = []
    for seed in seeds:
        study = optuna.create_study(sampler=made(seed=seed))

        def objective(trial: optuna.Trial) -> float:
            return target({k: trial.suggest_float(k, a, b) for k, (a, b) in ranges.items()})

        study.optimize(objective, n_trials=100)
        found.append(study.best_value - least)
    return found


def compare_functions(variants: Sequence[str], seeds: Sequence[int], peers: Sequence[str]) -> None:
    """Mean and median regret, with the standard error of the mean."""
    table = Table("function", "search", "levels", "mean regret", "median", "ms a run")

    def add(name: str, who: str, levels: str, make: Callable[[], list[float]]) -> None:
        begun = cpu_seconds()
        found = make()
        spent = 1000 * (cpu_seconds() - begun) / (100 * len(found))
        error = stdev(found) / math.sqrt(len(found))
        middle = float(np.median(found))
        mean = f"{fmean(found):.5f} ± {error:.5f}"
        table.add_row(name, who, levels, mean, f"{middle:.5f}", f"{spent:.1f}")

    for name in FUNCTIONS:
        for variant in variants:
            for levels in (65, 1001, 100_001):
                add(name, variant, f"{levels:,}", lambda: regrets(name, variant, levels, seeds))  # noqa: B023
        for peer in peers:
            add(name, f"Optuna {peer}", "-", lambda: regrets_of_optuna(name, peer, seeds))  # noqa: B023
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.measured_systems")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=["paramhs"])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--peers", nargs="*", choices=("TPE", "GP"), default=[])
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    if given.folder is not None:
        compare_systems(given.folder, given.variants, seeds, Rows.read(given.rows))
    if given.functions:
        compare_functions(given.variants, seeds, given.peers)


if __name__ == "__main__":
    main()
