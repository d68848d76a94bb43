"""Comparison of two configurations on held-out runs, with its significance.

Both configurations run on the same (instance, seed) pairs. The unit is the instance: seeds are
repetitions inside it, and the cost of an instance is their mean. Fewer than six instances say
nothing about others; then the unit is the repetition (one run on each instance), and the verdict is
about these instances only.

The estimate is the ratio of mean costs over the population of instances (or their difference, where
costs are not all positive). The method is explained in docs/explanation/verdict.md, its coverage in
docs/benchmarks/calibration.md.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Literal

from paramhs.analysis.cases import (
    MIN_INSTANCES,
    Both,
    cases_of,
    compared,
    deciding_costs,
    is_less,
    means_of,
    scores_of,
)
from paramhs.analysis.confidence_sequence import mean_saving
from paramhs.analysis.intervals import (
    CLOCK_SECONDS,
    MARGIN,
    SIGNIFICANCE_LEVEL,
    Interval,
    Tolerance,
)
from paramhs.analysis.solved_runs import has_failed
from paramhs.analysis.verdict_text import (
    caveats,
    conclusion,
    counts,
    heading,
    verdict_table,
    verdict_text,
)
from paramhs.core.costs import Cost, CostMetric, Quality, mean, score
from paramhs.core.runs import NO_INSTANCE, Run, Status
from paramhs.core.space import Config
from paramhs.core.text.html import Markup, html_table, joined, paragraph
from paramhs.core.text.numbers import finite

_TICK = 1e-6  # seconds; shorter runtimes count as this


@dataclass(frozen=True)
class Side:
    """One configuration on the pairs of a verdict."""

    config: Config
    cost: float
    """Cost as shown to people: a mean, or a PAR10, over the runs that neither side has failed.

    Over its own runs where all runs of the other failed; infinite where there are none.
    """
    runs: int
    solved: int
    """Number of runs that finished within their limits with a usable answer."""
    failed: int
    """Number of runs that crashed, were wrong, or gave nothing usable where quality counts."""
    time: float = field(default=math.nan, compare=False)
    """Mean runtime in seconds, over the runs that neither side has failed."""


@dataclass(frozen=True)
class Verdict:
    """Comparison of two configurations, the first being the baseline."""

    first: Side
    """The baseline and its runs."""
    second: Side
    """The other configuration and its runs."""
    on: str
    """Description of the instances and seeds, for people."""
    instances: int
    """Number of instances."""
    case: str
    """Unit of comparison: "instance", "repetition" (with fewer than six) or "run" (with one).

    A repetition is one run on each of the instances.
    """
    wins: int
    """Number of cases on which the second is better by more than the tolerance."""
    ties: int
    """Number of cases on which the two are equal, within the tolerance."""
    losses: int
    """Number of cases on which the second is worse by more than the tolerance."""
    by: str
    """What decides: "quality" or "runtime"."""
    gain: Interval | None
    """How much lower (or higher, if maximised) the second's mean cost is, over usable runs.

    Runs are usable if neither side has failed; None if there are none.
    """
    ratio: Interval | None
    """Factor by which the second is better; None unless all costs are positive."""
    p_value: float
    """Two-sided p-value of "the means differ by at most the tolerance".

    Below 0.05 exactly if the interval excludes such a difference. Where one side has failed more
    often, failures weigh most. Multiplied by `comparisons` and `looks`.
    """
    favours_second: bool
    """Whether the difference favours the second."""
    names: tuple[str, str] = ("default", "best")
    """Names of the two configurations."""
    time: Interval | None = field(default=None, compare=False)
    """Factor by which the second takes less time; None if time is the cost or is not measured."""
    comparisons: int = 1
    """Number of verdicts on the same runs.

    Intervals and p-values are corrected for it (Bonferroni), so that all of them hold together with
    95 % confidence.
    """
    looks: int = 1
    """Number of times that the runs may have been looked at before the last one.

    Intervals and p-values are corrected for it as well, so that they hold at whichever look the
    comparison ended.
    """
    early: str = ""
    """Why the comparison ended before its last instance; empty if it did not."""
    failures_differ: bool = False
    """Whether one side has failed more often somewhere; then the interval alone does not decide."""
    without_instances: bool = False
    """Whether the target runs without instances, so that only seeds vary."""
    needed: int | None = None
    """Number of cases that would probably show a difference of this size; 201 for more than 200.

    None where the verdict decides, the second is not better, or there are fewer than six cases.
    """
    metric: CostMetric = field(default=Quality(), repr=False)
    """Metric of the comparison."""
    paired_runs: tuple[tuple[Run, Run], ...] = field(default=(), repr=False, compare=False)
    """The runs of both sides, paired by instance and seed."""
    cost_name: str = ""
    """Name of the cost that is compared, where there are several."""
    accepted: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Changes of the program or of instances accepted by the user, as sentences.

    Runs from before and after these changes are compared here.
    """

    @property
    def wrong(self) -> tuple[Run | None, Run | None]:
        """First wrong answer of each side; None if it gave none."""
        sides = zip(*self.paired_runs, strict=True) if self.paired_runs else ((), ())
        first, second = (next((r for r in s if r.status is Status.WRONG), None) for s in sides)
        return first, second

    @property
    def confidence(self) -> float:
        """Confidence level of each interval."""
        return 1 - SIGNIFICANCE_LEVEL / self.comparisons / self.looks

    @property
    def about_these_only(self) -> bool:
        """Whether there are too few instances to say anything about others."""
        return self.case != "instance" and not self.without_instances

    @cached_property
    def saving(self) -> Interval | None:
        """The mean share of an instance's cost that the second saves; valid at any moment.

        None where a run has failed, where costs are not all positive, or with too few instances.
        """
        by_quality = self.by == "quality"
        unlike = by_quality and (self.metric.maximise or self.metric.needs_runtime)
        if unlike or self.failures_differ or self.case != "instance":
            return None
        cases: dict[str, list[Both]] = defaultdict(list)
        for mine, other in self.paired_runs:
            both = (self.metric.of(mine), self.metric.of(other))
            cases[mine.task.instance.name].append((both[0][0], both[1][0]))
        means = [means_of(case) for case in cases.values()]
        if not means or not all(math.isfinite(cost) for both in means for cost in both):
            return None
        first, second = ([both[side] for both in means] for side in (0, 1))
        return mean_saving(first, second, SIGNIFICANCE_LEVEL / self.comparisons)

    @property
    def recommendation(self) -> str:
        """Which configuration to use and why, in one paragraph."""
        return " ".join(conclusion(self))

    @property
    def conclusion(self) -> str:
        """Whether the second is "better", "worse", or "unclear" if neither is shown.

        Fewer than six instances show nothing about others, so the conclusion is "unclear" as well;
        `conclusion_here` says what holds on these instances.
        """
        return "unclear" if self.about_these_only else self.conclusion_here

    @property
    def conclusion_here(self) -> str:
        """Conclusion for the instances of this verdict, even if it does not extend to others.

        A configuration with a wrong answer is never better, and nothing can be compared with one.
        """
        first, second = self.wrong
        if first or second:
            return "unclear" if first else "worse"
        if self.p_value >= SIGNIFICANCE_LEVEL:
            return "unclear"
        return "better" if self.favours_second else "worse"

    def __repr__(self) -> str:
        return verdict_text(self)

    def as_html(self) -> Markup:
        """Render the verdict as an HTML table with its conclusion."""
        head, *rows = verdict_table(self)
        lines = [paragraph(line) for line in (*conclusion(self), counts(self), *caveats(self))]
        return joined(paragraph(heading(self)), html_table(rows, head), *lines)

    def _repr_html_(self) -> str:
        return self.as_html()

    def to_json(self) -> dict[str, object]:
        """Convert the verdict to JSON types."""
        sides = {
            name: {
                **asdict(side),
                "config": side.config.as_dict(),
                "cost": finite(side.cost),
                "time": finite(side.time),
            }
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
            "conclusion_here": self.conclusion_here,
            "recommendation": self.recommendation,
            "names": list(self.names),
            "time": self.time and self.time.to_json(),
            "saving": self.saving and self.saving.to_json(),
            "comparisons": self.comparisons,
            "looks": self.looks,
            "early": self.early,
            "failures_differ": self.failures_differ,
            "needed": self.needed,
            "without_instances": self.without_instances,
            "about_these_only": self.about_these_only,
            "cost_name": self.cost_name,
        }


@dataclass(frozen=True)
class NoVerdict:
    """A missing verdict with its reason. It is falsy, unlike a `Verdict`."""

    conclusion: Literal["kept", "none", "front"]
    """"kept" if the default stayed the best, so that there is nothing to compare; "front" where
    there are several costs; else "none"."""
    reason: str
    """The reason, as a sentence."""

    def __bool__(self) -> Literal[False]:
        return False

    @property
    def recommendation(self) -> str:
        """What to do, or why nothing can be recommended, in one sentence."""
        return str(self)

    def __repr__(self) -> str:
        kept = self.conclusion == "kept"
        return f"{'Keep the default' if kept else 'No verdict'}: {self.reason}"

    def as_html(self) -> Markup:
        """Render the sentence as HTML."""
        return paragraph(str(self))

    def _repr_html_(self) -> str:
        return self.as_html()

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types."""
        return asdict(self)


def verdict(
    first: Sequence[Run],
    second: Sequence[Run],
    metric: CostMetric,
    on: str = "",
    *,
    comparisons: int = 1,
    looks: int = 1,
    early: str = "",
    margin: float = MARGIN,
    clock: float = CLOCK_SECONDS,
) -> Verdict:
    """Compare two configurations by their runs, which must be on the same pairs.

    Args:
        first: Runs of the baseline.
        second: Runs of the other.
        metric: What a run costs.
        on: The instances and seeds, in words.
        comparisons: Number of verdicts that are made of the same runs.
        looks: Number of times that the runs are looked at, at the most.
        early: Why the comparison ended before its last instance.
        margin: Relative difference up to which costs are the same.
        clock: Seconds up to which measured times are the same.
    """
    mine, other = _by_pair(first), _by_pair(second)  # the order of runs does not matter
    if mine.keys() != other.keys() or not mine:
        raise ValueError("the runs are not on the same pairs")
    # A cost may be several numbers in order of importance. The verdict is about the first number in
    # which the two sides differ anywhere, for example the quality where all runtimes are at the
    # cutoff. Failures (infinite costs) are compared before means; the interval covers only the runs
    # usable on both sides.
    level, costs = deciding_costs(
        {pair: (metric.of(mine[pair]), metric.of(other[pair])) for pair in mine}
    )
    instances = {name for name, _ in costs}
    quality = level > 0 or not metric.needs_runtime
    flip = quality and metric.maximise
    tie = Tolerance(margin, 0.0 if quality else clock)
    cases = cases_of(costs)
    scores = [scores_of(case) for case in cases]
    found = compared(cases, scores, flip, tie, SIGNIFICANCE_LEVEL / comparisons / looks)
    wins = sum(is_less(b, a, tie) for a, b in scores)
    losses = sum(is_less(a, b, tie) for a, b in scores)
    usable = [pair for pair, both in costs.items() if all(map(math.isfinite, both))]
    shown, beside = _comparable(mine, other, metric)
    by_instance = len(instances) >= MIN_INSTANCES
    return Verdict(
        _side(first, shown, metric, _mean_time(mine, usable)),
        _side(second, beside, metric, _mean_time(other, usable)),
        on,
        len(instances),
        "instance" if by_instance else "repetition" if len(instances) > 1 else "run",
        wins,
        len(cases) - wins - losses,
        losses,
        "quality" if quality else "runtime",
        found.gain,
        found.ratio,
        min(1.0, found.p_value * comparisons * looks),
        found.favours_second,
        time=_time_ratio(mine, other, usable, clock, SIGNIFICANCE_LEVEL / comparisons / looks)
        if not metric.needs_runtime
        else None,
        comparisons=comparisons,
        looks=looks,
        early=early,
        failures_differ=found.failures_differ,
        needed=found.needed if wins + losses else None,
        without_instances=instances == {NO_INSTANCE.name},
        metric=metric,
        paired_runs=tuple((mine[pair], other[pair]) for pair in mine),
    )


def _mean_time(runs: Mapping[tuple[str, int], Run], pairs: Sequence[tuple[str, int]]) -> float:
    return mean([runs[pair].runtime for pair in pairs]) if pairs else math.nan


def _time_ratio(
    mine: Mapping[tuple[str, int], Run],
    other: Mapping[tuple[str, int], Run],
    pairs: Sequence[tuple[str, int]],
    clock: float,
    level: float,
) -> Interval | None:
    """Factor by which the second takes less time; None if below the clock's resolution."""
    times = {pair: (mine[pair].runtime, other[pair].runtime) for pair in pairs}
    if not times or max(max(both) for both in times.values()) <= clock:
        return None
    from paramhs.analysis.paired_estimate import estimate

    means = [means_of(case) for case in cases_of(times)]
    positive = [(max(a, _TICK), max(b, _TICK)) for a, b in means]
    return estimate(positive, Tolerance(MARGIN, clock), level).ratio


def _by_pair(runs: Sequence[Run]) -> Mapping[tuple[str, int], Run]:
    by_pair = {(run.task.instance.name, run.task.seed): run for run in runs}
    return {pair: by_pair[pair] for pair in sorted(by_pair)}


def _comparable(
    mine: Mapping[tuple[str, int], Run], other: Mapping[tuple[str, int], Run], metric: CostMetric
) -> tuple[list[Cost], list[Cost]]:
    """Costs of both sides where both are usable; all usable ones if one side has none."""
    costs = [(metric.of(mine[pair]), metric.of(other[pair])) for pair in mine]
    first = [a for a, _ in costs if math.isfinite(a[0])]
    second = [b for _, b in costs if math.isfinite(b[0])]
    if not first or not second:
        return first, second
    both = [(a, b) for a, b in costs if math.isfinite(a[0]) and math.isfinite(b[0])]
    return [a for a, _ in both], [b for _, b in both]


def _side(runs: Sequence[Run], usable: Sequence[Cost], metric: CostMetric, time: float) -> Side:
    bad = [has_failed(run, metric) for run in runs]
    finished = [run.status is Status.OK for run in runs]
    return Side(
        runs[0].task.config,
        metric.shown(score(usable)) if usable else math.inf,
        len(runs),
        sum(done and not failed for done, failed in zip(finished, bad, strict=True)),
        sum(bad),
        time,
    )
