"""What every way of comparing offers, and the ledger of costs that they keep."""

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from typing import Protocol

from paramhs.values.costs import Cost
from paramhs.values.runs import Asking, Evaluate, Run, Task
from paramhs.values.scenario import Pairs, Scenario
from paramhs.values.space import Config


class Contest(Protocol):
    """Who is better, during one search."""

    @property
    def asked(self) -> int:
        """How many runs were asked for so far."""

    @property
    def remembers(self) -> bool:
        """Whether answers are used again, so that meeting twice costs little or nothing."""

    @property
    def tried(self) -> Collection[Config]:
        """The configurations met so far, where they are remembered."""

    @property
    def settled(self) -> Collection[Config]:
        """Those whose meeting the present incumbent again could change nothing."""

    def enter(self, config: Config) -> Asking:
        """Make the runs that a first incumbent needs."""

    def better(self, challenger: Config, incumbent: Config, ahead: Iterable[Config] = ()) -> Asking:
        """Whether the challenger replaces the incumbent; `ahead`: who may challenge it next."""

    def costs(self, config: Config) -> Sequence[Cost]:
        """Its costs so far, run by run; the list goes on growing."""

    def deepen(self, incumbent: Config) -> bool:
        """Ask for more evidence from now on, so that the settled may be tried again; or say no."""


class Comparison(Protocol):
    """A way of comparing configurations."""

    def begin(self, scenario: Scenario, seed: int) -> Contest:
        """A new contest, for one search."""


class Ledger:
    """Costs of configurations on the fixed list of pairs: the k-th cost is on the k-th pair."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.pairs = Pairs(scenario, seed)
        self.metric = scenario.cost
        self.costs: dict[Config, list[Cost]] = {}
        self.asked = 0

    def missing(self, config: Config, runs: int) -> list[Task]:
        """The tasks that bring a configuration to so many runs."""
        known = len(self.costs.get(config, ()))
        return [self.pairs.task(config, k) for k in range(known, runs)]

    def ask(
        self, *wanted: tuple[Config, int], likely: Iterable[Task] = ()
    ) -> Generator[Evaluate, Sequence[Run], None]:
        """Bring each configuration to its number of runs."""
        tasks = [task for config, runs in wanted for task in self.missing(config, runs)]
        for config, _ in wanted:
            self.costs.setdefault(config, [])
        if tasks:
            self.asked += len(tasks)
            for run in (yield Evaluate(tasks, likely)):
                self.costs[run.task.config].append(self.metric.of(run))

    def first_tasks(self, configs: Iterable[Config], runs: int) -> Iterator[Task]:
        """The first runs of configurations that may come next."""
        for config in configs:
            yield from self.missing(config, runs)


class LedgerContest:
    """What contests that remember have in common."""

    remembers = True

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    @property
    def asked(self) -> int:
        """How many runs were asked for so far."""
        return self.ledger.asked

    @property
    def tried(self) -> Collection[Config]:
        """All that were ever met."""
        return self.ledger.costs.keys()

    def costs(self, config: Config) -> Sequence[Cost]:
        """Its costs so far, run by run."""
        return self.ledger.costs.get(config, [])
