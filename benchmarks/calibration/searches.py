"""Whole searches on targets whose true costs are known, for the tables of stopping and of widths.

python -m benchmarks.calibration.searches --runs 5000 --seeds 0 1 2 --cases saps annealing

Targets are surrogates of real ones (`benchmarks.laboratory`) and, with a star, solvers whose
measured work is replayed (`benchmarks.landscapes`). Rows are kept in data/searches.jsonl, one for
each search: what its incumbents truly cost and how they looked, so that a rule of stopping can be
applied afterwards; and what was said of the configurations tried, beside what was true. A search
that is there already is not made again.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean

from benchmarks.laboratory.__main__ import collected, surrogate
from benchmarks.landscapes.labs import Replayed
from paramhs.analysis.expected_gain import improvements
from paramhs.analysis.gain_bound import MAX_STATED_GAIN, gain_bound
from paramhs.api.tune import tune_scenario
from paramhs.core.runs import Target
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config
from paramhs.execution.driver import Budget
from paramhs.search.history import History
from paramhs.search.record import Record
from paramhs.search.registry import CONFIGURATORS

DATA = Path(__file__).parent / "data" / "searches.jsonl"
REPLAYED = ("cadical*", "clasp*", "minisat*", "saps*")
MOMENTS = (100, 300, 1_000, 3_000, 4_700)
RACE_GROWTH = 1.01
"""Growth of the runs between two races that are kept."""
_SEEDS = range(-8, 0)  # of the runs of a surrogate whose mean is the truth


@dataclass(frozen=True)
class Kept:
    """A search: what it saw and what is true."""

    case: str
    seed: int
    budget: int
    runs: int
    """Runs that were made: the budget without the reserve, unless that was used."""
    points: list[int]
    """Runs before each incumbent."""
    costs: list[float]
    """True cost of each incumbent on other instances, relative to that of the default."""
    gains: list[tuple[int, float, float]]
    """Each improvement: runs before it, the share that it seemed to save, and its error."""
    races: list[int]
    """Runs after some of the races, the first fifty left out."""
    tried: list[tuple[int, int, float, float]]
    """Runs, configurations tried, the share that none of them saves, and the largest true one."""

    def cost_after(self, runs: float) -> float:
        """True cost of the incumbent after this number of runs."""
        return [c for c, first in zip(self.costs, self.points, strict=True) if first <= runs][-1]


@dataclass(frozen=True)
class Lab:
    """A target and what is true of its configurations."""

    scenario: Scenario
    target: Target
    cost: Callable[[Config], float]
    """Mean cost on other instances, relative to the default's."""
    level: Callable[[Config], float]
    """Mean logarithm of the cost on the instances of the search."""


@cache
def lab(case: str) -> Lab:
    """The target of a case."""
    if not case.endswith("*"):
        real = surrogate(case)
        return Lab(
            real.scenario,
            real,
            lambda config: real.true_cost(config) / real.default_cost,
            lambda config: fmean(
                math.log(min(real.work(config, instance, seed), 1e12))
                for instance in real.scenario.instances
                for seed in ([0] if real.scenario.deterministic else _SEEDS)
            ),
        )
    solver = Replayed.of(case.removesuffix("*"), few=False)
    numbers = [int(instance.value) for instance in solver.scenario.instances]  # type: ignore[call-overload]

    def level(config: Config) -> float:
        factors = [solver.factors[name][value] for name, value in config.items()]
        return sum(fmean(math.log(one[n]) for n in numbers) for one in factors)

    return Lab(solver.scenario, solver, solver.held_out, level)


def prefix(whole: Record, runs: int) -> Record:
    """The record as it was after this number of runs."""
    history = History(whole.scenario, whole.history.seed)
    for run in whole.runs[:runs]:
        history.add(run)
    history.restore(runs, (race for race in whole.history.races if race.asked <= runs))
    points = [point for point in whole.trajectory if point.runs <= runs]
    return replace(whole, history=history, trajectory=points, elapsed=whole.elapsed[:runs])


def searched(case: str, seed: int, runs: int) -> Kept:
    """A search of the default kind."""
    of = lab(case)
    budget, configurator = Budget(runs=runs), CONFIGURATORS["paramhs"]
    record = tune_scenario(of.scenario, of.target, configurator, budget=budget, seed=seed).record
    known = cache(of.level)
    found = [_tried(prefix(record, n), known) for n in MOMENTS if n <= len(record.runs)]
    return kept(case, seed, runs, record, of.cost, found)


def kept(
    case: str,
    seed: int,
    budget: int,
    record: Record,
    cost: Callable[[Config], float],
    tried: list[tuple[int, int, float, float]],
) -> Kept:
    """What is kept of a search."""
    points = record.trajectory
    return Kept(
        case,
        seed,
        budget,
        len(record.runs),
        [point.runs for point in points],
        [round(cost(point.config), 5) for point in points],
        [(n, round(s, 5), round(e, 5)) for n, s, e in improvements(record.history, points)],
        list(_some([race.asked for race in record.history.races[50:]])),
        tried,
    )


def _some(races: list[int]) -> Iterator[int]:
    last = 0.0
    for asked in races:
        if asked >= RACE_GROWTH * last:
            last = asked
            yield asked


def _tried(record: Record, level: Callable[[Config], float]) -> tuple[int, int, float, float]:
    """What is said of the configurations tried, and what is true."""
    said, configs = gain_bound(record), record.history.configs
    bound = MAX_STATED_GAIN if said is None else said.bound
    true = 1 - math.exp(min(map(level, configs)) - level(record.best))
    return len(record.runs), len(configs), round(bound, 5), round(true, 5)


def read(path: Path = DATA) -> list[Kept]:
    """The searches that were made."""
    if not path.exists():
        return []
    return [Kept(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Make the searches that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--cases", nargs="+", default=[*collected(), *REPLAYED])
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    there = {(one.case, one.seed) for one in read(given.data)}
    begun = time.monotonic()
    for seed in given.seeds:
        for case in given.cases:
            if (case, seed) in there or time.monotonic() - begun > given.seconds:
                continue
            found = searched(case, seed, given.runs)
            with given.data.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(found), separators=(",", ":")) + "\n")
            print(case, seed, len(found.costs), f"{found.costs[-1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
