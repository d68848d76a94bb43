"""What is asked of a keeper, and what it answers."""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Clock = Literal["cpu", "wall"]
"""What a run's time is: of the processors that worked on it, or what passed."""


class Limits(NamedTuple):
    """What a run and all its processes may use together; the memory is resident memory."""

    wall: float = math.inf
    """Seconds that pass."""
    cpu: float = math.inf
    """Seconds of processor time, over all processes and threads."""
    memory: float = math.inf
    """Bytes."""
    grace: float = 1.0
    """Seconds between SIGTERM and SIGKILL at a limit on time; beyond its memory it gets none."""
    clock: Clock = "wall"
    """Which time counts: where it is processor time, it is measured also without a limit."""


class Command(NamedTuple):
    """A program to run, without a shell."""

    words: tuple[str, ...]
    folder: str
    """Where it runs."""
    given: bytes = b""
    """Its standard input."""
    kept: int = 1 << 20
    """How many bytes of each output are kept from its beginning, and as many from its end."""
    read: bool = False
    """Whether its keeper is to read its output, as it does with all that is long."""


class Outcome(NamedTuple):
    """How a run ended and what it used."""

    limit: str = ""
    """Which limit ended it: "wall", "cpu" or "memory"; empty if none did."""
    code: int | None = None
    """Its exit code, minus the number of the signal that ended it; None if it never began."""
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    """The largest resident memory of one of its processes, in bytes, so far as that is known."""
    output: bytes = b""
    errors: bytes = b""
    left_behind: int = 0
    """How many processes it left running, which were ended."""
    trouble: str = ""
    """Why it could not be started."""
    exhausted: bool = False
    """Whether that is because the system has no more processes, files or memory to give."""
    answer: bytes = b""
    """What a function answered, pickled."""
    reading: Any = None
    """What was read from the output, or the exception that said why it could not be."""

    def seconds(self, clock: Clock) -> float:
        """What it took."""
        return self.cpu if clock == "cpu" else self.wall


Execute = Callable[[Any, Limits], Outcome]
"""Makes a run under limits: of a command, or of a function's arguments."""


def patience(cutoff: float) -> float:
    """Seconds that may pass where only processor time has a cutoff: some runs just sleep."""
    return 2 * cutoff + 10


def too_much_memory(limit: float) -> str:
    """What is said of a run that was stopped for that."""
    return f"stopped: it used more than {memory_text(limit)} of memory"


def memory_text(size: float) -> str:
    """Such as 512 MB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size:.0f} B"
