"""Collect real runs: random configurations, harmonic walks from the default and from good ones.

python -m benchmarks.laboratory.collect kissat --runs 12000

The table, data/kissat.npz, has a row a run: the configuration's indices, the number of the
instance, the seed, and the work that the target counted (not a number where it gave no answer).
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.laboratory.cases import CASES, COLLECTED, Case
from paramhs.api.tune import tune_scenario
from paramhs.core.runs import Run, Status
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config
from paramhs.execution.driver import Budget
from paramhs.execution.settings import Running
from paramhs.search.comparison import FixedRuns, Growing
from paramhs.search.configurators import Configurator, ParamHS
from paramhs.search.operators import SeveralParameters, UniformRandom

DATA = Path(__file__).parent / "data"


def searches(scenario: Scenario, runs: int) -> Iterator[tuple[Configurator, int, int]]:
    """Configurators, their seeds, and how many runs each makes."""
    yield ParamHS(UniformRandom(), Growing(min_runs=2)), 0, runs // 4
    for seed in range(1, 9):
        yield ParamHS(SeveralParameters(), Growing(min_runs=2)), seed, runs // 16


def collect(case: Case, runs: int, jobs: int) -> list[Run]:
    """All runs, each once."""
    whole = replace(case.scenario, instances=(*case.scenario.instances, *case.tests))
    made: dict[object, Run] = {}
    best: dict[Config, None] = {}
    for configurator, seed, share in searches(whole, runs):
        best[_searched(whole, case, configurator, seed, share, jobs, made)] = None
        print(case.name, configurator, seed, len(made), flush=True)
    for seed in range(9, 13):  # walks from good ones, which a search need not leave
        scenario = replace(whole, initial=tuple(best))
        walk = ParamHS(SeveralParameters(), FixedRuns(3))
        best[_searched(scenario, case, walk, seed, runs // 16, jobs, made)] = None
        print(case.name, "from good ones", seed, len(made), flush=True)
    return list(made.values())


def _searched(
    scenario: Scenario,
    case: Case,
    configurator: Configurator,
    seed: int,
    runs: int,
    jobs: int,
    made: dict[object, Run],
) -> Config:
    budget = Budget(runs=runs)
    result = tune_scenario(
        scenario, case.target, configurator, budget=budget, seed=seed, running=Running(jobs)
    )
    for run in result.runs:
        config, instance, seed, _ = run.task
        made[config.indices, instance, 0 if scenario.deterministic else seed] = run
    return result.best


def save(case: Case, runs: list[Run]) -> None:
    """Write the table of runs."""
    number = {i: n for n, i in enumerate((*case.scenario.instances, *case.tests))}
    DATA.mkdir(exist_ok=True)
    np.savez_compressed(
        DATA / f"{case.name}.npz",
        config=np.array([run.task.config.indices for run in runs], dtype=np.int16),
        instance=np.array([number[run.task.instance] for run in runs], dtype=np.int16),
        seed=np.array([run.task.seed for run in runs], dtype=np.int64),
        work=np.array([_work(run) for run in runs], dtype=np.float32),
    )


def _work(run: Run) -> float:
    known = run.status is Status.OK and run.quality is not None
    return float(run.quality) if known else float("nan")  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.laboratory.collect")
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--runs", type=int, default=12_000)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    with CASES[given.case](COLLECTED) as case:
        save(case, collect(case, given.runs, given.jobs))


if __name__ == "__main__":
    main()
