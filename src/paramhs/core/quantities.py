"""Durations and sizes as people write them: `5 s`, `10 min`, `1 GB`."""

import re
from collections.abc import Callable, Mapping

from paramhs.core.errors import BadInput
from paramhs.core.space.objects import plain
from paramhs.core.text.quoting import short

SECONDS_BY_UNIT = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES_BY_UNIT = {
    **{"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9},
    **{"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}
_AMOUNT = re.compile(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*([A-Za-z]*)")
_GAIN = re.compile(r"\s*(?:gain\s*<\s*)?(\d+\.?\d*|\.\d+)\s*%\s*")
MAX_CHARACTERS = 60  # the time of the pattern grows with the square of the length


def seconds(duration: object) -> object:
    """Seconds of a text such as '90 s'; anything but a text is itself."""
    expected = "expected seconds, or a text such as '90 s', '10 min', '1.5 h', '2 d'"
    return _amount(duration, SECONDS_BY_UNIT, "s", expected)


def size(amount: object) -> object:
    """Bytes of a text such as '500 MB' or '2 GiB'; anything but a text is itself."""
    expected = "expected bytes, or a text such as '500 MB', '2 GB' or '2 GiB'"
    return _amount(amount, BYTES_BY_UNIT, "B", expected)


def _amount(amount: object, units: Mapping[str, float], usual: str, expected: str) -> object:
    if not isinstance(amount, str):
        return plain(amount)
    match = _AMOUNT.fullmatch(amount.strip()) if len(amount) <= MAX_CHARACTERS else None
    if not match or (match[3] or usual) not in units:
        raise ValueError(expected)
    return float(match[1] + (match[2] or "")) * units[match[3] or usual]


def positive_seconds(duration: object, what: str) -> float:
    """A positive number of seconds, given as a number or a text; `what` names it in messages."""
    return _positive(duration, seconds, what, "seconds")


def least_gain(rule: object, what: str) -> float:
    """Share of the cost in a rule such as "gain < 1 %", "1 %" or 0.01; `what` names it."""
    found = plain(rule)
    if isinstance(found, str):
        match = _GAIN.fullmatch(found) if len(found) <= MAX_CHARACTERS else None
        found = float(match[1]) / 100 if match else None
    if isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < 1:
        return float(found)
    raise BadInput(f"{what} must be a rule such as 'gain < 1 %', or '1 %', not {short(rule)}")


def positive_bytes(amount: object, what: str) -> float:
    """A positive number of bytes, given as a number or a text; `what` names it in messages."""
    return _positive(amount, size, what, "bytes")


def _positive(amount: object, convert: Callable[[object], object], what: str, unit: str) -> float:
    try:
        number = convert(amount)
    except ValueError as error:
        raise BadInput(f"{what}: {error}, not {short(amount)}") from None
    try:
        if isinstance(number, int | float) and not isinstance(number, bool) and number > 0:
            return float(number)
    except OverflowError:  # an integer beyond all floats
        pass
    raise BadInput(f"{what} must be a positive number of {unit}, not {short(amount)}")
