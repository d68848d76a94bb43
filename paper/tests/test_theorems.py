import math
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.random_streams import stream
from paramhs.search.operators import Harmonic, LStep, Uniform
from paramhs.theory.bounds import (
    halving_bound,
    l_step_distance_bound,
    l_step_lower_bound,
    uniform_lower_bound,
)
from paramhs.theory.param_rls import table_chain
from paramhs.theory.unimodality import is_approximately_unimodal, optima, profile
from paramhs_paper import theorems
from paramhs_paper.random_landscapes import KINDS, Row, approximately_unimodal, study, unimodal
from paramhs_paper.theorems import (
    SMALL_SHAPES,
    Growth,
    growth_rows,
    several_rows,
    study_table,
    theorems_summary,
)
from paramhs_paper.writing import read_rows

ROUNDING = 1e-9
SIZES = (2, 3, 5, 10, 30, 100)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return study(SIZES, 3, seed=3)


def test_the_study_draws_every_kind_and_size(rows: list[Row]) -> None:
    assert {(row.kind, row.levels) for row in rows} == set(product(KINDS, SIZES))


def test_no_landscape_violates_the_upper_bounds(rows: list[Row]) -> None:
    assert min(row.upper_ratio for row in rows) >= 1
    assert min(row.halving_ratio for row in rows) >= 1


def test_the_halving_bound_is_the_sharper_one(rows: list[Row]) -> None:
    assert all(row.halving_bound <= row.upper_bound * (1 + ROUNDING) for row in rows)


def test_no_landscape_violates_the_lower_bounds(rows: list[Row]) -> None:
    assert min(row.l_step_ratio for row in rows) >= 1 - ROUNDING
    assert min(row.uniform_ratio for row in rows) >= 1
    assert all(row.uniform >= row.uniform_without_replacement for row in rows)


def test_the_upper_bound_is_at_most_five_times_too_large_on_large_deceptive_landscapes(
    rows: list[Row],
) -> None:
    assert all(r.upper_ratio < 5 for r in rows if r.kind == "deceptive" and r.levels == 100)


def test_the_one_step_gets_stuck_on_rugged_landscapes_and_never_on_unimodal_ones(
    rows: list[Row],
) -> None:
    assert all(math.isinf(r.l_step) for r in rows if r.kind == "rugged" and r.levels == 100)
    assert all(math.isfinite(r.l_step) for r in rows if r.kind in ("unimodal", "plateau"))


def test_unimodal_landscapes_are_one_one() -> None:
    for levels in (1, 2, 3, 50):
        assert set(profile(unimodal(levels, stream(1, "unimodal", levels)))) == {1}


@given(st.integers(2, 60), st.floats(1, 8), st.integers(1, 60), st.integers(0, 10**6))
def test_a_drawn_landscape_has_the_chosen_alpha_and_beta(
    levels: int, alpha: float, beta: int, seed: int
) -> None:
    beta = min(beta, levels)
    costs = approximately_unimodal(levels, alpha, beta, stream(seed, "chosen"))
    assert is_approximately_unimodal(costs, alpha, beta)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("levels", [2, 3, 17])
def test_drawn_landscapes_have_one_optimum_and_repeat(kind: str, levels: int) -> None:
    costs = KINDS[kind](levels, stream(5, kind))
    assert len(optima(costs)) == 1
    assert np.array_equal(costs, KINDS[kind](levels, stream(5, kind)))


def test_several_parameters_take_at_least_what_the_theorems_say() -> None:
    rows = several_rows((*SMALL_SHAPES[:4], (4, 5), (3, 3, 3)))
    for row in rows:
        assert min(ratio for ratio in row.ratios if ratio is not None) >= 1
        assert (row.uniform_without_replacement is None) == (row.sizes in ("4 x 5", "3 x 3 x 3"))
    assert {row.optimum for row in rows} == {"corner", "middle"}


def test_two_parameters_of_two_values_by_hand() -> None:
    """From two of four settings the best is one of two neighbours; from the last, either leads to
    such a one. Unrepeated, and for ParamILS, the other neighbour is met at most once."""
    (row, _) = several_rows(((2, 2),))
    assert row.l_step == row.uniform == pytest.approx((0 + 2 + 2 + 3) / 4)
    assert row.param_ils == row.uniform_without_replacement == pytest.approx((1.5 + 1.5 + 2) / 4)
    assert row.total == 4
    bounds = [float(l_step_lower_bound([2, 2])), float(uniform_lower_bound([2, 2]))]
    assert row.ratios[:2] == pytest.approx([row.l_step / bounds[0], row.uniform / bounds[1]])


def test_the_summary_counts_violations_and_stuck_searches(rows: list[Row]) -> None:
    text = theorems_summary(rows, several_rows(((2, 2),)), [])
    assert "Bounds violated: 0." in text
    assert f"| deceptive | {3 * len(SIZES)} |" in text
    assert "| 2 x 2 | corner | 4 | 1.75 (3.50) |" in text
    table = study_table(rows)
    assert len(table) == len(rows)
    assert any(row["l_step"] is None for row in table)
    assert all(isinstance(row["alpha"], float) for row in table)


KEPT = Path(__file__).parents[2] / "docs" / "reproduction" / "theorems_growth.csv"


def grown(monkeypatch: pytest.MonkeyPatch, *sizes: int) -> list[Growth]:
    monkeypatch.setattr(theorems, "GROWTH_SIZES", sizes)
    return growth_rows()


def test_growth_is_that_of_the_linear_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in grown(monkeypatch, 2, 3, 10, 60):
        costs = np.arange(float(row.levels))
        for found, step in (
            (row.l_step, LStep()),
            (row.uniform, Uniform()),
            (row.harmonic, Harmonic()),
        ):
            assert found == pytest.approx(table_chain(costs, step).moments()[0])
        assert row.uniform_without_replacement == (row.levels - 1) / 2


def test_growth_is_as_kept_and_like_a_squared_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = read_rows(KEPT, Growth)
    rows = grown(monkeypatch, 10, 100, 1_000, 10_000, 100_000)
    for row, old in zip(rows, kept, strict=False):
        assert vars(row) == pytest.approx(vars(old), rel=1e-11)
        assert row.harmonic <= halving_bound(row.levels, 1, 1)
        assert row.l_step >= l_step_distance_bound([row.levels], [0])
    for small, large in pairwise(kept[2:]):
        assert large.harmonic / small.harmonic < 2
        for name in ("l_step", "uniform", "uniform_without_replacement"):
            assert vars(large)[name] / vars(small)[name] == pytest.approx(10, rel=0.01)
