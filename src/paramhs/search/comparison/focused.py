"""FocusedILS: a comparison that adds runs where they are needed."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Literal

from paramhs.core.capping import cap
from paramhs.core.costs import Cost, score
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import ShortStream, drawn
from paramhs.core.runs import Asking, Evaluate, Pair, Run, Task
from paramhs.core.space import Config
from paramhs.search.comparison.capped_race import coming_runs, is_lost, meet
from paramhs.search.comparison.comparison import Comparison, check_runs
from paramhs.search.history import History

_FIRST_RUNS = 3  # runs of a first incumbent, enough to detect a broken target


@dataclass(frozen=True)
class Focused(Comparison):
    """Give runs to the side with fewer, one at a time, until one of the two dominates.

    A configuration dominates another if it has run on all pairs of the other and is no worse on
    them. In each race at least one run is made of the side with fewer (of both on a tie), as long
    as there are pairs. A challenger that dominates wins, even on a tie, and receives bonus runs:
    one for each race since the last one won by a challenger. So good configurations accumulate
    runs, and bad ones lose after one or two.

    The order of the other's pairs is drawn for each two rivals. With `order` "shared" it is the
    order of the search's list for all, as in the original; there the first pairs are a gate that a
    lucky configuration holds (see `Growing`). No configuration receives more than `max_runs` runs.

    Where time is the cost, the side with fewer runs is capped as soon as it is dominated. Such a
    run counts as one of its runs, with its time as a lower bound, and is made again if that could
    matter.

    Args:
        order: Order of pairs: drawn for each two rivals, or shared by all as in the original.
        max_runs: Most runs of a configuration.

    Examples:
        >>> from paramhs.search import Focused
        >>> Focused(order="shared").max_runs
        2000

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
        missing = min(_FIRST_RUNS, self._limit(history)) - _runs(history, config)
        yield from history.ask((config, self._new(history, config, missing)))
        return True

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger is the first to dominate; it then receives its bonus runs."""
        won = yield from self._is_first_to_dominate(history, challenger, incumbent)
        if won:
            wanted = [*history.cut_short(challenger), *self._bonus(history, challenger)]
            yield from history.ask((challenger, wanted))
        return won

    def _is_first_to_dominate(
        self, history: History, challenger: Config, incumbent: Config
    ) -> Asking:
        fewer, more = _by_runs(history, challenger, incumbent)
        order, met = self._order(history, fewer, more), _met(history, fewer)
        gained = list(met)
        costs: dict[Config, list[Cost]] = {fewer: [], more: []}
        pair = next(order, None)
        while True:
            following = next(order, None)
            new = [pair] if pair else []
            met, gained = [*met, *new], [*gained, *new]
            likely = _likely(history, fewer, more, met, following)
            if not (yield from meet(history, fewer, more, met, gained=gained, likely=likely)):
                yield from self._make_at_least_one(history, fewer, more, new)
                return more == challenger
            for config, known in costs.items():
                known += _costs(history, config, met[len(known) :])
            if not following:
                return score(costs[challenger]) <= score(costs[incumbent])
            if score(costs[more]) <= score(costs[fewer]):
                return more == challenger
            pair, gained = following, []

    def _make_at_least_one(
        self, history: History, fewer: Config, more: Config, new: list[Pair]
    ) -> Generator[Evaluate, Sequence[Run], None]:
        """Make one run on a new pair even where the configuration had lost before.

        The run is no longer than the other's. Without it, a configuration with bad luck on its
        first pairs would never receive others.
        """
        for pair in new:
            if history.at_least(fewer, pair) is None:
                seconds = history.costs(more)[pair][0]
                yield from history.ask((fewer, [pair]), cutoff=cap(seconds))

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether both configurations have run on all pairs."""
        fewer, more = _by_runs(history, challenger, incumbent)
        if any(self._order(history, fewer, more)):
            return False
        met = _met(history, fewer)
        if history.missing(more, met):
            return False
        return is_lost(history, fewer, more, met) or not history.missing(fewer, met)

    def _limit(self, history: History) -> int:
        return int(min(self.max_runs, history.pair_count))

    def _new(self, history: History, config: Config, count: int) -> list[Pair]:
        """New pairs for a configuration, at most `count` and within its limit."""
        allowed = self._limit(history) - _runs(history, config)
        cut_short = history.cut_short(config)
        new = (pair for pair in history.new_pairs(config) if pair not in cut_short)
        return list(islice(new, max(min(count, allowed), 0)))

    def _bonus(self, history: History, winner: Config) -> list[Pair]:
        lost = sum(1 for _ in takewhile(lambda race: not race.won, reversed(history.races)))
        return self._new(history, winner, lost + 1)

    def _order(self, history: History, fewer: Config, more: Config) -> Iterator[Pair]:
        """Pairs missing from the configuration with fewer runs, in the order of this race."""
        known, cut_short = history.costs(fewer), history.cut_short(fewer)
        rest = [p for p in _met(history, more) if p not in known and p not in cut_short]
        if not rest:
            return iter(self._new(history, more, 1))
        if self.order == "shared":
            return iter(rest)
        times = history.times_met(fewer, more) + history.times_met(more, fewer)
        rng = ShortStream(history.seed, "rivals", times, *fewer.indices, *more.indices)
        return drawn(rest, rng)


def _likely(
    history: History, fewer: Config, more: Config, met: list[Pair], following: Pair | None
) -> Iterator[Task]:
    """The next run of this race."""
    if following:
        coming = coming_runs(history, fewer, more, [*met, following])
        yield from (task for task in coming if task.pair == following)


def _met(history: History, config: Config) -> list[Pair]:
    """Pairs on which the configuration has run, including capped runs."""
    return [*history.pairs_of(config), *history.cut_short(config)]


def _runs(history: History, config: Config) -> int:
    return len(history.costs(config)) + len(history.cut_short(config))


def _by_runs(history: History, challenger: Config, incumbent: Config) -> tuple[Config, Config]:
    """Order the two by number of runs, the one with fewer first; the challenger on a tie."""
    if _runs(history, challenger) <= _runs(history, incumbent):
        return challenger, incumbent
    return incumbent, challenger


def _costs(history: History, config: Config, pairs: Iterable[Pair]) -> list[Cost]:
    costs = history.costs(config)
    return [costs[pair] for pair in pairs]
