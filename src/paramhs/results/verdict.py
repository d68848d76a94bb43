"""Who is better on runs that no search has seen, and how sure that is.

Two configurations meet on the same (instance, seed) pairs. What is compared is their cost on each
*case*: an instance, over all its seeds, or a single pair where there are too few instances to say
anything about others.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from operator import getitem
from random import Random
from typing import Literal

from paramhs.results.concluding import (
    PROVING,
    conclusion,
    counts,
    heading,
    verdict_table,
    verdict_text,
)
from paramhs.values.costs import Cost, CostMetric, Quality, Score, mean, score
from paramhs.values.markup import Markup, html_table, joined, paragraph
from paramhs.values.runs import FAILURES, Run, Status
from paramhs.values.seeds import stream
from paramhs.values.space import Config
from paramhs.values.wording import finite

LEAST_INSTANCES = PROVING
SIGNIFICANT = 0.05
_RESAMPLES = 5_000
_EXACT = 12  # cases up to which all sign flips are tried
_CLOSE = 0.01  # runtimes that differ by so much, relatively or in seconds, are a tie

Both = tuple[float, float]
"""The costs of the first and of the second."""


@dataclass(frozen=True)
class Side:
    """One configuration on the pairs."""

    config: Config
    cost: float
    """As a person expects to see it: a mean, or a PAR10, over the runs that neither side has
    failed, or over its own where all those of the other failed; infinite where there are none."""
    runs: int
    solved: int
    """How many runs finished within their limits with a usable answer."""
    failed: int
    """How many crashed, were wrong, or gave nothing usable where quality counts."""


@dataclass(frozen=True)
class Interval:
    """An estimate and where it may lie, with 95 % confidence."""

    estimate: float
    low: float
    high: float

    def to_json(self) -> dict[str, float | None]:
        """The same in JSON types."""
        return {name: finite(number) for name, number in asdict(self).items()}

    def __str__(self) -> str:
        return f"{self.estimate:.3g} (95 % interval {self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Verdict:
    """A configuration against another, the first being what one has without tuning."""

    first: Side
    second: Side
    on: str
    """The instances and seeds they met on, in words."""
    instances: int
    case: str
    """What was compared: "instance" or "run"."""
    wins: int
    """Cases on which the second is better."""
    ties: int
    losses: int
    by: str
    """What decides: "quality", or "runtime"."""
    gain: Interval | None
    """How much lower the second's mean cost is (higher, where more is better), over the runs that
    neither has failed, case by case; None where there are none."""
    ratio: Interval | None
    """How many times better the second is; None where costs are not all positive."""
    p_value: float
    """Of a two-sided sign-flip test on the mean difference, failures counting most."""
    favours_second: bool
    """Which way that difference goes."""
    names: tuple[str, str] = ("default", "best")
    """What the two are called."""
    metric: CostMetric = field(default=Quality(), repr=False)
    """By what they were compared."""
    paired_runs: tuple[tuple[Run, Run], ...] = field(default=(), repr=False, compare=False)
    """What each has made of the pairs, by instance and seed."""

    @property
    def conclusion(self) -> str:
        """What the second is: "better", "worse" or, where chance explains it, "unclear"."""
        if self.p_value >= SIGNIFICANT:
            return "unclear"
        return "better" if self.favours_second else "worse"

    @property
    def runs_alike(self) -> bool:
        """Whether no instance was run with several seeds, so that only more instances tell more."""
        return self.first.runs == self.instances

    def __str__(self) -> str:
        return verdict_text(self)

    def as_html(self) -> Markup:
        """A table of the two sides, and what follows."""
        head, *rows = verdict_table(self)
        lines = [paragraph(line) for line in (*conclusion(self), counts(self))]
        return joined(paragraph(heading(self)), html_table(rows, head), *lines)

    def _repr_html_(self) -> str:
        return self.as_html()

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        sides = {
            name: {**asdict(side), "config": side.config.as_dict(), "cost": finite(side.cost)}
            for name, side in (("first", self.first), ("second", self.second))
        }
        return {
            **sides,
            "on": self.on,
            "instances": self.instances,
            "case": self.case,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "by": self.by,
            "gain": self.gain and self.gain.to_json(),
            "ratio": self.ratio and self.ratio.to_json(),
            "p_value": self.p_value,
            "conclusion": self.conclusion,
            "names": list(self.names),
        }


@dataclass(frozen=True)
class NoVerdict:
    """That nothing was compared, and why. It is false, as a `Verdict` never is."""

    conclusion: Literal["kept", "none"]
    """ "kept": the default stays the best, so there is nobody for it to meet."""
    reason: str
    """A sentence."""

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        kept = self.conclusion == "kept"
        return f"{'Keep the default' if kept else 'No verdict'}: {self.reason}"

    def as_html(self) -> Markup:
        """The text."""
        return paragraph(str(self))

    def _repr_html_(self) -> str:
        return self.as_html()

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return asdict(self)


def verdict(
    first: Sequence[Run], second: Sequence[Run], metric: CostMetric, on: str = ""
) -> Verdict:
    """Compare two configurations by their runs, which must be on the same pairs."""
    mine, other = _by_pair(first), _by_pair(second)  # so their order does not matter
    if mine.keys() != other.keys() or not mine:
        raise ValueError("the runs are not on the same pairs")
    level, costs = _telling(
        {pair: (metric.of(mine[pair]), metric.of(other[pair])) for pair in mine}
    )
    instances = {name for name, _ in costs}
    by_instance = len(instances) >= LEAST_INSTANCES
    cases = _cases(costs, by_instance)
    quality = level > 0 or not metric.needs_runtime
    slack = 0.0 if quality else _CLOSE
    wins = sum(_is_less(b, a, slack) for a, b in map(_scores, cases))
    losses = sum(_is_less(a, b, slack) for a, b in map(_scores, cases))
    rng = stream(0, "verdict", len(cases))
    gain, ratio = _estimates(cases, quality and metric.maximise, rng)
    differences = _differences([_scores(case) for case in cases])
    shown, beside = _comparable(mine, other, metric)
    return Verdict(
        _side(first, shown, metric),
        _side(second, beside, metric),
        on,
        len(instances),
        "instance" if by_instance else "run",
        wins,
        len(cases) - wins - losses,
        losses,
        "quality" if quality else "runtime",
        gain,
        ratio,
        sign_flip_test(differences, rng),
        math.fsum(scaled(differences)) > 0,
        metric=metric,
        paired_runs=tuple((mine[pair], other[pair]) for pair in mine),
    )


def _telling(
    costs: Mapping[tuple[str, int], tuple[Cost, Cost]],
) -> tuple[int, dict[tuple[str, int], Both]]:
    """Of costs that are several numbers, the first in which the two differ anywhere."""
    length = len(next(iter(costs.values()))[0])
    differ = (k for k in range(length) if any(a[k] != b[k] for a, b in costs.values()))
    level = next(differ, 0)
    return level, {pair: (a[level], b[level]) for pair, (a, b) in costs.items()}


def _by_pair(runs: Sequence[Run]) -> Mapping[tuple[str, int], Run]:
    by_pair = {(run.task.instance.name, run.task.seed): run for run in runs}
    return {pair: by_pair[pair] for pair in sorted(by_pair)}


def _comparable(
    mine: Mapping[tuple[str, int], Run], other: Mapping[tuple[str, int], Run], metric: CostMetric
) -> tuple[list[Cost], list[Cost]]:
    """The costs of either where both are usable; where one has none, all that the other has."""
    costs = [(metric.of(mine[pair]), metric.of(other[pair])) for pair in mine]
    first = [a for a, _ in costs if math.isfinite(a[0])]
    second = [b for _, b in costs if math.isfinite(b[0])]
    if not first or not second:
        return first, second
    both = [(a, b) for a, b in costs if math.isfinite(a[0]) and math.isfinite(b[0])]
    return [a for a, _ in both], [b for _, b in both]


def _side(runs: Sequence[Run], usable: Sequence[Cost], metric: CostMetric) -> Side:
    bad = [run.status in FAILURES or math.isinf(metric.of(run)[0]) for run in runs]
    finished = [run.status is Status.OK for run in runs]
    return Side(
        runs[0].task.config,
        metric.shown(score(usable)) if usable else math.inf,
        len(runs),
        sum(done and not failed for done, failed in zip(finished, bad, strict=True)),
        sum(bad),
    )


def _cases(costs: Mapping[tuple[str, int], Both], by_instance: bool) -> list[list[Both]]:
    """The costs of both, run by run, of each case."""
    grouped: dict[object, list[Both]] = defaultdict(list)
    for pair, both in costs.items():
        grouped[pair[0] if by_instance else pair].append(both)
    return list(grouped.values())


def _scores(case: Sequence[Both]) -> tuple[Score, Score]:
    """For each side the share of failures, and the mean of the other runs."""
    return score([(a,) for a, _ in case]), score([(b,) for _, b in case])


def _is_less(mine: Score, other: Score, slack: float) -> bool:
    """Fewer failures come first."""
    if mine[0] != other[0]:
        return mine[0] < other[0]
    cost, than = mine[1], other[1]
    return math.isfinite(cost) and than - cost > slack * max(1.0, abs(cost), abs(than))


def _estimates(
    cases: Sequence[Sequence[Both]], maximise: bool, rng: Random
) -> tuple[Interval | None, Interval | None]:
    """The gain and the ratio of the means, by the percentile bootstrap over cases.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    usable = [[both for both in case if all(map(math.isfinite, both))] for case in cases]
    pairs = [_means(case) for case in usable if case]
    if not pairs:
        return None, None
    means = [_means(pairs)]
    for _ in range(_RESAMPLES):
        means.append(_means(rng.choices(pairs, k=len(pairs))))
    gain = _interval([a - b for a, b in means])
    numbers = [-x if maximise else x for pair in pairs for x in pair]
    ratio = None
    if min(numbers) > 0:
        ratio = _interval([b / a if maximise else a / b for a, b in means])
    if len(pairs) == 1:  # which says nothing of others
        gain = replace(gain, low=-math.inf, high=math.inf)
        ratio = ratio and replace(ratio, low=0.0, high=math.inf)
    return gain, ratio


def _means(pairs: Sequence[Both]) -> Both:
    return mean([a for a, _ in pairs]), mean([b for _, b in pairs])


def _interval(estimates: Sequence[float]) -> Interval:
    """The first is the estimate itself, the others are resampled."""
    ordered = sorted(estimates[1:])
    tail = len(ordered) // 40
    return Interval(estimates[0], ordered[tail], ordered[-1 - tail])


def _differences(cases: Sequence[tuple[Score, Score]]) -> list[float]:
    """First minus second. Where one has failed more often, that counts at least as much as any cost
    elsewhere, and twice as much if it has always failed and the other never."""
    costs = [number for a, b in cases for _, number in (a, b) if math.isfinite(number)]
    largest = max(map(abs, costs), default=0.0) or 1.0  # so that differences are numbers
    apart = [
        a[1] / largest - b[1] / largest if math.isfinite(a[1]) and math.isfinite(b[1]) else 0.0
        for a, b in cases
    ]
    most = max(map(abs, apart), default=0.0) or 0.5
    return [
        cost if a[0] == b[0] else math.copysign(most, a[0] - b[0]) + most * (a[0] - b[0])
        for (a, b), cost in zip(cases, apart, strict=True)
    ]


def scaled(numbers: Sequence[float]) -> list[float]:
    """Brought to at most 1, so that their sums are numbers."""
    largest = max(map(abs, numbers), default=0.0) or 1.0
    return [number / largest for number in numbers]


def sign_flip_test(differences: Sequence[float], rng: Random) -> float:
    """The p-value of the mean of paired differences, had each been as likely to go the other way.

    Exact for few cases; for more, over random flips, where it can never be below 1 / 10,000.

    Source: Fisher, The Design of Experiments (1935), section 21.
    """
    moved = scaled([d for d in differences if d != 0])
    observed = abs(math.fsum(moved)) * (1 - 1e-12)
    if not moved:
        return 1.0
    if len(moved) <= _EXACT:
        sums = [abs(math.fsum(map(float.__mul__, moved, s))) for s in _signs(len(moved))]
        return sum(total >= observed for total in sums) / len(sums)
    flips = 9_999
    tables = [_eight_flipped(moved[k : k + 8]) for k in range(0, len(moved), 8)]
    drawn = (math.fsum(map(getitem, tables, rng.randbytes(len(tables)))) for _ in range(flips))
    extreme = sum(abs(total) >= observed for total in drawn)
    return (extreme + 1) / (flips + 1)


def _signs(count: int) -> list[tuple[float, ...]]:
    return list(product((1.0, -1.0), repeat=count))


def _eight_flipped(differences: Sequence[float]) -> list[float]:
    """The sum of up to eight for each way to flip them, which a byte says: a look instead of eight
    draws and additions."""
    return [
        math.fsum(d if byte >> k & 1 else -d for k, d in enumerate(differences))
        for byte in range(256)
    ]
