"""What each part of the page says, as plain values for its template."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from paramhs.results.ablation import Ablation, AblationStep, Change, changes_between
from paramhs.results.concluding import conclusion, directions
from paramhs.results.evidence import common_costs
from paramhs.results.importance import Importance
from paramhs.results.report.advice import advice
from paramhs.results.report.figures import (
    Figure,
    ablation_figure,
    cactus_figure,
    interval_figure,
    scatter_figure,
    trail_figures,
)
from paramhs.results.report.material import Material
from paramhs.results.report.paired import Case, Paired, cases, paired_runs
from paramhs.results.report.parameters import effect_figures, map_figure
from paramhs.results.report.scales import short
from paramhs.results.report.trail import Counts, counts, trail
from paramhs.results.verdict import Interval
from paramhs.values.runs import NO_INSTANCE, Point
from paramhs.values.space import Config, value_text
from paramhs.values.wording import counted

_PICTURED = 30  # parameters with a picture
_LISTED = 200  # parameters in the table
_TOGETHER, _TOLD = 0.02, 10  # the share from which on a pair is told, and how many are
_INCUMBENTS = 24  # in the table
_CASES = 120  # instances in the table
_NAMED = 60  # instances that nobody solves

Row = tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """What was found, and is it better?"""

    verdict: str
    """A sentence."""
    tone: str
    """"good", "bad" or "open"."""
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
    """The verdict first."""
    verdict, metric = material.verdict, material.metric
    figures = []
    rows: list[Row] = []
    details: list[str] = []
    sentence, tone = material.no_verdict or "No verdict yet.", "open"
    if material.best == material.default and not material.running:
        sentence = "Keep the default: the search found nothing better."
    elif verdict is not None:
        (sentence,) = conclusion(verdict)
        tone = {"better": "good", "worse": "bad"}.get(verdict.conclusion, "open")
        for name, side in (("default", verdict.first), ("best", verdict.second)):
            finished = f"{side.solved:,} of {side.runs:,}"
            rows.append((name, short(side.cost), finished, f"{side.failed:,}"))
        details.append(
            f"{verdict.wins:,} won, {verdict.ties:,} tied, {verdict.losses:,} lost by"
            f" {verdict.case}; p = {verdict.p_value:.2g} (two-sided sign-flip test)."
        )
        if verdict.ratio is not None:
            better = directions(metric, verdict.by == "runtime")[0]
            figures.append(interval_figure(verdict.ratio, better))
    return Found(
        sentence,
        tone,
        "" if verdict is None else verdict.on,
        ("", material.label, "finished", "failed"),
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
    """What both cost on the runs that the search has made of both."""
    if material.best == material.default:
        return []
    common = common_costs(material.history, material.default, material.best)
    if common is None:
        return ["In the search the default and the best have no run in common."]
    costs = f"{_cost(common.first)} for the default and {_cost(common.second)} for the best"
    return [
        f"In the search: {material.metric.label} {costs}, on the {counted(common.runs, 'run')} that"
        " both have made. The search has chosen the best by such runs, so they flatter it."
    ]


def _cost(cost: float | None) -> str:
    return "none" if cost is None else short(cost)


# What matters?


@dataclass(frozen=True)
class Matter:
    """The ablation, and the simplified best."""

    about: str
    steps: Sequence[Row]
    simplified: str
    verdicts: Sequence[str]
    changes: Sequence[Change]
    command: str
    """The simplified one's."""
    call: str
    figures: Sequence[Figure]


def matter(material: Material) -> Matter:
    """Which changes carry the gain."""
    made, call = material.simplified, material.calls.get("simplify", "")
    if made is None:
        return Matter("", (), "", (), (), "", call, ())
    ablation = made.ablation
    figure = ablation_figure(ablation, material)
    stale = (
        " It is of an earlier best: make it again to know of this one."
        if ablation.best != material.best
        else ""
    )
    about = (
        f"From the default to the best one change at a time, each time the one that gains most:"
        f" {counted(ablation.runs, 'run')} apart from those of the search,"
        f" {ablation.target_time:.1f} s of target time. Costs are over the same"
        f" {counted(ablation.pairs, 'run')} for every row, on {ablation.on}.{stale}"
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
            yield f"On {verdict.on}: {conclusion(named)[0]} p = {verdict.p_value:.2g}."


# Which parameters matter at all?


@dataclass(frozen=True)
class Parameters:
    """Importance, and a picture for each of those that matter most."""

    rows: Sequence[Row]
    left_out: int
    figures: Sequence[Figure]
    unpictured: int
    pairs: Sequence[Row] | None
    """Of two parameters, what they do together; None where that was not examined."""


def parameters(material: Material) -> Parameters:
    """Those that matter most first."""
    ranked = [one for one in material.importance if math.isfinite(one.share)]
    rows = [_importance(one, material) for one in ranked[:_LISTED]]
    figures = effect_figures(ranked[:_PICTURED], material)
    left_out, unpictured = len(ranked) - len(rows), len(ranked) - len(figures)
    return Parameters(rows, left_out, figures, unpictured, _pairs(material))


def _pairs(material: Material) -> list[Row] | None:
    if material.interactions is None:
        return None
    pairs = [one for one in material.interactions if len(one.names) == 2 and one.share > _TOGETHER]
    return [
        (*one.names, f"{one.share:.1%}", f"{one.low:.1%} to {one.high:.1%}")
        for one in pairs[:_TOLD]
    ]


def _importance(one: Importance, material: Material) -> Row:
    effect = f"{short(one.effect)} times" if one.log else short(one.effect)
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


# How did the search go?


@dataclass(frozen=True)
class Going:
    """The search itself."""

    sentences: Sequence[str]
    incumbents: Sequence[Row]
    left_out: int
    figures: Sequence[Figure]


def going(material: Material) -> Going:
    """Runs, challengers, time, incumbents."""
    made = counts(material)
    figures = trail_figures(trail(material), material)
    where = map_figure(material)
    points = material.trajectory
    shown = list(points) if len(points) <= _INCUMBENTS else [points[0], *points[1 - _INCUMBENTS :]]
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
        f"; {counted(material.speculative, 'speculative run')} besides"
        if material.speculative
        else ""
    )
    known = f"; {counted(made.known, 'run')} known before" if made.known else ""
    yield f"{counted(made.runs, 'run')} ({ended or 'none'}){more}{known}."
    won = max(made.incumbents - 1, 0)
    yield (
        f"{counted(made.challengers, 'challenger')}: {won:,} became the incumbent, the others were"
        " rejected, or their race was not over."
    )
    if material.capped:
        yield f"Capping: {material.capped} (an estimate)."
    if material.stopped:
        yield f"It ended: {material.stopped}."
    yield from material.notes


def _time(made: Counts, material: Material) -> Iterator[str]:
    spent = f"{_duration(material.target_time)}{' of processor time' * (material.clock == 'cpu')}"
    if material.wall_time is None or not made.runs:
        yield f"The target ran for {spent}."
        return
    passed, rest = material.wall_time, material.wall_time - material.target_time
    over = f" in {counted(material.sessions, 'session')}" if material.sessions > 1 else ""
    if rest >= 0:
        each = rest / (made.runs + material.speculative)
        yield (
            f"{_duration(passed)} passed{over}: the target ran for {spent}, the rest,"
            f" {_duration(rest)} ({1000 * each:.3g} ms a run), is paramhs, starting programs,"
            " and waiting."
        )
    else:
        busy = material.target_time / passed if passed else 1.0
        yield f"{_duration(passed)} passed{over}; the target ran for {spent}, {busy:.1f} at a time."


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


# Instance by instance.


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
    """On the test set where there is a verdict, else on what the search ran both on."""
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
        material.unsolved[:_NAMED],
        max(len(material.unsolved) - _NAMED, 0),
        figures,
    )


def _paired(material: Material) -> tuple[str, Sequence[Paired]]:
    if material.verdict is not None and material.verdict.paired_runs:
        return f"on {material.verdict.on}", material.verdict.paired_runs
    if material.best == material.default:
        return "", ()
    made = paired_runs(material.history, material.default, material.best)
    return "in the search", made


def _ends(listed: Sequence[Case]) -> list[Case]:
    """Of many, those with the largest gains and the largest losses."""
    if len(listed) <= _CASES:
        return list(listed)
    return [*listed[: _CASES // 2], *listed[-(_CASES // 2) :]]


def _row(case: Case, material: Material) -> Row:
    lost = [
        f"{who} {case.runs - part.solved:,}"
        for who, part in (("default", case.first), ("best", case.second))
        if part.solved < case.runs
    ]
    a, b = case.first.cost, case.second.cost
    better = _better(a, b, material.more_is_better)
    return (case.name, f"{case.runs:,}", short(a), short(b), better, ", ".join(lost))


def _better(a: float, b: float, more: bool) -> str:
    """How many times the second is better; by how much, where there is no ratio."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return ""
    if a > 0 and b > 0:
        return f"{short(b / a if more else a / b)} times"
    return f"{b - a if more else a - b:+.3g}"
