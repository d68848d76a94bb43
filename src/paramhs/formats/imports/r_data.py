"""R's serialised objects as plain Python: lists, dictionaries, numbers, texts, expressions.

`rdata` parses the format. Its own conversion stops at functions, and a log of irace contains the
user's target runner; here a function is None. An R expression becomes its text in R's syntax.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.text.numbers import printable

_INFIX = {"==", "!=", "<", "<=", ">", ">=", "&", "|", "&&", "||", "+", "-", "*", "/", "^", "%in%"}


class Expression(NamedTuple):
    """An R expression, as text."""

    text: str


class Table(NamedTuple):
    """An R matrix: numbers by column, with the names of both sides."""

    rows: list[str] | None
    columns: list[str] | None
    values: list[list[Any]]
    """One list for each column."""

    def column(self, name: str) -> list[Any]:
        """Values of the column with this name."""
        return self.values[(self.columns or []).index(name)]


def read_r_data(path: Path) -> dict[str, Any]:
    """Read the variables of an .Rdata file."""
    try:
        from rdata.parser import parse_file
    except ModuleNotFoundError:
        raise BadInput("rdata is not installed: pip install 'paramhs[import]'") from None
    try:
        found = _plain(parse_file(path).object)
    except Exception as error:  # a parser of a foreign format raises anything
        raise BadInput(f"{printable(str(path))} cannot be read as R data: {error}") from None
    return found if isinstance(found, dict) else {}


def _plain(thing: Any) -> Any:
    """Convert a parsed object; anything that is no data is None."""
    kind = thing.info.type.name
    if kind == "REF":
        return _plain(thing.referenced_object)
    if kind == "CHAR":
        return None if thing.value is None else thing.value.decode("utf-8", "backslashreplace")
    if kind == "SYM":
        return Expression(str(_plain(thing.value)))
    if kind == "LANG":
        return Expression(_text(thing))
    if kind == "BCODE":
        return _source(thing)
    if kind == "LIST":
        return {_tag(cell) or str(i): _plain(cell.value[0]) for i, cell in enumerate(_cells(thing))}
    if kind == "ENV":
        return _environment(thing)
    if kind in ("STR", "VEC", "EXPR"):
        return _shaped(thing, [_plain(one) for one in thing.value])
    if kind in ("LGL", "INT", "REAL"):
        return _shaped(thing, [_number(one) for one in thing.value.tolist()])
    return None


def _number(value: Any) -> Any:
    """A number; None for NA and NaN."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _shaped(thing: Any, values: list[Any]) -> Any:
    """Give a vector its names, levels or dimensions."""
    attributes = {_tag(cell): cell.value[0] for cell in _cells(thing.attributes)}
    # R has no type of its own for factors and matrices: they are vectors with attributes. Codes of
    # a factor count from 1.
    if "levels" in attributes:
        levels = _plain(attributes["levels"])
        return [None if code is None else levels[code - 1] for code in values]
    if "dim" in attributes:
        return _table(_plain(attributes["dim"]), _plain(attributes.get("dimnames") or _Nil), values)
    if "names" in attributes:
        return dict(zip(_plain(attributes["names"]), values, strict=True))
    return values


class _Nil:
    """An object that converts to None."""

    class info:  # noqa: N801 -- as rdata names it
        class type:  # noqa: N801
            name = "NILVALUE"


def _table(sizes: list[int], names: Any, values: list[Any]) -> Any:
    if len(sizes) != 2:
        return values
    # R stores a matrix column by column.
    height = sizes[0]
    rows, columns = names or (None, None)
    return Table(
        rows, columns, [values[k * height : (k + 1) * height] for k in range(int(sizes[1]))]
    )


def _cells(thing: Any) -> Iterator[Any]:
    """Cells of a linked list."""
    while thing is not None and thing.info.type.name in ("LIST", "LANG"):
        yield thing
        thing = thing.value[1]


def _tag(cell: Any) -> str:
    tag = cell.tag
    if tag is None:
        return ""
    if tag.info.type.name == "REF":
        tag = tag.referenced_object
    return str(_plain(tag.value)) if tag.info.type.name == "SYM" else ""


def _environment(thing: Any) -> dict[str, Any]:
    """Variables of an environment."""
    found: dict[str, Any] = {}
    table = getattr(thing.value, "hash_table", None)
    for chain in getattr(table, "value", None) or [thing.value.frame]:
        for cell in _cells(chain):
            found[_tag(cell)] = _plain(cell.value[0])
    return found


def _source(thing: Any) -> Any:
    """The expression that byte code was compiled from: the first of its constants."""
    for part in thing.value if isinstance(thing.value, tuple | list) else ():
        if isinstance(part, list | tuple) and part:
            return _plain(part[0]) if hasattr(part[0], "info") else None
    return None


def _text(thing: Any) -> str:
    """An expression in R's syntax."""
    kind = thing.info.type.name
    if kind == "LANG":
        head, *rest = (_text(cell.value[0]) for cell in _cells(thing))
        if head in _INFIX and len(rest) == 2:
            return f"({rest[0]} {head} {rest[1]})"
        if head in ("!", "-") and len(rest) == 1:
            return f"{head}{rest[0]}"
        return f"({rest[0]})" if head == "(" else f"{head}({', '.join(rest)})"
    value = _plain(thing)
    if isinstance(value, Expression):
        return value.text
    listed = [_literal(one) for one in (value if isinstance(value, list) else [value])]
    return listed[0] if len(listed) == 1 else f"c({', '.join(listed)})"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return f'"{value}"' if isinstance(value, str) else repr(value)
