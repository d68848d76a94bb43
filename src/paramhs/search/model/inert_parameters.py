"""Equal costs: evidence that a change has no effect, or coincidence."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from paramhs.core.costs import Cost
from paramhs.core.runs import Instance, Pair
from paramhs.core.space import Config
from paramhs.search.history import History, Race

_CHANCE = 0.001  # probability of equal costs without a common cause
_INSTANCES = 3  # instances on which a change must have had no effect
_MOST = 12  # equal costs that always suffice
_LOOKED_AT = 50  # costs from which the probability of chance ties is estimated


def enough_ties(costs: Iterable[Cost]) -> int:
    """Number of equal costs needed, if they are as often equal by chance as these.

    The share of equal costs is Laplace's estimate, so few costs prove nothing.
    """
    some = list(islice(costs, _LOOKED_AT))
    equal = sum(n * (n - 1) // 2 for n in Counter(some).values())
    share = (equal + 1) / (len(some) * (len(some) - 1) // 2 + 2)
    return min(max(2, math.ceil(math.log(_CHANCE) / math.log(share))), _MOST)


def ties(history: History) -> list[Race]:
    """Races that were lost because the change had no effect."""
    return [
        race
        for race in history.races
        if not race.won and _is_tied(history, race.challenger, race.incumbent)
    ]


def idle(history: History, tied: Iterable[Race]) -> frozenset[int]:
    """Positions of parameters that seem to have no effect.

    A change had no effect on an instance if all costs there were equal. That proves nothing for
    other instances, so a parameter is idle only after ties on three instances, in one race or in
    several. It is no longer idle once two configurations that differ only in idle parameters differ
    in a cost.
    """
    instances: dict[int, set[Instance]] = {}
    for race in tied:
        shared = {pair.instance for pair in history.common(race.challenger, race.incumbent)}
        for position in _changed(race):
            instances.setdefault(position, set()).update(shared)
    enough = min(_INSTANCES, len(history.scenario.instances))
    found = {position for position, tied_on in instances.items() if len(tied_on) >= enough}
    return frozenset(found - _contradicted(history, found))


def _changed(race: Race) -> Iterator[int]:
    both = zip(race.challenger.indices, race.incumbent.indices, strict=True)
    return (i for i, (new, old) in enumerate(both) if new != old and min(new, old) >= 0)


def _contradicted(history: History, found: set[int]) -> set[int]:
    """Positions contradicted by two configurations that differ only in them, and in a cost."""
    if not found:
        return set()
    groups: dict[tuple[int, ...], list[Config]] = {}
    for config in history.configs:
        rest = tuple(-2 if i in found and x >= 0 else x for i, x in enumerate(config.indices))
        groups.setdefault(rest, []).append(config)
    active: set[int] = set()
    for configs in groups.values():
        first: dict[Pair, tuple[Config, Cost]] = {}
        for config in configs if len(configs) > 1 else ():
            for pair, cost in history.costs(config).items():
                other, known = first.setdefault(pair, (config, cost))
                if cost != known:
                    both = zip(config.indices, other.indices, strict=True)
                    active.update(i for i, (a, b) in enumerate(both) if a != b)
    return active


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
