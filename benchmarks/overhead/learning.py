"""The time that a search that learns takes for itself, beside the plain one.

python -m benchmarks.overhead.learning                     100 parameters, 1,000 and 10,000 runs
python -m benchmarks.overhead.learning --parameters 500

The target costs next to nothing: a sum over some of the parameters, with noise that is a function
of the task. Seconds are those of the process, one thread; each row is one search in a process of
its own, so that its memory is its own.
"""

import argparse
import math
import os
import resource
import subprocess
import sys
import time

NAMES = ("plain", "learned")


def measured(name: str, parameters: int, runs: int) -> tuple[float, float]:
    """Milliseconds a run, and megabytes."""
    from paramhs.api.tune import tune_scenario
    from paramhs.core.random_streams import ShortStream
    from paramhs.core.runs import Instance, Run, Status, Target, Task
    from paramhs.core.scenario import Scenario
    from paramhs.core.space import Boolean, Integer, Space
    from paramhs.execution.driver import Budget
    from paramhs.search.registry import CONFIGURATORS

    half = parameters // 2
    space = Space(
        {f"n{k}": Integer(0, 20) for k in range(parameters - half)}
        | {f"b{k}": Boolean() for k in range(half)}
    )

    class Noisy(Target):
        def __call__(self, task: Task) -> Run:
            at = task.config.indices
            noise = ShortStream(task.seed, *at).random()
            log = sum((i % 7 - 3) * x for i, x in enumerate(at) if i % 5 == 0) / 200
            return Run(task, Status.OK, 0.0, math.exp(log + noise))

    scenario = Scenario(space, tuple(Instance(f"i{k}") for k in range(20)))
    configurator = CONFIGURATORS["paramhs" if name == "learned" else "paramhs-plain"]
    begun = time.process_time()
    tune_scenario(scenario, Noisy(), configurator, budget=Budget(runs=runs), seed=1)
    spent = time.process_time() - begun
    return 1000 * spent / runs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead.learning")
    parser.add_argument("--parameters", type=int, default=100)
    parser.add_argument("--runs", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--one", choices=NAMES)
    given = parser.parse_args()
    if given.one:
        print("{:.3f} {:.0f}".format(*measured(given.one, given.parameters, given.runs[0])))
        return
    print(f"{given.parameters} parameters")
    print(f"{'runs':>8}  {'search':8}  {'ms a run':>8}  {'MB':>5}")
    for runs in given.runs:
        for name in NAMES:
            again = [sys.executable, "-m", "benchmarks.overhead.learning", "--one", name]
            options = [f"--parameters={given.parameters}", "--runs", str(runs)]
            told = subprocess.run(
                [*again, *options],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
            spent, memory = map(float, told.stdout.split())
            print(f"{runs:>8,}  {name:8}  {spent:8.2f}  {memory:5.0f}", flush=True)


if __name__ == "__main__":
    main()
