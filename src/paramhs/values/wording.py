"""Numbers as people and JSON want them."""

import math


def counted(number: int, what: str) -> str:
    """Such as 1 run, 2 runs."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def finite(number: float | None) -> float | None:
    """The number, or None where JSON has none for it."""
    return number if number is not None and math.isfinite(number) else None
