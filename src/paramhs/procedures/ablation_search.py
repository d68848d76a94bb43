"""Search for the path from the default to the best: which changes matter, and in which order.

*Changes.* A change is a parameter that is active in the best and has another value than without the
change. A set of changes stands for the configuration with the best's values for them and the
default's for all other parameters. A change that activates other parameters includes their changes:
they cannot be made earlier, and the best gives no other values for them.

*Path.* Starting from the default, all remaining changes are raced, and the winner is made: greedy
ablation. The race is successive halving on common pairs: the worse half drops out and the others
run on twice as many pairs, until two remain, which run on all pairs. The cost of a path is thus
known in advance: with P pairs and n changes, about P (n + log2 n!) runs. What remains of the budget
goes into more pairs for the configurations on the path.

*Pruning.* That would be too much for the 83 changes of a tuned kissat, most of which do nothing,
and a greedy path misses two changes that matter only together. So changes are first *pruned* from
the best in groups: half of them are reverted, starting with those that stored runs consider least
important. If the gain is kept they are dropped; if not, each half of that half is tried, and so on
(group testing, as in delta debugging). If k of n changes matter, this takes about k log2(n / k)
trials. The remaining changes form the path, and the dropped ones its last step. Groups that the
budget cannot split stay single steps.

A gain is *kept* if the remaining share is at least the requested one, always compared with the
best, so that small losses do not accumulate. If more runs show that nothing short of the best keeps
it, one standard error is tolerated (the pruning rule of regression trees).

Source: Fawcett, Hoos (Journal of Heuristics 22, 2016), greedy ablation and its acceleration by
racing; Jamieson, Talwalkar (AISTATS 2016), successive halving; Zeller, Hildebrandt (IEEE TSE 28,
2002), delta debugging; Breiman et al., Classification and Regression Trees (1984), section 3.4.3.
"""

import math
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from statistics import stdev

from paramhs.core.costs import mean, score
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import SEEDS
from paramhs.core.runs import Evaluate, Pair, Run, Search
from paramhs.core.scenario import endless_pairs
from paramhs.core.space import INACTIVE, Config
from paramhs.search.history import History

MIN_BUDGET = 20
_MAX_PAIRS = 100  # more pairs are never needed
_MIN_PAIRS = 8  # pairs, if there are that many
_FIRST_LOOK_PAIRS = 3  # pairs
_MAX_UNPRUNED_CHANGES = 3  # up to this number of changes nothing is pruned
_PLANNED_TRIALS = 18  # of reverting a group, each on all pairs; at least this number is planned
_PLANNED_CHANGES = 6  # number of changes that matter, for planning
_MAX_SLACK = 0.05  # largest loss that a standard error may excuse

Units = frozenset[int]
"""Set of changes, by the positions of their parameters."""

Asked = Generator[Evaluate, Sequence[Run], None]


@dataclass(frozen=True)
class Stop:
    """A configuration on the path."""

    config: Config
    tried: int
    """Number of candidates raced for it."""


class Changes:
    """All changes from one configuration to another, and the configurations of subsets of them."""

    def __init__(self, default: Config, best: Config) -> None:
        self.default = default
        self.best = best
        self.space = default.space
        self._plain = [
            p.default_index if index == INACTIVE else index
            for p, index in zip(self.space.listed, default.indices, strict=True)
        ]
        self.units = tuple(
            i for i, index in enumerate(best.indices) if index not in (INACTIVE, self._plain[i])
        )
        self._switched_on = [i for i in self.units if default.indices[i] == INACTIVE]

    def config(self, made: Collection[int]) -> Config:
        """Configuration with these changes, allowed or not."""
        indices = list(self._plain)
        for position in made:
            indices[position] = self.best.indices[position]
        return self.space.configured(indices)

    def added(self, made: Units, more: Units, among: Units) -> Units:
        """Add changes, together with those of the parameters that they activate."""
        before, result = self.config(made), made | more
        while True:
            now = self.config(result).indices
            on = {i for i in self._switched_on if now[i] != INACTIVE == before.indices[i]}
            if on & among <= result:
                return result
            result |= on & among

    def reachable(self, made: Units, groups: Sequence[Units]) -> dict[Config, Units]:
        """Configurations reached by one more group, except forbidden and unchanged ones."""
        among = made.union(*groups)
        return self._reached(made, among, (group - made for group in groups))

    def further(self, made: Units, groups: Sequence[Units]) -> dict[Config, Units]:
        """Configurations reached by two groups at once, or by all of them.

        Used where every single group is forbidden.
        """
        among = made.union(*groups)
        pairs = (a | b for a, b in islice(combinations(groups, 2), 1_000))
        return self._reached(made, among, pairs) or {self.config(among): among}

    def _reached(self, made: Units, among: Units, steps: Iterable[Units]) -> dict[Config, Units]:
        here = self.config(made)
        result: dict[Config, Units] = {}
        for step in steps:
            units = self.added(made, step, among)
            config = self.config(units)
            if config != here and self.space.allowed(config):
                result.setdefault(config, units)
        return result


def usual_pairs(budget: int, changes: int) -> int:
    """Number of pairs for which the budget probably suffices."""
    for pairs in range(_MAX_PAIRS, _MIN_PAIRS, -1):
        pruned = usual_trials(changes) * pairs
        if 2 * pairs + pruned + way_cost(min(changes, _PLANNED_CHANGES), pairs) <= budget:
            return pairs
    return _MIN_PAIRS


def usual_trials(changes: int) -> int:
    """Planned number of trials to revert groups; few changes need none."""
    return 0 if changes <= _MAX_UNPRUNED_CHANGES else min(changes + 4, _PLANNED_TRIALS)


def way_cost(changes: int, pairs: int) -> int:
    """Largest number of runs of a path with this number of changes, without its ends."""
    return sum(race_cost(count, pairs) for count in range(2, changes + 1))


def race_cost(candidates: int, pairs: int) -> int:
    """Number of runs of a race."""
    looks = list(_looks(candidates, pairs))
    before = [0, *(look for look, _ in looks)]
    return sum(count * (look - b) for (look, count), b in zip(looks, before, strict=False))


def _looks(candidates: int, pairs: int) -> Iterator[tuple[int, int]]:
    """Yield for each round of a race the number of pairs at its end and of candidates in it."""
    halvings = max(math.ceil(math.log2(max(candidates, 1))), 1)
    for k in range(halvings):
        look = pairs if k == halvings - 1 else math.ceil(pairs / 2 ** (halvings - 1 - k))
        yield min(max(look, _FIRST_LOOK_PAIRS), pairs), candidates
        candidates = math.ceil(candidates / 2)


@dataclass
class Ablating:
    """Search for the path; after it has ended, `stops` is the result."""

    history: History
    best: Config
    budget: int
    keep: float
    order: Sequence[str] = ()
    """Parameters, the most important by stored runs first."""
    stops: list[Stop] = field(default_factory=list)

    def __post_init__(self) -> None:
        if type(self.budget) is not int or self.budget < MIN_BUDGET:
            raise BadInput(f"an ablation needs at least {MIN_BUDGET} runs, not {self.budget!r}")
        if not 0 < self.keep <= 1:
            raise BadInput(f"the share to keep must be above 0 and at most 1, not {self.keep!r}")
        scenario = self.history.scenario
        self.default = scenario.space.default
        self.changes = Changes(self.default, self.best)
        count = min(usual_pairs(self.budget, len(self.changes.units)), self.budget // 2)
        most = min(_MAX_PAIRS, self.history.pair_count)
        skip = 3 * (SEEDS // 4)  # the verdict uses those from the middle on
        every = endless_pairs(
            scenario.instances,
            self.history.seed,
            skip,
            deterministic=scenario.deterministic,
        )
        self._later = list(islice(every, int(most)))
        self.pairs, self._later = self._later[:count], self._later[count:]

    def search(self) -> Search:
        """Find the path within the budget."""
        if self.best == self.default:
            return "the default is the best"
        yield from self._bring([self.default, self.best], len(self.pairs))
        units = frozenset(self.changes.units)
        groups = [frozenset({unit}) for unit in units]
        if len(units) > _MAX_UNPRUNED_CHANGES:
            groups = yield from self._prune(units)
        yield from self._walk(self._affordable(groups))
        if not self.stops or self.stops[-1].config != self.best:
            self.stops.append(Stop(self.best, 1))
        yield from self._refine()
        return "the path is complete"

    def _refine(self) -> Asked:
        """Spend the remaining budget on new pairs, which selected nothing, for the whole path."""
        known = [self.default, *(stop.config for stop in self.stops)]
        more = self._later[: self._left // len(known)]
        yield from self.history.ask(*((config, more) for config in known))
        self.pairs += more

    def _bring(self, configs: Sequence[Config], count: int) -> Asked:
        """Run configurations on the first `count` pairs."""
        yield from self.history.ask(*((config, self.pairs[:count]) for config in configs))

    # Pruning

    def _prune(self, units: Units) -> Generator[Evaluate, Sequence[Run], list[Units]]:
        """Revert groups of changes; return those that cannot be reverted, as groups."""
        # Breadth-first group testing. A group that is reverted without loss disappears in one
        # trial; a group that loses the gain is split, and both halves wait behind the other groups,
        # so that when the budget ends the largest groups have all been tried once. `limit` keeps
        # enough runs for the path.
        kept, needed = units, []
        waiting = deque(_halves(self._least_first(units)))
        pairs = len(self.pairs)
        limit = self.budget - way_cost(min(len(units), _PLANNED_CHANGES), pairs)
        while waiting:
            group = frozenset(waiting.popleft())
            affordable = self.history.asked + pairs <= limit
            if affordable and (yield from self._is_kept_by(kept - group, kept)):
                kept -= group
            elif affordable and len(group) > 1:
                waiting.extend(_halves(self._least_first(group)))
            else:
                needed.append(group)
        return needed

    def _least_first(self, units: Collection[int]) -> list[int]:
        names = list(self.changes.space.parameters)
        rank = {name: number for number, name in enumerate(self.order)}
        return sorted(units, key=lambda unit: (-rank.get(names[unit], len(rank)), unit))

    def _is_kept_by(self, fewer: Units, now: Units) -> Generator[Evaluate, Sequence[Run], bool]:
        """Whether fewer changes keep the gain; stops early if they clearly do not."""
        config = self.changes.config(fewer)
        if config == self.changes.config(now):
            return True
        if config == self.default or not self.changes.space.allowed(config):
            return False
        for look, _ in _looks(8, len(self.pairs)):
            yield from self._bring([config], look)
            share, error = self.kept(config, look)
            if share + (2 * error if look < len(self.pairs) else 0.0) < self.keep:
                return False
        return True

    def keeps(self, config: Config) -> bool:
        """Whether a configuration that ran on all pairs keeps the gain."""
        share, error = self.kept(config)
        return share + min(error, _MAX_SLACK) >= self.keep

    @property
    def has_gain(self) -> bool:
        """Whether the best is better than the default on the pairs of the ablation."""
        default, best = (
            score([self.history.costs(config)[pair] for pair in self.pairs])
            for config in (self.default, self.best)
        )
        return best < default

    def kept(self, config: Config, count: int | None = None) -> tuple[float, float]:
        """Share of the gain that a configuration keeps on the first pairs, with its standard error.

        Without a gain nothing can be lost: the share is 1 if the configuration is no worse than the
        best, else minus infinity, as also for more failures.
        """
        pairs = self.pairs[: count or len(self.pairs)]
        default, best, own = (self._numbers(c, pairs) for c in (self.default, self.best, config))
        failed = [sum(map(math.isinf, numbers)) for numbers in (default, best, own)]
        shares = [share for share in [_share(*failed)] if share < 1]
        usable = [x for x in zip(default, best, own, strict=True) if all(map(math.isfinite, x))]
        if not usable:
            return min(shares, default=1.0), 0.0
        share, error = _kept_of(*map(list, zip(*usable, strict=True)))
        return min([*shares, share]), error

    def _numbers(self, config: Config, pairs: Sequence[Pair]) -> list[float]:
        """Costs on pairs, in the number that separates the default from the best."""
        costs, level = self.history.costs(config), self.level
        return [costs[pair][level] for pair in pairs]

    @property
    def level(self) -> int:
        """First number of a cost in which the default and the best differ."""
        default, best = (self.history.costs(config) for config in (self.default, self.best))
        both = [(default[pair], best[pair]) for pair in self.pairs]
        differ = (k for k in range(len(both[0][0])) if any(a[k] != b[k] for a, b in both))
        return next(differ, 0)

    # Path

    def _affordable(self, groups: Sequence[Units]) -> list[Units]:
        """Merge the least important groups until a path is affordable."""
        rank = {unit: number for number, unit in enumerate(self._least_first(self.changes.units))}
        result = sorted(groups, key=lambda group: max(rank[unit] for unit in group))
        while len(result) > 1 and way_cost(len(result), len(self.pairs)) > self._left:
            result = [result[0] | result[1], *result[2:]]
        return result

    def _walk(self, groups: Sequence[Units]) -> Asked:
        made: Units = frozenset()
        left = list(groups)
        while left:
            reached = self.changes.reachable(made, left) or self.changes.further(made, left)
            candidates = self._payable(list(reached))
            if not candidates:
                return
            winner = yield from self._race(candidates)
            if self.changes.config(made) != winner:
                self.stops.append(Stop(winner, len(candidates)))
            made = reached[winner]
            left = [group for group in left if not group <= made]

    @property
    def _left(self) -> int:
        return self.budget - self.history.asked

    def _payable(self, configs: list[Config]) -> list[Config]:
        """Candidates that can be raced; a single one with known runs needs no race."""
        if len(configs) == 1 and not self.history.missing(configs[0], self.pairs):
            return configs
        while configs and race_cost(len(configs), len(self.pairs)) > self._left:
            configs = configs[:-1]
        return configs

    def _race(self, configs: list[Config]) -> Generator[Evaluate, Sequence[Run], Config]:
        """Winner by successive halving; the last two run on all pairs."""
        # Successive halving: each round doubles the pairs and keeps the better half, so a round
        # costs about the same whatever its size, and a race of n candidates costs P log2(n) runs
        # instead of P n.
        for look, _ in _looks(len(configs), len(self.pairs)):
            yield from self._bring(configs, look)
            pairs = self.pairs[:look]
            costs = {config: self.history.costs(config) for config in configs}
            configs.sort(key=lambda config: score([costs[config][pair] for pair in pairs]))
            configs = configs[: math.ceil(len(configs) / 2)]
        return configs[0]


def _halves(units: Sequence[int]) -> list[Sequence[int]]:
    middle = math.ceil(len(units) / 2)
    return [half for half in (units[:middle], units[middle:]) if half]


def _kept_of(
    default: Sequence[float], best: Sequence[float], own: Sequence[float]
) -> tuple[float, float]:
    """Share of a gain that is kept, with its standard error.

    In terms of ratios if all costs have one sign, else of differences.
    """
    means = [mean(numbers) for numbers in (default, best, own)]
    scales = [1.0, 1.0, 1.0]
    signs = {
        math.copysign(1, number) if number else 0.0 for x in (default, best, own) for number in x
    }
    if signs in ({1.0}, {-1.0}):
        (sign,) = signs
        scales = [abs(number) for number in means]
        means = [sign * math.log(abs(number)) for number in means]
    share, gain = _share(*means), means[0] - means[1]
    lost = [c / scales[2] - b / scales[1] for b, c in zip(best, own, strict=True)]
    if len(lost) < 2 or gain <= 0:
        return share, 0.0
    return share, stdev(lost) / math.sqrt(len(lost)) / gain


def _share(default: float, best: float, own: float) -> float:
    """Share of the gain between default and best."""
    if default > best:
        return (default - own) / (default - best)
    return 1.0 if own <= best else -math.inf
