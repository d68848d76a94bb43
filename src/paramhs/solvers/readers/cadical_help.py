"""The option list of CaDiCaL: `--name=low..high  description [default]` in `cadical --help`."""

import re
from collections.abc import Sequence

from paramhs.core.errors import BadInput
from paramhs.solvers.options import Option
from paramhs.solvers.readers.lines import boolean, integer, unreadable

_HEADER = "advanced internal options"
_LINE = re.compile(r" {2}--(\w+)=(\S+) +(.*?) *\[([^\][]*)\]$")


def read_cadical_help(text: str) -> Sequence[Option]:
    """The options below the heading of advanced ones, up to the first blank line after them.

    Numbers are written as 2e9 where they are powers of ten times a digit; where the true bound is
    2^31 - 1, CaDiCaL prints 2e9 as well, which the entry cuts anyway.
    """
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _HEADER in line]
    if not starts:
        raise BadInput(f"no line has the heading {_HEADER!r}, under which the options stand")
    options: list[Option] = []
    for number, line in enumerate(lines[starts[-1] + 1 :], starts[-1] + 2):
        if line.strip():
            options.append(_option(number, line))
        elif options:
            break
    return options


def _option(number: int, line: str) -> Option:
    match = _LINE.match(line)
    try:
        if match is None:
            raise ValueError(line)
        name, values, description, default = match.groups()
        if values in ("bool", "<bool>"):
            return Option(name, "boolean", boolean(default), description=description)
        low, high = map(integer, values.split(".."))
        return Option(name, "integer", integer(default), low, high, description=description)
    except ValueError:
        expected = "--name=bool or --name=low..high, a description and [default]"
        raise unreadable(number, line, expected) from None
