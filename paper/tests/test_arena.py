import math
from collections.abc import Mapping
from itertools import product
from random import Random

import numpy as np
import pytest

from paramhs.core.random_streams import SEEDS, below, stream
from paramhs.core.scenario import Scenario
from paramhs.core.space import Integer, Space
from paramhs.search.history import History
from paramhs.search.operators import BothSides, Harmonic, LStep, OneParameter, Operator, Uniform
from paramhs.testing.duels import calls_until_sampled
from paramhs.theory.hitting import Chain, calls_of
from paramhs.theory.outcomes import by_cost
from paramhs_paper.arena import Arena, descent, one_step, own_chain, undiscovered_mean
from paramhs_paper.saps.ranking import Costs, aggregated, chance_of_five, five_best
from paramhs_paper.saps.summary import landscape_summary
from paramhs_paper.saps.table import Landscape, kept
from paramhs_paper.scenarios import (
    BOTH_SIDES,
    HARMONIC,
    ILS_HARMONIC,
    ILS_RANDOM,
    L_STEP,
    RANDOM,
    Curve,
    SapsScenario,
)
from paramhs_paper.scenarios import SAPS as SAPS_SCENARIOS
from paramhs_paper.searching import duels
from tests.support.driving import standard_errors

SAPS = SAPS_SCENARIOS["saps"]
Cell = tuple[str, int, int]
"""A setting, in fifteenths, on an instance."""


def chain_of(arena: Arena, curve: Curve) -> Chain | None:
    if curve.configurator == "paramils":
        return descent(arena)
    return own_chain(arena, BothSides()) if curve == BOTH_SIDES else one_step(arena, curve.step(1))


def landscape(best: Mapping[Cell, Mapping[int, int]]) -> Landscape:
    """From the counts of runs; the last step is as the best one."""
    instances, alphas, rhos = (tuple(sorted(set(x))) for x in zip(*best, strict=True))
    shape = (len(instances), len(alphas), len(rhos))
    cells = list(product(instances, alphas, rhos))
    samples = [np.repeat(list(best[c]), list(best[c].values())) for c in cells]
    mean = np.array([sample.mean() for sample in samples]).reshape(shape)
    error = np.array([s.std(ddof=1) / math.sqrt(len(s)) for s in samples]).reshape(shape)
    both, errors = {"best": mean, "final": mean}, {"best": error, "final": error}
    return Landscape("ubcsat", instances, alphas, rhos, 2, both, errors, mean)


def small() -> Landscape:
    """A large instance that likes alpha 16, a small one that likes alpha 17 more strongly."""
    return landscape(
        {
            ("large", 16, 0): {100: 1, 102: 1},
            ("large", 17, 0): {102: 1, 104: 1},
            ("large", 18, 0): {104: 1, 106: 1},
            ("small", 16, 0): {4: 1, 4 + 2: 1},
            ("small", 17, 0): {3: 1, 5: 1},
            ("small", 18, 0): {5: 1, 7: 1},
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
    solved = {("easy", a, r): {0: 4} for a in (16, 17) for r in (0, 1)}
    hard = {("hard", a, r): {a + r: 2, 30: 2} for a in (16, 17) for r in (0, 1)}
    costs = aggregated(landscape({**solved, **hard}), "normalised", "best")
    assert costs.mean.mean() == pytest.approx(0.5)
    text = landscape_summary(landscape(solved), np.ones((2, 2)))
    assert "easy 0 % of the plain mean" in text


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


def arena(table: np.ndarray, targets: list[int]) -> Arena:
    order = np.argsort(table, axis=None, kind="stable")
    return Arena(table.shape, by_cost(table.ravel()), np.array(targets), order)


def some_table(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """A slope with noise, and ties at its end."""
    rng = np.random.default_rng(seed)
    table = np.indices(shape).sum(axis=0) + rng.normal(0, 1.0, shape)
    table[-1] = table[-2]
    return table


OPERATORS: dict[Curve, Operator] = {
    L_STEP: OneParameter(LStep(1)),
    RANDOM: OneParameter(Uniform()),
    HARMONIC: OneParameter(Harmonic()),
}


def space_of(shape: tuple[int, ...]) -> Space:
    return Space({f"x{k}": Integer(0, levels - 1) for k, levels in enumerate(shape)})


@pytest.mark.parametrize("curve", OPERATORS, ids=lambda curve: curve.name)
@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("shape", [(4, 5), (12,), (3, 2, 4)])
def test_chains_are_those_of_the_operators_own_laws(
    curve: Curve, noisy: bool, shape: tuple[int, ...]
) -> None:
    """Against the chain that is built from exact fractions, move by move."""
    table = some_table(3, shape)
    ground = arena(table, five_best(table)[:2])
    if noisy:
        ground = Arena(ground.shape, 0.2 + 0.6 * ground.beats, ground.targets)
    slow = own_chain(ground, OPERATORS[curve])
    law = slow.law().pmf
    given, ending = calls_of(law / law.sum()), chain_of(ground, curve).ended()
    assert ending.never == pytest.approx(1 - law.sum(), abs=1e-9)
    assert slow.ended().never == pytest.approx(ending.never, abs=1e-9)
    assert (ending.mean, ending.sd) == pytest.approx((given.mean, given.sd), rel=1e-8)
    mine = chain_of(ground, curve).law().pmf
    assert mine[: len(law)] == pytest.approx(law[: len(mine)], abs=1e-10)


def driven(ground: Arena, curve: Curve, repetitions: int, seed: int, patience: float) -> list:
    """The real configurator on an arena; infinite where it was given up."""
    scenario = Scenario(space_of(ground.shape))
    seeds = stream(seed, "saps figures", curve.name)

    def duel(old: int, new: int, rng: Random) -> bool:
        return rng.random() < ground.beats[old, new]

    rules = SAPS.configurator(curve, duels(duel, ground, scenario.space, patience))
    histories = (History(scenario, below(SEEDS, seeds)) for _ in range(repetitions))
    return [calls_until_sampled(rules.search(history)) for history in histories]


@pytest.mark.parametrize(
    "curve", [c for c in SapsScenario.curves if c != ILS_RANDOM], ids=lambda curve: curve.name
)
def test_real_configurators_take_as_many_calls_as_computed(curve: Curve) -> None:
    """On the first four alphas of the kept table, which may trap the l-step; 5 standard errors: all
    five right curves together fail for one seed in 300,000."""
    ground = SAPS.arena(64)
    ending = chain_of(ground, curve).ended()
    assert ending.never == 0 or curve == L_STEP
    found = driven(ground, curve, 2_000, 1, 150 if ending.never else math.inf)
    calls = [x for x in found if math.isfinite(x)]
    error = math.sqrt(ending.never * (1 - ending.never) / len(found))
    assert abs(1 - len(calls) / len(found) - ending.never) <= 5 * error
    assert abs(standard_errors(calls, ending.mean)) < 5
    assert abs(np.std(calls) / ending.sd - 1) < 0.1  # its standard error is below 0.03


def test_random_and_harmonic_orders_are_distinguished() -> None:
    """So the test above would notice one standing in for the other."""
    ground = SAPS.arena(192)
    mean = chain_of(ground, ILS_HARMONIC).ended().mean
    assert abs(standard_errors(driven(ground, ILS_RANDOM, 1_000, 2, math.inf), mean)) > 5


@pytest.mark.parametrize("alphas", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_searches_of_undiscovered_neighbours_take_as_many_calls_as_computed(alphas: int) -> None:
    """5 standard errors: both together fail for one seed in 800,000."""
    ground = SAPS.arena(16 * alphas)
    calls = driven(ground, ILS_RANDOM, 2_000, 4, math.inf)
    assert abs(standard_errors(calls, undiscovered_mean(ground))) < 5


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
    ending = chain_of(arena(TRAP, [0]), L_STEP).ended()
    assert ending.never == pytest.approx((2 + 0.5 + 0.5) / 8)
    assert math.isfinite(ending.mean)


def test_other_steps_are_not_trapped() -> None:
    for curve in (RANDOM, HARMONIC, BOTH_SIDES, ILS_HARMONIC):
        assert chain_of(arena(TRAP, [0]), curve).ended().never == 0


def test_the_real_configurator_is_trapped_as_often_as_computed() -> None:
    """5 standard errors: a right chain fails for one seed in 1,700,000."""
    calls = driven(arena(TRAP, [0]), L_STEP, 2_000, 3, 80)
    ending = chain_of(arena(TRAP, [0]), L_STEP).ended()
    given_up = sum(map(math.isinf, calls)) / len(calls)
    error = math.sqrt(ending.never * (1 - ending.never) / len(calls))
    assert abs(given_up - ending.never) < 5 * error
    assert abs(standard_errors([x for x in calls if math.isfinite(x)], ending.mean)) < 5


def test_no_search_of_a_kept_table_compares_equal_costs() -> None:
    """Makes the rule for ties irrelevant there."""
    for scenario in SAPS_SCENARIOS.values():
        table = aggregated(kept(scenario.smoothing)).mean
        for line in (*table, *table.T):
            assert len(set(line.tolist())) == len(line)
