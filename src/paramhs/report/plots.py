"""`result.plot`: the pictures of the page one by one, and parallel coordinates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from paramhs.analysis.importance import Importance
from paramhs.core.errors import BadInput
from paramhs.core.space import Config, Parameter, value_text
from paramhs.core.text.quoting import short
from paramhs.report import charts
from paramhs.report.axes import Scale, linear
from paramhs.report.charts import Frame, clipped
from paramhs.report.drawing import Drawing, drawing_of
from paramhs.report.figures import (
    Figure,
    cactus_figure,
    front_figure,
    scatter_figure,
    trail_figures,
)
from paramhs.report.incumbent_curve import trail
from paramhs.report.parameters import compared, effect_figures, map_of, shade
from paramhs.report.per_instance import cases
from paramhs.report.result import Result
from paramhs.report.sections import paired_of

_MAX_BARS = 20  # parameters in the picture of importance
_MAX_AXES = 8  # parameters of parallel coordinates


@dataclass(frozen=True)
class Plots:
    """Pictures of one result: each method returns a `Drawing`.

    Examples:
        >>> import paramhs
        >>> result = paramhs.tune(lambda c: c["x"], {"x": range(9)}, budget=20)
        >>> result.plot.history().title
        'The incumbent over runs'
    """

    result: Result

    def history(self, by: Literal["runs", "time"] = "runs") -> Drawing:
        """Mean cost of the incumbent over the search, with two standard errors.

        Args:
            by: Axis: number of runs, or time.

        Returns:
            The picture.
        """
        if by not in ("runs", "time"):
            raise BadInput(f"by must be 'runs' or 'time', not {short(by)}")
        figures = {f.name: f for f in trail_figures(trail(self.result), self.result)}
        return _made(figures.get(f"incumbent-by-{by}"), "no incumbent has a usable cost yet")

    def importance(self) -> Drawing:
        """Importance of each parameter, with its 95 % interval.

        Returns:
            The picture.
        """
        shown = self.result.importance[:_MAX_BARS]
        figure = _importance_figure(shown) if shown else None
        return _made(figure, "too few configurations for an estimate of importance")

    def slice(self, parameter: str) -> Drawing:
        """Cost of each value of one parameter, all else equal.

        Args:
            parameter: Its name.

        Returns:
            The picture.
        """
        self._check(parameter)
        shown = [one for one in self.result.importance if one.name == parameter]
        figures = effect_figures(shown, self.result)
        return _made(next(iter(figures), None), f"too few values of {parameter} were compared")

    def map(self, x: str = "", y: str = "") -> Drawing:
        """Path of the search over two ordered parameters, with every configuration.

        Args:
            x: Parameter across. Left out: the most important one.
            y: Parameter upwards. Left out: the next most important one.

        Returns:
            The picture.
        """
        names = [name for name in (x, y) if name]
        for name in names:
            self._check(name)
            if not self.result.space.parameters[name].numeric:
                raise BadInput(f"{name} is not numeric, so it has no place on a map")
        if len(names) == 1 or (names and x == y):
            raise BadInput("a map needs two parameters, or none to choose the most important")
        figure = map_of(self.result, names)
        return _made(figure, "two numeric parameters with three configurations are needed")

    def instances(self) -> Drawing:
        """Default against best on each instance: of the test set, or else of the search.

        Returns:
            The picture.
        """
        on, paired = paired_of(self.result)
        metric = self.result.metric
        listed = cases(paired, metric)
        title = f"Default against best, {on}"
        figure = scatter_figure("scatter", title, listed, metric) if listed else None
        return _made(figure, self._why_no_pairs("run"))

    def survival(self) -> Drawing:
        """Number of runs that end within a time, for the default and the best.

        Returns:
            The picture.
        """
        if not self.result.metric.needs_runtime:
            raise BadInput("survival is about runtimes, and the cost here is a quality")
        on, paired = paired_of(self.result)
        figure = cactus_figure(paired, self.result.metric, on) if paired else None
        return _made(figure, self._why_no_pairs("run that ended"))

    def _why_no_pairs(self, what: str) -> str:
        if self.result.best == self.result.default:
            return "the default is the best that was found"
        return f"the default and the best have no {what} in common"

    def parallel(self, parameters: Sequence[str] = ()) -> Drawing:
        """Parallel coordinates: a line for each configuration, the better the darker.

        Args:
            parameters: Names of the axes. Left out: the most important ones.

        Returns:
            The picture.
        """
        for name in parameters:
            self._check(name)
        names = list(parameters) or self._important()
        tried = compared(self.result.history, self.result.best, names)
        figure = _parallel_figure(self.result, names, tried) if tried and len(names) > 1 else None
        return _made(figure, "two parameters that are active together are needed")

    def front(self, x: str = "", y: str = "") -> Drawing:
        """Front of a search with several costs: one cost against another, with intervals.

        Args:
            x: Cost across. Left out: the first one.
            y: Cost upwards. Left out: the next one.

        Returns:
            The picture.
        """
        front = self.result.front
        if front is None:
            raise BadInput("a front needs several costs, and here there is one")
        names = front.metric.names
        for name in (x, y):
            if name and name not in names:
                raise BadInput(f"no cost is called {short(name)}; there are {', '.join(names)}")
        first = x or next(name for name in names if name != y)
        second = y or next(name for name in names if name != first)
        if first == second:
            raise BadInput("a front needs two different costs")
        figure = front_figure(front, first, second) if front.points else None
        return _made(figure, "no point is better than the default in any cost")

    def _important(self) -> list[str]:
        """The most important parameters that are always active."""
        space = self.result.space
        ranked = [one.name for one in self.result.importance] or list(space.parameters)
        return [name for name in ranked if name not in space.conditions][:_MAX_AXES]

    def _check(self, parameter: str) -> None:
        if parameter not in self.result.space.parameters:
            some = ", ".join(list(self.result.space.parameters)[:8])
            raise BadInput(f"no parameter is called {short(parameter)}; there are {some}")


def _made(figure: Figure | None, why_not: str) -> Drawing:
    if figure is None:
        raise BadInput(f"there is nothing to draw: {why_not}")
    return drawing_of(figure)


def _importance_figure(shown: Sequence[Importance]) -> Figure:
    """A row for each parameter: its share, and the interval behind it."""
    height = 44 + 20 * len(shown)
    frame = Frame(
        linear([0.0, 1.0], zero=True),
        Scale(0, 1),
        "share of the variance between configurations",
        width=460,
        height=height,
        left=130,
        top=6,
        bottom=34,
        ticks=(5, 0),
        x_text=lambda x: f"{x:.0%}",
    )
    rows = [_bar(frame, 18 + 20 * k, one) for k, one in enumerate(shown)]
    title = "Importance of parameters"
    return Figure("importance", title, frame.drawn(title, *rows), "Bars: 95 % intervals.")


def _bar(frame: Frame, down: float, one: Importance) -> Markup:
    low, high, at = (frame.across(x) for x in (one.low, one.high, one.share))
    told = f"{clipped(one.name, 60)}: {one.share:.1%} ({one.low:.1%} to {one.high:.1%})"
    return charts.joined(
        [
            charts.words(clipped(one.name, 18), 124, down + 4, "end", one.name, 120),
            charts.block(low, down - 5, max(high - low, 1), 10, "band b"),
            charts.block(at - 3, down - 4, 6, 8, "b", told),
        ]
    )


def _parallel_figure(
    result: Result, names: Sequence[str], tried: Sequence[tuple[Config, float | None]]
) -> Figure:
    """Axes side by side; the best configuration is drawn last and thick."""
    frame = Frame(
        Scale(0, len(names) - 1),
        Scale(0, 1),
        width=640,
        height=340,
        left=60,
        right=60,
        ticks=(0, 0),
    )
    space = result.space
    at = [_place(space.parameters[name]) for name in names]

    def line(config: Config, kind: str) -> Markup:
        indices = [config.indices[space.position[name]] for name in names]
        return charts.line(
            frame,
            [(k, place(i)) for k, (place, i) in enumerate(zip(at, indices, strict=True))],
            kind,
        )

    worst_first = sorted(tried, key=lambda one: shade(one[1]) != "h0")
    lines = [line(config, f"{shade(apart)} faint") for config, apart in worst_first]
    axes = [_axis(frame, k, name, space.parameters[name]) for k, name in enumerate(names)]
    title = "Configurations in parallel coordinates"
    caption = (
        "Each line is a configuration; darker lines are closer to the best on common runs; grey:"
        " worse by half or more, or no common runs. Thick: the best."
    )
    has_all = all(name in result.best for name in names)
    best = [line(result.best, "b thick")] if has_all else []
    return Figure("parallel", title, frame.drawn(title, *lines, *axes, *best), caption)


def _place(parameter: Parameter) -> Callable[[int], float]:
    """Height of a value: by its number in a linear range, else by its position."""
    last = max(parameter.levels - 1, 1)
    if not parameter.numeric or parameter.is_log or parameter.levels < 2:
        return lambda index: index / last
    low, high = (float(parameter.value(i)) for i in (0, parameter.levels - 1))
    return lambda index: (float(parameter.value(index)) - low) / (high - low)


def _axis(frame: Frame, position: int, name: str, parameter: Parameter) -> Markup:
    x = frame.across(position)
    ends = [value_text(parameter.value(i)) for i in (0, parameter.levels - 1)]
    bottom = frame.height - frame.bottom
    return charts.joined(
        [
            charts.rule(frame, "grid", x=float(position)),
            charts.words(clipped(name, 14), x, 12, "mid name", name),
            charts.words(clipped(ends[1], 10), x + 4, frame.top + 10, "halo"),
            charts.words(clipped(ends[0], 10), x + 4, bottom - 3, "halo"),
            charts.words(f"{parameter.levels:,} values", x, bottom + 15, "mid"),
        ]
    )
