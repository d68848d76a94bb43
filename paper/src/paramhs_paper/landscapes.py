"""Figure 1: landscapes, computed or measured, with the published values."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paramhs.theory.outcomes import Array
from paramhs_paper import published
from paramhs_paper.saps.ranking import AGGREGATIONS, aggregated, five_best
from paramhs_paper.saps.table import QUALITIES, Landscape
from paramhs_paper.scenarios import HeuristicScenario
from paramhs_paper.statistics import z_score


@dataclass(frozen=True)
class FitnessPoint:
    """Mean final fitness of a heuristic with one value of its parameter."""

    scenario: str
    value: float
    published: float | None
    exact_mean: float
    exact_sd: float
    z_published: float | None


def fitness_points(scenario: HeuristicScenario) -> list[FitnessPoint]:
    """Figure 1 of a heuristic."""
    known = published.mean_fitness(scenario.published)
    points = []
    for value in scenario.values:
        law = scenario.heuristic.law(value)
        fitness = scenario.heuristic.offset + np.arange(len(law))
        mean = float(law @ fitness)
        sd = math.sqrt(max(float(law @ (fitness - mean) ** 2), 0.0))
        z = z_score(known.get(value), mean, sd, 1 / published.LANDSCAPE_RUNS)
        points.append(FitnessPoint(scenario.name, value, known.get(value), mean, sd, z))
    return points


def setting_rows(landscape: Landscape, chance: Array) -> list[dict[str, Any]]:
    """Figure 1 of SAPS: one row per setting, with every aggregation and quality."""
    tables = {
        (over, quality): aggregated(landscape, over, quality)
        for over in AGGREGATIONS
        for quality in QUALITIES
    }
    best = five_best(aggregated(landscape).mean)
    rows = []
    for a, alpha in enumerate(landscape.alphas):
        for r, rho in enumerate(landscape.rhos):
            row: dict[str, Any] = {"alpha_15": alpha, "rho_15": rho}
            for (over, quality), costs in tables.items():
                row[f"{over}_{quality}"] = round(float(costs.mean[a, r]), 6)
                row[f"{over}_{quality}_se"] = round(float(costs.error[a, r]), 6)
            row["null_flips"] = round(float(landscape.null_flips[:, a, r].mean()), 2)
            row["chance_of_five"] = float(chance[a, r])
            row["five_best"] = a * len(landscape.rhos) + r in best
            rows.append(row)
    return rows
