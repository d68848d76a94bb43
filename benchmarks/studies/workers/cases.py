"""Runs of real solvers, made before: what the workers of a simulation are busy with.

Two cases. `cadical`: every run of a grid of 72 configurations was made once and is replayed. It is
small, so many workers soon have nothing to do. `minisat`: 18 parameters, far too many for a grid.
The logarithm of its work is an instance's level, plus main effects fitted to thousands of real
runs, plus what was left over in one of those runs, drawn for each (configuration, instance). So
times are as heavy-tailed as they were, and about one run in a hundred reaches the cutoff.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from benchmarks.laboratory.cases import CASES as LAB
from benchmarks.laboratory.cases import COLLECTED
from benchmarks.laboratory.surrogate import Table
from benchmarks.studies.capping.collect import CADICAL
from benchmarks.studies.capping.replaying import replayed, scenario
from paramhs.core.capping import Capping
from paramhs.core.costs import Runtime
from paramhs.core.random_streams import ShortStream, below
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config

CUTOFF = 15.0  # seconds
SHARE = 0.99  # of the runs end before that


class Case(NamedTuple):
    """What is tuned in a simulation."""

    scenario: Scenario
    target: Target


@dataclass(frozen=True)
class Drawn(Target):
    """A solver whose work is made up of real runs."""

    numbers: dict[Instance, int]
    levels: np.ndarray
    effects: dict[tuple[int, int], float]
    left_over: np.ndarray
    second: float
    """How much log work a second stands for."""

    def __call__(self, task: Task) -> Run:
        """The run of a task."""
        seconds = self.seconds(task.config, task.instance)
        if seconds <= task.cutoff:
            return Run(task, Status.OK, seconds)
        return Run(task, Status.TIMEOUT if task.cutoff >= CUTOFF else Status.CAPPED, task.cutoff)

    def seconds(self, config: Config, instance: Instance) -> float:
        """How long it takes to the end."""
        number = self.numbers[instance]
        rng = ShortStream(0, number, *config.indices)
        noise = self.left_over[below(len(self.left_over), rng)]
        expected = sum(self.effects.get(change, 0.0) for change in enumerate(config.indices))
        return float(np.exp(self.levels[number] + expected + noise - self.second))


def cadical() -> Case:
    """Replayed runs."""
    capping = Capping("preserving")
    return Case(scenario(CADICAL, range(CADICAL.instances), capping), replayed(CADICAL))


def minisat() -> Case:
    """Runs that are put together from real ones."""
    with LAB["minisat"](COLLECTED) as lab:  # type: ignore[attr-defined]
        instances = (*lab.scenario.instances, *lab.tests)
        timed = replace(
            lab.scenario,
            instances=instances,
            cost=Runtime(),
            cutoff=CUTOFF,
            capping=Capping("preserving"),
        )
    table = Table.read("minisat")
    logs = np.log(np.where(np.isnan(table.work), np.nanmax(table.work), table.work))
    count = len(instances)
    levels = np.array([np.median(logs[table.instance == n]) for n in range(count)])
    relative = logs - levels[table.instance]
    values = [(j, int(v)) for j in range(table.config.shape[1]) for v in set(table.config[:, j])]
    rows = np.column_stack([table.config[:, j] == v for j, v in values]).astype(float)
    ridge = rows.T @ rows + 10.0 * np.eye(len(values))
    found = np.linalg.solve(ridge, rows.T @ relative)
    unit = float(np.quantile(logs, SHARE)) - float(np.log(CUTOFF))
    effects = dict(zip(values, map(float, found), strict=True))
    numbers = {instance: n for n, instance in enumerate(instances)}
    return Case(timed, Drawn(numbers, levels, effects, relative - rows @ found, unit))


CASES: dict[str, Callable[[], Case]] = {"minisat": minisat, "cadical": cadical}
"""By name."""
