"""Which parameters matter, where that is known exactly."""

import math
from random import Random

import numpy as np
import pytest

from paramhs import Boolean, Categorical, Quality, Real, Runtime, Space, tune
from paramhs.results.importance import _Posterior, importance
from paramhs.values.runs import Instance, Run, Status, Task

SPACE = Space(
    {
        "mode": Categorical(["a", "b", "c"]),
        "x": Real(0.0, 1.0),
        "on": Boolean(),
        "idle": Real(0.0, 1.0),
        "spare": Boolean(),
    }
)
MODES = {"a": 1.0, "b": 1.5, "c": 3.0}


def effect(config):
    return MODES[config["mode"]] * math.exp(config["x"]) * (1.3 if config["on"] else 1.0)


def truth():
    """The shares of the variance of the logarithm, from the levels of the space."""

    def variance(numbers):
        middle = sum(numbers) / len(numbers)
        return sum((n - middle) ** 2 for n in numbers) / len(numbers)

    parts = {
        "mode": variance([math.log(m) for m in MODES.values()]),
        "x": variance([k / 64 for k in range(65)]),
        "on": variance([0.0, math.log(1.3)]),
    }
    return {name: part / sum(parts.values()) for name, part in parts.items()}


def runs(function, configs, each=3, instances=10, noise=0.3, seed=0, space=SPACE):
    rng = Random(seed)
    hard = [rng.lognormvariate(0, 1) for _ in range(instances)]
    made = []
    for config in (space.sample(rng) for _ in range(configs)):
        for _ in range(each):
            where = rng.randrange(instances)
            cost = hard[where] * function(config) * rng.lognormvariate(0, noise)
            task = Task(config, Instance(f"i{where}"), rng.randrange(10**6))
            made.append(Run(task, Status.OK, 0.1, cost))
    return made


def shares(made, metric=Quality()):  # noqa: B008
    return {one.name: one for one in importance(made, metric)}


def test_shares_are_those_of_the_variance():
    found = shares(runs(effect, 600))
    for name, share in truth().items():
        assert found[name].share == pytest.approx(share, abs=0.05)
    assert found["idle"].share < 0.01
    assert found["spare"].share < 0.01
    assert list(found)[:3] == ["mode", "x", "on"]


def test_effects_are_ratios_of_worst_to_best():
    found = shares(runs(effect, 600))
    assert found["mode"].effect == pytest.approx(3.0, rel=0.1)
    assert found["on"].effect == pytest.approx(1.3, rel=0.1)
    costs = {value.label: value.cost for value in found["mode"].values}
    assert costs["b"] / costs["a"] == pytest.approx(1.5, rel=0.1)
    assert found["mode"].log


def test_intervals_cover_as_often_as_they_say():
    """Of 40 times 5 shares at least 170 are covered; 95 % of 200 are 190, with deviation 3.1."""
    right = {**truth(), "idle": 0.0, "spare": 0.0}
    covered = 0
    for seed in range(40):
        found = shares(runs(effect, 150, seed=seed))
        covered += sum(
            one.low <= right[name] + 0.02 and right[name] <= one.high + 0.02
            for name, one in found.items()
        )
    assert covered >= 170


def test_nothing_is_important_where_nothing_matters():
    for seed in range(10):
        found = shares(runs(lambda config: 1.0, 100, seed=seed))
        assert all(one.low < 0.05 for one in found.values())
        assert all(one.effect < 1.3 for one in found.values())


def test_values_that_came_together_are_told_apart():
    """`spare` is nearly always what `on` is, which alone matters."""
    rng, made = Random(5), []
    for number in range(300):
        on = rng.random() < 0.5
        config = SPACE.config(on=on, spare=on if rng.random() < 0.85 else not on)
        task = Task(config, Instance("i"), number)
        made.append(Run(task, Status.OK, 0.1, (2.0 if on else 1.0) * rng.lognormvariate(0, 0.2)))
    many = [SPACE.config(x=k / 64, on=k % 2 == 0) for k in range(60)]
    made += [Run(Task(c, Instance("i"), 0), Status.OK, 0.1, 2.0 if c["on"] else 1.0) for c in many]
    found = shares(made)
    assert found["on"].share > 0.8
    assert found["spare"].share < 0.05


def test_hard_instances_are_nobodys_fault():
    """Those with `on` only ever met instances a hundred times as hard."""
    rng, made = Random(2), []
    for number in range(200):
        config = SPACE.sample(rng)
        names = ["easy", "both"] if not config["on"] else ["hard", "both"]
        for name in names:
            hard = {"easy": 1.0, "both": 10.0, "hard": 100.0}[name]
            cost = hard * rng.lognormvariate(0, 0.1)
            made.append(Run(Task(config, Instance(name), number), Status.OK, 0.1, cost))
    assert shares(made)["on"].effect < 1.1


def test_failures_and_timeouts_are_counted_and_count_as_the_worst():
    rng, made = Random(4), []
    for number in range(200):
        config = SPACE.sample(rng)
        status = Status.CRASHED if config["mode"] == "c" else Status.OK
        cost = rng.lognormvariate(0, 0.2)
        made.append(Run(Task(config, Instance("i"), number), status, 0.1, cost))
    found = shares(made)["mode"]
    by_label = {value.label: value for value in found.values}
    assert by_label["c"].failed == by_label["c"].runs > 0
    assert by_label["a"].failed == 0
    assert by_label["c"].cost > by_label["a"].cost * 1.3
    late = [
        run._replace(status=Status.TIMEOUT, task=run.task._replace(cutoff=1.0))
        if run.status is Status.CRASHED
        else run._replace(task=run.task._replace(cutoff=1.0))
        for run in made
    ]
    by_label = {value.label: value for value in shares(late, Runtime())["mode"].values}
    assert by_label["c"].timeouts == by_label["c"].runs
    assert by_label["c"].failed == 0


def test_what_may_be_negative_is_told_in_differences():
    rng, made = Random(6), []
    for number in range(200):
        config = SPACE.sample(rng)
        cost = (-3.0 if config["on"] else 2.0) + rng.gauss(0, 0.5)
        made.append(Run(Task(config, Instance("i"), number), Status.OK, 0.1, cost))
    found = shares(made)["on"]
    assert not found.log
    assert found.effect == pytest.approx(5.0, rel=0.05)


def test_where_more_is_better_people_see_the_quality():
    rng, made = Random(7), []
    for number in range(100):
        config = SPACE.sample(rng)
        quality = (2.0 if config["on"] else 1.0) * rng.lognormvariate(0, 0.1)
        made.append(Run(Task(config, Instance("i"), number), Status.OK, 0.1, quality))
    found = shares(made, Quality(maximise=True))["on"]
    costs = {value.label: value.cost for value in found.values}
    assert costs["true"] == pytest.approx(2.0, rel=0.1)
    assert costs["false"] == pytest.approx(1.0, rel=0.1)
    for value in found.values:
        assert value.cost_low <= value.cost <= value.cost_high


def test_inactive_parameters_are_judged_where_they_are_active():
    space = Space(
        {"mode": Categorical(["a", "b"]), "k": Real(1.0, 4.0)}, conditions={"k": "mode == b"}
    )
    found = shares(runs(lambda c: c.get("k", 5.0), 400, space=space, noise=0.1))
    assert sum(value.runs for value in found["k"].values) < 1000
    assert found["k"].effect == pytest.approx(3.5, rel=0.2)


def test_long_grids_come_in_bins_that_hold_all_runs():
    made = runs(effect, 300)
    found = shares(made)["x"]
    assert len(found.values) == 10
    assert sum(value.runs for value in found.values) == len(made)
    assert all(a.high < b.low for a, b in zip(found.values, found.values[1:], strict=False))


def test_too_few_configurations_say_nothing():
    assert importance([], Quality()) == ()
    assert importance(runs(effect, 5), Quality()) == ()
    crashed = [run._replace(status=Status.CRASHED) for run in runs(effect, 30)]
    assert importance(crashed, Quality()) == ()


def test_huge_costs_are_numbers():
    made = [run._replace(quality=(run.quality - 3) * 1e300) for run in runs(effect, 100)]
    found = shares(made)["mode"]
    assert not found.log
    assert math.isfinite(found.effect)
    assert all(math.isfinite(value.cost_high) for value in found.values)


def test_one_value_of_everything_says_nothing():
    same = [run._replace(task=run.task._replace(config=SPACE.default)) for run in runs(effect, 50)]
    assert importance(same, Quality()) == ()


def test_more_effects_than_configurations_are_fitted_by_the_other_matrix():
    """The same posterior either way."""
    a = np.random.default_rng(1).standard_normal((12, 9))
    y = a @ np.arange(9.0)
    spread = np.linspace(0.5, 2, 9)
    tall, wide = _Posterior(a, y), _Posterior(a, y)
    wide._gram = None
    for one in (tall, wide):
        one.update(spread, 0.3)
    assert tall.mean == pytest.approx(wide.mean)
    assert tall.variances == pytest.approx(wide.variances)
    assert tall.covariance == pytest.approx(wide.covariance)
    lost = np.trace(a @ tall.covariance @ a.T)
    left = y - a @ tall.mean
    assert tall.misfit == pytest.approx(left @ left + lost)


def test_a_search_knows_what_matters():
    def target(config, instance, seed):
        return effect(config) * Random(f"{instance} {seed}").lognormvariate(0, 0.3)

    result = tune(target, SPACE, instances=["p", "q", "r"], budget=500)
    assert result.importance[0].name == "mode"
    assert {one.name for one in result.importance[-2:]} == {"idle", "spare"}
