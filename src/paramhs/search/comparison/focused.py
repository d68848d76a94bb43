"""Runs where they are needed: FocusedILS."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Literal

from paramhs.search.comparison.comparison import check_runs
from paramhs.search.history import History
from paramhs.values.costs import Cost, score
from paramhs.values.errors import BadInput
from paramhs.values.runs import Asking, Pair, Task
from paramhs.values.seeds import ShortStream, drawn
from paramhs.values.space import Config

_FIRST = 3  # runs of a first incumbent: as many as show that a target is broken


@dataclass(frozen=True)
class Focused:
    """The one with fewer runs gets more, one at a time, until one of the two dominates.

    A configuration dominates another if it was run on all the pairs that the other was run on, and
    is no worse on these. In each race at least one run is made of the one with fewer (of both, if
    they have the same), as long as there are pairs. A challenger that dominates wins, ties
    included, and gets bonus runs: one for each race since the last that a challenger won. So good
    configurations gather runs, and bad ones lose after one or two.

    Which of the other's pairs come first is drawn for each two rivals. With `order` "shared" it is
    the order of the search's list for all, as in the original; there the first pairs are a gate
    that a lucky configuration holds (see `Growing`). No configuration is given more than `max_runs`
    runs.

    Source: FocusedILS in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009), procedures
    `better_Foc` and `dominates`. Our own are the drawn order, and then that the one with more runs
    is first brought to the pairs that only the other has; that a race between two with the same
    number of runs counts once for the bonus, not twice; and the three runs of a first incumbent.
    """

    order: Literal["drawn", "shared"] = "drawn"
    max_runs: int = 2000

    def __post_init__(self) -> None:
        check_runs(self.max_runs)
        if self.order not in ("drawn", "shared"):
            raise BadInput(f"order must be 'drawn' or 'shared', not {self.order!r}")

    def start(self, history: History, config: Config) -> Asking:
        """Make the first few runs."""
        missing = min(_FIRST, self._limit(history)) - len(history.costs(config))
        yield from history.ask((config, self._new(history, config, missing)))
        return True

    def better(
        self, history: History, challenger: Config, incumbent: Config, ahead: Iterable[Config] = ()
    ) -> Asking:
        """Whether the challenger dominates first; it then gets its bonus."""
        fewer, more = _by_runs(history, challenger, incumbent)
        little: list[Cost] = []
        much: list[Cost] = []
        met, lacking = list(history.pairs_of(fewer)), _lacking(history, fewer, more)
        order = self._order(history, fewer, more)
        pair = next(order, None)
        while pair:
            following = next(order, None)
            likely = self._likely(history, fewer, following, incumbent, ahead)
            yield from history.ask((more, [*lacking, pair]), (fewer, [pair]), likely=likely)
            little += _costs(history, fewer, [*met, pair])
            much += _costs(history, more, [*met, pair])
            if following and score(much) <= score(little):
                won = more == challenger
                break
            pair, met, lacking = following, [], []
        else:
            won = _is_no_worse(history, challenger, incumbent)
        if won:
            yield from history.ask((challenger, self._bonus(history, challenger)))
        return won

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether both were run on all pairs."""
        return not any(self._order(history, *_by_runs(history, challenger, incumbent)))

    def _limit(self, history: History) -> int:
        return int(min(self.max_runs, history.pair_count))

    def _new(self, history: History, config: Config, count: int) -> list[Pair]:
        """So many pairs that it was not run on, as far as it may have as many."""
        allowed = self._limit(history) - len(history.costs(config))
        return list(islice(history.new_pairs(config), max(min(count, allowed), 0)))

    def _bonus(self, history: History, winner: Config) -> list[Pair]:
        lost = sum(1 for _ in takewhile(lambda race: not race.won, reversed(history.races)))
        return self._new(history, winner, lost + 1)

    def _order(self, history: History, fewer: Config, more: Config) -> Iterator[Pair]:
        """The pairs that the one with fewer runs has yet to meet, in the order of this race."""
        known = history.costs(fewer)
        rest = [pair for pair in history.pairs_of(more) if pair not in known]
        if not rest:
            return iter(self._new(history, more, 1))
        if self.order == "shared":
            return iter(rest)
        times = history.times_met(fewer, more) + history.times_met(more, fewer)
        rng = ShortStream(history.seed, "rivals", times, *fewer.indices, *more.indices)
        return drawn(rest, rng)

    def _likely(
        self,
        history: History,
        fewer: Config,
        following: Pair | None,
        incumbent: Config,
        ahead: Iterable[Config],
    ) -> Iterator[Task]:
        """The next run of this race, then the first of each to come."""
        if following:
            yield from history.missing(fewer, [following])
        for config in ahead:
            little, much = _by_runs(history, config, incumbent)
            first = list(islice(self._order(history, little, much), 1))
            yield from history.missing(much, [*_lacking(history, little, much), *first])
            yield from history.missing(little, first)


def _by_runs(history: History, challenger: Config, incumbent: Config) -> tuple[Config, Config]:
    """Who has fewer runs, the challenger if both have the same; and who has more."""
    if len(history.costs(challenger)) <= len(history.costs(incumbent)):
        return challenger, incumbent
    return incumbent, challenger


def _lacking(history: History, fewer: Config, more: Config) -> list[Pair]:
    """The pairs that only the one with fewer runs was run on."""
    known = history.costs(more)
    return [pair for pair in history.pairs_of(fewer) if pair not in known]


def _is_no_worse(history: History, config: Config, other: Config) -> bool:
    """On the pairs of the other, all of which it was run on."""
    pairs = history.pairs_of(other)
    return score(_costs(history, config, pairs)) <= score(_costs(history, other, pairs))


def _costs(history: History, config: Config, pairs: Iterable[Pair]) -> list[Cost]:
    costs = history.costs(config)
    return [costs[pair] for pair in pairs]
