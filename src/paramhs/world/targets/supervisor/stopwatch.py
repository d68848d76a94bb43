"""Seconds in which this process could look: time in which it was stopped does not count.

Whoever stops everything (Ctrl-Z, a batch system, a closed laptop, a paused container) stops the
runs as well, so a limit on time must not go on meanwhile. A process cannot know for how long it was
stopped, but it can look at the clock in short steps: what lies between two looks counts in full
unless it is much too long, or the system says by SIGCONT that there was a stop; then it counts as
one step. So a stop costs an innocent run one step at most, and a run that floods its keeper with
SIGCONT gains nothing, because shorter steps always count in full.
"""

import time

STEP = 0.1  # seconds between two looks at the most, while something is timed
_MUCH_TOO_LONG = 1.0  # seconds between two looks that no busy machine explains

_continued = [0]


def note_continued(number: int, frame: object) -> None:
    """A handler of SIGCONT."""
    _continued[0] += 1


def continued() -> int:
    """How often this process was told to go on, so far as it heard of it."""
    return _continued[0]


class Stopwatch:
    """Runs from now on; whoever uses it looks at it at least once in each step."""

    def __init__(self, step: float = STEP) -> None:
        self._step = step
        self._seconds = 0.0
        self._last = time.monotonic()
        self._seen = _continued[0]

    def look(self) -> float:
        """The seconds up to now."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        stopped, self._seen = _continued[0] != self._seen, _continued[0]
        if stopped or passed > self._step + _MUCH_TOO_LONG:
            passed = min(passed, self._step)
        self._seconds += passed
        return self._seconds
