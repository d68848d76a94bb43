from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from statistics import fmean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below, shuffled, stream
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.search.comparison import FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.configurators import ParamILS, RestartWalk
from paramhs.search.history import History
from paramhs.search.operators import Harmonic, OneParameter, Uniform
from tests.support.driving import (
    LawComparison,
    Sampled,
    at,
    begin,
    by_instance,
    calls_until_sampled,
    drive,
    instances,
    ok,
    one_parameter,
    random_table,
    standard_errors,
    total_score,
)
from tests.support.laws import fits

MOST = 5.0  # standard errors: a right search is rejected for one seed in a million and a half
LEVELS = 10
LINE = one_parameter(LEVELS)


@pytest.fixture(params=[2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def searches(request):
    return request.param


def nearer_wins(optimum):
    def outcome(challenger, incumbent):
        new, old = (abs(c.indices[0] - optimum) for c in (challenger, incumbent))
        return float(new < old), float(new == old)

    return outcome


def meetings(rules, space, seed, count):
    """The first calls of a search: challengers and incumbents, by a rule that names the winner."""
    met = []

    def outcome(challenger, incumbent):
        if len(met) == count:
            raise Sampled(count)
        met.append((challenger, incumbent))
        return rules.comparison.outcome(challenger, incumbent)

    fields = {**vars(rules), "comparison": LawComparison(outcome)}
    calls_until_sampled(ParamILS(**fields).search(History(Scenario(space), seed)))
    return met


NOBODY_WINS = LawComparison(lambda challenger, incumbent: (0.0, 0.0))
ALL_WIN = LawComparison(lambda challenger, incumbent: (1.0, 0.0))
ANYONE_WINS = LawComparison(lambda challenger, incumbent: (0.3, 0.2))


@pytest.mark.parametrize(
    "wrong", [{"random_starts": -1}, {"kicks": 0}, {"p_restart": -0.1}, {"p_restart": 1.1}]
)
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(BadInput, match="ParamILS needs"):
        ParamILS(**wrong)


def test_only_the_two_known_starts_are_accepted():
    with pytest.raises(BadInput, match="start must be"):
        ParamILS(start="middle")


def test_defaults_are_those_of_the_original():
    rules = ParamILS()
    assert (rules.random_starts, rules.kicks, rules.p_restart) == (10, 3, 0.01)
    assert rules.comparison == Focused()


@pytest.mark.parametrize("comparison", [FixedRuns(2), Growing(), Focused(), FreshRuns(1)])
def test_starting_afresh_among_ties_ends(comparison):
    scenario = Scenario(LINE, instances(2), deterministic=True)
    search = begin(
        ParamILS(comparison=comparison, walk=RestartWalk(), random_starts=0), scenario, 1
    )
    drive(search, lambda task: ok(task, 1.0), runs=500)


@pytest.mark.parametrize("comparison", [NOBODY_WINS, ALL_WIN, ANYONE_WINS])
def test_a_local_search_compares_every_undiscovered_value_once(comparison):
    rules = ParamILS(comparison=comparison, random_starts=0)
    for seed in range(100):
        met = meetings(rules, LINE, seed, LEVELS - 1)
        assert {c for c, _ in met} == set(LINE.configs()) - {LINE.default}


def test_a_local_search_moves_at_the_first_improvement_and_only_then():
    space = Space({"x": range(4), "y": range(4)})
    for seed in range(200):
        met = meetings(ParamILS(comparison=ANYONE_WINS, random_starts=0), space, seed, 6)
        assert met[0][1] == space.default
        for (challenger, incumbent), (_, following) in pairwise(met):
            assert following in (challenger, incumbent)
        met = meetings(ParamILS(comparison=ALL_WIN, random_starts=0), space, seed, 6)
        assert all(after[1] == before[0] for before, after in pairwise(met))
        met = meetings(ParamILS(comparison=NOBODY_WINS, random_starts=0), space, seed, 6)
        assert {incumbent for _, incumbent in met} == {space.default}


def test_a_local_search_walks_neighbours_only():
    space = Space({"x": range(4), "y": range(4), "z": range(4)})
    for seed in range(50):
        for challenger, incumbent in meetings(
            ParamILS(comparison=NOBODY_WINS, random_starts=0), space, seed, 9
        ):
            assert challenger in set(space.neighbours(incumbent))


def test_with_revisits_every_move_starts_afresh():
    rules = ParamILS(comparison=ALL_WIN, random_starts=0, walk=RestartWalk())
    assert any(len({c for c, _ in meetings(rules, LINE, seed, 6)}) < 6 for seed in range(100))


def test_random_starts_meet_the_start_first(searches):
    """A uniform draw that is the start is skipped; a neighbour of it comes instead."""
    space = Space({"x": range(3), "y": range(3)})
    near = set(space.neighbours(space.default))
    law = {
        config: Fraction(1, 9) * (Fraction(5, 4) if config in near else 1)
        for config in space.configs()
        if config != space.default
    }
    rules = ParamILS(comparison=NOBODY_WINS, random_starts=1)
    first = [meetings(rules, space, seed, 1)[0] for seed in range(searches)]
    assert {incumbent for _, incumbent in first} == {space.default}
    assert fits([challenger for challenger, _ in first], law)


def test_the_requested_number_of_random_starts_is_compared():
    space = Space({name: range(100) for name in "abcdefgh"})
    near = [
        sum(c[n] != i[n] for n in c) == 1
        for c, i in meetings(ParamILS(comparison=NOBODY_WINS, random_starts=7), space, 1, 12)
    ]
    assert near == [False] * 7 + [True] * 5


@pytest.mark.parametrize("kicks", [1, 2, 3])
def test_a_kick_is_a_number_of_uniform_moves(kicks, searches):
    space = one_parameter(5)
    back = Fraction(1)
    for _ in range(kicks):
        back = (1 - back) / 4
    start = space.default.indices[0]
    law = {x: back if x == start else (1 - back) / 4 for x in range(5)}
    rules = ParamILS(comparison=NOBODY_WINS, random_starts=0, kicks=kicks)
    kicked = [meetings(rules, space, seed, 5)[4][1].indices[0] for seed in range(searches // 2)]
    assert fits(kicked, {x: p for x, p in law.items() if p})


@pytest.mark.parametrize("p_restart", [0.0, 0.5, 1.0])
def test_a_restart_is_uniform_and_as_likely_as_asked_for(p_restart, searches):
    """Two local searches of 4 calls, one call to decide between them; then the next kick."""
    space = one_parameter(5)
    start = space.default.indices[0]
    p = Fraction(p_restart)
    law = {x: p / 5 + (1 - p) * Fraction(x != start, 4) for x in range(5)}
    rules = ParamILS(comparison=NOBODY_WINS, random_starts=0, kicks=1, p_restart=p_restart)
    kicked = [meetings(rules, space, seed, 10)[9][1].indices[0] for seed in range(searches // 2)]
    assert fits(kicked, {x: q for x, q in law.items() if q})


def test_undiscovered_values_in_uniform_order_take_half_of_phi_minus_1_calls(searches):
    law = LawComparison(nearer_wins(3), at(LINE, 3))
    rules = ParamILS(OneParameter(Uniform()), law, random_starts=0, start="uniform")
    scenario = Scenario(LINE)
    counts = [calls_until_sampled(begin(rules, scenario, seed)) for seed in range(searches)]
    assert fits(counts, {k: Fraction(1, LEVELS) for k in range(LEVELS)})
    assert abs(standard_errors(counts, (LEVELS - 1) / 2)) < MOST


def harmonic_order_calls(levels, optimum):
    """Exact mean: from x, values come without replacement by weight 1/d until one is nearer."""

    @cache
    def calls(x, seen):
        rest = [y for y in range(levels) if y != x and y not in seen]
        total = sum(Fraction(1, abs(y - x)) for y in rest)
        mean = Fraction(1)
        for y in rest:
            probability = Fraction(1, abs(y - x)) / total
            if abs(y - optimum) < abs(x - optimum):
                mean += probability * (calls(y, frozenset()) if y != optimum else 0)
            else:
                mean += probability * calls(x, seen | {y})
        return mean

    return sum(calls(x, frozenset()) for x in range(levels) if x != optimum) / levels


def test_harmonic_order_with_revisits_takes_the_calls_of_successive_draws(searches):
    levels, optimum = 8, 2
    space = one_parameter(levels)

    def outcome(challenger, incumbent):
        new, old = (abs(c.indices[0] - optimum) for c in (challenger, incumbent))
        return float(new < old), 0.0

    law = LawComparison(outcome, at(space, optimum))
    rules = ParamILS(
        OneParameter(Harmonic()), law, random_starts=0, walk=RestartWalk(), start="uniform"
    )
    scenario = Scenario(space)
    counts = [calls_until_sampled(begin(rules, scenario, seed)) for seed in range(searches)]
    assert abs(standard_errors(counts, float(harmonic_order_calls(levels, optimum)))) < MOST


HILLS = {
    (x, y): (x - 2) ** 2 + (y - 1) ** 2 + 7 * ((x, y) in {(1, 1), (3, 1), (2, 0), (2, 2), (0, 1)})
    for x, y in product(range(5), range(4))
}
PEAK = (2, 1)


def reference_calls(rng, random_starts, kicks, p_restart):
    """ParamILS as the paper describes it, on HILLS, written anew: calls until PEAK is sampled."""
    count = 0

    def better(new, old):
        nonlocal count
        if old == PEAK:
            raise Sampled(count)
        count += 1
        if new == PEAK:
            raise Sampled(count)
        return HILLS[new] < HILLS[old]

    def neighbours(at):
        return [p for p in HILLS if p != at and (p[0] == at[0] or p[1] == at[1])]

    def anywhere():
        return below(5, rng), below(4, rng)

    def kick(at):
        axis = below(2, rng)
        same = [p for p in HILLS if p != at and p[1 - axis] == at[1 - axis]]
        return same[below(len(same), rng)]

    def local_search(at):
        discovered = {at}
        moved = True
        while moved:
            moved = False
            for to in shuffled([p for p in neighbours(at) if p not in discovered], rng):
                discovered.add(to)
                if better(to, at):
                    at, moved = to, True
                    break
        return at

    start = anywhere()
    if start == PEAK:
        return 0
    try:
        for _ in range(random_starts):
            challenger = anywhere()
            if challenger != start and better(challenger, start):
                start = challenger
        best = current = local_search(start)
        while True:
            candidate = current
            for _ in range(kicks):
                candidate = kick(candidate)
            candidate = local_search(candidate)
            if candidate != current and better(candidate, current):
                if current == best or (candidate != best and better(candidate, best)):
                    best = candidate
                current = candidate
            if rng.random() < p_restart:
                current = anywhere()
    except Sampled as sampled:
        return sampled.calls


@pytest.mark.parametrize(("random_starts", "kicks", "p_restart"), [(0, 1, 0.0), (2, 3, 0.0)])
def test_calls_on_two_parameters_are_those_of_another_implementation(
    random_starts, kicks, p_restart, searches
):
    space = Space({"x": range(5), "y": range(4)})
    law = LawComparison(
        lambda c, i: (float(HILLS[c.indices] < HILLS[i.indices]), 0.0), space.config(x=2, y=1)
    )
    rules = ParamILS(OneParameter(Uniform()), law, random_starts, kicks, p_restart, start="uniform")
    scenario = Scenario(space)
    searches //= 4
    ours = [calls_until_sampled(begin(rules, scenario, seed)) for seed in range(searches)]
    theirs = [
        reference_calls(stream(seed, "reference"), random_starts, kicks, p_restart)
        for seed in range(searches)
    ]
    error = ((variance(ours) + variance(theirs)) / searches) ** 0.5
    assert abs(fmean(ours) - fmean(theirs)) < MOST * error


SMALL = Space({"x": range(4), "y": ["a", "b", "c"]})
FOUR = Scenario(SMALL, instances(4), deterministic=True)
BASIC = ParamILS(comparison=FixedRuns())


def test_ties_are_accepted_with_fixed_runs():
    driven = drive(begin(BASIC, FOUR, 1), lambda task: ok(task, 1.0))
    assert len(set(driven.incumbents)) > 1


@given(st.integers(0), st.integers(0), st.integers(0, 3), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_incumbent_is_only_replaced_by_one_not_worse(seed, tables, random_starts, p_restart):
    table = {key: round(2 * cost) for key, cost in random_table(FOUR, tables).items()}
    rules = replace(BASIC, random_starts=random_starts, p_restart=p_restart)
    driven = drive(begin(rules, FOUR, seed), by_instance(table))
    for old, new in pairwise(driven.incumbents):
        assert new != old
        assert total_score(FOUR, table, new) <= total_score(FOUR, table, old)


@pytest.mark.parametrize("rules", [ParamILS(), BASIC], ids=["focused", "basic"])
@given(st.integers(0), st.integers(0), st.sampled_from([0.01, 0.5, 1.0]))
def test_the_best_of_all_that_were_run_is_the_last_incumbent(rules, seed, tables, p_restart):
    """Also where a restart found it and nothing beat it since."""
    table = random_table(FOUR, tables)
    rules = replace(rules, random_starts=0, p_restart=p_restart)
    driven = drive(begin(rules, FOUR, seed), by_instance(table))
    best = min(driven.configs, key=lambda config: total_score(FOUR, table, config))
    assert driven.incumbents[-1] == best


def test_no_task_is_asked_twice_with_fixed_runs():
    table = random_table(FOUR, 1)
    for seed in range(20):
        driven = drive(begin(replace(BASIC, p_restart=0.2), FOUR, seed), by_instance(table))
        assert len(set(driven.tasks)) == len(driven.tasks)
