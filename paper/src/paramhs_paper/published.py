"""What was published: the coordinates of the paper's Figures 1 and 2, with their source."""

import json
from functools import cache
from importlib import resources
from typing import Any

REPETITIONS = 200  # behind each published mean of Figure 2, but for those below and SAPS
SAPS_REPETITIONS = 500
OTHER_REPETITIONS = {
    ("ridge", "paramrls", "l-step", 45): 197,
    ("ridge", "paramrls", "l-step", 50): 189,
    ("onemax", "paramils", "random", 15): 125,
    ("onemax", "paramils", "random", 30): 196,
}
"""Means that are no multiples of 1/200, but of 1/197 and so on: the largest such number up to 200.
On Ridge it is how many repetitions had finished; on OneMax the reason is not known."""
LANDSCAPE_RUNS = 10_000  # behind each published mean of Figure 1


@cache
def _data() -> dict[str, Any]:
    text = resources.files("paramhs_paper").joinpath("published.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def source() -> str:
    """Where the numbers are from."""
    return str(_data()["source"])


def mean_fitness(scenario: str) -> dict[float, float]:
    """Figure 1: mean final fitness by parameter value."""
    points = _data()["figure1_mean_fitness"].get(scenario, {})
    return {float(value): float(mean) for value, mean in points.items()}


def mean_calls(scenario: str, configurator: str, operator: str, size: int) -> float | None:
    """Figure 2: mean number of calls. Both readings of the harmonic step face the same numbers."""
    name = "harmonic" if operator == "harmonic-both-sides" else operator
    curves = _data()["figure2_mean_calls_to_better"].get(scenario, {})
    mean = curves.get(f"{configurator}/{name}", {}).get(str(size))
    return None if mean is None else float(mean)


def repetitions(scenario: str, configurator: str, operator: str, size: int) -> int:
    """Behind a published mean."""
    if scenario == "saps":
        return SAPS_REPETITIONS
    return OTHER_REPETITIONS.get((scenario, configurator, operator, size), REPETITIONS)


def deltas(scenario: str) -> dict[str, dict[int, float]]:
    """Figure 2: Cliff's delta by size, for each pair of curves, where significant."""
    pairs = _data()["figure2_cliffs_delta_where_significant"].get(scenario, {})
    return {pair: {int(k): float(v) for k, v in points.items()} for pair, points in pairs.items()}
