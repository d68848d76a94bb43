"""Budgets: the limits of a search, and what is spent of them."""

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from paramhs.core.errors import BadInput
from paramhs.core.quantities import least_gain, positive_seconds
from paramhs.core.space import Config
from paramhs.core.space.objects import plain
from paramhs.core.text.numbers import counted, time_text
from paramhs.execution.storage import Store

MIN_RESERVE_RUNS = 10  # a smaller budget reserves none to finish a race
SMALL_RESERVE = 6  # a small budget reserves this part, because a race is long beside it,
MAX_SMALL_RESERVE = 15  # up to this number of runs


@dataclass(frozen=True)
class Budget:
    """Limits of a search, whichever is reached first; without any, until the space is exhausted.

    `runs` counts the runs that the search requests, without speculative ones.
    `target_time` is the total runtime of the target over all runs made, `wall_time` the elapsed
    time, both over all sessions of a store. No run is started once a limit is reached; runs that
    the search waits for are finished, unless there is capping: then none receives more than the
    remaining time.

    With `stop`, the search ends earlier: when, with 75 % confidence, the next tenth of the budget
    would gain less than this share of the cost. At least a fifth of the budget and 50 races come
    before.

    Args:
        runs: Number of runs of the search.
        target_time: Seconds that the target runs, over all runs, or a text such as "10 min".
        wall_time: Seconds that pass, over all sessions, or a text such as "2 h".
        stop: Predicted gain below which the search stops, such as "gain < 1 %" or 0.01.

    Examples:
        >>> import paramhs
        >>> paramhs.Budget(runs=1000, wall_time="10 min").wall_time
        600.0
    """

    runs: int | None = None
    target_time: float | None = None
    """Total runtime in seconds; a text such as "10 min" is converted."""
    wall_time: float | None = None
    """Elapsed time in seconds; a text such as "2 h" is converted."""
    stop: float | str | None = None
    """Predicted gain below which the search stops; a text such as "gain < 1 %" is converted."""

    if TYPE_CHECKING:  # what callers may pass; attributes are converted

        def __init__(
            self,
            runs: int | None = None,
            target_time: float | str | None = None,
            wall_time: float | str | None = None,
            stop: float | str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("target_time", "wall_time"):
            limit = getattr(self, name)
            if limit is not None:
                seconds = positive_seconds(limit, f"the budget's {name}")
                if seconds == math.inf:
                    raise BadInput(f"the budget's {name} must be finite; leave it out for none")
                object.__setattr__(self, name, seconds)
        if self.stop is not None:
            object.__setattr__(self, "stop", least_gain(self.stop, "the budget's stop"))
            if self.runs is self.target_time is self.wall_time is None:
                raise BadInput("the budget's stop needs runs, target_time or wall_time beside it")
        runs = plain(self.runs)
        if runs is not None and (type(runs) is not int or runs < 1):
            kind = "whole number" if isinstance(runs, float) and runs > 0 else "positive number"
            hint = "; for a time, give Budget(wall_time=...)" if isinstance(runs, str) else ""
            raise BadInput(f"the budget's runs must be a {kind}, not {self.runs!r}{hint}")
        object.__setattr__(self, "runs", runs)

    @property
    def least_gain(self) -> float:
        """Share of the cost below which a predicted gain stops the search; 0 for no such rule."""
        return self.stop if isinstance(self.stop, float) else 0.0

    def left(self, target_time: float, wall_time: float) -> float:
        """Seconds until a time limit is reached.

        Args:
            target_time: Seconds that the target has run.
            wall_time: Seconds that have passed.

        Returns:
            Seconds; infinite without a time limit.
        """
        used = ((self.target_time, target_time), (self.wall_time, wall_time))
        return min((limit - spent for limit, spent in used if limit is not None), default=math.inf)


class Later(Protocol):
    """The verdict that will follow a search."""

    runs: int
    """Number of runs of the budget reserved for it."""
    counts: bool
    """Whether it counts against the budget."""

    def time(self, incumbent: Config | None, pace: float) -> float:
        """Target time in seconds if this incumbent stays; 0 if unknown.

        `pace` is the wall time per second of target time.
        """


class Account:
    """Accounting of a budget, over all sessions of a store.

    Part of the budget may be reserved for the verdict. Of the rest, the share `reserve` is kept to
    finish an open race: requests with `finishing` may use it.
    """

    def __init__(
        self, budget: Budget, store: Store, later: Later | None, reserve: float = 0.0
    ) -> None:
        self._budget = budget
        self._store = store
        self._later = later
        self._reserve = reserve
        self._began = time.monotonic()

    @property
    def wall_time(self) -> float:
        """Seconds since the search began."""
        return self._store.wall_time + time.monotonic() - self._began

    def pace(self, jobs: int) -> float:
        """Wall time per second of target time, as measured so far."""
        ran = self._store.target_time
        return self.wall_time / ran if ran else 1 / jobs

    @property
    def _kept_runs(self) -> int:
        return self._later.runs if self._later else 0

    @property
    def _reserved_runs(self) -> int:
        """Runs reserved to finish a race: at least one, unless the budget is tiny."""
        runs = (self._budget.runs or 0) - self._kept_runs
        if not self._reserve or runs < MIN_RESERVE_RUNS:
            return 0
        return max(1, int(self._reserve * runs), min(runs // SMALL_RESERVE, MAX_SMALL_RESERVE))

    def runs_left(self, taken: int, finishing: bool = True) -> float:
        """Number of further runs the search may request."""
        limit = self._budget.runs
        if limit is None:
            return math.inf
        return limit - self._kept_runs - taken - (0 if finishing else self._reserved_runs)

    def runs_spent(self, taken: int, finishing: bool = True) -> str:
        """Reason why no more runs may be requested; empty if they may."""
        if self.runs_left(taken, finishing) > 0:
            return ""
        kept = f"{self._kept_runs:,} of them" if self._kept_runs else ""
        unused = int(self.runs_left(taken))
        return _spent(f"{self._budget.runs:,} runs", kept, counted(unused, "run") * (unused > 0))

    def time_spent(
        self, incumbent: Config | None, jobs: int, taken: int, finishing: bool = True
    ) -> str:
        """Reason why no run may be started; empty if one may."""
        kept, pace = self._kept_time(incumbent, jobs), self.pace(jobs)
        for limit, used, later, name in (
            (self._budget.target_time, self._store.target_time, kept, "target time"),
            (self._budget.wall_time, self.wall_time, kept * pace, "wall time"),
        ):
            if limit is None:
                continue
            reserved = 0.0 if finishing else self._reserved_time(limit - later, used, taken)
            left = limit - later - used
            if left <= reserved:
                of_it = f"{time_text(later)} of it" if later else ""
                return _spent(f"{limit:g} s of {name}", of_it, time_text(left) * (left > 0))
        return ""

    def _reserved_time(self, limit: float, used: float, taken: int) -> float:
        """Seconds of a limit reserved to finish a race: at least those of a mean run."""
        if not self._reserve:
            return 0.0
        return min(max(self._reserve * limit, used / max(taken, 1)), limit / 4)

    def time_left(self, incumbent: Config | None, jobs: int) -> float:
        """Seconds that a run started now may take."""
        kept = self._kept_time(incumbent, jobs)
        passing = kept * self.pace(jobs)
        return self._budget.left(self._store.target_time + kept, self.wall_time + passing)

    def _kept_time(self, incumbent: Config | None, jobs: int) -> float:
        """Seconds of target time reserved for the verdict."""
        if self._later is None or not self._later.counts:
            return 0.0
        return self._later.time(incumbent, self.pace(jobs))


def _spent(limit: str, kept: str, unused: str) -> str:
    """Name the reached limit, and the parts reserved for the verdict or for a race."""
    verdict = f", {kept} for the verdict" if kept else ""
    race = f", except {unused} kept to finish a race" if unused else ""
    return f"the budget of {limit} is spent{verdict}{race}"
