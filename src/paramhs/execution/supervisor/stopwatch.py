"""Stopwatch that excludes time in which this process was stopped.

Whatever stops everything (Ctrl-Z, a batch system, a closed laptop, a paused container) stops the
runs as well, so a time limit must not continue meanwhile. A process cannot know for how long it was
stopped, but it can read the clock in short steps. The time between two readings counts in full
unless it is far too long, or a SIGCONT reports a stop; then it counts as one step. A stop thus
costs an innocent run at most one step, and a run that floods its keeper with SIGCONT gains nothing,
because shorter steps always count in full.
"""

import time

STEP = 0.1  # largest number of seconds between two readings while something is timed
_STOP_SECONDS = 1.0  # between two readings that no busy machine explains

_continued = [0]


def note_continued(number: int, frame: object) -> None:
    """Handle SIGCONT by counting it."""
    _continued[0] += 1


def continued() -> int:
    """Number of times this process was continued, as far as it was notified."""
    return _continued[0]


class Stopwatch:
    """Stopwatch that runs from its creation; read it at least once per step."""

    def __init__(self, step: float = STEP) -> None:
        self._step = step
        self._seconds = 0.0
        self._last = time.monotonic()
        self._seen = _continued[0]

    def look(self) -> float:
        """Seconds elapsed so far."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        stopped, self._seen = _continued[0] != self._seen, _continued[0]
        if stopped or passed > self._step + _STOP_SECONDS:
            passed = min(passed, self._step)
        self._seconds += passed
        return self._seconds
