"""One space for all tools: what a tool proposes is moved to the nearest level."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from functools import cache

from paramhs.core.space import Config, Integer, Ordinal, Parameter, Real, Space
from paramhs.formats.space_files.source_lines import written_value

LEVELS = 8
"""Values of an ordered parameter for ParamILS, which knows lists only; its examples have seven."""


def understood(space: Space, texts: Mapping[str, str]) -> Config:
    """The configuration that a tool means by these texts; defaults elsewhere."""
    values = {name: _value(space.parameters[name], text) for name, text in texts.items()}
    return space.config(values)


def _value(parameter: Parameter, text: str) -> object:
    if isinstance(parameter, Integer | Real):
        return parameter.value(_nearest(parameter, float(text)))
    return _by_text(parameter)[text]


@cache
def _by_text(parameter: Parameter) -> Mapping[str, object]:
    values = [parameter.value(index) for index in range(parameter.levels)]
    return {written_value(value): value for value in values}


@cache
def _levels(parameter: Integer | Real) -> list[float]:
    scale = math.log if parameter.log else float
    return [scale(parameter.value(index)) for index in range(parameter.levels)]


def _nearest(parameter: Integer | Real, value: float) -> int:
    levels = _levels(parameter)
    inside = min(max(value, parameter.low), parameter.high)
    wanted = math.log(inside) if parameter.log else inside
    right = min(bisect_left(levels, wanted), len(levels) - 1)
    return min((max(right - 1, 0), right), key=lambda index: abs(levels[index] - wanted))


def thinned(space: Space) -> Space:
    """Thin ordered parameters to a few values, with both ends and the default among them."""
    parameters = {name: _thinned(parameter) for name, parameter in space.parameters.items()}
    return Space(parameters, conditions=space.conditions, forbidden=space.forbidden)


def _thinned(parameter: Parameter) -> Parameter:
    if not isinstance(parameter, Integer | Real | Ordinal):
        return parameter
    steps = min(LEVELS - 1, parameter.levels) - 1  # the default may be one more
    last = parameter.levels - 1
    indices = {round(last * step / steps) for step in range(steps + 1)} if steps else {0}
    indices |= {parameter.default_index}
    values = [parameter.value(index) for index in sorted(indices)]
    return Ordinal(values, default=parameter.default)  # type: ignore[arg-type]
