"""Equal costs: evidence that a change has no effect, or coincidence.

Two times are never exactly equal. They are taken as equal if they differ by no more than the noise
of a clock, 5 % and 10 ms: times on different instances differ by far more, and so do those of two
computations that only resemble each other. Where all differences point in one direction, beyond
four standard errors, the change has a small effect, and the times are not taken as equal.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from statistics import fmean, stdev

from paramhs.core.costs import Cost, CostMetric
from paramhs.core.runs import Instance, Pair
from paramhs.core.space import Config
from paramhs.search.history import History, Race

_CHANCE = 0.001  # probability of equal costs without a common cause
_INSTANCES = 3  # instances on which a change must have had no effect
_MAX_TIES = 12  # equal costs that always suffice
_SAMPLED_COSTS = 50  # costs from which the probability of chance ties is estimated
_NOISE = 0.05  # relative noise of a clock
_TICK = 0.01  # absolute noise of a clock, in seconds
_CLEAR_ERRORS = 4.0  # standard errors of a clear difference


def enough_ties(costs: Iterable[Cost], timed: bool = False) -> int:
    """Number of equal costs needed, if they are as often equal by chance as these.

    The share of equal costs is Laplace's estimate, so few costs prove nothing.
    """
    some = list(islice(costs, _SAMPLED_COSTS))
    equal = _close_costs(some) if timed else sum(n * (n - 1) // 2 for n in Counter(some).values())
    share = (equal + 1) / (len(some) * (len(some) - 1) // 2 + 2)
    return min(max(2, math.ceil(math.log(_CHANCE) / math.log(share))), _MAX_TIES)


def _close_costs(costs: Sequence[Cost]) -> int:
    """Number of pairs of costs whose times are equal within the noise of a clock."""
    times = sorted(cost[0] for cost in costs)
    return sum(bisect_right(times, _still_equal(time)) - i for i, time in enumerate(times, 1))


def _still_equal(time: float) -> float:
    """Largest time that may be equal to this one."""
    return (time + _TICK) / (1 - _NOISE)


def is_equal(metric: CostMetric, new: Cost, old: Cost) -> bool:
    """Whether two costs on one pair do not differ, or only by the noise of a clock."""
    if new == old or not metric.grows_with_time:
        return new == old
    return new[1:] == old[1:] and max(new[0], old[0]) <= _still_equal(min(new[0], old[0]))


def are_equal(metric: CostMetric, new: Sequence[Cost], old: Sequence[Cost]) -> bool:
    """Whether the costs of two configurations on the same pairs do not differ."""
    if any(not is_equal(metric, a, b) for a, b in zip(new, old, strict=True)):
        return False
    return not (metric.grows_with_time and _clearly_differ(new, old))


def _clearly_differ(new: Sequence[Cost], old: Sequence[Cost]) -> bool:
    """Whether the relative differences of times are clearly not 0 on average."""
    both = zip(new, old, strict=True)
    excess = [(a - b) / max(a, b) if a != b else 0.0 for (a, *_), (b, *_) in both]
    if len(excess) < 2:
        return False
    return abs(fmean(excess)) > _CLEAR_ERRORS * stdev(excess) / math.sqrt(len(excess))


def is_without_effect(
    history: History, incumbent: Config, new: Sequence[Cost], old: Sequence[Cost]
) -> bool:
    """Whether costs on the same pairs are equal, on enough of them to exclude chance."""
    metric = history.scenario.cost
    if not are_equal(metric, new, old):
        return False
    return len(old) >= enough_ties(history.costs(incumbent).values(), metric.grows_with_time)


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
                if not is_equal(history.scenario.cost, cost, known):
                    both = zip(config.indices, other.indices, strict=True)
                    active.update(i for i, (a, b) in enumerate(both) if a != b)
    return active


def _is_tied(history: History, challenger: Config, incumbent: Config) -> bool:
    new, old = history.costs(challenger), history.costs(incumbent)
    first = next((pair for pair in new if pair in old), None)
    if first is not None and not is_equal(history.scenario.cost, new[first], old[first]):
        return False  # nearly always where runs are noisy, without a look at the other pairs
    common, cut = [pair for pair in new if pair in old], history.cut_short(challenger)
    if any(pair in old and _is_more(history, challenger, pair, old[pair]) for pair in cut):
        return False
    met = [new[pair] for pair in common], [old[pair] for pair in common]
    return is_without_effect(history, incumbent, *met)


def _is_more(history: History, config: Config, pair: Pair, cost: Cost) -> bool:
    least = history.at_least(config, pair)
    timed = history.scenario.cost.grows_with_time
    return least is not None and least > (_still_equal(cost[0]) if timed else cost[0])
