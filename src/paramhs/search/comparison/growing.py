"""Evidence that grows with the incumbent: the default for real targets."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from statistics import fmean, stdev

from paramhs.search.comparison.contest import Ledger, LedgerContest
from paramhs.values.costs import Cost, score
from paramhs.values.errors import BadInput
from paramhs.values.runs import Asking, Task
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config

_FEW = 3  # the least evidence on which an incumbent is dropped, or a parameter thought idle
_CLEARLY = 4.0  # standard errors by which the clearly worse are worse
_CLEARLY_RUNS = 8  # and the least number of runs on which that is judged


@dataclass(frozen=True)
class Growing:
    """The incumbent gains one run for every challenger, which must meet it on all of its pairs.

    A challenger meets the incumbent on the same pairs in doubling batches. It is rejected as soon
    as its mean over the pairs so far is worse, but not before `min_runs`; it takes over only after
    meeting all of the incumbent's pairs, and at least three where there are as many. One that is
    exactly equal pair by pair on the first few is set aside as having no effect, and so is one that
    is equal on all. (Costs that are also equal among themselves, such as three time-outs, are weak
    evidence: then "few" is four times as many.)

    When every configuration was rejected, `deepen` doubles `min_runs` and lets those that are not
    clearly worse try again, until all is known that can be.

    Source: what FocusedILS (Hutter et al., JAIR 36, 2009) and SMAC's intensification (Hutter, Hoos,
    Leyton-Brown, LION 2011) have in common; the treatment of ties is our own.
    """

    min_runs: int = 3
    max_runs: int = 2000

    def __post_init__(self) -> None:
        if not isinstance(self.min_runs, Integral) or not 1 <= self.min_runs <= self.max_runs:
            raise BadInput(
                "Growing needs 1 <= min_runs <= max_runs,"
                f" not min_runs={self.min_runs} and max_runs={self.max_runs}"
            )

    def begin(self, scenario: Scenario, seed: int) -> "_Contest":
        """A new contest, for one search."""
        return _Contest(self, Ledger(scenario, seed))


class _Contest(LedgerContest):
    def __init__(self, rules: Growing, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.limit = int(min(rules.max_runs, ledger.pairs.count))
        self.min_runs = min(rules.min_runs, self.limit)
        self.few = max(rules.min_runs, _FEW)
        self.rejected: set[Config] = set()

    @property
    def settled(self) -> Collection[Config]:
        """Those the incumbent has beaten: on the same runs it would beat them again."""
        return self.rejected

    def enter(self, config: Config) -> Asking:
        yield from self.ledger.ask((config, self._runs_of_incumbent(0)))
        return True

    def better(self, challenger: Config, incumbent: Config, ahead: Iterable[Config] = ()) -> Asking:
        runs = self._runs_of_incumbent(len(self.costs(incumbent)) + 1)
        met, batch = 0, self.min_runs
        while met < runs:
            met, batch = min(batch, runs), 2 * batch
            likely = self._likely(incumbent, runs, ahead)
            yield from self.ledger.ask((incumbent, runs), (challenger, met), likely=likely)
            new, old = self.costs(challenger)[:met], self.costs(incumbent)[:met]
            if score(new) > score(old) or self._without_effect(new, old):
                self.rejected.add(challenger)
                return False
        if new == old:
            if runs == self.limit:
                self.rejected.add(challenger)
            return False
        self._reopen(challenger)
        self.rejected.add(incumbent)
        return True

    def _runs_of_incumbent(self, runs: int) -> int:
        return min(max(runs, self.min_runs, _FEW), self.limit)

    def _without_effect(self, new: Sequence[Cost], old: Sequence[Cost]) -> bool:
        return new == old and len(old) >= (self.few if len(set(old)) > 1 else 4 * self.few)

    def _reopen(self, incumbent: Config) -> None:
        """Let those try again that may yet turn out to be better."""
        best = self.costs(incumbent)
        self.rejected = {c for c in self.rejected if self._is_settled(self.costs(c), best)}

    def _is_settled(self, costs: Sequence[Cost], best: Sequence[Cost]) -> bool:
        if len(costs) == len(best) == self.limit:  # all is known; ties must not go on for ever
            return score(costs) >= score(best)
        return _clearly_worse(costs, best)

    def _likely(self, incumbent: Config, runs: int, ahead: Iterable[Config]) -> Iterator[Task]:
        """What the next challengers will ask for: the incumbent's next run and their own first."""
        for run, config in enumerate(ahead, start=runs):
            if run < self.limit:
                yield self.ledger.pairs.task(incumbent, run)
            yield from self.ledger.missing(config, self.min_runs)

    def deepen(self, incumbent: Config) -> bool:
        if self.min_runs == self.limit:
            return False
        self.min_runs = min(2 * self.min_runs, self.limit)
        self._reopen(incumbent)
        return True


def _clearly_worse(costs: Sequence[Cost], best: Sequence[Cost]) -> bool:
    common = min(len(costs), len(best))
    if common < _CLEARLY_RUNS:
        return False
    pairs = [(a[0], b[0]) for a, b in zip(costs[:common], best[:common], strict=True)]
    failures = [float(math.isinf(a)) - float(math.isinf(b)) for a, b in pairs]
    excess = [a - b for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    return _clearly_positive(failures) or (sum(failures) >= 0 and _clearly_positive(excess))


def _clearly_positive(numbers: Sequence[float]) -> bool:
    if len(numbers) < _CLEARLY_RUNS:
        return False
    return fmean(numbers) > _CLEARLY * stdev(numbers) / math.sqrt(len(numbers))
