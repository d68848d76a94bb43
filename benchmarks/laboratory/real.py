"""The real targets as the laboratory sees them: slow, and the last word."""

from collections.abc import Sequence

from benchmarks.laboratory.cases import Case
from paramhs.core.costs import mean
from paramhs.core.runs import Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config
from paramhs.execution.executors import executing

SEEDS = range(1_000_001, 1_000_003)  # which no search draws but by a rare chance


class Real:
    """The runs that the solver really makes."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.target = case.target
        self._known: dict[Config, float] = {}

    @property
    def scenario(self) -> Scenario:
        """The case's."""
        return self.case.scenario

    def true_cost(self, config: Config) -> float:
        """On the test instances, of a target that draws with several seeds."""
        if config not in self._known:
            self._known[config] = self._measured(config)
        return self._known[config]

    def _measured(self, config: Config) -> float:
        seeds: Sequence[int] = (1,) if self.scenario.deterministic else SEEDS
        tasks = [Task(config, i, s, self.scenario.cutoff) for i in self.case.tests for s in seeds]
        with executing(self.target, None, 1, self.scenario.cutoff) as (_, make):
            return mean([self.scenario.cost.of(make(task))[0] for task in tasks])

    @property
    def default_cost(self) -> float:
        """What the default costs."""
        return self.true_cost(self.scenario.space.default)
