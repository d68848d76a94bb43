"""The option list of CryptoMiniSat: `cryptominisat5 --hhelp`, as Boost writes it.

      -r [ --random ] arg (=0)              [0..] Random seed
      --polar arg (=auto)                   {true,false,rnd,auto,stable} Selects
                                            polarity mode. ...

There are no bounds. A whole number whose default is 0 or 1 is nearly always a switch, so its range
is 0 to 1; the entry gives the range of those that are not.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from paramhs.core.errors import BadInput
from paramhs.solvers.options import UNSET, Option
from paramhs.solvers.readers.lines import unreadable

_MARGIN = " " * 30  # before the lines of a description
_OPTION = re.compile(
    r"  (?:-\w \[ )?--(?P<name>\w+)(?: \])?(?: arg)?(?: \(=(?P<default>[^)]*)\))?"
    r"(?: +(?!arg |\(=)(?P<text>.*))?$"
)
_LINE = re.compile(r"  (?:-\w \[ )?--\w")
_INTEGER = re.compile(r"-?\d+")
_REAL = re.compile(r"-?\d+\.\d*(?:e-?\d+)?")
_WORDS = re.compile(r"\{([\w, ]+)\}")
_START = "Main options"
_DIGITS = 12  # of a real default; it is printed with all 17, as 0.10000000000000001


def read_cryptominisat_help(text: str) -> Sequence[Option]:
    """Options in the order of the list."""
    options = [_option(*found) for found in _entries(text.splitlines())]
    if not options:
        raise BadInput("no line has an option such as '  --random arg (=0)   [0..] Random seed'")
    return options


def _entries(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Number and text of the line of each option, and the rest of its description."""
    start = next((i for i, line in enumerate(lines) if line.startswith(_START)), len(lines))
    for index in range(start, len(lines)):
        if _LINE.match(lines[index]):
            below = takewhile(lambda line: line.startswith(_MARGIN), lines[index + 1 :])
            yield index + 1, lines[index], " ".join(map(str.strip, below))


def _option(number: int, line: str, below: str) -> Option:
    match = _OPTION.match(line)
    if match is None:
        raise unreadable(number, line, "--name, or --name arg (=default), and a description")
    name, default = match["name"], match["default"]
    description = f"{match['text'] or ''} {below}".strip()
    if default is None:
        return Option(name, "text", UNSET, description=description)
    if _INTEGER.fullmatch(default):
        value = int(default)
        high = 1 if value in (0, 1) else None
        return Option(name, "integer", value, min(value, 0), high, description=description)
    if _REAL.fullmatch(default):
        real = float(f"{float(default):.{_DIGITS}g}")
        return Option(name, "real", real, min(real, 0.0), description=description)
    listed = _WORDS.search(description)
    words = tuple(re.split(r", *", listed[1])) if listed else ()
    kind = "choice" if default in words else "text"
    return Option(name, kind, default, choices=words, description=description)  # type: ignore[arg-type]
