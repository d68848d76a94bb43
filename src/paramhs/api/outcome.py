"""The result of a finished search, and the length of the verdict that follows."""

from paramhs.core.errors import BadInput
from paramhs.core.space import Config
from paramhs.core.test_set import TestSet
from paramhs.core.text.numbers import counted
from paramhs.execution.driver import Budget
from paramhs.procedures.validate import VerdictTime, most_pairs
from paramhs.search.history import History


class Later:
    """The verdict after a search: its length, and whether it counts against the budget.

    Unless the user set its number of runs, it takes at most half as long as the budget.
    """

    def __init__(
        self, history: History, test_set: TestSet | None, budget: Budget, counts: bool
    ) -> None:
        self._default = history.scenario.space.default
        self._deterministic = history.scenario.deterministic
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

    def test_set(self, best: Config, pace: float) -> TestSet | None:
        """Test set on which the default and this configuration are compared."""
        return self._within(self._budget, best, pace)

    def _within(self, budget: Budget, incumbent: Config | None, pace: float) -> TestSet | None:
        if self._test_set is None:
            return None
        most = most_pairs(budget, self._each(incumbent), pace)
        return self._test_set.within(self._deterministic, most)

    def _each(self, incumbent: Config | None) -> float:
        """Target time in seconds for one run of both sides."""
        return self._time.seconds(self._default, incumbent or self._default)
