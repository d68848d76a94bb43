"""How runs are made, whatever they are for: a search, a verdict, an ablation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from paramhs.search.history import History
from paramhs.values.runs import Search, Target
from paramhs.world.driver import Budget, Driver, Watcher
from paramhs.world.executing import AnyExecutor, check_jobs, executing, reach
from paramhs.world.store import Store


@dataclass(frozen=True)
class Running:
    """How many runs at a time, by whom, and who is told of them. It never changes a result."""

    jobs: int = 1
    executor: AnyExecutor = None
    """One of `EXECUTORS` by name, or any other; None for what suits the target."""
    watcher: Watcher = field(default_factory=Watcher)

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    @contextmanager
    def reach(self) -> Iterator["Running"]:
        """The same; a cluster is reached once for all that is done inside."""
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
        """The driver that has answered this search; `more` are further fields of it."""
        with executing(target, self.executor, self.jobs, history.scenario.cutoff) as (pool, runner):
            driver = Driver(
                search, history, runner, store, budget, pool, self.jobs, self.watcher, **more
            )
            driver.run()
        return driver


ONE_AT_A_TIME = Running()
