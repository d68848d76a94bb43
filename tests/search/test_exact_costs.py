"""Targets without noise: the law of their moves, their initial design, and what the model finds."""

import math
from collections import Counter
from random import Random

import numpy as np
import pytest
from scipy.stats import norm
from threadpoolctl import threadpool_info, threadpool_limits

from paramhs import tune
from paramhs.core.runs import Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Categorical, Integer, Real, Space
from paramhs.search.history import History
from paramhs.search.model.dataset import dataset
from paramhs.search.model.gaussian_process import fitted, log_improvement, transformed
from paramhs.search.model.one_thread import on_one_thread
from paramhs.search.operators import Guided, Learned, Mixture, SeveralParameters
from paramhs.search.operators.stratified import Stratified, strata_left
from paramhs.testing import check_operator

SMALL = Space(
    {"a": Integer(0, 4, default=2), "m": Categorical(["x", "y", "z"]), "b": Integer(0, 2)},
    conditions={"b": "m in {x, y}"},
    forbidden=["a == 4 and m == z"],
)
PLAIN = SeveralParameters()


def known(space, costs, seed=0):
    """The history of a target without noise and instances."""
    history = History(Scenario(space, deterministic=True), seed)
    for config, cost in costs.items():
        task = Task(config, *history.pair(0))
        failed = math.isinf(cost)
        status = Status.CRASHED if failed else Status.OK
        history.add(Run(task, status, 0.0, None if failed else cost))
    return history


def some_costs(space, count, seed=0):
    rng = Random(seed)
    return {space.sample(rng): rng.gauss(0, 1) for _ in range(count)}


@pytest.mark.parametrize("count", [3, 14])
def test_moves_keep_their_guarantee(count):
    """During the initial design, and guided by the model."""
    history = known(SMALL, some_costs(SMALL, count))
    mixture = Learned().given(history)
    assert isinstance(mixture.guide, Stratified if count < 10 else Guided)
    check_operator(Learned(candidates=3), SMALL, history=history, draws=2_000)


def test_guided_moves_lead_anywhere_and_avoid_what_is_known():
    history = known(SMALL, some_costs(SMALL, 14))
    guide, rng = Learned(candidates=4).given(history).guide, Random(1)
    at, excluded = SMALL.config(a=1), set(history.configs)
    moves = {guide.sample(SMALL, at, rng, excluded)[0] for _ in range(300)}
    assert not moves & {at, *excluded}
    assert len(moves) > 5


def test_what_is_known_is_no_candidate():
    """One run says all, so a move to a known configuration would be passed over."""
    history = known(SMALL, some_costs(SMALL, 14))
    guide, rng = Learned(candidates=4).given(history).guide, Random(1)
    moves = {config for _ in range(200) for config in guide.sample(SMALL, SMALL.default, rng)}
    assert moves
    assert not moves & set(history.configs)


def test_a_stratified_design_uses_every_stretch_of_every_parameter_once():
    space = Space({"i": Integer(0, 99), "b": Integer(0, 1), "c": Categorical(["p", "q", "r"])})
    rng, found = Random(1), []
    for _ in range(10):
        design = Stratified(strata_left(space, found, 10))
        found += design.sample(space, space.default, rng)
    assert sorted(config["i"] // 10 for config in found) == [*range(10)]
    assert set(Counter(config["b"] for config in found).values()) == {5}
    assert sorted(Counter(config["c"] for config in found).values()) == [3, 3, 4]


def test_a_stratified_design_is_not_made_of_opposites():
    """Values left are drawn, so the second configuration may share some with the first."""
    space = Space({f"b{i}": Integer(0, 1) for i in range(12)})
    shared = []
    for seed in range(20):
        design = Stratified(strata_left(space, [space.default], 10))
        (second,) = design.sample(space, space.default, Random(seed))
        shared.append(
            sum(a == b for a, b in zip(second.indices, space.default.indices, strict=True))
        )
    assert sum(shared) > 0.3 * 20 * 12


def test_a_stratified_design_draws_by_its_law():
    space = Space({"b": Integer(0, 1), "c": Categorical(["p", "q", "r"])})
    known = [space.config(b=0, c="q"), space.config(b=0, c="p"), space.config(b=1, c="p")]
    check_operator(Stratified(strata_left(space, known, 10)), space)


@pytest.mark.parametrize("costs", [[*range(12)], [0, 0, 1, 1, 2, 2, *range(3, 9)]])
def test_where_costs_tie_an_improvement_must_exceed_a_margin(costs):
    configs = list(some_costs(SMALL, 40))[: len(costs)]
    model = fitted(dataset(known(SMALL, dict(zip(configs, costs, strict=True)))))
    lowest = min(transformed([float(cost) for cost in costs]))
    ties = len(costs) - len(set(costs))
    assert model.least == pytest.approx(lowest - (0.3 if ties else 0.0))


def test_where_no_stratum_is_allowed_the_move_is_plain():
    first = SMALL.default
    strata = ((range(4, 5),), (range(2, 3),), (range(1),))
    design = Mixture(PLAIN, Stratified(strata), 0.25)
    assert design.sample(SMALL, first, Random(1)) in design.distribution(SMALL, first)


def test_costs_are_told_apart_near_the_lowest_whatever_their_unit():
    costs = [3.0, 1.0, math.inf, 1.0, -5.0, 4.0]
    values = transformed(costs)
    assert values[1] == values[3]
    assert values[2] == max(values) == values[5]
    assert list(np.argsort(values, kind="stable"))[:4] == [4, 1, 3, 0]
    assert np.allclose(values, transformed([10 + 7 * cost for cost in costs]))


@pytest.mark.parametrize("costs", [[1.0] * 3, [math.inf] * 2, [-1e308, 1e308], [0.0, 0.0, 5e-324]])
def test_all_costs_have_a_finite_transform(costs):
    assert np.isfinite(transformed(costs)).all()


def test_the_expected_improvement_is_exact_near_and_far():
    gap, deviation = np.array([1.0, 0.0, -2.0, -4.9]), np.array([1.0, 2.0, 0.5, 1.0])
    z = gap / deviation
    expected = gap * norm.cdf(z) + deviation * norm.pdf(z)
    assert np.allclose(log_improvement(gap, deviation), np.log(expected), atol=1e-3)
    far = log_improvement(np.array([-40.0, -41.0]), np.ones(2))
    assert np.isfinite(far).all()
    assert far[0] > far[1]


def test_the_model_learns_which_parameters_matter():
    space = Space({name: Real(0.0, 1.0) for name in "abcd"})
    rng = Random(3)
    costs = {c: (c["a"] - 0.3) ** 2 + 0.5 * c["b"] for c in (space.sample(rng) for _ in range(40))}
    lengths = fitted(dataset(known(space, costs))).shape.lengths
    assert max(lengths[:2]) < min(lengths[2:])


def test_a_smooth_valley_is_found_to_the_grid():
    space = {"x": Real(-5.0, 10.0, levels=1001), "y": Real(0.0, 15.0, levels=1001)}
    best = tune(lambda c: (c["x"] - 2) ** 2 + (c["y"] - 7) ** 2, space, budget=60).best
    assert abs(best["x"] - 2) < 0.2
    assert abs(best["y"] - 7) < 0.2


def test_the_model_uses_one_thread_and_leaves_others_alone():
    def threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    with threadpool_limits(limits=2, user_api="blas"):
        assert on_one_thread(threads)() == {1}
        assert threads() == {2}
