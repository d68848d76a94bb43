import csv
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

from paper.tests.support.simulators import duel_by_bits
from paramhs.theory.hitting import Ending
from paramhs.theory.outcomes import by_cost
from paramhs_paper import published
from paramhs_paper.landscapes import fitness_points
from paramhs_paper.points import (
    Answer,
    Delta,
    Exact,
    Point,
    Task,
    all_answered,
    answered,
    deltas_of,
    exact,
    point_of,
    tasks_of,
)
from paramhs_paper.scenarios import (
    BOTH_SIDES,
    DELTAS,
    HARMONIC,
    HEURISTICS,
    ILS_HARMONIC,
    ILS_RANDOM,
    L_STEP,
    RANDOM,
    RUNS,
    SCENARIOS,
    TIES,
    Curve,
    HeuristicScenario,
)
from paramhs_paper.searching import searched
from paramhs_paper.statistics import (
    delta_error,
    delta_of_laws,
    delta_of_samples,
    verdict,
    z_score,
)
from paramhs_paper.writing import read_rows
from tests.support.driving import standard_errors
from tests.support.laws import fits

CURVES = HeuristicScenario.curves
SIZE = 10
MANY = 500  # searches of each curve; in `make test-all` 20,000
EVERY = list(product(HEURISTICS, CURVES))
NAMED = [f"{scenario}-{curve.name}" for scenario, curve in EVERY]
KEPT = Path(__file__).parents[2] / "docs" / "reproduction"
FROZEN = "frozen/heuristics_runs"


@cache
def searches(scenario: str, curve: Curve, count: int = MANY) -> tuple[float, ...]:
    return tuple(searched(HEURISTICS[scenario], curve, SIZE, count, 1))


def exact_of(scenario: str, curve: Curve, size: int = SIZE, runs: int = RUNS) -> Exact:
    arena = HEURISTICS[scenario].arena(size, curve.ties, runs)
    found = exact(arena, curve, HEURISTICS[scenario].length, law=True)
    assert found is not None
    return found


@pytest.mark.parametrize(("scenario", "curve"), EVERY, ids=NAMED)
@pytest.mark.parametrize("count", [MANY, pytest.param(20_000, marks=pytest.mark.slow)])
def test_searches_take_as_many_calls_as_computed(scenario: str, curve: Curve, count: int) -> None:
    """5 standard errors: all 21 right curves together fail once in 80,000 seeds."""
    ending = exact_of(scenario, curve).ending
    calls = searches(scenario, curve, count)
    assert abs(np.mean(calls) - ending.mean) < 5 * ending.sd / math.sqrt(len(calls))


@pytest.mark.slow
@pytest.mark.parametrize("curve", [HARMONIC, ILS_HARMONIC], ids=lambda c: c.name)
def test_searches_have_the_computed_law(curve: Curve) -> None:
    law = exact_of("leadingones", curve).law
    assert fits(searches("leadingones", curve, 20_000), dict(enumerate(law[:-1])))


def test_searches_of_both_sides_have_the_law_of_the_operators_own_chain() -> None:
    law = exact_of("leadingones", BOTH_SIDES).law
    assert fits(searches("leadingones", BOTH_SIDES), dict(enumerate(law[:-1])))


def test_the_other_reading_of_the_harmonic_step_is_detected() -> None:
    """So the tests above would notice one standing in for the other."""
    other = exact_of("leadingones", BOTH_SIDES).ending
    assert abs(standard_errors(searches("leadingones", HARMONIC, 6_000), other.mean)) > 5


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: c.name)
def test_searches_that_simulate_every_bit_take_as_many_calls_as_computed(curve: Curve) -> None:
    """Three runs a side: ties and upsets are common, so the simulation and the rule matter."""
    ending = exact_of("onemax", curve, 5, 3).ending
    scenario = HEURISTICS["onemax"]
    calls = list(searched(scenario, curve, 5, 200, 2, duel_by_bits(scenario, 3, curve.ties)))
    assert abs(np.mean(calls) - ending.mean) < 5 * ending.sd / math.sqrt(len(calls))


def test_the_rule_for_ties_changes_exact_numbers() -> None:
    """On one run a side the three rules are far apart."""
    scenario, means = HEURISTICS["onemax"], {}
    for rule in TIES:
        curve = Curve("paramils", "harmonic", ties=rule)
        duel = duel_by_bits(scenario, 1, rule)
        calls = list(searched(scenario, curve, 5, 600, 5, duel))
        means[rule] = exact_of("onemax", curve, 5, 1).ending.mean
        assert abs(standard_errors(calls, means[rule])) < 5
    assert max(means.values()) - min(means.values()) > 0.2


def test_moments_are_those_of_the_law() -> None:
    """ParamILS's moments come from walks, its law from generating functions."""
    for name in HEURISTICS:
        arena = HEURISTICS[name].arena(8, ILS_HARMONIC.ties)
        quick, slow = (exact(arena, ILS_HARMONIC, 1, law=law) for law in (False, True))
        assert quick.law is None
        assert quick.ending.mean == pytest.approx(slow.ending.mean, rel=1e-9)
        assert quick.ending.sd == pytest.approx(slow.ending.sd, rel=1e-9)


def test_searches_are_a_function_of_the_seed() -> None:
    one, again, other = (
        tuple(searched(HEURISTICS["onemax"], HARMONIC, 10, 50, seed)) for seed in (7, 7, 8)
    )
    assert one == again != other


def exact_point(scenario: str, curve: Curve, size: int, runs: int = RUNS) -> Point:
    return point_of(answered(Task(scenario, curve, size, runs=runs)))


@pytest.mark.parametrize("name", SCENARIOS)
def test_there_is_a_task_for_every_curve_and_size(name: str) -> None:
    scenario = SCENARIOS[name]
    tasks = tasks_of(scenario, None, 0)
    assert {(t.curve, t.size) for t in tasks} == set(
        product((*scenario.curves, *scenario.others), scenario.sizes)
    )
    assert len(set(tasks)) == len(tasks)
    searched_ones = {t.curve.configurator for t in tasks if t.repetitions}
    assert searched_ones == (set() if name in HEURISTICS else {"paramils"})


@pytest.mark.parametrize(
    ("key", "mean"),
    [
        (("ridge", "paramrls", "l-step", 5), 2.5),
        (("ridge", "paramrls", "l-step", 50), 270.5608465608466),
        (("ridge", "paramrls", "harmonic", 50), 15.16),
        (("leadingones", "paramrls", "random-with-replacement", 30), 30.77),
        (("leadingones", "paramils", "harmonic", 35), 8.98),
        (("onemax", "paramrls", "random-without-replacement", 20), 8.745),
        (("onemax", "paramils", "random", 30), 13.877551020408163),
        (("onemax", "paramils", "random", 7), None),
        (("saps", "paramrls", "l-step", 48), 8.058),
        (("saps", "paramils", "random", 480), 23.43),
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


def test_repetitions_are_the_papers_except_for_four_means() -> None:
    file = Path(published.__file__).with_name("published.json")
    curves = json.loads(file.read_text("utf-8"))["figure2_mean_calls_to_better"]
    found = {
        (scenario, *name.split("/"), int(size)): published.repetitions(
            scenario, *name.split("/"), int(size)
        )
        for scenario, of_scenario in curves.items()
        for name, points in of_scenario.items()
        for size in points
    }
    for key, count in found.items():
        calls = published.mean_calls(*key) * count
        assert calls == pytest.approx(round(calls), abs=1e-6), key
    others = {k: n for k, n in found.items() if n != (500 if k[0] == "saps" else 200)}
    assert others == {
        ("ridge", "paramrls", "l-step", 45): 197,
        ("ridge", "paramrls", "l-step", 50): 189,
        ("onemax", "paramils", "random", 15): 125,
        ("onemax", "paramils", "random", 30): 196,
    }
    assert published.repetitions("saps", "paramrls", "l-step", 7) == 500


def test_z_is_in_the_standard_errors_of_what_was_published() -> None:
    point = exact_point("ridge", L_STEP, 50)
    error = point.exact_sd / math.sqrt(189)
    assert point.z_published == pytest.approx((270.5608465608466 - point.exact_mean) / error)


def test_what_was_published_is_not_held_against_other_numbers_of_runs() -> None:
    answers = [answered(Task("onemax", curve, 15, runs=10, law=True)) for curve in CURVES]
    points = [point_of(answer) for answer in answers]
    assert {(p.published, p.z_published) for p in points} == {(None, None)}
    assert {p.runs for p in points} == {10}
    assert {delta.published for delta in deltas_of(answers)} == {None}


def test_what_was_not_searched_is_none() -> None:
    point = exact_point("onemax", HARMONIC, 10)
    assert (point.searched_mean, point.searches, point.z_searched) == (None, 0, None)


def test_z_of_the_searches_is_in_their_own_standard_errors() -> None:
    answer = answered(Task("onemax", HARMONIC, 10, 25, 3))
    point = point_of(answer)
    assert point.searches == 25
    assert point.searched_mean == np.mean(answer.sample)
    off = (point.searched_mean - point.exact_mean) / (point.exact_sd / 5)
    assert point.z_searched == pytest.approx(off)


def test_what_is_searched_alone_counts_both_errors() -> None:
    point = point_of(Answer(Task("saps", ILS_RANDOM, 48, 4), None, (4.0, 6.0, 8.0, 10.0)))
    sd = np.std([4, 6, 8, 10], ddof=1)
    assert point.z_published == pytest.approx((6.17 - 7) / (sd * math.sqrt(1 / 500 + 1 / 4)))


def test_a_point_says_what_never_ends_and_judges_the_rest() -> None:
    ending = Ending(0.375, 3.0, 2.0)
    point = point_of(Answer(Task("saps", L_STEP, 48), Exact(ending), (1.0, 3.0, math.inf)))
    assert (point.searched_mean, point.unfinished, point.searches) == (2.0, 1, 3)
    assert (point.never, point.runs, point.l) == (0.375, None, 1)
    assert point.z_published == pytest.approx((8.058 - 3.0) / 2.0 * math.sqrt(500))


def test_a_point_without_targets_is_words_not_infinities() -> None:
    point = point_of(Answer(Task("saps", L_STEP, 48), Exact(Ending(1.0, math.nan, math.nan))))
    assert (point.never, point.exact_mean, point.z_published) == (1.0, None, None)


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
    for scenario, known in zip(HEURISTICS.values(), MEAN_SQUARES[operator], strict=True):
        zs = [exact_point(scenario.name, curve, size).z_published for size in scenario.sizes]
        assert np.mean(np.square(zs)) == pytest.approx(known, abs=0.15)


def test_the_incumbent_staying_is_what_the_published_means_support_best() -> None:
    """ParamILS's rules for ties, over all three scenarios."""
    sums = {
        rule: sum(
            exact_point(name, Curve("paramils", "harmonic", ties=rule), size).z_published ** 2
            for name in HEURISTICS
            for size in HeuristicScenario.sizes
        )
        for rule in TIES
    }
    assert min(sums, key=sums.get) == ILS_HARMONIC.ties == "incumbent"
    assert sums == pytest.approx({"coin": 77.0, "challenger": 78.6, "incumbent": 73.6}, abs=0.05)


def same(found: float | None, kept: float | None) -> bool:
    return found == kept or (found is not None and found == pytest.approx(kept, rel=1e-9))


def held(points: list[Point], searched: bool = False) -> None:
    for old in points:
        curve = Curve(old.configurator, old.operator, ties=old.ties)
        others = SCENARIOS[old.scenario].others
        if old.l not in (None, SCENARIOS[old.scenario].length):
            curve = next(c for c in others if c.length == old.l)
        count = old.searches if searched else 0
        new = point_of(answered(Task(old.scenario, curve, old.size, count, runs=old.runs or RUNS)))
        for name in ("published", "exact_mean", "never"):
            assert same(getattr(new, name), getattr(old, name)), (old, name)
        if old.exact_sd is not None:
            assert same(new.exact_sd, old.exact_sd)
            assert same(new.z_published, old.z_published)
        if searched:
            assert same(new.searched_mean, old.searched_mean)
            assert same(new.z_searched, old.z_searched)
            assert (new.searches, new.unfinished) == (old.searches, old.unfinished)


def few(points: list[Point], size: int) -> list[Point]:
    return [p for p in points if p.size == size]


@pytest.mark.parametrize(("table", "size"), [("figure2", 10), ("figure2", 48), (FROZEN, 5)])
def test_the_kept_numbers_are_those_that_are_computed(table: str, size: int) -> None:
    held(few(read_rows(KEPT / f"{table}.csv", Point), size))


@pytest.mark.slow
@pytest.mark.parametrize("table", ["figure2", FROZEN])
def test_all_kept_numbers_are_those_that_are_computed(table: str) -> None:
    held(read_rows(KEPT / f"{table}.csv", Point))


@pytest.mark.slow
def test_the_kept_searches_are_repeated_to_the_last_digit() -> None:
    held(few(read_rows(KEPT / "figure2.csv", Point), 10), searched=True)


def test_a_cap_at_1700_calls_explains_the_missing_repetitions() -> None:
    """The numbers that the page gives."""
    from paramhs_paper.arena import one_step

    scenario = HEURISTICS["ridge"]
    page = {45: (3.6, 204.0, 240.9), 50: (12.6, 257.4, 403.6)}
    for size, numbers in page.items():
        law = one_step(scenario.arena(size), L_STEP.step(1)).law()
        missing = 200 * (1 - law.finished(1700))
        assert (missing, law.capped(1700).mean, law.mean) == pytest.approx(numbers, abs=0.05)


samples = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@given(samples, samples)
def test_cliffs_delta_counts_pairs(first: list[int], second: list[int]) -> None:
    pairs = list(product(first, second))
    more = sum(b > a for a, b in pairs) - sum(b < a for a, b in pairs)
    assert delta_of_samples(first, second) == pytest.approx(more / len(pairs))
    u = mannwhitneyu(first, second).statistic
    assert delta_of_samples(first, second) == pytest.approx(1 - 2 * u / len(pairs))


@given(samples, samples)
def test_the_exact_delta_of_two_laws_is_that_of_samples_in_their_proportions(
    first: list[int], second: list[int]
) -> None:
    """6 stands for what never ends."""
    a, b = (np.bincount(sample, minlength=7) / len(sample) for sample in (first, second))
    short = b if b[4:6].any() else np.delete(b, [4, 5])
    assert delta_of_laws(a, short) == pytest.approx(delta_of_samples(first, second), abs=1e-12)
    assert delta_of_laws(b, a) == pytest.approx(-delta_of_laws(a, b), abs=1e-12)


@pytest.mark.parametrize("repetitions", [3, 200, 500])
def test_the_error_of_a_delta_is_that_of_the_u_statistic(repetitions: int) -> None:
    n = repetitions
    variance = n * n * (2 * n + 1) / 12  # of U between two samples of n from the same law
    assert delta_error(n) == pytest.approx(2 * math.sqrt(variance) / n**2)


@pytest.mark.parametrize(("first", "second"), DELTAS, ids=lambda c: c.name)
def test_the_delta_of_many_searches_is_the_exact_one(first: Curve, second: Curve) -> None:
    """With n and n searches its standard error is at most 1 / sqrt(n)."""
    a, b = (searches("leadingones", curve) for curve in (first, second))
    laws = (exact_of("leadingones", curve).law for curve in (first, second))
    assert abs(delta_of_samples(a, b) - delta_of_laws(*laws)) < 5 / math.sqrt(MANY)


def delta_with(first: list[float], second: list[float]) -> Delta:
    answers = [
        Answer(Task("onemax", curve, 10, len(sample)), exact_of("onemax", curve), tuple(sample))
        for curve, sample in zip(DELTAS[0], (first, second), strict=True)
    ]
    (delta,) = deltas_of(answers)
    return delta


def test_a_delta_is_significant_if_the_mann_whitney_test_says_so() -> None:
    clear = delta_with(list(range(30)), list(range(30, 60)))
    assert (clear.searched, clear.significant) == (1.0, True)
    none = delta_with(list(range(30)), list(range(30)))
    assert (none.searched, none.significant) == (0.0, False)
    assert clear.published == 0.218675
    laws = [exact_of("onemax", curve).law for curve in DELTAS[0]]
    assert clear.exact == pytest.approx(delta_of_laws(*laws))


def test_a_delta_of_exact_laws_has_no_test() -> None:
    (delta,) = deltas_of([answered(Task("onemax", c, 10, law=True)) for c in DELTAS[0]])
    assert (delta.searched, delta.p_value, delta.significant) == (None, None, None)
    assert delta.exact is not None


def test_deltas_count_what_never_ends_as_slowest() -> None:
    fast = np.array([0.0, 1.0, 0.0])  # one call, always
    trapped = np.array([0.5, 0.0, 0.0, 0.5])  # at once, or never
    some = Ending(0.0, 1.0, 1.0)

    def answer(curve: Curve, law: np.ndarray | None, sample: tuple[float, ...] = ()) -> Answer:
        return Answer(Task("saps", curve, 48), Exact(some, law), sample)

    deltas = {
        (d.first, d.second): d
        for d in deltas_of(
            [
                answer(HARMONIC, fast),
                answer(L_STEP, trapped),
                answer(RANDOM, fast),
                answer(ILS_HARMONIC, None, (1.0, 2.0)),
                answer(ILS_RANDOM, None, (2.0, math.inf)),
            ]
        )
    }
    assert deltas[HARMONIC.name, L_STEP.name].exact == pytest.approx(0.5 - 0.5)
    assert deltas[HARMONIC.name, RANDOM.name].exact == 0
    pair = deltas[ILS_HARMONIC.name, ILS_RANDOM.name]
    assert (pair.exact, pair.searched, pair.ours) == (None, 0.75, 0.75)


def test_verdicts_follow_chance() -> None:
    assert [verdict(x, 28) for x in (1.0, 1.9, 3.0)] == ["agrees", "doubtful", "does not agree"]


def test_a_table_that_traps_searches_does_not_agree() -> None:
    """Behind every published mean all 500 searches ended."""
    ends = [verdict(1.0, 28, never, 500) for never in (1e-4, 0.01, 0.05)]
    assert ends == ["agrees", "doubtful", "does not agree"]


def test_z_is_known_only_where_there_is_a_spread() -> None:
    assert z_score(2.0, 1.0, 0.5, 1 / 4) == 4.0
    assert (z_score(None, 1.0, 0.5, 1.0), z_score(1.0, 1.0, None, 1.0)) == (None, None)
    assert (z_score(1.0, 1.0, 0.0, 1.0), z_score(2.0, 1.0, 0.0, 1.0)) == (0.0, None)


def test_nothing_depends_on_the_number_of_processes() -> None:
    tasks = [t for t in tasks_of(HEURISTICS["onemax"], 20, 5, (5, 10)) if t.curve != ILS_HARMONIC]
    tasks += [Task("saps", ILS_RANDOM, 48, 5)]
    found = {}
    for jobs in (1, 2):
        steps: list[int] = []
        answers = all_answered(tasks, jobs, lambda steps=steps: steps.append(1))
        found[jobs] = [point_of(answer) for answer in answers]
        assert len(steps) == len(tasks)
    assert found[1] == found[2]


def test_figure_1_has_every_value_with_its_exact_mean() -> None:
    points = fitness_points(HEURISTICS["onemax"])
    assert [p.value for p in points] == list(range(1, 51))
    zeros = 25 * (1 - 1 / 50) ** 200  # RLS_1: each zero is missed by every step
    assert points[0].exact_mean == pytest.approx(50 - zeros, rel=1e-12)


@pytest.mark.parametrize("name", HEURISTICS)
def test_the_best_value_is_the_papers(name: str) -> None:
    scenario, points = HEURISTICS[name], fitness_points(HEURISTICS[name])
    best = max(points, key=lambda p: p.exact_mean).value
    assert best == {"ridge": 1.0, "leadingones": 1.6, "onemax": 1.0}[name]
    assert best == scenario.values[scenario.optimum]
    with (KEPT / f"figure1_{name}.csv").open(newline="", encoding="utf-8") as file:
        kept = [float(row["exact_mean"]) for row in csv.DictReader(file)]
    assert [p.exact_mean for p in points] == pytest.approx(kept, rel=1e-12)


def test_a_row_has_a_column_for_all_that_a_point_knows() -> None:
    names = [field.name for field in fields(Point)]
    with (KEPT / "figure2.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == names


def test_a_tie_decides_by_the_rule_of_the_curve() -> None:
    scenario = SCENARIOS["saps"]
    assert (scenario.arena(48).beats == by_cost_of(scenario)).all()


def by_cost_of(scenario) -> np.ndarray:
    from paramhs_paper.saps.ranking import aggregated
    from paramhs_paper.saps.table import kept

    table = aggregated(kept("ubcsat")).mean[:3]
    return by_cost(table.ravel())
