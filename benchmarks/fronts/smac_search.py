"""SMAC3 with ParEGO, in a process of its own; asks for runs on standard output.

Lines are JSON: {"config": ..., "instance": n, "seed": n} asks for a run and is answered by two
numbers; {"front": [...]} is the result.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float, Integer
from smac import AlgorithmConfigurationFacade, Scenario
from smac.multi_objective.parego import ParEGO

OUT = sys.stdout


def parameter(entry: dict[str, Any]) -> Any:
    name, default = entry["name"], entry["default"]
    if "choices" in entry:
        return Categorical(name, entry["choices"], default=default)
    kind = Integer if entry["whole"] else Float
    return kind(name, (entry["low"], entry["high"]), default=default, log=entry["log"])


def main() -> None:
    job = json.loads(Path("job.json").read_text(encoding="utf-8"))

    def costs(config: Configuration, instance: str, seed: int = 0) -> dict[str, float]:
        asked = {"config": dict(config), "instance": int(instance), "seed": seed}
        print(json.dumps(asked), file=OUT, flush=True)
        return dict(zip("ab", json.loads(sys.stdin.readline()), strict=True))

    space = ConfigurationSpace(seed=job["seed"])
    space.add([parameter(entry) for entry in job["space"]])
    scenario = Scenario(
        space,
        objectives=["a", "b"],
        n_trials=job["runs"],
        seed=job["seed"],
        instances=[str(number) for number in range(job["instances"])],
        instance_features={str(number): [number] for number in range(job["instances"])},
        output_directory=Path("smac"),
    )
    search = AlgorithmConfigurationFacade(
        scenario,
        costs,
        multi_objective_algorithm=ParEGO(scenario),
        overwrite=True,
        logging_level=False,
    )
    search.optimize()
    found = [dict(config) for config in search.intensifier.get_incumbents()]
    print(json.dumps({"front": found}), file=OUT, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout = sys.stderr  # what SMAC prints is no answer
    main()
