"""What numbers a generator accepts."""

import math

from paramhs.values.errors import BadInput

MOST_NUMBERS = 20_000_000


def at_least(name: str, value: int, least: int) -> int:
    """The value, which must not be below `least`."""
    if value < least:
        raise BadInput(f"{name} must be at least {least}, not {value}")
    return value


def sized(numbers: float) -> int:
    """How many numbers an instance has, which must be fewer than memory can hold with ease."""
    if numbers > MOST_NUMBERS:
        raise BadInput(
            f"such an instance would have {numbers:.2g} numbers in it; at most {MOST_NUMBERS:.0g}"
        )
    return round(numbers)


def positive(name: str, value: float) -> float:
    """The value, which must be a finite number above 0."""
    if not 0 < value < math.inf:
        raise BadInput(f"{name} must be a number above 0, not {value}")
    return value
