"""From a search to its result: the reserve of its budget, and the length of its verdict."""

import re
import time
from itertools import pairwise

import pytest

from paramhs import BadInput, Budget, Watcher, tune
from paramhs.analysis.evidence import common_costs, compare, steps
from paramhs.core import Quality
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.core.test_set import TestSet
from paramhs.execution.driver import Driver
from paramhs.execution.driver.budget import Account
from paramhs.execution.storage import MemoryStore
from paramhs.execution.targets import FunctionTarget
from paramhs.procedures.verdict_length import VerdictTime, as_noted, most_pairs
from paramhs.search.history import History
from paramhs.search.open_race import challenger_leads
from paramhs.search.registry import CONFIGURATORS

SPACE = Space({"x": range(100), "mode": ["a", "b"]})
TESTS = {f"t{k}": k for k in range(4)}


def noisy(config, instance, seed):
    return (config["x"] - 70) ** 2 + (seed % 11) / 10 + 1


def tuned(budget, **options):
    given = {"instances": {"i": 1, "j": 2}, "budget": budget, "test_instances": TESTS}
    return tune(noisy, SPACE, **{"configurator": "paramhs-plain", **given, **options})


def went(result):
    """What a search did, without times."""
    return [point._replace(target_time=0.0) for point in result.trajectory], result.history.races


class TestReserve:
    """The last sixth of a small budget finishes a race in which the challenger is ahead."""

    @pytest.fixture(scope="class")
    def results(self):
        return {budget: tuned(budget, test_instances=None) for budget in range(20, 120)}

    def test_it_is_used_only_by_an_open_race(self, results):
        for budget, result in results.items():
            normal = budget - min(budget // 6, 15)
            assert normal <= result.asked <= budget
            if result.asked == normal:
                assert "kept to finish a race" in result.stopped
        assert {result.asked < budget for budget, result in results.items()} == {True, False}

    def test_a_race_that_it_finished_was_decided_inside_the_budget(self, results):
        inside = [
            result
            for budget, result in results.items()
            if result.trajectory[-1].runs > budget - max(1, budget // 20)
        ]
        assert inside
        assert not any("was not decided" in result.stopped for result in inside)

    def test_a_race_that_no_side_finished_is_reported(self, results):
        undecided = [r for b, r in results.items() if "was not decided" in r.stopped]
        assert undecided
        for result in undecided:
            assert result.history.racing is not None
            assert result.best == result.trajectory[-1].config

    @pytest.mark.parametrize("configurator", ["paramhs", "paramhs-plain", "paramils", "race"])
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_extended_after_a_stop_is_the_same_as_not_stopped(self, tmp_path, configurator, seed):
        how = {"configurator": configurator, "seed": seed, "test_instances": None}
        whole = tuned(160, **how)
        for budget in (23, 41, 64, 160):
            last = tuned(budget, store=tmp_path / "runs.sqlite", **how)
        assert went(last) == went(whole)
        assert (last.asked, last.stopped) == (whole.asked, whole.stopped)

    @pytest.mark.parametrize("seed", range(8))
    def test_jobs_do_not_change_when_it_stops(self, seed):
        one = tuned(40, test_instances=None, seed=seed)
        many = tuned(40, test_instances=None, seed=seed, jobs=3, executor="threads")
        assert (one.asked, one.stopped) == (many.asked, many.stopped)
        assert went(one) == went(many)

    def test_a_driver_alone_keeps_nothing(self):
        history = History(Scenario(SPACE, (Instance("i"),)), 0)
        search = CONFIGURATORS["paramhs"].search(history)
        driver = Driver(search, history, FunctionTarget(noisy), MemoryStore(), Budget(runs=37))
        driver.run()
        assert (driver.taken, driver.stopped) == (37, "the budget of 37 runs is spent")

    @pytest.mark.parametrize("limit", ["target_time", "wall_time"])
    def test_time_is_kept_too(self, limit):
        store = MemoryStore()
        account = Account(Budget(**{limit: 100.0}), store, None, 0.05)

        def at(seconds, finishing):
            store.target_time = store.wall_time = seconds
            return account.time_spent(None, 1, 1_000, finishing)

        assert at(94.0, False) == ""
        assert "kept to finish a race" in at(95.5, False)
        assert at(95.5, True) == ""
        assert at(100.5, True) == f"the budget of 100 s of {limit.replace('_', ' ')} is spent"

    def test_at_least_a_mean_run_is_kept(self):
        store = MemoryStore()
        account = Account(Budget(target_time=100.0), store, None, 0.05)
        store.target_time = 91.0
        assert account.time_spent(None, 1, 1_000, False) == ""
        assert account.time_spent(None, 1, 10, False) != ""

    @pytest.mark.parametrize(
        ("runs", "reserved"), [(1, 0), (9, 0), (10, 1), (39, 6), (150, 15), (280, 15), (1_000, 50)]
    )
    def test_how_many_runs_are_kept(self, runs, reserved):
        account = Account(Budget(runs=runs), MemoryStore(), None, 0.05)
        assert account.runs_left(0) - account.runs_left(0, finishing=False) == reserved


class TestLeading:
    def race(self, new, old, **more):
        """Whether the second configuration of a space, racing its first, is ahead."""
        configs = list(SPACE.configs())[:2]
        history = History(Scenario(SPACE, (Instance("i"),)), 0)
        for config, costs in zip(configs, (old, new), strict=True):
            for seed, cost in enumerate(costs):
                history.add(Run(Task(config, Instance("i"), seed), Status.OK, 0.0, cost))
        history.open_race(configs[1], configs[0])
        unfinished = [
            Run(Task(configs[1], Instance("i"), seed), *answer) for seed, *answer in more.values()
        ]
        assert not challenger_leads(history, configs[1], unfinished), "another incumbent"
        return challenger_leads(history, configs[0], unfinished)

    def test_three_common_runs_are_needed_and_a_lower_mean(self):
        assert not self.race([1.0, 1.0], [2.0, 2.0, 2.0])
        assert self.race([1.0, 1.0, 2.5], [2.0, 2.0, 2.0])
        assert not self.race([1.0, 1.0, 4.0], [2.0, 2.0, 2.0])
        assert not self.race([1.0, 1.0, float("inf")], [2.0, 2.0, 2.0])

    def test_runs_of_an_unfinished_request_count(self):
        assert not self.race([1.0, 1.0], [2.0, 2.0, 2.0], last=(2, Status.OK, 0.0, 9.0))
        assert self.race([1.0, 1.0], [2.0, 2.0, 2.0], last=(2, Status.OK, 0.0, 1.0))

    def test_a_challenger_that_was_cut_short_is_not_ahead(self):
        cut = (3, Status.CAPPED, 1.0, None)
        assert not self.race([1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], last=cut)


class TestInBudget:
    def test_runs_of_the_verdict_are_part_of_the_budget(self):
        result = tuned(200, verdict_in_budget=True)
        pairs = result.verdict.first.runs
        left = 200 - 2 * pairs
        assert left - 15 <= result.asked <= left
        spent = f"the budget of 200 runs is spent, {2 * pairs} of them for the verdict"
        assert result.stopped.startswith(spent)

    def test_budget_that_leaves_nothing_to_search_with_is_refused(self):
        with pytest.raises(BadInput, match="leaves none to search with"):
            tuned(12, verdict_in_budget=True)

    def test_without_a_test_set_nothing_is_kept(self):
        assert tuned(60, verdict_in_budget=True, test_instances=None).asked >= 50

    def test_the_reserve_is_estimated_from_runs_of_both_sides(self):
        def slow(config, instance, seed):
            time.sleep(0.002)
            return noisy(config, instance, seed)

        budget = Budget(target_time=0.6)
        options = {"instances": ["1"], "test_instances": {"t": 1}, "verdict_in_budget": True}
        result = tune(slow, SPACE, budget=budget, **options)
        assert "of it for the verdict" in result.stopped

    def test_expected_time_is_that_of_the_runs_so_far(self):
        history = History(Scenario(SPACE, (Instance("i"),)), 0)
        first, second, third = list(SPACE.configs())[:3]
        later = VerdictTime(history)
        assert later.seconds(first, second) == 0.0
        for config, seconds in ((first, 1.0), (first, 3.0), (second, 0.5)):
            task = Task(config, Instance("i"), len(history.runs))
            history.add(Run(task, Status.OK, seconds, 1.0))
        assert later.seconds(first, second) == 2.5
        assert later.seconds(third) == 0.0


class TestLength:
    """A verdict takes at most half as long as the budget, unless its runs are given."""

    @pytest.mark.parametrize(
        ("instances", "most", "random", "deterministic"),
        [
            (8, 1_000, 56, 8),
            (8, 40, 40, 8),
            (8, 39, 32, 8),  # repetitions shrink first
            (8, 9, 8, 8),
            (8, 7, 7, 7),  # then instances
            (8, 2, 6, 6),  # but not below six
            (4, 2, 8, 4),
            (1, 30, 30, 1),
            (1, 2, 6, 1),
        ],
    )
    def test_runs_of_each_side(self, instances, most, random, deterministic):
        test_set = TestSet(tuple(Instance(f"t{k}") for k in range(instances)), held_out=True)
        for kind, runs in ((False, random), (True, deterministic)):
            fitting = test_set.within(kind, most)
            pairs = fitting.pairs(kind, 0)
            assert len(pairs) == fitting.count(kind) == runs
            assert pairs == test_set.pairs(kind, 0)[:runs], "runs are used again"
            assert fitting.text.startswith(
                f"{len({pair.instance for pair in pairs})} held-out instance"
            )

    def test_what_the_user_said_stays(self):
        test_set = TestSet((Instance("a"), Instance("b")), True, 40)
        assert test_set.within(False, 1) == test_set

    @pytest.mark.parametrize(
        ("budget", "most"),
        [
            (Budget(runs=100), 25),
            (Budget(target_time=100.0), 25),  # two seconds for a run of both sides
            (Budget(wall_time=100.0), 50),  # of which one passes
            (Budget(runs=40, wall_time=100.0), 10),
            (Budget(), float("inf")),
        ],
    )
    def test_half_of_a_budget(self, budget, most):
        assert most_pairs(budget, 2.0, 0.5) == most

    @pytest.mark.parametrize("budget", [60, 150, 400])
    def test_a_search_makes_at_most_half_of_its_runs_for_it(self, budget):
        result = tuned(budget, seed=1)
        assert result.verdict
        assert 6 <= result.verdict.first.runs <= max(8, budget // 4)

    def test_a_resumed_verdict_has_the_length_that_was_noted(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        facts = {"budget": {"wall_time": 1.0}, "best": "x=1"}
        test_set = TestSet(tuple(Instance(f"t{k}") for k in range(8)), held_out=True)
        tuned(30, store=store, test_instances=None)
        first = as_noted(store, test_set.within(False, 16), facts)
        assert as_noted(store, test_set.within(False, 40), facts) == first
        other = {**facts, "best": "x=2"}
        assert as_noted(store, test_set.within(False, 40), other).runs == 40

    def test_the_expected_time_is_announced(self):
        notices = []

        class Noting(Watcher):
            def notice(self, text):
                notices.append(text)

            announce = notice

        result = tuned(40, watcher=Noting(), seed=1)
        assert result.verdict
        (told,) = [text for text in notices if text.startswith("verdict: ")]
        assert re.search(r"verdict: 8 runs of each of 2 configurations, .*, about .* s$", told)


class TestCommonRuns:
    def test_means_are_over_the_runs_that_neither_has_failed(self):
        inf = float("inf")
        met = compare([(2.0,), (inf,), (4.0,), (6.0,)], [(1.0,), (1.0,), (inf,), (2.0,)], Quality())
        assert (met.first, met.second, met.runs) == (4.0, 1.5, 4)
        assert (met.first_failed, met.second_failed) == (1, 1)
        assert met.ratio == pytest.approx(4 / 1.5)

    def test_without_a_run_that_both_have_there_is_nothing_to_compare(self):
        assert compare([], [], Quality()) is None
        met = compare([(float("inf"),)], [(1.0,)], Quality())
        assert (met.first, met.second, met.ratio) == (None, None, None)

    @pytest.mark.parametrize(
        ("maximise", "first", "second", "ratio"),
        [(False, 4.0, 2.0, 2.0), (True, -2.0, -4.0, 2.0), (False, 0.0, 1.0, None)],
    )
    def test_ratio_says_how_many_times_better(self, maximise, first, second, ratio):
        assert compare([(first,)], [(second,)], Quality(maximise)).ratio == ratio

    def test_costs_of_a_result_are_over_the_same_runs(self):
        result = tuned(80, test_instances=None)
        met = common_costs(result.history, result.default, result.best)
        assert (result.default_cost, result.best_cost) == (met.first, met.second)
        assert result.common_runs == met.runs < len(result.history.costs(result.best))
        assert f"{met.runs} common runs" in repr(result)

    def test_steps_stand_beside_the_incumbent_before_on_the_same_runs(self):
        result = tuned(80, test_instances=None)
        made = steps(result.history, result.trajectory)
        assert (made[0].cost, made[0].before, made[0].common) == (None, None, 0)
        for before, step in pairwise(made):
            met = common_costs(result.history, before.config, step.config)
            assert (step.before, step.cost, step.common) == (met.first, met.second, met.runs)
