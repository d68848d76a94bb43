"""Races on the incumbent's pairs, stopped as soon as the challenger has lost.

Where time is the cost, costs are never negative, and a run that has taken t seconds costs at least
t however it ends. So a challenger has lost on a set of pairs as soon as its time on some of them
exceeds the incumbent's time on all. It runs on one pair after the other, with the remaining time as
the cutoff, its *cap*; idle workers are given the next pairs, with caps as far as they are known.

Caps follow from the history alone, so they are the same for any number of workers. A run that an
idle worker made with a larger cap is answered as if it had been stopped at the smaller one
(`core.runs`), and one that was stopped too early is made again.

Source: trajectory-preserving and aggressive capping in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR
36, 2009), section 7. There the bound of the aggressive variant is a multiple of the incumbent's
time on all pairs; here it also holds after each pair, on the pairs compared so far.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import chain
from statistics import fmean

from paramhs.core.capping import MIN_CAP, cap
from paramhs.core.runs import Asking, Pair, Task
from paramhs.core.space import Config
from paramhs.search.history import History

# A smaller relative difference may be due to the rounding of sums.
_ROUNDING_TOLERANCE = 1e-9


def meet(
    history: History,
    challenger: Config,
    incumbent: Config,
    pairs: Sequence[Pair],
    *,
    gained: Sequence[Pair] = (),
    likely: Iterable[Task] = (),
) -> Asking:
    """Run the challenger on pairs known of the incumbent, unless it loses on the way.

    False means that its score on them is worse, or (with aggressive capping) was judged to be; True
    means that all its costs on them are known, whichever is better. The incumbent first runs on the
    pairs it has `gained`; its own runs are never capped.
    """
    if not _is_capped(history):
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
    """Whether the challenger would lose on the incumbent's known pairs without another run."""
    if not _is_capped(history):
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
    """Runs that a challenger will request on these pairs, as far as known now."""
    if not _is_capped(history):
        yield from history.missing(challenger, pairs)
        return
    for pair, cutoff in _Race(history, challenger, incumbent, pairs).caps():
        yield from history.missing(challenger, [pair], cutoff)


def _is_capped(history: History) -> bool:
    """Whether sums of times decide a race; with balanced families, means of families decide."""
    return history.scenario.cost.grows_with_time and not history.scenario.balanced


class _Race:
    """State of a race on the incumbent's pairs.

    Runs without a usable cost (wrong answers) count first: fewer of them win, whatever the times.
    So times decide only where the challenger has at least as many such runs as the incumbent.
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
        # Capped runs come last: until then they count with their lower bounds.
        self._cut = {pair: x for pair, x in least.items() if x is not None}
        self.left = deque([*(pair for pair, x in least.items() if x is None), *self._cut])
        """Pairs still to run."""
        self._is_cut = False

    @property
    def is_lost(self) -> bool:
        """Whether the challenger cannot win, or is given up."""
        return self._is_cut or self._room() < 0 or next(self._limits(), (None, 0.0))[1] < 0

    def _room(self) -> float:
        """Seconds the challenger may still take before it has lost on all pairs together."""
        if self._new.failures != self._all.failures:
            return math.inf if self._new.failures < self._all.failures else -1.0
        least = self._new.seconds + math.fsum(self._cut.values())
        return self._all.seconds * (1 + _ROUNDING_TOLERANCE) - least

    def _limits(self) -> Iterator[tuple[Pair, float]]:
        """Remaining pairs, with the seconds allowed on each if those before take no time."""
        # Trajectory-preserving capping: the challenger may use what the incumbent's total leaves
        # after its own known times. A run that was capped before counts with its cutoff, which is
        # returned when it is repeated with a larger one. Aggressive capping also bounds the time on
        # the pairs so far by a multiple of the incumbent's.
        room, met, times = self._room(), self._met.copy(), self._history.scenario.capping.times
        for pair in self.left:
            met.add(self._old[pair])
            seconds = room + self._cut.get(pair, 0.0)
            if self._new.failures >= met.failures:
                allowed = max(times(met.count) * met.seconds, MIN_CAP)
                seconds = min(seconds, allowed - self._new.seconds)
            yield pair, seconds

    def caps(self) -> Iterator[tuple[Pair, float]]:
        """Remaining pairs, with their caps as known now."""
        return ((pair, cap(seconds)) for pair, seconds in self._limits())

    def pass_on(self) -> None:
        """Advance to the next pair, with the first one's result as known now."""
        pair = self.left.popleft()
        self._cut.pop(pair, None)
        cost = self._history.costs(self._challenger).get(pair)
        if cost is None:
            self._is_cut = True
            return
        self._new.add(cost[0])
        self._met.add(self._old[pair])


class _Sum:
    """Sum of times, and the number of entries without a usable time."""

    def __init__(self, numbers: Iterable[float] = ()) -> None:
        self.seconds, self.failures, self.count = 0.0, 0, 0
        for x in numbers:
            self.add(x)

    def add(self, x: float) -> None:
        """Add one time."""
        self.count += 1
        if math.isinf(x):
            self.failures += 1
        else:
            self.seconds += x

    def copy(self) -> "_Sum":
        """Copy of this sum."""
        return copy(self)


def _known_or_typical(history: History, config: Config, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """Time on each pair, or the average time where it is unknown."""
    costs = history.costs(config)
    known = [costs[pair][0] for pair in pairs if pair in costs]
    typical = history.scenario.cutoff
    if len(known) < len(pairs):
        finite = [x for x in known if math.isfinite(x)]
        typical = fmean(finite) if finite else typical
    return {pair: costs[pair][0] if pair in costs else typical for pair in pairs}
