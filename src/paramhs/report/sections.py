"""Content of each section of the page, as plain values for its template."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from paramhs.analysis.ablation import Ablation, AblationStep, Change, changes_between
from paramhs.analysis.evidence import common_costs, too_few
from paramhs.analysis.importance import Importance
from paramhs.analysis.intervals import Interval
from paramhs.analysis.verdict import Verdict
from paramhs.analysis.verdict_text import caveats, directions, verdict_table
from paramhs.analysis.verdict_text import counts as won_and_lost
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Point
from paramhs.core.space import Config, value_text
from paramhs.core.text.numbers import counted
from paramhs.report.advice import advice
from paramhs.report.axes import short
from paramhs.report.figures import (
    Figure,
    ablation_figure,
    cactus_figure,
    front_figures,
    interval_figure,
    scatter_figure,
    trail_figures,
)
from paramhs.report.incumbent_curve import Counts, counts, trail
from paramhs.report.landscape_map import Map
from paramhs.report.parameters import effect_figures, map_figure
from paramhs.report.per_instance import Case, Paired, cases, paired_runs
from paramhs.report.result import Result

_MAX_PICTURES = 30  # parameters with a picture
_MAX_PARAMETERS = 40  # parameters in the table
# Smallest share of a reported pair, and the number of reported pairs.
_MIN_SHARE, _MAX_PAIRS = 0.02, 10
_MAX_INCUMBENTS = 24  # rows in the table
_MAX_CASES = 120  # instances in the table
_MAX_NAMES = 60  # unsolved instances that are named

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
    families: Sequence[Row]
    """Headings, then a row for each family of instances; empty without families."""
    groups: Sequence[str]
    """Sentences about families, groups of instances and the ceiling."""
    front: Sequence[Row] = ()
    """Headings, then a row for the default and each point of a front; empty with one cost."""
    front_caveat: str = ""
    points: Sequence[tuple[str, str]] = ()
    """Name of each point, and its command or its values."""
    best_name: str = ""
    """What the values below the next steps are of."""


def found(result: Result, calls: Mapping[str, str]) -> Found:
    """Build the section with the verdict."""
    verdict, metric = result.verdict, result.metric
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
    front = result.front if result.front and result.front.points else None
    if front is not None:
        figures += front_figures(front)
    return Found(
        verdict.recommendation,
        {"better": "good", "worse": "bad"}.get(verdict.conclusion, "open"),
        verdict.on if isinstance(verdict, Verdict) else "",
        columns,
        rows,
        details,
        _in_search(result),
        _first_by_importance(result, changes_between(result.default, result.best)),
        result.command,
        result.best.key,
        advice(result, calls),
        figures,
        [*map(tuple, result.families.table)],
        result.group_notes,
        [*map(tuple, front.table)] if front else (),
        front.caveat if front else "",
        [(point.name, point.command or point.config.key) for point in front.points]
        if front
        else (),
        front.best_name if front else "the best configuration",
    )


def _first_by_importance(result: Result, changes: Sequence[Change]) -> Sequence[Change]:
    rank = {one.name: number for number, one in enumerate(result.importance)}
    return sorted(changes, key=lambda change: rank.get(change.name, len(rank)))


def _in_search(result: Result) -> list[str]:
    """Costs of both on their common runs of the search."""
    if result.best == result.default:
        return []
    common = common_costs(result.history, result.default, result.best)
    if common is None:
        return ["In the search the default and the best have no common runs."]
    if few := too_few(common, result.history):
        return [f"In the search the default and the best have {few}."]
    costs = f"{_cost(common.first)} for the default and {_cost(common.second)} for the best"
    return [
        f"In the search: {result.metric.label} {costs}, on the {counted(common.runs, 'run')} of"
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


def matter(result: Result, calls: Mapping[str, str]) -> Matter:
    """Build the section on the changes that carry the gain."""
    made, call = result.simplified, calls.get("simplify", "")
    if made is None:
        return Matter("", (), "", (), (), "", call, ())
    ablation = made.ablation
    figure = ablation_figure(ablation, result)
    about = (
        f"From the default to the best in single changes, each time the one that gains most:"
        f" {counted(ablation.runs, 'run')} in addition to those of the search,"
        f" {ablation.target_time:.1f} s of target time. All costs are over the same"
        f" {counted(ablation.pairs, 'run')}, on {ablation.on}."
    )
    kept = "" if made.kept is None else f", which keep {made.kept:.0%} of the gain"
    return Matter(
        about,
        list(_steps(ablation)),
        f"{counted(len(made.changes), 'change')} of {len(ablation.changes):,}{kept}.",
        list(_simplified_verdicts(result)),
        made.changes,
        result.simplified_command,
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


def _simplified_verdicts(result: Result) -> Iterator[str]:
    made = result.simplified
    if made is None:
        return
    for verdict, other in ((made.verdict, "default"), (made.against_best, "best")):
        if verdict is not None:
            named = replace(verdict, names=(other, "simplified"), metric=result.metric)
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


def parameters(result: Result, interactions: bool) -> Parameters:
    """Build the section on parameters, the most important first, and on pairs if requested."""
    ranked = ablated_first(result)
    rows = [_importance(one, result) for one in ranked[:_MAX_PARAMETERS]]
    figures = effect_figures(ranked[:_MAX_PICTURES], result)
    left_out, unpictured = len(ranked) - len(rows), len(ranked) - len(figures)
    measured = len({*ablated(result)} & {one.name for one in ranked})
    return Parameters(
        rows, left_out, figures, unpictured, measured, _pairs(result) if interactions else None
    )


def ablated_first(result: Result) -> list[Importance]:
    """Parameters by importance, after those measured by an ablation in its order."""
    ranked = [one for one in result.importance if math.isfinite(one.share)]
    names = ablated(result)
    return sorted(
        ranked, key=lambda one: names.index(one.name) if one.name in names else len(names)
    )


def ablated(result: Result) -> list[str]:
    """Parameters measured by the ablation of this best, largest gains first."""
    made = result.simplified
    if made is None:
        return []
    return [change.name for step in made.ablation.steps for change in step.changes]


def _pairs(result: Result) -> list[Row]:
    found = result.interactions
    if found is None:
        raise BadInput('interactions need scikit-learn: pip install "paramhs[importance]"')
    pairs = [one for one in found if len(one.names) == 2 and one.share > _MIN_SHARE]
    return [
        (*one.names, f"{one.share:.1%}", f"{one.low:.1%} to {one.high:.1%}")
        for one in pairs[:_MAX_PAIRS]
    ]


def _importance(one: Importance, result: Result) -> Row:
    effect = f"{short(one.effect)} times" if one.log else short(one.effect)
    if one.at_least:
        effect = f"at least {effect}"
    return (
        one.name,
        f"{one.share:.1%}",
        f"{one.low:.1%} to {one.high:.1%}",
        effect,
        _value(result.default, one.name),
        _value(result.best, one.name),
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


def going(result: Result, chart: Map | None) -> Going:
    """Build the section on runs, challengers, time and incumbents."""
    made = counts(result)
    figures = trail_figures(trail(result), result)
    where = map_figure(result, chart)
    points = result.trajectory
    shown = (
        list(points)
        if len(points) <= _MAX_INCUMBENTS
        else [points[0], *points[1 - _MAX_INCUMBENTS :]]
    )
    before: Config | None = None
    rows = []
    for point in shown:
        rows.append(_incumbent(point, before, result))
        before = point.config
    return Going(
        [*_runs(made, result), *_time(made, result)],
        rows,
        len(points) - len(shown),
        [*figures, *([where] if where else [])],
    )


def _runs(made: Counts, result: Result) -> Iterator[str]:
    ended = ", ".join(f"{number:,} {status}" for status, number in made.statuses.items())
    more = (
        f"; {counted(result.record.speculative, 'speculative run')} in addition"
        if result.record.speculative
        else ""
    )
    known = f"; {counted(made.known, 'run')} known before" if made.known else ""
    yield f"{counted(made.runs, 'run')} ({ended or 'none'}){more}{known}."
    won = max(made.incumbents - 1, 0)
    yield (
        f"{counted(made.challengers, 'challenger')}: {won:,} became the incumbent; the others were"
        " rejected or still racing."
    )
    if result.capped:
        yield f"Capping: {result.capped} (an estimate)."
    if result.record.ending.stopped:
        yield f"The search ended: {result.record.ending.stopped}."
    if result.answers.text:
        yield f"Answers: {result.answers.text}."
    yield from result.accepted


def _time(made: Counts, result: Result) -> Iterator[str]:
    record = result.record
    on_processor = " of processor time" * (result.clock == "cpu")
    spent = f"{_duration(record.target_time)}{on_processor}"
    if not made.runs or not record.wall_time:
        yield f"Runtime of the target: {spent}."
        return
    passed, rest = record.wall_time, record.wall_time - record.target_time
    over = f" in {counted(record.sessions, 'session')}" if record.sessions > 1 else ""
    if result.clock == "cpu":
        yield f"{_duration(passed)} elapsed{over}; the target used {spent}."
    elif rest >= 0:
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


def _incumbent(point: Point, before: Config | None, result: Result) -> Row:
    what = "the default" if point.config == result.default else _difference(point, before, result)
    cost = "" if point.cost is None else short(point.cost)
    common = common_costs(result.history, result.default, point.config)
    against = ""
    if common is not None and point.config != result.default:
        costs = f"{_cost(common.first)} to {_cost(common.second)}"
        against = f"{costs} ({counted(common.runs, 'run')})"
    return (f"{point.runs:,}", what, cost, f"{point.evidence:,}", against)


def _difference(point: Point, before: Config | None, result: Result, most: int = 5) -> str:
    between = changes_between(before or result.default, point.config)
    changes = _first_by_importance(result, between)
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


def instances(result: Result) -> Instances:
    """Build the section on instances: of the test set, or else of the search."""
    metric = result.metric
    on, paired = paired_of(result)
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
        [_row(case, result) for case in shown if case.name != NO_INSTANCE.name or len(listed) > 1],
        len(listed) - len(shown),
        result.unsolved[:_MAX_NAMES],
        max(len(result.unsolved) - _MAX_NAMES, 0),
        figures,
    )


def paired_of(result: Result) -> tuple[str, Sequence[Paired]]:
    """Runs of the default and the best on the same pairs, and where they were made."""
    verdict = result.verdict
    if isinstance(verdict, Verdict) and verdict.paired_runs:
        return f"on {verdict.on}", verdict.paired_runs
    if result.best == result.default:
        return "", ()
    made = paired_runs(result.history, result.default, result.best)
    return "in the search", made


def _ends(listed: Sequence[Case]) -> list[Case]:
    """The largest gains and losses, if there are many instances."""
    if len(listed) <= _MAX_CASES:
        return list(listed)
    return [*listed[: _MAX_CASES // 2], *listed[-(_MAX_CASES // 2) :]]


def _row(case: Case, result: Result) -> Row:
    lost = [
        f"{name} {case.runs - part.solved:,}"
        for name, part in (("default", case.first), ("best", case.second))
        if part.solved < case.runs
    ]
    a, b = case.first.cost, case.second.cost
    better = _better(a, b, result.more_is_better)
    return (case.name, f"{case.runs:,}", short(a), short(b), better, ", ".join(lost))


def _better(a: float, b: float, more: bool) -> str:
    """Improvement factor of the second, or the difference if there is no ratio."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return ""
    if a > 0 and b > 0:
        return f"{short(b / a if more else a / b)} times"
    return f"{b - a if more else a - b:+.3g}"
