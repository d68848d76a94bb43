import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.search.operators import Harmonic
from paramhs.theory import harmonic_line
from paramhs.theory.harmonic_line import harmonic_line_calls
from paramhs.theory.param_rls import table_chain
from tests.support.scale import examples


def by_the_chain(costs: np.ndarray) -> float:
    return float(table_chain(costs, Harmonic()).means().sum() / len(costs))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=80))
@examples(12)
def test_calls_are_those_of_the_chain_whatever_the_ties(values: list[int]) -> None:
    costs = np.array(values, float)
    assert harmonic_line_calls(costs) == pytest.approx(by_the_chain(costs), rel=1e-11)


@pytest.mark.parametrize("levels", [16, 17, 33, 100, 400])
@pytest.mark.parametrize("kind", ["rugged", "valley", "needle", "steps"])
def test_also_where_the_tree_has_several_levels(levels: int, kind: str) -> None:
    rng = np.random.default_rng(levels)
    costs = {
        "rugged": rng.random(levels),
        "valley": np.abs(np.arange(levels) - levels // 3).astype(float),
        "needle": np.r_[np.ones(levels - 1), 0.0],
        "steps": np.arange(levels) // 40.0,
    }[kind]
    assert harmonic_line_calls(costs) == pytest.approx(by_the_chain(costs), rel=1e-11)


@pytest.mark.parametrize("limits", [(32, 50), (5, 20), (1, 1)])
def test_equal_costs_are_weighed_alike_however_many(
    limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In passing, densely, and by conjugate gradients."""
    monkeypatch.setattr(harmonic_line, "_MAX_INLINE_VALUES", limits[0])
    monkeypatch.setattr(harmonic_line, "_MAX_DENSE_VALUES", limits[1])
    costs = np.random.default_rng(7).integers(0, 8, 300).astype(float)
    assert harmonic_line_calls(costs) == pytest.approx(by_the_chain(costs), rel=1e-11)


@pytest.mark.parametrize(
    ("levels", "optimum", "calls"),
    [
        (100_000, 0, 129.17500708366987),
        (100_000, 30_000, 113.0480496604902),
        pytest.param(1_000_000, 300_000, 161.50477977401036, marks=pytest.mark.slow),
    ],
)
def test_long_valleys_take_as_many_calls_as_known(levels: int, optimum: int, calls: float) -> None:
    """By another algorithm: an online convolution in the order of distances."""
    costs = np.abs(np.arange(levels) - float(optimum))
    assert harmonic_line_calls(costs) == pytest.approx(calls, rel=1e-11)
    assert harmonic_line_calls(costs[::-1]) == pytest.approx(calls, rel=1e-11)


def test_ties_that_would_take_minutes_are_refused() -> None:
    costs = np.random.default_rng(3).integers(0, 100, 1_000_000).astype(float)
    with pytest.raises(BadInput, match="too many ties: 99 different costs of up to"):
        harmonic_line_calls(costs)
