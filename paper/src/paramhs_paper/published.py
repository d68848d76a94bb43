"""Published values: the coordinates of the paper's Figures 1 and 2, with their source."""

import json
from functools import cache
from importlib import resources
from typing import Any

REPETITIONS = {"saps": 500}
"""Searches behind each mean of Figure 2, where it is not 200."""
LANDSCAPE_RUNS = 10_000  # runs behind each published mean of Figure 1
# Distance of a sum of calls from an integer, because the coordinates are rounded.
_INTEGER_TOLERANCE = 1e-6


@cache
def _data() -> dict[str, Any]:
    text = resources.files("paramhs_paper").joinpath("published.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def source() -> str:
    """Source of the numbers."""
    return str(_data()["source"])


def mean_fitness(scenario: str) -> dict[float, float]:
    """Figure 1: mean final fitness by parameter value."""
    points = _data()["figure1_mean_fitness"].get(scenario, {})
    return {float(value): float(mean) for value, mean in points.items()}


def mean_calls(scenario: str, configurator: str, operator: str, size: int) -> float | None:
    """Figure 2: mean number of calls."""
    curves = _data()["figure2_mean_calls_to_better"].get(scenario, {})
    mean = curves.get(f"{configurator}/{operator}", {}).get(str(size))
    return None if mean is None else float(mean)


@cache
def repetitions(scenario: str, configurator: str, operator: str, size: int) -> int:
    """Number of searches behind a published mean.

    It is the largest number, up to the one given in the paper, for which the total is an integer.
    """
    most = REPETITIONS.get(scenario, 200)
    mean = mean_calls(scenario, configurator, operator, size)
    if mean is None:
        return most
    whole = (n for n in range(most, 0, -1) if abs(mean * n - round(mean * n)) < _INTEGER_TOLERANCE)
    return next(whole, most)


def deltas(scenario: str) -> dict[str, dict[int, float]]:
    """Figure 2: Cliff's delta by size, for each pair of curves, where significant."""
    pairs = _data()["figure2_cliffs_delta_where_significant"].get(scenario, {})
    return {pair: {int(k): float(v) for k, v in points.items()} for pair, points in pairs.items()}
