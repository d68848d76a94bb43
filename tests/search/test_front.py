import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from paramhs.core.runs import Evaluate, Incumbent, Run, Status
from paramhs.core.scenario import Scenario
from paramhs.core.several_costs import costs_named
from paramhs.core.space import Integer, Space
from paramhs.search.comparison import Growing
from paramhs.search.configurators import FrontSearch, IteratedRace, ParamHS, front_search
from paramhs.search.configurators.front_search import looks_better
from paramhs.search.front import (
    RelativeCosts,
    Scalarised,
    Weights,
    dominates,
    drawn_weights,
    is_dominated,
    positions,
    weighed,
    weighed_in_gap,
    weights_towards,
)
from paramhs.search.history import History
from paramhs.search.operators import SeveralParameters
from tests.support.driving import instances

SPACE = Space({"x": range(12), "y": range(4)})
COSTS = costs_named(["minimise size", "minimise loss"])


def numbers(task):
    """Two costs that x trades and y only worsens, on instances of different size."""
    x, y = task.config["x"], task.config["y"]
    size = 1 + len(task.instance)
    return size * (1 + x + y), size * (1 + (11 - x) ** 2 / 11 + y)


def noisy(task):
    rng = stream(task.seed, "noise", task.instance.name, task.config.key)
    return tuple(number * math.exp(rng.gauss(0, 0.1)) for number in numbers(task))


def searched(costs, scenario, runs, configurator=None, seed=1):
    """History, incumbents and ending of a search with this many runs."""
    history = History(scenario, seed)
    search = (configurator or FrontSearch()).search(history)
    found, answer, ended = [], None, ""
    try:
        while len(history.runs) < runs:
            request = search.send(answer)
            answer = None
            if isinstance(request, Incumbent):
                found.append(request.config)
            elif isinstance(request, Evaluate):
                answer = [_run(task, costs(task)) for task in request.tasks]
    except StopIteration as stop:
        ended = stop.value
    return history, found, ended


def _run(task, made):
    first, *others = made
    return Run(task, Status.OK, 0.0, first, others=tuple(others))


EXACT = Scenario(SPACE, cost=COSTS, deterministic=True)
NOISY = Scenario(SPACE, instances(6), COSTS)


def true_front():
    configs = list(SPACE.configs())
    values = {c: (1 + c["x"] + c["y"], 1 + (11 - c["x"]) ** 2 / 11 + c["y"]) for c in configs}
    return {c for c in configs if not is_dominated(values[c], values.values())}


def test_a_search_without_noise_finds_most_of_the_front_early():
    history, _, _ = searched(numbers, EXACT, 30)
    found = true_front() & {*history.configs}
    assert len(true_front()) == 12
    assert len(found) >= 9


def test_a_small_space_ends_with_everything_tried():
    scenario = Scenario(Space({"x": range(5)}), cost=COSTS, deterministic=True)
    history, _, ended = searched(lambda task: (task.config["x"], -task.config["x"]), scenario, 99)
    assert len(history.configs) == 5
    assert ended == "all 5 configurations tried"


def test_with_noise_later_challengers_are_nearer_to_the_front():
    space = Space({"x": range(12), "y": range(30)})
    history, found, _ = searched(noisy, Scenario(space, instances(6), COSTS), 300)
    later = [race.challenger["y"] for race in history.races[len(history.races) // 2 :]]
    assert sum(later) / len(later) < 12  # 14.5 if drawn uniformly
    assert found[0] == space.default


def test_the_same_seed_gives_the_same_search():
    first, second = (searched(noisy, NOISY, 150)[0] for _ in range(2))
    assert first.runs == second.runs
    assert first.runs != searched(noisy, NOISY, 150, seed=2)[0].runs


def test_the_default_is_run_on_every_pair():
    history, _, _ = searched(noisy, NOISY, 200)
    pairs = {run.task.pair for run in history.runs}
    assert pairs == {*history.costs(SPACE.default)}


def test_under_a_bound_the_best_keeps_it():
    costs = costs_named(["minimise size", "minimise loss"], "loss <= 20")
    scenario = Scenario(SPACE, cost=costs, deterministic=True)
    _, found, _ = searched(lambda task: numbers(task), scenario, 40)
    best = min(
        (c for c in SPACE.configs() if numbers(_task(c))[1] <= 20), key=lambda c: numbers(_task(c))
    )
    assert found[-1] == best


def _task(config):
    return History(EXACT, 1).task(config, History(EXACT, 1).pair(0))


def test_only_param_hs_becomes_a_search_for_a_front():
    plain = ParamHS(SeveralParameters(), Growing(3))
    assert front_search(plain) == FrontSearch(SeveralParameters(), Growing(3))
    with pytest.raises(BadInput, match="IteratedRace cannot search with several costs"):
        front_search(IteratedRace())


def test_one_cost_has_no_front():
    history = History(Scenario(SPACE), 1)
    with pytest.raises(BadInput, match="needs several costs"):
        next(FrontSearch().search(history))


# Relative costs and domination


def filled(rows, count=1):
    """History in which each value of x has these costs, a row for each pair."""
    space = Space({"x": Integer(0, len(rows) - 1, default=0)})
    scenario = Scenario(space, instances(count), COSTS, deterministic=True)
    history = History(scenario, 1)
    for config in scenario.space.configs():
        for k, made in enumerate(rows[config["x"]]):
            history.add(_run(history.task(config, history.pair(k)), made))
    return history, list(scenario.space.configs())


def test_costs_are_logarithms_of_ratios_to_the_default_on_the_same_pair():
    history, (first, second) = filled([[(1, 2), (10, 30)], [(2, 1), (20, 30)]], 2)
    relative = RelativeCosts(history)
    pair = history.pair(1)
    assert relative.of(history.costs(first)[pair], pair) == (0.0, 0.0)
    assert relative.of(history.costs(second)[pair], pair) == pytest.approx((math.log(2), 0.0))


def test_costs_that_are_not_all_positive_are_differences():
    history, (_, second) = filled([[(1, 4)], [(2, 0)]])
    relative = RelativeCosts(history)
    pair = history.pair(0)
    assert relative.of(history.costs(second)[pair], pair) == pytest.approx((math.log(2), -1.0))


def test_a_failed_run_has_no_relative_costs():
    history, (first, _) = filled([[(1, 4)], [(2, math.nan)]])
    assert RelativeCosts(history).of((math.inf, 1.0), history.pair(0)) is None
    assert [p.config for p in positions(history, RelativeCosts(history), history.configs)] == [
        first
    ]


def test_noise_leaves_doubt_and_consistency_none():
    better = [(0.9, 0.9)] * 6
    lucky = [(0.5, 0.5), (1.4, 1.3), (0.5, 0.4), (1.5, 1.6), (0.8, 0.9), (1.1, 1.1)]
    trade = [(0.5, 1.1)] * 6
    history, (first, *others) = filled([[(1.0, 1.0)] * 6, better, lucky, trade], 6)
    relative = RelativeCosts(history)
    assert [dominates(history, relative, other, first) for other in others] == [True, False, False]
    assert not any(dominates(history, relative, first, other) for other in others)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9))
def test_some_position_is_never_dominated(points):
    free = [point for point in points if not is_dominated(point, points)]
    assert free
    for point, other in product(free, points):
        assert not (other != point and other[0] <= point[0] and other[1] <= point[1])


@given(st.integers(2, 5), st.integers(0, 99))
def test_drawn_weights_have_the_sum_1(count, seed):
    weights = drawn_weights(count, stream(seed, "test"))
    assert len(weights) == count
    assert min(weights) >= 0
    assert math.fsum(weights) == pytest.approx(1)


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=9),
    st.floats(0.05, 0.95),
)
def test_a_norm_never_prefers_what_is_dominated(points, weight):
    norm = Weights((weight, 1 - weight), (-5.0, -5.0), (1.0, 2.0))
    least = min(points, key=norm)
    assert not is_dominated(least, [p for p in points if norm(p) < norm(least)])
    for point in points:
        worse = (point[0] + 1, point[1])
        assert norm(worse) > norm(point)


def test_weights_towards_a_position_balance_both_costs():
    norm = Weights((0.5, 0.5), (0.0, 0.0), (1.0, 1.0))
    near_first = weights_towards((0.1, 0.9), norm)
    aimed = Weights(near_first, norm.ideal, norm.ranges)
    assert aimed((0.1, 0.9)) < aimed((0.5, 0.5))
    assert near_first[0] > near_first[1]


def test_ranges_and_the_ideal_point_come_from_the_positions():
    history, _ = filled([[(1, 1)], [(2, 1)], [(1, math.e)]])
    among = positions(history, RelativeCosts(history), history.configs)
    norm = weighed((0.5, 0.5), among)
    assert norm.ideal == pytest.approx((-0.3 * math.log(2), -0.3))
    assert norm.ranges == pytest.approx((math.log(2), 1.0))


def test_a_gap_has_units_of_its_own():
    rows = [[(1.0, 1.0)], [(0.9, 2.0)], [(0.89, 30.0)], [(9.0, 0.99)]]
    history, _ = filled(rows)
    among = positions(history, RelativeCosts(history), history.configs)
    found = {weighed_in_gap((0.5, 0.5), among, stream(k, "gaps")).ranges for k in range(60)}
    assert len(found) == 3
    assert weighed((0.5, 0.5), among).ranges not in found


def test_what_looks_better_under_other_weights_races_again():
    history, (first, *_) = filled([[(1, 1)] * 2, [(0.5, 4)] * 2, [(2, 2)] * 2], 2)
    relative = RelativeCosts(history)
    only_first = Scalarised(COSTS, Weights((1.0, 0.0), (0.0, 0.0), (1.0, 1.0)), relative)
    view = history.seen_by(only_first, 5)
    assert looks_better(view, Growing(), first)["x"] == 1
    assert view.pair(0) == history.pair(0)
    only_second = Scalarised(COSTS, Weights((0.0, 1.0), (0.0, 0.0), (1.0, 1.0)), relative)
    assert looks_better(history.seen_by(only_second, 5), Growing(), first) is None
