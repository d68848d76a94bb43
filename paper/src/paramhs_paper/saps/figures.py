"""The figures of the SAPS scenario."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from paramhs.results.landscape.outcomes import Array
from paramhs_paper import published
from paramhs_paper.figures import (
    COLOURS,
    DASHES,
    LEGEND,
    NAMES,
    SHAPES,
    chart_of,
)
from paramhs_paper.saps.ranking import POSSIBLE, Costs, five_best
from paramhs_paper.saps.tuning import CURVES, RARE, Point

_NEAR = 5  # alphas in the close-up
_STAR = (
    "M0,-1L0.23,-0.31L0.95,-0.31L0.36,0.12L0.59,0.81L0,0.38L-0.59,0.81L-0.36,0.12"
    "L-0.95,-0.31L-0.23,-0.31Z"
)


_USED = [NAMES[curve.name] for curve in CURVES]


def _scale(values: Sequence[Any]) -> alt.Scale:
    """As in the other figures, for the curves of this one."""
    used = dict(zip(NAMES.values(), values, strict=True))
    return alt.Scale(domain=_USED, range=[used[name] for name in _USED])


def landscape_figure(costs: Costs, chance: Array, alphas: Sequence[int], title: str) -> Any:
    """Figure 1: the heat map with the five best, and a close-up with their uncertainty."""
    best = five_best(costs.mean)
    rows = [
        {
            "alpha": alphas[alpha],
            "rho": rho,
            "cost": float(costs.mean[alpha, rho]),
            "error": float(costs.error[alpha, rho]),
            "chance": float(chance[alpha, rho]),
            "percent": _percent(float(chance[alpha, rho])),
            "best": alpha * costs.mean.shape[1] + rho in best,
        }
        for alpha, rho in np.ndindex(*costs.mean.shape)
    ]
    near = [row for row in rows if row["alpha"] in alphas[:_NEAR]]
    text = alt.Text("percent:N")
    close = _heat(near, 200) + chart_of(near).mark_text(fontSize=9).encode(**_axes(), text=text)
    whole = _heat(rows, 560) + _marks(rows)
    words = f"chance in % of being among the five best, alpha up to {alphas[:_NEAR][-1]}/15"
    return alt.hconcat(
        whole.properties(title=[title, "star: the five best; circle: may be one of them (5 %)"]),
        (close + _marks(near, 90)).properties(title=words),
    ).resolve_scale(color="independent")


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f}" if chance >= POSSIBLE / 5 else ""


def _axes() -> dict[str, Any]:
    axis = alt.Axis(labelAngle=0)
    return {
        "x": alt.X("alpha:O", title="alpha, in fifteenths", axis=axis),
        "y": alt.Y("rho:O", title="rho, in fifteenths", sort="descending"),
    }


def _heat(rows: Sequence[dict[str, Any]], width: int) -> Any:
    colour = alt.Color("cost:Q", title="cost", scale=alt.Scale(scheme="viridis", reverse=True))
    tip = [
        "alpha:O",
        "rho:O",
        alt.Tooltip("cost:Q", format=".3f"),
        alt.Tooltip("error:Q", format=".3f"),
    ]
    cells = chart_of(rows).mark_rect().encode(**_axes(), color=colour, tooltip=[*tip, "chance:Q"])
    return cells.properties(width=width, height=320)


def _marks(rows: Sequence[dict[str, Any]], size: int = 70) -> Any:
    ring = chart_of([row for row in rows if row["chance"] >= POSSIBLE])
    star = chart_of([row for row in rows if row["best"]])
    circles = ring.mark_point(shape="circle", color="black", size=size * 2).encode(**_axes())
    stars = star.mark_point(shape=_STAR, filled=True, color="black", size=size)
    return circles + stars.encode(**_axes()) if size < 90 else circles


def calls_figure(points: Sequence[Point], title: str) -> Any:
    """Figure 2: exact or searched curves, published means with their standard errors."""
    rows = [_row(point) for point in points]
    base = chart_of(rows).encode(x=_sizes(points))
    colour = alt.Color("curve:N", scale=_scale(COLOURS), title=None, legend=LEGEND)
    dash = alt.StrokeDash("curve:N", scale=_scale(DASHES), title=None, legend=LEGEND)
    heights = [x for p in points for x in (p.mean, p.published) if x]
    scale = alt.Scale(type="log", domain=[0.9 * min(heights), 1.1 * max(heights)], nice=False)
    y = alt.Y("mean:Q", scale=scale, title="calls until a target is sampled")
    tip = ["curve:N", "size:Q", alt.Tooltip("mean:Q", format=".2f"), "published:Q", "never:Q"]
    lines = base.mark_line().encode(y=y, color=colour, strokeDash=dash, tooltip=tip)
    seen = base.transform_filter("isValid(datum.published) && datum.own")
    shape = alt.Shape("curve:N", scale=_scale(SHAPES), title=None, legend=LEGEND)
    marks = seen.mark_point(size=40).encode(y="published:Q", color=colour, shape=shape, tooltip=tip)
    bars = seen.mark_rule().encode(y="low:Q", y2="high:Q", color=colour)
    never = max(point.never or 0.0 for point in points)
    words = [title, "lines: ours, given that the search ends; marks: published ± standard error"]
    words += [f"(the l-step is trapped for ever with probability up to {never:.2f})"] * (never > 0)
    return (lines + bars + marks).properties(width=640, height=420, title=words)


def _sizes(points: Sequence[Point]) -> alt.X:
    sizes = [point.size for point in points]
    scale = alt.Scale(domain=[min(sizes) - 8, max(sizes) + 8], nice=False)
    return alt.X("size:Q", title="number of settings", scale=scale)


def _row(point: Point) -> dict[str, Any]:
    sd = (point.searched_sd if point.exact_sd is None else point.exact_sd) or 0.0
    key = ("saps", point.configurator, point.operator, point.size)
    error = sd / published.repetitions(*key) ** 0.5
    there = point.published
    return {
        "curve": NAMES[f"{point.configurator}/{point.operator}"],
        "size": point.size,
        "mean": point.mean,
        "never": point.never,
        "published": there,
        "own": point.operator != "harmonic-both-sides",
        "low": None if there is None else max(there - error, 0.1),
        "high": None if there is None else there + error,
        "choice": f"{point.smoothing}, {point.aggregation}, {point.quality}",
        "runs": "the table" if point.runs is None else f"r = {point.runs:,}",
        "order": point.runs or 10**6,
    }


def choices_figure(points: Sequence[Point]) -> Any:
    """The curves for every choice of table, one panel a curve, published means in black."""
    rows = [_row(point) for point in points]
    base = chart_of(rows).encode(x=alt.X("size:Q", title="settings"))
    y = alt.Y("mean:Q", title="mean calls")
    lines = base.mark_line().encode(
        y=y,
        color=alt.Color("choice:N", title=None, legend=LEGEND),
        strokeDash=alt.StrokeDash("choice:N", title=None, legend=LEGEND),
    )
    marks = base.mark_point(color="black", size=14).encode(y="published:Q")
    panel = (lines + marks).properties(width=260, height=200)
    facet = panel.facet(alt.Facet("curve:N", title=None, sort=list(NAMES.values())), columns=3)
    title = "SAPS: each choice of table (lines, given that the search ends) and published (points)"
    return facet.resolve_scale(y="independent").properties(title=title)


def runs_figure(points: Sequence[Point]) -> Any:
    """Comparisons of fresh runs against comparisons of table entries."""
    rows = [_row(point) for point in points]
    heights = [point.mean for point in points if point.mean]
    scale = alt.Scale(type="log", domain=[0.9 * min(heights), min(1.1 * max(heights), RARE)])
    panel = chart_of(rows).mark_line(point={"clip": True}, clip=True)
    return panel.encode(
        x=alt.X("size:Q", title="settings"),
        y=alt.Y("mean:Q", scale=scale, title="mean calls, given that it ends"),
        color=alt.Color("curve:N", scale=_scale(COLOURS), title=None, legend=LEGEND),
        strokeDash=alt.StrokeDash("curve:N", scale=_scale(DASHES), title=None, legend=LEGEND),
        column=alt.Column("runs:N", sort=alt.SortField("order"), title=None),
    ).properties(width=200, height=300, title="SAPS: fresh runs in a comparison, or the table")
