"""The setting of the paper's theory: fresh runs in every comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from paramhs.core.costs import Score, score
from paramhs.core.random_streams import other_seed
from paramhs.core.runs import Asking, Pair, Task
from paramhs.core.space import Config
from paramhs.search.comparison.comparison import Comparison, check_runs
from paramhs.search.history import History


@dataclass(frozen=True)
class FreshRuns(Comparison):
    """Run both configurations `runs` times anew; the better mean wins, a fair coin decides ties.

    Known runs are not reused, and no seed is used twice. In one call, both run on the same
    instances. A deterministic target is not repeated on an instance, because it has one seed and
    would give the same result.

    Args:
        runs: Number of new runs of each configuration in each race.

    Examples:
        >>> from paramhs.search import FreshRuns
        >>> FreshRuns(10).runs
        10

    Source: Hall, Oliveto, Sudholt (PPSN 2020), `better`; ties as its published means imply.
    """

    runs: int

    def __post_init__(self) -> None:
        check_runs(self.runs)

    def start(self, history: History, config: Config) -> Asking:
        """Start without runs."""
        return True
        yield

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger's mean over fresh runs is better."""
        if history.scenario.deterministic:
            return (yield from self._better_by_instances(history, challenger, incumbent))
        call = history.asked // (2 * self.runs)
        pairs = history.pairs(call * self.runs, (call + 1) * self.runs)
        others = [Pair(instance, other_seed(seed)) for instance, seed in pairs]
        new, old = (
            [history.task(config, pair) for pair in on]
            for config, on in ((challenger, pairs), (incumbent, others))
        )
        yield from history.make([*new, *old])
        return _wins(history, call, _score(history, new), _score(history, old))

    def _better_by_instances(
        self, history: History, challenger: Config, incumbent: Config
    ) -> Asking:
        """Compare on the next instances, where seeds do not matter."""
        call = len(history.races)
        pairs = history.pairs(call * self.runs, (call + 1) * self.runs)
        wanted = list(dict.fromkeys(pairs))
        yield from history.ask((challenger, wanted), (incumbent, wanted))
        new, old = (
            [history.task(config, pair) for pair in pairs] for config in (challenger, incumbent)
        )
        return _wins(history, call, _score(history, new), _score(history, old))

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether all runs of a deterministic target are known; fresh runs are never final."""
        if not history.scenario.deterministic:
            return False
        pairs = history.pairs(0, len(history.scenario.instances))
        return not (history.missing(challenger, pairs) or history.missing(incumbent, pairs))


def _wins(history: History, call: int, new: Score, old: Score) -> bool:
    return history.rng("ties", call).random() < 0.5 if new == old else new < old


def _score(history: History, tasks: Sequence[Task]) -> Score:
    return score([history.costs(task.config)[task.pair] for task in tasks])
