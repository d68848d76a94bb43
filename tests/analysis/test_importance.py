"""Which parameters matter, where that is known exactly."""

import math
import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramhs import Boolean, Categorical, Integer, Real, Space, tune
from paramhs.analysis.factors import MAX_PARAMETERS
from paramhs.analysis.importance import importance
from paramhs.analysis.regression import Posterior
from paramhs.api.tune import tune_scenario
from paramhs.core import Quality, Runtime
from paramhs.core.capping import Capping
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.execution.driver import Budget
from paramhs.search.configurators import ParamHS
from tests.support.effects import MODES, SPACE, effect, runs
from tests.support.scale import of, slow


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


@pytest.mark.parametrize("configs", [60, 150])
def test_intervals_cover_as_often_as_they_say(configs):
    """Shares of the three parameters that matter: 95 % of 120 are 114, with deviation 2.4."""
    right, covered = truth(), 0
    for seed in range(40):
        found = shares(runs(effect, configs, seed=seed))
        covered += sum(
            found[name].low - 0.005 <= share <= found[name].high + 0.005
            for name, share in right.items()
        )
    assert covered >= 106


def test_nothing_is_important_where_nothing_matters():
    for seed in range(10):
        found = shares(runs(lambda config: 1.0, 100, seed=seed))
        assert all(one.low < 0.05 for one in found.values())
        assert all(one.effect < 1.3 for one in found.values())


def test_effects_of_values_that_occur_together_are_separated():
    """`spare` is nearly always what `on` is, which alone matters."""
    rng, made = Random(5), []
    for number in range(300):
        on = rng.random() < 0.5
        spare = on if rng.random() < 0.85 else not on
        config = SPACE.config(on=on, spare=spare, x=rng.randrange(65) / 64)
        task = Task(config, Instance("i"), number)
        made.append(Run(task, Status.OK, 0.1, (2.0 if on else 1.0) * rng.lognormvariate(0, 0.2)))
    found = shares(made)
    assert found["on"].share > 0.8
    assert found["spare"].share < 0.05


def test_hard_instances_are_not_blamed_on_configurations():
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


def test_failures_and_timeouts_are_counted_apart_from_costs():
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
    assert math.isinf(by_label["c"].cost)
    assert found.effect < 1.2
    assert next(v for v in found.to_json()["values"] if v["label"] == "c")["cost"] is None
    late = [
        run._replace(status=Status.TIMEOUT, task=run.task._replace(cutoff=1.0))
        if run.status is Status.CRASHED
        else run._replace(task=run.task._replace(cutoff=1.0))
        for run in made
    ]
    by_label = {value.label: value for value in shares(late, Runtime())["mode"].values}
    assert by_label["c"].timeouts == by_label["c"].runs
    assert by_label["c"].failed == 0
    assert 0.5 < by_label["c"].cost < 2.0  # the cutoff of 1 s, not its penalty


def test_costs_that_may_be_negative_are_reported_as_differences():
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
    """Both ways give one posterior."""
    a = np.random.default_rng(1).standard_normal((12, 9))
    y = a @ np.arange(9.0)
    spread = np.linspace(0.5, 2, 9)
    tall, wide = Posterior(a, y), Posterior(a, y)
    wide._gram = None
    for one in (tall, wide):
        one.update(spread, 0.3)
    assert tall.mean == pytest.approx(wide.mean)
    assert tall.variances == pytest.approx(wide.variances)
    assert tall.covariance == pytest.approx(wide.covariance)
    assert tall.leverages == pytest.approx(wide.leverages)
    assert tall.leverages == pytest.approx(np.diag(a @ tall.covariance @ a.T))


def test_a_search_knows_what_matters():
    def target(config, instance, seed):
        return effect(config) * Random(f"{instance} {seed}").lognormvariate(0, 0.3)

    result = tune(target, SPACE, instances=["p", "q", "r"], budget=500)
    assert result.importance[0].name == "mode"
    assert {one.name for one in result.importance[-2:]} == {"idle", "spare"}


# Runs that were cut short.


class Timed(Target):
    """A target with a clock of its own: its times are a function of the task."""

    def __init__(self, law, cutoff, noise):
        self.law, self.cutoff, self.noise = law, cutoff, noise

    def describe(self):
        return {"name": "timed"}

    def __call__(self, task):
        hard = Random(task.instance.name).lognormvariate(0, 0.5)
        rng = Random(f"{task.config.indices} {task.instance.name} {task.seed}")
        seconds = hard * self.law(task.config) * rng.lognormvariate(0, self.noise)
        if seconds <= task.cutoff:
            return Run(task, Status.OK, seconds)
        late = Status.TIMEOUT if task.cutoff == self.cutoff else Status.CAPPED
        return Run(task, late, task.cutoff)


def searched(space, law, capping, seed, budget=300, cutoff=1000.0, noise=0.2):
    scenario = Scenario(
        space,
        tuple(Instance(f"i{k}") for k in range(10)),
        Runtime(),
        cutoff,
        capping=Capping(capping),
    )
    target = Timed(law, cutoff, noise)
    return tune_scenario(scenario, target, ParamHS(), budget=Budget(runs=budget), seed=seed)


CAPPINGS = [
    slow("none"),
    slow("preserving"),
    "aggressive",
]
SWITCH = Space(
    {
        "a": Boolean(default=False),
        "b": Integer(0, 20),
        "c": Categorical(["x", "y", "z"]),
        "d": Real(0.0, 1.0),
        "e": Boolean(),
    }
)
LEVELS = Space({"a": Integer(0, 10), **{f"p{k}": Integer(0, 10) for k in range(4)}})


@pytest.mark.parametrize("capping", CAPPINGS)
@pytest.mark.parametrize("seed", range(of(1, 4)))
@pytest.mark.parametrize(
    ("space", "law"),
    [
        (SWITCH, lambda c: 1.0 if c["a"] else 10.0),
        (LEVELS, lambda c: 10 ** (c["a"] / 10)),
    ],
)
def test_what_alone_matters_has_all_the_importance_however_runs_are_cut(capping, seed, space, law):
    found = {one.name: one for one in searched(space, law, capping, seed).importance}
    assert found["a"].share >= 0.95
    assert all(one.share <= 0.02 for name, one in found.items() if name != "a")
    assert found["a"].effect > 2.5


KINDS = {
    "boolean": (lambda bad: Boolean(default=bad), float),
    "integer": (lambda bad: Integer(0, 10, default=10 * bad), lambda a: a / 10),
    "real": (lambda bad: Real(0.0, 1.0, default=float(bad)), float),
    "categorical": (lambda bad: Categorical(list("pqrs"), default="ps"[bad]), "pqrs".index),
}


@pytest.mark.parametrize("capping", CAPPINGS)
@pytest.mark.parametrize("bad", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_parameter_that_alone_matters_has_all_the_importance(kind, bad, capping):
    """Ten times between its ends, from a bad default and from a good one."""
    parameter, place = KINDS[kind]
    last = 3 if kind == "categorical" else 1
    space = Space({**SWITCH.parameters, "a": parameter(bad)})
    for seed in range(of(1, 3)):
        result = searched(space, lambda c: 10 ** (place(c["a"]) / last), capping, seed, noise=0.35)
        found = {one.name: one for one in result.importance}
        assert found["a"].share >= 0.95
        assert all(one.share <= 0.02 for name, one in found.items() if name != "a")


@pytest.mark.parametrize("capping", CAPPINGS)
def test_an_effect_that_some_runs_measured_is_found_although_most_were_cut(capping):
    """At least 15 of 20 intervals cover it: fewer than one in 10,000 times if 95 % do.

    Of 8 at least 5: fewer than one in 2,000 times.
    """
    effects, covered = [], 0
    for seed in range(of(8, 20)):
        result = searched(SWITCH, lambda c: 1.0 if c["a"] else 10.0, capping, seed)
        one = result.importance[0]
        assert (one.name, one.at_least) == ("a", False)
        assert one.low <= 1.0 <= one.high + 0.01
        values = {value.label: value for value in one.values}
        slow, fast = values["false"], values["true"]
        covered += slow.cost_low / fast.cost_high < 10 < slow.cost_high / fast.cost_low
        effects.append(math.log(one.effect))
    assert math.exp(sum(effects) / len(effects)) == pytest.approx(10, rel=0.15)
    assert covered >= of(5, 15)


def test_an_effect_of_which_only_bounds_are_known_says_so():
    space = Space({**SWITCH.parameters, "a": Boolean(default=True)})
    one = searched(space, lambda c: 1.0 if c["a"] else 10.0, "preserving", 1).importance[0]
    assert one.name == "a"
    assert one.at_least
    assert 2 < one.effect < 10


SOLVER = Space(
    {
        "switch": Boolean(default=False),
        **{f"b{k}": Boolean(default=False) for k in range(20)},
        **{f"n{k}": Integer(0, 10, default=5) for k in range(20)},
    }
)


def solver(config):
    """Six of an eightfold speed-up are one switch, which a search finds early."""
    log = 0.0 if config["switch"] else math.log(6)
    log += sum(0.12 * (config[f"n{k}"] != 3) for k in range(4))
    log += sum(0.1 * config[f"b{k}"] for k in range(6)) + 0.3 * (not config["b10"])
    return math.exp(log)


@pytest.mark.parametrize("capping", CAPPINGS)
@pytest.mark.parametrize("seed", range(3))
def test_the_change_that_carries_the_gain_comes_first_among_many(capping, seed):
    first, *others = searched(SOLVER, solver, capping, seed, budget=400).importance
    assert first.name == "switch"
    assert first.share > 0.85
    assert first.effect == pytest.approx(6, rel=0.4)
    assert all(one.share < 0.06 for one in others)


@pytest.mark.parametrize("capping", CAPPINGS)
def test_timeouts_are_bounds_not_penalties(capping):
    """A cutoff that a tenth of the runs reach; with PAR10 the effect would be much larger."""
    result = searched(SWITCH, lambda c: 1.0 if c["a"] else 10.0, capping, 2, cutoff=12.0, noise=0.5)
    assert any(run.status is Status.TIMEOUT for run in result.history.runs)
    assert result.importance[0].name == "a"
    assert result.importance[0].effect == pytest.approx(10, rel=0.4)


def test_a_run_made_again_with_a_larger_cap_is_one_observation():
    made = []
    for number, run in enumerate(runs(effect, 100)):
        seconds = run.quality
        done = Run(run.task._replace(cutoff=100.0, seed=number), Status.OK, min(seconds, 99.0))
        short = Run(done.task._replace(cutoff=seconds / 3), Status.CAPPED, seconds / 3)
        longer = Run(done.task._replace(cutoff=seconds / 2), Status.CAPPED, seconds / 2)
        made += [short, longer, done] if number % 2 else [done]
    once = [run for run in made if run.status is Status.OK]
    found, plain = shares(made, Runtime()), shares(once, Runtime())
    assert {n: one.share for n, one in found.items()} == {n: one.share for n, one in plain.items()}


# Many parameters.


def test_thousands_of_parameters_need_little_memory():
    """An algebra over all values of 5,000 parameters would need gigabytes."""
    names = [f"n{k}" for k in range(2_500)]
    space = Space(
        {**{name: Integer(0, 10) for name in names}, **{f"b{k}": Boolean() for k in range(2_500)}}
    )
    made = runs(lambda c: 6.0 if c["b7"] else 1.0, 60, space=space, noise=0.1)
    tracemalloc.start()
    try:
        first, *others = importance(made, Quality())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6
    assert first.name == "b7"
    assert first.share > 0.6
    assert len(others) == MAX_PARAMETERS - 1
    assert all(one.share < 0.05 for one in others)


def test_the_range_of_which_a_part_was_tried_is_judged_whole():
    """All configurations but a few are in the lower half; the effect is that of the range."""
    space = Space({"a": Real(0.0, 1.0), "idle": Real(0.0, 1.0)})
    rng, made = Random(3), []
    for number in range(120):
        config = space.config(a=rng.randrange(33) / 64, idle=rng.randrange(65) / 64)
        cost = 10 ** config["a"] * rng.lognormvariate(0, 0.1)
        made.append(Run(Task(config, Instance("i"), number), Status.OK, 0.1, cost))
    found = shares(made)["a"]
    assert found.effect == pytest.approx(10, rel=0.15)
    assert found.share > 0.97


# Outliers.


def table(seed, configs=60):
    """Runs of ten parameters of which one matters a little."""
    space = Space(
        {
            **{f"b{k}": Boolean() for k in range(4)},
            **{f"c{k}": Categorical(list("uvwxyz")) for k in range(3)},
            **{f"n{k}": Integer(0, 20) for k in range(3)},
        }
    )
    rng, made = Random(seed), []
    for config in (space.sample(rng) for _ in range(configs)):
        for where in range(rng.choice([1, 2, 3])):
            task = Task(config, Instance(f"i{where}"), rng.randrange(10**6), 60.0)
            seconds = rng.lognormvariate(0, 0.1) * (2.0 if config["b0"] else 1.0)
            made.append(Run(task, Status.OK, seconds))
    return made


EXTREME = [(Status.CRASHED, 0.01), (Status.WRONG, 1.0), (Status.OK, 59.0), (Status.OK, 1e-4)]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), which=st.floats(0, 0.999), kind=st.sampled_from(EXTREME))
def test_one_crashed_or_extreme_run_carries_nothing(seed, which, kind):
    made = table(seed)
    number = int(which * len(made))
    status, seconds = kind
    other = [*made]
    other[number] = Run(made[number].task, status, seconds)
    before, after = shares(made, Runtime()), shares(other, Runtime())
    for name, one in after.items():
        assert abs(one.share - before[name].share) < 0.05
    assert after["b0"].share > 0.85


WIDE = Space(
    {
        **{f"b{k}": Boolean() for k in range(20)},
        **{f"c{k}": Categorical(list("uvwx")) for k in range(12)},
        **{f"n{k}": Integer(0, 20) for k in range(13)},
    }
)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    configs=st.integers(20, 40),
    which=st.floats(0, 0.999),
    kind=st.sampled_from(EXTREME),
)
def test_one_outlier_carries_nothing_among_few_configurations(seed, configs, which, kind):
    """More parameters than configurations, of which none matters: any of them could explain it."""
    made = [
        Run(run.task._replace(cutoff=60.0), Status.OK, run.quality)
        for run in runs(lambda _: 1.0, configs, each=2, seed=seed, space=WIDE, noise=0.1)
    ]
    number = int(which * len(made))
    made[number] = Run(made[number].task, *kind)
    for one in importance(made, Runtime()):
        assert one.effect < 1.2
        assert one.share < 0.3


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_parameter_that_does_nothing_has_next_to_none(seed):
    found = shares(table(seed, configs=80), Runtime())
    assert all(one.share <= 0.02 for name, one in found.items() if name != "b0")


def test_a_value_that_only_an_outlier_had_has_no_effect():
    """As with one crashed run, which was all there was of a value."""
    space = Space({"kind": Categorical(["x", "y", "rare"]), "n": Integer(0, 9)})
    rng, made = Random(1), []
    for number in range(60):
        config = space.config(kind=rng.choice(["x", "y"]), n=rng.randrange(10))
        task = Task(config, Instance("i"), number, 600.0)
        made.append(Run(task, Status.OK, rng.lognormvariate(0, 0.1)))
    rare = Task(space.config(kind="rare", n=3), Instance("i"), 99, 600.0)
    for bad in (Run(rare, Status.CRASHED, 0.1), Run(rare, Status.TIMEOUT, 600.0)):
        found = shares([*made, bad], Runtime())
        assert found["kind"].effect < 1.2
        assert found["n"].effect < 1.3
