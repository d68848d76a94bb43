"""Positions of configurations among several costs: relative costs, weights, and domination.

Every cost is taken relative to the default's on the same pair: the logarithm of the ratio where all
costs are positive, else the difference in units of the default's mean. So instances of different
size and costs of different units can be compared.

A race needs one number. `Scalarised` weighs the costs by the augmented Chebyshev norm of the
distance to an ideal point, which is somewhat better than the best known in each cost; with other
weights, another part of the front has the least. The unit of each cost is its range, over the
archive or over a gap between two neighbours.

An archive keeps what no other configuration dominates beyond doubt: on common pairs, no worse on
average in any cost, and better in one by two standard errors.

Sources: Knowles, ParEGO (IEEE Transactions on Evolutionary Computation 10, 2006) for weights drawn
anew and the norm; Steuer and Choo (Mathematical Programming 26, 1983) for its augmentation.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from statistics import fmean, stdev

from paramhs.core.costs import WORST, Cost, CostMetric, score
from paramhs.core.runs import Pair, Run
from paramhs.core.several_costs import Bound, Costs
from paramhs.core.space import Config
from paramhs.search.history import History

MIN_PAIRS = 3
"""Pairs on which a configuration must be known to be compared."""
_AUGMENTATION = 0.05
_DOUBT_ERRORS = 2.0  # standard errors of a difference beyond doubt
_BEYOND_SHARE = 0.3  # of the range by which the ideal point is better than the best known
_MIN_RANGE = 0.01  # of a cost, in its unit

Numbers = tuple[float, ...]
"""One number for each cost."""


class RelativeCosts:
    """Costs of runs relative to the default's on the same pair, lower being better."""

    def __init__(self, history: History) -> None:
        costs = [cost for config in history.configs for cost in history.costs(config).values()]
        self._default = history.costs(history.scenario.space.default)
        count = len(next(iter(costs)))
        columns = [[cost[k] for cost in costs if cost[k] < WORST] for k in range(count)]
        own = [
            [cost[k] for cost in self._default.values() if cost[k] < WORST] for k in range(count)
        ]
        self.logs = tuple(min(column, default=0.0) > 0 for column in columns)
        """Whether a cost is taken as the logarithm of a ratio."""
        # A run made after this may be the first that is not positive.
        self._floors = [min(column, default=1.0) / 10 for column in columns]
        self._units = [
            _size(mine) or _size(all_) or 1.0 for mine, all_ in zip(own, columns, strict=True)
        ]
        self._usual = [
            fmean(self.scaled(k, number) for number in mine) if mine else 0.0
            for k, mine in enumerate(own)
        ]

    def scaled(self, k: int, number: float) -> float:
        """A cost in the unit in which it is compared."""
        if self.logs[k]:
            return math.log(max(number, self._floors[k]))
        return number / self._units[k]

    def of(self, cost: Cost, pair: Pair) -> Numbers | None:
        """Costs of a run relative to the default's; None for a failed run."""
        if WORST in cost:
            return None
        beside = self._default.get(pair, (WORST,) * len(cost))
        return tuple(
            self.scaled(k, number) - (self.scaled(k, other) if other < WORST else self._usual[k])
            for k, (number, other) in enumerate(zip(cost, beside, strict=True))
        )


def _size(numbers: Sequence[float]) -> float:
    return fmean(map(abs, numbers)) if numbers else 0.0


@dataclass(frozen=True)
class Position:
    """A configuration among the costs: means relative to the default over its own pairs."""

    config: Config
    pairs: int
    failed: float
    """Share of failed runs."""
    means: Numbers
    errors: Numbers
    """Standard errors of the means; 0 where they are not known."""

    @property
    def upper(self) -> Numbers:
        """Means one standard error worse, so that few lucky runs are not preferred."""
        return tuple(mean + error for mean, error in zip(self.means, self.errors, strict=True))


def positions(
    history: History, relative: RelativeCosts, configs: Iterable[Config]
) -> list[Position]:
    """Positions of configurations that are known on enough pairs, the default's included.

    Errors come from the pooled deviations of all of them, because a few runs may agree by chance.
    """
    default = history.scenario.space.default
    least = min(MIN_PAIRS, history.pair_count)
    found: dict[Config, list[Numbers]] = {}
    failed: dict[Config, float] = {}
    for config in dict.fromkeys((default, *configs)):
        costs = history.costs(config)
        if len(costs) >= least or config == default:
            told = [relative.of(cost, pair) for pair, cost in costs.items()]
            found[config] = [numbers for numbers in told if numbers is not None]
            failed[config] = 1 - len(found[config]) / max(len(told), 1)
    most = failed.get(default, 0.0)
    usable = {c: rows for c, rows in found.items() if (rows and failed[c] <= most) or c == default}
    count = len(relative.logs)
    spread = [_pooled([[row[k] for row in rows] for rows in usable.values()]) for k in range(count)]
    return [
        Position(
            config,
            len(rows),
            failed[config],
            tuple(fmean(row[k] for row in rows) if rows else 0.0 for k in range(count)),
            tuple(
                spread[k] / math.sqrt(len(rows)) if rows and config != default else 0.0
                for k in range(count)
            ),
        )
        for config, rows in usable.items()
    ]


def _pooled(columns: Sequence[Sequence[float]]) -> float:
    """Standard deviation inside columns; 0 where no column has two numbers."""
    squares = freedom = 0.0
    for column in columns:
        if len(column) > 1:
            middle = fmean(column)
            squares += math.fsum((number - middle) ** 2 for number in column)
            freedom += len(column) - 1
    return math.sqrt(squares / freedom) if freedom else 0.0


def is_dominated(position: Numbers, others: Iterable[Numbers]) -> bool:
    """Whether one of the others is no worse in any number, and better in one."""
    return any(
        other != position and all(a <= b for a, b in zip(other, position, strict=True))
        for other in others
    )


def dominates(history: History, relative: RelativeCosts, first: Config, second: Config) -> bool:
    """Whether the first dominates the second beyond doubt, on the pairs of both."""
    mine, other = history.costs(first), history.costs(second)
    both = [
        (relative.of(mine[pair], pair), relative.of(other[pair], pair))
        for pair in history.common(first, second)
    ]
    if len(both) < min(MIN_PAIRS, history.pair_count):
        return False
    failed = sum(a is None for a, _ in both) - sum(b is None for _, b in both)
    if failed:
        return failed < 0
    rows = [
        [x - y for x, y in zip(a, b, strict=True)]
        for a, b in both
        if a is not None and b is not None
    ]
    columns = list(zip(*rows, strict=True))
    if not columns or any(fmean(column) > 0 for column in columns):
        return False
    return any(_is_clearly_negative(column) for column in columns)


def _is_clearly_negative(numbers: Sequence[float]) -> bool:
    error = stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    return fmean(numbers) + _DOUBT_ERRORS * error < 0


@dataclass(frozen=True)
class Weights:
    """The norm by which costs are weighed: a weight for each, an ideal point, and ranges."""

    weights: Numbers
    ideal: Numbers
    ranges: Numbers

    def __call__(self, numbers: Numbers) -> float:
        """Augmented Chebyshev norm of the distance to the ideal point."""
        apart = [
            weight * (number - best) / size
            for weight, number, best, size in zip(
                self.weights, numbers, self.ideal, self.ranges, strict=True
            )
        ]
        return max(apart) + _AUGMENTATION * math.fsum(apart)


def weighed(weights: Numbers, among: Sequence[Position]) -> Weights:
    """Weights beside the ideal point and the ranges of these positions."""
    columns = list(zip(*(position.means for position in among), strict=True))
    ranges = tuple(max(max(column) - min(column), _MIN_RANGE) for column in columns)
    ideal = tuple(
        min(column) - _BEYOND_SHARE * size for column, size in zip(columns, ranges, strict=True)
    )
    return Weights(weights, ideal, ranges)


def weighed_in_gap(weights: Numbers, among: Sequence[Position], rng: Random) -> Weights:
    """Weights beside the ideal point and the ranges of a gap between two neighbours of the front.

    A front may be long and flat at one end, where a range of all of it hides what matters at the
    other. Neighbours are taken in the order of a random cost; large gaps are likelier, and an end
    counts as a gap like that beside it.
    """
    free = [p.means for p in among if not is_dominated(p.means, (q.means for q in among))]
    if len(free) < 2:
        return weighed(weights, among)
    whole = weighed(weights, among).ranges
    k = int(rng.random() * len(weights))
    free.sort(key=lambda means: means[k])
    gaps = list(pairwise(free))
    first, last = gaps[0], gaps[-1]
    gaps = [(_mirrored(*first), first[0]), *gaps, (last[1], _mirrored(last[1], last[0]))]
    sizes = [
        math.sqrt(
            math.prod(max(abs(x - y) / w, _MIN_RANGE) for x, y, w in zip(a, b, whole, strict=True))
        )
        for a, b in gaps
    ]
    a, b = rng.choices(gaps, sizes)[0]
    columns = list(zip(a, b, strict=True))
    ranges = tuple(max(abs(x - y), _MIN_RANGE) for x, y in columns)
    ideal = tuple(
        min(column) - _BEYOND_SHARE * size for column, size in zip(columns, ranges, strict=True)
    )
    return Weights(weights, ideal, ranges)


def _mirrored(at: Numbers, other: Numbers) -> Numbers:
    """The point as far on the other side of one point as another is on this side."""
    return tuple(2 * x - y for x, y in zip(at, other, strict=True))


def drawn_weights(count: int, rng: Random) -> Numbers:
    """Weights with the sum 1, uniformly distributed."""
    marks = sorted(rng.random() for _ in range(count - 1))
    return tuple(b - a for a, b in zip((0.0, *marks), (*marks, 1.0), strict=True))


def weights_towards(numbers: Numbers, norm: Weights) -> Numbers:
    """Weights whose least norm lies in the direction of a position from the ideal point."""
    inverse = [
        1 / ((number - best) / size + _MIN_RANGE)
        for number, best, size in zip(numbers, norm.ideal, norm.ranges, strict=True)
    ]
    total = math.fsum(inverse)
    return tuple(number / total for number in inverse)


@dataclass(frozen=True)
class Scalarised(CostMetric):
    """One number for the costs of a run: the weighed norm, minus the default's on that pair."""

    metric: Costs
    norm: Callable[[Numbers], float]
    relative: RelativeCosts = field(repr=False)

    @property
    def needs_quality(self) -> bool:
        """As for the costs."""
        return self.metric.needs_quality

    def of(self, run: Run) -> Cost:
        """Return the number; the worst for a run without one of its costs."""
        numbers = self.relative.of(self.metric.of(run), run.task.pair)
        if numbers is None:
            return (WORST,)
        return (self.norm(numbers) - self.norm((0.0,) * len(numbers)),)


def mean_costs(history: History, config: Config) -> Numbers:
    """Mean of each cost as shown to people, estimated for the default's pairs.

    A configuration known on some of them is compared with the default there: by the ratio of means
    where all are positive, else by their difference.
    """
    metric = history.scenario.cost
    assert isinstance(metric, Costs)  # noqa: S101 -- for the type checker
    default, own = history.costs(history.scenario.space.default), history.costs(config)
    common = [pair for pair in own if pair in default]
    mine = shown_means(metric, [own[pair] for pair in common])
    beside = shown_means(metric, [default[pair] for pair in common])
    return tuple(map(_estimated, mine, beside, shown_means(metric, [*default.values()])))


def shown_means(metric: Costs, costs: Sequence[Cost]) -> Numbers:
    """Mean of each cost as shown to people, over the runs where it is known."""
    total = score(costs) if costs else (1.0, WORST) * len(metric.parts)
    return tuple(
        part.shown(total[2 * k : 2 * k + 2]) if total[2 * k] < 1 else WORST
        for k, part in enumerate(metric.parts)
    )


def _estimated(mine: float, beside: float, everywhere: float) -> float:
    if not all(map(math.isfinite, (mine, beside, everywhere))) or beside == everywhere:
        return mine
    if min(mine, beside, everywhere) > 0:
        return mine * everywhere / beside
    return mine + everywhere - beside


# Which point is preferred


def preferred(history: History, metric: Costs, among: Sequence[Position]) -> Position:
    """The one position that a search reports as its best.

    Within the bounds, the least of the first cost without one; else the one that violates them
    least. Without bounds, the one nearest to the ideal point, where all costs weigh the same.
    """
    if not metric.bounds:
        norm = weighed((1.0,) * len(metric.parts), among)
        return min(among, key=lambda position: norm(position.upper))
    first = metric.parts.index(metric.leading)
    excess = {p.config: violation(metric, mean_costs(history, p.config)) for p in among}
    return min(among, key=lambda p: (excess[p.config], p.upper[first]))


def violation(metric: Costs, means: Sequence[float]) -> float:
    """Largest excess over a bound, relative to the bound; 0 where all hold."""
    return max(
        (_excess(bound, means[metric.position(bound.name)]) for bound in metric.bounds), default=0.0
    )


def _excess(bound: Bound, number: float) -> float:
    return 0.0 if bound.holds(number) else abs(number - bound.limit) / (abs(bound.limit) or 1.0)


def bound_position(
    metric: Costs, relative: RelativeCosts, means: Mapping[str, float], best: Position
) -> Numbers:
    """Position at the bounds, and elsewhere that of the best: where a bounded search aims.

    `means` are the default's.
    """
    aims = list(best.means)
    for bound in metric.bounds:
        k = metric.position(bound.name)
        sign = -1.0 if metric.parts[k].maximise else 1.0
        numbers = (sign * bound.limit, sign * means[bound.name])
        if all(map(math.isfinite, numbers)) and (not relative.logs[k] or min(numbers) > 0):
            limit, own = (relative.scaled(k, number) for number in numbers)
            aims[k] = limit - own
    return tuple(aims)
