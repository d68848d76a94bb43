"""Tasks, runs and statuses: what a search asks of a target, and what comes back."""

import math
import os
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from paramhs.core.answers import Answer
from paramhs.core.description import own_description
from paramhs.core.identity import Identity, identity_of
from paramhs.core.space import Config
from paramhs.core.text.numbers import printable


class Instance(str):
    """A problem to run the target on: a name, which is its identity, with a value attached.

    A subclass of str, because instances are keys of the innermost dictionaries of a search, and a
    text is hashed and compared without calling Python code.

    Args:
        name: Identity of the instance.
        value: Object that the target receives.

    Examples:
        >>> from paramhs.core import Instance
        >>> Instance("small", value=[1, 2, 3]).name
        'small'
    """

    __slots__ = ("value",)

    value: Any
    """The object that the target receives."""

    def __new__(cls, name: str, value: Any = None) -> "Instance":
        """Create an instance with this name."""
        instance = super().__new__(cls, name)
        instance.value = value
        return instance

    @property
    def name(self) -> str:
        """The name as a plain text."""
        return str.__str__(self)

    def __getnewargs__(self) -> tuple[str, Any]:  # type: ignore[override]
        return self.name, self.value

    def __repr__(self) -> str:
        return f"Instance({self.name!r}, {self.value!r})"


NO_INSTANCE = Instance("-")
"""The only instance of a target that runs without instances."""


class Pair(NamedTuple):
    """Instance and seed of a run. Two configurations are compared on the same pairs.

    Args:
        instance: The problem to run on.
        seed: Random seed of the run.

    Examples:
        >>> from paramhs.core import Instance, Pair
        >>> Pair(Instance("a"), seed=7).seed
        7
    """

    instance: Instance
    seed: int


class Task(NamedTuple):
    """One run to make. Apart from measured time, a run is a pure function of its task.

    Args:
        config: Configuration to run.
        instance: Problem to run on.
        seed: Random seed of the run.
        cutoff: Seconds after which the run is stopped.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.core import Instance, Task
        >>> Task(Space({"x": range(3)}).default, Instance("a"), seed=7).pair.seed
        7
    """

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
        """The task without its cutoff, as a tuple."""
        return self[:3]


class Status(StrEnum):
    """Reason why a run ended.

    Examples:
        >>> from paramhs.core import Status
        >>> Status("timeout") is Status.TIMEOUT
        True
    """

    OK = "ok"
    TIMEOUT = "timeout"
    """The run reached the cutoff of the scenario."""
    CAPPED = "capped"
    """The run reached a smaller cutoff, set because it could no longer win."""
    UNSOLVED = "unsolved"
    """The run ended without the requested answer; it costs as much as a time-out."""
    CRASHED = "crashed"
    """The run failed: an exit code, a signal, an exception, too much memory."""
    UNREADABLE = "unreadable"
    """The run ended normally but printed no usable number where one is needed."""
    WRONG = "wrong"
    """The run gave an answer that is known to be wrong."""


FAILURES = (Status.CRASHED, Status.UNREADABLE, Status.WRONG)
"""Statuses of runs that failed."""
TIMEOUTS = (Status.TIMEOUT, Status.UNSOLVED)
"""Statuses of runs that ended without the requested answer and cost as much as a time-out."""


class Run(NamedTuple):
    """Outcome of a task.

    Args:
        task: What was run.
        status: How the run ended.
        runtime: Wall-clock or processor time in seconds.
        quality: Number that the target reported; None if it reported none.
        detail: Explanation of a failure, for people.
        answer: Answer of the target; None if none was recognised.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.core import Instance, Run, Status, Task
        >>> task = Task(Space({"x": range(3)}).default, Instance("a"), seed=7)
        >>> Run(task, Status.CRASHED, 0.1, detail="exit code 1").reason
        'exit code 1'
    """

    task: Task
    status: Status
    runtime: float
    """Wall-clock or processor time in seconds."""
    quality: float | None = None
    """The quality reported by the target; None if it reported none."""
    detail: str = ""
    """Explanation of a failure, for people."""
    answer: Answer | None = None
    """The answer of the target (`core.answers`); None if none was recognised."""
    others: tuple[float, ...] = ()
    """Further numbers reported by the target, where it has several costs."""

    @property
    def reason(self) -> str:
        """One printable line of `detail`: the first, or the last one of a traceback."""
        marks = " ^~"  # a traceback that was cut may end with the line that marks the place
        lines = [line for line in self.detail.splitlines() if line.strip(marks)] or [""]
        return printable(lines[-1] if lines[0].startswith("Traceback") else lines[0])


def cut(run: Run, cutoff: float) -> Run:
    """Return the run as it would have been with a smaller cutoff."""
    task = run.task._replace(cutoff=cutoff)
    beyond = run.runtime > cutoff or run.status in (Status.TIMEOUT, Status.CAPPED)
    if beyond and cutoff < run.task.cutoff:
        return capped(task, cutoff)
    return run._replace(task=task)


def capped(task: Task, seconds: float) -> Run:
    """Return a censored run, without the quality or answer that it might have printed."""
    return Run(task, Status.CAPPED, seconds, None, "stopped: it could no longer win")


def answer(run: Run, task: Task) -> Run | None:
    """Return the outcome of a task derived from a run with another cutoff.

    None if the run was cut short before the cutoff of the task. An idle worker may have made the
    run ahead of time with a larger cutoff than was needed in the end; it then counts as the run
    with the smaller one.
    """
    if run.task.cutoff < task.cutoff:
        cut_short = run.status in (Status.CAPPED, Status.TIMEOUT)
        return None if cut_short else run._replace(task=task)
    return cut(run, task.cutoff)


@runtime_checkable
class Target(Protocol):
    """Turns a task into a run.

    A custom target is a subclass with a `__call__`. To store its runs, make it a dataclass or give
    it a method `describe`. With a cutoff or several workers it is called in worker processes, which
    are stopped at the cutoff.

    Examples:
        >>> import paramhs
        >>> from paramhs.core import Run, Status, Target
        >>> class Double(Target):
        ...     def __call__(self, task):
        ...         return Run(task, Status.OK, 0.0, quality=2.0 * task.config["x"])
        >>> paramhs.tune(Double(), {"x": range(3)}, budget=30).best["x"]
        0
    """

    @property
    def uses_seed(self) -> bool:
        """Whether answers depend on the seed; if not, the target is treated as deterministic."""
        return True

    @property
    def needs_keeper(self) -> bool:
        """Whether it must run under a keeper, which limits all processes of a run."""
        return False

    @property
    def is_told_cutoff(self) -> bool:
        """Whether a run is told its cutoff, so that it may end by itself when the time is up."""
        return False

    @property
    def runs_on_files(self) -> bool:
        """Whether instances are files, which may come with a table of known answers."""
        return False

    @property
    def clock(self) -> str:
        """Which time counts as the runtime, "wall" or "cpu"."""
        return "wall"

    @property
    def memory(self) -> float:
        """Memory limit of a run in bytes."""
        return math.inf

    @abstractmethod
    def __call__(self, task: Task) -> Run:
        """Run a task in this process.

        Args:
            task: What to run.

        Returns:
            The outcome.
        """

    def located(self, path: str) -> str:
        """Return the file of an instance whose value or name is this path.

        Args:
            path: Path as the user wrote it.

        Returns:
            Path of the file.
        """
        return path

    @property
    def name(self) -> str:
        """Display name of the target."""
        return type(self).__qualname__

    @property
    def source(self) -> str:
        """Digest of the target's own files, which remote workers must have; empty if none are
        known.
        """
        return ""

    def identity(self) -> Identity:
        """Code, values and files that define the answers, identified by content.

        A storage made with a different identity is rejected.
        """
        inherited = type(self).describe is Target.describe
        own = identity_of(self, "the target", by_fields=inherited)
        more = {"source": self.source} if self.source else {}
        return replace(own, parts={**own.parts, **more})

    def instance_file(self, instance: "Instance") -> str:
        """Return the path of the file that an instance names; empty if it cannot be a file.

        Args:
            instance: An instance of the scenario.

        Returns:
            A path, or an empty text.
        """
        value = instance.value
        return os.fspath(value) if isinstance(value, str | os.PathLike) else ""

    def describe(self) -> Mapping[str, object]:
        """Describe in JSON types what defines the answers: another description means other runs."""
        return own_description(self, "the target")

    def command_line(self, config: Config) -> str:
        """Command line for this configuration; empty if the target has none.

        Args:
            config: The configuration to write.

        Returns:
            A line ready to paste.
        """
        return ""

    def shown(self, task: Task) -> str:
        """Format the call of a task for display.

        Args:
            task: What is run.

        Returns:
            One line.
        """
        return f"{self.name} with {task.config} on {task.instance.name}, seed {task.seed}"


Found = Callable[[Task], Run | None]
"""A function that returns the outcome of a task if its run was made early."""


def nothing_follows(found: Found) -> Iterable[Task]:
    """No tasks follow, as far as is known."""
    return ()


class Evaluate(NamedTuple):
    """Request of a search for runs; they are sent back in this order.

    Args:
        tasks: The runs to make.
        likely: Tasks that the search will probably request next.
        following: Returns further tasks, given the runs that were made early.

    Examples:
        >>> from paramhs.core import Evaluate
        >>> Evaluate(tasks=[]).likely
        ()
    """

    tasks: Sequence[Task]
    likely: Iterable[Task] = ()
    """Tasks that will be requested later, the most certain first, for workers that would be idle.

    Read again whenever more runs are known. What is said here changes no result.
    """
    following: Callable[[Found], Iterable[Task]] = nothing_follows
    """Returns tasks of races to come, given the runs that were made early."""


class Incumbent(NamedTuple):
    """Report of a search that this configuration is now its best.

    Args:
        config: The new incumbent.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.core import Incumbent
        >>> Incumbent(Space({"x": range(3)}).default).config["x"]
        1
    """

    config: Config


class Point(NamedTuple):
    """Step of a search's trajectory: a configuration became the incumbent."""

    config: Config
    runs: int
    """Number of runs requested up to then."""
    target_time: float
    """Total runtime of those runs, in seconds."""
    cost: float | None
    """Mean cost at that moment, as shown to people; None before its first run."""
    evidence: int
    """Number of runs behind the mean cost."""


Search = Generator[Evaluate | Incumbent, Sequence[Run], str]
"""A running configurator; its return value says why the search ended."""

Asking = Generator[Evaluate, Sequence[Run], bool]
"""A part of a search that requests runs and decides one question."""
