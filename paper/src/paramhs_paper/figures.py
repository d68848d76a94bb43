"""The paper's figures, drawn: interactive pages that work offline, and SVG.

Curves differ in colour, dash and mark, so they can be told apart without colour; the colours are
those of Okabe and Ito, made for all kinds of colour vision.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from paramhs.results.landscape.bounds import upper_bound
from paramhs.results.landscape.growth import Growth
from paramhs.results.landscape.study import Row
from paramhs_paper.published import repetitions
from paramhs_paper.scenarios import SCENARIOS
from paramhs_paper.tables import CallsPoint, DeltaPoint, LandscapePoint

NAMES = {
    "paramrls/l-step": "ParamRLS, l-step",
    "paramrls/random-with-replacement": "ParamRLS, random (with replacement)",
    "paramrls/random-without-replacement": "ParamRLS, random (without)",
    "paramrls/harmonic": "ParamHS: ParamRLS, harmonic",
    "paramrls/harmonic-both-sides": "ParamHS, both sides",
    "paramils/random": "ParamILS, random",
    "paramils/harmonic": "ParamILS, harmonic",
}
LEGEND = alt.Legend(labelLimit=320)
COLOURS = ["#D55E00", "#0072B2", "#56B4E9", "#009E73", "#8FBC5A", "#CC79A7", "#000000"]
DASHES = [[1, 0], [6, 3], [2, 2], [10, 2], [6, 2, 2, 2], [4, 4], [12, 3, 3, 3]]
SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "stroke", "cross"]


def curve_scale(values: Sequence[Any]) -> alt.Scale:
    """A colour, dash or shape for each curve."""
    return alt.Scale(domain=list(NAMES.values()), range=list(values))


def chart_of(rows: Sequence[dict[str, Any]]) -> Any:
    """A chart of these rows."""
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]


def landscape_figure(points: Sequence[LandscapePoint]) -> Any:
    """Figure 1: exact mean final fitness, published means on top."""
    scenario = SCENARIOS[points[0].scenario]
    rows = [{"value": p.value, "exact": p.exact_mean, "published": p.published} for p in points]
    x = alt.X("value:Q", title=scenario.symbol)
    base = chart_of(rows)
    exact = base.mark_line(color="#0072B2").encode(
        x=x, y=alt.Y("exact:Q", title="mean final fitness", scale=alt.Scale(zero=False))
    )
    marks = base.mark_point(color="#D55E00", shape="cross", size=60).encode(
        x=x,
        y="published:Q",
        tooltip=["value:Q", "published:Q", alt.Tooltip("exact:Q", format=".4f")],
    )
    best = chart_of([{"value": scenario.values[scenario.optimum]}])
    rule = best.mark_rule(strokeDash=[4, 4], color="grey").encode(x="value:Q")
    title = f"{scenario.title}: exact (line) and published (crosses, 10,000 runs)"
    return (rule + exact + marks).properties(width=560, height=320, title=title)


def calls_figure(points: Sequence[CallsPoint], deltas: Sequence[DeltaPoint]) -> Any:
    """Figure 2: exact curves, published means with their standard errors, Cliff's deltas."""
    scenario = SCENARIOS[points[0].scenario]
    rows = [_calls_row(point) for point in points]
    base = chart_of(rows).encode(
        x=alt.X("size:Q", title="number of values", scale=alt.Scale(domain=[3, 52]))
    )
    colour = alt.Color("curve:N", scale=curve_scale(COLOURS), title=None, legend=LEGEND)
    y = alt.Y("exact:Q", scale=alt.Scale(type="log"), title="calls until the optimum is sampled")
    lines = base.mark_line().encode(
        y=y,
        color=colour,
        strokeDash=alt.StrokeDash("curve:N", scale=curve_scale(DASHES), title=None, legend=LEGEND),
        tooltip=["curve:N", "size:Q", alt.Tooltip("exact:Q", format=".2f")],
    )
    shape = alt.Shape("curve:N", scale=curve_scale(SHAPES), title=None)
    seen = base.transform_filter("isValid(datum.published) && datum.own")
    marks = seen.mark_point(size=45, filled=False).encode(
        y="published:Q", color=colour, shape=shape, tooltip=["curve:N", "size:Q", "published:Q"]
    )
    bars = seen.mark_rule().encode(y="low:Q", y2="high:Q", color=colour)
    calls = lines + bars + marks
    same = "(ParamRLS without replacement and ParamILS random have the same exact curve)"
    if all(point.published is None for point in points):  # it was for another number of runs
        words = [f"{scenario.title}: exact curves", same]
        return lines.properties(width=640, height=420, title=words)
    title = [
        f"{scenario.title}: exact curves, published means ± standard error",
        "filled marks (right axis): published Cliff's delta of harmonic against the curve with"
        " that mark",
        same,
    ]
    chart = alt.layer(calls, _crosses(deltas)).resolve_scale(
        y="independent", color="independent", shape="independent"
    )
    return chart.properties(width=640, height=420, title=title)


def _calls_row(point: CallsPoint) -> dict[str, Any]:
    key = (point.scenario, point.configurator, point.operator, point.size)
    error = point.exact_sd / repetitions(*key) ** 0.5
    there = point.published
    return {
        "curve": NAMES[f"{point.configurator}/{point.operator}"],
        "size": point.size,
        "exact": point.exact_mean,
        "published": there,
        "own": point.operator != "harmonic-both-sides",
        "low": None if there is None else max(there - error, 0.1),
        "high": None if there is None else there + error,
    }


def _crosses(deltas: Sequence[DeltaPoint]) -> Any:
    rows = [
        {"size": d.size, "delta": d.published, "curve": NAMES[d.second], "exact": d.exact}
        for d in deltas
        if d.published is not None
    ]
    y = alt.Y("delta:Q", scale=alt.Scale(domain=[0, 1]), title="Cliff's delta")
    return (
        chart_of(rows)
        .mark_point(size=30, opacity=0.7, filled=True)
        .encode(
            x="size:Q",
            y=y,
            color=alt.Color("curve:N", scale=curve_scale(COLOURS), legend=None),
            shape=alt.Shape("curve:N", scale=curve_scale(SHAPES), legend=None),
            tooltip=["curve:N", "size:Q", "delta:Q", alt.Tooltip("exact:Q", format=".3f")],
        )
    )


def runs_figure(points: Mapping[int, Sequence[CallsPoint]]) -> Any:
    """The same curves for several numbers of runs in a comparison, side by side."""
    rows = [
        {"runs": f"r = {runs:,}", "order": runs, **_calls_row(point)}
        for runs, of_runs in points.items()
        for point in of_runs
    ]
    scenario = SCENARIOS[next(iter(points.values()))[0].scenario]
    panel = (
        chart_of(rows)
        .mark_line(point=True)
        .encode(
            x=alt.X("size:Q", title="number of values"),
            y=alt.Y("exact:Q", scale=alt.Scale(type="log"), title="exact mean calls"),
            color=alt.Color("curve:N", scale=curve_scale(COLOURS), title=None, legend=LEGEND),
            strokeDash=alt.StrokeDash(
                "curve:N", scale=curve_scale(DASHES), title=None, legend=LEGEND
            ),
            column=alt.Column("runs:N", sort=alt.SortField("order"), title=None),
        )
    )
    title = f"{scenario.title}: runs in a comparison"
    return panel.properties(width=220, height=300, title=title)


def growth_figure(rows: Sequence[Growth]) -> Any:
    """Calls against the number of values, on a landscape with one valley."""
    curves: dict[str, Callable[[Growth], float]] = {
        "1-step": lambda row: row.l_step,
        "random, with replacement": lambda row: row.uniform,
        "random, without replacement": lambda row: row.uniform_without_replacement,
        "harmonic": lambda row: row.harmonic,
        "Theorem 4's bound on harmonic": lambda row: upper_bound(row.levels, 1, 1),
    }
    points = [
        {"values": row.levels, "calls": calls(row), "curve": name}
        for name, calls in curves.items()
        for row in rows
    ]
    names = alt.Scale(domain=list(curves), range=COLOURS[: len(curves)])
    dashes = alt.Scale(domain=list(curves), range=DASHES[: len(curves)])
    chart = chart_of(points).mark_line(point=True)
    return chart.encode(
        x=alt.X(
            "values:Q",
            scale=alt.Scale(type="log"),
            title="number of values",
            axis=alt.Axis(values=[row.levels for row in rows]),
        ),
        y=alt.Y("calls:Q", scale=alt.Scale(type="log"), title="exact mean calls"),
        color=alt.Color("curve:N", scale=names, title=None, legend=LEGEND),
        strokeDash=alt.StrokeDash("curve:N", scale=dashes, title=None),
        tooltip=["curve:N", "values:Q", alt.Tooltip("calls:Q", format=",.1f")],
    ).properties(width=520, height=380, title="Calls on a landscape with one valley")


def looseness_figure(rows: Sequence[Row]) -> Any:
    """How far Theorem 4's bound is above the exact number of calls."""
    points = [
        {
            "kind": row.kind,
            "values": row.levels,
            "ratio": row.upper_ratio,
            "alpha": float(row.alpha),
        }
        for row in rows
    ]
    chart = chart_of(points).mark_point(opacity=0.6)
    return chart.encode(
        x=alt.X("values:O", title="number of values"),
        xOffset="kind:N",
        y=alt.Y("ratio:Q", scale=alt.Scale(type="log"), title="bound / exact calls"),
        color=alt.Color("kind:N", title=None, legend=LEGEND),
        shape=alt.Shape("kind:N", title=None),
        tooltip=["kind:N", "values:O", alt.Tooltip("ratio:Q", format=".2f"), "alpha:Q"],
    ).properties(
        width=560, height=340, title="Theorem 4: upper bound over exact calls (never below 1)"
    )
