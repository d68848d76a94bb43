"""When a search stops: the limits it was given, and what of them is spent."""

import math
import time
from dataclasses import dataclass
from typing import Protocol

from paramhs.values.errors import BadInput
from paramhs.values.space import Config
from paramhs.values.wording import time_text
from paramhs.world.store import Store


@dataclass(frozen=True)
class Budget:
    """When to stop, whichever comes first; without any limit, when the space is exhausted.

    `runs` counts the runs that the search asks for; those that idle workers make early come on top.
    `target_time` is the seconds that the target ran, over all runs made; `wall_time` those that
    passed; both over all sessions of a store. No run is started once a limit is reached; the runs
    that the search waits for are finished, unless there is capping: then none is given more than
    what is left.
    """

    runs: int | None = None
    target_time: float | None = None
    wall_time: float | None = None

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if limit is None:
                continue
            number = isinstance(limit, int | float) and not isinstance(limit, bool)
            if not number or not 0 < limit < math.inf:
                raise BadInput(f"the budget's {name} must be a positive number, not {limit!r}")
        if isinstance(self.runs, float):
            raise BadInput(f"the budget's runs must be a whole number, not {self.runs!r}")

    def spent(self, runs: int = 0, target_time: float = 0.0, wall_time: float = 0.0) -> str:
        """Which limit is reached; empty if none."""
        if self.runs is not None and runs >= self.runs:
            return f"the budget of {self.runs:,} runs is spent"
        if self.target_time is not None and target_time >= self.target_time:
            return f"the budget of {self.target_time:g} s of target time is spent"
        if self.wall_time is not None and wall_time >= self.wall_time:
            return f"the budget of {self.wall_time:g} s of wall time is spent"
        return ""

    def left(self, target_time: float, wall_time: float) -> float:
        """Seconds until a limit on time is reached."""
        used = ((self.target_time, target_time), (self.wall_time, wall_time))
        return min((limit - spent for limit, spent in used if limit is not None), default=math.inf)


class Later(Protocol):
    """The verdict that will follow a search."""

    runs: int
    """How many runs of the budget are kept for it."""
    counts: bool
    """Whether it is part of the budget."""

    def time(self, incumbent: Config | None) -> float:
        """How many seconds of target time it will take, if this incumbent stays; 0 if unknown."""


class Account:
    """What of a budget is spent, over all sessions of a store, and what is kept for the verdict."""

    def __init__(self, budget: Budget, store: Store, later: Later | None) -> None:
        self._budget = budget
        self._store = store
        self._later = later
        self._began = time.monotonic()

    @property
    def wall_time(self) -> float:
        """Seconds since the search began."""
        return self._store.wall_time + time.monotonic() - self._began

    @property
    def _kept_runs(self) -> int:
        return self._later.runs if self._later else 0

    def runs_left(self, taken: int) -> float:
        """How many more runs the search may ask for."""
        limit = self._budget.runs
        return math.inf if limit is None else limit - self._kept_runs - taken

    def runs_spent(self, taken: int) -> str:
        """Why no more runs may be asked for; empty if they may."""
        kept = self._kept_runs
        spent = self._budget.spent(runs=taken + kept)
        return f"{spent}, {kept:,} of them for the verdict" if spent and kept else spent

    def time_spent(self, incumbent: Config | None, jobs: int) -> str:
        """Why no run may be started; empty if one may."""
        kept = self._kept_time(incumbent)
        passing = kept / jobs
        ran = self._budget.spent(target_time=self._store.target_time + kept)
        passed = self._budget.spent(wall_time=self.wall_time + passing)
        return _of_which(ran, kept) or _of_which(passed, passing)

    def time_left(self, incumbent: Config | None, jobs: int) -> float:
        """Seconds that a run may take that is started now."""
        kept = self._kept_time(incumbent)
        return self._budget.left(self._store.target_time + kept, self.wall_time + kept / jobs)

    def _kept_time(self, incumbent: Config | None) -> float:
        """Seconds of target time that are kept for the verdict."""
        return self._later.time(incumbent) if self._later and self._later.counts else 0.0


def _of_which(spent: str, kept: float) -> str:
    """Which limit is reached, and what of it is kept for the verdict."""
    return f"{spent}, {time_text(kept)} of it for the verdict" if spent and kept else spent
