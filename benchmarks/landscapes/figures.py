"""Figures of the page, as SVG."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from benchmarks.landscapes.tables import Measured

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
INK, MUTED, RULE = "#1d2733", "#66717d", "#d5dae0"
COLOURS = {
    "no effect": "#8b949e",
    "flat": "#8b949e",
    "unimodal": "#1f6fb5",
    "approximately unimodal": "#c77700",
    "neither": "#c22f2f",
}
_COLUMNS, _WIDTH, _HEIGHT = 7, 128, 96
_PLOT_WIDTH, _PLOT_HEIGHT, _TOP = 112, 58, 22
_LEAST_RANGE = 0.08  # of an axis of costs, so that what is flat looks flat
_LEFT = 14


class Panel(NamedTuple):
    """A landscape and what is said of it."""

    measured: Measured
    kind: str
    default: float | None
    """Position of the default on the axis of values, counted from 0."""


def small_multiples(groups: Mapping[str, Sequence[Panel]]) -> str:
    """One small picture for each parameter, grouped by solver."""
    parts, top = list(_legend()), 44.0
    for title, panels in groups.items():
        parts.append(_text(_LEFT, top + 12, title, 13, INK, weight="bold"))
        top += 20
        for k, panel in enumerate(panels):
            x = _LEFT + (k % _COLUMNS) * _WIDTH
            parts.append(_panel(panel, x, top + (k // _COLUMNS) * _HEIGHT))
        top += math.ceil(len(panels) / _COLUMNS) * _HEIGHT + 8
    return _svg(_LEFT * 2 + _COLUMNS * _WIDTH - 16, top, parts)


def _legend() -> Iterator[str]:
    x = float(_LEFT)
    shown = [
        ("no effect, or flat", "flat"),
        *((k, k) for k in COLOURS if "flat" != k != "no effect"),
    ]
    for name, kind in shown:
        yield f'<rect x="{x}" y="13" width="16" height="5" rx="2" fill="{COLOURS[kind]}"/>'
        yield _text(x + 21, 19, name, 11, INK)
        x += 38 + 6.6 * len(name)
    yield f'<circle cx="{x + 4}" cy="16" r="3.2" fill="{INK}"/>'
    yield _text(x + 13, 19, "best", 11, INK)
    yield f'<circle cx="{x + 60}" cy="16" r="3.2" fill="white" stroke="{INK}" stroke-width="1.2"/>'
    yield _text(x + 69, 19, "default", 11, INK)
    yield _text(
        _LEFT,
        36,
        "Mean work relative to the default (line at 1) over the values of a parameter;"
        " band: two standard errors.",
        10.5,
        MUTED,
    )


def _panel(panel: Panel, left: float, top: float) -> str:
    one, colour = panel.measured, COLOURS[panel.kind]
    costs, errors = one.costs, one.errors
    low, high = float((costs - 2 * errors).min()), float((costs + 2 * errors).max())
    low, high = min(low, float(costs.min())), max(high, float(costs.max()))
    spare = max(_LEAST_RANGE - (high - low), 0) / 2
    low, high = low - spare, high + spare

    def x(k: float) -> float:
        return left + k / (len(costs) - 1) * _PLOT_WIDTH

    def y(cost: float) -> float:
        return top + _TOP + _PLOT_HEIGHT * (1 - (cost - low) / (high - low))

    upper = [
        f"{x(k):.1f},{y(c + 2 * e):.1f}" for k, (c, e) in enumerate(zip(costs, errors, strict=True))
    ]
    lower = [
        f"{x(k):.1f},{y(c - 2 * e):.1f}" for k, (c, e) in enumerate(zip(costs, errors, strict=True))
    ]
    line = [f"{x(k):.1f},{y(c):.1f}" for k, c in enumerate(costs)]
    best = int(costs.argmin())
    parts = [
        f'<rect x="{left}" y="{top + _TOP}" width="{_PLOT_WIDTH}" height="{_PLOT_HEIGHT}"'
        f' fill="#f7f8fa" stroke="none"/>',
        f'<polygon points="{" ".join([*upper, *reversed(lower)])}" fill="{colour}" opacity="0.2"/>',
        f'<polyline points="{" ".join(line)}" fill="none" stroke="{colour}" stroke-width="1.6"'
        ' stroke-linejoin="round"/>',
    ]
    if low <= 1 <= high:
        parts.insert(
            1,
            f'<line x1="{left}" x2="{left + _PLOT_WIDTH}" y1="{y(1):.1f}" y2="{y(1):.1f}"'
            f' stroke="{MUTED}" stroke-width="0.7" stroke-dasharray="3 2"/>',
        )
    if panel.default is not None and low <= 1 <= high:
        parts.append(
            f'<circle cx="{x(panel.default):.1f}" cy="{y(1):.1f}" r="2.9" fill="white"'
            f' stroke="{INK}" stroke-width="1.1"/>'
        )
    if panel.kind != "no effect":
        parts.append(f'<circle cx="{x(best):.1f}" cy="{y(costs[best]):.1f}" r="2.9" fill="{INK}"/>')
    name = one.parameter if len(one.parameter) <= 21 else "…" + one.parameter[-20:]
    parts.append(_text(left, top + 10, name, 9.5, INK))
    numbers = f"{costs.min():.2f} to {costs.max():.2f}"
    parts.append(_text(left, top + 19.5, numbers, 8, MUTED))
    return "".join(parts)


class Dot(NamedTuple):
    """A mean with its standard error."""

    series: str
    row: str
    mean: float
    error: float


class Axis(NamedTuple):
    """A logarithmic axis."""

    low: float
    high: float
    ticks: Sequence[float]

    def share(self, value: float) -> float:
        """Where a value lies, as a part of the axis; its end if it lies outside."""
        clipped = min(max(value, self.low), self.high)
        return math.log(clipped / self.low) / math.log(self.high / self.low)


_SERIES_COLOURS = ("#1d2733", "#1f6fb5", "#c77700", "#c22f2f")
_LABEL, _DOTS_WIDTH, _ROW, _GAP, _DOTS_TOP = 158, 210, 24, 22, 66


def dots(
    columns: Mapping[str, Sequence[Dot]],
    rows: Sequence[str],
    series: Sequence[str],
    axis: Axis,
    title: str,
) -> str:
    """Means with two standard errors by row, one column of plots for each kind."""
    colours = dict(zip(series, _SERIES_COLOURS, strict=False))
    parts = [_text(_LEFT, 20, title, 12, INK, weight="bold"), *_keys(colours)]
    for n, row in enumerate(rows):
        parts.append(_text(_LABEL - 8, _DOTS_TOP + n * _ROW + 16, row, 11, INK, anchor="end"))
    for c, (name, some) in enumerate(columns.items()):
        left = _LABEL + c * (_DOTS_WIDTH + _GAP)
        parts.append(_text(left, _DOTS_TOP - 6, name, 11, INK, weight="bold"))
        parts += _ground(len(rows), left, axis)
        parts += (_dot(dot, rows.index(dot.row), colours, left, axis) for dot in some)
    total = _LABEL + len(columns) * (_DOTS_WIDTH + _GAP)
    return _svg(total, _DOTS_TOP + len(rows) * _ROW + 40, parts)


def _keys(colours: Mapping[str, str]) -> Iterator[str]:
    x = float(_LEFT)
    for name, colour in colours.items():
        yield f'<circle cx="{x + 4}" cy="37" r="3.6" fill="{colour}"/>'
        yield _text(x + 13, 41, name, 11, INK)
        x += 30 + 6.6 * len(name)


def _ground(rows: int, left: float, axis: Axis) -> Iterator[str]:
    bottom = _DOTS_TOP + rows * _ROW
    for n in range(0, rows, 2):
        y = _DOTS_TOP + n * _ROW
        yield f'<rect x="{left}" y="{y}" width="{_DOTS_WIDTH}" height="{_ROW}" fill="#f4f6f8"/>'
    for tick in axis.ticks:
        if axis.low <= tick <= axis.high:
            x = left + _DOTS_WIDTH * axis.share(tick)
            yield (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_DOTS_TOP}" y2="{bottom}"'
                f' stroke="{MUTED if tick == 1 else RULE}" stroke-width="1"/>'
            )
            yield _text(x, bottom + 14, f"{tick:g}", 10, MUTED, anchor="middle")


def _dot(dot: Dot, row: int, colours: Mapping[str, str], left: float, axis: Axis) -> str:
    place = (list(colours).index(dot.series) + 1) / (len(colours) + 1)
    y, colour = _DOTS_TOP + _ROW * (row + place), colours[dot.series]
    low, x, high = (left + _DOTS_WIDTH * axis.share(dot.mean + k * dot.error) for k in (-2, 0, 2))
    return (
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
        f' stroke="{colour}" stroke-width="1.2"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    colour: str,
    *,
    anchor: str = "start",
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
        f' font-weight="{weight}">{escape(text)}</text>'
    )


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}">'
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>{"".join(parts)}</svg>\n'
    )
