"""What is asked of a target and what comes back; what a search says to its driver."""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from paramhs.values.space import Config
from paramhs.values.wording import printable


@dataclass(frozen=True, slots=True)
class Instance:
    """A problem to run the target on; its name is its identity."""

    name: str
    value: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


NO_INSTANCE = Instance("-")
"""Stands in where the target is not run on instances."""


class Task(NamedTuple):
    """One run to make. A run is a pure function of its task, but for measured time."""

    config: Config
    instance: Instance
    seed: int
    cutoff: float = math.inf
    """Seconds after which the run is stopped."""


class Status(StrEnum):
    """How a run ended."""

    OK = "ok"
    TIMEOUT = "timeout"
    """It reached the scenario's cutoff."""
    CAPPED = "capped"
    """It reached a smaller cutoff, set because it could no longer win."""
    CRASHED = "crashed"
    """It gave no usable answer."""
    WRONG = "wrong"
    """It gave an answer that is known to be wrong."""


FAILURES = (Status.CRASHED, Status.WRONG)


class Run(NamedTuple):
    """What became of a task."""

    task: Task
    status: Status
    runtime: float
    """Seconds."""
    quality: float | None = None
    """What the target reported; None if nothing."""
    detail: str = ""
    """What a person needs to understand a failure."""

    @property
    def reason(self) -> str:
        """The same in one printable line: the first, or what a traceback ends with."""
        lines = self.detail.strip().splitlines() or [""]
        return printable(lines[-1] if lines[0].startswith("Traceback") else lines[0])


Target = Callable[[Task], Run]
"""Turns a task into a run: the whole interface."""


class Evaluate(NamedTuple):
    """A search asks for these runs, and is sent them in this order."""

    tasks: Sequence[Task]
    likely: Iterable[Task] = ()
    """What it will want next if the incumbent survives; read only while workers are idle."""


class Incumbent(NamedTuple):
    """A search says which configuration is now the best it knows."""

    config: Config
    costs: Sequence[tuple[float, ...]]
    """Its costs so far, run by run; the list goes on growing as runs are added."""


class Point(NamedTuple):
    """A step of a search's trajectory: when a configuration became the incumbent."""

    config: Config
    runs: int
    """How many runs had been asked for."""
    target_time: float
    """How many seconds the target had run, over those runs."""
    cost: float | None
    """Its mean cost then, as a person expects to see it; None if it had no run yet."""
    evidence: int
    """Over how many runs."""


Search = Generator[Evaluate | Incumbent, Sequence[Run], str]
"""A configurator at work; what it returns says why it ended."""

Asking = Generator[Evaluate, Sequence[Run], bool]
"""A part of a search that asks for runs and decides something."""
