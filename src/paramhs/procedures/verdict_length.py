"""The length of the verdict that follows a search."""

import math
from dataclasses import replace
from pathlib import Path
from threading import Lock

from paramhs.analysis.intervals import fewest_cases
from paramhs.core.errors import BadInput
from paramhs.core.space import Config
from paramhs.core.test_set import TestSet
from paramhs.core.text.numbers import counted
from paramhs.execution.driver import Budget
from paramhs.execution.storage import SEARCH
from paramhs.search.history import History

_SIZE = "verdict size"


def as_noted(store: Path | None, decided: TestSet, facts: dict[str, object]) -> TestSet:
    """Return the test set size noted in a store for these facts, or note the one decided now.

    The size may follow from measured times, which differ when a verdict is resumed.
    """
    if store is None:
        return decided
    from paramhs.execution.storage.records import (  # sqlite3 only where it is needed
        keep_fact,
        read_fact,
    )

    facts = {**facts, "instances": len(decided.instances)}
    noted = read_fact(store, SEARCH, _SIZE)
    if isinstance(noted, dict) and noted.get("facts") == facts:
        runs = noted.get("runs")
        if runs is None or (type(runs) is int and runs > 0):
            return replace(decided, runs=runs)
    keep_fact(store, SEARCH, _SIZE, {"facts": facts, "runs": decided.runs})
    return decided


def most_pairs(budget: Budget, seconds: float, pace: float) -> float:
    """Largest number of runs of each side that takes half of the budget; infinite if unknown.

    `seconds` is the target time of one run of both sides, and `pace` the wall time per second of
    target time.
    """
    limits = [math.inf if budget.runs is None else budget.runs // 4]
    for limit, each in ((budget.target_time, seconds), (budget.wall_time, seconds * pace)):
        if limit is not None and each > 0:
            limits.append(limit / 2 / each)
    return min(limits)


class VerdictTime:
    """Estimate of a verdict's duration from the runs of a search so far."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._read = 0
        self._seconds: dict[Config, tuple[int, float]] = {}
        self._lock = Lock()  # a live view asks from another thread

    def seconds(self, *configs: Config) -> float:
        """Target time of one run of each configuration; 0 while nothing is known."""
        with self._lock:
            new = self._history.runs[self._read :]
            for run in new:
                count, total = self._seconds.get(run.task.config, (0, 0.0))
                self._seconds[run.task.config] = (count + 1, total + run.runtime)
            self._read += len(new)
            made = [self._seconds[config] for config in configs if config in self._seconds]
        return math.fsum(total / count for count, total in made)


class Later:
    """The verdict after a search: its length, and whether it counts against the budget.

    Unless the user set its number of runs, it takes at most half as long as the budget, except for
    the runs without which nothing could be significant.
    """

    def __init__(
        self, history: History, test_set: TestSet | None, budget: Budget, counts: bool
    ) -> None:
        self._default = history.scenario.space.default
        self._deterministic = history.scenario.deterministic
        self._costs = len(history.scenario.cost.by_name)
        self._test_set = test_set
        self._budget = budget
        self._time = VerdictTime(history)
        self.counts = counts and test_set is not None
        fitting = self._within(Budget(budget.runs), None, 0.0) if counts else None
        self.runs = 2 * fitting.count(self._deterministic) if fitting else 0
        if budget.runs is not None and 0 < budget.runs <= self.runs:
            raise BadInput(
                f"the budget of {counted(budget.runs, 'run')} leaves none to search with: the"
                f" verdict, which is to be part of it, needs {self.runs:,}"
            )

    def time(self, incumbent: Config | None, pace: float) -> float:
        """Target time in seconds if the search ended now; 0 while unknown."""
        fitting = self._within(self._budget, incumbent, pace)
        return self.seconds(fitting, incumbent) if fitting else 0.0

    def seconds(self, test_set: TestSet, incumbent: Config | None) -> float:
        """Target time in seconds on this test set."""
        return test_set.count(self._deterministic) * self._each(incumbent)

    def test_set(self, best: Config, pace: float, configs: int = 2) -> TestSet | None:
        """Test set on which the default and this configuration, or more of them, are compared."""
        return self._within(self._budget, best, pace, configs)

    def _within(
        self, budget: Budget, incumbent: Config | None, pace: float, configs: int = 2
    ) -> TestSet | None:
        if self._test_set is None:
            return None
        most = most_pairs(budget, self._each(incumbent), pace) * 2 / configs
        fewest = fewest_cases((configs - 1) * self._costs)
        return self._test_set.within(self._deterministic, most, fewest)

    def _each(self, incumbent: Config | None) -> float:
        """Target time in seconds for one run of both sides."""
        return self._time.seconds(self._default, incumbent or self._default)
