import math
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.costs import Quality, Runtime, RuntimeThenQuality
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import SEEDS, stream, target_seeds
from paramhs.core.runs import NO_INSTANCE, Instance, Run, Status, Task
from paramhs.core.scenario import FIXED_SEED, Scenario, endless_pairs, plain_name, told_apart
from paramhs.search.history import History
from tests.support.driving import instances, one_parameter

SPACE = one_parameter(5)


@pytest.mark.parametrize("metric", [Runtime(), RuntimeThenQuality()])
def test_tuning_for_runtime_needs_a_cutoff(metric):
    with pytest.raises(BadInput, match="cutoff"):
        Scenario(SPACE, cost=metric)
    assert Scenario(SPACE, cost=metric, cutoff=5.0).cutoff == 5.0


def test_tuning_for_quality_needs_no_cutoff():
    assert math.isinf(Scenario(SPACE, cost=Quality()).cutoff)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, math.nan])
def test_cutoff_must_be_positive(cutoff):
    with pytest.raises(BadInput, match="cutoff must be a positive number"):
        Scenario(SPACE, cutoff=cutoff)


def test_an_empty_list_of_instances_is_refused():
    with pytest.raises(BadInput, match="empty"):
        Scenario(SPACE, ())


def test_an_instance_listed_twice_is_refused_by_name():
    with pytest.raises(BadInput, match="'b' is listed twice"):
        Scenario(SPACE, (Instance("a"), Instance("b", 1), Instance("b", 2)))


def test_without_instances_every_run_is_on_the_placeholder():
    history = History(Scenario(SPACE), 1)
    assert {history.pair(k).instance for k in range(5)} == {NO_INSTANCE}


def test_description_is_equal_for_equal_scenarios_only():
    usual = Scenario(SPACE, instances(2))
    assert usual.describe() == Scenario(one_parameter(5), instances(2)).describe()
    others = [
        Scenario(one_parameter(6), instances(2)),
        Scenario(SPACE, instances(3)),
        Scenario(SPACE, instances(2), Quality(maximise=True)),
        Scenario(SPACE, instances(2), cutoff=3.0),
        Scenario(SPACE, instances(2), deterministic=True),
        Scenario(SPACE, instances(2), Runtime(), 3.0),
        Scenario(SPACE, instances(2), Runtime(2.0), 3.0),
    ]
    texts = [repr(scenario.describe()) for scenario in (usual, *others)]
    assert len(set(texts)) == len(texts)


@given(st.integers(0), st.integers(1, 7))
def test_every_instance_comes_once_before_any_comes_again(seed, count):
    scenario = Scenario(SPACE, instances(count))
    listed = [
        instance for instance, _ in islice(endless_pairs(scenario.instances, seed), 5 * count)
    ]
    for start in range(0, 5 * count, count):
        assert set(listed[start : start + count]) == set(scenario.instances)


@given(st.integers(0))
def test_no_seed_comes_twice_in_the_list_of_pairs(seed):
    seeds = [s for _, s in islice(endless_pairs(instances(3), seed), 3000)]
    assert len(set(seeds)) == len(seeds)


@given(st.integers(0))
def test_a_deterministic_target_is_given_one_fixed_seed(seed):
    history = History(Scenario(SPACE, instances(3), deterministic=True), seed)
    assert {pair.seed for pair in history.pairs(0, 9)} == {FIXED_SEED}


def test_what_is_known_of_a_deterministic_target_under_another_seed_is_used():
    known = Run(Task(SPACE.default, Instance("i1"), 77), Status.OK, 0.0, 1.0)
    history = History(Scenario(SPACE, instances(3), deterministic=True, known=(known,)), 1)
    seeds = {instance.name: seed for instance, seed in history.pairs(0, 3)}
    assert seeds == {"i0": FIXED_SEED, "i1": 77, "i2": FIXED_SEED}


def test_target_seeds_do_not_come_again_before_all_have_come():
    first, second = islice(target_seeds(stream(1, "test")), 2)
    stride = (second - first) % SEEDS
    assert math.gcd(stride, SEEDS) == 1


@given(st.integers(0))
def test_target_seeds_fit_into_31_bits(seed):
    assert all(0 <= s < 2**31 for s in islice(target_seeds(stream(seed, "test")), 500))


def test_a_deterministic_target_has_one_pair_an_instance():
    assert History(Scenario(SPACE, instances(7), deterministic=True), 1).pair_count == 7


def test_a_random_target_has_no_end_of_pairs():
    assert math.isinf(History(Scenario(SPACE, instances(7)), 1).pair_count)


def test_instances_come_in_an_order_that_depends_on_the_seed():
    scenario = Scenario(SPACE, instances(10))
    orders = {
        tuple(instance for instance, _ in islice(endless_pairs(scenario.instances, seed), 10))
        for seed in range(5)
    }
    assert len(orders) == 5


@pytest.mark.parametrize(
    "instance",
    [
        Instance("a.lp", "/some/a.lp"),
        Instance("b", {"n": 1}),
        Instance("c d", ["x y"]),
        Instance("e 5"),
    ],
)
def test_what_tells_instances_apart_can_be_left_out_of_their_names(instance):
    assert plain_name(told_apart(instance).name) == instance.name
    assert plain_name(instance.name) == instance.name
