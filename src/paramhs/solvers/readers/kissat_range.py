"""The option ranges of kissat: `kissat --range` prints `name low default high`."""

from collections.abc import Sequence

from paramhs.solvers.options import Option
from paramhs.solvers.readers.lines import unreadable

_EXPECTED = "a name and three integers: low, default, high"


def read_kissat_range(text: str) -> Sequence[Option]:
    """One option a line. A range from 0 to 1 is a boolean, as `kissat --help` shows it."""
    return [_option(number, line) for number, line in enumerate(text.splitlines(), 1) if line]


def _option(number: int, line: str) -> Option:
    try:
        name, *numbers = line.split()
        low, default, high = map(int, numbers)
    except ValueError:
        raise unreadable(number, line, _EXPECTED) from None
    if not low <= default <= high:
        raise unreadable(number, line, f"{_EXPECTED}, in this order")
    if (low, high) == (0, 1):
        return Option(name, "boolean", bool(default))
    return Option(name, "integer", default, low, high)
