"""Requests to a keeper and its answers."""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Clock = Literal["cpu", "wall"]
"""Clock of a run: the processor time of all its processes, or wall time."""


class Limits(NamedTuple):
    """Limits for a run and all its processes together; memory is resident memory."""

    wall: float = math.inf
    """Wall time in seconds."""
    cpu: float = math.inf
    """Processor time in seconds, over all processes and threads."""
    memory: float = math.inf
    """Memory in bytes."""
    grace: float = 1.0
    """Seconds between SIGTERM and SIGKILL at a time limit; none at the memory limit."""
    clock: Clock = "wall"
    """Clock to report: processor time is measured even without a limit on it."""


class Command(NamedTuple):
    """A program to run, without a shell."""

    words: tuple[str, ...]
    folder: str
    """Working folder of the program."""
    given: bytes = b""
    """Standard input of the program."""
    kept: int = 1 << 20
    """Bytes of each output to keep from its beginning, and from its end."""
    read: bool = False
    """Whether the keeper reads the output even if it is short."""


class Outcome(NamedTuple):
    """End and resource usage of a run."""

    limit: str = ""
    """Limit that ended the run: "wall", "cpu" or "memory"; empty if none did."""
    code: int | None = None
    """Exit code, or minus the number of the fatal signal; None if the run never started."""
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    """Largest resident memory of one of its processes in bytes, if known."""
    output: bytes = b""
    errors: bytes = b""
    left_behind: int = 0
    """Number of processes that the run left behind, which were killed."""
    trouble: str = ""
    """Reason why the run could not be started."""
    exhausted: bool = False
    """Whether the reason is a lack of processes, files or memory."""
    answer: bytes = b""
    """Pickled result of a function."""
    reading: Any = None
    """Result of reading the output, or the exception raised by the reader."""

    def seconds(self, clock: Clock) -> float:
        """Runtime by this clock."""
        return self.cpu if clock == "cpu" else self.wall


Execute = Callable[[Any, Limits], Outcome]
"""Makes a run of a command, or of a function with arguments, under limits."""


def patience(cutoff: float) -> float:
    """Default limit on wall time if only processor time has a cutoff, because a run may sleep."""
    return 2 * cutoff + 10


def too_much_memory(limit: float) -> str:
    """Explanation of a run stopped at its memory limit."""
    return f"stopped: it used more than {memory_text(limit)} of memory"


def memory_text(size: float) -> str:
    """Format bytes for people, such as "512 MB"."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size:.0f} B"
