"""The study of landscapes: what needs no solver, and the page against the kept tables."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from benchmarks.landscapes import labs, page
from benchmarks.landscapes.analyse import read_calls, read_finer, read_shapes
from benchmarks.landscapes.calls import Landscape, chains, finer_calls, harmonic_once
from benchmarks.landscapes.configurators import Row, summaries
from benchmarks.landscapes.instances import cnf, cp, mip, smt2
from benchmarks.landscapes.labs import Real
from benchmarks.landscapes.labs import Runs as SharedRuns
from benchmarks.landscapes.shapes import is_valley, nearest_valley, noise, shape_of
from benchmarks.landscapes.tables import DEFAULT, Measured, add_rows, measured, pack, read_rows
from benchmarks.landscapes.tables import Row as Runs
from benchmarks.landscapes.targets import Target
from paramhs.bundled.instances.dimacs import parse_formula
from paramhs.core.random_streams import stream
from paramhs.core.space import Ordinal, Space

LEVELS, COPIES, INSTANCES = 17, 4, 6


def measured_from(means: np.ndarray, spread: float, seed: int) -> Measured:
    rng = np.random.default_rng(seed)
    ratios = means[:, None, None] * np.exp(
        spread * rng.normal(size=(len(means), COPIES, INSTANCES))
    )
    base = np.ones((COPIES, INSTANCES))
    values = tuple(map(float, range(len(means))))
    return Measured("solver", "default", f"x{seed}", values, ratios, base, 0)


VALLEY = 1 + np.abs(np.arange(LEVELS) - 5) / 10


def test_copies_of_a_formula_differ_in_names_and_order_alone() -> None:
    first, second = (parse_formula(cnf(0, copy).encode(), "a copy") for copy in (1, 2))
    assert first.clauses != second.clauses
    assert first.variables == second.variables
    occurrences = [
        sorted(
            tuple(sorted(len([c for c in f.clauses if sign * v in c]) for sign in (1, -1)))
            for v in range(1, f.variables + 1)
        )
        for f in (first, second)
    ]
    assert occurrences[0] == occurrences[1]


@pytest.mark.parametrize("make", [cnf, mip, smt2, cp])
def test_a_copy_is_the_same_each_time_and_another_is_not(make) -> None:
    assert make(3, 1) == make(3, 1)
    assert make(3, 1) != make(3, 2)
    assert len(make(3, 1)) == pytest.approx(len(make(3, 2)), rel=0.05)


def test_rows_are_kept_and_packed(tmp_path) -> None:
    rows = [
        Runs("default", DEFAULT, "", 1, (4.0, 5.0)),
        Runs("default", "x", "2", 1, (2.0, float("nan"))),
        Runs("default", "x", "1", 1, (8.0, 10.0)),
    ]
    for row in rows:
        add_rows("solver", [row], tmp_path)
    pack("solver", tmp_path)
    (one,) = measured("solver", read_rows("solver", tmp_path))
    assert one.values == (1.0, 2.0)
    assert one.ratios.tolist() == [[[2.0, 2.0]], [[0.5, 10.0]]]
    assert one.unanswered == 1


def test_noise_has_the_standard_errors_of_the_means() -> None:
    one = measured_from(VALLEY, 0.2, 1)
    drawn = noise(one, 4_000)
    around = drawn - drawn.mean(axis=1, keepdims=True)
    assert around.std(axis=0) == pytest.approx(one.errors, rel=0.1)


def test_values_with_the_same_runs_stay_tied_in_the_noise() -> None:
    one = measured_from(VALLEY, 0.2, 2)
    one.ratios[3] = one.ratios[4]
    drawn = noise(one, 10)
    assert (drawn[:, 3] == drawn[:, 4]).all()


def test_the_nearest_valley_is_the_best_of_all_splits() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        costs, weights = rng.normal(size=9), rng.uniform(0.5, 2, size=9)
        distance, fitted = nearest_valley(costs, weights)
        fits = []
        for split in range(10):
            parts = [
                isotonic_regression(costs[a:b], weights=weights[a:b], increasing=up).x
                for a, b, up in ((0, split, False), (split, 9, True))
                if b > a
            ]
            fits.append(float((weights * (np.concatenate(parts) - costs) ** 2).sum()))
        assert distance == pytest.approx(min(fits))
        assert float((weights * (fitted - costs) ** 2).sum()) == pytest.approx(distance)


def test_a_valley_is_rarely_excluded_by_noise() -> None:
    excluded = sum(
        shape_of(measured_from(VALLEY, 0.15, seed)).valley_p <= 0.05 for seed in range(40)
    )
    assert excluded <= 9  # of 40 at 5 %: a larger number has a probability below 1e-4


def test_two_valleys_and_a_parameter_without_effect_are_recognised() -> None:
    two = 1 + 0.5 * np.abs(np.sin(np.arange(LEVELS) * np.pi / 8))
    assert shape_of(measured_from(two, 0.01, 5)).kind in ("approximately unimodal", "neither")
    same = measured_from(np.ones(LEVELS), 0.1, 6)
    same.ratios[:] = same.ratios[0]
    assert shape_of(same).kind == "no effect"
    assert shape_of(measured_from(1 + 0.001 * VALLEY, 0.1, 7)).kind == "flat"


def test_a_plateau_is_part_of_a_valley() -> None:
    assert is_valley(np.array([2.0, 2.0, 1.0, 1.0, 3.0]))
    assert not is_valley(np.array([2.0, 1.0, 1.5, 1.2]))


def test_chances_of_winning_with_one_run_are_counted() -> None:
    one = measured_from(VALLEY, 0.5, 8)
    beats = Landscape.of(one).beats(1)
    pairs = one.ratios.reshape(LEVELS, -1)
    assert beats[2, 7] == pytest.approx(np.mean(pairs[7] < pairs[2]))
    assert beats[3, 3] == 0.5
    assert beats + beats.T == pytest.approx(1.0)


def test_more_runs_make_better_comparisons() -> None:
    landscape = Landscape.of(measured_from(VALLEY, 0.5, 9))
    best, worst = int(np.argmin(landscape.costs)), int(np.argmax(landscape.costs))
    chances = [float(landscape.beats(runs)[worst, best]) for runs in (1, 5, 20, 0)]
    assert chances[0] < chances[-1] == 1.0
    assert all(fewer <= more for fewer, more in pairwise(chances))


def test_uniform_values_do_not_depend_on_comparisons() -> None:
    landscape = Landscape.of(measured_from(VALLEY, 0.5, 10))
    for runs in (0, 1):
        calls = {c.operator: c.calls for c in chains(landscape, landscape.beats(runs), runs, 0.0)}
        assert calls["random"] == pytest.approx((LEVELS - 1) ** 2 / LEVELS)
        assert calls["random, no repetition"] == pytest.approx((LEVELS - 1) / 2)


def test_the_harmonic_step_without_repetition_samples_every_value_once() -> None:
    beats = Landscape.of(measured_from(VALLEY, 0.5, 11)).beats(1)
    assert sorted(harmonic_once(LEVELS, beats, stream(0, "once"))) == list(range(LEVELS))


def test_with_more_values_the_harmonic_step_gains_on_the_best_alone() -> None:
    by_goal: dict[float, list[float]] = {}
    for calls in finer_calls(measured_from(VALLEY, 0.0, 12)):
        by_goal.setdefault(calls.goal, []).append(calls.harmonic / calls.random)
    assert by_goal[0.0][-1] < 0.1 * by_goal[0.0][0]
    assert by_goal[0.05][-1] > 0.5 * by_goal[0.05][0]


def test_no_run_is_made_twice_even_by_another_process(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(labs, "CACHE", tmp_path)
    made = []

    def run(settings, file, seed):
        made.append((settings["x"], seed))
        return 7.0 if settings["x"] == 1 else math.nan

    solver = Target(make=lambda number, copy: f"{number} {copy}", suffix="", run=run, parameters={})
    space = Space({"x": Ordinal([1, 2], default=1)})
    for _ in range(2):
        lab = Real(solver, space, SharedRuns("case"), tmp_path)
        assert [lab.work(space.config({"x": x}), 3, 2) for x in (1, 2)] == [7.0, 70.0]
        assert lab.held_out(space.default) == 1.0
        lab.runs.save()
    assert len(made) == 2 + 2 * len(labs.TESTS)
    assert len(set(made[:2])) == 2


def test_needed_runs_grow_with_the_square_of_the_error() -> None:
    assert page.needed({"error": "0.02", "copies": "4"}) == ""
    assert page.needed({"error": "0.04", "copies": "4"}) == "16"


def test_configurators_are_compared_seed_by_seed() -> None:
    rows = [
        Row("case", "many", "ParamRLS", operator, 100, seed, cost)
        for operator, costs in (("harmonic", (0.5, 0.8)), ("uniform", (1.0, 0.8)))
        for seed, cost in enumerate(costs)
    ]
    one = summaries(rows)["case", "many", "ParamRLS", "harmonic", 100]
    assert one.ratio == pytest.approx(0.5**0.5)
    assert (one.wins, one.losses) == (1, 0)


def test_the_page_shows_the_kept_tables() -> None:
    shapes = read_shapes()
    kinds = {(row["solver"], row["base"], row["parameter"]): row["kind"] for row in shapes}
    table = page.Table(read_calls(), kinds)
    text = page.PAGE.read_text(encoding="utf-8")
    for lines in (
        page.kinds_table(shapes),
        page.solver_table(shapes),
        page.parameters_table(shapes),
        page.calls_table(table),
        page.goals_table(table),
        page.harmonic_table(table),
        page.width_table(table, shapes),
        page.finer_table(read_finer()),
        page.pooled_table(),
        page.configurators_table(),
    ):
        assert "\n".join(lines) in text
