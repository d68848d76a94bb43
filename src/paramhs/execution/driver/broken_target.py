"""Detection of a default that fails at once, or that solves nothing."""

from collections.abc import Iterable
from itertools import islice

from paramhs.analysis.solved_runs import unsolved_default
from paramhs.core.costs import CostMetric
from paramhs.core.errors import TargetError
from paramhs.core.runs import FAILURES, Run, Task
from paramhs.core.space import Config
from paramhs.execution.driver.in_flight import Runner
from paramhs.execution.storage import Store

_MIN_FAILURES = 3  # failures of the default after which the target counts as broken


class DefaultTrial:
    """The first runs of the default, until all of them have ended.

    These are the runs requested first, not those that end first, because failures are quick.
    """

    def __init__(self, asked: Iterable[Task], default: Config | None) -> None:
        self._awaited = set(
            islice((task for task in asked if task.config == default), _MIN_FAILURES)
        )
        self._given: list[Run] = []

    def note(self, run: Run) -> bool:
        """Take a run of the search; return whether it was the last one awaited."""
        if not self._awaited:
            return False
        self._given.append(run)
        return self._awaited <= {given.task for given in self._given}

    def end(
        self, store: Store, speculative: Iterable[Task], target: Runner, metric: CostMetric
    ) -> str:
        """Raise an error if all these runs failed, and remove them from the store.

        Returns:
            A warning if there were as many runs as are needed and none was solved; else empty.
        """
        runs = [run for run in self._given if run.task in self._awaited]
        made = {*speculative, *(run.task for run in self._given)}
        self._awaited, self._given = set(), []
        if not runs or any(run.status not in FAILURES for run in runs):
            return unsolved_default(runs, metric) if len(runs) == _MIN_FAILURES else ""
        store.forget(made)
        last = runs[-1]
        raise TargetError(
            f"the target fails with its default configuration, in {len(runs)} of {len(runs)} runs."
            f"\nThe last call was {target.shown(last.task)}"
            f"\nThe result was:\n{last.detail.rstrip()}"
            "\nThese runs are discarded. Fix the target and start again."
        )
