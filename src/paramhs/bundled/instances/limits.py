"""Ranges of numbers that the generators accept."""

import math

from paramhs.core.errors import BadInput

MAX_NUMBERS = 20_000_000


def at_least(name: str, value: int, least: int) -> int:
    """Return the value if it is not below `least`."""
    if value < least:
        raise BadInput(f"{name} must be at least {least}, not {value}")
    return value


def sized(numbers: float) -> int:
    """Round a number of entries, rejecting instances too large for memory."""
    if numbers > MAX_NUMBERS:
        raise BadInput(
            f"such an instance would have {numbers:.2g} numbers in it; at most {MAX_NUMBERS:.0g}"
        )
    return round(numbers)


def positive(name: str, value: float) -> float:
    """Return the value if it is finite and above 0."""
    if not 0 < value < math.inf:
        raise BadInput(f"{name} must be a number above 0, not {value}")
    return value
