"""The HTML page: a template in which all text from outside is made printable and escaped."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Protocol

from jinja2 import Environment, Template
from markupsafe import Markup

from paramhs.core.space import Value, value_text
from paramhs.core.text.numbers import printable
from paramhs.core.version import __version__
from paramhs.report.drawing import style, svg_file
from paramhs.report.figures import Figure
from paramhs.report.landscape_map import Map
from paramhs.report.result import Result
from paramhs.report.sections import (
    found,
    going,
    instances,
    matter,
    parameters,
)


@dataclass(frozen=True)
class PageOptions:
    """What a page shows besides the result."""

    name: str = ""
    """Title; empty for the name of the store or of the target."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """Commands that continue from here, ready to paste, by name."""
    map: Map | None = None
    """Measured map of two parameters; None to draw one from the runs of the search."""
    interactions: bool = False
    """Whether to add interactions of parameters, which takes seconds and an extra."""
    refresh: int | None = None
    """Seconds after which a browser reloads the page of a running search."""
    written: str = ""
    """Date and time of the page."""


PLAIN = PageOptions()


@dataclass(frozen=True)
class Page:
    """A page with its pictures, ready to be written."""

    html: str
    figures: tuple[Figure, ...]

    def figure_files(self) -> Iterator[tuple[str, str]]:
        """Yield the file name and content of each picture."""
        for figure in self.figures:
            yield f"{figure.name}.svg", svg_file(figure)


class _Part(Protocol):
    """A section of the page."""

    @property
    def figures(self) -> Sequence[Figure]: ...


def drawn_page(result: Result, options: PageOptions = PLAIN) -> Page:
    """Render the page."""
    parts: dict[str, _Part] = {
        "found": found(result, options.calls),
        "matter": matter(result, options.calls),
        "parameters": parameters(result, options.interactions),
        "going": going(result, options.map),
        "instances": instances(result),
    }
    name = options.name or (result.store.name if result.store else result.target)
    refresh = options.refresh if result.running else None
    html = _template().render(
        result=result,
        name=name,
        written=options.written,
        refresh=refresh,
        version=__version__,
        **parts,
    )
    figures = [figure for part in parts.values() for figure in part.figures]
    return Page(html, tuple(figures))


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, finalize=_finalized, trim_blocks=True)
    environment.filters["value"] = _value
    environment.filters["longest_word"] = _longest_word
    environment.filters["breakable"] = _breakable
    return environment.from_string(_file("page.html").replace("STYLE", style()))


def _finalized(thing: object) -> object:
    """Make every inserted text printable, except our own markup."""
    return printable(thing) if isinstance(thing, str) and not isinstance(thing, Markup) else thing


_END_OF_PART = re.compile(r"(?<=[_/])(?=\w)")
"""Where a long name may go on in the next line."""


def _breakable(text: str) -> Markup:
    """The text, which a narrow page breaks between the parts of a name, not inside them."""
    return Markup("<wbr>").join(_END_OF_PART.split(printable(text)))


def _longest_word(text: str) -> int:
    """Length of the longest word that `_breakable` leaves whole."""
    return max(map(len, _END_OF_PART.sub(" ", text).split()), default=0)


def _value(value: Value | None) -> str:
    return "not active" if value is None else value_text(value)


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
