"""What numbers a generator accepts."""

import math

from paramhs.errors import BadInput


def at_least(name: str, value: int, least: int) -> int:
    """The value, which must not be below `least`."""
    if value < least:
        raise BadInput(f"{name} must be at least {least}, not {value}")
    return value


def positive(name: str, value: float) -> float:
    """The value, which must be a finite number above 0."""
    if not 0 < value < math.inf:
        raise BadInput(f"{name} must be a number above 0, not {value}")
    return value
