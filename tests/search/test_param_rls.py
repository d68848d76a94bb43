from fractions import Fraction
from itertools import product

import pytest

from paramhs.core.errors import BadInput
from paramhs.core.runs import Evaluate
from paramhs.core.scenario import Scenario
from paramhs.core.space import Categorical, Integer, Space
from paramhs.search.comparison import FixedRuns, FreshRuns, Growing
from paramhs.search.configurators import ParamHS, ParamRLS
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import (
    BothSides,
    Harmonic,
    LStep,
    OneParameter,
    SeveralParameters,
    Uniform,
    UniformRandom,
)
from paramhs.testing.driving import steps
from tests.support.chains import both_sides, expected_calls, weighted
from tests.support.driving import (
    LawComparison,
    at,
    begin,
    by_pair,
    calls_until_sampled,
    drive,
    instances,
    noise,
    ok,
    one_parameter,
    standard_errors,
)
from tests.support.laws import fits

MOST = 5.0  # standard errors: a right search is rejected for one seed in a million and a half
LEVELS = 10
OPTIMUM = 3
LINE = one_parameter(LEVELS)


@pytest.fixture(params=[2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def searches(request):
    return request.param


def outcome(challenger, incumbent):
    """Win and tie of two values: a rugged landscape, nearer mostly better, ties common."""
    nearer = abs(incumbent - OPTIMUM) - abs(challenger - OPTIMUM)
    bump = 0.15 if challenger % 4 == 2 else 0.0
    return min(max(0.4 + 0.1 * nearer + bump, 0.05), 0.7), 0.25


def wins(challenger, incumbent):
    win, tie = outcome(challenger, incumbent)
    return win + tie / 2


LAW = LawComparison(lambda c, i: outcome(c.indices[0], i.indices[0]), at(LINE, OPTIMUM))


def calls(operator, searches, *, comparison=LAW, space=LINE, replacement=True):
    scenario = Scenario(space)
    rules = ParamRLS(operator, comparison, "uniform", replacement)
    return [calls_until_sampled(begin(rules, scenario, seed)) for seed in range(searches)]


CHAINS = {
    "1-step": (OneParameter(LStep(1)), weighted(LEVELS, lambda d: Fraction(d <= 1))),
    "2-step": (OneParameter(LStep(2)), weighted(LEVELS, lambda d: Fraction(d <= 2))),
    "uniform": (OneParameter(Uniform()), weighted(LEVELS, lambda d: Fraction(1))),
    "harmonic": (OneParameter(Harmonic()), weighted(LEVELS, lambda d: Fraction(1, d))),
    "both sides": (BothSides(), both_sides(LEVELS)),
}


@pytest.mark.parametrize("name", CHAINS)
def test_mean_number_of_calls_is_that_of_the_chain(name, searches):
    operator, moves = CHAINS[name]
    mean = expected_calls(range(LEVELS), OPTIMUM, moves, wins)
    assert abs(standard_errors(calls(operator, searches), mean)) < MOST


def test_the_chains_of_other_operators_are_distinguished(searches):
    counts = calls(CHAINS["harmonic"][0], searches)
    for name in CHAINS.keys() - {"harmonic"}:
        wrong = expected_calls(range(LEVELS), OPTIMUM, CHAINS[name][1], wins)
        assert abs(standard_errors(counts, wrong)) > MOST, name


def often_tied(challenger, incumbent):
    """Win and tie of two values: most comparisons are ties, so that their rule tells."""
    nearer = abs(incumbent - OPTIMUM) - abs(challenger - OPTIMUM)
    bump = 0.15 if challenger % 4 == 2 else 0.0
    return min(max(0.1 + 0.1 * nearer + bump, 0.02), 0.4), 0.6


def test_chains_that_differ_in_ties_are_distinguished(searches):
    def mean(share):
        def challenger_wins(challenger, incumbent):
            win, tie = often_tied(challenger, incumbent)
            return win + share * tie

        return expected_calls(range(LEVELS), OPTIMUM, CHAINS["1-step"][1], challenger_wins)

    law = LawComparison(lambda c, i: often_tied(c.indices[0], i.indices[0]), at(LINE, OPTIMUM))
    counts = calls(OneParameter(LStep(1)), 2 * searches, comparison=law)
    assert abs(standard_errors(counts, mean(0.5))) < MOST
    assert abs(standard_errors(counts, mean(1.0))) > MOST
    assert abs(standard_errors(counts, mean(0.0))) > MOST


def test_uniform_with_replacement_takes_phi_minus_1_calls_except_for_a_lucky_start():
    moves = weighted(LEVELS, lambda d: Fraction(1))
    mean = expected_calls(range(LEVELS), OPTIMUM, moves, wins)
    assert mean == pytest.approx((LEVELS - 1) * (1 - 1 / LEVELS))


def test_without_replacement_the_optimum_is_equally_likely_to_come_at_any_call(searches):
    counts = calls(OneParameter(Uniform()), searches, replacement=False)
    assert fits(counts, {k: Fraction(1, LEVELS) for k in range(LEVELS)})
    assert abs(standard_errors(counts, (LEVELS - 1) / 2)) < MOST


def test_a_lucky_start_costs_nothing_and_is_uniformly_likely(searches):
    counts = calls(OneParameter(Harmonic()), searches)
    law = {True: Fraction(1, LEVELS), False: Fraction(LEVELS - 1, LEVELS)}
    assert fits([count == 0 for count in counts], law)


PLANE = Space({"n": Integer(0, 3), "c": Categorical(["a", "b", "c"])})


def plane_outcome(challenger, incumbent):
    nearer = (incumbent[0] + 2 * (incumbent[1] > 0)) - (challenger[0] + 2 * (challenger[1] > 0))
    return min(max(0.4 + 0.15 * nearer, 0.05), 0.75), 0.2


def plane_moves(here):
    number, category = weighted(4, lambda d: Fraction(1, d)), weighted(3, lambda d: Fraction(1))
    for (to,), probability in number(here[0]):
        yield ((to, here[1]),), probability / 2
    for (to,), probability in category(here[1]):
        yield ((here[0], to),), probability / 2


def test_mean_number_of_calls_with_two_parameters_is_that_of_the_chain(searches):
    best = PLANE.config(n=0, c="a")
    law = LawComparison(lambda c, i: plane_outcome(c.indices, i.indices), best)
    states = list(product(range(4), range(3)))
    mean = expected_calls(
        states,
        (0, 0),
        plane_moves,
        lambda c, i: plane_outcome(c, i)[0] + plane_outcome(c, i)[1] / 2,
    )
    assert (
        abs(
            standard_errors(
                calls(OneParameter(Harmonic()), searches, comparison=law, space=PLANE), mean
            )
        )
        < MOST
    )


def test_fresh_runs_of_a_random_target_give_the_calls_of_the_chain(searches):
    """Costs of 0 or 1 with a known probability of 1, one run each: wins and ties are known."""
    levels, scenario = 5, Scenario(one_parameter(5))
    bad = [0.2, 0.4, 0.5, 0.6, 0.8]

    def target(task):
        return ok(task, float(noise(task) < bad[task.config["x"]]))

    def one_wins(challenger, incumbent):
        p, q = bad[challenger], bad[incumbent]
        return (1 - p) * q + (p * q + (1 - p) * (1 - q)) / 2

    def count(seed):
        search = begin(ParamRLS(OneParameter(LStep(1)), FreshRuns(1), "uniform"), scenario, seed)
        number = 0
        for step in steps(Dialogue(search), target):
            called = isinstance(step, Evaluate)
            configs = [task.config for task in step.tasks] if called else [step.config]
            number += called
            if any(config["x"] == 0 for config in configs):
                return number
        raise AssertionError("the search ended")

    moves = weighted(levels, lambda d: Fraction(d <= 1))
    mean = expected_calls(range(levels), 0, moves, one_wins)
    assert abs(standard_errors([count(seed) for seed in range(searches // 2)], mean)) < MOST


def test_uniform_start_is_uniform(searches):
    scenario = Scenario(LINE)
    rules = ParamRLS(comparison=FreshRuns(1), start="uniform")
    starts = [next(begin(rules, scenario, seed)).config["x"] for seed in range(searches)]
    assert fits(starts, {x: Fraction(1, LEVELS) for x in range(LEVELS)})


def test_only_the_two_known_starts_are_accepted():
    with pytest.raises(BadInput, match="start must be"):
        ParamRLS(start="middle")


def test_every_challenger_of_a_move_races_the_winner_so_far():
    met = []

    def first_wins(challenger, incumbent):
        met.append((challenger.indices[0], incumbent.indices[0]))
        return 1.0, 0.0

    space = Space({"x": Integer(0, 2, default=1)})
    search = ParamRLS(BothSides(), LawComparison(first_wins)).search(History(Scenario(space), 1))
    for _ in range(3):
        next(search)
    assert met[0][1] == 1
    assert met[1] == (2 - met[0][0], met[0][0])


@pytest.mark.parametrize("operator", [OneParameter(), UniformRandom(), BothSides()])
def test_without_replacement_no_configuration_is_proposed_twice(operator):
    proposed = []

    def outcomes(challenger, incumbent):
        proposed.append(challenger)
        return 0.5, 0.2

    for seed in range(50):
        proposed.clear()
        rules = ParamRLS(operator, LawComparison(outcomes), replacement=False)
        search = begin(rules, Scenario(LINE), seed)
        assert next(search).config == LINE.default
        for _ in search:
            pass
        assert len(proposed) == len(set(proposed)) == LEVELS - 1
        assert LINE.default not in proposed


def test_a_challenger_that_cannot_win_is_not_revisited():
    scenario = Scenario(LINE, instances(2), deterministic=True)
    target = by_pair(scenario, 3, lambda config, k: float(config["x"]))
    driven = drive(ParamHS(OneParameter(), FixedRuns()).search(History(scenario, 3)), target)
    assert len(driven.tasks) == 2 * LEVELS
    assert driven.ended == "all 10 configurations tried"


def test_a_search_whose_operator_is_stuck_jumps_until_all_is_tried():
    space = Space({"x": range(9)}, forbidden=["x == 6"])
    scenario = Scenario(space, instances(3), deterministic=True)
    search = ParamHS(OneParameter(LStep(1)), Growing()).search(History(scenario, 1))
    driven = drive(search, lambda task: ok(task, 10.0 * abs(task.config["x"] - 4)))
    assert driven.ended == "all 8 configurations tried"
    assert {config["x"] for config in driven.configs} == {0, 1, 2, 3, 4, 5, 7, 8}


@pytest.mark.parametrize("instance_count", [1, 20])
def test_every_branch_of_a_conditional_space_is_reached(instance_count):
    space = Space(
        {"m": ["b", "a"], "z": (0, 9), "y": (0, 9)}, conditions={"z": "m == a", "y": "m == a"}
    )
    scenario = Scenario(space, instances(instance_count), deterministic=True)

    def cost(task):
        config = task.config
        return ok(task, 5.0 if config["m"] == "b" else config["z"] + config["y"] + 0.0)

    driven = drive(ParamHS(SeveralParameters(), Growing()).search(History(scenario, 1)), cost)
    assert driven.ended == "all 101 configurations tried"
    assert driven.incumbents[-1] == {"m": "a", "z": 0, "y": 0}


@pytest.mark.parametrize(
    ("size", "listable"), [(30, 500), pytest.param(130, 10_000, marks=pytest.mark.slow)]
)
def test_a_space_too_large_to_be_listed_is_exhausted_all_the_same(monkeypatch, size, listable):
    for module in ("search.operators.several_parameters", "core.space.space"):
        monkeypatch.setattr(f"paramhs.{module}.MAX_LISTED_CONFIGS", listable)
    space = Space({"x": range(size), "y": range(size)})
    driven = drive(
        ParamHS(SeveralParameters(), Growing()).search(
            History(Scenario(space, deterministic=True), 1)
        ),
        lambda task: ok(task, float(task.config["x"] * task.config["y"] != 13 * 7)),
    )
    assert driven.ended == f"all {size**2:,} configurations tried"
