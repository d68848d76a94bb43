"""The paper's figures as SVG, in its colours.

Blue is the l-step, black random with replacement, green without, red harmonic; ParamRLS is solid,
ParamILS dotted; crosses are Cliff's deltas of ParamHS against the operator of that colour, and the
orange ones those of ParamILS with the harmonic step against its default. Marks and dashes differ
too, so that no information depends on colour alone.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from paramhs.theory.bounds import upper_bound
from paramhs.theory.outcomes import Array
from paramhs_paper import published
from paramhs_paper.landscapes import FitnessPoint
from paramhs_paper.points import Delta, Point
from paramhs_paper.random_landscapes import Row
from paramhs_paper.saps.ranking import MIN_PROBABILITY, Costs, five_best
from paramhs_paper.scenarios import HEURISTICS, SCENARIOS, PaperScenario
from paramhs_paper.theorems import Growth

BLUE, BLACK, GREEN, RED, ORANGE = "#1f5fd0", "#000000", "#1a8f2e", "#d4151b", "#e07b00"
WIDTH = 640  # fits a README together with its axis
# The widest font is measured, so that no text is cut off.
FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_SOLID = (1, 0)
_CROSS = "M-1,-1L1,1M-1,1L1,-1"
_MARKS = {
    "circle": "M-0.8,0A0.8,0.8,0,1,1,0.8,0A0.8,0.8,0,1,1,-0.8,0",
    "square": "M-0.8,-0.8L0.8,-0.8L0.8,0.8L-0.8,0.8Z",
    "up": "M-0.9,0.8L0,-0.9L0.9,0.8Z",
    "down": "M-0.9,-0.8L0,0.9L0.9,-0.8Z",
    "right": "M-0.8,-0.9L0.9,0L-0.8,0.9Z",
    "diamond": "M0,-1.1L1,0L0,1.1L-1,0Z",
    "cross": _CROSS,
    "none": "",
}
"""Outlines of the marks. In the legend they lie on a piece of the line."""


class Look(NamedTuple):
    """Style of a series."""

    name: str
    colour: str
    dash: tuple[int, ...]
    mark: str


_LOOKS: dict[tuple[str, int | None], Look] = {
    ("paramrls/l-step", None): Look("ParamRLS, l-step", BLUE, _SOLID, "circle"),
    ("paramrls/l-step", 1): Look("ParamRLS, l-step (l = 1)", BLUE, _SOLID, "circle"),
    ("paramrls/l-step", 2): Look("ParamRLS, l-step (l = 2)", BLUE, (9, 3), "none"),
    ("paramrls/l-step", 3): Look("ParamRLS, l-step (l = 3)", BLUE, (9, 3, 2, 3), "none"),
    ("paramrls/random-with-replacement", None): Look(
        "ParamRLS, random with replacement", BLACK, _SOLID, "square"
    ),
    ("paramrls/random-without-replacement", None): Look(
        "ParamRLS, random without replacement", GREEN, _SOLID, "up"
    ),
    ("paramrls/harmonic", None): Look("ParamHS (ParamRLS, harmonic)", RED, _SOLID, "diamond"),
    ("paramrls/harmonic-both-sides", None): Look("ParamHS, both sides", RED, (9, 3), "none"),
    ("paramils/random", None): Look("ParamILS, random (default)", GREEN, (2, 3), "down"),
    ("paramils/harmonic", None): Look("ParamILS, harmonic", RED, (2, 3), "right"),
}
_ILS_DELTA = Look("delta: ParamILS, harmonic against random", ORANGE, _SOLID, "cross")


def _look(point: Point) -> Look:
    lengths = {curve.length for curve in SCENARIOS[point.scenario].others}
    return _LOOKS[point.curve, point.l if point.l in {1, *lengths} and 2 in lengths else None]


def _chart(rows: Sequence[Mapping[str, Any]]) -> Any:
    # altair copies lists with every step of a chart, but not tuples
    return alt.Chart(alt.Data(values=tuple(rows)))  # type: ignore[no-untyped-call]


def _finished(chart: Any, title: str, *more: str) -> Any:
    heading = alt.TitleParams(
        title, subtitle=list(more), fontSize=14, subtitleFontSize=11, anchor="start", offset=12
    )
    return (
        chart.properties(title=heading, padding=12)
        .configure(font=FONT)
        .configure_legend(
            orient="bottom", columns=2, columnPadding=40, labelLimit=420, labelFontSize=11,
            symbolSize=60, symbolStrokeWidth=1.5, symbolOpacity=1, labelOffset=12, offset=24,
        )
        .configure_axis(labelFontSize=11, titleFontSize=12)
    )  # fmt: skip


class _Channels(NamedTuple):
    """Colour and dash of a series, and a layer that draws only the common legend."""

    colour: Any
    dash: Any
    legend: Any


def _channels(looks: Sequence[Look]) -> _Channels:
    names = [look.name for look in looks]

    def scale(values: Sequence[Any]) -> Any:
        return alt.Scale(domain=names, range=list(values))

    colour = alt.Color("series:N", scale=scale([look.colour for look in looks]), title=None)
    dash = alt.StrokeDash("series:N", scale=scale([list(look.dash) for look in looks]), title=None)
    marks = [f"M-2.8,0L2.8,0{_MARKS[look.mark]}" for look in looks]
    shape = alt.Shape("series:N", scale=scale(marks), title=None)
    nothing = _chart([{"series": name} for name in names]).mark_point(opacity=0)
    return _Channels(colour, dash, nothing.encode(color=colour, strokeDash=dash, shape=shape))


def _marked(base: Any, looks: Sequence[Look]) -> Any:
    """Points with the outline of their series."""
    return alt.layer(
        *(
            base.transform_filter(f"datum.series == {json.dumps(look.name)}").mark_point(
                shape=_MARKS[look.mark], size=30, filled=False, strokeWidth=1.4, opacity=1
            )
            for look in looks
            if look.mark not in ("none", "cross")
        )
    )


def fitness_figure(points: Sequence[FitnessPoint]) -> Any:
    """Figure 1 of a heuristic: exact mean final fitness and published means, with their gaps."""
    scenario = HEURISTICS[points[0].scenario]
    rows = []
    for p in points:
        gap = None if p.published is None else p.published - p.exact_mean
        error = p.exact_sd / published.LANDSCAPE_RUNS**0.5
        row = {"value": p.value, "exact": p.exact_mean, "published": p.published, "gap": gap}
        for name, middle in (("", p.published), ("gap_", gap)):
            row[f"{name}low"] = None if middle is None else middle - error
            row[f"{name}high"] = None if middle is None else middle + error
        rows.append(row)
    base = _chart(rows).encode(x=alt.X("value:Q", title=scenario.symbol))
    fitness = alt.Y("exact:Q", title="mean final fitness", scale=alt.Scale(zero=False))
    best = _chart([{"value": scenario.values[scenario.optimum]}]).encode(x="value:Q")
    rule = best.mark_rule(strokeDash=[4, 4], color="grey")
    cross = {"shape": _CROSS, "color": RED, "size": 20, "strokeWidth": 1.5}
    above = (
        rule
        + base.mark_line(color=BLUE).encode(y=fitness)
        + base.mark_rule(color=RED).encode(y="low:Q", y2="high:Q")
        + base.mark_point(**cross).encode(y="published:Q")
    )
    zero = _chart([{"gap": 0}]).mark_rule(color=BLUE).encode(y="gap:Q")
    below = (
        zero
        + base.mark_rule(color=RED).encode(
            y=alt.Y("gap_low:Q", title="published - exact"), y2="gap_high:Q"
        )
        + base.mark_point(**cross).encode(y="gap:Q")
    )
    panels = alt.vconcat(
        above.properties(width=WIDTH, height=260), below.properties(width=WIDTH, height=140)
    )
    return _finished(
        panels,
        f"{scenario.title}: exact (blue) and published (red crosses ± standard error)",
        "below: the difference; dashed: the best value",
    )


def calls_figure(points: Sequence[Point], deltas: Sequence[Delta]) -> Any:
    """Figure 2 of a scenario: calls above, Cliff's deltas below."""
    scenario = SCENARIOS[points[0].scenario]
    drawn = [p for p in points if p.l is not None or _is_main(scenario, p)]
    looks = list(dict.fromkeys(_look(p) for p in drawn))
    has_deltas = any(d.published is not None for d in deltas)
    channels = _channels([*looks, _ILS_DELTA] if has_deltas else looks)
    panels = [_calls_panel(scenario, drawn, channels)]
    if has_deltas:
        panels.append(_deltas_panel(scenario, deltas, drawn, channels))
    words = ["lines: ours; marks: published, ± standard error"]
    if any(p.never for p in drawn):
        words.append("means are given that the search ends: the l-step may be trapped for ever")
    elif scenario.fresh_runs is not None:
        words.append("(ParamRLS without replacement and ParamILS random have the same exact curve)")
    if has_deltas:
        words.append(
            "below, Cliff's delta of harmonic against the others; lines: ours, crosses: published"
        )
    best = "the optimum" if scenario.fresh_runs else "one of the five best"
    title = f"{scenario.title}: calls until {best} is sampled"
    return _finished(alt.vconcat(*panels), title, *words)


def _is_main(scenario: PaperScenario, point: Point) -> bool:
    """Whether a point belongs to a curve in our main reading of the paper."""
    return any((c.name, c.ties) == (point.curve, point.ties) for c in scenario.curves)


def _sizes(scenario: PaperScenario) -> Any:
    low, high = scenario.sizes[0], scenario.sizes[-1]
    margin = (high - low) / 40
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False)
    return alt.X("size:Q", title=f"number of {scenario.unit}", scale=scale)


def _calls_panel(scenario: PaperScenario, points: Sequence[Point], channels: _Channels) -> Any:
    rows = [_calls_row(scenario, point) for point in points]
    heights = [x for row in rows for x in (row["mean"], row["low"], row["high"]) if x]
    scale = alt.Scale(type="log", domain=[0.9 * min(heights), 1.1 * max(heights)], nice=False)
    base = _chart(rows).encode(x=_sizes(scenario), color=channels.colour)
    own = base.transform_filter("isValid(datum.published) && datum.own")
    calls = alt.Y("mean:Q", scale=scale, title="mean calls to better")
    lines = base.mark_line(strokeWidth=1.7).encode(y=calls, strokeDash=channels.dash)
    bars = own.mark_rule(strokeWidth=1.2).encode(y="low:Q", y2="high:Q")
    marks = _marked(own.encode(y="published:Q"), list(dict.fromkeys(map(_look, points))))
    layers = lines + bars + marks + channels.legend
    return layers.properties(width=WIDTH, height=380)


def _calls_row(scenario: PaperScenario, point: Point) -> dict[str, Any]:
    """Row of a chart; a published mean shown twice is drawn once."""
    operator = point.operator.removesuffix("-both-sides")
    key = (scenario.published, point.configurator, operator, point.size)
    there, error = point.published, (point.sd or 0.0) / published.repetitions(*key) ** 0.5
    return {
        "series": _look(point).name,
        "size": point.size,
        "mean": point.mean,
        "published": there,
        "own": operator == point.operator and point.l in (None, scenario.length),
        "low": None if there is None else max(there - error, 0.1),
        "high": None if there is None else there + error,
    }


def _deltas_panel(
    scenario: PaperScenario, deltas: Sequence[Delta], points: Sequence[Point], channels: _Channels
) -> Any:
    names = {p.curve: _look(p).name for p in reversed(points) if p.l in (None, scenario.length)}
    names["paramils/random"] = _ILS_DELTA.name
    rows = [
        {"size": d.size, "series": names[d.second], "ours": d.ours, "published": d.published}
        for d in deltas
    ]
    least = min(d.ours for d in deltas if d.ours is not None)
    scale = alt.Scale(domain=[min(math.floor(5 * least) / 5, -0.2), 1])
    y = alt.Y("ours:Q", title="Cliff's delta", scale=scale)
    base = _chart(rows).encode(x=_sizes(scenario), color=channels.colour)
    lines = base.mark_line(strokeWidth=1.2).encode(y=y)
    crosses = base.transform_filter("isValid(datum.published)").mark_point(
        shape=_CROSS, size=26, strokeWidth=2, filled=False, opacity=1
    )
    return (lines + crosses.encode(y="published:Q")).properties(width=WIDTH, height=190)


_ALPHAS = 5  # alphas in the close-up
_STAR = (
    "M0,-1L0.23,-0.31L0.95,-0.31L0.36,0.12L0.59,0.81L0,0.38L-0.59,0.81L-0.36,0.12"
    "L-0.95,-0.31L-0.23,-0.31Z"
)


def settings_figure(costs: Costs, chance: Array, alphas: Sequence[int], title: str) -> Any:
    """Figure 1 of SAPS: heat map with the five best, and a close-up with their uncertainty."""
    best = five_best(costs.mean)
    rows = [
        {
            "alpha": alphas[alpha],
            "rho": rho,
            "cost": float(costs.mean[alpha, rho]),
            "percent": _percent(float(chance[alpha, rho])),
            "best": alpha * costs.mean.shape[1] + rho in best,
            "possible": float(chance[alpha, rho]) >= MIN_PROBABILITY,
        }
        for alpha, rho in np.ndindex(*costs.mean.shape)
    ]
    near = [row for row in rows if row["alpha"] in alphas[:_ALPHAS]]
    upright = {"x": _axis("x", "alpha"), "y": _axis("y", "rho", "descending")}
    lying = {"x": _axis("x", "rho"), "y": _axis("y", "alpha", "descending")}
    rings = {"shape": "circle", "color": "black", "size": 140}
    whole = (
        _heat(rows, upright)
        + _chart([row for row in rows if row["possible"]]).mark_point(**rings).encode(**upright)
        + _chart([row for row in rows if row["best"]])
        .mark_point(shape=_STAR, filled=True, color="black", size=70)
        .encode(**upright)
    ).properties(width=WIDTH - 40, height=300)
    close = _heat(near, lying) + _chart(near).mark_text(fontSize=11).encode(
        **lying, text=alt.Text("percent:N")
    )
    words = f"chance in % of being among the five best, alpha up to {alphas[:_ALPHAS][-1]}/15"
    panels = alt.vconcat(whole, close.properties(width=WIDTH - 40, height=130, title=words))
    return _finished(
        panels.resolve_scale(color="independent"),
        title,
        "star: the five best; ring: may be one of them (5 %)",
    )


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f}" if chance >= MIN_PROBABILITY / 5 else ""


def _axis(channel: str, name: str, sort: str = "ascending") -> Any:
    kind = alt.X if channel == "x" else alt.Y
    return kind(f"{name}:O", title=f"{name}, in fifteenths", sort=sort, axis=alt.Axis(labelAngle=0))


def _heat(rows: Sequence[Mapping[str, Any]], axes: Mapping[str, Any]) -> Any:
    scale = alt.Scale(scheme="viridis", reverse=True)
    legend = alt.Legend(orient="right", gradientLength=120)
    colour = alt.Color("cost:Q", title="cost", scale=scale, legend=legend)
    return _chart(rows).mark_rect().encode(**axes, color=colour)


def growth_figure(rows: Sequence[Growth]) -> Any:
    """Calls against the number of values, on a landscape with one valley."""
    curves: dict[Look, Callable[[Growth], float]] = {
        Look("1-step", BLUE, _SOLID, "circle"): lambda row: row.l_step,
        Look("random, with replacement", BLACK, (6, 3), "square"): lambda row: row.uniform,
        Look("random, without replacement", GREEN, _SOLID, "up"): lambda row: (
            row.uniform_without_replacement
        ),
        Look("harmonic", RED, _SOLID, "diamond"): lambda row: row.harmonic,
        Look("Theorem 4's bound on harmonic", RED, (6, 3), "down"): lambda row: upper_bound(
            row.levels, 1, 1
        ),
    }
    points = [
        {
            "values": row.levels,
            "calls": calls(row),
            "series": look.name,
        }
        for look, calls in curves.items()
        for row in rows
    ]
    channels = _channels(list(curves))
    axis = alt.Axis(values=[row.levels for row in rows], format=",")
    scale = alt.Scale(type="log", nice=False)
    base = _chart(points).encode(
        x=alt.X("values:Q", scale=scale, title="number of values", axis=axis),
        y=alt.Y("calls:Q", scale=alt.Scale(type="log"), title="exact mean calls"),
        color=channels.colour,
    )
    lines = base.mark_line().encode(strokeDash=channels.dash)
    chart = (lines + _marked(base, list(curves)) + channels.legend).properties(
        width=WIDTH, height=360
    )
    return _finished(chart, "Calls on a landscape with one valley")


def looseness_figure(rows: Sequence[Row]) -> Any:
    """Ratio of Theorem 4's bound to the exact number of calls."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    colours = (BLUE, BLACK, GREEN, RED, ORANGE, "#7a3fb0", "#8a6d3b", "#777777")
    marks = [mark for mark in _MARKS if mark != "none"]
    shapes = [_MARKS[marks[i % len(marks)]] for i in range(len(kinds))]
    points = [{"kind": row.kind, "values": row.levels, "ratio": row.upper_ratio} for row in rows]
    scales = [alt.Scale(domain=kinds, range=list(x)) for x in (colours[: len(kinds)], shapes)]
    chart = (
        _chart(points)
        .mark_point(opacity=0.7, size=22, filled=False)
        .encode(
            x=alt.X("values:O", title="number of values", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("kind:N", sort=kinds),
            y=alt.Y("ratio:Q", scale=alt.Scale(type="log"), title="bound / exact calls"),
            color=alt.Color("kind:N", scale=scales[0], title=None),
            shape=alt.Shape("kind:N", scale=scales[1], title=None),
        )
    )
    title = "Theorem 4: upper bound over exact calls (never below 1)"
    return _finished(chart.properties(width=WIDTH, height=320), title)
