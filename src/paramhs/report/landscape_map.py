"""Map of two parameters with the incumbents of a search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from paramhs.core.space import Config, Parameter


@dataclass(frozen=True)
class Map:
    """Mean cost over a grid of two parameters, with the others as in the best."""

    across: str
    up: str
    xs: tuple[Any, ...]
    ys: tuple[Any, ...]
    costs: tuple[tuple[float, ...], ...]
    """Costs by row (ys), then by column (xs)."""
    stops: tuple[Config, ...]
    """The incumbents, from the first to the last."""

    def cell(self, config: Config) -> tuple[int, int]:
        """Column and row nearest to a configuration, by levels."""
        return tuple(  # type: ignore[return-value]
            _nearest(config.space.parameters[name], values, config[name])
            for name, values in ((self.across, self.xs), (self.up, self.ys))
        )


def drawn_map(
    stops: Sequence[Config],
    across: str,
    up: str,
    cost: Callable[[Config], float],
    columns: int = 13,
    rows: int = 9,
) -> Map:
    """Measure the map around the last of these configurations."""
    best = stops[-1]
    space = best.space
    xs = _levels(space.parameters[across], columns)
    ys = _levels(space.parameters[up], rows)
    costs = tuple(
        tuple(cost(space.config({**best.as_dict(), across: x, up: y})) for x in xs) for y in ys
    )
    return Map(across, up, xs, ys, costs, tuple(stops))


def _levels(parameter: Parameter, count: int) -> tuple[Any, ...]:
    """Values of a parameter spread evenly over its levels, including both ends."""
    indices = [round(i * (parameter.levels - 1) / (count - 1)) for i in range(count)]
    return tuple(parameter.value(i) for i in dict.fromkeys(indices))


def _nearest(parameter: Parameter, values: Sequence[Any], value: Any) -> int:
    at = parameter.index(value)
    return min(range(len(values)), key=lambda i: abs(parameter.index(values[i]) - at))
