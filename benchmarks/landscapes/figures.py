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


def dots(columns: Mapping[str, Sequence[Dot]], rows: Sequence[str], title: str) -> str:
    """Means by row, one column of plots for each kind, on the same logarithmic axis."""
    every = [dot for some in columns.values() for dot in some if math.isfinite(dot.mean)]
    low = max(0.5, 0.9 * min(dot.mean for dot in every))
    high = 1.1 * max(dot.mean for dot in every)
    series = [name for name in SERIES if any(dot.series == name for dot in every)]
    label, width, height, gap, top = 158, 210, 24, 22, 66
    parts = [_text(_LEFT, 20, title, 12, INK, weight="bold")]
    parts += _keys(series)
    for n, row in enumerate(rows):
        parts.append(_text(label - 8, top + n * height + 16, row, 11, INK, anchor="end"))
    for c, (name, some) in enumerate(columns.items()):
        left = label + c * (width + gap)
        parts += _dot_column(name, some, rows, series, left, top, width, height, low, high)
    total = label + len(columns) * (width + gap)
    return _svg(total, top + len(rows) * height + 40, parts)


SERIES = {
    "always correct": "#1d2733",
    "20 runs": "#1f6fb5",
    "5 runs": "#c77700",
    "1 run": "#c22f2f",
}


def _keys(series: Sequence[str]) -> Iterator[str]:
    x = float(_LEFT)
    for name in series:
        yield f'<circle cx="{x + 4}" cy="37" r="3.6" fill="{SERIES[name]}"/>'
        yield _text(x + 13, 41, name, 11, INK)
        x += 30 + 6.6 * len(name)


def _dot_column(
    name: str,
    some: Sequence[Dot],
    rows: Sequence[str],
    series: Sequence[str],
    left: float,
    top: float,
    width: float,
    height: float,
    low: float,
    high: float,
) -> Iterator[str]:
    def x(value: float) -> float:
        clipped = min(max(value, low), high)
        return left + width * math.log(clipped / low) / math.log(high / low)

    yield _text(left, top - 6, name, 11, INK, weight="bold")
    bottom = top + len(rows) * height
    for n in range(len(rows)):
        if n % 2 == 0:
            y = top + n * height
            yield f'<rect x="{left}" y="{y}" width="{width}" height="{height}" fill="#f4f6f8"/>'
    for tick in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        if low <= tick <= high:
            yield (
                f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top}" y2="{bottom}"'
                f' stroke="{RULE}" stroke-width="1"/>'
            )
            yield _text(x(tick), bottom + 14, f"{tick:g}", 10, MUTED, anchor="middle")
    for dot in some:
        k, n = series.index(dot.series), rows.index(dot.row)
        y = top + n * height + height * (k + 1) / (len(series) + 1)
        yield (
            f'<line x1="{x(dot.mean - 2 * dot.error):.1f}" x2="{x(dot.mean + 2 * dot.error):.1f}"'
            f' y1="{y:.1f}" y2="{y:.1f}" stroke="{SERIES[dot.series]}" stroke-width="1.2"/>'
            f'<circle cx="{x(dot.mean):.1f}" cy="{y:.1f}" r="3.2" fill="{SERIES[dot.series]}"/>'
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
