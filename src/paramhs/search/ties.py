"""Costs that are exactly equal: proof that what was changed has no effect, or chance."""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from paramhs.search.history import History, Race
from paramhs.values.costs import Cost
from paramhs.values.runs import Pair
from paramhs.values.space import Config

_CHANCE = 0.001  # of equal costs without a cause
_MOST = 12  # equal costs that are always enough
_LOOKED_AT = 50  # costs of a configuration that tell how often two are equal by chance


def enough_ties(costs: Iterable[Cost]) -> int:
    """How many costs must be equal, if they are as often equal by chance as these are.

    The share of equal ones is Laplace's estimate, so few costs make no proof.
    """
    some = list(islice(costs, _LOOKED_AT))
    equal = sum(n * (n - 1) // 2 for n in Counter(some).values())
    share = (equal + 1) / (len(some) * (len(some) - 1) // 2 + 2)
    return min(max(2, math.ceil(math.log(_CHANCE) / math.log(share))), _MOST)


def ties(history: History) -> list[Race]:
    """The races that were lost because what was changed had no effect."""
    return [
        race
        for race in history.races
        if not race.won and _is_tied(history, race.challenger, race.incumbent)
    ]


def idle(tied: Iterable[Race]) -> frozenset[int]:
    """The positions of parameters whose change, alone or with others, had no effect in a race."""
    found: set[int] = set()
    for race in tied:
        both = zip(race.challenger.indices, race.incumbent.indices, strict=True)
        found.update(i for i, (new, old) in enumerate(both) if new != old and min(new, old) >= 0)
    return frozenset(found)


def _is_tied(history: History, challenger: Config, incumbent: Config) -> bool:
    new, old = history.costs(challenger), history.costs(incumbent)
    common, cut = [pair for pair in new if pair in old], history.cut_short(challenger)
    if any(new[pair] != old[pair] for pair in common):
        return False
    if any(pair in old and _is_more(history, challenger, pair, old[pair]) for pair in cut):
        return False
    return len(common) >= enough_ties(old.values())


def _is_more(history: History, config: Config, pair: Pair, cost: Cost) -> bool:
    least = history.at_least(config, pair)
    return least is not None and least > cost[0]
