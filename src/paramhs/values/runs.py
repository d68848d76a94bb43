"""What is asked of a target and what comes back; what a search says to its driver."""

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from paramhs.values.describing import own_description
from paramhs.values.space import Config
from paramhs.values.wording import printable


class Instance(str):
    """A problem to run the target on: its name, which is its identity, with a value attached.

    It is a text because the innermost dictionaries of a search have it in their keys, and those of
    a text are found without calling Python.
    """

    __slots__ = ("value",)

    value: Any
    """What a target is given."""

    def __new__(cls, name: str, value: Any = None) -> "Instance":
        """An instance of this name."""
        instance = super().__new__(cls, name)
        instance.value = value
        return instance

    @property
    def name(self) -> str:
        """The text without the value."""
        return str.__str__(self)

    def __getnewargs__(self) -> tuple[str, Any]:  # type: ignore[override]
        return self.name, self.value

    def __repr__(self) -> str:
        return f"Instance({self.name!r}, {self.value!r})"


NO_INSTANCE = Instance("-")
"""Stands in where the target is not run on instances."""


class Pair(NamedTuple):
    """What a configuration is run on: two are compared on the same pairs."""

    instance: Instance
    seed: int


class Task(NamedTuple):
    """One run to make. A run is a pure function of its task, but for measured time."""

    config: Config
    instance: Instance
    seed: int
    cutoff: float = math.inf
    """Seconds after which the run is stopped."""

    @property
    def pair(self) -> Pair:
        """The instance and the seed."""
        return Pair(self.instance, self.seed)

    @property
    def call(self) -> tuple[Config, Instance, int]:
        """What is run, whatever the cutoff."""
        return self[:3]


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


def cut(run: Run, cutoff: float) -> Run:
    """The same run as it would have been with a smaller cutoff."""
    task = run.task._replace(cutoff=cutoff)
    beyond = run.runtime > cutoff or run.status in (Status.TIMEOUT, Status.CAPPED)
    if beyond and cutoff < run.task.cutoff:
        return capped(task, cutoff)
    return run._replace(task=task)


def capped(task: Task, seconds: float) -> Run:
    """A run that was cut short: what it might have said otherwise means nothing."""
    return Run(task, Status.CAPPED, seconds, None, "stopped: it could no longer win")


def answer(run: Run, task: Task) -> Run | None:
    """What a run says of its task with another cutoff; None if it was cut short before that.

    So a run that was made with a larger cutoff than was needed in the end, by an idle worker,
    counts as what it would have been with that.
    """
    if run.task.cutoff < task.cutoff:
        return None if run.status is Status.CAPPED else run._replace(task=task)
    return cut(run, task.cutoff)


@runtime_checkable
class Target(Protocol):
    """Turns a task into a run.

    A target of one's own is a subclass with a `__call__`; if runs are to be stored, either a
    dataclass or one with a `describe` of its own. Where a cutoff or several jobs are asked for it
    is called in worker processes, which are stopped at the cutoff.
    """

    @property
    def uses_seed(self) -> bool:
        """Whether its answers depend on the seed; if not, it is taken to be deterministic."""
        return True

    @property
    def needs_keeper(self) -> bool:
        """Whether it can run only under a keeper, which limits all processes of a run."""
        return False

    @property
    def runs_on_files(self) -> bool:
        """Whether its instances are files, of which more may be known than their names."""
        return False

    @property
    def clock(self) -> str:
        """Which time counts, "wall" or "cpu"."""
        return "wall"

    @property
    def memory(self) -> float:
        """Bytes that a run may use."""
        return math.inf

    def __call__(self, task: Task) -> Run:
        """The run of a task, in this process."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What it is, for people."""
        return type(self).__qualname__

    @property
    def source(self) -> str:
        """A digest of its code, to notice that it changed; empty if that cannot be read."""
        return ""

    def describe(self) -> Mapping[str, object]:
        """What defines its answers, in JSON types: other words, other runs."""
        return own_description(self, "the target")

    def command_line(self, config: Config) -> str:
        """How a person would run it with this configuration; empty where there is no such way."""
        return ""

    def shown(self, task: Task) -> str:
        """The call, for people."""
        return f"{self.name} with {task.config} on {task.instance.name}, seed {task.seed}"


class Evaluate(NamedTuple):
    """A search asks for these runs, and is sent them in this order."""

    tasks: Sequence[Task]
    likely: Iterable[Task] = ()
    """What it will want next, the likeliest first; read only while workers are idle, and again
    whenever more is known."""
    first: bool = False
    """Whether any one of the runs is enough: the search is sent the first that is over, alone."""


class Incumbent(NamedTuple):
    """A search says which configuration is now the best it knows."""

    config: Config


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
