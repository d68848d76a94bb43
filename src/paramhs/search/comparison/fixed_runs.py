"""BasicILS: a fixed number of runs of each configuration."""

from dataclasses import dataclass

from paramhs.core.costs import Score, score
from paramhs.core.runs import Asking, Pair
from paramhs.core.space import Config
from paramhs.search.comparison.capped_race import is_lost, meet
from paramhs.search.comparison.comparison import Comparison, check_runs
from paramhs.search.history import History


@dataclass(frozen=True)
class FixedRuns(Comparison):
    """Compare means over the first `runs` pairs of the search's list; a challenger wins ties.

    Every configuration runs on them once and the results are reused. A deterministic target has no
    more pairs than instances.

    Args:
        runs: Number of pairs that every configuration is run on.

    Examples:
        >>> from paramhs.search import FixedRuns
        >>> FixedRuns().runs
        100

    Source: BasicILS(N) in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009).
    """

    runs: int = 100

    def __post_init__(self) -> None:
        check_runs(self.runs)

    def start(self, history: History, config: Config) -> Asking:
        """Make all runs of the first incumbent."""
        yield from history.ask((config, self._pairs(history)))
        return True

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger's mean is no worse."""
        pairs = self._pairs(history)
        came_through = yield from meet(history, challenger, incumbent, pairs, gained=pairs)
        return came_through and _score(history, challenger, pairs) <= _score(
            history, incumbent, pairs
        )

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether both means are final, which they are once both have all runs."""
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
