"""Callbacks while a search runs."""

import inspect
import warnings
from typing import NamedTuple

from paramhs.core.errors import ParamhsWarning
from paramhs.core.runs import Point, Run
from paramhs.core.text.numbers import printable
from paramhs.execution.driver.budget import Budget, Later
from paramhs.search.record import Record


class Progress(NamedTuple):
    """Progress of a driver at one moment."""

    purpose: str
    """What the runs are for: "" for a search, else "verdict", "ablation" or "values"."""
    taken: int
    """Number of runs that the search requested and was granted."""
    new_runs: int
    """Number of runs made in this session, speculative ones included."""
    failed: int
    """Number of failed runs among those given to the search."""
    last_failure: Run | None
    budget: Budget
    target_time: float
    """Total runtime of the target in seconds, over all sessions."""
    wall_time: float
    """Elapsed time in seconds, over all sessions."""
    pace: float
    """Seconds of wall time for each second of target time, as measured so far."""
    jobs: int
    workers: str
    """State of a cluster's workers; empty without a cluster."""
    later: Later | None
    """The verdict that follows the search."""
    stopped: str
    """Why the search ended; empty while it runs."""


class Watcher:
    """Callbacks during a search. The base class shows nothing; notices for the user become Python
    warnings, so that they appear in the log of a batch job.

    Subclass it, define the methods you need, and pass an instance to `tune(watcher=...)`:

        class Stopwatch(paramhs.Watcher):
            def improved(self, record, progress, point):
                print(f"{progress.wall_time:.0f} s: {point.config}")

    They are called in the thread that called `tune`, between two runs, so the search waits for
    them; what they raise ends it (stored runs are safe). What they do cannot change the search. The
    `record` holds everything so far, to be read: `runs`, `trajectory`, `incumbent`, `history`. The
    `progress` describes the state of the search: `taken` (runs requested), `new_runs`, `wall_time`,
    `jobs`, `budget`, `stopped`. The verdict that follows a search has a record of its own, and the
    `purpose` of its progress is "verdict".

    Examples:
        >>> import paramhs
        >>> class Incumbents(paramhs.Watcher):
        ...     def improved(self, record, progress, point):
        ...         print(point.config)
        >>> found = paramhs.tune(
        ...     lambda config: abs(config["x"]), {"x": [0]}, budget=1, watcher=Incumbents()
        ... )
        x=0
    """

    def started(self, record: Record, progress: Progress) -> None:
        """Called when the driver is about to begin.

        Args:
            record: Everything that happened so far, to be read.
            progress: State of the search.
        """

    def ran(self, record: Record, progress: Progress) -> None:
        """Called when a run is answered, from the store or by the target.

        Args:
            record: Everything that happened so far, to be read.
            progress: State of the search.
        """

    def improved(self, record: Record, progress: Progress, point: Point) -> None:
        """Called when there is a new incumbent.

        Args:
            record: Everything that happened so far, to be read.
            progress: State of the search.
            point: The new incumbent, and when it was found.
        """

    def notice(self, text: str) -> None:
        """Called with a message that the user should see.

        Args:
            text: The message, without a newline at its end.
        """
        warnings.warn(printable(text), ParamhsWarning, stacklevel=_outside())

    def announce(self, text: str) -> None:
        """Called with a message about an expected step that begins or has ended.

        Args:
            text: The message, without a newline at its end.
        """

    def interrupting(self, text: str) -> None:
        """Called when the search will stop soon.

        Called inside a signal handler, which may have interrupted a print: its output must not be
        buffered.

        Args:
            text: The message, without a newline at its end.
        """

    def ended(self, record: Record, progress: Progress) -> None:
        """Called when the driver is done; `progress.stopped` says why.

        Args:
            record: Everything that happened so far, to be read.
            progress: State of the search.
        """


def _outside() -> int:
    """Number of calls up to the user's own code, whose line a warning names."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("paramhs."):
        frame, level = frame.f_back, level + 1
    return level
