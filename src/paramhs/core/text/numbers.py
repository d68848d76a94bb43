"""Numbers formatted for people and JSON, and text made safe for terminals."""

import math
import re

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and newline
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # what breaks lines, or turns their direction
    "\ud800-\udfff]"  # halves of characters, which no file can hold
)


def counted(number: int, what: str) -> str:
    """Format a count with its noun: "1 run", "2 runs"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def time_text(seconds: float) -> str:
    """Format a duration for people: 0.02 s, 45 s, 12 min, 3.5 h."""
    if seconds < 1:
        return f"{seconds:.1g} s"
    for limit, unit, length in ((100.0, "s", 1.0), (6_000.0, "min", 60.0), (1e6, "h", 3_600.0)):
        if seconds < limit:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds / 86_400:.3g} days"


def finite(number: float | None) -> float | None:
    """Return the number, or None where JSON cannot represent it."""
    return number if number is not None and math.isfinite(number) else None


def exact(number: int | None) -> int | None:
    """Return the number, or None where a double, and so JSON, cannot hold it exactly."""
    return number if number is not None and abs(number) <= 2**53 else None


def printable(text: str) -> str:
    r"""Escape every character that a terminal might act on, as `\x1b`.

    Text from outside (output of programs, file names, parameter values) may contain sequences that
    set the title, fill the clipboard or clear the screen. Tabs and newlines stay.
    """
    return _UNPRINTABLE.sub(_visible, text.replace("\r\n", "\n"))


def printable_json(text: str) -> str:
    """Escape the same characters in JSON's own notation."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
