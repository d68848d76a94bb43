"""The figures as tables: one row a point, next to what was published."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy.stats import mannwhitneyu

from paramhs.results.landscape.calls import Calls
from paramhs_paper import published
from paramhs_paper.exact import cliffs_delta, exact_calls
from paramhs_paper.scenarios import CURVES, DELTAS, RUNS, SCENARIOS, Curve, PaperScenario
from paramhs_paper.searching import searched_calls

METHODS = ("exact", "search", "simulate")


@dataclass(frozen=True)
class LandscapePoint:
    """A point of Figure 1."""

    scenario: str
    value: float
    published: float | None
    exact_mean: float
    exact_sd: float
    z_published: float | None


@dataclass(frozen=True)
class CallsPoint:
    """A point of Figure 2; None where not computed or not published."""

    scenario: str
    configurator: str
    operator: str
    size: int
    published: float | None
    exact_mean: float
    exact_sd: float
    searched_mean: float | None
    repetitions: int | None
    z_published: float | None
    z_searched: float | None


@dataclass(frozen=True)
class DeltaPoint:
    """A cross of Figure 2: Cliff's delta, positive if the first curve is faster."""

    scenario: str
    first: str
    second: str
    size: int
    published: float | None
    """None where the paper found no significant difference."""
    exact: float
    searched: float | None
    p_value: float | None
    significant: bool | None
    """At 0.95, by a two-sided Mann-Whitney U test of the searched samples."""


@dataclass(frozen=True)
class Cell:
    """One point to compute."""

    scenario: str
    curve: Curve
    size: int
    method: str
    repetitions: int
    seed: int
    runs: int


@dataclass(frozen=True)
class Answer:
    """Its exact law, and the calls of the searches if there were any."""

    cell: Cell
    calls: Calls
    sample: list[int] | None


def landscape_points(scenario: PaperScenario) -> list[LandscapePoint]:
    """Figure 1 for a scenario."""
    known = published.mean_fitness(scenario.name)
    points = []
    for value in scenario.values:
        law = scenario.heuristic.law(value)
        fitness = scenario.heuristic.offset + np.arange(len(law))
        mean = float(law @ fitness)
        sd = math.sqrt(max(float(law @ (fitness - mean) ** 2), 0.0))
        there = known.get(value)
        z = _z(there, mean, sd, published.LANDSCAPE_RUNS)
        points.append(LandscapePoint(scenario.name, value, there, mean, sd, z))
    return points


def cells(
    scenarios: Iterable[PaperScenario], method: str, repetitions: int, seed: int, runs: int
) -> list[Cell]:
    """All points of Figure 2."""
    return [
        Cell(scenario.name, curve, size, method, repetitions, seed, runs)
        for scenario in scenarios
        for curve in CURVES
        for size in scenario.sizes
    ]


def answered(cell: Cell) -> Answer:
    """Compute one point."""
    calls = exact_calls(cell.scenario, cell.curve, cell.size, cell.runs)
    sample = None
    if cell.method != "exact":
        sample = searched_calls(
            cell.scenario,
            cell.curve,
            cell.size,
            cell.method,
            cell.repetitions,
            cell.seed,
            cell.runs,
        )
    return Answer(cell, calls, sample)


def calls_point(answer: Answer) -> CallsPoint:
    """The row of a point."""
    cell, calls = answer.cell, answer.calls
    key = (cell.scenario, cell.curve.configurator, cell.curve.operator, cell.size)
    there = published.mean_calls(*key) if cell.runs == RUNS else None
    searched = None if answer.sample is None else float(np.mean(answer.sample))
    repetitions = None if answer.sample is None else len(answer.sample)
    return CallsPoint(
        *key,
        published=there,
        exact_mean=calls.mean,
        exact_sd=calls.sd,
        searched_mean=searched,
        repetitions=repetitions,
        z_published=_z(there, calls.mean, calls.sd, published.repetitions(*key)),
        z_searched=_z(searched, calls.mean, calls.sd, repetitions or 1),
    )


def delta_points(answers: Sequence[Answer]) -> list[DeltaPoint]:
    """The crosses of Figure 2, for all points given."""
    found = {(a.cell.scenario, a.cell.curve, a.cell.size): a for a in answers}
    points = []
    for name in dict.fromkeys(a.cell.scenario for a in answers):
        for first, second in DELTAS:
            for size in SCENARIOS[name].sizes:
                a, b = found.get((name, first, size)), found.get((name, second, size))
                if a and b:
                    points.append(_delta(name, first, second, size, a, b))
    return points


def _delta(name: str, first: Curve, second: Curve, size: int, a: Answer, b: Answer) -> DeltaPoint:
    known = published.deltas(name) if a.cell.runs == RUNS else {}
    there = known.get(f"{first.name} vs {second.name}", {}).get(size)
    searched = p_value = significant = None
    if a.sample and b.sample:
        searched = sample_delta(a.sample, b.sample)
        p_value = float(mannwhitneyu(a.sample, b.sample, alternative="two-sided").pvalue)
        significant = p_value < 0.05
    exact = cliffs_delta(a.calls, b.calls)
    return DeltaPoint(
        name, first.name, second.name, size, there, exact, searched, p_value, significant
    )


def sample_delta(first: Sequence[int], second: Sequence[int]) -> float:
    """Cliff's delta of two samples: positive if the first tends to be smaller."""
    a, b = np.asarray(first)[:, None], np.asarray(second)[None, :]
    return float(np.sign(b - a).mean())


def _z(mean: float | None, exact: float, sd: float, repetitions: int) -> float | None:
    if mean is None:
        return None
    if sd == 0:
        return 0.0 if mean == exact else None
    return (mean - exact) / (sd / math.sqrt(repetitions))


def as_dicts(points: Iterable[LandscapePoint | CallsPoint | DeltaPoint]) -> list[dict[str, object]]:
    """Rows by name, for CSV and JSON."""
    return [asdict(point) for point in points]
