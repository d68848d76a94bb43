"""The pictures of the report."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from paramhs.analysis.ablation import Ablation
from paramhs.analysis.front import Front, FrontPoint, share
from paramhs.analysis.intervals import Interval
from paramhs.core.costs import CostMetric
from paramhs.report import charts
from paramhs.report.axes import Scale, fitting, linear, logarithmic, short
from paramhs.report.charts import Frame, clipped
from paramhs.report.incumbent_curve import Sample
from paramhs.report.per_instance import Case, Paired, solving_times
from paramhs.report.result import Result

_MIN_LOG_RUNS = 200  # runs above which their axis is logarithmic
_MAX_STEPS = 300  # points of a cactus plot
_MIN_SECONDS = 0.001  # faster runs are drawn at this time


@dataclass(frozen=True)
class Figure:
    """A picture with a name that is safe for files."""

    name: str
    title: str
    svg: Markup
    caption: str = ""


# Verdict


def interval_figure(ratio: Interval, better: str) -> Figure:
    """Ratio of the costs with its interval; a line marks a ratio of 1."""
    ends = [x for x in (ratio.low, ratio.high) if 0 < x < math.inf]
    x = logarithmic([0.8, 1.25, ratio.estimate, *ends])
    frame = Frame(x, Scale(0, 1), f"times {better}", "", 460, 88, 16, 16, 10, 40, (6, 0))
    low, high = max(ratio.low, x.low), min(ratio.high, x.high)
    parts = [
        charts.rule(frame, "one", x=1.0),
        charts.segment(frame, (low, 0.5), (high, 0.5), "b thick"),
        charts.dots(frame, [(ratio.estimate, 0.5, str(ratio))], "b"),
    ]
    title = "Improvement factor of the best, with its 95 % interval"
    return Figure("verdict", title, frame.drawn(title, *parts))


# Fronts


def front_figures(front: Front) -> list[Figure]:
    """Each further cost of the points against the first, with intervals and the default."""
    names, points = front.metric.names, front.points
    return [front_figure(front, names[0], name) for name in names[1:]] if points else []


def front_figure(front: Front, first: str, second: str) -> Figure:
    """One cost of the points against another, with intervals and the default."""
    spots = [(p.costs[first], p.costs[second], f"{p.name}: {p.config}") for p in front.points]
    spots = [(x, y, clipped(told, 200)) for x, y, told in spots if math.isfinite(x + y)]
    default = front.default.costs[first], front.default.costs[second]
    ends = [_front_ends(front, point, name) for point in front.points for name in (first, second)]
    frame = Frame(
        fitting([default[0], *(x for x, _, _ in spots), *(x for one in ends[::2] for x in one)]),
        fitting([default[1], *(y for _, y, _ in spots), *(y for one in ends[1::2] for y in one)]),
        first,
        second,
    )
    bars = []
    for point in front.points:
        x, y = point.costs[first], point.costs[second]
        if across := _front_ends(front, point, first):
            bars.append(charts.segment(frame, (across[0], y), (across[1], y), "b"))
        if up := _front_ends(front, point, second):
            bars.append(charts.segment(frame, (x, up[0]), (x, up[1]), "b"))
    numbers = [
        charts.words(str(point.number), frame.across(spot[0]) + 6, frame.down(spot[1]) - 6)
        for point, spot in zip(front.points, spots, strict=False)
    ]
    bounds = [
        charts.rule(frame, "one", **{"x" if bound.name == first else "y": bound.limit})
        for bound in front.metric.bounds
        if bound.name in (first, second)
    ]
    title = f"Front: {second} against {first}"
    drawn = frame.drawn(
        title,
        *bounds,
        *bars,
        charts.dots(frame, spots, "b"),
        *numbers,
        charts.crosses(frame, [(*default, f"default: {front.default.config}")], "a"),
        charts.legend([("a", "default"), ("b", "points")], frame.left + 80, 12),
    )
    bars_text = " Bars: intervals of the ratio to the default's mean." if bars else ""
    line = f" Dashed: {' and '.join(map(str, front.metric.bounds))}." if bounds else ""
    return Figure(f"front-{second}", title, drawn, f"Means over {front.on}.{bars_text}{line}")


def _front_ends(front: Front, point: FrontPoint, name: str) -> tuple[float, float] | tuple[()]:
    """Ends of the interval of a mean, from its ratio to the default's; empty without one."""
    made = point.verdicts.get(name)
    factor = made and share(made)
    default = front.default.costs[name]
    if not factor or not 0 < factor.low <= factor.high < math.inf or not math.isfinite(default):
        return ()
    return default * factor.low, default * factor.high


# Ablation


def ablation_figure(ablation: Ablation, result: Result) -> Figure | None:
    """Cost for each number of changes, from the default to the best, with intervals."""
    spots = [(0.0, ablation.default_cost, "default")]
    for step in ablation.steps:
        spots.append((float(step.count), step.cost, ", ".join(map(str, step.changes))))
    spots = [(x, y, clipped(told, 200)) for x, y, told in spots if math.isfinite(y)]
    if len(spots) < 2:
        return None
    ranges = [
        (float(step.count), *ends)
        for step in ablation.steps
        if (ends := _ends(ablation.default_cost, step.total, result.more_is_better))
    ]
    frame = Frame(
        linear(x for x, _, _ in spots),
        fitting([*(y for _, y, _ in spots), *(x for _, *ends in ranges for x in ends)]),
        "parameters changed",
        result.label,
        ticks=(min(int(spots[-1][0]), 6), 5),
    )
    title = "Cost after each change, from the default to the best"
    return Figure(
        "ablation",
        title,
        frame.drawn(
            title,
            charts.line(frame, [(x, y) for x, y, _ in spots], "b"),
            *(charts.segment(frame, (x, a), (x, b), "b thick") for x, a, b in ranges),
            charts.dots(frame, spots, "b"),
        ),
        "Bars: 95 % intervals of the ratio to the default." if ranges else "",
    )


def _ends(default: float, ratio: Interval | None, more: bool) -> tuple[float, float] | None:
    """Bounds of a cost, from its ratio to the default's cost."""
    if ratio is None or not 0 < ratio.low <= ratio.high < math.inf:
        return None
    ends = (ratio.low, ratio.high) if more else (1 / ratio.high, 1 / ratio.low)
    return default * ends[0], default * ends[1]


# Course of the search


def trail_figures(samples: Sequence[Sample], result: Result) -> list[Figure]:
    """Mean of the incumbent over runs and time, and the number of runs behind it."""
    usable = [s for s in samples if math.isfinite(s.mean)]
    if not usable:
        return []
    what, passed = "time", "seconds elapsed"
    if not result.record.elapsed:
        what, passed = "target time", "seconds of target time"
    by_runs = [(float(s.runs), s) for s in usable]
    by_time = [(s.seconds, s) for s in usable]
    evidence = [(float(s.runs), float(s.evidence)) for s in usable]
    frame = Frame(
        _growing([x for x, _ in evidence]),
        fitting(y for _, y in evidence),
        "runs of the search",
        "runs of the incumbent",
    )
    title = "Number of runs behind the incumbent's mean"
    return [
        _trail("incumbent-by-runs", "The incumbent over runs", by_runs, "runs", result),
        _trail("incumbent-by-time", f"The incumbent over {what}", by_time, passed, result),
        Figure("evidence", title, frame.drawn(title, charts.steps(frame, evidence, "b"))),
    ]


def _growing(numbers: Sequence[float]) -> Scale:
    """Axis of a quantity that only grows."""
    positive = [x for x in numbers if x > 0] or [1.0]
    if positive[-1] >= _MIN_LOG_RUNS or positive[-1] > 100 * positive[0]:
        return logarithmic([positive[0], positive[-1]])
    return linear(numbers, zero=True)


def _trail(
    name: str, title: str, at: Sequence[tuple[float, Sample]], label: str, result: Result
) -> Figure:
    means = [s.mean for _, s in at]
    y = fitting(_within([*means, *(x for _, s in at for x in (s.low, s.high))], means))
    frame = Frame(_growing([x for x, _ in at]), y, label, f"{result.label}, at that moment")
    firsts = [
        (x, s.mean, f"incumbent {s.number}, {short(s.mean)} over {s.evidence} runs")
        for k, (x, s) in enumerate(at)
        if k == 0 or s.number != at[k - 1][1].number
    ]
    return Figure(
        name,
        title,
        frame.drawn(
            title,
            charts.step_band(frame, [(x, s.low, s.high) for x, s in at], "b"),
            charts.steps(frame, [(x, s.mean) for x, s in at], "b"),
            charts.dots(frame, firsts, "b"),
        ),
    )


def _within(numbers: Iterable[float], means: Sequence[float]) -> list[float]:
    """Clip bands that would spoil the axis: positive means need a positive axis."""
    if min(means) > 0:
        floor = min(means) / 3
        return [max(x, floor) for x in numbers]
    return list(numbers)


# Single instances


def scatter_figure(name: str, title: str, cases: Sequence[Case], metric: CostMetric) -> Figure:
    """Cost of the default against the best on each instance; on log axes where possible."""
    seconds = metric.needs_runtime
    spots = [_spot(case, seconds) for case in cases]
    scale = _common_scale(spots, seconds)
    unit = "mean runtime in s" if seconds else metric.label
    frame = Frame(scale, scale, f"default: {unit}", f"best: {unit}", 420, 400)
    groups: dict[str, list[tuple[float, float, str]]] = {"b": [], "timeout": [], "failed": []}
    for case, (x, y) in zip(cases, spots, strict=True):
        groups[_kind(case)].append((_drawn(x, scale), _drawn(y, scale), _told(case, metric)))
    parts = [
        charts.segment(frame, (scale.low, scale.low), (scale.high, scale.high), "one"),
        charts.dots(frame, groups["b"], "b"),
        charts.crosses(frame, groups["timeout"], "a"),
        charts.crosses(frame, groups["failed"], "bad"),
    ]
    return Figure(name, title, frame.drawn(title, *parts), _scatter_caption(groups, metric))


def _spot(case: Case, seconds: bool) -> tuple[float, float]:
    if not seconds:
        return case.first.cost, case.second.cost
    return tuple(max(part.seconds, _MIN_SECONDS) for part in (case.first, case.second))  # type: ignore[return-value]


def _common_scale(spots: Sequence[tuple[float, float]], seconds: bool) -> Scale:
    numbers = [x for spot in spots for x in spot if math.isfinite(x)]
    if seconds and numbers:
        return logarithmic(numbers)
    if numbers and min(numbers) > 0 and max(numbers) > 2 * min(numbers):
        return logarithmic(numbers)
    return fitting(numbers)


def _drawn(x: float, scale: Scale) -> float:
    return x if math.isfinite(x) else scale.high


def _kind(case: Case) -> str:
    if case.first.failed or case.second.failed:
        return "failed"
    return "timeout" if case.first.timeouts or case.second.timeouts else "b"


def _told(case: Case, metric: CostMetric) -> str:
    costs = f"{short(case.first.cost)} to {short(case.second.cost)}"
    return f"{clipped(case.name, 80)}: {costs}"


def _scatter_caption(groups: dict[str, list[tuple[float, float, str]]], metric: CostMetric) -> str:
    seconds = metric.needs_runtime
    side, how = ("Above", "higher") if metric.maximise and not seconds else ("Below", "lower")
    caption = f"{side} the diagonal the best is {'faster' if seconds else how}, that is, better."
    if groups["timeout"]:
        caption += (
            " Crosses: a run of either reached the cutoff or ended without an answer, and is"
            " drawn at the cutoff."
        )
    if groups["failed"]:
        caption += " Red crosses: a run of either failed; if all runs failed, it is at the edge."
    return caption


def cactus_figure(paired: Sequence[Paired], metric: CostMetric, on: str) -> Figure | None:
    """Number of runs finished within a time, for both configurations."""
    sides = [
        [max(t, _MIN_SECONDS) for t in solving_times(runs, metric)]
        for runs in zip(*paired, strict=True)
    ]
    if not any(sides):
        return None
    x = linear([0.0, float(len(paired))], zero=True)
    frame = Frame(
        x, logarithmic(sides[0] + sides[1]), "runs finished", "seconds for each", 420, 400
    )
    parts = [
        charts.steps(frame, _thinned([(float(k), t) for k, t in enumerate(side, 1)]), kind)
        for side, kind in zip(sides, ("a", "b"), strict=True)
    ]
    key = charts.legend([("a", "default"), ("b", "best")], frame.left + 14, 36)
    title = f"Runs finished within a time limit, {on}"
    return Figure("cactus", title, frame.drawn(title, *parts, key))


def _thinned(spots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    every = math.ceil(len(spots) / _MAX_STEPS)
    return [*spots[:-1:every], *spots[-1:]] if spots else []
