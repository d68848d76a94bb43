"""Whole configurators on four solvers, with each operator of the paper.

python -m benchmarks.landscapes.configurators --case minisat --space "2 of 33"
python -m benchmarks.landscapes.configurators                    print what is there

Searches are kept in data/configurators.csv. Run it again to go on.
"""

import argparse
import csv
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from benchmarks.landscapes.labs import CASES, SPACES, Lab, lab_of
from benchmarks.landscapes.tables import DATA
from paramhs.api.tune import tune_scenario
from paramhs.execution.driver import Budget
from paramhs.search.comparison import FixedRuns
from paramhs.search.configurators import Configurator, ParamHS, ParamILS, ParamRLS
from paramhs.search.operators import BothSides, Harmonic, Learned, LStep, OneParameter, Uniform

RESULTS = DATA / "configurators.csv"
HEADER = ("case", "space", "configurator", "operator", "runs", "seed", "cost")
BUDGETS = (100, 300, 1_000)
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

ALGORITHMS = tuple(dict.fromkeys(name for name, _ in CONFIGURATORS))


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
    with lab_of(case, space) as lab:
        for seed in range(seeds):
            for which, configurator in CONFIGURATORS.items():
                if which[0] not in configurators or (case, space, *which, seed) in known:
                    continue
                if time.monotonic() > end:
                    yield "time is up; run it again to go on"
                    return
                found = searched(lab, configurator, seed)
                add([Row(case, space, *which, runs, seed, cost) for runs, cost in found])
                lab.save()
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
