"""Content of another program's search, before it is translated."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paramhs.core.costs import CostMetric, Quality
from paramhs.core.runs import Status
from paramhs.core.space import Space

Values = Mapping[str, object]
"""Values of the active parameters of a configuration, by name."""


class OtherRun(NamedTuple):
    """One run, as the other program stored it."""

    config: int
    """Position of the configuration in the search's list."""
    instance: str
    """Name of the instance; "-" where there are none."""
    seed: int
    status: Status
    seconds: float
    quality: float | None
    cutoff: float = math.inf
    ended: float | None = None
    """Seconds from the beginning of the search to the end of the run; None if unknown."""
    detail: str = ""


class Step(NamedTuple):
    """A configuration became the incumbent after this number of runs."""

    config: int
    runs: int


@dataclass(frozen=True)
class OtherSearch:
    """A search of another program."""

    program: str
    """Name and version, such as "irace 3.5"."""
    space: Space
    """Its parameters as they were declared; the values tried may lie between its levels."""
    default: Values
    """Values of the configuration to compare with."""
    configs: Sequence[Values]
    runs: Sequence[OtherRun]
    steps: Sequence[Step]
    instances: Sequence[str] = ("-",)
    metric: CostMetric = Quality()
    cutoff: float = math.inf
    deterministic: bool = False
    seed: int = 0
    notes: Sequence[str] = ()
    """Sentences about what was left out or read differently."""


def best_so_far(runs: Sequence[OtherRun], maximise: bool = False) -> list[Step]:
    """Incumbents of a search in which one run decides: each better than all before."""
    steps: list[Step] = []
    best = math.inf
    for number, run in enumerate(runs, 1):
        if run.status is not Status.OK or run.quality is None:
            continue
        cost = -run.quality if maximise else run.quality
        if cost < best:
            best = cost
            steps.append(Step(run.config, number))
    return steps


def first_usable(runs: Sequence[OtherRun]) -> int:
    """The configuration of the first run that did not fail, used as the default."""
    usable = (run.config for run in runs if run.status is not Status.CRASHED)
    return next(usable, runs[0].config if runs else 0)
