"""A fixed number of runs, made once: BasicILS."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from numbers import Integral

from paramhs.search.comparison.contest import Ledger, LedgerContest
from paramhs.values.costs import score
from paramhs.values.errors import BadInput
from paramhs.values.runs import Asking
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config


@dataclass(frozen=True)
class FixedRuns:
    """Compare means over the first `runs` pairs of the fixed list; a challenger that ties wins.

    Every configuration is run on them once and its answers are used again. A deterministic target
    has no more pairs than instances.

    Source: BasicILS(N) in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009).
    """

    runs: int = 100

    def __post_init__(self) -> None:
        if not isinstance(self.runs, Integral) or self.runs < 1:
            raise BadInput(f"a comparison needs at least 1 run, not {self.runs}")

    def begin(self, scenario: Scenario, seed: int) -> "_Contest":
        """A new contest, for one search."""
        return _Contest(self.runs, Ledger(scenario, seed))


class _Contest(LedgerContest):
    def __init__(self, runs: int, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.runs = int(min(runs, ledger.pairs.count))

    @property
    def settled(self) -> Collection[Config]:
        """All that were ever met: their means are known for good."""
        return self.ledger.costs.keys()

    def enter(self, config: Config) -> Asking:
        yield from self.ledger.ask((config, self.runs))
        return True

    def better(self, challenger: Config, incumbent: Config, ahead: Iterable[Config] = ()) -> Asking:
        likely = self.ledger.first_tasks(ahead, self.runs)
        yield from self.ledger.ask((challenger, self.runs), (incumbent, self.runs), likely=likely)
        return score(self.costs(challenger)) <= score(self.costs(incumbent))

    def deepen(self, incumbent: Config) -> bool:
        return False
