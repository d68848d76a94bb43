"""Where a search went: its incumbents on a map of two parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.text import Text

from paramhs.values.errors import BadInput
from paramhs.values.space import Config, Parameter

_SHADES = (22, 28, 34, 70, 106, 142, 178, 172, 166, 160, 124, 88)  # green to red, of 256 colours


@dataclass(frozen=True)
class Map:
    """The mean cost over a grid of two parameters, the others being as the best has them."""

    across: str
    up: str
    xs: tuple[Any, ...]
    ys: tuple[Any, ...]
    costs: tuple[tuple[float, ...], ...]
    """By ys, then xs."""
    stops: tuple[Config, ...]
    """The incumbents, from the first to the last."""

    def place(self, config: Config) -> tuple[int, int]:
        """The column and row that are nearest to a configuration, by levels."""
        return tuple(  # type: ignore[return-value]
            _nearest(config.space.parameters[name], values, config[name])
            for name, values in ((self.across, self.xs), (self.up, self.ys))
        )


def drawn_map(
    stops: Sequence[Config],
    across: str,
    up: str,
    cost: Callable[[Config], float],
    columns: int = 13,
    rows: int = 9,
) -> Map:
    """The map around the last of these configurations."""
    best = stops[-1]
    space = best.space
    xs = _levels(space.parameters[across], columns)
    ys = _levels(space.parameters[up], rows)
    costs = tuple(
        tuple(cost(space.config({**best.as_dict(), across: x, up: y})) for x in xs) for y in ys
    )
    return Map(across, up, xs, ys, costs, tuple(stops))


def _levels(parameter: Parameter, count: int) -> tuple[Any, ...]:
    """So many of its values, evenly over its levels, both ends included."""
    places = [round(i * (parameter.levels - 1) / (count - 1)) for i in range(count)]
    return tuple(parameter.value(i) for i in dict.fromkeys(places))


def _nearest(parameter: Parameter, values: Sequence[Any], value: Any) -> int:
    at = parameter.index(value)
    return min(range(len(values)), key=lambda i: abs(parameter.index(values[i]) - at))


def on_terminal(chart: Map) -> list[Text]:
    """Costs in shaded cells, green for low ones; D is the default, B the best, * lie between."""
    low, high = (f(map(f, chart.costs)) for f in (min, max))
    marks = {chart.place(config): "*" for config in chart.stops}
    marks[chart.place(chart.stops[0])] = "D"
    marks[chart.place(chart.stops[-1])] = "B"
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
    """By the square root, so that what is nearly best can be told apart."""
    part = ((cost - low) / (high - low)) ** 0.5 if high > low else 0.0
    return _SHADES[min(int(part * len(_SHADES)), len(_SHADES) - 1)]


def _data(alt: Any, rows: Sequence[dict[str, Any]]) -> Any:
    return alt.Chart(alt.Data(values=rows))


def _cells(chart: Map) -> list[dict[str, Any]]:
    return [
        {chart.across: f"{x:.3g}", chart.up: f"{y:.3g}", "cost": chart.costs[j][i]}
        for i, x in enumerate(chart.xs)
        for j, y in enumerate(chart.ys)
    ]


def _way(chart: Map) -> list[dict[str, Any]]:
    rows = []
    for number, config in enumerate(chart.stops):
        column, row = chart.place(config)
        last = number == len(chart.stops) - 1
        rows.append(
            {
                chart.across: f"{chart.xs[column]:.3g}",
                chart.up: f"{chart.ys[row]:.3g}",
                "step": number,
                "label": "default" if number == 0 else "best" if last else "",
                "configuration": config.key,
            }
        )
    return rows


def check_page() -> None:
    """Refuse at once what `on_page` could not do."""
    for name in ("altair", "vl_convert"):
        if find_spec(name) is None:
            raise BadInput(f'a page needs {name}: pip install "paramhs[report]"')


def on_page(chart: Map, title: str, folder: Path, name: str) -> list[Path]:
    """The same as an interactive page and an SVG."""
    import altair as alt

    from paramhs.results.drawing import draw

    cells, path = _cells(chart), _way(chart)
    x = alt.X(f"{chart.across}:O", sort=[f"{v:.3g}" for v in chart.xs])
    y = alt.Y(f"{chart.up}:O", sort=[f"{v:.3g}" for v in reversed(chart.ys)])
    heat = (
        _data(alt, cells)
        .mark_rect()
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "cost:Q", scale=alt.Scale(scheme="viridis", reverse=True), title="mean"
            ),
            tooltip=[f"{chart.across}:O", f"{chart.up}:O", alt.Tooltip("cost:Q", format=".2f")],
        )
    )
    base = _data(alt, path).encode(x=x, y=y)
    line = base.mark_line(color="white", strokeWidth=2, point=True).encode(order="step:Q")
    words = base.mark_text(color="white", dy=-10, fontWeight="bold").encode(
        text="label:N", tooltip=["configuration:N"]
    )
    folder.mkdir(parents=True, exist_ok=True)
    return draw((heat + line + words).properties(width=560, height=320, title=title), folder, name)
