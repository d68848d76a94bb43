"""SVG drawings: a frame with two axes, and the shapes inside it.

Everything from outside is inserted by `Markup.format`, which escapes it. Colours are class names
that the page's style defines for light and dark mode; a picture in its own file includes the style.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from paramhs.core.text.numbers import printable
from paramhs.report.axes import Scale, short

Spot = tuple[float, float]

_LETTER_WIDTH = 7.4  # upper bound of the width of most letters
_MAX_TITLED_DOTS = 200  # largest number of dots with tooltips


def clipped(text: str, most: int) -> str:
    """Shorten a text from outside and make it printable."""
    text = printable(text).replace("\n", " ")
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True)
class Frame:
    """Coordinate system of a picture, with its axes."""

    x: Scale
    y: Scale
    x_label: str = ""
    y_label: str = ""
    width: int = 460
    height: int = 300
    left: int = 58
    right: int = 16
    top: int = 22
    bottom: int = 44
    ticks: tuple[int, int] = (5, 5)
    """Approximate number of labels beside each axis."""
    x_text: Callable[[float], str] = short
    y_text: Callable[[float], str] = short

    def across(self, x: float) -> float:
        """Horizontal position of a number."""
        return self.left + self.x.at(x) * (self.width - self.left - self.right)

    def down(self, y: float) -> float:
        """Vertical position of a number."""
        return self.height - self.bottom - self.y.at(y) * (self.height - self.top - self.bottom)

    def point(self, spot: Spot) -> str:
        """Position of a point in SVG notation."""
        return f"{_brief(self.across(spot[0]))},{_brief(self.down(spot[1]))}"

    def drawn(self, title: str, *parts: Markup) -> Markup:
        """Draw the picture, with the axes behind the other parts."""
        return picture(title, self.width, self.height, self._axes(), *parts)

    def _axes(self) -> Markup:
        end, floor = self.width - self.right, self.height - self.bottom
        across = [
            _line("grid", self.across(x), self.top, self.across(x), floor)
            + words(self.x_text(x), self.across(x), floor + 15, "mid")
            for x in self.x.ticks(self.ticks[0])
        ]
        up = [
            _line("grid", self.left, self.down(y), end, self.down(y))
            + words(self.y_text(y), self.left - 6, self.down(y) + 4, "end")
            for y in self.y.ticks(self.ticks[1])
        ]
        names = [
            words(self.x_label, (self.left + end) / 2, self.height - 8, "mid name"),
            words(self.y_label, 4, 12, "name"),
        ]
        return joined([*across, *up, *names])


def picture(title: str, width: int, height: int, *parts: Markup) -> Markup:
    """SVG element of this size, which scales to its place."""
    return Markup(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}" direction="ltr">{}</svg>'
    ).format(width, height, printable(title), joined(parts))


def joined(parts: Iterable[Markup]) -> Markup:
    """Concatenate parts of a drawing."""
    return Markup("").join(parts)


def words(
    text: str, x: float, y: float, kind: str = "", told: str = "", room: float | None = None
) -> Markup:
    """Text in a picture with a tooltip `told`; compressed if it may exceed its room."""
    tight = room is not None and len(text) * _LETTER_WIDTH > room
    fit = Markup(' textLength="{}" lengthAdjust="spacingAndGlyphs"').format(room) if tight else ""
    return Markup('<text x="{}" y="{}"{}{}>{}{}</text>').format(
        _brief(x), _brief(y), _class(kind), fit, _title(told), printable(text)
    )


def line(frame: Frame, spots: Sequence[Spot], kind: str) -> Markup:
    """Polyline through the points."""
    path = "L".join(map(frame.point, spots))
    return Markup('<path d="M{}"{}/>').format(path, _class(f"line {kind}")) if path else Markup()


def steps(frame: Frame, spots: Sequence[Spot], kind: str) -> Markup:
    """Step function through the points."""
    if not spots:
        return Markup()
    path = "M" + frame.point(spots[0])
    for x, y in spots[1:]:
        path += f"H{_brief(frame.across(x))}V{_brief(frame.down(y))}"
    return Markup('<path d="{}"{}/>').format(path, _class(f"line {kind}"))


def band(frame: Frame, ranges: Sequence[tuple[float, float, float]], kind: str) -> Markup:
    """Area between lower and upper values."""
    if len(ranges) < 2:
        return Markup()
    there = [frame.point((x, low)) for x, low, _ in ranges]
    back = [frame.point((x, high)) for x, _, high in reversed(ranges)]
    return Markup('<path d="M{}Z"{}/>').format("L".join([*there, *back]), _class(f"band {kind}"))


def step_band(frame: Frame, ranges: Sequence[tuple[float, float, float]], kind: str) -> Markup:
    """Area between lower and upper values that stay constant between positions."""
    stepped = list(ranges[:1])
    for (_, low, high), after in pairwise(ranges):
        stepped += [(after[0], low, high), after]
    return band(frame, stepped, kind)


def dots(frame: Frame, spots: Sequence[tuple[float, float, str]], kind: str) -> Markup:
    """Dots, with tooltips if there are not too many."""
    if len(spots) > _MAX_TITLED_DOTS:
        path = "".join(f"M{frame.point((x, y))}h0" for x, y, _ in spots)
        return Markup('<path d="{}"{}/>').format(path, _class(f"dots {kind}"))
    return joined(
        Markup('<circle cx="{}" cy="{}" r="3.5"{}>{}</circle>').format(
            _brief(frame.across(x)), _brief(frame.down(y)), _class(kind), _title(told)
        )
        for x, y, told in spots
    )


def crosses(frame: Frame, spots: Sequence[tuple[float, float, str]], kind: str) -> Markup:
    """Small crosses, with tooltips if there are not too many."""
    if len(spots) > _MAX_TITLED_DOTS:
        spots = [(x, y, "") for x, y, _ in spots]
    return joined(
        Markup('<path d="M{}m-4,-4l8,8m0,-8l-8,8"{}>{}</path>').format(
            frame.point((x, y)), _class(f"line {kind}"), _title(told)
        )
        for x, y, told in spots
    )


def rule(frame: Frame, kind: str, *, x: float | None = None, y: float | None = None) -> Markup:
    """Straight line across the frame at a number of one axis."""
    if x is not None:
        at = frame.across(x)
        return _line(kind, at, frame.top, at, frame.height - frame.bottom)
    at = frame.down(y or 0.0)
    return _line(kind, frame.left, at, frame.width - frame.right, at)


def block(x: float, y: float, width: float, height: float, kind: str, told: str = "") -> Markup:
    """Filled rectangle with a tooltip."""
    return Markup('<rect x="{}" y="{}" width="{}" height="{}"{}>{}</rect>').format(
        *map(_brief, (x, y, width, height)), _class(kind), _title(told)
    )


def segment(frame: Frame, begin: Spot, end: Spot, kind: str) -> Markup:
    """Straight line between two points."""
    return line(frame, [begin, end], kind)


def legend(entries: Sequence[tuple[str, str]], x: float, y: float, apart: int = 0) -> Markup:
    """Legend in one row; `apart` is the width of each entry."""
    parts, at = [], x
    for kind, text in entries:
        parts.append(
            Markup('<circle cx="{}" cy="{}" r="4"{}/>').format(_brief(at), y, _class(kind))
        )
        parts.append(words(text, at + 8, y + 4))
        at += apart or 22 + 6.4 * len(text)
    return joined(parts)


def _line(kind: str, x: float, y: float, to_x: float, to_y: float) -> Markup:
    return Markup('<path d="M{},{}L{},{}"{}/>').format(
        *map(_brief, (x, y, to_x, to_y)), _class(f"line {kind}")
    )


def _title(told: str) -> Markup:
    return Markup("<title>{}</title>").format(printable(told)) if told else Markup()


def _class(kind: str) -> Markup:
    return Markup(' class="{}"').format(kind) if kind else Markup()


def _brief(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
