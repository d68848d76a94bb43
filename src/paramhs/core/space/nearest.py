"""The level of an ordered parameter next to a number."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import names
from paramhs.core.space.config import Config
from paramhs.core.space.literals import is_finite, value_text
from paramhs.core.space.parameters import Integer, Parameter, Real
from paramhs.core.space.space import Space


def nearest_index(parameter: Parameter, number: float) -> int:
    """Index of the level next to a number, by ratio where levels are log-spaced."""

    def level(index: int) -> float:
        return float(parameter.value(index))

    above = bisect_left(range(parameter.levels), number, key=level)
    near = [i for i in (above - 1, above) if 0 <= i < parameter.levels]
    logs = parameter.is_log and number > 0 and all(level(i) > 0 for i in near)
    scale = math.log if logs else float
    return min(near, key=lambda i: abs(scale(level(i)) - scale(number)))


def rounded(space: Space, values: Mapping[str, object]) -> tuple[dict[str, object], dict[str, str]]:
    """Values with numbers between two levels rounded to the nearest; what was rounded, by name."""
    found, changes = dict(values), {}
    for name, value in values.items():
        parameter = space.parameters.get(name)
        if isinstance(parameter, Real | Integer) and is_between(parameter, value):
            level = parameter.value(nearest_index(parameter, value))  # type: ignore[arg-type]
            if not math.isclose(float(level), float(value), rel_tol=1e-9):  # type: ignore[arg-type]
                found[name] = level
                changes[name] = f"{name} = {value_text(level)} for {value}"
    return found, changes


def switched_off(config: Config, values: Iterable[str], changes: Iterable[str]) -> list[str]:
    """Names among these values that rounding of the changed ones has made inactive.

    Raises:
        BadInput: A value is inactive for another reason.
    """
    idle = [name for name in values if name not in config]
    for name in idle:
        if not {*changes, *idle}.intersection(names(config.space.conditions[name])):
            raise BadInput(f"{name} is not active beside the other values")
    return idle


def is_between(parameter: Real | Integer, value: object) -> bool:
    """Whether a value is a number inside a range; others are left to the parameter to reject."""
    if isinstance(value, bool) or not is_finite(value):
        return False
    number = float(value)  # type: ignore[arg-type]
    return parameter.low <= number <= parameter.high and number not in parameter.special
