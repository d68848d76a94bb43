"""A fixed number of runs, made once: BasicILS."""

from dataclasses import dataclass

from paramhs.search.comparison.capping import is_lost, meet
from paramhs.search.comparison.comparison import check_runs
from paramhs.search.history import History
from paramhs.values.costs import Score, score
from paramhs.values.runs import Asking, Pair
from paramhs.values.space import Config


@dataclass(frozen=True)
class FixedRuns:
    """Compare means over the first `runs` pairs of the search's list; a challenger that ties wins.

    Every configuration is run on them once and its answers are used again. A deterministic target
    has no more pairs than instances.

    Source: BasicILS(N) in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009).
    """

    runs: int = 100

    def __post_init__(self) -> None:
        check_runs(self.runs)

    def start(self, history: History, config: Config) -> Asking:
        """Make all its runs."""
        yield from history.ask((config, self._pairs(history)))
        return True

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether its mean is no worse."""
        pairs = self._pairs(history)
        came_through = yield from meet(history, challenger, incumbent, pairs, gained=pairs)
        return came_through and _score(history, challenger, pairs) <= _score(
            history, incumbent, pairs
        )

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Their means are known for good once both have been run."""
        pairs = self._pairs(history)
        if history.missing(incumbent, pairs):
            return False
        lost = is_lost(history, challenger, incumbent, pairs)
        return lost or not history.missing(challenger, pairs)

    def _pairs(self, history: History) -> list[Pair]:
        return history.pairs(0, int(min(self.runs, history.pair_count)))


def _score(history: History, config: Config, pairs: list[Pair]) -> Score:
    costs = history.costs(config)
    return score([costs[pair] for pair in pairs])
