"""Configurations meet on instances, with seeds that no search has used."""

import json
import math
import signal
import sqlite3
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paramhs
from paramhs import Budget, Space, tune
from paramhs.core.costs import Quality, Runtime
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Instance
from paramhs.core.scenario import Scenario
from paramhs.core.test_set import TestSet
from paramhs.execution.driver import Watcher
from paramhs.execution.settings import Running
from paramhs.execution.targets import FunctionTarget
from paramhs.procedures.interim_looks import interim_looks
from paramhs.procedures.validate import read_verdict_of, validate
from paramhs.search.history import History

pytestmark = pytest.mark.forks

SPACE = Space({"x": range(20)})
INSTANCES = tuple(Instance(f"i{k}", k) for k in range(12))
HELD_OUT = tuple(Instance(f"t{k}", k) for k in range(8))
DRAWN = TestSet(HELD_OUT, True)
PAIRS = 56  # USUAL_PAIRS, rounded up to as many on each of them


def noisy(config, instance, seed):
    return (config["x"] - 15) ** 2 + Random(f"{instance} {seed}").random()


def plain(config, instance):
    return (config["x"] - 15) ** 2 + instance


def at(*values):
    return [SPACE.config({"x": value}) for value in values]


def made(function=noisy, configs=(4, 15), test_set=DRAWN, store=None, until_clear=False, **options):
    target = FunctionTarget(function)
    scenario = Scenario(SPACE, INSTANCES, deterministic=not target.uses_seed)
    running = Running(**options)
    return validate(
        scenario,
        target,
        at(*configs),
        test_set,
        store=store,
        running=running,
        until_clear=until_clear,
    )


def stored(path, record="verdict"):
    with sqlite3.connect(path) as db:
        query = "SELECT instance, seed, config FROM readable WHERE record = ?"
        return db.execute(query, (record,)).fetchall()


class TestPairs:
    @given(st.integers(0, 10**9), st.integers(1, 30), st.integers(1, 300))
    def test_seeds_are_disjoint_from_those_of_the_search(self, seed, count, runs):
        instances = tuple(Instance(str(k)) for k in range(count))
        history = History(Scenario(SPACE, instances), seed)
        searched = {history.pair(k).seed for k in range(500)}
        met = TestSet(instances, False, runs).pairs(False, seed)
        assert len({number for _, number in met}) == len(met) >= runs
        assert len(met) == runs or len(met) % count == 0
        assert len(met) < runs + count
        assert not searched & {number for _, number in met}

    def test_a_random_target_is_compared_on_fifty_pairs_or_all_instances(self):
        assert len(TestSet(HELD_OUT, True).pairs(False, 0)) == PAIRS
        many = tuple(Instance(str(k)) for k in range(70))
        pairs = TestSet(many, True).pairs(False, 0)
        assert {instance for instance, _ in pairs} == set(many)
        assert len(pairs) == 70

    @pytest.mark.parametrize("runs", [None, 3, 8, 100])
    def test_a_deterministic_target_is_compared_once_per_instance(self, runs):
        pairs = TestSet(HELD_OUT, True, runs).pairs(True, 0)
        assert len(pairs) == min(runs or 8, 8)
        assert len({instance for instance, _ in pairs}) == len(pairs)

    def test_every_instance_comes_equally_often(self):
        pairs = TestSet(HELD_OUT, True, 24).pairs(False, 3)
        assert sorted(i.name for i, _ in pairs) == sorted(3 * [i.name for i in HELD_OUT])

    def test_text_says_what_is_new(self):
        assert TestSet(HELD_OUT, True).text == "8 held-out instances"
        assert TestSet(HELD_OUT[:1], True).text == "1 held-out instance"
        assert TestSet(INSTANCES, False).text == "12 instances of the search, with new seeds"
        assert TestSet((NO_INSTANCE,), False).text == "new seeds"


class TestValidate:
    def test_better_configuration_is_found_better(self):
        (verdict,) = made()
        assert (verdict.conclusion, verdict.wins) == ("better", 8)
        assert verdict.first.config["x"] == 4
        assert verdict.first.runs == verdict.second.runs == PAIRS
        assert verdict.on == "8 held-out instances"

    def test_runs_are_paired(self):
        (verdict,) = made(configs=(14, 16))  # the same cost at every instance and seed
        assert (verdict.ties, verdict.p_value) == (8, 1.0)

    def test_first_is_compared_with_each_of_the_others(self):
        verdicts = made(configs=(10, 15, 4))
        assert [v.conclusion for v in verdicts] == ["better", "worse"]
        assert {v.first.config["x"] for v in verdicts} == {10}

    def test_one_configuration_has_no_verdict(self):
        with pytest.raises(BadInput, match="two different configurations"):
            made(configs=(4, 4))

    def test_number_of_jobs_changes_nothing(self):
        alone = made(test_set=TestSet(HELD_OUT, True, 10))
        together = made(test_set=TestSet(HELD_OUT, True, 10), jobs=2)
        assert alone == together

    @pytest.mark.parametrize("jobs", [0, -1, 100_000])
    def test_impossible_number_of_jobs_is_refused(self, jobs):
        with pytest.raises(BadInput, match="jobs must be at"):
            made(jobs=jobs, executor="inline")

    def test_the_same_verdict_again_makes_no_new_run(self, tmp_path):
        store = tmp_path / "verdict.sqlite"
        first = made(store=store)
        before = stored(store)
        assert len(before) == 2 * PAIRS
        assert made(store=store) == first
        assert stored(store) == before

    def test_further_configurations_reuse_the_runs_of_the_first(self, tmp_path):
        store = tmp_path / "verdict.sqlite"
        test_set = TestSet(HELD_OUT, True, 8)
        made(store=store, test_set=test_set)
        made(store=store, test_set=test_set, configs=(4, 7))
        assert len(stored(store)) == 3 * 8

    def test_an_interrupted_validation_has_no_verdict_and_resumes(self, tmp_path):
        store = tmp_path / "verdict.sqlite"
        whole = made()

        class Impatient(Watcher):
            def ran(self, record, progress):
                if progress.new_runs == 7:
                    signal.raise_signal(signal.SIGINT)

        assert made(store=store, watcher=Impatient()) is None
        assert 7 <= len(stored(store)) < 100
        assert made(store=store) == whole
        assert len(stored(store)) == 2 * PAIRS


class TestTuning:
    """The verdict at the end of `tune`."""

    def tuned(self, function=noisy, **options):
        given = {"instances": {f"i{k}": k for k in range(6)}, "budget": 150, "seed": 1}
        return tune(function, SPACE, **{**given, **options})

    def test_no_test_instances_no_verdict(self):
        verdict = self.tuned().verdict
        assert (bool(verdict), verdict.conclusion) == (False, "none")
        assert "no test instances" in str(verdict)

    def test_best_and_default_meet_on_the_test_instances(self):
        result = self.tuned(test_instances={f"t{k}": k for k in range(8)})
        assert result.verdict.first.config == result.default
        assert result.verdict.second.config == result.best
        assert result.verdict.conclusion == "better"
        assert result.verdict.on == "8 held-out instances"
        assert json.loads(json.dumps(result.to_json()))["verdict"]["conclusion"] == "better"

    def test_the_verdict_uses_none_of_the_budget(self):
        with_verdict = self.tuned(test_instances=["t0"])
        assert with_verdict.asked == self.tuned().asked
        points = [point._replace(target_time=0) for point in with_verdict.trajectory]
        assert points == [point._replace(target_time=0) for point in self.tuned().trajectory]

    def test_default_that_is_best_is_kept_without_a_verdict(self):
        space = Space({"x": range(31)})  # its middle is 15
        result = tune(noisy, space, instances=["1"], test_instances=["2"], budget=60, seed=1)
        assert result.best == result.default
        assert (bool(result.verdict), result.verdict.conclusion) == (False, "kept")
        assert str(result.verdict).startswith("Keep the default: the search found nothing better")
        assert result.to_json()["verdict"]["conclusion"] == "kept"

    def test_no_run_of_the_verdict_is_one_of_the_search(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        names = {f"t{k}": k for k in range(8)}
        result = self.tuned(test_instances=names, store=store)
        assert result.verdict.case == "instance"
        searched = {seed for _, seed, _ in stored(store, "search")}
        met = {seed for _, seed, _ in stored(store)}
        assert [path.name for path in tmp_path.iterdir()] == ["runs.sqlite"]
        assert len(met) == result.verdict.first.runs == 32  # of 150 runs at most a quarter a side
        assert not searched & met

    def test_an_instance_cannot_be_searched_on_and_held_out(self):
        with pytest.raises(
            BadInput, match="'i0' is both an instance of the search and a test instance"
        ):
            self.tuned(test_instances={"i0": 0})

    def test_second_call_repeats_the_verdict_without_a_run(self, tmp_path):
        options = {"test_instances": {"t": 9}, "store": tmp_path / "runs.sqlite"}
        first = self.tuned(**options)

        def broken(config, instance, seed):
            raise AssertionError

        broken.__name__, broken.__qualname__ = noisy.__name__, noisy.__qualname__
        assert self.tuned(broken, accept_changed=True, **options).verdict == first.verdict

    def test_deterministic_function_is_judged_on_the_test_instances_alone(self):
        result = self.tuned(plain, test_instances={f"t{k}": k for k in range(7)}, budget=60)
        assert result.verdict.first.runs == 7

    def test_crashes_of_the_best_elsewhere_make_it_worse(self):
        def brittle(config, instance, seed):
            if instance >= 100 and config["x"] > 12:
                raise RuntimeError
            return noisy(config, instance, seed)

        result = self.tuned(brittle, test_instances={f"t{k}": 100 + k for k in range(8)})
        assert result.best["x"] > 12
        assert result.verdict.conclusion == "worse"
        assert result.verdict.second.failed == result.verdict.second.runs
        assert result.to_json()["verdict"]["second"]["cost"] is None

    @pytest.mark.parametrize("memory", [0, -1, "0 GB", math.nan])
    def test_bad_memory_is_refused(self, memory):
        with pytest.raises(BadInput, match="memory must be a positive number of bytes"):
            self.tuned(memory=memory)

    def test_empty_list_of_test_instances_is_refused(self):
        with pytest.raises(BadInput, match="empty"):
            self.tuned(test_instances=[])

    def test_runtime_is_penalised_in_the_verdict(self):
        def slow(config, instance):
            return 0.0

        result = tune(
            slow, SPACE, instances=[1, 2], test_instances=[3, 4], budget=Budget(runs=12),
            cost=Runtime(), cutoff=5.0, executor="inline",
        )  # fmt: skip
        assert not result.verdict or result.verdict.first.solved == 2

    def test_maximised_quality_is_shown_as_it_is(self):
        def score(config, instance, seed):
            return -noisy(config, instance, seed)

        result = self.tuned(score, cost=Quality(maximise=True), test_instances={"t": 0})
        assert result.verdict.second.cost > result.verdict.first.cost
        assert result.verdict.gain.estimate > 0
        assert result.verdict.conclusion_here == "better"


class TestValidateInPython:
    """`paramhs.validate`, the command in Python."""

    @staticmethod
    def work(config, instance, seed):
        return instance * (1 + config["x"]) + 0.01 * (seed % 7)

    def test_others_are_compared_with_the_first(self):
        verdicts = paramhs.validate(
            self.work, {"x": range(4)}, [{"x": 2}, {"x": 0}, {"x": 3}], instances=range(1, 13)
        )
        assert [v.conclusion for v in verdicts] == ["better", "worse"]
        assert [v.second.config["x"] for v in verdicts] == [0, 3]
        assert {v.first.config["x"] for v in verdicts} == {2}
        assert verdicts[0].ratio.low > 1 > verdicts[1].ratio.high
        assert "Corrected for 2 comparisons on the same runs" in str(verdicts[0])
        assert verdicts[0].on == "12 instances"
        assert verdicts[0].names == ("baseline", "configuration 2")

    def test_p_values_are_corrected_for_the_number_of_others(self):
        def verdict(*others):
            configs = [{"x": 2}, {"x": 1}, *others]
            return paramhs.validate(self.work, {"x": range(6)}, configs, instances=range(1, 13))[0]

        alone, beside = verdict(), verdict({"x": 4}, {"x": 5})
        assert (alone.comparisons, beside.comparisons) == (1, 3)
        assert beside.p_value == pytest.approx(3 * alone.p_value)
        assert beside.ratio.low < alone.ratio.low

    def test_seed_and_runs_are_those_asked_for(self):
        def made(seed):
            configs = [{"x": 2}, {"x": 0}]
            how = {"instances": [1, 2], "runs": 5, "seed": seed}
            (verdict,) = paramhs.validate(self.work, {"x": range(4)}, configs, **how)
            return [run.task.seed for run, _ in verdict.paired_runs]

        assert len(made(0)) == 6
        assert made(0) == made(0) != made(1)

    def test_runs_are_kept_in_the_store(self, tmp_path):
        def made():
            configs, store = [{"x": 2}, {"x": 0}], tmp_path / "v.sqlite"
            how = {"instances": range(1, 9), "runs": 8, "store": store}
            (verdict,) = paramhs.validate(self.work, {"x": range(4)}, configs, **how)
            with sqlite3.connect(store) as db:
                return verdict.to_json(), db.execute("SELECT count(*) FROM runs").fetchone()

        first = made()
        assert first[1] == (16,)
        assert made() == first

    @pytest.mark.parametrize(
        ("configs", "message"),
        [
            ([{"x": 1}], "two different"),
            ([{"x": 1}, {"x": 1}], "listed twice"),
            ([{"x": 1}, {"y": 1}], r"configurations\[1\]"),
            ({"x": 1}, "must be a list"),
        ],
    )
    def test_bad_configurations_are_refused(self, configs, message):
        with pytest.raises(BadInput, match=message):
            paramhs.validate(self.work, {"x": range(4)}, configs, instances=[1])

    def test_nothing_to_compare_on_is_refused(self):
        with pytest.raises(BadInput, match="nothing to be compared on"):
            paramhs.validate(lambda config: config["x"], {"x": range(4)}, [{"x": 1}, {"x": 2}])

    def test_seeds_are_repetitions_and_no_instances(self):
        # Two configurations that are equal on average over the instances, yet not on these five.
        def noisy(config, instance, seed):
            better = (instance + config["x"]) % 2
            return 10 + 3 * better + 0.1 * (seed % 10)

        (verdict,) = paramhs.validate(
            noisy, {"x": range(2)}, [{"x": 0}, {"x": 1}], instances=range(5), runs=100
        )
        assert verdict.about_these_only
        assert verdict.conclusion == "unclear"
        assert "On these 5 instances" in verdict.recommendation
        assert "proves nothing about other instances" in verdict.recommendation


class TestUntilClear:
    """Comparisons that end as soon as they are clear."""

    MANY = TestSet(tuple(Instance(f"m{k:03}", k) for k in range(100)), True)

    def test_looks_double_from_twelve_instances_on(self):
        pairs = self.MANY.pairs(False, 0)
        looks = interim_looks(pairs, 3)
        assert [len({pair.instance.name for pair in look}) for look in looks] == [
            12,
            24,
            48,
            96,
            100,
        ]
        assert sorted(looks[-1]) == sorted(pairs)
        assert all(set(fewer) < set(more) for fewer, more in pairwise(looks))
        assert interim_looks(pairs, 4)[0] != looks[0]

    def test_few_instances_are_looked_at_once(self):
        pairs = DRAWN.pairs(False, 0)
        assert list(map(sorted, interim_looks(pairs, 0))) == [sorted(pairs)]

    def test_a_clear_answer_ends_it(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        [found] = made(plain, (4, 15), self.MANY, store, until_clear=True)
        assert (found.conclusion, found.instances, found.looks) == ("better", 12, 5)
        assert found.on == "12 of 100 held-out instances"
        assert len(stored(store)) == 24
        assert "the answer was clear after 12 instances" in str(found)

    def test_a_worse_one_ends_it_too(self):
        assert made(plain, (15, 4), self.MANY, until_clear=True)[0].instances == 12

    def test_a_difference_that_does_not_matter_ends_it(self):
        def same(config, instance, seed):
            return 1000 + instance + config["x"] / 1000 + Random(f"{instance} {seed}").random()

        [found] = made(same, (4, 15), self.MANY, until_clear=True)
        assert found.early == "after 12 instances any difference is below 2 %"

    def test_what_stays_unclear_is_run_to_the_end(self):
        [found] = made(unlike, (4, 15), self.MANY, until_clear=True)
        assert (found.conclusion, found.instances, found.early) == ("unclear", 100, "")
        assert found.confidence == pytest.approx(1 - 0.05 / 5)

    def test_all_comparisons_must_be_clear(self):
        verdicts = made(unlike, (4, 15, 0), self.MANY, until_clear=True)
        assert [found.instances for found in verdicts] == [100, 100]

    @pytest.mark.parametrize("jobs", [1, 3])
    def test_it_is_read_again_as_it_was_made(self, tmp_path, jobs):
        store = tmp_path / "runs.sqlite"
        [found] = made(plain, (4, 15), self.MANY, store, until_clear=True, jobs=jobs)
        scenario = Scenario(SPACE, INSTANCES, deterministic=True)
        again = read_verdict_of(store, scenario, *at(4, 15))
        assert (again.ratio, again.looks, again.early) == (found.ratio, 5, found.early)

    def test_an_interval_is_wider_than_without_looks(self):
        once, often = (made(unlike, (4, 15), self.MANY, until_clear=u)[0] for u in (False, True))
        assert often.ratio.low < once.ratio.low < once.ratio.high < often.ratio.high
        assert often.saving == once.saving


def unlike(config, instance, seed):
    """Costs of which none is lower on average."""
    return 0.01 + Random(f"{config['x']} {instance} {seed}").random()
