"""A configurator of paramhs, by name: it sees what the others see."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.client import Client
from paramhs.api.tune import tune_scenario
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space.from_description import space_of
from paramhs.execution.driver import Budget
from paramhs.search.registry import CONFIGURATORS


@dataclass(frozen=True)
class Asking(Target):
    """Runs are made by the evaluator; what they cost is the quality."""

    client: Client

    def __call__(self, task: Task) -> Run:
        """Ask for it."""
        cost = self.client.cost(task.config, task.instance.value, task.seed)
        return Run(task, Status.OK, 0.0, cost)


def main() -> None:
    job = json.loads(Path("job.json").read_text(encoding="utf-8"))
    space = space_of(json.loads(Path("space.json").read_text(encoding="utf-8")))
    instances = tuple(Instance(str(number), number) for number in range(job["instances"]))
    scenario = Scenario(space, instances, deterministic=job["deterministic"])
    client = Client(job["port"])
    budget = Budget(runs=job["runs"])
    chosen = CONFIGURATORS[sys.argv[1]]
    result = tune_scenario(scenario, Asking(client), chosen, budget=budget, seed=job["seed"])
    client.tell_incumbent(result.best)


if __name__ == "__main__":
    main()
