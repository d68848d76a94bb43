"""Terminal map of the path of a search."""

from rich.text import Text

from paramhs.report.landscape_map import Map

_SHADES = (22, 28, 34, 70, 106, 142, 178, 172, 166, 160, 124, 88)  # green to red, of 256 colours


def on_terminal(chart: Map) -> list[Text]:
    """Draw costs as shaded cells, green for low; D marks the default, B the best, * the path."""
    low, high = (f(map(f, chart.costs)) for f in (min, max))
    marks = {chart.cell(config): "*" for config in chart.stops}
    marks[chart.cell(chart.stops[0])] = "D"
    marks[chart.cell(chart.stops[-1])] = "B"
    lines = []
    for row in reversed(range(len(chart.ys))):
        line = Text(f"{chart.up} {chart.ys[row]:<6.3g} ")
        for column in range(len(chart.xs)):
            shade = _shade(chart.costs[row][column], low, high)
            mark = marks.get((column, row), " ")
            text = f"{mark}{chart.costs[row][column]:<4.3g}"
            line.append(text, style=f"bold black on color({shade})")
        lines.append(line)
    ends = f"{chart.across} {chart.xs[0]:.3g}"
    width = 5 * len(chart.xs)
    lines.append(
        Text(" " * (len(chart.up) + 8) + ends + f"{chart.xs[-1]:.3g}".rjust(width - len(ends)))
    )
    return lines


def _shade(cost: float, low: float, high: float) -> int:
    """Colour of a cell, scaled by the square root to separate nearly optimal costs."""
    part = ((cost - low) / (high - low)) ** 0.5 if high > low else 0.0
    return _SHADES[min(int(part * len(_SHADES)), len(_SHADES) - 1)]
