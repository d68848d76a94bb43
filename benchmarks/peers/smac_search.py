"""SMAC3: its facade for algorithm configuration, as it is.

Features of an instance are its number, as in SMAC's own examples, and what its file says of its
size.
"""

import json
from contextlib import suppress
from pathlib import Path

from client import BudgetSpent, Client
from ConfigSpace import Configuration, ConfigurationSpace
from smac import AlgorithmConfigurationFacade, Scenario


def main() -> None:
    job = json.loads(Path("job.json").read_text(encoding="utf-8"))
    client = Client(job["port"])

    def cost(config: Configuration, instance: str, seed: int = 1) -> float:
        return client.cost(dict(config), int(instance), seed)

    scenario = Scenario(
        ConfigurationSpace.from_json("space.json"),
        deterministic=job["deterministic"],
        n_trials=job["runs"],
        seed=job["seed"],
        instances=[str(number) for number in range(job["instances"])],
        instance_features={
            str(number): [number, *features] for number, features in enumerate(job["features"])
        },
        output_directory=Path("smac"),
    )
    search = AlgorithmConfigurationFacade(scenario, cost, overwrite=True, logging_level=False)
    with suppress(BudgetSpent):
        search.optimize()
    best = search.intensifier.get_incumbent()
    if best is not None:
        client.tell_incumbent(dict(best))


if __name__ == "__main__":
    main()
