"""Numbers and things from outside as people and JSON want them."""

import math
from reprlib import Repr


def counted(number: int, what: str) -> str:
    """Such as 1 run, 2 runs."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def finite(number: float | None) -> float | None:
    """The number, or None where JSON has none for it."""
    return number if number is not None and math.isfinite(number) else None


class _Short(Repr):
    """As `repr` writes things, with little of what is long, deep or shared many times over."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlevel = 3

    def repr_int(self, number: int, level: int) -> str:
        """An integer; Python refuses to write those of thousands of digits."""
        digits = number.bit_length() * 0.30103
        return repr(number) if digits < 60 else f"<an integer of about {digits:,.0f} digits>"


_SHORT = _Short()
_LONGEST = 200


def short(thing: object) -> str:
    """A thing from outside in a message: as `repr`, but never long and never failing."""
    text = _SHORT.repr(thing)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
