"""The way from the default to the best, where the true one is known."""

import math
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs import Boolean, Categorical, Integer, Space
from paramhs.analysis.ablation import changes_between, words
from paramhs.analysis.ablation import settings as settings_of
from paramhs.core import Quality
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Run, Status
from paramhs.core.scenario import Scenario
from paramhs.procedures.ablation_search import Ablating, Changes, race_cost, usual_pairs, way_cost
from paramhs.search.history import History
from tests.support.driving import drive
from tests.support.scale import examples
from tests.support.spaces import spaces_with_config

INSTANCES = tuple(Instance(f"i{k}") for k in range(10))


def flags(count):
    return Space({f"p{k}": Boolean() for k in range(count)})


def all_on(space):
    return space.config(dict.fromkeys(space.parameters, True))


def ablated(function, best, budget=500, keep=0.95, order=(), seed=0, **options):
    """The search for the way, driven by a plain function of (config, instance, seed)."""
    scenario = Scenario(best.space, INSTANCES, **options)
    ablating = Ablating(History(scenario, seed), best, budget, keep, order)

    def target(task):
        try:
            return Run(task, Status.OK, 0.1, function(*task[:3]))
        except ArithmeticError:
            return Run(task, Status.CRASHED, 0.1)

    driven = drive(ablating.search(), target)
    assert driven.ended
    assert len(driven.tasks) == len(set(driven.tasks)) <= budget
    assert all(best.space.allowed(task.config) for task in driven.tasks)
    return ablating


def names(ablating):
    """What each step changes."""
    configs = [ablating.default, *(stop.config for stop in ablating.stops)]
    return [
        {name for name in a.space.parameters if a.get(name) != b.get(name)}
        for a, b in pairwise(configs)
    ]


def product_of(effects):
    """A cost that each change divides, exactly."""

    def cost(config, instance, seed):
        hard = 1 + int(instance.name[1:])
        return 10.0 * hard / math.prod(effects.get(name, 1) for name in config if config[name])

    return cost


class TestChanges:
    def test_what_a_change_switches_on_comes_with_it(self):
        space = Space(
            {"mode": Categorical(["a", "b"]), "k": Integer(1, 9), "deep": Boolean()},
            conditions={"k": "mode == b", "deep": "k > 6"},
        )
        best = space.config(mode="b", k=8, deep=True)
        changes = Changes(space.default, best)
        assert changes.units == (0, 1, 2)
        alone = changes.reachable(frozenset(), [frozenset({u}) for u in changes.units])
        assert alone == {best: frozenset({0, 1, 2})}

    def test_what_was_pruned_stays_at_its_default_when_it_is_switched_on(self):
        space = Space({"mode": ["a", "b"], "k": Integer(1, 9)}, conditions={"k": "mode == b"})
        changes = Changes(space.default, space.config(mode="b", k=8))
        (config,) = changes.reachable(frozenset(), [frozenset({0})])
        assert config == space.config(mode="b", k=5)

    def test_forbidden_steps_are_not_taken_and_two_at_once_may_be(self):
        space = Space(
            {"a": Boolean(), "b": Boolean(), "c": Boolean()},
            forbidden=["a == true and b == false", "b == true and a == false"],
        )
        ablating = ablated(product_of({"a": 2, "b": 2, "c": 3}), all_on(space))
        assert names(ablating) == [{"c"}, {"a", "b"}]

    @examples(25)
    @given(spaces_with_config(5))
    def test_none_is_the_default_and_all_is_the_best(self, made):
        space, best = made
        changes = Changes(space.default, best)
        assert changes.config(()) == space.default
        assert changes.config(changes.units) == best

    @examples(25)
    @given(spaces_with_config(5), st.integers(20, 300), st.booleans())
    def test_every_way_is_allowed_affordable_and_ends_in_the_best(
        self, made, budget, deterministic
    ):
        _, best = made

        def cost(config, instance, seed):
            return Random(f"{config.key} {instance} {seed}").random()

        ablating = ablated(cost, best, budget, deterministic=deterministic)
        stops = [stop.config for stop in ablating.stops]
        assert stops[-1:] == ([] if best == ablating.default else [best])
        for config in (
            (ablating.default, *stops) if stops else ()
        ):  # all costs are over the same pairs
            assert set(ablating.pairs) <= set(ablating.history.costs(config))


def test_what_is_switched_off_is_no_setting():
    space = Space({"mode": ["a", "b"], "k": Integer(1, 9)}, conditions={"k": "mode == a"})
    made = changes_between(space.default, space.config(mode="b"))
    assert [change.name for change in made] == ["mode", "k"]
    assert [change.name for change in settings_of(made)] == ["mode"]
    assert words(made) == "mode: a -> b"
    assert words(made[1:]) == "k: 5 -> -"


class TestOrder:
    def test_changes_come_in_the_order_of_what_they_are_worth(self):
        space = flags(5)
        effects = {"p0": 1.1, "p1": 3.0, "p2": 1.3, "p3": 1.05, "p4": 1.7}
        ablating = ablated(product_of(effects), all_on(space), 2_000, keep=1.0)
        assert names(ablating) == [{"p1"}, {"p4"}, {"p2"}, {"p0"}, {"p3"}]
        assert [stop.tried for stop in ablating.stops] == [5, 4, 3, 2, 1]

    def test_the_share_that_is_kept_is_that_of_the_ratio(self):
        space = flags(3)
        ablating = ablated(product_of({"p0": 4.0, "p1": 2.0}), all_on(space))
        shares = [ablating.kept(stop.config)[0] for stop in ablating.stops]
        assert shares == pytest.approx([2 / 3, 1.0, 1.0])
        assert ablating.has_gain

    def test_changes_without_effect_are_one_last_step(self):
        space = flags(40)
        ablating = ablated(product_of({"p3": 2.0, "p30": 1.5}), all_on(space), 400)
        assert names(ablating)[:2] == [{"p3"}, {"p30"}]
        assert len(names(ablating)[2]) == 38

    def test_two_changes_that_matter_only_together_are_both_kept(self):
        """A greedy way alone would not see them."""

        def cost(config, instance, seed):
            return 1.0 if config["p4"] and config["p11"] else 3.0

        ablating = ablated(cost, all_on(flags(16)))
        made = names(ablating)
        assert {frozenset(step) for step in made[:2]} == {frozenset({"p4"}), frozenset({"p11"})}

    def test_a_harmful_change_is_taken_back(self):
        ablating = ablated(product_of({"p0": 4.0, "p1": 0.5}), all_on(flags(6)))
        assert names(ablating)[0] == {"p0"}
        assert ablating.keeps(ablating.stops[0].config)

    def test_failures_count_before_costs(self):
        def cost(config, instance, seed):
            if not config["p2"]:
                raise ArithmeticError
            return 1.0 if config["p0"] else 1.1

        ablating = ablated(cost, all_on(flags(4)))
        assert names(ablating)[0] == {"p2"}

    def test_where_more_is_better_the_way_goes_up(self):
        def cost(config, instance, seed):
            return 1.0 + 5 * config["p1"] + 2 * config["p0"]

        ablating = ablated(cost, all_on(flags(3)), cost=Quality(maximise=True))
        assert names(ablating)[:2] == [{"p1"}, {"p0"}]
        share = ablating.kept(ablating.stops[0].config)[0]
        assert share == pytest.approx(math.log(6) / math.log(8))

    def test_costs_of_both_signs_are_reported_as_differences(self):
        def cost(config, instance, seed):
            return 1.0 - 3 * config["p1"] - config["p0"]

        ablating = ablated(cost, all_on(flags(3)))
        assert ablating.kept(ablating.stops[0].config)[0] == pytest.approx(0.75)


class TestNoise:
    @pytest.mark.parametrize("seed", range(4))
    def test_the_few_that_matter_are_found_among_eighty(self, seed):
        """Three effects of 2, 1.6 and 1.4; noise of a third in every run."""
        effects = {"p3": 2.0, "p50": 1.6, "p71": 1.4}
        plain = product_of(effects)

        def cost(config, instance, number):
            own = Random(f"{config.key} {instance} {number}").lognormvariate(0, 0.2)
            return plain(config, instance, number) * own

        ablating = ablated(cost, all_on(flags(80)), 1_000, seed=seed)
        kept = next(stop.config for stop in ablating.stops if ablating.keeps(stop.config))
        changed = {name for name in kept if kept[name]}
        assert changed >= {"p3", "p50"}
        assert len(changed) <= 12
        last = names(ablating)[-1]
        assert len(last) >= 60  # what does nothing was pruned


class TestBudget:
    @pytest.mark.parametrize("budget", [0, 19, 2.5, None, True])
    def test_too_small_a_budget_is_refused(self, budget):
        with pytest.raises(BadInput, match="at least 20 runs"):
            ablated(lambda *_: 1.0, all_on(flags(2)), budget)

    @pytest.mark.parametrize("keep", [0, -1, 1.5, math.nan])
    def test_a_share_that_is_none_is_refused(self, keep):
        with pytest.raises(BadInput, match="share to keep"):
            ablated(lambda *_: 1.0, all_on(flags(2)), keep=keep)

    @pytest.mark.parametrize("changes", [1, 2, 3, 7, 30, 83])
    @pytest.mark.parametrize("budget", [20, 100, 1_000])
    def test_the_budget_holds_and_is_used(self, changes, budget):
        def cost(config, instance, seed):
            return Random(f"{config.key} {instance} {seed}").random() + 1 / (
                1 + sum(config.values())
            )

        ablating = ablated(cost, all_on(flags(changes)), budget)
        asked = ablating.history.asked
        room = 100 * (len(ablating.stops) + 1)  # no more than a hundred pairs are of use
        assert asked >= min(0.9 * budget - len(ablating.stops) - 1, room) or budget < 60

    def test_a_race_costs_what_it_is_said_to(self):
        assert race_cost(1, 8) == 8
        assert race_cost(2, 8) == 16
        assert race_cost(8, 8) == 8 * 3 + 4 * 1 + 2 * 4  # at least three pairs at first
        assert race_cost(8, 32) == 8 * 8 + 4 * 8 + 2 * 16
        assert way_cost(3, 32) == race_cost(3, 32) + race_cost(2, 32)

    def test_more_runs_are_more_pairs(self):
        pairs = [usual_pairs(budget, 10) for budget in (50, 200, 1_000, 10_000)]
        assert pairs == sorted(pairs)
        assert pairs[-1] == 100

    def test_seeds_are_none_of_the_search_or_the_verdict(self):
        from paramhs.core.test_set import TestSet

        ablating = ablated(lambda *_: 1.0, all_on(flags(3)))
        history = History(ablating.history.scenario, 0)
        used = {history.pair(k).seed for k in range(500)}
        used |= {seed for _, seed in TestSet(INSTANCES, False, 500).pairs(False, 0)}
        assert not used & {seed for _, seed in ablating.pairs}
