"""Fresh runs at every call: the setting of the paper's theory."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral

from paramhs.values.costs import Cost, score
from paramhs.values.errors import BadInput
from paramhs.values.runs import Asking, Evaluate, Instance, Task
from paramhs.values.scenario import Scenario, endless_pairs
from paramhs.values.seeds import SEEDS, stream
from paramhs.values.space import Config


@dataclass(frozen=True)
class FreshRuns:
    """Run both configurations `runs` times anew; the better mean wins, a fair coin decides ties.

    Nothing is remembered, and no seed is used twice. In a call, both are run on the same instances.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), `better`; ties as its published means imply.
    """

    runs: int

    def __post_init__(self) -> None:
        if not isinstance(self.runs, Integral) or self.runs < 1:
            raise BadInput(f"a comparison needs at least 1 run, not {self.runs}")

    def begin(self, scenario: Scenario, seed: int) -> "_Contest":
        """A new contest, for one search."""
        return _Contest(self.runs, scenario, seed)


class _Contest:
    remembers = False
    tried: Collection[Config] = ()
    settled: Collection[Config] = ()

    def __init__(self, runs: int, scenario: Scenario, seed: int) -> None:
        self.runs = runs
        self.scenario = scenario
        self.asked = 0
        skips = (0, SEEDS // 4)  # the same instances in the same order, with other seeds
        self.pairs = [endless_pairs(scenario.instances, seed, skip) for skip in skips]
        self.coin = stream(seed, "ties")
        self.latest: dict[Config, list[Cost]] = {}

    def enter(self, config: Config) -> Asking:
        """A start costs nothing."""
        return True
        yield

    def better(self, challenger: Config, incumbent: Config, ahead: Iterable[Config] = ()) -> Asking:
        new_pairs, old_pairs = self.pairs
        tasks = self._new(challenger, new_pairs) + self._new(incumbent, old_pairs)
        self.asked += len(tasks)
        costs = [self.scenario.cost.of(run) for run in (yield Evaluate(tasks))]
        new, old = costs[: self.runs], costs[self.runs :]
        self.latest = {challenger: new, incumbent: old}
        if score(new) == score(old):
            return self.coin.random() < 0.5
        return score(new) < score(old)

    def _new(self, config: Config, pairs: Iterator[tuple[Instance, int]]) -> list[Task]:
        some = islice(pairs, self.runs)
        return [Task(config, instance, seed, self.scenario.cutoff) for instance, seed in some]

    def costs(self, config: Config) -> Sequence[Cost]:
        """Those of the latest call."""
        return self.latest.get(config, [])

    def deepen(self, incumbent: Config) -> bool:
        return False
