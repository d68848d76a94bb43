"""Evidence that grows with the incumbent: the default comparison for real targets."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from numbers import Integral
from statistics import fmean, stdev
from typing import NamedTuple

from paramhs.core.costs import Cost
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import at_place, key_of
from paramhs.core.runs import Asking, Found, Pair, Status, Task
from paramhs.core.space import Config
from paramhs.search.comparison.balance import by_blocks, family_count, total
from paramhs.search.comparison.capped_race import coming_runs, is_lost, meet
from paramhs.search.comparison.comparison import Comparison, Opening, OpenRace
from paramhs.search.history import History
from paramhs.search.model.inert_parameters import is_without_effect

_MIN_PAIRS = 3  # fewest pairs on which an incumbent may be replaced
_SURE_RUNS = 20  # runs up to which the evidence of the incumbent grows with every challenger
_CLEAR_ERRORS = 4.0  # standard errors of a clear difference
_MIN_CLEAR_RUNS = 8  # fewest runs for a clear difference
_MAX_COST = 1e280  # larger costs may overflow when summed


@dataclass(frozen=True)
class Growing(Comparison):
    """Comparison in which the incumbent gains runs, and a challenger must run on all of its pairs.

    It gains one for every challenger while it has fewer than 20, or fewer than the square root of
    all runs so far: more of them would be a quarter of the budget, and would decide no race
    otherwise. It also gains one where the challenger knows all of its pairs already.

    A challenger runs on the incumbent's own pairs, *in an order drawn for that challenger*: pairs
    with known runs first, then the others at random. (In one order for all, the first pairs would
    be a gate: an incumbent that was lucky on them, which is how it became one, could not be
    beaten.) Where a model knows the noise of runs on each instance, the most informative ones tend
    to come first: each next one with probability proportional to 1 / variance. The challenger is
    rejected as soon as its mean over the pairs so far is worse. That is tested after `min_runs`
    pairs (where noise is known, after the number worth `min_runs` runs of average noise, at most
    twice as many) and then each time the number has doubled. It wins only after all of the
    incumbent's pairs, and at least three where there are that many. A challenger that is exactly
    equal pair by pair, on all pairs or on enough to exclude chance, is rejected as having no
    effect. (For a solver that counts its work two runs are enough; for numbers of false clauses,
    which are often equal, or for time-outs, it takes more, as the incumbent's own costs show. Times
    are equal if they differ by no more than the noise of a clock, and in no clear direction.)

    When a challenger is revisited, its first test follows after twice as many pairs as before,
    including pairs with known runs.

    Args:
        min_runs: Number of pairs before the first decision.
        max_runs: Most pairs of an incumbent.

    Examples:
        >>> from paramhs.search import Growing
        >>> Growing(max_runs=500).min_runs
        2

    Source: what FocusedILS (Hutter et al., JAIR 36, 2009) and SMAC's intensification (Hutter, Hoos,
    Leyton-Brown, LION 2011) have in common; the order of pairs, the first look and the treatment
    of ties are our own.
    """

    min_runs: int = 2
    max_runs: int = 2000

    def __post_init__(self) -> None:
        if not isinstance(self.min_runs, Integral) or not 1 <= self.min_runs <= self.max_runs:
            raise BadInput(
                "Growing needs 1 <= min_runs <= max_runs,"
                f" not min_runs={self.min_runs} and max_runs={self.max_runs}"
            )

    def start(self, history: History, config: Config) -> Asking:
        """Make the fewest runs on which an incumbent may be replaced."""
        yield from history.ask((config, self._gained(history, config)))
        return True

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger is no worse on all of the incumbent's pairs, and not equal."""
        return (yield from self._held(self._race(history, challenger, incumbent), alone=True))

    def opened(
        self,
        history: History,
        challenger: Config,
        incumbent: Config,
        planned: Sequence[Pair] = (),
    ) -> OpenRace:
        """The race, on pairs that are chosen when it is opened."""
        race = self._race(history, challenger, incumbent, planned)
        yield Opening(race.ahead, race.gained)
        return (yield from self._held(race, alone=False))

    def _race(
        self,
        history: History,
        challenger: Config,
        incumbent: Config,
        planned: Sequence[Pair] = (),
    ) -> "_Race":
        """Choose the pairs of a race, their order and the looks at them."""
        times = history.times_met(challenger, incumbent)
        gained = self._gained(history, incumbent, challenger, planned)
        pairs = [*history.pairs_of(incumbent), *planned, *gained]
        order = list(self._order(history, challenger, times, pairs))
        # Pairs that the challenger has met come first and cost little, so no look is made before
        # all of them. A challenger that is revisited has lost on its first pairs, so with each race
        # its first look moves further away (40 only bounds the shift).
        known = len(_met(history, challenger, history.pairs_of(incumbent)))
        first = self._first_look(history, iter(order)) << min(times, 40)
        looks = list(self._looks(max(first, known), len(pairs)))
        return _Race(history, challenger, incumbent, order, looks, gained)

    def _held(self, race: "_Race", alone: bool) -> Asking:
        """Hold a race; if it is `alone`, name the runs of later looks for idle workers."""
        history, challenger, incumbent, order, looks, gained = race
        met: Sequence[Pair] = ()
        for look in looks:
            met = order[:look]
            later = race.later(look) if alone else ()
            meeting = meet(history, challenger, incumbent, met, gained=gained, likely=later)
            if not ((yield from meeting) and self._is_ahead(history, challenger, incumbent, met)):
                return False
            # The incumbent runs on its new pairs together with the first look only.
            gained = []
        # Races that were decided meanwhile may have brought the incumbent to more pairs.
        while len(met) < len(history.pairs_of(incumbent)):
            known = set(met)
            met = [*met, *(pair for pair in history.pairs_of(incumbent) if pair not in known)]
            meeting = meet(history, challenger, incumbent, met)
            if not ((yield from meeting) and self._is_ahead(history, challenger, incumbent, met)):
                return False
        # After the last look the challenger is no worse; one that is equal pair by pair does not
        # win.
        return _costs(history, challenger, met) != _costs(history, incumbent, met)

    def _is_ahead(
        self, history: History, challenger: Config, incumbent: Config, met: Sequence[Pair]
    ) -> bool:
        """Whether the challenger is no worse on these pairs, and not known to be without effect."""
        new, old = (_costs(history, config, met) for config in (challenger, incumbent))
        if total(history, met, new) > total(history, met, old):
            return False
        return not is_without_effect(history, incumbent, new, old)

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether all pairs were compared, or the challenger is clearly worse."""
        pairs = history.pairs_of(incumbent)
        common = history.common(challenger, incumbent)
        if len(common) >= self._limit(history):
            new, old = (_costs(history, config, common) for config in (challenger, incumbent))
            return total(history, common, new) >= total(history, common, old)
        if len(pairs) >= self._limit(history) and is_lost(history, challenger, incumbent, pairs):
            return True
        return _clearly_worse(history, challenger, incumbent)

    def _limit(self, history: History) -> int:
        return int(min(self.max_runs, history.pair_count))

    def _gained(
        self,
        history: History,
        incumbent: Config,
        rival: Config | None = None,
        planned: Sequence[Pair] = (),
    ) -> list[Pair]:
        """Pairs on which the incumbent must run before the next challenger."""
        known = len(history.costs(incumbent)) + len(planned)
        pays = known > 0 and (
            self._pays(history, known)
            or (not planned and self._has_met_all(history, rival, incumbent))
        )
        wanted = min(max(known + pays, self.min_runs, _MIN_PAIRS), self._limit(history))
        if wanted <= known:
            return []
        new = (pair for pair in history.new_pairs(incumbent) if pair not in planned)
        return list(islice(new, wanted - known))

    def _pays(self, history: History, known: int) -> bool:
        """Whether another run of the incumbent is worth as much as one of a challenger.

        It is up to 20 runs, and up to the square root of all runs.
        """
        return known < _SURE_RUNS or known * known < history.learned

    def _has_met_all(self, history: History, rival: Config | None, incumbent: Config) -> bool:
        """Whether only new pairs can show which of the two is better.

        They can if the rival has met all pairs, or if what is known of its runs, some of them cut
        short, has already lost on all of them. Without a new pair such a race would ask for no run,
        and could be repeated for ever.
        """
        known = history.costs(incumbent)
        if rival is None:
            return False
        if len(history.common(rival, incumbent)) == len(known):
            return True
        return is_lost(history, rival, incumbent, history.pairs_of(incumbent))

    def _order(
        self, history: History, challenger: Config, times: int, pairs: Sequence[Pair]
    ) -> Iterator[Pair]:
        """The incumbent's pairs in the order for this challenger after `times` earlier races."""
        first = _met(history, challenger, pairs)
        known = set(first)
        rest = [pair for pair in pairs if pair not in known] if known else pairs
        own = key_of(history.seed, "order", times, *challenger.indices)
        order = _by_own_times(history, rest, own)
        return chain(first, by_blocks(history, order) if history.scenario.balanced else order)

    def _first_look(self, history: History, pairs: Iterator[Pair]) -> int:
        """Number of pairs before the first decision.

        Where noise is known, the number worth `min_runs` runs of average noise, at most twice as
        many.
        """
        if history.scenario.balanced:
            return max(self.min_runs, family_count(history))
        if not history.noise_of:
            return self.min_runs
        worth = 0.0
        for count, pair in enumerate(islice(pairs, 2 * self.min_runs), start=1):
            worth += 1 / history.noise_of.get(pair.instance, 1.0)
            if worth >= self.min_runs:
                return count
        return 2 * self.min_runs

    def _looks(self, look: int, runs: int) -> Iterator[int]:
        """Yield the numbers of pairs at which the two are compared: first, last, and between."""
        while look < runs:
            yield look
            look *= 2
        yield runs


class _Race(NamedTuple):
    """A race, with the pairs that were chosen for it."""

    history: History
    challenger: Config
    incumbent: Config
    order: Sequence[Pair]
    looks: Sequence[int]
    """Numbers of pairs at which the two are compared."""
    gained: Sequence[Pair]
    """New pairs of the incumbent."""

    def runs_to(self, look: int) -> list[Task]:
        """Runs of the challenger that are missing up to a look."""
        return list(coming_runs(self.history, self.challenger, self.incumbent, self.order[:look]))

    def later(self, look: int) -> Iterator[Task]:
        """Runs that the challenger will request after a look, if it survives."""
        pairs = self.order[look : 2 * look]
        for task in self.runs_to(2 * look):
            if task.pair in pairs:
                yield task

    def ahead(self, found: Found) -> list[Task]:
        """Runs that the race will request, as far as those made early show that it survives."""
        history, cost_of = self.history, self.history.scenario.cost_of
        tasks: list[Task] = []
        new, old = ({**history.costs(config)} for config in (self.challenger, self.incumbent))
        for look in self.looks:
            pairs, tasks = self.order[:look], self.runs_to(look)
            runs = list(map(found, tasks))
            if None in runs:
                return tasks
            runs += map(found, history.missing(self.incumbent, pairs))
            for run in runs:
                if run is not None and run.status is not Status.CAPPED:
                    known = new if run.task.config == self.challenger else old
                    known[run.task.pair] = cost_of(run)
            if any(pair not in new or pair not in old for pair in pairs):
                return tasks
            ours, theirs = ([known[pair] for pair in pairs] for known in (new, old))
            if total(history, pairs, ours) > total(history, pairs, theirs):
                return tasks
        return tasks


@lru_cache(maxsize=100_000)
def _key(pair: Pair) -> int:
    return key_of(pair.instance.name, pair.seed)


def _by_own_times(history: History, pairs: Sequence[Pair], challenger: int) -> list[Pair]:
    """Pairs in a random order; the less noise an instance has, the earlier they tend to come.

    A challenger and a pair have a random time, exponential with rate 1 / noise. So pairs are drawn
    without replacement in proportion to 1 / noise (Efraimidis, Spirakis, Information Processing
    Letters 97, 2006), and one more pair changes the order of no others: runs that idle workers make
    early stay useful when the incumbent gains a pair or is replaced.
    """
    noise = history.noise_of
    times = {
        pair: -math.log(at_place(challenger, _key(pair))) * noise.get(pair.instance, 1.0)
        for pair in pairs
    }
    return sorted(pairs, key=times.__getitem__)


def _met(history: History, config: Config, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs on which a configuration has run, including capped runs."""
    if config not in history.configs:
        return []
    return [pair for pair in pairs if history.at_least(config, pair) is not None]


def _costs(history: History, config: Config, pairs: Sequence[Pair]) -> list[Cost]:
    costs = history.costs(config)
    return [costs[pair] for pair in pairs]


def _clearly_worse(history: History, challenger: Config, incumbent: Config) -> bool:
    """Whether a challenger is worse by a wide margin, using lower bounds of its costs."""
    met = _met(history, challenger, history.pairs_of(incumbent))
    if len(met) < _MIN_CLEAR_RUNS:
        return False
    pairs = [
        (history.at_least(challenger, pair) or 0.0, history.costs(incumbent)[pair][0])
        for pair in met
    ]
    # An infinite cost has no mean, so failures are compared by their number. A challenger that
    # fails less often is not clearly worse, whatever its other costs are.
    failures = [float(math.isinf(a)) - float(math.isinf(b)) for a, b in pairs]
    both = [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    scale = _scale(both)
    excess = [a / scale - b / scale for a, b in both]
    return _clearly_positive(failures) or (sum(failures) >= 0 and _clearly_positive(excess))


def _scale(pairs: Sequence[tuple[float, float]]) -> float:
    """Power of two by which costs are divided so that their sums stay finite.

    Solvers report the largest float where they found nothing. A power of two changes no comparison.
    """
    return 2.0**64 if any(max(abs(a), abs(b)) > _MAX_COST for a, b in pairs) else 1.0


def _clearly_positive(numbers: Sequence[float]) -> bool:
    if len(numbers) < _MIN_CLEAR_RUNS:
        return False
    return fmean(numbers) > _CLEAR_ERRORS * stdev(numbers) / math.sqrt(len(numbers))
