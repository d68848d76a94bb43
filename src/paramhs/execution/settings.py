"""Settings of how runs are made, for a search, a verdict or an ablation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from paramhs.core.runs import Search, Target
from paramhs.core.space.objects import plain
from paramhs.execution.driver import Budget, Driver, Watcher
from paramhs.execution.executors import AnyExecutor, check_jobs, executing, reach
from paramhs.execution.storage import Store
from paramhs.search.history import History


@dataclass(frozen=True)
class Running:
    """Number of parallel runs, their executor, and their watcher; never changes a result."""

    jobs: int = 1
    executor: AnyExecutor = None
    """One of `EXECUTORS` by name, or any other; None chooses one for the target."""
    watcher: Watcher = field(default_factory=Watcher)

    def __post_init__(self) -> None:
        object.__setattr__(self, "jobs", plain(self.jobs))
        check_jobs(self.jobs)

    @contextmanager
    def reach(self) -> Iterator["Running"]:
        """Yield the same settings with a connected cluster."""
        with reach(self.executor, self.jobs) as executor:
            yield replace(self, executor=executor)

    def drive(
        self,
        search: Search,
        history: History,
        target: Target,
        store: Store,
        budget: Budget,
        **more: Any,
    ) -> Driver:
        """Run a search to its end and return its driver; `more` are other fields of the driver."""
        history.judge.tells_cutoff = target.is_told_cutoff
        with executing(target, self.executor, self.jobs, history.scenario.cutoff) as (pool, runner):
            driver = Driver(
                search, history, runner, store, budget, pool, self.jobs, self.watcher, **more
            )
            driver.run()
        return driver


ONE_AT_A_TIME = Running()
