"""Compare ways of searching on surrogates of real solvers.

python -m benchmarks.lab --cases minisat kissat --variants plain learned --runs 300 --times 50

Printed is the geometric mean, over seeds, of the held-out cost relative to the default's, with its
standard error in per cent, and the time that a search itself took for each run.
"""

import argparse
import math
import time
from collections.abc import Sequence
from statistics import fmean, stdev

from benchmarks.lab.cases import CASES
from benchmarks.lab.surrogate import DATA, Surrogate
from benchmarks.lab.variants import VARIANTS
from rich.console import Console
from rich.table import Table

from paramhs.faces.tuning import tune_scenario
from paramhs.search.configurators import Configurator
from paramhs.world.driver import Budget


def found(surrogate: Surrogate, configurator: Configurator, runs: int, seed: int) -> float:
    """What a search found, relative to the default; a logarithm."""
    result = tune_scenario(
        surrogate.scenario, surrogate, configurator, budget=Budget(runs=runs), seed=seed
    )
    return math.log(surrogate.true_cost(result.best) / surrogate.default_cost)


def collected() -> list[str]:
    """The cases whose runs are kept; `benchmarks.lab.collect` makes those of others."""
    return [name for name in CASES if (DATA / f"{name}.npz").exists()]


def summary(logs: Sequence[float]) -> str:
    """The geometric mean and its standard error."""
    error = stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan
    middle = math.exp(fmean(logs))
    return f"{middle:.3f} ± {middle * error:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lab")
    parser.add_argument("--cases", nargs="+", choices=collected(), default=collected())
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--runs", type=int, nargs="+", default=[300])
    parser.add_argument("--times", type=int, default=50)
    given = parser.parse_args()
    table = Table("case", "runs", "variant", "relative cost", "ms a run")
    for name in given.cases:
        with CASES[name]() as case:  # type: ignore[attr-defined]
            surrogate = Surrogate(case)
            print(name, f"the forest explains {surrogate.explained:.0%}", flush=True)
            for runs in given.runs:
                for variant in given.variants:
                    begun = time.process_time()
                    logs = [
                        found(surrogate, VARIANTS[variant], runs, seed)
                        for seed in range(given.times)
                    ]
                    spent = 1000 * (time.process_time() - begun) / given.times / runs
                    row = (name, f"{runs:,}", variant, summary(logs), f"{spent:.2f}")
                    print(*row, flush=True)
                    table.add_row(*row)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
