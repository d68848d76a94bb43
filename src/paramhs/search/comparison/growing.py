"""Evidence that grows with the incumbent: the default for real targets."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Integral
from statistics import fmean, stdev

from paramhs.search.ahead import Ahead
from paramhs.search.comparison.capping import coming_runs, is_lost, meet
from paramhs.search.history import History
from paramhs.search.ties import enough_ties
from paramhs.values.costs import Cost, score
from paramhs.values.errors import BadInput
from paramhs.values.runs import Asking, Pair, Task
from paramhs.values.seeds import ShortStream, drawn, drawn_by_weight
from paramhs.values.space import Config

_FEW = 3  # the least evidence on which an incumbent is dropped
_CLEARLY = 4.0  # standard errors by which the clearly worse are worse
_CLEARLY_RUNS = 8  # and the least number of runs on which that is judged
_HUGE = 1e280  # costs from which on sums of some may have no float


@dataclass(frozen=True)
class Growing:
    """The incumbent gains one run for every challenger, which must meet it on all of its pairs.

    A challenger meets the incumbent on the incumbent's own pairs, *in an order drawn for that
    challenger*: what is known of it first, then the others at random. (In one order for all, the
    first pairs would be a gate: an incumbent that was lucky on them, which is how it became one,
    could not be beaten.) Where a model knows how noisy runs on each instance are, those that tell
    most tend to come first: each next one with probability in proportion to 1 / variance. It is
    rejected as soon as its mean over the pairs so far is worse, which is looked at after `min_runs`
    (where noise is known, after as many as are worth so many of average noise, from one to twice as
    many) and then after twice as many each time; it takes over only after all of the incumbent's
    pairs, and at least three where there are as many. One that is exactly equal pair by pair, on
    all or on so many that it is no chance, is rejected as having no effect. (Two runs of a solver
    that counts its work are enough; of false clauses, which are often the same, or of time-outs, it
    takes more: the incumbent's own costs tell.)

    Each time that two meet again, the first look comes after twice as many pairs as it would have
    the time before; pairs that were met count.

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
        """Make as many runs as the least on which an incumbent may be dropped."""
        yield from history.ask((config, self._gained(history, config)))
        return True

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger is no worse on all of the incumbent's pairs, and not the same."""
        times = history.times_met(challenger, incumbent)
        gained = self._gained(history, incumbent)
        pairs = [*history.pairs_of(incumbent), *gained] if gained else history.pairs_of(incumbent)
        order = Ahead(self._order(history, challenger, times, pairs))
        met: list[Pair] = []
        new: list[Cost] = []
        old: list[Cost] = []
        known = len(_met(history, challenger, history.pairs_of(incumbent)))
        first = self._first_look(history, order.peek()) << min(times, 40)
        for look in self._looks(max(first, known), len(pairs)):
            met += islice(order, look - len(met))
            likely = _later(history, challenger, incumbent, met, order)
            if not (
                yield from meet(history, challenger, incumbent, met, gained=gained, likely=likely)
            ):
                return False
            gained = []
            new, old = (_costs(history, config, met) for config in (challenger, incumbent))
            if score(new) > score(old) or _is_without_effect(history, incumbent, new, old):
                return False
        return new != old

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether all pairs were met, or the challenger is worse beyond doubt."""
        pairs = history.pairs_of(incumbent)
        common = history.common(challenger, incumbent)
        if len(common) >= self._limit(history):
            new, old = (_costs(history, config, common) for config in (challenger, incumbent))
            return score(new) >= score(old)
        if len(pairs) >= self._limit(history) and is_lost(history, challenger, incumbent, pairs):
            return True
        return _clearly_worse(history, challenger, incumbent)

    def _limit(self, history: History) -> int:
        return int(min(self.max_runs, history.pair_count))

    def _gained(self, history: History, incumbent: Config) -> list[Pair]:
        """The pairs that the incumbent is brought to for the next challenger."""
        known = len(history.costs(incumbent))
        wanted = min(max(known + (known > 0), self.min_runs, _FEW), self._limit(history))
        if wanted <= known:
            return []
        new = islice(history.new_pairs(incumbent), wanted - known)
        return [pair for pair in new if not history.awaits(incumbent, pair)]

    def _order(
        self, history: History, challenger: Config, times: int, pairs: Sequence[Pair]
    ) -> Iterator[Pair]:
        """The incumbent's pairs as this challenger meets them, having met it so many times."""
        first = _met(history, challenger, pairs)
        known = set(first)
        rest = [pair for pair in pairs if pair not in known] if known else pairs
        rng = ShortStream(history.seed, "order", times, *challenger.indices)
        if not history.noise_of:
            return chain(first, drawn(rest, rng))
        weights = [1 / history.noise_of.get(pair.instance, 1.0) for pair in rest]
        return chain(first, drawn_by_weight(rest, weights, rng))

    def _first_look(self, history: History, pairs: Iterator[Pair]) -> int:
        """After how many of these pairs: where noise is known, when they are worth `min_runs` runs
        of average noise, but no later than after twice as many."""
        if not history.noise_of:
            return self.min_runs
        worth = 0.0
        for count, pair in enumerate(islice(pairs, 2 * self.min_runs), start=1):
            worth += 1 / history.noise_of.get(pair.instance, 1.0)
            if worth >= self.min_runs:
                return count
        return 2 * self.min_runs

    def _looks(self, look: int, runs: int) -> Iterator[int]:
        """After how many pairs the two are compared: first, last, and in between."""
        while look < runs:
            yield look
            look *= 2
        yield runs


def _later(
    history: History, challenger: Config, incumbent: Config, met: Sequence[Pair], order: Ahead[Pair]
) -> Iterator[Task]:
    """What the challenger will ask for after the next look, if it comes so far."""
    later = list(islice(order.peek(), len(met)))
    for task in coming_runs(history, challenger, incumbent, [*met, *later]):
        if task.pair in later:
            yield task


def _is_without_effect(
    history: History, incumbent: Config, new: Sequence[Cost], old: Sequence[Cost]
) -> bool:
    return new == old and len(old) >= enough_ties(history.costs(incumbent).values())


def _met(history: History, config: Config, pairs: Sequence[Pair]) -> list[Pair]:
    """Those of the pairs that it was run on, if only until it was cut short."""
    if config not in history.configs:
        return []
    return [pair for pair in pairs if history.at_least(config, pair) is not None]


def _costs(history: History, config: Config, pairs: Sequence[Pair]) -> list[Cost]:
    costs = history.costs(config)
    return [costs[pair] for pair in pairs]


def _clearly_worse(history: History, challenger: Config, incumbent: Config) -> bool:
    """By far, and be it by what its costs are no smaller than."""
    met = _met(history, challenger, history.pairs_of(incumbent))
    if len(met) < _CLEARLY_RUNS:
        return False
    pairs = [
        (history.at_least(challenger, pair) or 0.0, history.costs(incumbent)[pair][0])
        for pair in met
    ]
    failures = [float(math.isinf(a)) - float(math.isinf(b)) for a, b in pairs]
    both = [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    scale = _scale(both)
    excess = [a / scale - b / scale for a, b in both]
    return _clearly_positive(failures) or (sum(failures) >= 0 and _clearly_positive(excess))


def _scale(pairs: Sequence[tuple[float, float]]) -> float:
    """A power of two: to divide by it changes no comparison, and sums of what is left are floats.
    Solvers say the largest float there is where they found nothing."""
    return 2.0**64 if any(max(abs(a), abs(b)) > _HUGE for a, b in pairs) else 1.0


def _clearly_positive(numbers: Sequence[float]) -> bool:
    if len(numbers) < _CLEARLY_RUNS:
        return False
    return fmean(numbers) > _CLEARLY * stdev(numbers) / math.sqrt(len(numbers))
