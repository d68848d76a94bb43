"""From a search to its verdict: who meets, what it costs, and what is said where nobody does."""

import io
import json
import time
from itertools import pairwise

import pytest
from rich.console import Console

import paramhs
from paramhs import BadInput, Budget, Quality, tune
from paramhs.faces.cli.verdicts import print_outcome
from paramhs.results.evidence import ahead, common_costs, compare, steps
from paramhs.results.validating import VerdictTime
from paramhs.search.history import History
from paramhs.values.runs import Instance, Run, Status, Task
from paramhs.values.scenario import Scenario
from paramhs.values.space import Space

SPACE = Space({"x": range(100), "mode": ["a", "b"]})
TESTS = {f"t{k}": k for k in range(4)}


def noisy(config, instance, seed):
    return (config["x"] - 70) ** 2 + (seed % 11) / 10 + 1


def tuned(budget, **options):
    given = {"instances": {"i": 1, "j": 2}, "budget": budget, "test_instances": TESTS}
    return tune(noisy, SPACE, configurator="paramhs-plain", **{**given, **options})


@pytest.fixture(scope="module")
def leading():
    """A budget that ends inside a race which the challenger is winning, and one of the best."""
    results = {budget: tuned(budget, test_instances=None) for budget in range(8, 60)}
    ahead = {budget: result for budget, result in results.items() if result.ahead}
    first = next(b for b, result in ahead.items() if result.best == result.default)
    later = next(b for b, result in ahead.items() if result.best != result.default)
    return first, later


class TestAhead:
    def test_who_is_ahead_meets_the_default_where_that_is_the_best(self, leading):
        result = tuned(leading[0])
        assert result.best == result.default
        assert result.verdict.second.config == result.ahead.config
        assert result.verdict.names == ("default", "challenger")
        assert result.ahead_verdict == result.verdict

    def test_the_verdict_meets_both_the_best_and_who_is_ahead(self, leading):
        result = tuned(leading[1])
        assert result.verdict.names == ("default", "best")
        assert result.verdict.second.config == result.best
        assert result.ahead_verdict.names == ("best", "challenger")
        assert result.ahead_verdict.first == result.verdict.second
        assert result.ahead_verdict.second.config == result.ahead.config

    @pytest.mark.parametrize("which", [0, 1])
    def test_nobody_can_be_ahead_who_would_not_be_with_other_jobs(self, leading, which):
        one = tuned(leading[which], test_instances=None)
        two = tuned(leading[which], test_instances=None, jobs=3, executor="threads")
        assert one.ahead == two.ahead

    def test_a_larger_budget_finishes_the_race(self, leading, tmp_path):
        store = tmp_path / "runs.sqlite"
        first = tuned(leading[0], store=store)
        more = tuned(leading[0] + 30, store=store)
        assert (first.ahead.config, first.default) in [r[:2] for r in more.history.races]
        assert paramhs.open(store).result.ahead == more.ahead

    def test_an_opened_store_knows_who_was_ahead_and_who_has_met(self, leading, tmp_path):
        for number, budget in enumerate(leading):
            store = tmp_path / f"{number}.sqlite"
            result = tuned(budget, store=store)
            again = paramhs.open(store).result
            assert again.ahead == result.ahead
            assert (again.verdict, again.ahead_verdict) == (result.verdict, result.ahead_verdict)

    def test_a_challenger_that_is_proven_better_is_to_be_taken(self, leading, tmp_path):
        result = tuned(leading[0], test_instances={f"t{k}": k for k in range(7)})
        assert result.ahead_wins
        console = Console(file=io.StringIO(), width=200, _environ={})
        print_outcome(console, result)
        text = console.file.getvalue()
        assert "verdict, challenger against default, on 7 instances held out:" in text
        assert "Take the challenger: it is proven better" in text
        result.report(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert (
            f"Take the challenger that was ahead when the budget ended, {result.ahead.config}"
            in page
        )

    def test_json_has_the_challenger_and_both_verdicts(self, leading):
        message = json.loads(json.dumps(tuned(leading[1]).to_json()))
        assert message["ahead"]["common_runs"] >= 3
        assert message["ahead"]["cost"] < message["ahead"]["incumbent_cost"]
        assert message["ahead"]["verdict"]["names"] == ["best", "challenger"]

    def race(self, new, old, **more):
        """A history in which the second of a space races its first, with these costs."""
        configs = list(SPACE.configs())[:2]
        history = History(Scenario(SPACE, (Instance("i"),)), 0)
        for config, costs in zip(configs, (old, new), strict=True):
            for seed, cost in enumerate(costs):
                history.add(Run(Task(config, Instance("i"), seed), Status.OK, 0.0, cost))
        history.racing = (configs[1], configs[0])
        unfinished = [
            Run(Task(configs[1], Instance("i"), seed), *answer) for seed, *answer in more.values()
        ]
        return ahead(history, unfinished)

    def test_three_common_runs_are_needed_and_a_lower_mean(self):
        assert self.race([1.0, 1.0], [2.0, 2.0, 2.0]) is None
        assert self.race([1.0, 1.0, 2.5], [2.0, 2.0, 2.0]).common.second == 1.5
        assert self.race([1.0, 1.0, 4.0], [2.0, 2.0, 2.0]) is None
        assert self.race([1.0, 1.0, float("inf")], [2.0, 2.0, 2.0]) is None

    def test_runs_of_an_unfinished_request_count(self):
        run = (2, Status.OK, 0.0, 9.0)
        assert self.race([1.0, 1.0], [2.0, 2.0, 2.0], last=run) is None
        assert self.race([1.0, 1.0], [2.0, 2.0, 2.0], last=(2, Status.OK, 0.0, 1.0))

    def test_who_was_cut_short_is_not_ahead(self):
        cut = (3, Status.CAPPED, 1.0, None)
        assert self.race([1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], last=cut) is None


class TestInBudget:
    def test_runs_of_the_verdict_are_part_of_the_budget(self):
        result = tuned(200, verdict_in_budget=True)
        pairs = result.verdict.first.runs
        assert result.asked == 200 - 2 * pairs
        assert (
            result.stopped
            == f"the budget of 200 runs is spent, {2 * pairs} of them for the verdict"
        )

    def test_budget_that_leaves_nothing_to_search_with_is_refused(self):
        with pytest.raises(BadInput, match="leaves none to search with"):
            tuned(100, verdict_in_budget=True)

    def test_without_a_test_set_nothing_is_kept(self):
        assert tuned(60, verdict_in_budget=True, test_instances=None).asked == 60

    def test_time_is_kept_by_the_runs_of_who_would_meet(self):
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
        later = VerdictTime(history, 10)
        assert later.seconds(first, second) == 0.0
        for config, seconds in ((first, 1.0), (first, 3.0), (second, 0.5)):
            task = Task(config, Instance("i"), len(history.runs))
            history.add(Run(task, Status.OK, seconds, 1.0))
        assert later.seconds(first, second) == 25.0
        assert later.seconds(third) == 0.0


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
        assert f"mean on {met.runs} common runs: the best" in repr(result)

    def test_steps_stand_beside_the_incumbent_before_on_the_same_runs(self):
        result = tuned(80, test_instances=None)
        made = steps(result.history, result.trajectory)
        assert (made[0].cost, made[0].before, made[0].common) == (None, None, 0)
        for before, step in pairwise(made):
            met = common_costs(result.history, before.config, step.config)
            assert (step.before, step.cost, step.common) == (met.first, met.second, met.runs)
