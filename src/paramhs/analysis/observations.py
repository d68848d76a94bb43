"""Runs of a search as observations: values, lower bounds, and separately counted failures.

A finished run is a value: its cost, as a logarithm where all costs are positive. A run that was
stopped early is a lower bound: by a cap (`Status.CAPPED`) or, where time is the cost, by the
cutoff. The penalty of PAR10 is a convention, not a measurement, so a time-out only says that the
run takes at least the cutoff. A run without a usable cost (crashed, wrong) is not a cost at all:
failures are counted by value and analysed separately (`failures`).

At most `MAX_CONFIGS` configurations are used, evenly spaced over all.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paramhs.core.costs import CostMetric
from paramhs.core.runs import FAILURES, TIMEOUTS, Run, Status
from paramhs.core.space import Config

Array = np.ndarray[Any, np.dtype[Any]]

EPSILON = 1e-12
MAX_CONFIGS = 3_000


class Scale(NamedTuple):
    """Transformation between costs and the values of the model."""

    log: bool
    maximise: bool
    unit: float = 1.0
    """Largest absolute cost; dividing by it keeps squares finite."""

    def __call__(self, cost: Array) -> Array:
        """Transform costs into values of the model."""
        if not self.log:
            return cost / self.unit
        logs: Array = np.log(np.abs(cost))
        return -logs if self.maximise else logs

    def shown(self, number: float) -> float:
        """Transform a value of the model into the cost shown to people."""
        signed = -number if self.maximise else number
        return math.exp(min(signed, 700.0)) if self.log else signed * self.unit


def _scale(cost: Array, metric: CostMetric) -> Scale:
    """Use logarithms if all costs (or all qualities to be maximised) are positive."""
    positive = bool((cost < 0).all()) if metric.maximise else bool((cost > 0).all())
    return Scale(positive, metric.maximise, float(np.abs(cost).max()) or 1.0)


@dataclass(frozen=True)
class Observations:
    """Runs with a cost or a bound, one entry each, and counts by configuration."""

    configs: list[Config]
    """Every configuration, including those whose runs all failed."""
    config: Array
    """Position of the configuration in `configs`."""
    instance: Array
    """Number of the instance, counted from 0."""
    value: Array
    """Transformed cost, or its lower bound."""
    censored: Array
    """Whether the value is a lower bound."""
    runs: Array
    """Number of runs of each configuration, failed ones included."""
    failed: Array
    timeouts: Array
    scale: Scale


class _Row(NamedTuple):
    config: int
    instance: int
    cost: float
    censored: bool
    failed: bool
    timeout: bool
    repeated: bool
    """Whether a longer run of the same call is known."""


def observed(runs: Iterable[Run], metric: CostMetric) -> Observations | None:
    """Extract observations from runs; None if no run has a usable cost."""
    configs: dict[Config, int] = {}
    rows = _rows(list(runs), metric, configs)
    columns = np.array(rows, np.float64).reshape(len(rows), len(_Row._fields)).T
    config, instance = columns[:2].astype(np.int64)
    censored, failed, timeout, repeated = columns[3:].astype(np.bool_)
    usable = ~failed & ~repeated
    count = len(configs)
    made, failures, late = (np.bincount(config, w, count) for w in (None, failed, timeout))
    kept = np.unique(np.linspace(0, count - 1, min(count, MAX_CONFIGS)).astype(int))
    usable &= np.isin(config, kept)
    if not (usable & ~censored).any():
        return None
    place = np.zeros(count, np.int64)
    place[kept] = np.arange(len(kept))
    cost = _positive(columns[2][usable], metric)
    scale = _scale(cost, metric)
    listed = list(configs)
    return Observations(
        [listed[i] for i in kept],
        place[config[usable]],
        np.unique(instance[usable], return_inverse=True)[1],
        scale(cost),
        censored[usable],
        made[kept].astype(int),
        failures[kept].astype(int),
        late[kept].astype(int),
        scale,
    )


def _positive(cost: Array, metric: CostMetric) -> Array:
    """Replace times below the clock's resolution by half of the shortest measured time."""
    if not metric.needs_runtime or not (cost > 0).any():
        return cost
    return np.where(cost > 0, cost, cost[cost > 0].min() / 2)


def _rows(runs: Sequence[Run], metric: CostMetric, configs: dict[Config, int]) -> list[_Row]:
    cutoff = max((run.task.cutoff for run in runs), default=math.inf)
    longest = _longest(runs)
    instances: dict[str, int] = {}
    rows = []
    for run in runs:
        task, status = run.task, run.status
        capped = status is Status.CAPPED
        if capped and not metric.grows_with_time:
            continue
        late = status in TIMEOUTS
        bound = capped or (late and metric.needs_runtime)
        cost = (
            task.cutoff if bound else metric.of(run._replace(task=task._replace(cutoff=cutoff)))[0]
        )
        failed = status in FAILURES or not math.isfinite(cost)
        repeated = capped and longest[task.call] is not run
        config = configs.setdefault(task.config, len(configs))
        instance = instances.setdefault(task.instance, len(instances))
        rows.append(_Row(config, instance, cost, bound, failed, late, repeated))
    return rows


def _longest(runs: Sequence[Run]) -> dict[Any, Run]:
    """Most informative run of each capped call: one that ended, else the longest."""
    found: dict[Any, Run] = {run.task.call: run for run in runs if run.status is Status.CAPPED}
    if found:
        for run in runs:
            known = found.get(run.task.call)
            if known is not None and known.status is Status.CAPPED:
                longer = run.task.cutoff > known.task.cutoff
                if longer or run.status is not Status.CAPPED:
                    found[run.task.call] = run
    return found
