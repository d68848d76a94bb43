"""Racing an incumbent on its pairs, no longer than it takes to lose.

Where time is what counts, costs are never negative, and that of a run that has taken t seconds is
no smaller than t however it ends. So a challenger has lost on some pairs as soon as what it took on
a part of them is more than what the incumbent took on all. It is run on one pair after the other,
each time with what is left until then as the cutoff, its *cap*; idle workers are told which pairs
come next, and the caps as far as they are known now.

The caps follow from the history alone, so they are the same for any number of workers. What an idle
worker did with a larger cap is answered as if it had been cut at the smaller one (`values.runs`),
and one that was cut too early is made again.

Source: trajectory-preserving and aggressive capping in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR
36, 2009), section 7. There the bound of the aggressive one is a multiple of the incumbent's time on
all pairs; here it also holds after each pair, on those met so far.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import chain
from statistics import fmean

from paramhs.search.history import History
from paramhs.values.capping import LEAST_CAP, cap
from paramhs.values.runs import Asking, Pair, Task
from paramhs.values.space import Config

# What is lost by less than this share might be won if sums were rounded otherwise.
_ROUNDING = 1e-9


def meet(
    history: History,
    challenger: Config,
    incumbent: Config,
    pairs: Sequence[Pair],
    *,
    gained: Sequence[Pair] = (),
    likely: Iterable[Task] = (),
) -> Asking:
    """Bring the challenger to pairs that are known of the incumbent, unless it loses on the way.

    False says that its score on them is worse, or (if capping is aggressive) that it was taken to
    be; True that all its costs on them are known, whoever is better. The incumbent is brought to
    the pairs it has `gained` first; its own runs are never cut short.
    """
    if not history.scenario.cost.grows_with_time:
        yield from history.ask((incumbent, gained), (challenger, pairs), likely=likely)
        return True
    coming = coming_runs(history, challenger, incumbent, pairs)
    yield from history.ask((incumbent, gained), likely=chain(coming, likely))
    race = _Race(history, challenger, incumbent, pairs)
    while race.left and not race.is_lost:
        caps = race.caps()
        pair, cutoff = next(caps)
        rest = chain.from_iterable(history.missing(challenger, [p], at) for p, at in caps)
        yield from history.ask((challenger, [pair]), likely=chain(rest, likely), cutoff=cutoff)
        race.pass_on()
    return not race.is_lost


def is_lost(history: History, challenger: Config, incumbent: Config, pairs: Sequence[Pair]) -> bool:
    """Whether it would lose on pairs that are known of the incumbent without another run."""
    if not history.scenario.cost.grows_with_time:
        return False
    race = _Race(history, challenger, incumbent, pairs)
    while race.left and not race.is_lost:
        pair, cutoff = next(race.caps())
        if history.missing(challenger, [pair], cutoff):
            return False
        race.pass_on()
    return race.is_lost


def coming_runs(
    history: History, challenger: Config, incumbent: Config, pairs: Sequence[Pair]
) -> Iterator[Task]:
    """What a challenger that is to meet these pairs will ask for, as far as can be told now."""
    if not history.scenario.cost.grows_with_time:
        yield from history.missing(challenger, pairs)
        return
    for pair, cutoff in _Race(history, challenger, incumbent, pairs).caps():
        yield from history.missing(challenger, [pair], cutoff)


class _Race:
    """How far a challenger has come on pairs of the incumbent.

    Runs without a usable cost (wrong answers) are counted first: fewer of them win, whatever the
    times. So times decide only where the challenger has no fewer than the incumbent.
    """

    def __init__(
        self, history: History, challenger: Config, incumbent: Config, pairs: Sequence[Pair]
    ) -> None:
        self._history = history
        self._challenger = challenger
        self._old = _known_or_typical(history, incumbent, pairs)
        self._all = _Sum(self._old.values())
        known = history.costs(challenger)
        least = {p: history.at_least(challenger, p) for p in pairs if p not in known}
        done = [pair for pair in pairs if pair in known]
        self._new = _Sum(known[pair][0] for pair in done)
        self._met = _Sum(self._old[pair] for pair in done)
        # What was cut short comes last: until then it counts as what it is no smaller than.
        self._cut = {pair: x for pair, x in least.items() if x is not None}
        self.left = deque([*(pair for pair, x in least.items() if x is None), *self._cut])
        """The pairs to come."""
        self._is_cut = False

    @property
    def is_lost(self) -> bool:
        """Whether it cannot win, or is given up."""
        return self._is_cut or self._room() < 0 or next(self._limits(), (None, 0.0))[1] < 0

    def _room(self) -> float:
        """What it may still take until it has lost on all the pairs together."""
        if self._new.failures != self._all.failures:
            return math.inf if self._new.failures < self._all.failures else -1.0
        least = self._new.seconds + math.fsum(self._cut.values())
        return self._all.seconds * (1 + _ROUNDING) - least

    def _limits(self) -> Iterator[tuple[Pair, float]]:
        """The pairs to come, with what it may take on each if those before take no time."""
        room, met, times = self._room(), self._met.copy(), self._history.scenario.capping.times
        for pair in self.left:
            met.add(self._old[pair])
            seconds = room + self._cut.get(pair, 0.0)
            if self._new.failures >= met.failures:
                allowed = max(times(met.count) * met.seconds, LEAST_CAP)
                seconds = min(seconds, allowed - self._new.seconds)
            yield pair, seconds

    def caps(self) -> Iterator[tuple[Pair, float]]:
        """The pairs to come, with their caps as they are known now."""
        return ((pair, cap(seconds)) for pair, seconds in self._limits())

    def pass_on(self) -> None:
        """Go on to the next pair, with what is known of the first one now."""
        pair = self.left.popleft()
        self._cut.pop(pair, None)
        cost = self._history.costs(self._challenger).get(pair)
        if cost is None:
            self._is_cut = True
            return
        self._new.add(cost[0])
        self._met.add(self._old[pair])


class _Sum:
    """Times that are added up, and how many are none because nothing was usable."""

    def __init__(self, numbers: Iterable[float] = ()) -> None:
        self.seconds, self.failures, self.count = 0.0, 0, 0
        for x in numbers:
            self.add(x)

    def add(self, x: float) -> None:
        """One more."""
        self.count += 1
        if math.isinf(x):
            self.failures += 1
        else:
            self.seconds += x

    def copy(self) -> "_Sum":
        """Another with the same sum."""
        return copy(self)


def _known_or_typical(history: History, config: Config, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """What it took on each pair; where that is not known yet, what it took on average."""
    costs = history.costs(config)
    known = [costs[pair][0] for pair in pairs if pair in costs]
    typical = history.scenario.cutoff
    if len(known) < len(pairs):
        finite = [x for x in known if math.isfinite(x)]
        typical = fmean(finite) if finite else typical
    return {pair: costs[pair][0] if pair in costs else typical for pair in pairs}
