"""Operators that learn: their laws given a history, the safety net, and what the model finds."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limited
from hypothesis import strategies as st

from paramhs import tune
from paramhs.core.costs import Runtime
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Categorical, Integer, Space
from paramhs.search.comparison import Growing
from paramhs.search.configurators import ParamHS
from paramhs.search.configurators.moves import Moves
from paramhs.search.history import History
from paramhs.search.model.dataset import dataset, transformed, two_way
from paramhs.search.model.inert_parameters import idle, ties
from paramhs.search.model.kernel import likenesses, unlike
from paramhs.search.model.main_effects import _likely_by_column, _likely_by_row, normals
from paramhs.search.model.main_effects import fitted as fitted_to
from paramhs.search.model.model import Draw, MainEffects
from paramhs.search.operators import (
    Guided,
    Learned,
    Learner,
    Mixture,
    Narrowing,
    OneParameter,
    Operator,
    SeveralParameters,
    UniformRandom,
)
from paramhs.testing import check_configurator, check_operator
from tests.support.targets import Quadratic

SMALL = Space(
    {"a": Integer(0, 4, default=2), "m": Categorical(["x", "y", "z"]), "b": Integer(0, 2)},
    conditions={"b": "m in {x, y}"},
    forbidden=["a == 4 and m == z"],
)
LINE = Space({"x": Integer(0, 29, default=12)})


def filled(space, costs, seed=0, instances=("i", "j")):
    """A history of these configurations, each on all instances; a function gives their costs."""
    scenario = Scenario(space, tuple(map(Instance, instances)))
    history = History(scenario, seed)
    for config, cost in costs.items():
        for number, instance in enumerate(scenario.instances):
            task = Task(config, instance, 7 + number)
            found = cost(config, number) if callable(cost) else cost
            history.add(Run(task, Status.OK, 0.0, found))
    return history


def fitted(history):
    """The model of a history."""
    return fitted_to(dataset(history))


def sampled(space, count, seed):
    rng = Random(seed)
    return [space.default, *(space.sample(rng) for _ in range(count))]


def some_history(seed, space=SMALL, count=20):
    rng = Random(seed)
    return filled(space, {c: math.exp(rng.gauss(0, 1)) for c in sampled(space, count, seed)}, seed)


@pytest.mark.parametrize("tries", [1, 3])
def test_a_learned_operator_keeps_its_guarantee(tries):
    operator = Learned(epsilon=0.25, tries=tries, draws=2)
    check_operator(operator, SMALL, history=some_history(1), draws=1_000)


def test_the_best_candidate_by_the_score_is_the_move():
    """Without a cost of values, or with one; always the better by score, if there are several."""
    low = Draw(lambda configs: [float(c["a"]) for c in configs], [SMALL.default])
    at, excluded = SMALL.default, {SMALL.config(a=0), SMALL.config(a=1)}
    for draw in (low, replace(low, guess=lambda *_: 0.0)):
        means = []
        for candidates in (1, 40):
            guided = Guided(SeveralParameters(), (draw,), candidates)
            check_operator(Mixture(SeveralParameters(), guided, 0.25), SMALL, draws=1_000)
            rng = Random(1)
            moves = [guided.sample(SMALL, at, rng, excluded)[0] for _ in range(200)]
            assert excluded.isdisjoint(moves)
            means.append(sum(config["a"] for config in moves))
        assert means[1] < means[0]


def test_each_draw_is_followed_as_often():
    draws = [Draw(lambda configs, k=k: [abs(c["a"] - k) for c in configs], []) for k in (0, 3)]
    guided, rng = Guided(SeveralParameters(), tuple(draws), 100), Random(1)
    found = [guided.sample(SMALL, SMALL.default, rng)[0]["a"] for _ in range(400)]
    assert 150 < found.count(0) < 250
    assert found.count(0) + found.count(3) == 400


def shares(operator, space, at, count=2_000):
    """Share of each configuration in draws of an operator."""
    rng = Random(1)
    drawn = Counter(operator.sample(space, at, rng)[0] for _ in range(count))
    return {config: number / count for config, number in drawn.items()}


def test_what_made_no_difference_is_left_to_plain_moves():
    numbers = {"a": (0, 4), "b": (0, 4), "c": (0, 2)}
    space = Space({name: Integer(*ends, default=0) for name, ends in numbers.items()})
    at, tied, other = space.default, space.config(b=1), space.config(c=1)
    instances = [f"i{k}" for k in range(8)]

    def costs(config, k):
        return 1.0 + k + 0.01 * k * config["c"] + config["a"]

    others = dict.fromkeys(sampled(space, 20, 1), costs)
    history = filled(space, {at: costs, tied: costs, other: costs, **others}, 0, instances)
    for challenger in (tied, other):
        history.decide(challenger, at, won=False)
    operator = Learned(epsilon=0.25, tries=2, draws=2, again=0)
    mixture = operator.given(history)
    moves = shares(mixture.guide, space, at)
    assert not any(config["b"] for config in moves)
    assert any(config["c"] for config in moves)
    assert (
        mixture.guaranteed(space, at).keys() == SeveralParameters().distribution(space, at).keys()
    )
    check_operator(operator, space, history=history, draws=1_000)
    everything = [space.config(a=1, b=1, c=1)]
    without = {c: lambda _, k: float(k) for c in (at, *everything, *others)}
    constant = filled(space, without, 0, instances)
    constant.decide(everything[0], at, won=False)
    idle_all = operator.given(constant)
    assert idle_all.guide.sample(space, at, Random(1)) == ()
    assert idle_all.sample(space, at, Random(1))


def tied_history(instances, differing=False):
    """A race on these instances in which `b` changed and made no difference; if asked for, two
    configurations elsewhere that differ in `b` alone and cost another."""
    space = Space({name: Integer(0, 9, default=0) for name in "abc"})
    at, tied = space.default, space.config(b=1)
    others = {c: 5.0 + 3 * c["a"] + c["c"] / 10 for c in sampled(space, 20, 1)[1:]}
    last = 32.5 if differing else 32.0
    elsewhere = {space.config(a=9, b=3): 32.0, space.config(a=9, b=4): last}
    costs = {at: lambda _, k: 1.0 + k, tied: lambda _, k: 1.0 + k, **others, **elsewhere}
    history = filled(space, costs, 0, [f"i{k}" for k in range(instances)])
    history.decide(tied, at, won=False)
    return history


def test_a_parameter_is_idle_after_ties_on_three_instances():
    def found(history):
        return idle(history, ties(history))

    every = tied_history(30)
    assert found(every) == {1}
    (race,) = every.races
    for count, expected in ((2, set()), (3, {1})):
        some = History(Scenario(every.scenario.space, every.scenario.instances), 0)
        for run in every.runs:
            is_met = run.task.instance in every.scenario.instances[:count]
            if run.task.config != race.challenger or is_met:
                some.add(run)
        some.decide(race.challenger, race.incumbent, won=False)
        assert ties(some) == some.races
        assert found(some) == expected


def test_a_parameter_that_made_a_difference_is_idle_no_longer():
    history = tied_history(8, differing=True)
    assert idle(history, ties(history)) == set()


def test_while_little_is_known_most_moves_are_anywhere():
    history = History(Scenario(SMALL), 0)
    design = Learned(epsilon=0.25).given(history)
    assert design == Mixture(SeveralParameters(), UniformRandom(), 0.25)
    at, excluded = SMALL.config(a=3), {SMALL.default}
    law = design.distribution(SMALL, at, excluded)
    plain = SeveralParameters().distribution(SMALL, at, excluded)
    anywhere = UniformRandom().distribution(SMALL, at, excluded)
    assert sum(law.values()) == 1
    assert law.keys() == anywhere.keys()
    assert all(4 * p == plain.get(move, 0) + 3 * anywhere[move] for move, p in law.items())
    check_operator(design, SMALL, draws=1_000)


def test_where_plain_moves_lead_nowhere_a_design_still_goes_anywhere():
    at = SMALL.config(m="z")  # from where b can be reached at its default only
    plain = {config for (config,) in SeveralParameters().distribution(SMALL, at)}
    left = Mixture(SeveralParameters(), UniformRandom(), 0.25).distribution(SMALL, at, plain)
    assert left == UniformRandom().distribution(SMALL, at, plain) != {}
    assert (
        Mixture(SeveralParameters(), UniformRandom(), 1.0).sample(SMALL, at, Random(1), plain)
        in left
    )


def test_a_large_space_of_which_hardly_anything_is_allowed_is_searched_by_plain_moves():
    names = [f"p{k}" for k in range(9)]
    same = [f"{a} != {b}" for a, b in pairwise(names[:6])]
    space = Space({name: Integer(0, 9) for name in names}, forbidden=same)

    def target(config, seed):
        return 1.0 + sum(config.values())

    assert len(tune(target, space, budget=60, deterministic=True).runs) >= 54


@pytest.mark.parametrize(("parameters", "enough"), [(1, 6), (4, 12), (8, 20), (60, 20)])
def test_the_model_speaks_once_some_configurations_for_each_parameter_are_known(parameters, enough):
    constants = {f"c{k}": Categorical(["one"]) for k in range(9)}  # which do not count
    space = Space({f"p{k}": Integer(0, 99) for k in range(parameters)} | constants)
    costs = {config: 1.0 + sum(config.indices) for config in sampled(space, enough - 1, 4)}
    assert dataset(filled(space, costs)).is_enough
    costs.popitem()
    assert not dataset(filled(space, costs)).is_enough


@limited(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 1), count=st.integers(0, 25))
def test_no_move_is_less_likely_than_epsilon_times_its_plain_law(seed, share, count):
    """By a mixture whose law is known; the sampler is tested with the guarantee elsewhere."""
    at = SMALL.sample(Random(seed))
    excluded = set(sampled(SMALL, 3, seed + 1)) - {at}
    plain = SeveralParameters().distribution(SMALL, at, excluded)
    learned = Learned(epsilon=share, draws=2).given(some_history(seed, count=count))
    assert learned.guaranteed(SMALL, at, excluded) == {
        move: Fraction(share) * p for move, p in plain.items()
    }
    law = replace(learned, guide=UniformRandom()).distribution(SMALL, at, excluded)
    assert sum(law.values()) == 1
    assert all(law[move] >= Fraction(share) * p for move, p in plain.items())


def test_the_law_of_a_guide_is_not_made_up():
    learned = Learned(draws=2).given(some_history(1))
    with pytest.raises(BadInput, match="the law of Guided is unknown; `guaranteed` has the least"):
        learned.distribution(SMALL, SMALL.default)


def test_what_looks_better_is_proposed_more_often():
    costs = {c: math.exp(c.indices[0]) for c in sampled(SMALL, 20, 3)}  # a = 0 is best
    at = SMALL.config(a=3)
    law = shares(Learned(epsilon=0.1).given(filled(SMALL, costs)), SMALL, at)
    plain = shares(SeveralParameters(), SMALL, at)

    def lower(law):
        return sum(p for config, p in law.items() if config["a"] < 3)

    assert lower(law) > 0.8 > 0.65 > lower(plain)


def test_effects_are_found_in_noise():
    space = Space(
        {**{f"p{k}": Integer(0, 9, default=0) for k in range(6)}, "m": Categorical(["u", "v", "w"])}
    )
    rng = Random(5)
    costs = {
        c: math.exp(0.2 * c["p0"] + (c["m"] == "v") + rng.gauss(0, 0.3))
        for c in sampled(space, 150, 2)
    }
    model = fitted(filled(space, costs))
    guess = model.guess(model.mean)
    unit = guess(6, 1)  # m = v, which is 1 in logarithms
    assert guess(0, 9) / unit == pytest.approx(1.8, abs=0.45)
    assert abs(guess(3, 9)) / unit < 0.3
    assert guess(0, 0) == guess(6, 0) == 0  # the default's
    drawn = [model.guess(d.effects)(0, 9) for d in model.drawn(60, Random(0))]
    assert np.std(drawn) > 0.01
    assert np.mean(drawn) == pytest.approx(guess(0, 9), abs=0.3)


def made_up(rng, configs, runs, deviations):
    """Values of runs on random instances, whose noise has these deviations."""
    instances = len(deviations)
    truth = [rng.gauss(0, 0.2) for _ in range(configs)]
    level = [rng.gauss(0, 1) for _ in range(instances)]
    who = [c for c in range(configs) for _ in range(runs)]
    where = [i for _ in range(configs) for i in rng.sample(range(instances), runs)]
    both = list(zip(who, where, strict=True))
    values = [truth[c] + level[i] + rng.gauss(0, deviations[i]) for c, i in both]
    return np.array(truth), np.array(values), np.array(who), np.array(where)


def errors_of(means, truth):
    return float(np.var(means - truth))


def test_a_run_counts_by_how_little_noise_its_instance_has():
    deviations = [0.1] * 10 + [1.0] * 10
    gain = []
    for seed in range(10):
        truth, values, who, where = made_up(Random(seed), 60, 5, deviations)
        fit = two_way(values, who, where)
        plain = np.bincount(who, values - additive(values, who, where)[where]) / 5
        gain.append(errors_of(plain, truth) / errors_of(fit.means, truth))
        assert fit.variances[:10].max() < fit.variances[10:].min()
        assert np.isclose(fit.worth.sum(), len(values))
    assert min(gain) > 2  # five was seen on average


def additive(values, who, where):
    """Effects of instances by least squares without weights."""
    effects = np.zeros(where.max() + 1)
    for _ in range(100):
        means = np.bincount(who, values - effects[where]) / np.bincount(who)
        effects = np.bincount(where, values - means[who]) / np.bincount(where)
    return effects


def test_where_all_instances_are_equally_noisy_all_runs_count_about_the_same():
    _, values, who, where = made_up(Random(1), 100, 6, [0.5] * 20)
    fit = two_way(values, who, where)
    assert fit.variances.max() / fit.variances.min() < 4
    assert 0.5 < fit.noise / 0.25 < 2
    assert np.allclose(fit.worth, 6, rtol=0.5)


def test_the_cost_of_an_instance_is_independent_of_its_noise():
    _, values, who, where = made_up(Random(2), 200, 4, [0.05] * 5)
    for number, level in enumerate([0.0, 1.0, 2.0, 3.0, 10.0]):
        values[where == number] += level
    variances = two_way(values, who, where).variances
    assert variances.max() / variances.min() < 2.5


def test_what_always_costs_the_same_tells_nothing():
    truth, values, who, where = made_up(Random(3), 60, 4, [0.5] * 8)
    values[where == 0] = 7.0
    fit = two_way(values, who, where)
    assert fit.variances[0] > fit.variances[1:].max()
    without = where != 0
    kept = np.unique(who[without])
    best = np.corrcoef(two_way(values[without], who[without], where[without] - 1).means, truth)
    assert len(kept) == len(truth)
    assert np.corrcoef(fit.means, truth)[0, 1] > best[0, 1] - 0.02


def test_no_noise_is_rounded_to_none():
    space = Space({"x": Integer(0, 5_000)})
    history = filled(space, {}, instances=("quiet", "loud"))
    quiet, loud = history.scenario.instances
    for x in range(2_000):
        history.add(Run(Task(space.config(x=x), quiet, 1), Status.OK, 0.0, 5.0 + x % 7))
    for x in range(5):
        history.add(Run(Task(space.config(x=x), loud, 1), Status.OK, 0.0, 10.0**x))
    assert min(dataset(history).rows().noise_of.values()) > 0


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 1e-9, 1.0, 1e60]))
def test_variances_of_instances_are_usable_whatever_the_values(seed, runs, scale):
    _, values, who, where = made_up(Random(seed), 12, runs, [0.0, 0.1, 1.0, 3.0])
    fit = two_way(values * scale, who, np.unique(where, return_inverse=True)[1])
    for positive in (fit.variances, fit.worth, fit.noise):
        assert np.all((positive > 0) & np.isfinite(positive))
    assert np.isfinite(fit.means).all()


def interacting(config, number):
    """What costs much only together, beside a little noise."""
    noise = Random(f"{config.indices} {number}").gauss(0, 0.1)
    return math.exp(2.0 * (config["a"] >= 2) * (config["m"] != "y") + noise)


def test_a_draw_has_the_law_of_the_posterior():
    """Against the textbook's formulas, for a model small enough to invert."""
    model = fitted(filled(SMALL, dict.fromkeys(sampled(SMALL, 20, 4), interacting)))
    assert model.likeness.distances is not None
    x, y = model.design, model.rows.means
    shared = model.deviation * model.likeness.matrix
    noise = model.rows.noise / model.rows.worth
    known = np.linalg.inv(shared + np.diag(noise))
    covariance = np.linalg.inv(x.T @ known @ x + np.eye(x.shape[1]) / model.prior)
    mean = covariance @ (x.T @ known @ y)
    effects = model.coding.effects
    assert model.mean == pytest.approx(effects(mean), abs=1e-5)
    drawn = model.drawn(3_000, Random(1))
    draws = np.array([draw.effects for draw in drawn])
    spread = [effects(column) for column in np.linalg.cholesky(covariance).T]
    expected = np.sqrt(np.sum(np.square(spread), axis=0))
    assert draws.std(axis=0) == pytest.approx(expected, rel=0.08, abs=1e-3)
    assert draws.mean(axis=0) == pytest.approx(model.mean, abs=4 * expected.max() / 3_000**0.5)

    before = model.prior * x @ x.T + shared
    gain = before @ np.linalg.inv(before + np.diag(noise))
    costs = np.array([draw.costs for draw in drawn])
    expected = np.sqrt(np.diag(before - gain @ before))
    assert costs.std(axis=0) == pytest.approx(expected, rel=0.08)
    assert costs.mean(axis=0) == pytest.approx(gain @ y, abs=4 * expected.max() / 3_000**0.5)

    others = [c for c in SMALL.configs() if c not in model.rows.configs]
    bins = model.coding.bins(others)
    near = model.deviation * model.likeness.to(bins)
    best = effects(mean)[np.where(bins >= 0, model.coding.starts + bins, -1)].sum(axis=1)
    best += near @ known @ (y - x @ mean)
    scores = np.array([model.score(draw)(others) for draw in drawn])
    assert scores.mean(axis=0) == pytest.approx(best, abs=4 * scores.std() / 3_000**0.5)

    # A score is linear in what is known of the coefficients and of the rows' deviations.
    width = x.shape[1]
    both = np.zeros((width + len(y), width + len(y)))
    both[:width, :width] = model.prior * np.eye(width)
    both[width:, width:] = shared
    seen = np.hstack([x, np.eye(len(y))])
    gain = both @ seen.T @ np.linalg.inv(seen @ both @ seen.T + np.diag(noise))
    posterior = both - gain @ seen @ both
    level = np.array([0.0] * (width - 1) + [1.0])
    rows = model.coding.rows(bins) * (1 - level)  # which is the same for all
    linear = np.hstack([rows, near @ np.linalg.inv(shared)])
    expected = np.sqrt(np.diag(linear @ posterior @ linear.T))
    assert scores.std(axis=0) == pytest.approx(expected, rel=0.08)


def test_neighbours_tell_what_main_effects_cannot():
    """Also of those that were not run: either of two is dear, both or none of them cheap."""
    space = Space({"a": Integer(0, 15), "b": Integer(0, 15)})

    def crossed(config, number):
        noise = Random(f"{config.indices} {number}").gauss(0, 0.1)
        return math.exp(
            2.0 * ((config["a"] >= 8) != (config["b"] >= 8)) + 0.1 * config["a"] + noise
        )

    history = filled(space, dict.fromkeys(sampled(space, 120, 3), crossed))
    model = fitted(history)
    others = [c for c in space.configs() if c not in model.rows.configs]
    true = [math.log(crossed(config, 0)) for config in others]

    def told(model):
        draws = model.drawn(50, Random(2))
        scores = np.mean([model.score(draw)(others) for draw in draws], axis=0)
        return np.corrcoef(scores, true)[0, 1]

    assert told(model) > 0.8
    assert told(replace(model, likeness=unlike(len(model.rows.means)))) < 0.5


def test_without_main_effects_no_configurations_are_similar():
    model = fitted(filled(SMALL, dict.fromkeys(sampled(SMALL, 20, 4), 1.0)))
    assert model.likeness.distances is None
    (draw,) = model.drawn(1, Random(1))
    at = SMALL.config(a=4)
    assert model.score(draw)([at]) == pytest.approx(
        [sum(model.guess(draw.effects)(i, k) for i, k in enumerate(at.indices) if k >= 0)], abs=1e-5
    )


def test_likeness_falls_with_the_distance_in_what_matters():
    bins = np.array([[0, 0, 0], [4, 0, 0], [0, 2, 0], [0, 0, 1], [0, -1, 1]])
    nearest, *_, farthest = likenesses(bins, [5, 3, 9], [True, False, True], [1.0, 0.5, 0.01])
    first = nearest.matrix[0]
    shared = [1.0, math.exp(-1 / 0.25), math.exp(-0.5 / 0.25), 1.0, math.exp(-0.5 / 0.25)]
    assert first == pytest.approx([1.0, *(0.9 * value for value in shared[1:])])
    assert nearest.to(bins[:1])[0] == pytest.approx([0.9 * value for value in shared])
    assert (farthest.matrix >= nearest.matrix).all()
    assert np.linalg.eigvalsh(nearest.matrix).min() >= 0.1 - 1e-9
    assert list(likenesses(bins, [5, 3, 9], [True] * 3, [0.0] * 3)) == []


@pytest.mark.parametrize("count", [24, 60])
def test_more_rows_than_columns_or_fewer_are_judged_alike(count):
    """The likelihoods of both forms are the same."""
    space = Space({f"c{k}": Categorical(["x", "y", "z"]) for k in range(15)})
    model = fitted(filled(space, {c: 1.0 + c.indices[0] for c in sampled(space, count, 1)}))
    variances = model.deviation + model.rows.noise / model.rows.worth
    priors = [0.01, 0.1, 1.0]
    forms = [
        np.array(list(likely(model.design, model.rows.means, variances, priors)))
        for likely in (_likely_by_row, _likely_by_column)
    ]
    assert forms[0] == pytest.approx(forms[1])


def test_only_the_configurations_with_the_most_runs_are_modelled(monkeypatch):
    monkeypatch.setattr("paramhs.search.model.dataset.MAX_ROWS", 12)
    costs = {c: 1.0 + c.indices[0] for c in sampled(LINE, 40, 1)}
    history = filled(LINE, costs)
    often = list(costs)[5]
    for number in range(4):
        history.add(
            Run(Task(often, history.scenario.instances[0], 50 + number), Status.OK, 0.0, 1.0)
        )
    rows = dataset(history).rows()
    assert len(rows.configs) == len(rows.means) == len(rows.worth) == 12
    assert often in rows.configs
    assert list(rows.configs) == [c for c in costs if c in rows.configs]
    assert rows.configs[-11:] == [c for c in costs if c != often][-11:]  # of equals the newest
    Learned().given(history)


@pytest.mark.parametrize(
    "costs",
    [
        *([1.0, 10.0, 100.0], [-3.0, 0.0, 5.0], [0.0, 0.0, math.inf], [math.inf, math.inf]),
        *([-1e308, 0.0, 1e308, math.inf], [1e-320, 1e308, math.inf], [-1e308, -1e308]),
    ],
)
def test_all_costs_have_a_finite_transform_in_their_order(costs):
    values = transformed(np.array(costs))
    assert np.isfinite(values).all()
    assert list(values) == sorted(values)


def test_normals_are_normal():
    from scipy.stats import kstest

    assert kstest(normals(20_001, Random(3)), "norm").pvalue > 1e-6


def test_narrowing_keeps_to_its_law():
    history = History(Scenario(LINE), 0)
    for challenger, incumbent, won in ((20, 12, False), (9, 12, True), (3, 9, False)):
        history.decide(LINE.config(x=challenger), LINE.config(x=incumbent), won)
    check_operator(Narrowing(), LINE, LINE.config(x=9), history=history)
    law = Narrowing().given(history).distribution(LINE, LINE.config(x=9))

    def chance(x):
        return law[(LINE.config(x=x),)]

    assert chance(10) > chance(13)  # behind what was left
    assert chance(6) > chance(2)  # beyond what lost
    assert chance(13) > chance(25)  # beyond two of them


@limited(max_examples=30, deadline=None)
@given(
    races=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29), st.booleans()), max_size=12),
    share=st.floats(0.01, 1),
)
def test_narrowing_never_gives_less_than_its_share_of_the_plain_law(races, share):
    history = History(Scenario(LINE), 0)
    for challenger, incumbent, won in races:
        if challenger != incumbent:
            history.decide(LINE.config(x=challenger), LINE.config(x=incumbent), won)
    now = Narrowing(share=share).given(history)
    for at in (LINE.default, LINE.config(x=3)):
        law = now.distribution(LINE, at)
        assert sum(law.values()) == 1
        for move, p in OneParameter().distribution(LINE, at).items():
            assert law[move] >= Fraction(share) * p


LEARNING = ParamHS(Learned(draws=2), Growing(min_runs=2))


@pytest.mark.parametrize("configurator", [LEARNING, ParamHS(Narrowing())])
def test_a_search_that_learns_conforms_and_resumes_from_its_store(configurator, tmp_path):
    check_configurator(configurator, Scenario(Space({"x": range(8)})), runs=60)
    store = tmp_path / "a.sqlite"
    tune(Quadratic(5), LINE, budget=20, configurator=configurator, store=store)
    resumed = tune(Quadratic(5), LINE, budget=150, configurator=configurator, store=store)
    whole = tune(Quadratic(5), LINE, budget=150, configurator=configurator)
    assert [p.config for p in resumed.trajectory] == [p.config for p in whole.trajectory]
    assert resumed.best["x"] == 5


ADVERSARIAL = {
    "one valley": [7, 6, 5, 4, 3, 2, 1, 0, 8, 9, 10, 11],
    "two valleys": [5, 4, 1, 6, 8, 10, 11, 9, 7, 3, 0, 2],
    "deceptive": [0, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
}


def calls(costs, law):
    """The exact calls from each value, in the order of costs; `law` gives moves from a value."""
    found = {}
    for at in sorted(range(len(costs)), key=costs.__getitem__):
        better = {to: p for to, p in law(at).items() if costs[to] < costs[at]}
        leave = sum(better.values())
        ways = sum(p * found[to] for to, p in better.items())
        found[at] = (1 + ways) / leave if leave else Fraction(0)
    return found


class Misled(Operator):
    """Always the value that a model likes best."""

    def __init__(self, guess):
        self.guess = guess

    def distribution(self, space, at, excluded=()):
        moves = [c for c in space.configs() if c != at and c not in excluded]
        best = min(moves, key=lambda config: self.guess(0, config["x"]), default=None)
        return {(best,): Fraction(1)} if best else {}

    def sample(self, space, at, rng, excluded=()):
        return next(iter(self.distribution(space, at, excluded)), ())


@pytest.mark.parametrize("costs", ADVERSARIAL.values(), ids=list(ADVERSARIAL))
@pytest.mark.parametrize("lie", ["worst first", "best first, but the optimum last"])
def test_a_model_that_is_always_wrong_costs_no_more_than_the_factor(costs, lie):
    """Against the bound by levels: every cost is a level, left with the plain probability."""
    space = Space({"x": Integer(0, len(costs) - 1)})

    def guess(_, index):
        wrong = costs[index] == 0 or lie == "worst first"
        return -float(costs[index]) if wrong and costs[index] else 99.0 * wrong + costs[index]

    def moves(operator):
        laws = {at: operator.distribution(space, space.config(x=at)) for at in range(len(costs))}
        return lambda at: {config["x"]: p for (config,), p in laws[at].items()}

    epsilon = Fraction(1, 4)
    plain = moves(SeveralParameters())
    learned = calls(costs, moves(Mixture(SeveralParameters(), Misled(guess), float(epsilon))))
    bound = Fraction(0)
    for at in sorted(range(len(costs)), key=costs.__getitem__):
        if costs[at]:
            bound += 1 / sum(p for to, p in plain(at).items() if costs[to] < costs[at])
        assert calls(costs, plain)[at] <= bound
        assert learned[at] <= bound / epsilon
    assert max(learned.values()) > max(calls(costs, plain).values())  # it does cost something


def test_a_configuration_rejected_by_chance_is_revisited_with_more_runs():
    space = Space({name: Integer(0, 60) for name in "ab"})

    def noisy(config, instance, seed):
        return 5.0 + abs(config["a"] - 9) / 10 + Random(seed).expovariate(1.0)

    def raced_again(configurator):
        result = tune(noisy, space, instances=range(5), budget=400, configurator=configurator)
        pairs = [(race.challenger, race.incumbent) for race in result.history.races]
        again = {challenger for challenger, _ in pairs if pairs.count((challenger, _)) > 1}
        return [len(result.history.costs(challenger)) for challenger in again]

    assert raced_again(ParamHS(SeveralParameters())) == []
    returned = raced_again(ParamHS())
    assert len(returned) > 3
    assert max(returned) >= 4
    with pytest.raises(BadInput, match="again must be between 0 and 1"):
        Learned(again=1.5)


RETURNING = ((SMALL.config(a=0), SMALL.config(a=1)), (SMALL.default, SMALL.config(m="y")), ())


def revisiting(idle=frozenset()):
    draw = Draw(lambda configs: [0.0] * len(configs), [], lambda position, index: index - position)
    return Guided(SeveralParameters(), (draw,), 1, 2, idle, 0.5, RETURNING)


@pytest.mark.parametrize("idle", [frozenset(), frozenset({0, 1, 2})])
@pytest.mark.parametrize("excluded", [(), (SMALL.config(a=0),)])
def test_rejected_configurations_return_from_each_list_alike(idle, excluded):
    """A move returns with probability 1/2, from one of three lists, each from its first."""
    guided, rng = revisiting(idle), Random(1)
    check_operator(Mixture(SeveralParameters(), guided, 0.25), SMALL, draws=1_000)
    drawn = Counter(guided.sample(SMALL, SMALL.default, rng, excluded) for _ in range(3_000))
    first = SMALL.config(a=1) if excluded else SMALL.config(a=0)
    assert drawn[(first,)] > 3_000 / 6 - 100
    assert drawn[(SMALL.config(m="y"),)] > 3_000 / 6 - 100
    assert not any(config in excluded for move in drawn for config in move)


def test_where_no_plain_move_is_left_a_tried_configuration_returns():
    away = set(SeveralParameters().distribution(SMALL, SMALL.default))
    last = (SMALL.config(m="y"),)
    excluded = {config for (config,) in away} - {*last}
    mixture = Mixture(SeveralParameters(), revisiting(), 0.25)
    assert mixture.sample(SMALL, SMALL.default, Random(1), excluded) == last
    excluded.add(*last)
    assert mixture.sample(SMALL, SMALL.default, Random(1), excluded) == ()


@pytest.mark.parametrize("huge", [1e160, 1e300, 1.7976931348623157e308, math.inf])
def test_few_huge_costs_among_small_ones_are_no_trouble(huge):
    def target(config, seed):
        return huge if config["a"] > 4 else float(config["b"])

    result = tune(target, {"a": Integer(0, 9, default=0), "b": Integer(0, 9)}, budget=150)
    assert result.best["b"] == 0


@pytest.mark.parametrize("offset", [1.0, 1e9])
def test_a_large_constant_part_of_costs_hides_no_effect(offset):
    space = Space({f"p{k}": Integer(0, 9, default=5) for k in range(6)})
    rng = Random(1)
    costs = {c: offset + c["p5"] + rng.random() for c in sampled(space, 80, 2)}
    now = Learned(epsilon=0.01, again=0).given(filled(space, costs))
    moved = [now.sample(space, space.default, rng)[0] for _ in range(60)]
    assert sum(config["p5"] < 5 for config in moved) > 50


@pytest.mark.parametrize("settings", [{"draws": 0}, {"tries": 0}, {"draws": 1.5}, {"growth": -5}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(BadInput, match=f"{next(iter(settings))} must be"):
        Learned(**settings)


def test_a_spread_that_makes_no_sense_is_refused():
    with pytest.raises(BadInput, match="spread must be"):
        MainEffects(math.nan)


def capped_history(seed, cap, factor=10.0):
    """Only `a` matters; every configuration but the first few is cut at a cap."""
    space = Space(
        {"a": Categorical(["slow", "fast"]), **{f"p{k}": Integer(0, 9) for k in range(4)}}
    )
    scenario = Scenario(space, tuple(Instance(f"i{k}") for k in range(6)), Runtime(), 1000.0)
    history, rng = History(scenario, seed), Random(seed)
    for number, config in enumerate(sampled(space, 80, seed)):
        limit = 1000.0 if number < 4 else cap
        for k in range(2):
            instance = scenario.instances[rng.randrange(6)]
            seconds = rng.lognormvariate(0, 0.2) * (factor if config["a"] == "slow" else 1.0)
            task = Task(config, instance, 10 * number + k, limit)
            late = Run(task, Status.CAPPED, limit)
            history.add(Run(task, Status.OK, seconds) if seconds <= limit else late)
    return history


def ranges(history):
    """How far apart the values of each parameter are, by the model."""
    model = fitted(history)
    guess = model.guess(model.mean)
    listed = history.scenario.space.listed
    costs = [[guess(k, i) for i in range(p.levels)] for k, p in enumerate(listed)]
    return [max(values) - min(values) for values in costs]


def test_runs_that_were_cut_short_are_bounds_to_the_model():
    """All but a few slow runs end at 2 s. Taken as costs they make the effect 0.65 of a logarithm
    on average; what the same runs say that were not cut is 1.8."""
    found = []
    for seed in range(6):
        history = capped_history(seed, 2.0)
        assert sum(run.status is Status.CAPPED for run in history.runs) > 50
        a, *others = ranges(history)
        assert a > 2 * max(others)
        found.append(a * unit(history))
    assert np.mean(found) > 1.0


def unit(history):
    """How many logarithms a unit of the model is."""
    costs = [run.runtime for run in history.runs]
    low, high = np.percentile(np.log(costs), [10, 90])
    return high - low


@pytest.mark.parametrize("cap", [1e-3, 0.5, 1.0])
def test_a_history_of_bounds_that_say_little_has_a_model(cap):
    model = fitted(capped_history(1, cap))
    assert np.isfinite(model.mean).all()
    assert all(np.isfinite(draw.costs).all() for draw in model.drawn(4, Random(0)))
    assert min(model.rows.noise_of.values()) > 0


class Counted(Learner):
    """A learner that never looks again, and counts how often it is asked for a move."""

    def __init__(self):
        self.asked = 0

    def given(self, history):
        learner = self

        class Uniformly(UniformRandom):
            def sample(self, space, at, rng, excluded=()):
                learner.asked += 1
                return super().sample(space, at, rng, excluded)

        return Uniformly()

    def is_due(self, history, seen):
        return False


def test_excluded_moves_are_not_drawn_again_and_again():
    space = Space({"x": Integer(0, 9), "y": Integer(0, 9)})
    learner, at = Counted(), space.default
    moves = Moves(learner, History(Scenario(space), 1))
    left = {space.config(x=0, y=0), space.config(x=9, y=9)}
    excluded = {config for config in space.configs() if config not in left}
    taken = [moves.take(at, excluded) for _ in range(300)]
    assert {config for move in taken for config in move} == left
    assert learner.asked < 2 * len(taken)
