import pickle

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from scipy.stats import chisquare

import paramhs
from paramhs.bundled.instances.dimacs import Formula, dimacs
from paramhs.bundled.plain_saps import Clauses, fewest_false, random_words
from paramhs.bundled.saps import (
    SMOOTHINGS,
    SPACE,
    Saps,
    Settings,
    encoded,
    flips,
    saps,
    solve,
)
from paramhs.bundled.saps.arrays import new_report, new_state
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from tests.support.formulas import random_formula
from tests.support.laws import DRAWS, ERROR_RATE
from tests.support.plain_saps import Undecided, plain_saps
from tests.support.scale import examples

HARD = Formula(2, ((1, 2), (1, -2), (-1, 2), (-1, -2)))  # one clause is always false


def assert_same(formula: Formula, how: Settings, cutoff: int, seed: int, smoothing: str) -> None:
    """The fast solver does at every step what the plain one does, and the demo's ends alike."""
    textbook = smoothing == "textbook"
    flipped, history = plain_saps(formula, how, cutoff, seed, textbook=textbook)
    assert flips(formula, how, cutoff, seed, smoothing=smoothing) == flipped
    outcomes = solve(formula, how, cutoff, seed, smoothing=smoothing)
    best = min(history)
    assert outcomes.best_false[0] == pytest.approx(best)
    assert outcomes.final_false[0] == pytest.approx(history[-1])
    assert outcomes.steps[0] == len(history)
    assert outcomes.null_flips[0] == flipped.count(0)
    if formula.weights is None:
        assert outcomes.best_step[0] == 1 + history.index(best)
        if not textbook:
            assert fewest_false(Clauses(formula), vars(how), cutoff, seed) == best


@examples(100)
@given(
    rng=st.randoms(use_true_random=False),
    variables=st.integers(1, 12),
    clauses=st.integers(0, 50),
    alpha=st.sampled_from((1.0, 16 / 15, 1.3, 2.0, 3.0, 60.0)),
    rho=st.sampled_from((0.0, 0.3, 0.8, 1.0)),
    ps=st.sampled_from((0.0, 0.05, 0.5, 1.0)),
    wp=st.sampled_from((0.0, 0.01, 0.3, 1.0)),
    smoothing=st.sampled_from(SMOOTHINGS),
    weighted=st.booleans(),
    seed=st.integers(0, 2**62 - 1),
)
def test_every_step_is_that_of_plain_saps(
    rng, variables, clauses, alpha, rho, ps, wp, smoothing, weighted, seed
):
    formula = random_formula(rng, variables, clauses, weighted=weighted)
    try:
        assert_same(formula, Settings(alpha, rho, ps, wp), 60, seed, smoothing)
    except Undecided:
        reject()


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_every_step_is_that_of_plain_saps_with_more_than_a_word_of_variables(smoothing):
    rng = stream(1, "three words of variables")
    clauses = [
        [rng.choice((-1, 1)) * (1 + int(rng.random() * 150)) for _ in range(3)] for _ in range(600)
    ]
    formula = Formula(150, tuple(map(tuple, clauses)))
    assert_same(formula, Settings(16 / 15, 0.5, 0.3, 0.05), 200, 5, smoothing)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("ps", [0.0, 0.2])
def test_every_step_is_that_of_plain_saps_when_weights_are_divided(smoothing, ps):
    # 60^2 > 1000: every few null flips, all weights are divided.
    rng = stream(2, "heavy clauses")
    formula = random_formula(rng, 8, 60)
    assert_same(formula, Settings(60.0, 0.5, ps, 0.0), 400, 7, smoothing)


@pytest.mark.parametrize(
    "formula",
    [
        Formula(0, ()),
        Formula(5, ()),
        Formula(0, ((), ())),
        Formula(1, ((1,), (-1,))),
        Formula(1, ((1, -1), ())),
        Formula(3, ((1, 1, 2), (-1, -1), (3, -3))),
        Formula(4, ((1, 2), (1, 3), (1, 4))),
        Formula(9, ((1,), (-2,))),
        HARD,
    ],
)
@pytest.mark.parametrize("wp", [0.0, 0.5])
def test_every_step_is_that_of_plain_saps_on_odd_formulas(formula, wp):
    for seed in range(5):
        assert_same(formula, Settings(1.3, 0.8, 0.3, wp), 30, seed, "ubcsat")


def test_a_large_formula_without_tiers_is_searched_alike(monkeypatch):
    formula = random_formula(stream(3, "without tiers"), 40, 200)
    with_tiers = flips(formula, Settings(), 500, 1)
    monkeypatch.setattr("paramhs.bundled.saps.arrays._MAX_WORDS", 0)
    assert len(new_state(encoded(formula), np.zeros(1, np.uint8)).sizes) == 0
    assert flips(formula, Settings(), 500, 1) == with_tiers


def test_ties_are_broken_uniformly():
    # Each of 70 clauses has a variable of its own: all that are false tie, and one is flipped.
    count = 70
    formula = Formula(count, tuple((v,) for v in range(1, count + 1)))
    flipped, started = np.zeros(count), np.zeros(count)
    for run in range(DRAWS):
        at_start = [v for v, value in enumerate(start(5, run, count)) if not value]
        started[at_start] += 1 / len(at_start)
        flipped[flips(formula, Settings(), 2, 5, run)[0] - 1] += 1
    assert chisquare(flipped, started).pvalue >= ERROR_RATE


def start(seed: int, run: int, variables: int) -> list[bool]:
    draws = random_words(seed, run)
    bits = [next(draws) for _ in range(0, variables, 64)]
    return [bool(bits[v // 64] >> v % 64 & 1) for v in range(variables)]


def test_the_start_is_uniform_and_step_one():
    outcomes = solve(Formula(3, ((1,), (2,), (3,))), Settings(), 1, 0, DRAWS)
    observed = np.bincount(outcomes.best_false, minlength=4)
    assert chisquare(observed, DRAWS * np.array([1, 3, 3, 1]) / 8).pvalue >= ERROR_RATE
    assert (outcomes.steps == 1).all()
    assert (outcomes.best_step == 1).all()


FORMULA = random_formula(stream(4, "many runs"), 60, 320)


def rows(outcomes) -> list[tuple]:
    return list(zip(*(numbers.tolist() for numbers in vars(outcomes).values()), strict=True))


@pytest.mark.parametrize("threads", [1, 2, 3, 40])
def test_runs_do_not_depend_on_how_they_are_split(threads):
    whole = rows(solve(FORMULA, Settings(), 500, 9, 23))
    assert len(set(whole)) > 15
    assert rows(solve(FORMULA, Settings(), 500, 9, 23, threads=threads)) == whole
    parts = [solve(FORMULA, Settings(), 500, 9, 1, first_run=run) for run in range(23)]
    assert [row for part in parts for row in rows(part)] == whole


def test_a_smaller_cutoff_is_a_beginning():
    assert flips(FORMULA, Settings(), 100, 3) == flips(FORMULA, Settings(), 300, 3)[:99]


def test_other_seeds_and_runs_are_others():
    traces = {
        tuple(flips(FORMULA, Settings(), 30, seed, run)) for seed in range(5) for run in range(5)
    }
    assert len(traces) == 25


def test_a_run_ends_when_all_clauses_are_true():
    outcomes = solve(Formula(3, ((1, 2), (-2, 3), (-1,))), Settings(), 1000, 0, 50)
    assert (outcomes.best_false == 0).all()
    assert (outcomes.best_step == outcomes.steps).all()
    assert outcomes.steps.max() < 1000


def test_false_clauses_count_their_weights():
    weighted = Formula(HARD.variables, HARD.clauses, (8.0, 4.0, 2.0, 0.5))
    outcomes = solve(weighted, Settings(), 200, 0, 20)
    assert set(outcomes.best_false) == {0.5}
    assert set(outcomes.final_false) <= {8.0, 4.0, 2.0, 0.5}


def test_a_hard_clause_costs_more_than_all_soft_ones_but_hides_none():
    top = float(2**54)  # beside it a float knows no 1
    clauses = ((1, 2), (-1, 2), (2, 3), (-2,), (-3,))
    weighted = Formula(3, clauses, (top, top, top, 1.0, 1.0), top)
    outcomes = solve(weighted, Settings(), 200, 0, 20)
    assert set(outcomes.best_false) == {1.0}
    assert set(outcomes.final_false) <= {n + 3.0 * hard for n in range(3) for hard in range(4)}


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.001, 1e-9, 1e12])
def test_sums_of_weights_are_exact(scale):
    rng = stream(5, "weights")
    clauses = random_formula(rng, 12, 80).clauses
    units = [rng.randint(1, 999) for _ in clauses]
    weighted = Formula(12, clauses, tuple(float(f"{u * scale:.12g}") for u in units))
    whole = Formula(12, clauses, tuple(map(float, units)))
    found, expected = (solve(f, Settings(), 2_000, 0, 10) for f in (weighted, whole))
    assert found.best_false.tolist() == [float(f"{x * scale:.12g}") for x in expected.best_false]
    assert found.final_false.tolist() == [float(f"{x * scale:.12g}") for x in expected.final_false]


def test_with_weights_too_what_is_solved_costs_nothing():
    weighted = Formula(3, ((1, 2), (-2, 3), (-1,), (3,)), (0.1, 0.2, 0.3, 0.7))
    assert set(solve(weighted, Settings(), 1_000, 0, 40).best_false) == {0.0}


def test_weights_beyond_what_a_float_tells_apart_are_rounded():
    clauses = ((1,), (-1,), (2,), (-2,))
    weighted = Formula(2, clauses, (1e20, 3e20, 1e-7, 2.0))
    assert set(solve(weighted, Settings(), 100, 0, 5).best_false) == {1e20}


def test_equal_weights_are_no_weights():
    seven = Formula(FORMULA.variables, FORMULA.clauses, (7.0,) * len(FORMULA.clauses))
    assert flips(seven, Settings(), 300, 1) == flips(FORMULA, Settings(), 300, 1)
    assert (
        solve(seven, Settings(), 300, 1, 5).best_false
        == 7 * solve(FORMULA, Settings(), 300, 1, 5).best_false
    ).all()


def test_reports_have_a_place_for_each_run():
    assert {len(numbers) for numbers in new_report(3)} == {3}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": 0.9}, "alpha must be a number from 1 to 1000, not 0.9"),
        ({"alpha": 1e9}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"rho": -0.1}, "rho must be a number from 0 to 1, not -0.1"),
        ({"rho": "much"}, "rho must be a number from 0 to 1, not 'much'"),
        ({"ps": 1.1}, "ps must be a number from 0 to 1, not 1.1"),
        ({"wp": 2}, "wp must be a number from 0 to 1, not 2"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, message):
    with pytest.raises(BadInput, match=message):
        Settings(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cutoff": 0}, "cutoff must be an integer of at least 1, not 0"),
        ({"runs": 0}, "runs must be an integer of at least 1, not 0"),
        ({"seed": -1}, "seed must be an integer of at least 0, not -1"),
        ({"threads": 0}, "threads"),
        ({"first_run": -1}, "first_run"),
        ({"smoothing": "none"}, "smoothing must be one of ubcsat, textbook, not 'none'"),
    ],
)
def test_bad_arguments_are_refused(wrong, message):
    with pytest.raises(BadInput, match=message):
        solve(HARD, Settings(), **{"cutoff": 10, "seed": 0, **wrong})


def written(folder, formula: Formula, name: str = "a.cnf") -> str:
    path = folder / name
    path.write_text(dimacs(formula), encoding="utf-8")
    return str(path)


def test_the_target_is_a_run_of_the_solver(tmp_path):
    path = written(tmp_path, FORMULA)
    config = {"alpha": 1.1, "rho": 0.5}
    outcome = solve(FORMULA, Settings(1.1, 0.5), 200, 17)
    assert Saps(steps=200)(config, path, 17) == outcome.best_false[0]
    assert Saps(steps=200, quality="final")(config, path, 17) == outcome.final_false[0]
    assert Saps(steps=10_000)({}, path, 3) == solve(FORMULA, Settings(), 10_000, 3).best_false[0]
    assert saps == Saps(steps=10_000)


def test_the_target_reads_a_file_again_when_it_has_changed(tmp_path):
    path = written(tmp_path, Formula(1, ((1,), (-1,))))
    assert saps({}, path, 0) == 1
    written(tmp_path, Formula(1, ((), (), ())))
    assert saps({}, path, 0) == 3


def test_the_target_travels_to_other_processes():
    there = pickle.loads(pickle.dumps(Saps(steps=5, quality="final")))
    assert there == Saps(steps=5, quality="final")
    assert there.__qualname__ == "Saps(steps=5, quality='final', smoothing='ubcsat')"


def test_the_target_refuses_what_it_does_not_know(tmp_path):
    with pytest.raises(BadInput, match="SAPS has no parameter 'alfa'; it has alpha, rho, ps, wp"):
        saps({"alfa": 1.1}, written(tmp_path, HARD), 0)
    with pytest.raises(BadInput, match=r"none\.cnf cannot be read: No such file"):
        saps({}, tmp_path / "none.cnf", 0)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"quality": "mean"}, {"smoothing": "none"}])
def test_a_target_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(BadInput):
        Saps(**wrong)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_target_can_be_tuned(tmp_path, weighted):
    rng = stream(6, "to tune")
    formulas = [random_formula(rng, 30, 150, weighted=weighted) for _ in range(3)]
    name = "f{}.wcnf" if weighted else "f{}.cnf"
    paths = [written(tmp_path, f, name.format(i)) for i, f in enumerate(formulas)]
    result = paramhs.tune(Saps(steps=200), SPACE, instances=paths, budget=60)
    assert result.default.as_dict() == {"alpha": 1.3, "rho": 0.8, "ps": 0.05, "wp": 0.01}
    assert result.best_cost is not None
    assert result.best_failed == 0
