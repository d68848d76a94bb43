"""Numbers as people and JSON want them, and texts that a terminal can be trusted with."""

import math
import re

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but for tab and newline
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # what breaks lines, or turns their direction
    "\ud800-\udfff]"  # halves of characters, which no file can hold
)


def counted(number: int, what: str) -> str:
    """Such as 1 run, 2 runs."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def time_text(seconds: float) -> str:
    """A time as people say it: 0.02 s, 45 s, 12 min, 3.5 h."""
    if seconds < 1:
        return f"{seconds:.1g} s"
    for limit, unit, length in ((100.0, "s", 1.0), (6_000.0, "min", 60.0), (1e6, "h", 3_600.0)):
        if seconds < limit:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds / 86_400:.3g} days"


def finite(number: float | None) -> float | None:
    """The number, or None where JSON has none for it."""
    return number if number is not None and math.isfinite(number) else None


def printable(text: str) -> str:
    """The text with everything in it that a terminal might obey made visible, as `\\x1b`.

    What comes from outside (output of programs, names of files, values of parameters) may hold
    sequences that set the title, fill the clipboard or clear the screen. Tabs and newlines stay.
    """
    return _UNPRINTABLE.sub(_visible, text.replace("\r\n", "\n"))


def printable_json(text: str) -> str:
    """JSON with the same characters escaped in its own way."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
