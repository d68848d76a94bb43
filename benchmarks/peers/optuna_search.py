"""Optuna: TPE with the pruner that it has for means over problem instances (WilcoxonPruner).

A trial is run on all training instances in a random order, each with a seed of its own, until the
pruner ends it; the mean so far is its value, as in the pruner's documentation. The default is the
first trial. What is returned is the best of the trials that were not pruned.
"""

import json
from contextlib import suppress
from pathlib import Path
from random import Random

import optuna
from client import BudgetSpent, Client
from ConfigSpace import ConfigurationSpace
from ConfigSpace.hyperparameters import (
    CategoricalHyperparameter,
    Hyperparameter,
    OrdinalHyperparameter,
)


def suggested(trial: optuna.Trial, space: ConfigurationSpace) -> dict[str, object]:
    """The values of a trial; only what is active is asked for."""
    values: dict[str, object] = {}
    for name, parameter in space.items():  # parents come before their children
        conditions = space.parent_conditions_of[name]
        parents = {parent.name for parent in space.parents_of[name]}
        if parents <= values.keys() and all(c.satisfied_by_value(values) for c in conditions):
            values[name] = one(trial, name, parameter)
    return values


def one(trial: optuna.Trial, name: str, parameter: Hyperparameter) -> object:
    """The value of one parameter."""
    if isinstance(parameter, OrdinalHyperparameter):
        values = list(parameter.sequence)
        return values[trial.suggest_int(name, 0, len(values) - 1)]
    if isinstance(parameter, CategoricalHyperparameter):
        return trial.suggest_categorical(name, list(parameter.choices))
    if "Integer" in type(parameter).__name__:
        return trial.suggest_int(name, parameter.lower, parameter.upper, log=parameter.log)
    return trial.suggest_float(name, parameter.lower, parameter.upper, log=parameter.log)


def default(space: ConfigurationSpace) -> dict[str, object]:
    """The default in the words of `one`."""
    values = dict(space.get_default_configuration())
    for name, parameter in space.items():
        if name in values and isinstance(parameter, OrdinalHyperparameter):
            values[name] = list(parameter.sequence).index(values[name])
    return values


class Objective:
    """The mean cost over the instances; it says which trial is the best."""

    def __init__(
        self, client: Client, space: ConfigurationSpace, instances: int, seed: int
    ) -> None:
        self.client = client
        self.space = space
        self.rng = Random(seed)
        self.seeds = [self.rng.randrange(1, 2**31) for _ in range(instances)]
        self.best = float("inf")

    def __call__(self, trial: optuna.Trial) -> float:
        values = suggested(trial, self.space)
        costs: list[float] = []
        for number in self.rng.sample(range(len(self.seeds)), len(self.seeds)):
            costs.append(self.client.cost(values, number, self.seeds[number]))
            trial.report(costs[-1], number)
            if len(costs) < len(self.seeds) and trial.should_prune():
                return sum(costs) / len(costs)
        mean = sum(costs) / len(costs)
        if mean < self.best:
            self.best = mean
            self.client.tell_incumbent(values)
        return mean


def main() -> None:
    job = json.loads(Path("job.json").read_text(encoding="utf-8"))
    space = ConfigurationSpace.from_json("space.json")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=job["seed"])
    study = optuna.create_study(sampler=sampler, pruner=optuna.pruners.WilcoxonPruner())
    study.enqueue_trial(default(space))
    objective = Objective(Client(job["port"]), space, job["instances"], job["seed"])
    with suppress(BudgetSpent):
        study.optimize(objective)


if __name__ == "__main__":
    main()
