"""Pictures of parameters: the cost of each value, and a map of two parameters."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from markupsafe import Markup

from paramhs.analysis.importance import Importance, ValueEffect
from paramhs.core.space import Config, Parameter, Value, value_text
from paramhs.report import charts
from paramhs.report.axes import Scale, fitting, linear, logarithmic, short
from paramhs.report.charts import Frame, clipped
from paramhs.report.figures import Figure
from paramhs.report.landscape_map import Map
from paramhs.report.result import Result
from paramhs.search.history import History

_MAX_VALUES = 10  # drawn values of a list
_MAX_DOTS = 1_500  # configurations on a map
_SHADES = 7
_MIN_IMPORTANCE = 0.05  # importance that a mapped parameter must be able to have, by its interval


# Cost against value


def effect_figures(shown: Sequence[Importance], result: Result) -> list[Figure]:
    """One figure per parameter, all with the same cost axis."""
    effects = [effect for one in shown for effect in one.values]
    means = [e.cost for e in effects if math.isfinite(e.cost)]
    if not means:
        return []
    y = fitting([*means, *_ends(effects, means)])
    return [_effect_figure(number, one, y, result) for number, one in enumerate(shown, 1)]


def _ends(effects: Iterable[ValueEffect], means: Sequence[float]) -> list[float]:
    """Ends of intervals, limited so that the means keep enough room."""
    low, high = min(means), max(means)
    room = high - low or abs(high) or 1.0
    floor = low / 2 if low > 0 else low - room
    ends = [x for e in effects for x in (e.cost_low, e.cost_high) if math.isfinite(x)]
    return [min(max(x, floor), high + room) for x in ends]


def _effect_figure(number: int, one: Importance, y: Scale, result: Result) -> Figure:
    parameter = result.history.scenario.space.parameters[one.name]
    values = [effect for effect in one.values if math.isfinite(effect.cost)]
    numeric = parameter.numeric and len(values) > 1
    svg = _curve(one, values, y, result) if numeric else _list(one, y, result)
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in one.name)
    return Figure(f"parameter-{number:03}-{name[:40]}", one.name, svg)


def _frame(x: Scale, y: Scale, **more: object) -> Frame:
    return Frame(x, y, width=230, height=150, left=46, right=12, top=10, bottom=24, **more)  # type: ignore[arg-type]


def _curve(one: Importance, values: Sequence[ValueEffect], y: Scale, result: Result) -> Markup:
    """Curve of a numeric parameter with its interval, and marks for the default and the best."""
    parameter = result.history.scenario.space.parameters[one.name]
    numbers = [float(x) for e in values for x in (e.low, e.high)]
    is_log = parameter.is_log and min(numbers) > 0
    frame = _frame(logarithmic(numbers) if is_log else linear(numbers), y, ticks=(3, 4))
    middles = [_middle(e, is_log) for e in values]
    spots = [(x, e.cost, _told(e)) for x, e in zip(middles, values, strict=True)]
    ranges = [(x, e.cost_low, e.cost_high) for x, e in zip(middles, values, strict=True)]
    return frame.drawn(
        f"{clipped(one.name, 60)}: cost against value",
        charts.band(frame, [(x, _at(low, y), _at(high, y)) for x, low, high in ranges], "b"),
        charts.line(frame, [(x, cost) for x, cost, _ in spots], "b"),
        *_marks(frame, one.name, result),
        charts.dots(frame, spots, "b small"),
    )


def _middle(effect: ValueEffect, is_log: bool) -> float:
    low, high = float(effect.low), float(effect.high)
    return math.sqrt(low) * math.sqrt(high) if is_log else low / 2 + high / 2


def _at(number: float, scale: Scale) -> float:
    """Position on the axis, even for an unbounded interval."""
    return min(max(number, scale.low), scale.high)


def _marks(frame: Frame, name: str, result: Result) -> list[Markup]:
    """Marks at the values of the default and the best."""
    marks = []
    for config, kind in ((result.default, "a"), (result.best, "b")):
        value = config.get(name)
        if isinstance(value, int | float):
            marks.append(charts.rule(frame, f"{kind} dashed", x=float(value)))
    return marks


def _list(one: Importance, y: Scale, result: Result) -> Markup:
    """Rows of a parameter without numbers, with intervals."""
    values = one.values[:_MAX_VALUES]
    height = 34 + 17 * len(values) + (14 if len(one.values) > _MAX_VALUES else 0)
    frame = Frame(
        y, Scale(0, 1), width=230, height=height, left=92, right=12, top=6, bottom=20, ticks=(3, 0)
    )
    rows = [_row(frame, k, e, one.name, result) for k, e in enumerate(values)]
    if len(one.values) > _MAX_VALUES:
        more = f"… and {len(one.values) - _MAX_VALUES} more"
        rows.append(charts.words(more, 4, 18 + 17 * len(values), "name"))
    return frame.drawn(f"{clipped(one.name, 60)}: cost against value", *rows)


def _row(frame: Frame, k: int, effect: ValueEffect, of: str, result: Result) -> Markup:
    down = 18 + 17 * k
    marked = _mark(effect, of, result)
    name = clipped(effect.label, 13)
    parts = [charts.words(name, 86, down + 4, f"end {marked}", effect.label, 84)]
    if math.isfinite(effect.cost):
        low, high, at = (
            frame.across(_at(x, frame.x)) for x in (effect.cost_low, effect.cost_high, effect.cost)
        )
        parts.append(charts.block(low, down - 2, max(high - low, 1), 4, "band b"))
        parts.append(charts.block(at - 3, down - 3, 6, 6, "b", _told(effect)))
    else:
        parts.append(charts.words("all failed", frame.left + 4, down + 4, "bad"))
    return charts.joined(parts)


def _mark(effect: ValueEffect, name: str, result: Result) -> str:
    """Style of a value: bold for the best's, italic for the default's."""
    marks = []
    for config, kind in ((result.default, "of-default"), (result.best, "of-best")):
        if name in config and value_text(config[name]) == value_text(effect.low):
            marks.append(kind)
    return " ".join(marks)


def _told(effect: ValueEffect) -> str:
    bounds = f"{short(effect.cost_low)} to {short(effect.cost_high)}"
    failed = f", {effect.failed} failed" if effect.failed else ""
    cost = f"{short(effect.cost)} ({bounds}), {effect.runs} runs{failed}"
    return f"{clipped(effect.label, 60)}: {cost}"


# Path of the search


def map_figure(result: Result, chart: Map | None) -> Figure | None:
    """Map of the two most important ordered parameters, with every configuration."""
    return map_of(result) if chart is None else _heat_figure(chart, result)


def map_of(result: Result, names: Sequence[str] = ()) -> Figure | None:
    """Map of these ordered parameters, or of the two most important ones."""
    names = names or _two_ordered(result)
    if len(names) < 2:
        return None
    tried = compared(result.history, result.best, names)
    if len(tried) < 3:
        return None
    space = result.history.scenario.space
    x, y = (_value_scale(space.parameters[name]) for name in names)
    frame = Frame(x, y, clipped(names[0], 40), clipped(names[1], 40), 460, 340)
    title = f"Path of the search: {clipped(names[0], 40)} and {clipped(names[1], 40)}"
    groups: dict[str, list[tuple[float, float, str]]] = {}
    for config, apart in tried:
        told = f"{clipped(config.key, 120)}" if len(tried) <= 150 else ""
        groups.setdefault(shade(apart), []).append((*_spot(config, names), told))
    shaded = [charts.dots(frame, groups[kind], f"{kind} faint") for kind in sorted(groups)]
    caption = (
        "Each dot is a configuration; darker dots are closer to the best on common"
        " runs; grey: worse by half or more, or no common runs. The line joins the incumbents."
    )
    way = _way(frame, names, [point.config for point in result.trajectory])
    return Figure("map", title, frame.drawn(title, *shaded, *way), caption)


def _two_ordered(result: Result) -> list[str]:
    """The two most important parameters that are numeric and always active."""
    space = result.history.scenario.space
    fit = [
        name
        for name, p in space.parameters.items()
        if p.numeric and p.levels > 2 and name not in space.conditions
    ]
    return [
        one.name for one in result.importance if one.name in fit and one.high >= _MIN_IMPORTANCE
    ][:2]


def compared(
    history: History, best: Config, names: Sequence[str]
) -> list[tuple[Config, float | None]]:
    """Configurations with their relative excess over the best on common pairs.

    The excess is a lower bound if a run was capped.
    """
    own = history.costs(best)
    found = []
    for config in list(history.configs)[-_MAX_DOTS:]:
        tried = [*history.pairs_of(config), *history.cut_short(config)]
        costs = [(history.at_least(config, pair), own[pair][0]) for pair in tried if pair in own]
        both = [(cost, other) for cost, other in costs if cost is not None]
        found.append((config, _apart(both)))
    return [(config, apart) for config, apart in found if all(n in config for n in names)]


def _apart(both: Sequence[tuple[float, float]]) -> float | None:
    usable = [(a, b) for a, b in both if math.isfinite(a) and math.isfinite(b)]
    if not usable or len(usable) < len(both):
        return None
    mine, other = math.fsum(a for a, _ in usable), math.fsum(b for _, b in usable)
    size = abs(other) or 1.0
    return (mine - other) / size


def shade(apart: float | None) -> str:
    """Shade from h1 (as good as the best) to h6 (worse by half); h0 beyond."""
    if apart is None or apart >= 0.5:
        return "h0"
    return f"h{1 + int(max(apart, 0.0) * 2 * (_SHADES - 1))}"


def _value_scale(parameter: Parameter) -> Scale:
    ends = [float(parameter.value(i)) for i in (0, parameter.levels - 1)]
    if parameter.is_log:
        return logarithmic(ends)
    return linear(ends)


def _spot(config: Config, names: Sequence[str]) -> tuple[float, float]:
    x, y = (_number(config[name]) for name in names[:2])
    return x, y


def _number(value: Value) -> float:
    return float(value)


def _way(frame: Frame, names: Sequence[str], stops: Sequence[Config]) -> list[Markup]:
    """Line that joins the incumbents at their values."""
    there = [config for config in stops if all(name in config for name in names)]
    if not there:
        return []
    spots = [(*_spot(config, names), clipped(config.key, 120)) for config in there]
    ends = [(spots[0], "default", "a"), (spots[-1], "best", "b")]
    if spots[0][:2] == spots[-1][:2]:
        ends = ends[1:]
    return [
        charts.line(frame, [(x, y) for x, y, _ in spots], "way"),
        charts.dots(frame, spots, "stop"),
        *(charts.dots(frame, [spot], f"{kind} ringed") for spot, _, kind in ends),
        *(_label(frame, spot, text) for spot, text, _ in ends),
    ]


def _label(frame: Frame, spot: tuple[float, float, str], text: str) -> Markup:
    """Label beside a point, on the side with more room."""
    x, y = frame.across(spot[0]), frame.down(spot[1])
    right = x > frame.width * 0.7
    return charts.words(text, x - 9 if right else x + 9, max(y - 7, 20), f"halo {'end' * right}")


def _heat_figure(chart: Map, result: Result) -> Figure:
    """Map whose cells were measured for it."""
    space, names = chart.stops[-1].space, (chart.across, chart.up)
    x, y = (_value_scale(space.parameters[name]) for name in names)
    frame = Frame(x, y, chart.across, chart.up, 460, 340)
    low, high = (f(map(f, chart.costs)) for f in (min, max))
    columns, rows = _edges(frame.across, chart.xs, x), _edges(frame.down, chart.ys, y)
    cells = [
        charts.block(
            columns[i],
            rows[j + 1],
            columns[i + 1] - columns[i] + 0.3,
            rows[j] - rows[j + 1] + 0.3,
            _heat(chart.costs[j][i], low, high),
            f"{chart.across} {short(u)}, {chart.up} {short(v)}: {short(chart.costs[j][i])}",
        )
        for i, u in enumerate(chart.xs)
        for j, v in enumerate(chart.ys)
    ]
    title = f"Path of the search: {chart.across} and {chart.up}"
    caption = (
        f"Measured for this picture: {result.metric.label} from {short(low)} (light) to"
        f" {short(high)} (dark), with the other parameters as in the best. The line joins"
        " the incumbents at their values."
    )
    return Figure(
        "map", title, frame.drawn(title, *cells, *_way(frame, names, chart.stops)), caption
    )


def _edges(
    position: Callable[[float], float], values: Sequence[float], scale: Scale
) -> list[float]:
    """Boundaries of cells, half way between their values in the picture."""
    at = [position(v) for v in values]
    middles = [(a + b) / 2 for a, b in pairwise(at)]
    return [position(scale.low), *middles, position(scale.high)]


def _heat(cost: float, low: float, high: float) -> str:
    """Colour of a cell, scaled by the square root to separate nearly optimal costs."""
    part = ((cost - low) / (high - low)) ** 0.5 if high > low else 0.0
    return f"heat{min(int(part * 10), 9)}"
