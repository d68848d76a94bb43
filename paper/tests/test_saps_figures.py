import csv
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from driving import z_score
from paramhs.faces.cli import app
from paramhs.results.landscape.calls import calls_of, param_rls_chain
from paramhs.results.landscape.outcomes import deterministic
from paramhs.search.operators import BothSides, Harmonic, LStep, One, Operator, Uniform
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import SEEDS, below, stream
from paramhs_paper import published
from paramhs_paper.saps import tuning
from paramhs_paper.saps.calls_summary import runs_summary
from paramhs_paper.saps.choices import (
    Choice,
    arena_of,
    plausible,
    redrawn,
    retargeted,
    table_of,
)
from paramhs_paper.saps.grid import Cell
from paramhs_paper.saps.landscape_summary import landscape_summary
from paramhs_paper.saps.moves import Arena, undiscovered_mean
from paramhs_paper.saps.noise import beats_by_runs
from paramhs_paper.saps.ranking import (
    Costs,
    aggregated,
    barriers,
    chance_of_five,
    depth,
    five_best,
    local_optima,
    of_instance,
    ties,
)
from paramhs_paper.saps.renewal import Ending
from paramhs_paper.saps.reproduction import SapsReproduction
from paramhs_paper.saps.study import studied, study_tasks, verdict
from paramhs_paper.saps.table import Landscape, kept
from paramhs_paper.saps.tuning import CURVES, Answer, Task, chain_of, point_of, space_of
from paramhs_paper.scenarios import Curve, configurator_of
from paramhs_paper.searching import Duels, calls_until_found
from paramhs_paper.several import all_answered

LSTEP, RANDOM, HARMONIC, BOTH_SIDES, ILS_RANDOM, ILS_HARMONIC = CURVES


def landscape(best: Mapping[Cell, Mapping[int, int]]) -> Landscape:
    """From the counts of runs; the last step is as the best one."""
    instances, alphas, rhos = (tuple(sorted(set(x))) for x in zip(*best, strict=True))
    shape = (len(instances), len(alphas), len(rhos))
    cells = [Cell(*cell) for cell in product(instances, alphas, rhos)]
    samples = [np.repeat(list(best[c]), list(best[c].values())) for c in cells]
    mean = np.array([sample.mean() for sample in samples]).reshape(shape)
    error = np.array([s.std(ddof=1) / math.sqrt(len(s)) for s in samples]).reshape(shape)
    runs = np.array([float(len(s)) for s in samples]).reshape(shape)
    both, errors = {"best": mean, "final": mean}, {"best": error, "final": error}
    return Landscape("ubcsat", instances, alphas, rhos, runs, both, errors, runs, best)


def small() -> Landscape:
    """A large instance that likes alpha 16, a small one that likes alpha 17 more strongly."""
    return landscape(
        {
            Cell("large", 16, 0): {100: 1, 102: 1},
            Cell("large", 17, 0): {102: 1, 104: 1},
            Cell("large", 18, 0): {104: 1, 106: 1},
            Cell("small", 16, 0): {4: 1, 4 + 2: 1},
            Cell("small", 17, 0): {3: 1, 5: 1},
            Cell("small", 18, 0): {5: 1, 7: 1},
        }
    )


def test_the_plain_mean_follows_the_large_instance() -> None:
    costs = aggregated(small(), "plain", "best")
    assert costs.mean.ravel() == pytest.approx([53, 53.5, 55.5])
    assert costs.error.ravel() == pytest.approx([math.sqrt(2) / 2] * 3)  # each s.e. is 1


def test_the_normalised_mean_weighs_instances_alike() -> None:
    costs = aggregated(small(), "normalised", "best")
    expected = [(101 / 103 + 1) / 2, (1 + 4 / 5) / 2, (105 / 103 + 6 / 5) / 2]
    assert costs.mean.ravel() == pytest.approx(expected)
    error = math.sqrt(1 / 103**2 + 1 / 5**2) / 2
    assert costs.error.ravel() == pytest.approx([error] * 3)
    assert int(costs.mean.argmin()) == 1


def test_an_instance_that_every_run_solved_costs_nothing_normalised() -> None:
    solved = {Cell("easy", a, r): {0: 4} for a in (16, 17) for r in (0, 1)}
    hard = {Cell("hard", a, r): {a + r: 2, 30: 2} for a in (16, 17) for r in (0, 1)}
    costs = aggregated(landscape({**solved, **hard}), "normalised", "best")
    assert costs.mean.mean() == pytest.approx(0.5)
    text = landscape_summary(
        landscape(solved), "plain", aggregated(landscape(solved), "plain", "best"), np.ones((2, 2))
    )
    assert "easy 0 % of the plain mean" in text


@pytest.mark.parametrize(
    ("name", "smoothing", "error", "said"),
    [
        ("fuzz_100_16905", "ubcsat", 0.1, True),
        ("fuzz_100_16905", "ubcsat", 10.0, False),
        ("fuzz_100_16905", "textbook", 0.1, False),
        ("another", "ubcsat", 0.1, False),
    ],
)
def test_the_cause_of_a_barrier_is_told_only_where_it_was_looked_for(
    name: str, smoothing: str, error: float, said: bool
) -> None:
    cells = {Cell(name, a, r): {a + 20 * (a == 31): 2, 99: 1} for a in (30, 31, 32) for r in (0, 1)}
    found = replace(landscape(cells), smoothing=smoothing)
    costs = Costs(found.mean["best"][0], np.full((3, 2), error))
    text = landscape_summary(found, "plain", costs, np.ones((3, 2)))
    assert "From alpha = 32/15 down to 31/15 the cost rises" in text
    assert ("is no noise" in text) == said


def test_an_instance_alone_is_its_own_table() -> None:
    assert of_instance(small(), "small", "final").mean.ravel() == pytest.approx([5, 4, 6])


def test_the_five_best_are_the_five_lowest() -> None:
    table = np.array([[3.0, 9.0, 1.0], [8.0, 2.0, 7.0]])
    assert five_best(table) == [2, 4, 0, 5, 3]


def test_the_chance_of_being_among_five_is_sure_without_noise() -> None:
    table = np.arange(12.0).reshape(3, 4)
    chance = chance_of_five(Costs(table, np.full((3, 4), 1e-9)), 0, 50)
    assert chance.ravel().tolist() == [1.0] * 5 + [0.0] * 7


def test_equal_settings_have_equal_chances() -> None:
    """Five of ten, each in half of the tables; 5 standard errors: one seed in 170,000 fails."""
    chance = chance_of_five(Costs(np.zeros((2, 5)), np.ones((2, 5))), 1, 2_000)
    assert chance.sum() == pytest.approx(5)
    assert np.abs(chance - 0.5).max() < 5 * 0.5 / math.sqrt(2_000)


def test_barriers_and_local_optima_of_a_table_by_hand() -> None:
    table = np.array([[1.0, 2.0], [5.0, 6.0], [4.0, 3.5], [7.0, 5.0]])
    assert local_optima(table) == [0, 5]
    (barrier,) = barriers(Costs(table, np.full((4, 2), 0.5)))
    assert barrier.alpha == 2
    assert barrier.rise == 1.0
    assert barrier.errors == pytest.approx(1 / math.sqrt(0.5))


def test_the_depth_of_a_local_optimum_is_that_of_its_lowest_neighbour() -> None:
    table = np.array([[5.0, 3.0, 9.0], [7.0, 6.0, 8.0]])
    costs = Costs(table, np.full((2, 3), 0.5))
    assert depth(costs, 1) == pytest.approx(2 / math.sqrt(0.5))
    assert depth(costs, 5) == pytest.approx(-2 / math.sqrt(0.5)), "no optimum at all"


def test_ties_are_pairs_on_a_line() -> None:
    assert ties(np.array([[1.0, 2.0, 1.0], [2.0, 1.0, 1.0]])) == 3


def arena(table: np.ndarray, targets: list[int]) -> Arena:
    beats = deterministic(table.ravel().tolist()).beats()
    return Arena(table.shape, beats, np.array(targets), np.argsort(table, axis=None))


def some_table(seed: int, shape: tuple[int, int] = (4, 5)) -> np.ndarray:
    """A slope with noise and two ties."""
    rng = np.random.default_rng(seed)
    slope = np.add.outer(2.0 * np.arange(shape[0]), np.arange(shape[1]))
    table = slope + rng.normal(0, 1.0, shape)
    table[-1, -1], table[-1, -2] = table[-2, -1], table[-2, -2]
    return table


OPERATORS: dict[Curve, Operator] = {
    LSTEP: One(LStep(1)),
    RANDOM: One(Uniform()),
    HARMONIC: One(Harmonic()),
    BOTH_SIDES: BothSides(),
}


@pytest.mark.parametrize("curve", OPERATORS, ids=lambda curve: curve.name)
@pytest.mark.parametrize("noisy", [False, True])
def test_chains_are_those_of_the_operators_own_laws(curve: Curve, noisy: bool) -> None:
    """Against the chain that is built from exact fractions, move by move."""
    table = some_table(3)
    ground = arena(table, five_best(table)[:2])
    if noisy:
        upset = 0.2 + 0.6 * ground.beats
        ground = Arena(ground.shape, upset, ground.targets, ground.order)
    space = space_of(table.shape)
    slow = param_rls_chain(
        space,
        OPERATORS[curve],
        list(space.configs()),
        lambda x, y: float(ground.beats[x, y]),
        set(ground.targets.tolist()),
    )
    law = slow.law().pmf
    given = calls_of(law / law.sum())
    ending = chain_of(ground, curve, noisy).ended()
    assert ending.never == pytest.approx(1 - law.sum(), abs=1e-9)
    assert (ending.mean, ending.sd) == pytest.approx((given.mean, given.sd), rel=1e-8)
    if curve in tuning.ONE_CALL:
        mine = chain_of(ground, curve, noisy).law()
        assert mine[: len(law)] == pytest.approx(law, abs=1e-10)
        assert mine[-1] == pytest.approx(1 - law.sum(), abs=1e-9)


def driven(ground: Arena, curve: Curve, repetitions: int, seed: int, patience: float) -> list:
    """The real configurator on an arena; None where it was given up."""
    duels = Duels(
        lambda old, new, rng: rng.random() < ground.beats[old, new],
        set(ground.targets.tolist()),
        lambda config: config.indices[0] * ground.shape[1] + config.indices[1],
        patience,
    )
    scenario = Scenario(space_of(ground.shape))
    seeds = stream(seed, "saps figures", curve.name)
    search = configurator_of(curve, 1, duels).search
    return [calls_until_found(search(scenario, below(SEEDS, seeds))) for _ in range(repetitions)]


@pytest.mark.parametrize(
    "curve", [c for c in CURVES if c != ILS_RANDOM], ids=lambda curve: curve.name
)
def test_real_configurators_take_as_many_calls_as_computed(curve: Curve) -> None:
    """On the first four alphas of the kept table, which may trap the l-step; 5 standard errors: all
    five right curves together fail for one seed in 300,000."""
    ground = arena_of(Choice()).first(4)
    ending = chain_of(ground, curve).ended()
    assert ending.never == 0 or curve == LSTEP
    found = driven(ground, curve, 3_000, 1, 500 if ending.never else math.inf)
    calls = [x for x in found if x is not None]
    error = math.sqrt(ending.never * (1 - ending.never) / len(found))
    assert abs(1 - len(calls) / len(found) - ending.never) <= 5 * error
    assert abs(z_score(calls, ending.mean)) < 5
    assert abs(np.std(calls) / ending.sd - 1) < 0.1  # its standard error is below 0.03


def test_the_random_order_is_told_from_the_harmonic_one() -> None:
    """So the test above would notice one standing in for the other."""
    ground = arena_of(Choice()).first(12)
    mean = chain_of(ground, ILS_HARMONIC).ended().mean
    assert abs(z_score(driven(ground, ILS_RANDOM, 3_000, 2, math.inf), mean)) > 5


@pytest.mark.parametrize("alphas", [3, 12])
def test_searches_of_undiscovered_neighbours_take_as_many_calls_as_computed(alphas: int) -> None:
    """5 standard errors: both together fail for one seed in 800,000."""
    ground = arena_of(Choice()).first(alphas)
    calls = driven(ground, ILS_RANDOM, 4_000, 4, math.inf)
    assert abs(z_score(calls, undiscovered_mean(ground))) < 5


def test_undiscovered_neighbours_by_hand() -> None:
    """From (0, 1) and (1, 0) the target is one of two neighbours, the other one loses. From (1, 1)
    both win; then the target is left, and one that loses but is new, as (1, 1) is not."""
    table = np.array([[0.0, 1.0], [1.5, 3.0]])
    mean = (0 + 1.5 + 1.5 + (1 + 1)) / 4
    assert undiscovered_mean(arena(table, [0])) == pytest.approx(mean)


def test_ties_and_local_optima_leave_undiscovered_neighbours_to_searches() -> None:
    tied = np.array([[0.0, 2.0, 2.0], [3.0, 4.0, 5.0]])
    assert undiscovered_mean(arena(tied, [0])) is None
    stuck = np.array([[0.0, 5.0, 6.0], [5.5, 1.0, 7.0], [6.5, 7.5, 8.0]])
    assert undiscovered_mean(arena(stuck, [0])) is None
    assert undiscovered_mean(arena(stuck, [0, 4])) is not None


def test_a_local_search_that_may_end_early_is_not_computed() -> None:
    """(1, 1) is better than all on its two lines, and the target is on neither."""
    table = np.array([[0.0, 5.0, 6.0], [5.0, 1.0, 7.0], [6.0, 7.0, 8.0]])
    assert chain_of(arena(table, [0]), ILS_HARMONIC) is None
    assert chain_of(arena(table, [0, 4]), ILS_HARMONIC) is not None


def test_a_walk_without_better_neighbours_but_the_target_takes_its_place_in_the_order() -> None:
    """One line of two rhos is a single walk: the target is the only neighbour that wins."""
    table = np.array([[0.0, 1.0], [1.5, 3.0]])
    ending = chain_of(arena(table, [0]), ILS_HARMONIC).ended()
    # from (0,1) and (1,0) the target is one of two equally likely neighbours, the other loses;
    # from (1,1) both neighbours win, and the walk goes on from there
    assert ending.mean == pytest.approx((0 + 1.5 + 1.5 + 2.5) / 4)
    square = (0 + (1 + 4) / 2 + (1 + 4) / 2 + (4 + 9) / 2) / 4
    assert ending.sd == pytest.approx(math.sqrt(square - ending.mean**2))


TRAP = np.array([[0.0, 1.0], [2.0, 3.0], [9.0, 9.5], [4.0, 5.0]])


def test_the_l_step_is_trapped_behind_a_barrier() -> None:
    """From alpha 3 nothing leads on; the barrier itself leads to either side alike.

    From (2, 0): up or down with probability 1/3 each, and once in 3 to (2, 1), which loses.
    From (2, 1): likewise, but (2, 0) wins.
    """
    ending = chain_of(arena(TRAP, [0]), LSTEP).ended()
    assert ending.never == pytest.approx((2 + 0.5 + 0.5) / 8)
    assert math.isfinite(ending.mean)


def test_other_steps_are_not_trapped() -> None:
    for curve in (RANDOM, HARMONIC, BOTH_SIDES, ILS_HARMONIC):
        assert chain_of(arena(TRAP, [0]), curve).ended().never == 0


def test_the_real_configurator_is_trapped_as_often_as_computed() -> None:
    """5 standard errors: a right chain fails for one seed in 1,700,000."""
    calls = driven(arena(TRAP, [0]), LSTEP, 2_000, 3, 200)
    ending = chain_of(arena(TRAP, [0]), LSTEP).ended()
    given_up = sum(x is None for x in calls) / len(calls)
    error = math.sqrt(ending.never * (1 - ending.never) / len(calls))
    assert abs(given_up - ending.never) < 5 * error
    assert abs(z_score([x for x in calls if x is not None], ending.mean)) < 5


def test_a_point_says_what_never_ends_and_judges_the_rest() -> None:
    task = Task(Choice(), LSTEP, 3, 0)
    ending = chain_of(arena(TRAP, [0]), LSTEP).ended()
    point = point_of(Answer(task, 48, ending, None, (1.0, 3.0, math.inf)))
    assert (point.searched_mean, point.unfinished, point.repetitions) == (2.0, 1, 3)
    assert point.never == ending.never
    z = (published.mean_calls("saps", "paramrls", "l-step", 48) - ending.mean) / ending.sd
    assert point.z_published == pytest.approx(z * math.sqrt(500))


def test_a_point_without_targets_is_words_not_infinities() -> None:
    point = point_of(
        Answer(Task(Choice(), LSTEP, 3, 0), 48, tuning.Ending(1.0, math.nan, 0), None, ())
    )
    assert (point.never, point.exact_mean, point.z_published) == (1.0, None, None)


def noisy(curve: Curve, runs: int | None, mean: float) -> tuning.Point:
    task = Task(Choice(), curve, 30, 0, runs=runs)
    return point_of(Answer(task, 480, Ending(0.0, mean, 1.0), None, ()))


def test_comparisons_of_runs_are_summed_up_by_their_numbers() -> None:
    """Means that only rare events decide are not given as if they were known."""
    points = [noisy(LSTEP, 100, 52_813_976.0), noisy(LSTEP, None, 300.0)]
    points += [noisy(HARMONIC, None, 20.0), noisy(HARMONIC, 1, 30.0), noisy(HARMONIC, 100, 21.0)]
    points += [noisy(RANDOM, None, 50.0), noisy(RANDOM, 1, 55.0), noisy(RANDOM, 100, 50.0)]
    text = runs_summary(points)
    assert "| > 10,000 | 300.0 |" in text
    assert "10 to 50 % with r = 1, 0 to 5 % with r = 100." in text


def test_what_is_searched_counts_both_errors() -> None:
    answer = Answer(Task(Choice(), ILS_RANDOM, 3, 4), 48, None, None, (4.0, 6.0, 8.0, 10.0))
    point = point_of(answer)
    sd = np.std([4, 6, 8, 10], ddof=1)
    assert point.z_published == pytest.approx((6.17 - 7) / (sd * math.sqrt(1 / 500 + 1 / 4)))


def two_instances(counts: list[list[dict[int, int]]]) -> Landscape:
    """counts[instance][rho], at one alpha."""
    return landscape(
        {Cell(f"i{i}", 16, r): c for i, of_rho in enumerate(counts) for r, c in enumerate(of_rho)}
    )


counts = st.dictionaries(st.integers(0, 6), st.integers(1, 3), min_size=2, max_size=3)


@given(st.lists(st.lists(counts, min_size=3, max_size=3), min_size=2, max_size=2))
@settings(max_examples=40, deadline=None)
def test_one_run_decides_as_all_its_outcomes_say(table: list) -> None:
    """Against every combination of one run of each side on each instance."""
    beats = beats_by_runs(two_instances(table), 1)
    for old, new in product(range(3), repeat=2):
        sums = [
            [a + b for a in expanded(table[0][rho]) for b in expanded(table[1][rho])]
            for rho in (old, new)
        ]
        chance = np.mean([(y < x) + 0.5 * (y == x) for x in sums[0] for y in sums[1]])
        assert beats[old, new] == pytest.approx(chance)


def expanded(counts: Mapping[int, int]) -> list[int]:
    return [number for number, count in counts.items() for _ in range(count)]


def test_two_runs_decide_as_all_their_outcomes_say() -> None:
    table = [[{1: 1, 4: 2}, {2: 1, 3: 1}]]
    beats = beats_by_runs(two_instances(table), 2)
    x, y = ([a + b for a in expanded(c) for b in expanded(c)] for c in table[0])
    chance = np.mean([(b < a) + 0.5 * (b == a) for a in x for b in y])
    assert beats[0, 1] == pytest.approx(chance)
    assert beats[1, 0] == pytest.approx(1 - chance)


def test_many_runs_decide_as_the_table_does() -> None:
    rng = np.random.default_rng(5)
    table = [[{int(k): 1 for k in rng.integers(10 * r, 10 * r + 40, 5)} for r in range(4)]] * 2
    grid = two_instances(table)
    means = aggregated(grid, "plain", "best").mean.ravel()
    sure = deterministic(means.tolist()).beats()
    gaps = [np.abs(beats_by_runs(grid, runs) - sure).max() for runs in (1, 10, 100, 1_000)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3


def test_choices_name_every_table_once() -> None:
    choices = plausible()
    assert len(set(choices)) == len(choices) >= 4
    assert Choice() in choices
    tables = [table_of(choice).tobytes() for choice in [*choices, *redrawn(Choice(), 3)]]
    assert len(set(tables)) == len(tables)


def test_a_redrawn_table_is_the_same_again_and_near_the_measured_one() -> None:
    table = table_of(Choice())
    again = redrawn(Choice(), 2)[1]
    table_of.cache_clear()
    first = table_of(again)
    table_of.cache_clear()
    assert (table_of(again) == first).all()
    error = aggregated(kept("ubcsat"), "plain", "best").error
    assert 0.8 < float(((first - table) / error).std()) < 1.2


def test_verdicts_follow_chance() -> None:
    assert [verdict(x, 28) for x in (1.0, 1.9, 3.0)] == ["agrees", "doubtful", "does not agree"]


def test_a_table_that_traps_searches_does_not_agree() -> None:
    """Behind every published mean all 500 searches ended."""
    ends = [verdict(1.0, 28, never) for never in (1e-4, 0.01, 0.05)]
    assert ends == ["agrees", "doubtful", "does not agree"]


def test_other_targets_leave_the_table_as_it_is() -> None:
    whole = arena_of(Choice())
    others = [arena_of(choice) for choice in retargeted(Choice(), 4)]
    for number, arena in enumerate(others):
        assert (arena.beats == whole.beats).all()
        aimed = five_best(table_of(redrawn(Choice(), 4)[number]))
        assert arena.targets.tolist() == aimed
    assert any(set(arena.targets) != set(whole.targets) for arena in others)


def test_the_study_has_a_fit_for_every_curve_and_table() -> None:
    tasks = study_tasks(0, [3])
    kinds = {kind for kind, _ in tasks}
    assert kinds == {"measured", "redrawn", "retargeted", "instance"}
    few = [(kind, task) for kind, task in tasks if task.choice == Choice()]
    fits, points = studied(few, 1, lambda: None)
    assert [fit.curve for fit in fits] == list(CURVES)
    assert [(p.configurator, p.operator) for p in points] == [
        (c.configurator, c.operator) for c in CURVES
    ]
    (own,) = [fit for fit in fits if fit.curve == HARMONIC]
    assert own.mean_square == pytest.approx(points[2].z_published ** 2)


def test_jobs_do_not_change_what_is_searched() -> None:
    tasks = [Task(Choice(), ILS_RANDOM, count, 20) for count in (3, 4)]
    one, two = (list(all_answered(tuning.answered, tasks, jobs, lambda: None)) for jobs in (1, 2))
    assert one == two


def test_deltas_count_what_never_ends_as_slowest() -> None:
    fast = np.array([0.0, 1.0, 0.0])  # one call, always
    trapped = np.array([0.5, 0.0, 0.0, 0.5])  # at once, or never
    key = {"ending": None, "sample": ()}
    answers = [
        Answer(Task(Choice(), HARMONIC, 3, 0), 48, law=fast, **key),
        Answer(Task(Choice(), LSTEP, 3, 0), 48, law=trapped, **key),
        Answer(Task(Choice(), RANDOM, 3, 0), 48, law=fast, **key),
        Answer(Task(Choice(), ILS_HARMONIC, 3, 0), 48, None, None, (1.0, 2.0)),
        Answer(Task(Choice(), ILS_RANDOM, 3, 0), 48, None, None, (2.0, math.inf)),
    ]
    deltas = {(d.first, d.second): d for d in tuning.deltas_of(answers)}
    assert deltas[HARMONIC.name, LSTEP.name].exact == pytest.approx(0.5 - 0.5)
    assert deltas[HARMONIC.name, RANDOM.name].exact == 0
    assert deltas[ILS_HARMONIC.name, ILS_RANDOM.name].searched == 0.75


def test_the_published_means_of_saps_are_of_500_searches() -> None:
    assert published.repetitions("saps", "paramrls", "l-step", 480) == 500
    assert published.mean_calls("saps", "paramils", "random", 480) == 23.43


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SapsReproduction]:
    """Two sizes, everything written, but a study of one choice only."""
    from paramhs_paper.saps import reproduction
    from paramhs_paper.writing import Writing

    folder = tmp_path_factory.mktemp("saps")
    told: list[int] = []
    plan = SapsReproduction(
        method="search",
        repetitions=20,
        writing=Writing(folder),
        advance=lambda: told.append(1),
        alphas=(3, 5),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduction, "study_tasks", fewer_tasks)
        patch.setattr(reproduction, "NOISY_RUNS", (1,))
        plan.figure1()
        plan.figure2()
        assert len(told) == plan.points_to_compute()
    return folder, plan


def fewer_tasks(seed: int, alphas: tuple[int, ...]) -> list:
    some = {
        Choice(),
        redrawn(Choice())[0],
        retargeted(Choice())[0],
        Choice(instance=kept("ubcsat").instances[0]),
    }
    return [(kind, task) for kind, task in study_tasks(seed, alphas) if task.choice in some]


def test_a_folder_has_tables_figures_and_summaries(reproduced: tuple) -> None:
    folder, _ = reproduced
    names = ["figure1_saps", "figure2_saps", "figure2_saps_choices", "figure2_saps_runs"]
    for name, end in product(names, ("md", "csv", "json", "svg", "html")):
        assert (folder / f"{name}.{end}").stat().st_size > 100
    rows = json.loads((folder / "figure2_saps.json").read_text("utf-8"))
    assert len(rows) == len(CURVES) * 2
    assert {row["size"] for row in rows} == {48, 80}
    with (folder / "figure1_saps.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 480
    assert sum(row["five_best"] == "True" for row in table) == 5


def test_summaries_print_no_infinities(reproduced: tuple) -> None:
    folder, _ = reproduced
    for path in folder.glob("*.md"):
        text = path.read_text("utf-8")
        assert "inf" not in text.replace("infer", "")
        assert "nan" not in text


def test_summaries_say_how_many_runs_a_cell_has(reproduced: tuple) -> None:
    folder, _ = reproduced
    text = (folder / "figure1_saps.md").read_text("utf-8")
    assert f"{kept('ubcsat').runs_text} runs a cell (the paper had 2,000)" in text


def test_the_command_takes_the_kept_tables(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "figure1", "--scenario", "saps", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.output)
    assert len(rows) == 480
    words = ["reproduce", "figure2", "--scenario", "saps", "--repetitions", "2"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SapsReproduction, "_tasks", lambda plan: few_tasks(plan))
        done = CliRunner().invoke(app, [*words, "--aggregation", "normalised"])
    assert done.exit_code == 0, done.output
    assert "(ubcsat, normalised, best)" in " ".join(done.output.split())


def few_tasks(plan: SapsReproduction) -> list[Task]:
    return [
        Task(plan.choice, curve, count, plan.repetitions, law=curve in tuning.ONE_CALL)
        for curve in CURVES
        for count in (3, 4)
    ]
