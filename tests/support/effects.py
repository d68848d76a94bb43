"""Runs whose costs are made from known effects of parameters and instances."""

import math
from collections.abc import Callable
from random import Random

from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.space import Boolean, Categorical, Config, Real, Space

SPACE = Space(
    {
        "mode": Categorical(["a", "b", "c"]),
        "x": Real(0.0, 1.0),
        "on": Boolean(),
        "idle": Real(0.0, 1.0),
        "spare": Boolean(),
    }
)
MODES = {"a": 1.0, "b": 1.5, "c": 3.0}


def effect(config: Config) -> float:
    """What a configuration multiplies the cost by."""
    return MODES[config["mode"]] * math.exp(config["x"]) * (1.3 if config["on"] else 1.0)


def runs(
    function: Callable[[Config], float],
    configs: int,
    *,
    space: Space = SPACE,
    each: int = 3,
    instances: int = 10,
    noise: float = 0.3,
    seed: int = 0,
) -> list[Run]:
    """Runs of random configurations: hardness of the instance x effect of the configuration."""
    rng = Random(seed)
    hard = [rng.lognormvariate(0, 1) for _ in range(instances)]
    made = []
    for config in (space.sample(rng) for _ in range(configs)):
        for _ in range(each):
            where = rng.randrange(instances)
            cost = hard[where] * function(config) * rng.lognormvariate(0, noise)
            task = Task(config, Instance(f"i{where}"), rng.randrange(10**6))
            made.append(Run(task, Status.OK, 0.1, cost))
    return made
