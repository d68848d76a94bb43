"""The little HTML that notebooks show; every text in it is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NewType

from paramhs.values.wording import printable

Markup = NewType("Markup", str)
"""HTML that is safe to show."""


def html_table(rows: Iterable[Sequence[object]], headings: Sequence[str] = ()) -> Markup:
    """A table of texts."""
    head = f"<thead>{_row(headings, 'th')}</thead>" if headings else ""
    body = "".join(_row(row, "td") for row in rows)
    return Markup(f"<table>{head}<tbody>{body}</tbody></table>")


def _row(cells: Sequence[object], tag: str) -> str:
    style = ' style="text-align:left"'
    return f"<tr>{''.join(f'<{tag}{style}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def paragraph(text: str) -> Markup:
    """A text by itself."""
    return Markup(f"<p>{_text(text)}</p>")


def joined(*parts: Markup) -> Markup:
    """One below the other."""
    return Markup(f"<div>{''.join(parts)}</div>")


def _text(thing: object) -> str:
    return escape(printable(str(thing)))
