import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.search.configurators import ParamRLS
from paramhs.search.operators import BothSides, Harmonic, LStep, OneParameter, Operator, Uniform
from paramhs.theory.hitting import Calls, Chain, calls_of, without_replacement
from paramhs.theory.outcomes import Outcomes, by_cost
from paramhs.theory.param_rls import grid_chain, param_rls_chain
from tests.support import phases
from tests.support.chains import both_sides, weighted
from tests.support.driving import (
    LawComparison,
    begin,
    calls_until_sampled,
    one_parameter,
    standard_errors,
)
from tests.support.laws import DRAWS, fits
from tests.support.scale import examples

OPERATORS: dict[str, Operator] = {
    "1-step": OneParameter(LStep(1)),
    "2-step": OneParameter(LStep(2)),
    "uniform": OneParameter(Uniform()),
    "harmonic": OneParameter(Harmonic()),
    "both sides": BothSides(),
}


def turns(name: str, levels: int):
    """The moves, from nothing but the paper's words."""
    if name == "both sides":
        return both_sides(levels)
    weight = {
        "1-step": lambda d: Fraction(d <= 1),
        "2-step": lambda d: Fraction(d <= 2),
        "uniform": lambda d: Fraction(1),
        "harmonic": lambda d: Fraction(1, d),
    }[name]
    return weighted(levels, weight)


def chain_of(beats: np.ndarray, operator: Operator, optima: set[int]) -> Chain:
    space = one_parameter(len(beats))
    configs = list(space.configs())
    return param_rls_chain(space, operator, configs, lambda x, y: float(beats[x, y]), optima)


@st.composite
def landscapes(draw: st.DrawFn, least: int = 1) -> Outcomes:
    """Any probabilities of win, tie and loss."""
    size = draw(st.integers(2, 6))
    win, tie = np.zeros((2, size, size))
    for a in range(size):
        tie[a, a] = 1.0
        for b in range(a):
            shares = draw(st.tuples(*[st.integers(least, 9)] * 3).filter(any))
            win[a, b], tie[a, b], win[b, a] = np.array(shares) / sum(shares)
            tie[b, a] = tie[a, b]
    return Outcomes(win, tie)


def replaces(outcomes: Outcomes):
    return lambda x, y: float(outcomes.win[y, x] + outcomes.tie[y, x] / 2)


def agree(found: Calls, by_definition: dict, states: int) -> None:
    mean, sd = phases.moments(by_definition, states)
    assert found.mean == pytest.approx(mean, rel=1e-9)
    assert found.sd == pytest.approx(sd, rel=1e-9)
    length = min(len(found.pmf), 40)
    np.testing.assert_allclose(
        found.pmf[:length], phases.law(by_definition, states, length), 0, 1e-12
    )


@pytest.mark.parametrize("name", OPERATORS)
@given(landscapes(), st.data())
def test_calls_are_those_of_the_chain_of_moves(
    name: str, outcomes: Outcomes, data: st.DataObject
) -> None:
    size = len(outcomes.win)
    optima = data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=2))
    found = chain_of(outcomes.beats(), OPERATORS[name], optima).law()
    moves, beats = turns(name, size), replaces(outcomes)
    others = [x for x in range(size) if x not in optima]
    agree(found, {x: phases.turn_phase(x, moves(x), beats, optima) for x in others}, size)


@pytest.mark.parametrize("name", OPERATORS)
@given(landscapes(), st.data())
@examples(15)
def test_the_law_sums_to_one_and_has_the_exact_moments(
    name: str, outcomes: Outcomes, data: st.DataObject
) -> None:
    optimum = data.draw(st.integers(0, len(outcomes.win) - 1))
    found = chain_of(outcomes.beats(), OPERATORS[name], {optimum}).law()
    assert found.pmf.min() >= 0
    assert found.pmf.sum() == pytest.approx(1, abs=1e-11)
    again = calls_of(found.pmf)
    assert again.mean == pytest.approx(found.mean, rel=1e-8)
    assert again.sd == pytest.approx(found.sd, rel=1e-6)


@pytest.mark.parametrize("name", ["1-step", "uniform", "harmonic", "both sides"])
def test_calls_with_two_parameters_are_those_of_the_chain_of_moves(name: str) -> None:
    space = Space({"x": range(4), "y": range(3)})
    configs = list(space.configs())
    states = [config.indices for config in configs]
    assert set(states) == set(product(range(4), range(3)))
    quality = {state: (7 * i) % 12 for i, state in enumerate(states)}
    optima = {max(states, key=quality.__getitem__)}

    def beats(x, y):
        return 1 / (1 + math.exp((quality[x] - quality[y]) / 4))

    def moves(state):
        x, y = state
        for turn, probability in turns(name, 4)(x):
            yield tuple((to, y) for to in turn), probability / 2
        for turn, probability in turns(name, 3)(y):
            yield tuple((x, to) for to in turn), probability / 2

    chain = param_rls_chain(
        space,
        OPERATORS[name],
        configs,
        lambda i, j: beats(states[i], states[j]),
        {states.index(state) for state in optima},
    )
    others = [state for state in states if state not in optima]
    agree(chain.law(), {s: phases.turn_phase(s, moves(s), beats, optima) for s in others}, 12)


@pytest.mark.parametrize("name", OPERATORS)
def test_sampling_the_optimum_ends_the_search_even_if_it_loses(name: str) -> None:
    never = np.zeros((2, 2))
    found = chain_of(never, OPERATORS[name], {1}).law()
    np.testing.assert_allclose(found.pmf, [0.5, 0.5], atol=1e-15)
    assert (found.mean, found.sd) == (0.5, 0.5)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_start_on_an_optimum_costs_nothing(name: str) -> None:
    beats = np.full((5, 5), 0.5)
    assert chain_of(beats, OPERATORS[name], {2}).law().pmf[0] == pytest.approx(1 / 5)
    assert chain_of(beats, OPERATORS[name], {0, 2, 4}).law().pmf[0] == pytest.approx(3 / 5)
    everywhere = chain_of(beats, OPERATORS[name], set(range(5))).law()
    assert (everywhere.mean, everywhere.sd, everywhere.pmf.tolist()) == (0.0, 0.0, [1.0])


@pytest.mark.parametrize("size", [2, 3, 10, 50])
def test_uniform_moves_find_the_optimum_after_a_geometric_number_of_calls(size: int) -> None:
    found = chain_of(by_cost(range(size)), OneParameter(Uniform()), {0}).law()
    assert found.mean == pytest.approx((size - 1) ** 2 / size, rel=1e-12)
    hit = 1 / (size - 1)
    t = np.arange(1, len(found.pmf))
    geometric = (1 - 1 / size) * hit * (1 - hit) ** (t - 1)
    np.testing.assert_allclose(found.pmf, [1 / size, *geometric], 0, 1e-12)


@pytest.mark.parametrize("size", [2, 3, 10, 50])
def test_one_step_walks_down_a_valley_in_two_calls_a_step(size: int) -> None:
    """Except for the far end, whose only neighbour is the right one."""
    found = chain_of(by_cost(range(size)), OneParameter(LStep(1)), {0}).law()
    assert found.mean == pytest.approx(size - 1 - 1 / size, rel=1e-12)
    squares = [2 * d + (2 * d) ** 2 for d in range(1, size - 1)]
    far = 2 * (size - 2) + (2 * size - 3) ** 2
    assert found.sd == pytest.approx(math.sqrt((sum(squares) + far) / size - found.mean**2))


def test_harmonic_on_three_values_is_as_worked_by_hand() -> None:
    """From 1: half the moves end. From 2: a third end, two thirds lead to 1 and 2 calls more."""
    found = chain_of(by_cost(range(3)), OneParameter(Harmonic()), {0}).law()
    assert found.mean == pytest.approx((2 + 7 / 3) / 3, rel=1e-14)
    assert found.pmf[:3] == pytest.approx([1 / 3, (1 / 2 + 1 / 3) / 3, (1 / 4 + 1 / 3) / 3])


@pytest.mark.parametrize("cap", [0, 1, 7, 30, 10_000])
def test_the_capped_law_is_that_of_the_searches_that_finish(cap: int) -> None:
    found = chain_of(by_cost(range(10)), OneParameter(Harmonic()), {3}).law()
    capped = found.capped(cap)
    kept = {t: p for t, p in enumerate(found.pmf) if t <= cap}
    assert found.finished(cap) == pytest.approx(sum(kept.values()), rel=1e-12)
    mean = sum(t * p for t, p in kept.items()) / sum(kept.values())
    square = sum(t * t * p for t, p in kept.items()) / sum(kept.values())
    assert len(capped.pmf) <= cap + 1
    assert capped.pmf.sum() == pytest.approx(1, abs=1e-12)
    assert capped.mean == pytest.approx(mean, abs=1e-12)
    assert capped.sd == pytest.approx(math.sqrt(max(square - mean**2, 0)), abs=1e-7)


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_without_replacement_the_place_of_the_optimum_is_uniform(size: int) -> None:
    found = without_replacement(size)
    assert found.pmf.tolist() == [1 / size] * size
    assert found.mean == pytest.approx((size - 1) / 2)
    assert found.sd == pytest.approx(math.sqrt((size**2 - 1) / 12))


@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 1, 3)])
@pytest.mark.parametrize("name", ["1-step", "2-step", "uniform", "harmonic"])
def test_a_grid_has_the_operators_own_law(name: str, shape: tuple[int, ...]) -> None:
    space = Space({f"x{k}": range(levels) for k, levels in enumerate(shape)})
    configs = sorted(space.configs(), key=lambda config: config.indices)
    beats = by_cost([(5 * k) % 12 // 2 for k in range(len(configs))]) * 0.8 + 0.1
    step = OPERATORS[name].step
    grid = grid_chain(shape, step, lambda x, y: beats[x, y], [1, 4])
    general = param_rls_chain(
        space, OPERATORS[name], configs, lambda x, y: float(beats[x, y]), {1, 4}
    )
    assert grid.moments() == pytest.approx(general.moments(), rel=1e-12)
    assert grid.law().pmf[:30] == pytest.approx(general.law().pmf[:30], abs=1e-13)
    assert grid.means().sum() / len(configs) == pytest.approx(grid.moments()[0])


TRAP = [0, 5, 1, 2, 3]  # 1-step goes down to the third value, and stays
TRAP_LAW = [1 / 5, 1 / 5 * 1 / 2]  # a lucky start; from 5, one way or the other


def test_a_search_that_may_be_trapped_has_an_infinite_mean() -> None:
    assert chain_of(by_cost(TRAP), OneParameter(LStep(1)), {0}).moments() == (
        math.inf,
        math.inf,
    )


def test_a_trap_has_its_probability_and_the_mean_of_what_escapes() -> None:
    """Only the start at 5 may escape, in one call, once in two."""
    chain = chain_of(by_cost(TRAP), OneParameter(LStep(1)), {0})
    ending = chain.ended()
    assert ending.never == pytest.approx(0.7)
    assert ending.mean == pytest.approx(0.1 / 0.3)
    assert np.isinf(chain.means()).all()


def test_the_law_of_a_search_that_may_be_trapped_is_that_of_the_searches_that_end() -> None:
    found = chain_of(by_cost(TRAP), OneParameter(LStep(1)), {0}).law()
    assert (found.mean, found.sd) == (math.inf, math.inf)
    assert found.pmf[:2] == pytest.approx(TRAP_LAW, abs=1e-12)
    assert found.pmf.sum() == pytest.approx(0.3, abs=1e-9)
    assert found.finished(100) == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize("escape", [1e-6, 1e-9, 1e-13, 1e-17])
def test_a_trap_that_hardly_lets_go_has_its_large_mean(escape: float) -> None:
    """From 1 half of the calls end and half lead to 2; from 2 few lead back.

    E1 = 1 + E2 / 2 and E2 = 1 / escape + E1; likewise for the squares, S2 = b + S1.
    """
    beats = np.array([[0, 0, 0], [0, 0, 1], [0, escape, 0]], dtype=float)
    mean, sd = chain_of(beats, OneParameter(LStep(1)), {0}).moments()
    e = Fraction(escape)
    first, second = 2 + 1 / e, 2 + 2 / e
    b = (1 + 2 * (e * first + (1 - e) * second)) / e
    squares = 4 * (1 + second) + 3 * b
    assert mean == pytest.approx(float((first + second) / 3), rel=1e-6)
    assert sd == pytest.approx(math.sqrt(squares / 3 - ((first + second) / 3) ** 2), rel=1e-6)


@pytest.mark.parametrize(
    "operator", [OneParameter(Uniform()), OneParameter(Harmonic()), OneParameter(LStep(1))]
)
def test_without_replacement_the_chain_agrees_with_the_closed_form_on_one_parameter(operator):
    space = Space({"x": range(6)})
    beats = by_cost([3, 1, 4, 0, 5, 9]) * 0.8 + 0.1
    chain = param_rls_chain(
        space,
        operator,
        list(space.configs()),
        lambda x, y: float(beats[x, y]),
        {3},
        replacement=False,
    )
    law = chain.law()
    if operator == OneParameter(Uniform()):
        assert law.pmf == pytest.approx(without_replacement(6).pmf)
    assert law.pmf.sum() == pytest.approx(1)
    assert len(law.pmf) == 6


def test_without_replacement_real_searches_on_two_parameters_agree_with_the_chain():
    space = Space({"x": range(4), "y": range(2)})
    configs = list(space.configs())
    position = {config: i for i, config in enumerate(configs)}
    beats = by_cost([5, 2, 7, 1, 3, 8, 4, 0]) * 0.8 + 0.1
    chain = param_rls_chain(
        space,
        OneParameter(Harmonic()),
        configs,
        lambda x, y: float(beats[x, y]),
        {7},
        replacement=False,
    )

    def outcome(challenger: Config, incumbent: Config) -> tuple[float, float]:
        return float(beats[position[incumbent], position[challenger]]), 0.0

    rules = ParamRLS(OneParameter(Harmonic()), LawComparison(outcome, configs[7]), "uniform", False)
    counts = [calls_until_sampled(begin(rules, Scenario(space), seed)) for seed in range(DRAWS)]
    law = chain.law()
    assert abs(standard_errors(counts, law.mean)) < 5
    assert fits(counts, {k: Fraction(float(p)) for k, p in enumerate(law.pmf) if p > 1e-12})
