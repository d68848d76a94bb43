"""Compare ways of searching on real solvers, or on surrogates of them, which are quick.

python -m benchmarks.laboratory --cases minisat --variants plain learned --runs 300 --times 50
python -m benchmarks.laboratory --real --variants plain learned --runs 300 1000 --times 10

Printed is the geometric mean, over seeds, of the held-out cost relative to the default's, with its
standard error, and the time that a search took for each run, the target's included. One search,
as long as the longest budget, serves all budgets: what it had found by then. With --out FILE every
search is kept as a line, and what is there already is not made again.
"""

import argparse
import csv
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from statistics import fmean, stdev

from rich.console import Console
from rich.table import Table

from benchmarks.laboratory.cases import CASES, COLLECTED, fold
from benchmarks.laboratory.real import Real
from benchmarks.laboratory.surrogate import DATA, Surrogate
from benchmarks.laboratory.variants import VARIANTS
from paramhs.api.tune import tune_scenario
from paramhs.execution.driver import Budget
from paramhs.search.configurators import Configurator

Row = tuple[str, str, int, int, float, float]
"""Case, variant, runs, seed, relative cost, milliseconds a run."""


def searched(
    lab: Real | Surrogate, configurator: Configurator, runs: Sequence[int], seed: int
) -> Iterator[tuple[int, float, float]]:
    """Yield what a search had found after these numbers of runs, relative to the default."""
    begun = time.perf_counter()
    budget = Budget(runs=max(runs))
    result = tune_scenario(lab.scenario, lab.target, configurator, budget=budget, seed=seed)
    pace = 1000 * (time.perf_counter() - begun) / max(runs)
    for count in runs:
        best = [point.config for point in result.trajectory if point.runs <= count][-1]
        yield count, lab.true_cost(best) / lab.default_cost, pace


def collected() -> list[str]:
    """The cases whose runs are kept; `benchmarks.laboratory.collect` makes those of others."""
    return [name for name in CASES if (DATA / f"{name}.npz").exists()]


def read(out: Path | None) -> list[Row]:
    """The searches that were made before."""
    if out is None or not out.exists():
        return []
    with out.open(encoding="utf-8", newline="") as file:
        return [(a, b, int(c), int(d), float(e), float(f)) for a, b, c, d, e, f in csv.reader(file)]


def add(out: Path | None, rows: Sequence[Row]) -> None:
    """Keep a search."""
    for row in rows:
        print(*row[:4], f"{row[4]:.4f}", f"{row[5]:.1f} ms a run", flush=True)
    if out is not None:
        with out.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def summary(costs: Sequence[float]) -> str:
    """The geometric mean and its standard error."""
    logs = [math.log(cost) for cost in costs]
    error = stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan
    middle = math.exp(fmean(logs))
    return f"{middle:.3f} ± {middle * error:.3f}"


def show(rows: Sequence[Row]) -> None:
    """A row for each case, budget and variant."""
    groups: dict[tuple[str, int, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[0], row[2], row[1]].append(row)
    table = Table("case", "runs", "variant", "searches", "relative cost", "ms a run")
    for (case, runs, variant), found in sorted(groups.items(), key=lambda item: item[0][:2]):
        cost, pace = summary([row[4] for row in found]), fmean(row[5] for row in found)
        table.add_row(case, f"{runs:,}", variant, str(len(found)), cost, f"{pace:.1f}")
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.laboratory")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=collected())
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--runs", type=int, nargs="+", default=[300])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = read(given.out)
    done = {row[:4] for row in rows}
    for name in given.cases:
        for seed in range(given.first, given.first + given.times):
            left = [
                variant
                for variant in given.variants
                if not all((name, variant, runs, seed) in done for runs in given.runs)
            ]
            if left:
                rows += compare(name, left, given, seed)
    show(rows)


def compare(name: str, variants: Sequence[str], given: argparse.Namespace, seed: int) -> list[Row]:
    """One search of each variant."""
    rows: list[Row] = []
    with real(name, seed) if given.real else nullcontext(surrogate(name)) as lab:
        for variant in variants:
            found = searched(lab, VARIANTS[variant], given.runs, seed)
            new: list[Row] = [(name, variant, r, seed, cost, ms) for r, cost, ms in found]
            add(given.out, new)
            rows += new
    return rows


@contextmanager
def real(name: str, seed: int) -> Iterator[Real]:
    """The solver, with training instances of this seed's own."""
    with CASES[name](fold(seed)) as case:
        yield Real(case)


@lru_cache
def surrogate(name: str) -> Surrogate:
    """A fit to the runs that were collected."""
    with CASES[name](COLLECTED) as case:
        return Surrogate(case)


if __name__ == "__main__":
    main()
