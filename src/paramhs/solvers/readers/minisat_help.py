"""The option list of minisat and the solvers made from it: `minisat --help-verb`."""

import re
from collections.abc import Sequence

from paramhs.core.errors import BadInput
from paramhs.solvers.options import Kind, Option
from paramhs.solvers.readers.lines import unreadable

_FLAG = re.compile(r" *-([\w-]+), -no-([\w-]+) +\(default: (on|off)\)$")
_RANGE = re.compile(
    r" *-([\w-]+) *= *<(int32|int64|double)> *[\[(] *(\S+) *\.\. *(\S+?) *[\])]"
    r" *\(default: (\S+)\)$"
)
_TEXT = re.compile(r" *-([\w-]+) *= *<string>")
_ENDLESS = {"imin", "imax", "-inf", "inf"}
_MAX_INT = 2**31 - 1


def read_minisat_help(text: str) -> Sequence[Option]:
    """Options are lines that begin with `-name`; the lines between them describe the one before.

    An open end such as `( 0 .. 1)` is left to the entry: the solver refuses the bound itself.
    """
    options: list[Option] = []
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r" *-[a-zA-Z]", line):
            options.append(_option(number, line))
        elif line.startswith("        ") and options and not options[-1].description:
            options[-1] = _described(options[-1], line.strip())
    if not options:
        raise BadInput("no line has an option such as '-luby, -no-luby (default: on)'")
    return options


def _described(option: Option, text: str) -> Option:
    return Option(**{**vars(option), "description": text})


def _option(number: int, line: str) -> Option:
    if match := _FLAG.match(line):
        return Option(match[1], "boolean", match[3] == "on")
    if match := _TEXT.match(line):
        return Option(match[1], "text", "")
    match = _RANGE.match(line)
    if match is None:
        raise unreadable(number, line, "-name, -no-name or -name = <type> [low .. high]")
    name, written, low, high, default = match.groups()
    kind: Kind = "real" if written == "double" else "integer"
    try:
        value = float(default) if kind == "real" else int(default)
        return Option(name, kind, value, _end(low, kind), _end(high, kind))
    except ValueError:
        raise unreadable(number, line, "numbers as bounds and default") from None


def _end(text: str, kind: Kind) -> float | None:
    """A bound; None for none."""
    if text in _ENDLESS:
        return None
    number = float(text) if kind == "real" else int(text)
    return None if kind == "integer" and abs(number) >= _MAX_INT else number
