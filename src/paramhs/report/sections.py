"""Content of each section of the page, as plain values for its template."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from paramhs.analysis.ablation import Ablation, AblationStep, Change, changes_between
from paramhs.analysis.evidence import common_costs
from paramhs.analysis.importance import Importance
from paramhs.analysis.intervals import Interval
from paramhs.analysis.verdict import Verdict
from paramhs.analysis.verdict_text import caveats, directions, verdict_table
from paramhs.analysis.verdict_text import counts as won_and_lost
from paramhs.core.runs import NO_INSTANCE, Point
from paramhs.core.space import Config, value_text
from paramhs.core.text.numbers import counted
from paramhs.report.advice import advice
from paramhs.report.axes import short
from paramhs.report.context import Material
from paramhs.report.figures import (
    Figure,
    ablation_figure,
    cactus_figure,
    interval_figure,
    scatter_figure,
    trail_figures,
)
from paramhs.report.incumbent_curve import Counts, counts, trail
from paramhs.report.parameters import effect_figures, map_figure
from paramhs.report.per_instance import Case, Paired, cases, paired_runs

_MAX_PICTURES = 30  # parameters with a picture
_MAX_PARAMETERS = 200  # parameters in the table
# Smallest share of a reported pair, and the number of reported pairs.
_MIN_SHARE, _MAX_PAIRS = 0.02, 10
_MAX_INCUMBENTS = 24  # rows in the table
_MAX_CASES = 120  # instances in the table
_MAX_NAMED = 60  # unsolved instances that are named

Row = tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """The first section: the result and its verdict."""

    verdict: str
    """The recommendation, as a sentence."""
    tone: str
    """Colour of the verdict: "good", "bad" or "open"."""
    on: str
    columns: Row
    sides: Sequence[Row]
    details: Sequence[str]
    search: Sequence[str]
    changes: Sequence[Change]
    command: str
    values: str
    advice: Sequence[str]
    figures: Sequence[Figure]


def found(material: Material) -> Found:
    """Build the section with the verdict."""
    verdict, metric = material.verdict, material.metric
    figures = []
    rows: list[Row] = []
    details: list[str] = []
    columns: Row = ()
    if isinstance(verdict, Verdict):
        columns, *rows = map(tuple, verdict_table(verdict))
        details += [f"{won_and_lost(verdict)}.", *caveats(verdict)]
        if verdict.ratio is not None:
            better = directions(metric, verdict.by == "runtime")[0]
            figures.append(interval_figure(verdict.ratio, better))
    return Found(
        verdict.recommendation,
        {"better": "good", "worse": "bad"}.get(verdict.conclusion, "open"),
        verdict.on if isinstance(verdict, Verdict) else "",
        columns,
        rows,
        details,
        _in_search(material),
        changes_between(material.default, material.best),
        material.command,
        material.best.key,
        advice(material),
        figures,
    )


def _in_search(material: Material) -> list[str]:
    """Costs of both on their common runs of the search."""
    if material.best == material.default:
        return []
    common = common_costs(material.history, material.default, material.best)
    if common is None:
        return ["In the search the default and the best have no common runs."]
    costs = f"{_cost(common.first)} for the default and {_cost(common.second)} for the best"
    return [
        f"In the search: {material.metric.label} {costs}, on the {counted(common.runs, 'run')} of"
        " both. The best was selected by such runs, so they are biased in its favour."
    ]


def _cost(cost: float | None) -> str:
    return "none" if cost is None else short(cost)


# Ablation


@dataclass(frozen=True)
class Matter:
    """Ablation and the simplified configuration."""

    about: str
    steps: Sequence[Row]
    simplified: str
    verdicts: Sequence[str]
    changes: Sequence[Change]
    command: str
    """Command line of the simplified configuration."""
    call: str
    figures: Sequence[Figure]


def matter(material: Material) -> Matter:
    """Build the section on the changes that carry the gain."""
    made, call = material.simplified, material.calls.get("simplify", "")
    if made is None:
        return Matter("", (), "", (), (), "", call, ())
    ablation = made.ablation
    figure = ablation_figure(ablation, material)
    stale = (
        " It belongs to an earlier best; repeat it for this one."
        if ablation.best != material.best
        else ""
    )
    about = (
        f"From the default to the best in single changes, each time the one that gains most:"
        f" {counted(ablation.runs, 'run')} in addition to those of the search,"
        f" {ablation.target_time:.1f} s of target time. All costs are over the same"
        f" {counted(ablation.pairs, 'run')}, on {ablation.on}.{stale}"
    )
    kept = "" if made.kept is None else f", which keep {made.kept:.0%} of the gain"
    return Matter(
        about,
        list(_steps(ablation)),
        f"{counted(len(made.changes), 'change')} of {len(ablation.changes):,}{kept}.",
        list(_simplified_verdicts(material)),
        made.changes,
        material.simplified_command,
        call,
        [figure] if figure else (),
    )


def _steps(ablation: Ablation) -> Iterator[Row]:
    yield ("0", "the default", short(ablation.default_cost), "", "", "")
    for step in ablation.steps:
        kept = "" if step.kept is None else f"{step.kept:.0%}"
        total = "" if step.total is None else _times(step.total)
        yield (f"{step.count:,}", _made(step), short(step.cost), _gain(step), total, kept)


def _made(step: AblationStep, most: int = 6) -> str:
    listed = [str(change).replace(" -> ", " → ") for change in step.changes]
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _gain(step: AblationStep) -> str:
    if step.ratio is not None:
        return _times(step.ratio)
    return "" if step.gain is None else _interval(step.gain)


def _times(ratio: Interval) -> str:
    return f"{_interval(ratio)} times"


def _interval(interval: Interval) -> str:
    return f"{short(interval.estimate)} ({short(interval.low)} to {short(interval.high)})"


def _simplified_verdicts(material: Material) -> Iterator[str]:
    made = material.simplified
    if made is None:
        return
    for verdict, other in ((made.verdict, "default"), (made.against_best, "best")):
        if verdict is not None:
            named = replace(verdict, names=(other, "simplified"), metric=material.metric)
            yield f"On {verdict.on}: {named.recommendation} p = {verdict.p_value:.2g}."


# Importance of parameters


@dataclass(frozen=True)
class Parameters:
    """Importance of parameters, with pictures of the most important."""

    rows: Sequence[Row]
    left_out: int
    figures: Sequence[Figure]
    unpictured: int
    measured: int
    """Number of leading rows that an ablation has measured."""
    pairs: Sequence[Row] | None
    """Interactions of two parameters; None if they were not examined."""


def parameters(material: Material) -> Parameters:
    """Build the section on parameters, the most important first."""
    ranked = ablated_first(material)
    rows = [_importance(one, material) for one in ranked[:_MAX_PARAMETERS]]
    figures = effect_figures(ranked[:_MAX_PICTURES], material)
    left_out, unpictured = len(ranked) - len(rows), len(ranked) - len(figures)
    measured = len({*ablated(material)} & {one.name for one in ranked})
    return Parameters(rows, left_out, figures, unpictured, measured, _pairs(material))


def ablated_first(material: Material) -> list[Importance]:
    """Parameters by importance, after those measured by an ablation in its order."""
    ranked = [one for one in material.importance if math.isfinite(one.share)]
    names = ablated(material)
    return sorted(
        ranked, key=lambda one: names.index(one.name) if one.name in names else len(names)
    )


def ablated(material: Material) -> list[str]:
    """Parameters measured by the ablation of this best, largest gains first."""
    made = material.simplified
    if made is None or made.ablation.best != material.best:
        return []
    return [change.name for step in made.ablation.steps for change in step.changes]


def _pairs(material: Material) -> list[Row] | None:
    if material.interactions is None:
        return None
    pairs = [one for one in material.interactions if len(one.names) == 2 and one.share > _MIN_SHARE]
    return [
        (*one.names, f"{one.share:.1%}", f"{one.low:.1%} to {one.high:.1%}")
        for one in pairs[:_MAX_PAIRS]
    ]


def _importance(one: Importance, material: Material) -> Row:
    effect = f"{short(one.effect)} times" if one.log else short(one.effect)
    if one.at_least:
        effect = f"at least {effect}"
    return (
        one.name,
        f"{one.share:.1%}",
        f"{one.low:.1%} to {one.high:.1%}",
        effect,
        _value(material.default, one.name),
        _value(material.best, one.name),
    )


def _value(config: Config, name: str) -> str:
    return value_text(config[name]) if name in config else "not active"


# Course of the search


@dataclass(frozen=True)
class Going:
    """Course of the search."""

    sentences: Sequence[str]
    incumbents: Sequence[Row]
    left_out: int
    figures: Sequence[Figure]


def going(material: Material) -> Going:
    """Build the section on runs, challengers, time and incumbents."""
    made = counts(material)
    figures = trail_figures(trail(material), material)
    where = map_figure(material)
    points = material.trajectory
    shown = (
        list(points)
        if len(points) <= _MAX_INCUMBENTS
        else [points[0], *points[1 - _MAX_INCUMBENTS :]]
    )
    before: Config | None = None
    rows = []
    for point in shown:
        rows.append(_incumbent(point, before, material))
        before = point.config
    return Going(
        [*_runs(made, material), *_time(made, material)],
        rows,
        len(points) - len(shown),
        [*figures, *([where] if where else [])],
    )


def _runs(made: Counts, material: Material) -> Iterator[str]:
    ended = ", ".join(f"{number:,} {status}" for status, number in made.statuses.items())
    more = (
        f"; {counted(material.record.speculative, 'speculative run')} in addition"
        if material.record.speculative
        else ""
    )
    known = f"; {counted(made.known, 'run')} known before" if made.known else ""
    yield f"{counted(made.runs, 'run')} ({ended or 'none'}){more}{known}."
    won = max(made.incumbents - 1, 0)
    yield (
        f"{counted(made.challengers, 'challenger')}: {won:,} became the incumbent; the others were"
        " rejected or still racing."
    )
    if material.capped:
        yield f"Capping: {material.capped} (an estimate)."
    if material.record.ending.stopped:
        yield f"The search ended: {material.record.ending.stopped}."
    if material.answers.text:
        yield f"Answers: {material.answers.text}."
    yield from material.notes


def _time(made: Counts, material: Material) -> Iterator[str]:
    record = material.record
    on_processor = " of processor time" * (material.clock == "cpu")
    spent = f"{_duration(record.target_time)}{on_processor}"
    if not made.runs or not record.wall_time:
        yield f"Runtime of the target: {spent}."
        return
    passed, rest = record.wall_time, record.wall_time - record.target_time
    over = f" in {counted(record.sessions, 'session')}" if record.sessions > 1 else ""
    if rest >= 0:
        each = rest / (made.runs + record.speculative)
        yield (
            f"{_duration(passed)} elapsed{over}: the target ran for {spent}; the remaining"
            f" {_duration(rest)} ({1000 * each:.3g} ms per run) were spent in paramhs, starting"
            " programs,"
            " and waiting."
        )
    else:
        busy = record.target_time / passed if passed else 1.0
        yield (
            f"{_duration(passed)} elapsed{over}; the target ran for {spent}, {busy:.1f} runs at a"
            " time."
        )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h"


def _incumbent(point: Point, before: Config | None, material: Material) -> Row:
    what = (
        "the default" if point.config == material.default else _difference(point, before, material)
    )
    cost = "" if point.cost is None else short(point.cost)
    common = common_costs(material.history, material.default, point.config)
    against = ""
    if common is not None and point.config != material.default:
        costs = f"{_cost(common.first)} to {_cost(common.second)}"
        against = f"{costs} ({counted(common.runs, 'run')})"
    return (f"{point.runs:,}", what, cost, f"{point.evidence:,}", against)


def _difference(point: Point, before: Config | None, material: Material, most: int = 5) -> str:
    changes = changes_between(before or material.default, point.config)
    listed = [
        f"{c.name} not active" if c.after is None else f"{c.name} = {value_text(c.after)}"
        for c in changes
    ]
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


# Single instances


@dataclass(frozen=True)
class Instances:
    """The default against the best on each instance."""

    about: str
    columns: Row
    rows: Sequence[Row]
    left_out: int
    unsolved: Sequence[str]
    more_unsolved: int
    figures: Sequence[Figure]


def instances(material: Material) -> Instances:
    """Build the section on instances: of the test set, or else of the search."""
    metric = material.metric
    on, paired = _paired(material)
    listed = cases(paired, metric)
    figures: list[Figure] = []
    if len(listed) > 1:
        figures.append(scatter_figure("scatter", f"Default against best, {on}", listed, metric))
    if paired and metric.needs_runtime:
        cactus = cactus_figure(paired, metric, on)
        figures += [cactus] if cactus else []
    shown = _ends(listed)
    if len(listed) == 1 and listed[0].name == NO_INSTANCE.name:
        shown = []
    return Instances(
        f"Means over the runs of both on the same pairs, {on}." if listed else "",
        (
            "instance",
            "runs of each",
            f"default: {metric.label}",
            f"best: {metric.label}",
            "better by",
            "not solved",
        ),
        [
            _row(case, material)
            for case in shown
            if case.name != NO_INSTANCE.name or len(listed) > 1
        ],
        len(listed) - len(shown),
        material.unsolved[:_MAX_NAMED],
        max(len(material.unsolved) - _MAX_NAMED, 0),
        figures,
    )


def _paired(material: Material) -> tuple[str, Sequence[Paired]]:
    verdict = material.verdict
    if isinstance(verdict, Verdict) and verdict.paired_runs:
        return f"on {verdict.on}", verdict.paired_runs
    if material.best == material.default:
        return "", ()
    made = paired_runs(material.history, material.default, material.best)
    return "in the search", made


def _ends(listed: Sequence[Case]) -> list[Case]:
    """The largest gains and losses, if there are many instances."""
    if len(listed) <= _MAX_CASES:
        return list(listed)
    return [*listed[: _MAX_CASES // 2], *listed[-(_MAX_CASES // 2) :]]


def _row(case: Case, material: Material) -> Row:
    lost = [
        f"{name} {case.runs - part.solved:,}"
        for name, part in (("default", case.first), ("best", case.second))
        if part.solved < case.runs
    ]
    a, b = case.first.cost, case.second.cost
    better = _better(a, b, material.more_is_better)
    return (case.name, f"{case.runs:,}", short(a), short(b), better, ", ".join(lost))


def _better(a: float, b: float, more: bool) -> str:
    """Improvement factor of the second, or the difference if there is no ratio."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return ""
    if a > 0 and b > 0:
        return f"{short(b / a if more else a / b)} times"
    return f"{b - a if more else a - b:+.3g}"
