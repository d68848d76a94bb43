"""The time that a search that learns takes for itself.

python -m benchmarks.overhead.learning                     beside the plain one, 100 parameters
python -m benchmarks.overhead.learning --parameters 500
python -m benchmarks.overhead.learning --goals             2 to 20 parameters, against the goals

The target costs next to nothing: a sum over some of the parameters, with noise that is a function
of the task. Milliseconds are those of the process, one thread, without imports; each row is one
search in a process of its own, so that its memory is its own. The goals are at most 2 ms a run at
100 runs, and 3 ms at 10,000, also where the target has no noise and a small space is known almost
whole.
"""

import argparse
import math
import os
import resource
import subprocess
import sys
import time

NAMES = ("plain", "learned")
KINDS = ("noise", "exact")
GOALS = {100: 2.0, 10_000: 3.0}
"""Milliseconds a run, at the most, by runs."""
SIZES = ((2, 5), (2, 21), (5, 21), (10, 21), (20, 21))
"""Parameters, and values of each."""


def measured(name: str, parameters: int, runs: int, kind: str, levels: int) -> tuple[float, float]:
    """Milliseconds a run, and megabytes."""
    from paramhs.api.tune import tune_scenario
    from paramhs.core.random_streams import ShortStream
    from paramhs.core.runs import NO_INSTANCE, Instance, Run, Status, Target, Task
    from paramhs.core.scenario import Scenario
    from paramhs.core.space import Boolean, Integer, Space
    from paramhs.execution.driver import Budget
    from paramhs.search.registry import CONFIGURATORS

    half = parameters // 2 if levels > 21 else 0
    space = Space(
        {f"n{k}": Integer(0, min(levels, 21) - 1) for k in range(parameters - half)}
        | {f"b{k}": Boolean() for k in range(half)}
    )

    class Noisy(Target):
        def __call__(self, task: Task) -> Run:
            at = task.config.indices
            noise = 0.0 if kind == "exact" else ShortStream(task.seed, *at).random()
            log = sum((i % 7 - 3) * x for i, x in enumerate(at) if i % 5 == 0) / 200
            return Run(task, Status.OK, 0.0, math.exp(log + noise))

    exact = kind == "exact"
    instances = (NO_INSTANCE,) if exact else tuple(Instance(f"i{k}") for k in range(20))
    scenario = Scenario(space, instances, deterministic=exact)
    configurator = CONFIGURATORS["paramhs" if name == "learned" else "paramhs-plain"]
    tune_scenario(scenario, Noisy(), configurator, budget=Budget(runs=40), seed=2)  # imports
    begun = time.process_time()
    found = tune_scenario(scenario, Noisy(), configurator, budget=Budget(runs=runs), seed=1)
    spent = time.process_time() - begun
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return 1000 * spent / len(found.runs), largest


def row(name: str, parameters: int, runs: int, kind: str, levels: int) -> tuple[float, float]:
    """The same, in a process of its own."""
    again = [sys.executable, "-m", "benchmarks.overhead.learning", "--one", name]
    options = [f"--parameters={parameters}", f"--runs={runs}", f"--kind={kind}"]
    told = subprocess.run(
        [*again, *options, f"--levels={levels}"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    spent, memory = map(float, told.stdout.split())
    return spent, memory


def goals() -> None:
    """Print the milliseconds of small spaces, and whether they are within the goals."""
    print(f"{'runs':>8}  {'target':8}  {'parameters':>10}  {'values':>6}  {'ms a run':>8}  goal")
    for runs, most in GOALS.items():
        for kind in KINDS:
            for parameters, levels in SIZES:
                if kind == "exact" and levels**parameters < runs:
                    continue  # each configuration is run once, so there are too few
                spent, _ = row("learned", parameters, runs, kind, levels)
                said = f"{most:g}" if spent <= most else f"{most:g} missed"
                shown = f"{runs:>8,}  {kind:8}  {parameters:>10}  {levels:>6}  {spent:8.2f}  {said}"
                print(shown, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead.learning")
    parser.add_argument("--parameters", type=int, default=100)
    parser.add_argument("--runs", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--goals", action="store_true")
    parser.add_argument("--kind", choices=KINDS, default="noise")
    parser.add_argument("--levels", type=int, default=22, help="22: 21 and 2 by turns")
    parser.add_argument("--one", choices=NAMES)
    given = parser.parse_args()
    if given.one:
        found = measured(given.one, given.parameters, given.runs[0], given.kind, given.levels)
        print("{:.3f} {:.0f}".format(*found))
        return
    if given.goals:
        goals()
        return
    print(f"{given.parameters} parameters")
    print(f"{'runs':>8}  {'search':8}  {'ms a run':>8}  {'MB':>5}")
    for runs in given.runs:
        for name in NAMES:
            spent, memory = row(name, given.parameters, runs, given.kind, given.levels)
            print(f"{runs:>8,}  {name:8}  {spent:8.2f}  {memory:5.0f}", flush=True)


if __name__ == "__main__":
    main()
