"""Evidence that grows with the incumbent: the default comparison for real targets."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from numbers import Integral
from statistics import fmean, stdev

from paramhs.core.costs import Cost
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import at_place, key_of
from paramhs.core.runs import Asking, Pair, Task
from paramhs.core.space import Config
from paramhs.search.comparison.balance import by_blocks, family_count, total
from paramhs.search.comparison.capped_race import coming_runs, is_lost, meet
from paramhs.search.comparison.comparison import Comparison
from paramhs.search.history import History
from paramhs.search.model.inert_parameters import is_without_effect
from paramhs.search.peekable import Peekable

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
        times = history.times_met(challenger, incumbent)
        gained = self._gained(history, incumbent, challenger)
        pairs = [*history.pairs_of(incumbent), *gained] if gained else history.pairs_of(incumbent)
        order = Peekable(self._order(history, challenger, times, pairs))
        met: list[Pair] = []
        new: list[Cost] = []
        old: list[Cost] = []
        # Pairs that the challenger has met come first and cost little, so no look is made before
        # all of them. A challenger that is revisited has lost on its first pairs, so with each race
        # its first look moves further away (40 only bounds the shift).
        known = len(_met(history, challenger, history.pairs_of(incumbent)))
        first = self._first_look(history, order.peek()) << min(times, 40)
        for look in self._looks(max(first, known), len(pairs)):
            met += islice(order, look - len(met))
            likely = _later(history, challenger, incumbent, met, order)
            if not (
                yield from meet(history, challenger, incumbent, met, gained=gained, likely=likely)
            ):
                return False
            # The incumbent runs on its new pairs together with the first look only.
            gained = []
            new, old = (_costs(history, config, met) for config in (challenger, incumbent))
            new_score, old_score = (total(history, met, costs) for costs in (new, old))
            if new_score > old_score or is_without_effect(history, incumbent, new, old):
                return False
        # After the last look the challenger is no worse; one that is equal pair by pair does not
        # win.
        return new != old

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
        self, history: History, incumbent: Config, rival: Config | None = None
    ) -> list[Pair]:
        """Pairs on which the incumbent must run before the next challenger."""
        known = len(history.costs(incumbent))
        pays = known > 0 and (
            self._pays(history, known) or self._has_met_all(history, rival, incumbent)
        )
        wanted = min(max(known + pays, self.min_runs, _MIN_PAIRS), self._limit(history))
        if wanted <= known:
            return []
        return list(islice(history.new_pairs(incumbent), wanted - known))

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


def _later(
    history: History,
    challenger: Config,
    incumbent: Config,
    met: Sequence[Pair],
    order: Peekable[Pair],
) -> Iterator[Task]:
    """Runs the challenger will request after the next decision, if it survives."""
    later = list(islice(order.peek(), len(met)))
    for task in coming_runs(history, challenger, incumbent, [*met, *later]):
        if task.pair in later:
            yield task


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
