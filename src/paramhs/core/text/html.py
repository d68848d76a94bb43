"""Minimal HTML for notebooks; all text in it is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NewType

from paramhs.core.text.numbers import printable

Markup = NewType("Markup", str)
"""HTML that is safe to display."""


def html_table(rows: Iterable[Sequence[object]], headings: Sequence[str] = ()) -> Markup:
    """Table of escaped texts."""
    head = f"<thead>{_row(headings, 'th')}</thead>" if headings else ""
    body = "".join(_row(row, "td") for row in rows)
    return Markup(f"<table>{head}<tbody>{body}</tbody></table>")


def _row(cells: Sequence[object], tag: str) -> str:
    style = ' style="text-align:left"'
    return f"<tr>{''.join(f'<{tag}{style}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def paragraph(text: str) -> Markup:
    """Paragraph of escaped text."""
    return Markup(f"<p>{_text(text)}</p>")


def joined(*parts: Markup) -> Markup:
    """HTML elements stacked in one block."""
    return Markup(f"<div>{''.join(parts)}</div>")


def _text(thing: object) -> str:
    return escape(printable(str(thing)))
