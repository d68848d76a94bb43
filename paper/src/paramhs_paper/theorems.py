"""The theorems, compared with exact numbers of calls."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paramhs.search.operators import LStep, OneParameter, Uniform
from paramhs.theory.bounds import (
    l_step_lower_bound,
    param_ils_lower_bound,
    uniform_lower_bound,
    upper_bound,
)
from paramhs.theory.harmonic_line import harmonic_line_calls
from paramhs.theory.hitting import without_replacement
from paramhs.theory.outcomes import Array, by_cost
from paramhs.theory.param_rls import table_chain
from paramhs_paper.arena import Arena, own_chain, undiscovered_mean
from paramhs_paper.random_landscapes import Row, study
from paramhs_paper.writing import markdown, number

STUDY_SIZES = (5, 10, 20, 50, 100)
GROWTH_SIZES = tuple(10**k for k in range(1, 7))
SMALL_SHAPES = ((2, 2), (3, 3), (2, 5), (2, 2, 2), (3, 4))
SHAPES = (
    *SMALL_SHAPES, (10, 10), (5, 20), (2, 50), (30, 16), (5, 5, 5), (10, 10, 10), (4, 4, 4, 4),
)  # fmt: skip
_MAX_CONFIGS = 12  # without replacement the state is the set of what was tried


@dataclass(frozen=True)
class SeveralParameters:
    """Exact mean calls on a landscape with one valley, its optimum in a corner or the middle."""

    sizes: str
    optimum: str
    total: int
    """M, the sum of the numbers of values."""
    l_step: float
    uniform: float
    uniform_without_replacement: float | None
    """Mean calls without replacement; None if there are too many configurations."""
    param_ils: float

    @property
    def ratios(self) -> tuple[float, float, float | None, float]:
        """Ratios of the exact calls to M/8, M/4, M/4 and M/16; at least 1 if the theorems hold."""
        sizes = [int(levels) for levels in self.sizes.split(" x ")]
        unrepeated = self.uniform_without_replacement
        uniform = float(uniform_lower_bound(sizes))
        return (
            self.l_step / float(l_step_lower_bound(sizes)),
            self.uniform / uniform,
            None if unrepeated is None else unrepeated / uniform,
            self.param_ils / float(param_ils_lower_bound(sizes)),
        )


@dataclass(frozen=True)
class Growth:
    """Mean calls of each operator for one parameter; costs are distances from its first value."""

    levels: int
    l_step: float
    uniform: float
    uniform_without_replacement: float
    harmonic: float


def study_rows(repetitions: int, seed: int) -> list[Row]:
    """Landscapes of every kind, with their bounds and exact calls."""
    return study(STUDY_SIZES, repetitions, seed)


def growth_rows() -> list[Growth]:
    """Growth from 10 to a million values, on a landscape with one valley."""
    return [_growth_of(levels) for levels in GROWTH_SIZES]


def _growth_of(levels: int) -> Growth:
    """Closed forms of the operators on a valley with its optimum at the end.

    The 1-step takes two calls per step, but one from the border, where the only step is inwards;
    with uniform moves each other value is drawn with equal probability, whatever the landscape;
    without replacement, the optimum is anywhere in a random order.
    """
    one_step = (levels * (levels - 1) - 1) / levels
    uniform = (levels - 1) ** 2 / levels
    harmonic = harmonic_line_calls(np.arange(float(levels)))
    return Growth(levels, one_step, uniform, (levels - 1) / 2, harmonic)


def several_rows(shapes: Sequence[tuple[int, ...]] = ()) -> list[SeveralParameters]:
    """Theorems 1 to 3 for several parameters; all shapes if none are given."""
    return [
        _several(shape, where, at)
        for shape in shapes or SHAPES
        for where, at in (("corner", [0] * len(shape)), ("middle", [k // 2 for k in shape]))
    ]


def _several(shape: tuple[int, ...], where: str, optimum: Sequence[int]) -> SeveralParameters:
    costs = _valley(shape, optimum)
    beats, best = by_cost(costs.ravel()), np.array([costs.argmin()])
    arena = Arena(shape, beats, best, np.argsort(costs, axis=None))
    walks = undiscovered_mean(arena)
    if walks is None:
        raise AssertionError("a valley without ties has no other local optimum")
    return SeveralParameters(
        " x ".join(map(str, shape)),
        where,
        sum(shape),
        table_chain(costs, LStep()).moments()[0],
        table_chain(costs, Uniform()).moments()[0],
        own_chain(arena, OneParameter(Uniform()), False).moments()[0]
        if costs.size <= _MAX_CONFIGS
        else None,
        walks,
    )


def _valley(shape: tuple[int, ...], optimum: Sequence[int]) -> Array:
    """Sum of the distances from the optimum, slightly tilted so that there are no ties."""
    costs = np.zeros(shape)
    for axis, (levels, at) in enumerate(zip(shape, optimum, strict=True)):
        away = np.arange(levels) - at
        slope = np.abs(away) * (1 + 1e-3 * math.sqrt(axis + 2)) + 1e-4 * math.pi * (away > 0)
        costs += slope.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return costs


def study_table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows by name, for CSV."""
    names = ("upper_ratio", "halving_ratio", "l_step_ratio", "uniform_ratio")
    return [
        {key: _plain(value) for key, value in vars(row).items()}
        | {name: _plain(getattr(row, name)) for name in names}
        for row in rows
    ]


def _plain(value: Any) -> Any:
    """Convert a value to a word or a number; None for infinity, where a search may get stuck."""
    if isinstance(value, str | int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def theorems_summary(
    rows: Sequence[Row], several: Sequence[SeveralParameters], sizes: Sequence[Growth]
) -> str:
    """Describe the results in Markdown."""

    def lines() -> Iterator[str]:
        yield from _one_parameter(rows)
        yield from _several_parameters(several)
        yield from _growth(sizes)

    return "\n".join(lines()) + "\n"


def _one_parameter(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{len(rows)} landscapes of one parameter drawn; comparisons always right, uniform start."
    yield "A ratio below 1 would contradict a theorem: bound / exact for Theorem 4 (its logarithm"
    yield "to base 2, for which the proof holds), exact / bound else. *Stuck*: where the 1-step may"
    yield "never find the optimum."
    yield ""
    yield from markdown(
        ("kind", "landscapes", "Theorem 4: least", "median", "Theorem 1 (M/8): least", "stuck"),
        (
            _kind(kind, [row for row in rows if row.kind == kind])
            for kind in dict.fromkeys(row.kind for row in rows)
        ),
    )
    yield f"Bounds violated: {sum(_violated(row) for row in rows)}."
    yield "Theorems 2 and 3 need no landscapes: without replacement the exact mean is (M - 1)/2,"
    least = min(row.uniform_ratio for row in rows)
    yield f"which is at least {least:.2f} times M/4 (uniform moves) and"
    yield f"{_least_param_ils():.2f} times M/16 (ParamILS) at these sizes."
    yield ""


def _kind(kind: str, rows: Sequence[Row]) -> list[object]:
    upper = sorted(row.upper_ratio for row in rows)
    lower = [_first_ratio(row) for row in rows]
    stuck = sum(math.isinf(ratio) for ratio in lower)
    middle = f"{upper[len(upper) // 2]:.1f}"
    return [kind, len(rows), f"{upper[0]:.2f}", middle, f"{min(lower):.2f}", stuck]


def _several_parameters(rows: Sequence[SeveralParameters]) -> Iterator[str]:
    yield "Several parameters, one valley (the cost is the sum of the distances from the optimum):"
    yield "exact mean calls and, in brackets, how many times the bound that is. Without"
    yield f"replacement the state is what was tried, so up to {_MAX_CONFIGS} configurations."
    yield ""
    headings = ["values", "optimum", "M", "1-step (M/8)", "random (M/4)"]
    headings += ["random, without replacement (M/4)", "ParamILS (M/16)"]
    calls = (
        (row.l_step, row.uniform, row.uniform_without_replacement, row.param_ils) for row in rows
    )
    yield from markdown(
        headings,
        (
            [row.sizes, row.optimum, row.total]
            + [
                "" if mean is None else f"{number(mean)} ({number(ratio)})"
                for mean, ratio in zip(means, row.ratios, strict=True)
            ]
            for row, means in zip(rows, calls, strict=True)
        ),
    )


def _growth(sizes: Sequence[Growth]) -> Iterator[str]:
    yield "Growth on a landscape with one valley, the optimum at its end:"
    yield ""
    yield from markdown(
        ("values", "1-step", "random", "random, without replacement", "harmonic", "Theorem 4"),
        (
            (
                f"{row.levels:,}",
                f"{row.l_step:,.1f}",
                f"{row.uniform:,.1f}",
                f"{row.uniform_without_replacement:,.1f}",
                f"{row.harmonic:.2f}",
                f"{upper_bound(row.levels, 1, 1):,.0f}",
            )
            for row in sizes
        ),
    )


def _first_ratio(row: Row) -> float:
    """Ratio of the exact calls of the 1-step to Theorem 1's M/8."""
    return row.l_step / float(l_step_lower_bound([row.levels]))


def _violated(row: Row) -> bool:
    ratios = (row.upper_ratio, row.halving_ratio, row.l_step_ratio, row.uniform_ratio)
    return min(*ratios, _first_ratio(row)) < 1


def _least_param_ils() -> float:
    """Ratio of ParamILS's exact mean over undiscovered neighbours to the bound."""
    return min(
        without_replacement(size).mean / float(param_ils_lower_bound([size]))
        for size in STUDY_SIZES
    )
