from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.random_streams import SEEDS, below, stream
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config
from paramhs.search.configurators import ParamILS, RestartWalk
from paramhs.search.operators import Harmonic, OneParameter
from paramhs.theory.first_improvement import first_improvement_calls
from paramhs.theory.hitting import Calls, without_replacement
from paramhs.theory.outcomes import by_cost
from tests.support import phases
from tests.support.driving import (
    LawComparison,
    at,
    begin,
    calls_until_sampled,
    one_parameter,
    standard_errors,
)
from tests.support.laws import DRAWS, fits
from tests.support.scale import examples


def harmonic(size: int) -> np.ndarray:
    return np.array([[1 / abs(x - y) if x != y else 0.0 for y in range(size)] for x in range(size)])


def agree(weights: np.ndarray, beats: np.ndarray, optima: set[int]) -> None:
    """With every order of the neighbours and every outcome of each test_set."""
    size = len(weights)
    found = first_improvement_calls(weights, beats, optima)
    by_definition = {
        x: phases.ordered_phase(
            x,
            {y: float(weights[x, y]) for y in range(size) if y != x},
            lambda x, y: float(beats[x, y]),
            optima,
        )
        for x in range(size)
        if x not in optima
    }
    mean, sd = phases.moments(by_definition, size)
    assert found.mean == pytest.approx(mean, rel=1e-9)
    assert found.sd == pytest.approx(sd, rel=1e-9)
    np.testing.assert_allclose(found.pmf[:40], phases.law(by_definition, size, 40), 0, 1e-9)
    assert found.pmf.sum() == pytest.approx(1, abs=1e-9)


def matrix(data: st.DataObject, size: int, entries: st.SearchStrategy[float]) -> np.ndarray:
    row = st.lists(entries, min_size=size, max_size=size)
    return np.array(data.draw(st.lists(row, min_size=size, max_size=size)))


@given(st.integers(2, 5), st.data())
def test_calls_are_those_of_all_orders_of_all_neighbours(size: int, data: st.DataObject) -> None:
    optima = data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=2))
    weights = matrix(data, size, st.integers(0, 20).map(lambda k: k / 4))
    weights[:, list(optima)] = np.maximum(weights[:, list(optima)], 0.25)
    beats = matrix(data, size, st.integers(1, 9).map(lambda k: k / 10))
    agree(weights, beats, optima)


@given(st.integers(2, 5), st.data())
@examples(30)
def test_wins_may_be_certain_or_impossible(size: int, data: st.DataObject) -> None:
    optimum = data.draw(st.integers(0, size - 1))
    beats = matrix(data, size, st.sampled_from([0.0, 0.5, 1.0]))
    # A pair that surely wins forth and back would go round without end only if the optimum were
    # never met, and its clock may always ring first.
    agree(harmonic(size), beats, {optimum})


def test_two_values_take_one_call_or_none() -> None:
    found = first_improvement_calls(harmonic(2), np.zeros((2, 2)), {1})
    assert found.pmf[:3] == pytest.approx([0.5, 0.5, 0.0], abs=1e-12)


def test_if_all_are_optimal_no_call_is_made() -> None:
    found = first_improvement_calls(harmonic(3), np.full((3, 3), 0.5), {0, 1, 2})
    assert (found.mean, found.sd) == (0.0, 0.0)
    assert found.pmf[0] == 1.0


def test_equal_weights_and_no_wins_find_the_optimum_at_a_uniform_place() -> None:
    found = first_improvement_calls(np.ones((7, 7)), np.zeros((7, 7)), {3})
    np.testing.assert_allclose(found.pmf[:7], without_replacement(7).pmf, 0, 1e-12)
    assert found.mean == pytest.approx(3.0, rel=1e-10)


@pytest.mark.parametrize("size", [5, 10, pytest.param(50, marks=pytest.mark.slow)])
def test_certain_wins_are_the_limit_of_likely_ones(size: int) -> None:
    beats = by_cost(range(size))
    nearly = first_improvement_calls(harmonic(size), np.clip(beats, 1e-9, 1 - 1e-9), {0})
    certain = first_improvement_calls(harmonic(size), beats, {0})
    assert certain.mean == pytest.approx(nearly.mean, rel=1e-6)
    assert certain.sd == pytest.approx(nearly.sd, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 10.0, 100.0, 1000.0])
def test_only_the_ratios_of_the_weights_matter(factor: float) -> None:
    beats = by_cost([0, 2, 1, 3, 4]) * 0.8 + 0.1
    one = first_improvement_calls(harmonic(5), beats, {0})
    other = first_improvement_calls(factor * harmonic(5), beats, {0})
    assert other.mean == pytest.approx(one.mean, rel=1e-9)
    assert other.sd == pytest.approx(one.sd, rel=1e-9)


def test_a_long_search_has_its_whole_law() -> None:
    """The optimum is hard to meet; everyone else is as good as another, and surely accepted."""
    size, rare = 4, 1e-2
    weights = np.ones((size, size))
    weights[:, 0] = rare
    found = first_improvement_calls(weights, np.ones((size, size)), {0})
    hit = rare / (rare + size - 2)
    assert found.mean == pytest.approx((1 - 1 / size) / hit, rel=1e-6)
    t = np.arange(1, 40)
    np.testing.assert_allclose(
        found.pmf[:40], [1 / size, *((1 - 1 / size) * hit * (1 - hit) ** (t - 1))], 0, 1e-9
    )


def noisy(size: int, optimum: int) -> np.ndarray:
    """Nearer to the optimum is better, not always."""
    distance = np.abs(np.arange(size) - optimum)
    return 1 / (1 + np.exp((distance[None, :] - distance[:, None]) * 0.7))


@cache
def searched(size: int, optimum: int) -> tuple[list[int], Calls]:
    beats, space = noisy(size, optimum), one_parameter(size)

    def outcome(challenger: Config, incumbent: Config) -> tuple[float, float]:
        return float(beats[incumbent.indices[0], challenger.indices[0]]), 0.0

    comparison = LawComparison(outcome, at(space, optimum))
    rules = ParamILS(
        OneParameter(Harmonic()), comparison, random_starts=0, walk=RestartWalk(), start="uniform"
    )
    seeds = stream(0, "first improvement", size, optimum)
    searches = (begin(rules, Scenario(space), below(SEEDS, seeds)) for _ in range(DRAWS))
    calls = [calls_until_sampled(search) for search in searches]
    return calls, first_improvement_calls(harmonic(size), beats, {optimum})


@pytest.mark.parametrize(
    ("size", "optimum"), [(3, 1), (6, 0), pytest.param(12, 4, marks=pytest.mark.slow)]
)
def test_searches_of_param_ils_take_as_many_calls_as_computed(size: int, optimum: int) -> None:
    """5 standard errors: a right search fails once in a million."""
    calls, law = searched(size, optimum)
    assert abs(standard_errors(calls, law.mean)) < 5


@pytest.mark.parametrize(
    ("size", "optimum"), [(3, 1), (6, 0), pytest.param(12, 4, marks=pytest.mark.slow)]
)
def test_searches_of_param_ils_have_the_computed_law(size: int, optimum: int) -> None:
    calls, law = searched(size, optimum)
    assert fits(calls, dict(enumerate(law.pmf)))


def test_the_law_of_undiscovered_neighbours_is_distinguished() -> None:
    """So the test above would notice a search that forgets to start afresh."""
    calls, _ = searched(6, 0)
    wrong = without_replacement(6)
    assert abs(standard_errors(calls, wrong.mean)) > 5
