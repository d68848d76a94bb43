"""Fresh runs at every call: the setting of the paper's theory."""

from collections.abc import Sequence
from dataclasses import dataclass

from paramhs.search.comparison.comparison import check_runs
from paramhs.search.history import History
from paramhs.values.costs import Score, score
from paramhs.values.runs import Asking, Pair, Task
from paramhs.values.seeds import other_seed
from paramhs.values.space import Config


@dataclass(frozen=True)
class FreshRuns:
    """Run both configurations `runs` times anew; the better mean wins, a fair coin decides ties.

    What is known is not used, and no seed comes twice. In a call, both are run on the same
    instances. A deterministic target is not run again on what it was run on: it has one seed, with
    which it would say the same.

    Source: Hall, Oliveto, Sudholt (PPSN 2020), `better`; ties as its published means imply.
    """

    runs: int

    def __post_init__(self) -> None:
        check_runs(self.runs)

    def start(self, history: History, config: Config) -> Asking:
        """A start costs nothing."""
        return True
        yield

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether its mean over fresh runs is better."""
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
        """The same where seeds do not matter: each call takes the next instances."""
        call = len(history.races)
        pairs = history.pairs(call * self.runs, (call + 1) * self.runs)
        wanted = list(dict.fromkeys(pairs))
        yield from history.ask((challenger, wanted), (incumbent, wanted))
        new, old = (
            [history.task(config, pair) for pair in pairs] for config in (challenger, incumbent)
        )
        return _wins(history, call, _score(history, new), _score(history, old))

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Never, since fresh runs may end otherwise; or once all is known of a deterministic
        target."""
        if not history.scenario.deterministic:
            return False
        pairs = history.pairs(0, len(history.scenario.instances))
        return not (history.missing(challenger, pairs) or history.missing(incumbent, pairs))


def _wins(history: History, call: int, new: Score, old: Score) -> bool:
    return history.rng("ties", call).random() < 0.5 if new == old else new < old


def _score(history: History, tasks: Sequence[Task]) -> Score:
    return score([history.costs(task.config)[task.pair] for task in tasks])
