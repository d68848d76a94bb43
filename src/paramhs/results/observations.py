"""From the runs of a search to one number a configuration, instances aside.

What is explained is the cost of a run, its logarithm where all costs are positive. A run without a
usable cost counts as the worst that has one (how many there are is told, value by value). Instances
differ, and not all configurations were run on the same: cost = instance + configuration is fitted
by least squares, so that what is left of a configuration is how it differs from others on the same
instances. Of more than 10,000 configurations, so many are looked at, evenly from all.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from paramhs.values.costs import CostMetric
from paramhs.values.runs import FAILURES, Run, Status
from paramhs.values.space import Config

Array = np.ndarray[Any, np.dtype[Any]]

TINY = 1e-12
_MOST_CONFIGS = 10_000  # of more, these many evenly from all are looked at
_TURNS = 30


class _Columns(NamedTuple):
    """Runs, column by column."""

    configs: list[Config]
    config: Array
    """Of each run, which of them."""
    instance: Array
    cost: Array
    failed: Array
    timeout: Array


def _columns(runs: Iterable[Run], metric: CostMetric) -> _Columns:
    """A run that was cut short, of which only a bound is known, counts as what it took.

    One that failed under a smaller cutoff is charged by the largest, which is the scenario's.
    """
    runs = list(runs)
    cutoff = max((run.task.cutoff for run in runs), default=math.inf)
    configs: dict[Config, int] = {}
    instances: dict[str, int] = {}
    rows: list[tuple[int, int, float, bool, bool]] = []
    for run in runs:
        task, status = run.task, run.status
        if status is Status.CAPPED:
            if not metric.needs_runtime:
                continue
            cost = run.runtime
        else:
            cost = metric.of(run._replace(task=task._replace(cutoff=cutoff)))[0]
        config = configs.setdefault(task.config, len(configs))
        instance = instances.setdefault(task.instance, len(instances))
        failed = status in FAILURES or math.isinf(cost)
        rows.append((config, instance, cost, failed, status is Status.TIMEOUT))
    columns = np.array(rows, np.float64).reshape(len(rows), 5).T
    which, where = columns[:2].astype(np.int64)
    flags = columns[3:].astype(np.bool_)
    return _Columns(list(configs), which, where, columns[2], *flags)


class _Scale(NamedTuple):
    """How costs are seen by the model, and how by people."""

    log: bool
    maximise: bool
    unit: float = 1.0
    """The largest cost, so that squares are numbers."""

    def __call__(self, cost: Array) -> Array:
        if not self.log:
            return cost / self.unit
        logs: Array = np.log(np.abs(cost))
        return -logs if self.maximise else logs

    def shown(self, number: float) -> float:
        """What people see, from the model's number."""
        signed = -number if self.maximise else number
        return math.exp(min(signed, 700.0)) if self.log else signed * self.unit


def _scale(cost: Array, metric: CostMetric) -> _Scale:
    """Logarithms where all is positive: of costs, or of what is to be maximised."""
    positive = bool((cost < 0).all()) if metric.maximise else bool((cost > 0).all())
    return _Scale(positive, metric.maximise, float(np.abs(cost).max()) or 1.0)


class Observed(NamedTuple):
    """What runs say of each configuration, instances aside."""

    configs: list[Config]
    level: Array
    """How much it costs more than others on the same instances, in the scale of the model."""
    within: float
    """The variance of a single run about that."""
    runs: Array
    failed: Array
    timeouts: Array
    centre: float
    """The mean cost over instances, in the scale of the model."""
    scale: _Scale

    @property
    def weights(self) -> Array:
        """What the number of each configuration is worth: all the same where runs hardly vary."""
        result: Array = 1 / (1 + self.within / self.between / self.runs)
        return result

    @property
    def noise(self) -> float:
        """The variance that these numbers have from runs alone."""
        return float((self.within / self.runs).mean())

    @property
    def between(self) -> float:
        """The variance between configurations."""
        return max(float(np.average(self.level**2)) - self.noise, self.noise / 10, TINY)


def observed(runs: Iterable[Run], metric: CostMetric) -> Observed | None:
    """One number a configuration; None where no run has a usable cost."""
    columns = _columns(runs, metric)
    usable = np.isfinite(columns.cost)
    if not usable.any():
        return None
    cost = np.where(usable, columns.cost, columns.cost[usable].max())
    scale = _scale(cost, metric)
    level, centre, within = _without_instances(columns.config, columns.instance, scale(cost))
    count = len(columns.configs)
    sums = (np.bincount(columns.config, w, count) for w in (None, columns.failed, columns.timeout))
    kept = np.unique(np.linspace(0, count - 1, min(count, _MOST_CONFIGS)).astype(int))
    made, failed, timeouts = (numbers[kept].astype(int) for numbers in sums)
    configs = [columns.configs[i] for i in kept]
    return Observed(configs, level[kept], within, made, failed, timeouts, centre, scale)


def _without_instances(config: Array, instance: Array, cost: Array) -> tuple[Array, float, float]:
    """Levels of configurations, the mean over instances, and the variance of what is left.

    Least squares of cost = instance + configuration, by turns.
    """
    made, on = np.bincount(config), np.bincount(instance)
    level, hard = np.zeros(len(made)), np.zeros(len(on))
    for _ in range(_TURNS):
        hard = np.bincount(instance, cost - level[config]) / on
        level = np.bincount(config, cost - hard[instance]) / made
    left = cost - hard[instance] - level[config]
    freedom = max(len(cost) - len(made) - len(on) + 1, 1)
    mean = float(np.average(level, weights=made))
    return level - mean, float(hard.mean()) + mean, float(left @ left) / freedom
