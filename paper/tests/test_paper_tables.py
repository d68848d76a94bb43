import json
import math
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from driving import z_score
from laws import DRAWS, fits
from paramhs.results.landscape.calls import calls_of
from paramhs_paper import published, tables
from paramhs_paper.exact import cliffs_delta, exact_calls
from paramhs_paper.reproduction import cost_of_better
from paramhs_paper.scenarios import CURVES, DELTAS, RUNS, SCENARIOS, Curve
from paramhs_paper.searching import searched_calls
from paramhs_paper.several import all_answered
from paramhs_paper.summary import calls_summary
from paramhs_paper.tables import Answer, CallsPoint, Cell, sample_delta

KEYS = (
    "scenario",
    "configurator",
    "operator",
    "size",
    "published",
    "exact_mean",
    "exact_sd",
    "searched_mean",
    "repetitions",
    "z_published",
    "z_searched",
)
SIZE = 10
EVERY = list(product(SCENARIOS, CURVES))
NAMED = [f"{scenario}-{curve.name}" for scenario, curve in EVERY]


@cache
def searches(scenario: str, curve: Curve) -> list[int]:
    return searched_calls(scenario, curve, SIZE, "search", DRAWS, 1)


@pytest.mark.parametrize(("scenario", "curve"), EVERY, ids=NAMED)
def test_searches_take_as_many_calls_as_computed(scenario: str, curve: Curve) -> None:
    """5 standard errors: all 21 right curves together fail once in 80,000 seeds."""
    exact = exact_calls(scenario, curve, SIZE)
    calls = searches(scenario, curve)
    assert abs(np.mean(calls) - exact.mean) < 5 * exact.sd / math.sqrt(DRAWS)


@pytest.mark.parametrize(
    "curve", [curve for curve in CURVES if "harmonic" in curve.operator], ids=lambda c: c.name
)
def test_searches_have_the_computed_law(curve: Curve) -> None:
    assert fits(
        searches("leadingones", curve), dict(enumerate(exact_calls("leadingones", curve, SIZE).pmf))
    )


def test_the_other_reading_of_the_harmonic_step_is_told_from_it() -> None:
    """So the tests above would notice one standing in for the other."""
    calls = searches("leadingones", Curve("paramrls", "harmonic"))
    other = exact_calls("leadingones", Curve("paramrls", "harmonic-both-sides"), SIZE)
    assert abs(z_score(calls, other.mean)) > 5


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: c.name)
def test_searches_that_simulate_every_bit_take_as_many_calls_as_computed(curve: Curve) -> None:
    """Three runs a side: ties and upsets are common, so the simulation matters."""
    exact = exact_calls("onemax", curve, 5, 3)
    calls = searched_calls("onemax", curve, 5, "simulate", 400, 2, 3)
    assert abs(np.mean(calls) - exact.mean) < 5 * exact.sd / math.sqrt(len(calls))


def test_searches_are_a_function_of_the_seed() -> None:
    curve = Curve("paramrls", "harmonic")
    one, again, other = (
        searched_calls("onemax", curve, 10, "search", 50, seed) for seed in (7, 7, 8)
    )
    assert one == again != other


def exact_point(scenario: str, curve: Curve, size: int, runs: int = RUNS) -> CallsPoint:
    return tables.calls_point(tables.answered(Cell(scenario, curve, size, "exact", 200, 0, runs)))


def test_a_row_has_the_promised_keys_in_their_order() -> None:
    assert tuple(field.name for field in fields(CallsPoint)) == KEYS
    (row,) = tables.as_dicts([exact_point("onemax", CURVES[0], 5)])
    assert tuple(row) == KEYS


def test_there_is_a_row_for_every_scenario_curve_and_size() -> None:
    cells = tables.cells(SCENARIOS.values(), "exact", 1, 0, RUNS)
    found = {(cell.scenario, cell.curve.name, cell.size) for cell in cells}
    assert found == set(product(SCENARIOS, (c.name for c in CURVES), range(5, 51, 5)))
    assert len(cells) == len(found)


@pytest.mark.parametrize(
    ("key", "mean"),
    [
        (("ridge", "paramrls", "l-step", 5), 2.5),
        (("ridge", "paramrls", "l-step", 50), 270.5608465608466),
        (("ridge", "paramrls", "harmonic", 50), 15.16),
        (("ridge", "paramrls", "harmonic-both-sides", 50), 15.16),
        (("leadingones", "paramrls", "random-with-replacement", 30), 30.77),
        (("leadingones", "paramils", "harmonic", 35), 8.98),
        (("onemax", "paramrls", "random-without-replacement", 20), 8.745),
        (("onemax", "paramils", "random", 30), 13.877551020408163),
        (("onemax", "paramils", "random", 7), None),
        (("saps", "paramrls", "l-step", 48), 8.058),
        (("nowhere", "paramrls", "l-step", 5), None),
    ],
)
def test_the_published_means_are_those_of_the_paper(key: tuple, mean: float | None) -> None:
    assert published.mean_calls(*key) == mean


def test_the_published_landscapes_and_deltas_are_those_of_the_paper() -> None:
    assert published.mean_fitness("ridge")[1.0] == 69.4835
    assert published.mean_fitness("leadingones")[1.6] == 49.5257
    assert published.mean_fitness("onemax")[3.0] == 46.0801
    deltas = published.deltas("ridge")["paramrls/harmonic vs paramrls/l-step"]
    assert deltas[15] == 0.265175
    assert 10 not in deltas
    assert "PPSN" in published.source()


def test_every_published_mean_is_of_a_whole_number_of_calls() -> None:
    file = Path(published.__file__).with_name("published.json")
    curves = json.loads(file.read_text("utf-8"))["figure2_mean_calls_to_better"]
    for scenario in curves:
        for name, points in curves[scenario].items():
            for size, mean in points.items():
                calls = mean * published.repetitions(scenario, *name.split("/"), int(size))
                assert calls == pytest.approx(round(calls), abs=1e-6), (scenario, name, size)


def test_what_was_published_is_not_held_against_other_numbers_of_runs() -> None:
    answers = [tables.answered(Cell("onemax", curve, 15, "exact", 0, 0, 10)) for curve in CURVES]
    assert {tables.calls_point(answer).z_published for answer in answers} == {None}
    assert {tables.calls_point(answer).published for answer in answers} == {None}
    assert {delta.published for delta in tables.delta_points(answers)} == {None}


def test_some_published_means_are_over_fewer_repetitions() -> None:
    key = ("ridge", "paramrls", "l-step")
    assert [published.repetitions(*key, size) for size in (40, 45, 50)] == [200, 197, 189]
    point = exact_point("ridge", CURVES[0], 50)
    error = point.exact_sd / math.sqrt(189)
    assert point.z_published == pytest.approx((270.5608465608466 - point.exact_mean) / error)


def test_what_was_not_searched_is_none() -> None:
    point = exact_point("onemax", CURVES[3], 10)
    assert (point.searched_mean, point.repetitions, point.z_searched) == (None, None, None)


def test_z_of_the_searches_is_in_their_own_standard_errors() -> None:
    answer = tables.answered(Cell("onemax", CURVES[3], 10, "search", 25, 3, RUNS))
    point = tables.calls_point(answer)
    assert point.repetitions == 25
    assert point.searched_mean == np.mean(answer.sample)
    z = (point.searched_mean - point.exact_mean) / (point.exact_sd / 5)
    assert point.z_searched == pytest.approx(z)


# Mean z^2 over the ten sizes of Ridge, LeadingOnes and OneMax, as in PAPER.md, section 6.
MEAN_SQUARES = {
    "harmonic": (0.69, 0.48, 3.1),
    "harmonic-both-sides": (1.0, 2.6, 1.3),
    "l-step": (1.4, 0.9, 1.0),
    "random-with-replacement": (1.0, 0.7, 0.8),
    "random-without-replacement": (1.9, 3.0, 2.9),
}


@pytest.mark.parametrize("operator", MEAN_SQUARES)
def test_the_published_means_are_as_far_off_as_known(operator: str) -> None:
    curve = Curve("paramrls", operator)
    for scenario, known in zip(SCENARIOS.values(), MEAN_SQUARES[operator], strict=True):
        zs = [exact_point(scenario.name, curve, size).z_published for size in scenario.sizes]
        assert np.mean(np.square(zs)) == pytest.approx(known, abs=0.15)


def test_a_cap_at_1700_calls_explains_the_missing_repetitions() -> None:
    law = exact_calls("ridge", CURVES[0], 50)
    assert 200 * (1 - law.finished(1700)) == pytest.approx(11, abs=5)
    assert law.capped(1700).mean < law.mean


samples = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@given(samples, samples)
def test_cliffs_delta_counts_pairs(first: list[int], second: list[int]) -> None:
    pairs = list(product(first, second))
    more = sum(b > a for a, b in pairs) - sum(b < a for a, b in pairs)
    assert sample_delta(first, second) == pytest.approx(more / len(pairs))
    u = mannwhitneyu(first, second).statistic
    assert sample_delta(first, second) == pytest.approx(1 - 2 * u / len(pairs))


@given(samples, samples)
def test_the_exact_delta_of_two_laws_is_that_of_samples_in_their_proportions(
    first: list[int], second: list[int]
) -> None:
    a, b = (calls_of(np.bincount(sample) / len(sample)) for sample in (first, second))
    assert cliffs_delta(a, b) == pytest.approx(sample_delta(first, second), abs=1e-12)
    assert cliffs_delta(b, a) == pytest.approx(-cliffs_delta(a, b), abs=1e-12)


@pytest.mark.parametrize(("first", "second"), DELTAS, ids=lambda c: c.name)
def test_the_delta_of_many_searches_is_the_exact_one(first: Curve, second: Curve) -> None:
    """With 2,000 and 2,000 searches its standard error is at most 1 / sqrt(2,000)."""
    a, b = (searches("leadingones", curve)[:2000] for curve in (first, second))
    laws = (exact_calls("leadingones", curve, SIZE) for curve in (first, second))
    assert abs(sample_delta(a, b) - cliffs_delta(*laws)) < 5 / math.sqrt(2000)


def answered_with(first: list[int], second: list[int]) -> list[Answer]:
    cells = [Cell("onemax", curve, 10, "search", len(first), 0, RUNS) for curve in DELTAS[0]]
    return [
        Answer(cell, exact_calls("onemax", cell.curve, 10), sample)
        for cell, sample in zip(cells, (first, second), strict=True)
    ]


def test_a_delta_is_significant_if_the_mann_whitney_test_says_so() -> None:
    (clear,) = tables.delta_points(answered_with(list(range(30)), list(range(30, 60))))
    assert (clear.searched, clear.significant) == (1.0, True)
    (none,) = tables.delta_points(answered_with(list(range(30)), list(range(30))))
    assert (none.searched, none.significant) == (0.0, False)
    assert clear.published == 0.218675
    laws = [exact_calls("onemax", curve, 10) for curve in DELTAS[0]]
    assert clear.exact == pytest.approx(cliffs_delta(*laws))


def test_a_delta_of_exact_laws_has_no_test() -> None:
    answers = [tables.answered(Cell("onemax", c, 10, "exact", 1, 0, RUNS)) for c in DELTAS[0]]
    (delta,) = tables.delta_points(answers)
    assert (delta.searched, delta.p_value, delta.significant) == (None, None, None)


def test_the_rows_do_not_depend_on_the_number_of_processes() -> None:
    wanted = [
        cell for cell in tables.cells([SCENARIOS["onemax"]], "search", 20, 5, 10) if cell.size <= 10
    ]
    rows = {}
    for jobs in (1, 2):
        steps: list[int] = []
        answers = all_answered(tables.answered, wanted, jobs, lambda steps=steps: steps.append(1))
        rows[jobs] = [tables.calls_point(answer) for answer in answers]
        assert len(steps) == len(wanted) == 14
    assert rows[1] == rows[2]


def test_figure_1_has_every_value_with_its_exact_mean() -> None:
    points = tables.landscape_points(SCENARIOS["onemax"])
    assert [p.value for p in points] == list(range(1, 51))
    zeros = 25 * (1 - 1 / 50) ** 200  # RLS_1: each zero is missed by every step
    assert points[0].exact_mean == pytest.approx(50 - zeros, rel=1e-12)
    assert max(points, key=lambda p: p.exact_mean).value == 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_best_value_is_the_papers(name: str) -> None:
    points = tables.landscape_points(SCENARIOS[name])
    best = max(points, key=lambda p: p.exact_mean).value
    assert best == {"ridge": 1.0, "leadingones": 1.6, "onemax": 1.0}[name]
    assert best == SCENARIOS[name].values[SCENARIOS[name].optimum]


def test_the_summary_names_the_censored_points() -> None:
    points = [exact_point("ridge", CURVES[0], size) for size in (40, 45, 50)]
    text = calls_summary(points, [])
    assert "197 and 189" in text
    assert f"uncensored {points[2].exact_mean:.1f}" in text


def test_the_summary_speaks_of_the_runs_that_were_asked_for() -> None:
    points = [exact_point("ridge", CURVES[0], size, runs=10) for size in (45, 50)]
    text = calls_summary(points, [], runs=10)
    assert "uncensored" not in text or f"uncensored {points[1].exact_mean:.1f}" in text


def test_a_call_by_the_law_costs_a_ten_thousandth_of_one_by_bits() -> None:
    law, bits = cost_of_better("ridge")
    assert bits / law >= 1e4
