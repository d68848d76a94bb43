"""Families of instances: rows of a verdict, disagreement, groups found by preference."""

from dataclasses import replace
from random import Random

import pytest

import paramhs
from paramhs.analysis.clusters import clusters, family_preferences, virtual_best
from paramhs.analysis.families import disagreement
from paramhs.analysis.verdict import verdict
from paramhs.core.costs import Quality, Runtime
from paramhs.core.errors import BadInput
from paramhs.core.families import checked_families, families_by, in_blocks
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.scenario import Scenario, endless_pairs
from paramhs.core.space import Space
from paramhs.search.comparison.balance import total
from paramhs.search.history import History

SPACE = Space({"x": range(40)})
QUALITY = Quality()


def runs(x, cost_of, names, metric=QUALITY):
    config = SPACE.config({"x": x})
    made = []
    for name in names:
        cost = cost_of(name)
        task = Task(config, Instance(name), 1, 100.0)
        timed = metric.needs_runtime
        made.append(Run(task, Status.OK, cost if timed else 1.0, None if timed else cost))
    return made


NAMES = [f"{family}/{k}" for family in ("flat", "random") for k in range(8)]


def judged(factors, seed=0, metric=QUALITY):
    """A verdict in which the second costs these factors of the first, by family."""
    rng = Random(seed)
    base = {name: rng.uniform(1, 2) for name in NAMES}
    noise = {name: rng.uniform(0.95, 1.05) for name in NAMES}
    second = {name: base[name] * factors[name.split("/")[0]] * noise[name] for name in NAMES}
    return verdict(
        runs(0, base.get, NAMES, metric), runs(1, second.get, NAMES, metric), metric, "test"
    )


class TestRules:
    def test_folders_names_and_patterns_tell_families(self):
        names = ["a/uf-1.cnf", "b/flat-1.cnf"]
        assert families_by("folder", names) == {names[0]: "a", names[1]: "b"}
        assert families_by("name", names) == {names[0]: "uf", names[1]: "flat"}
        assert families_by(r"/(.)", names) == {names[0]: "u", names[1]: "f"}
        assert families_by("none", names) == families_by("auto", names) == {}

    @pytest.mark.parametrize("rule", ["(", "no such"])
    def test_a_rule_that_says_nothing_is_refused(self, rule):
        with pytest.raises(BadInput, match="families"):
            families_by(rule, ["a/1"])

    def test_a_table_names_every_instance_and_no_other(self):
        assert checked_families({"a": "x"}, ["a"]) == {"a": "x"}
        with pytest.raises(BadInput, match="'b' has no family"):
            checked_families({"a": "x"}, ["a", "b"])
        with pytest.raises(BadInput, match="no instance 'b'"):
            checked_families({"a": "x", "b": "x"}, ["a"])


class TestDisagreement:
    def test_each_family_has_a_row_with_its_own_verdict(self):
        found = disagreement(judged({"flat": 0.5, "random": 1.0}), {})
        assert list(found.verdicts) == ["flat", "random"]
        assert found.verdicts["flat"].conclusion_here == "better"
        assert found.verdicts["flat"].ratio.estimate == pytest.approx(2, rel=0.05)
        assert found.verdicts["random"].conclusion_here == "unclear"
        assert not found.disagree
        assert found.sentence == ""
        assert len(found.table) == 3

    def test_families_that_want_opposite_things_disagree(self):
        found = disagreement(judged({"flat": 0.5, "random": 2.0}), {})
        assert (found.better, found.worse) == (["flat"], ["random"])
        assert found.two == pytest.approx(1.25, rel=0.1)
        assert "better on flat, worse on random; two configurations" in found.sentence

    def test_rows_are_corrected_for_the_number_of_families(self):
        made = judged({"flat": 0.5, "random": 2.0})
        found = disagreement(made, {})
        alone = verdict(*zip(*made.paired_runs[:8], strict=True), Quality(), "test")
        assert found.verdicts["flat"].p_value == pytest.approx(2 * alone.p_value)

    def test_named_families_come_before_those_that_names_tell(self):
        made = judged({"flat": 0.5, "random": 2.0})
        odd = {name: "odd" if int(name[-1]) % 2 else "even" for name in NAMES}
        assert list(disagreement(made, odd).verdicts) == ["even", "odd"]

    def test_families_of_names_that_say_nothing_are_none(self):
        made = judged({"flat": 0.5, "random": 2.0})
        assert not disagreement(made, dict.fromkeys(NAMES, "one")).verdicts

    def test_equal_families_disagree_less_often_than_five_times_in_a_hundred(self):
        false = sum(
            disagreement(judged({"flat": 1.0, "random": 1.0}, seed), {}).disagree
            for seed in range(100)
        )
        assert false <= 5  # the noise of 5 % is above the margin of 1 %

    def test_where_time_counts_rows_have_solved_counts(self):
        found = disagreement(judged({"flat": 0.5, "random": 2.0}, metric=Runtime()), {})
        assert "finished" in found.table[0]
        assert "8 and 8 of 8" in found.table[1]


class TestTimeBesideCost:
    def test_a_better_quality_says_how_much_slower_it_is(self):
        first = [run._replace(runtime=0.5) for run in runs(0, lambda _: 2.0, NAMES)]
        second = [run._replace(runtime=18.0) for run in runs(1, lambda _: 1.0, NAMES)]
        assert "Best is 36 times slower (18 s against 0.5 s a run)" in str(
            verdict(first, second, Quality(), "test")
        ).replace("\n", " ")

    def test_a_time_says_how_many_runs_finished(self):
        made = judged({"flat": 0.5, "random": 0.5}, metric=Runtime())
        assert "Finished: default 16, best 16 of 16 runs." in str(made).replace("\n", " ")


def history(groups, seed, sensitive=False):
    """A search in which half of the instances prefer small values and half large ones."""
    rng, instances = Random(seed), tuple(Instance(f"i{k}") for k in range(16))
    made = History(Scenario(SPACE, instances, deterministic=True), seed)
    for x in range(24):
        own = rng.gauss(0, 0.3)
        for k, instance in enumerate(instances):
            if x and rng.random() < 0.3:
                continue
            side = groups * (x / 24 - 0.5) * (1 if k % 2 else -1)
            log = own * (1 + k % 3 if sensitive else 1) + side + 0.3 * rng.gauss(0, 1)
            task = Task(SPACE.config({"x": x}), instance, 1)
            made.add(Run(task, Status.OK, 0.1, 2.0**log))
    return made


class TestClusters:
    def test_opposite_preferences_are_found(self):
        found = clusters(history(3.0, 1))
        assert found is not None
        assert {tuple(int(name[1:]) % 2 for name in group) for group in found.groups} == {
            (0,) * 8,
            (1,) * 8,
        }
        assert found.gain > 1.3
        assert "8 instances" in found.sentence

    @pytest.mark.parametrize("sensitive", [False, True])
    def test_noise_and_mere_sensitivity_form_no_groups(self, sensitive):
        found = [clusters(history(0.0, seed, sensitive)) for seed in range(12)]
        assert sum(one is not None for one in found) <= 1  # at a level of 1 %

    def test_few_instances_form_no_groups(self):
        found = paramhs.tune(
            lambda c, i: c["x"] + i, {"x": range(9)}, instances=range(3), budget=30
        )
        assert found.clusters is None


class TestPreferencesOfFamilies:
    @pytest.mark.parametrize("groups", [3.0, 0.0])
    def test_they_are_reported_only_beyond_chance(self, groups):
        made = history(groups, 1)
        families = {i.name: "ab"[int(i.name[1:]) % 2] for i in made.scenario.instances}
        found = family_preferences(made, families)
        assert (found is not None) == (groups > 0)
        if found is not None:
            assert found.families == ("a", "b")
            assert found.prefers[0]["x"] > 12 > found.prefers[1]["x"]

    def test_a_kept_default_does_not_hide_them(self):
        def cost(config, instance):
            x = config["x"]
            if x == 10:
                return 10.0
            return (6 if (x < 10) == (instance[0] == "a") else 18) + 0.1 * abs(x - 10)

        names = [f"{family}{k}" for family in "ab" for k in range(8)]
        space = {"x": paramhs.Integer(0, 20, default=10)}
        found = paramhs.tune(cost, space, instances=names, budget=200, seed=1)
        assert found.best == found.default
        assert "families prefer different configurations" in found.group_notes[0]
        groups = found.to_json()["groups"]["clusters"]
        assert groups["families"] == ["a", "b"]
        assert groups["prefers"][0]["x"] < 10 < groups["prefers"][1]["x"]


class TestCeiling:
    def test_a_perfect_choice_takes_the_least_of_each_run(self):
        instances = (Instance("a"), Instance("b"))
        made = History(Scenario(SPACE, instances, deterministic=True), 0)
        for x, costs in ((0, (2.0, 2.0)), (1, (1.0, 4.0)), (2, (8.0, 1.0))):
            for instance, cost in zip(instances, costs, strict=True):
                made.add(Run(Task(SPACE.config({"x": x}), instance, 1), Status.OK, 0.1, cost))
        assert virtual_best(made, SPACE.config({"x": 0})) == (2.0, 3)


FAMILIES = {**{f"a{k}": "a" for k in range(6)}, **{f"b{k}": "b" for k in range(2)}}
BALANCED = Scenario(
    SPACE, tuple(map(Instance, FAMILIES)), families=FAMILIES, balanced=True, deterministic=False
)


class TestBalanced:
    @pytest.mark.parametrize("seed", range(5))
    def test_each_block_has_one_instance_of_each_family(self, seed):
        pairs = endless_pairs(BALANCED.instances, seed, families=FAMILIES)
        listed = [next(pairs) for _ in range(60)]
        for k in range(0, 60, 2):
            assert {FAMILIES[pair.instance] for pair in listed[k : k + 2]} == {"a", "b"}
        assert len(set(listed)) == 60

    def test_an_instance_comes_once_where_it_can_run_once(self):
        listed = in_blocks(BALANCED.instances, FAMILIES, Random(0), once=True)
        assert sorted(listed) == sorted(BALANCED.instances)
        assert {FAMILIES[i] for i in listed[:2]} == {FAMILIES[i] for i in listed[2:4]} == {"a", "b"}

    def test_families_weigh_alike_in_a_score(self):
        made = History(BALANCED, 0)
        pairs = [made.pair(k)._replace(instance=Instance(name)) for k, name in enumerate(FAMILIES)]
        costs = [(1.0,)] * 6 + [(5.0,)] * 2
        assert total(made, pairs, costs) == (0.0, 3.0)
        plain = History(replace(BALANCED, balanced=False), 0)
        assert total(plain, pairs, costs) == (0.0, 2.0)

    def test_a_search_prefers_what_suits_both_families(self):
        def cost(config, instance):
            return abs(config["x"] - (0 if instance.startswith("a") else 30)) + 0.01 * config["x"]

        options = {"instances": [*FAMILIES], "budget": 200, "seed": 1}
        many = paramhs.tune(cost, {"x": range(40)}, **options)
        assert many.best["x"] == 0  # six of the eight instances
        even = paramhs.tune(cost, {"x": range(40)}, families="balanced", **options)
        costs = {x: 0.02 * x + abs(x - 0) + abs(x - 30) for x in range(40)}
        assert costs[even.best["x"]] < costs[39]
        assert even.scenario.balanced

    def test_one_family_cannot_be_balanced(self):
        with pytest.raises(BadInput, match="at least two families"):
            paramhs.tune(
                lambda c, i: 0.0, {"x": range(4)}, instances=["p"], budget=9, families="balanced"
            )

    def test_a_store_knows_the_families_it_was_given(self, tmp_path):
        store, table = tmp_path / "s.sqlite", dict.fromkeys(["p", "q"], "one")
        options = {"instances": ["p", "q"], "budget": 9, "store": store}
        paramhs.tune(lambda c, i: c["x"], {"x": range(4)}, families=table, **options)
        assert paramhs.load(store).scenario.families == table
