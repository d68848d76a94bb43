"""Find a tuned configuration around which parameters are measured again.

python -m benchmarks.landscapes.tuned minisat        data/tuned.json
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.landscapes.instances import COUNT
from benchmarks.landscapes.labs import ALTERNATIVES, space_of
from benchmarks.landscapes.measure import TUNED, keep
from benchmarks.landscapes.targets import TARGETS
from paramhs.api.tune import tune_scenario
from paramhs.core.runs import Instance
from paramhs.core.scenario import Scenario
from paramhs.core.space import Value
from paramhs.execution.driver import Budget
from paramhs.execution.targets import FunctionTarget
from paramhs.search.configurators import ParamHS

RUNS = 400
FIRST_INSTANCE = 100  # number of the first instance: others than those that are measured


def tune(solver: str) -> dict[str, Value]:
    """What the best configuration changes."""
    target = TARGETS[solver]()
    space = space_of(target, [n for n in target.parameters if n not in ALTERNATIVES], few=False)
    default = space.default
    with TemporaryDirectory() as folder:

        def work(config: dict[str, Value], number: int, seed: int) -> float:
            path = Path(folder, f"{number}-{seed}{target.suffix}")
            path.write_text(target.make(number, seed), encoding="utf-8")
            changed = {name: value for name, value in config.items() if value != default[name]}
            return target.run(changed, str(path), seed % 1_000)

        instances = tuple(
            Instance(f"{n}", n) for n in range(FIRST_INSTANCE, FIRST_INSTANCE + COUNT)
        )
        scenario, budget = Scenario(space, instances), Budget(runs=RUNS)
        found = tune_scenario(scenario, FunctionTarget(work), ParamHS(), budget=budget, seed=0)
    return {name: value for name, value in found.best.items() if value != default[name]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landscapes.tuned")
    parser.add_argument("solver", choices=TUNED)
    solver = parser.parse_args().solver
    found = tune(solver)
    keep("tuned", solver, found)
    print(solver, found)


if __name__ == "__main__":
    main()
