"""A look at a scenario before hours are spent on it."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from paramhs import Budget
from paramhs.api.tune import tune_scenario
from paramhs.cli.check import about, size_text
from paramhs.cli.render_verdict import why_none
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.space import Integer, Real, Space
from paramhs.execution.supervisor import Outcome
from paramhs.formats.scenario import read_scenario
from paramhs.procedures import check as checking
from paramhs.procedures.check import Trial, afterwards, repeats, trials, warnings
from paramhs.search import FixedRuns, ParamRLS
from paramhs.search.history import History

SOLVER = """\
import sys, time

k, seed, instance = sys.argv[1:]
print("hello from", instance)
print("trouble", file=sys.stderr)
if instance.endswith("slow"):
    time.sleep(30)
if instance.endswith("bad"):
    sys.exit(3)
print("cost:", int(k) + 1)
"""

SCENARIO = """\
command = ["PYTHON", "solver.py", "{k}", "{seed}", "{instance}"]
cost = "minimise"
read = {regex = "cost: (.*)"}
instances = ["a", "b", "c", "d", "e", "f"]
test_instances = ["x", "y", "z"]

[space.k]
type = "integer"
low = 0
high = 9

[budget]
runs = 50
"""


@pytest.fixture
def read(tmp_path):
    def of(text=SCENARIO, **changes):
        (tmp_path / "solver.py").write_text(SOLVER)
        for key, value in changes.items():
            lines = [line for line in text.splitlines() if not line.startswith(f"{key} =")]
            text = "\n".join([f"{key} = {value}", *lines])
        path = tmp_path / "scenario.toml"
        path.write_text(text.replace("PYTHON", sys.executable))
        return read_scenario(path)

    return of


@pytest.fixture
def cores(monkeypatch):
    def of(count):
        monkeypatch.setattr(checking.psutil, "cpu_count", lambda logical: count)

    of(64)
    return of


def trial(status=Status.OK, runtime=1.0, left=0):
    run = Run(Task(None, Instance("a"), 0), status, runtime, answer="sat")
    return Trial("call", run, Outcome(left_behind=left))


def timed(read, **changes):
    return read(cost='"runtime"', cutoff="10", read='"time"', **changes)


class TestTrials:
    def test_default_is_run_and_all_that_came_back_is_kept(self, read):
        made = list(trials(read(), 2))
        assert len(made) == 2
        for trial in made:
            assert trial.call.startswith(f"{sys.executable} solver.py 4 ")
            assert trial.call.endswith(trial.run.task.instance.name)
            assert (trial.run.status, trial.run.quality) == (Status.OK, 5.0)
            assert trial.outcome.code == 0
            assert b"hello from" in trial.outcome.output
            assert trial.outcome.errors == b"trouble\n"
            assert trial.outcome.wall > 0

    def test_runs_are_the_first_that_a_search_would_make(self, read):
        found = read()
        (first,) = trials(found, 1)
        evaluate = next(found.configurator.search(History(found.scenario, found.seed)))
        assert first.run.task == evaluate.tasks[0]

    def test_failure_is_shown_as_it_is(self, read):
        (trial,) = trials(read(instances='["bad"]'), 1)
        assert trial.run.status is Status.CRASHED
        assert trial.outcome.code == 3
        assert "exit code 3" in trial.run.detail

    def test_cutoff_holds(self, read):
        (trial,) = trials(read(instances='["slow"]', cutoff="0.2", clock='"wall"', grace="0"), 1)
        assert trial.run.status is Status.TIMEOUT
        assert trial.outcome.wall < 5

    def test_deterministic_target_is_run_once_an_instance(self, read):
        assert len(list(trials(read(instances='["a"]', deterministic="true"), 3))) == 1

    def test_no_trials_are_made_if_none_are_wanted(self, read):
        assert list(trials(read(), 0)) == []


class TestWarningsAboutRuns:
    def test_nothing_solved(self, read, cores):
        (warning, *_) = warnings(timed(read), [trial(Status.TIMEOUT, 10.0)] * 3)
        assert "solves none of 3 instances" in warning

    def test_little_solved(self, read, cores):
        runs = [trial(), trial(Status.TIMEOUT), trial(Status.CRASHED)]
        assert "the default solves only 1 of 3 instances" in list(warnings(timed(read), runs))

    def test_everything_solved_far_below_the_cutoff(self, read, cores):
        (warning, *_) = warnings(timed(read), [trial(runtime=0.1)] * 3)
        assert "all instances far below the cutoff (at most 0.1 s of 10 s)" in warning

    def test_easy_runs_are_no_problem_where_quality_counts(self, read, cores):
        found = read(cutoff="10")
        assert not any("cutoff" in w for w in warnings(found, [trial(runtime=0.1)] * 3))

    def test_runs_of_a_sensible_length_give_no_warning(self, read, cores):
        assert list(warnings(timed(read), [trial(runtime=2.0)] * 3)) == []

    def test_processes_left_behind(self, read, cores):
        found = list(warnings(read(), [trial(left=2), trial(left=1)]))
        assert found == ["the program left 3 processes behind, which were killed"]

    def test_more_jobs_than_physical_cores(self, read, cores):
        cores(2)
        assert list(warnings(read(jobs="2"), [])) == []
        (warning,) = warnings(read(jobs="3"), [])
        assert warning.startswith("3 jobs on 2 physical cores")

    def test_wall_clock_with_several_jobs(self, read, cores):
        assert any("noisy" in w for w in warnings(read(jobs="2", clock='"wall"'), []))

    def test_empty_budget(self, read, cores):
        (warning,) = warnings(read(SCENARIO.replace("runs = 50", "")), [])
        assert "budget is empty" in warning


class TestSeeds:
    """A target that gives the same for every seed should be declared deterministic."""

    def made(self, scenario_file, count=3):
        tried = list(trials(scenario_file, count))
        return [*tried, *repeats(scenario_file, tried)]

    def test_two_instances_are_run_again_with_new_seeds(self, read):
        tried = self.made(read())
        assert len(tried) == 5
        tasks = [trial.run.task for trial in tried]
        assert [task.instance for task in tasks[3:]] == [task.instance for task in tasks[:2]]
        assert len({task.seed for task in tasks}) == 5

    def test_equal_costs_are_noticed_and_what_to_write_is_said(self, read, cores):
        found = read()
        (warning,) = warnings(found, self.made(found))
        assert warning.startswith("another seed gave the same cost in every trial (2 times)")
        assert "deterministic = true" in warning

    def test_costs_that_depend_on_the_seed_are_no_reason_to_warn(self, read, cores, tmp_path):
        found = read()
        (tmp_path / "solver.py").write_text(SOLVER.replace("int(k) + 1", "seed"))
        assert list(warnings(found, self.made(found))) == []

    def test_costs_that_are_all_zero_prove_nothing(self, read, cores, tmp_path):
        found = read()
        (tmp_path / "solver.py").write_text(SOLVER.replace("int(k) + 1", "0"))
        assert list(warnings(found, self.made(found))) == []

    def test_stored_runs_tell_it_too(self, read, cores):
        found = read(instances='["a", "b", "c", "d", "e"]')
        twice = ParamRLS(comparison=FixedRuns(10))
        budget = Budget(runs=11)  # one of them is kept to finish a race
        tune_scenario(found.scenario, found.target, twice, budget=budget, store=found.store)
        (warning,) = warnings(found, [])
        assert "in every trial (5 times)" in warning

    def test_store_that_is_none_is_passed_over(self, read, cores):
        found = read()
        found.store.write_text("no store")
        assert list(warnings(found, [])) == []

    def test_declared_target_is_not_run_again(self, read, cores):
        found = read(deterministic="true", test_instances=f"{[f't{k}' for k in range(6)]}")
        assert len(self.made(found)) == 3
        assert list(warnings(found, self.made(found))) == []

    def test_measured_times_tell_nothing(self, read):
        assert len(self.made(timed(read))) == 3

    def test_no_runs_are_repeated_if_none_are_wanted(self, read):
        assert self.made(read(), 0) == []

    def test_target_without_instances_is_judged_by_its_trials(self, read, cores):
        lines = [line for line in SCENARIO.splitlines() if "instances" not in line]
        found = read("\n".join(lines).replace(', "{instance}"', ', "x"'))
        (warning,) = warnings(found, self.made(found))
        assert warning.startswith("another seed gave the same cost in every trial (1 time)")


class TestWarningsAboutInstances:
    def test_few_held_out_of_a_deterministic_target_prove_nothing(self, read, cores):
        few, enough = '["u", "v", "w", "x", "y"]', '["u", "v", "w", "x", "y", "z"]'
        (warning,) = warnings(read(deterministic="true", test_instances=few), [])
        assert warning.startswith("5 held-out instances of a deterministic target cannot be sig")
        assert list(warnings(read(deterministic="true", test_instances=enough), [])) == []

    def test_missing_files(self, read, cores):
        found = read(instances='["a.cnf", "b/c", "17", "2.5", "name"]', test_instances='["d.cnf"]')
        (warning,) = warnings(found, [])
        assert warning == "3 instances are not files that exist: a.cnf, b/c, d.cnf"

    def test_instances_in_train_and_test(self, read, cores):
        found = read(test_instances='["x", "c", "a"]')
        (note,) = found.notes
        assert note == "2 instances are in both train and test; the verdict excludes them"
        assert [instance.name for instance in found.test_set.instances] == ["x"]

    def test_files_in_train_and_test_that_are_one_file(self, read, cores, tmp_path):
        (tmp_path / "one.cnf").write_text("p cnf 1 1\n1 0\n")
        (tmp_path / "two.cnf").write_text("p cnf 1 1\n-1 0\n")
        (tmp_path / "copy.cnf").write_text("p cnf 1 1\n1 0\n")
        found = read(
            instances='["one.cnf", "b", "c", "d", "e"]', test_instances='["copy.cnf", "two.cnf"]'
        )
        (warning,) = warnings(found, [])
        assert "1 training and test instances have the same content" in warning
        assert "one.cnf and copy.cnf" in warning

    def test_same_file_under_two_names(self, read, cores, tmp_path):
        (tmp_path / "one.cnf").write_text("p cnf 1 1\n1 0\n")
        found = read(instances='["one.cnf", "b", "c", "d", "e"]', test_instances='["./one.cnf"]')
        assert len(list(warnings(found, []))) == 1

    def test_nothing_held_out_and_few_instances(self, read, cores):
        found = list(warnings(read(instances='["a", "b"]', test_instances="0"), []))
        assert len(found) == 2
        assert found[0].startswith("no instances are held out")
        assert found[1].startswith("the search has only 2 instances")

    def test_too_few_instances_of_a_deterministic_target(self, read, cores):
        few = read(instances='["a", "b"]', test_instances="0", deterministic="true")
        (warning, _) = warnings(few, [])
        assert warning.endswith(
            "2 instances are too few: a significant verdict needs 6 held out and 6 to search on,"
            " so only more instances can help"
        )

    def test_target_without_instances_gives_no_warning(self, read, cores):
        lines = [line for line in SCENARIO.splitlines() if "instances" not in line]
        found = read("\n".join(lines).replace(', "{instance}"', ""))
        assert list(warnings(found, [])) == []


class TestWarningsAboutSpaces:
    @pytest.mark.parametrize(
        "parameter",
        [Integer(1, 1000), Integer(0, 1000), Real(0.001, 1.0), Real(1e-6, 0.5), Integer(5, 10**6)],
    )
    def test_ranges_over_decades_without_logarithm_are_named(self, read, cores, parameter):
        assert any(w.startswith("v spans decades") for w in self.found(read, parameter))

    @pytest.mark.parametrize(
        "parameter",
        [
            *(Integer(1, 1000, log=True), Real(0.001, 1.0, log=True), Integer(1, 100)),
            *(Real(0.0, 1.0), Integer(-1000, 1000), Real(0.5, 2.0), Integer(7, 7)),
        ],
    )
    def test_other_ranges_are_not(self, read, cores, parameter):
        assert list(self.found(read, parameter)) == []

    def found(self, read, parameter):
        found = read()
        scenario = SimpleNamespace(
            space=Space({"v": parameter}),
            instances=found.scenario.instances,
            cost=found.scenario.cost,
            cutoff=found.scenario.cutoff,
            deterministic=found.scenario.deterministic,
        )
        changed = SimpleNamespace(**{**vars(found), "scenario": scenario})
        return list(warnings(changed, []))


class TestWords:
    def test_the_scenario_is_described_in_words(self, read):
        lines = about(read(cutoff='"90 s"', memory='"2 GB"'))
        assert lines[0] == "space      1 parameter; 10 configurations"
        assert lines[1] == "instances  6 to search on, 3 held out"
        assert lines[2].startswith("limits     cutoff 90 s of cpu time, memory ")
        assert lines[3].endswith("randomised (receives seeds)")

    @pytest.mark.parametrize(
        ("space", "text"),
        [
            (Space({"a": range(10), "b": range(3)}), "2 parameters; 30 configurations"),
            (
                Space({"a": range(3), "b": range(4)}, conditions={"b": "a == 1"}),
                "2 parameters, 1 conditional; 6 configurations",
            ),
            (
                Space({"a": range(3), "b": range(3)}, forbidden=["a == b and a == 2"]),
                "2 parameters, 1 forbidden clause; 8 configurations",
            ),
            (
                Space({f"p{k}": range(100) for k in range(6)}),
                "6 parameters; 10^12 configurations",
            ),
        ],
    )
    def test_size_counts_what_can_really_be_chosen(self, space, text):
        assert size_text(space) == text


class TestAfterwards:
    """What the verdict will take is said before the search."""

    def trial(self, file, seconds, wall=0.0):
        task = Task(file.scenario.space.default, Instance("a"), 1)
        return Trial("call", Run(task, Status.OK, seconds, 1.0), Outcome(wall=wall))

    def test_it_is_by_the_mean_of_the_trial_runs(self, read):
        file = replace(read(jobs=2), budget=Budget(runs=1_000))
        told = afterwards(file, [self.trial(file, 1.0), self.trial(file, 3.0)])
        # 3 held-out instances of a random target: 51 runs of each side, two at a time.
        assert (told.runs, told.seconds, told.in_budget) == (51, 102.0, False)
        assert (
            told.text
            == "51 runs of each side after the search, about 1.7 min, on top of the budget"
        )

    def test_it_is_the_time_that_passes_and_not_that_of_the_processor(self, read):
        file = replace(read(jobs=2), budget=Budget(runs=1_000))
        told = afterwards(file, [self.trial(file, 1.0, 3.0), self.trial(file, 3.0, 5.0)])
        assert told.seconds == 2 * 51 * 4.0 / 2

    @pytest.mark.parametrize(
        ("budget", "runs"),
        [
            (Budget(runs=60), 15),
            (Budget(runs=4), 6),
            (Budget(target_time=80.0), 18),  # 2 s for a run of both sides, so 20 fit into 40 s
            (Budget(wall_time=80.0), 36),  # 2.2 s pass, by two jobs: 36
        ],
    )
    def test_it_fits_into_half_of_the_budget(self, read, budget, runs):
        file = replace(read(jobs=2), budget=budget)
        assert afterwards(file, [self.trial(file, 1.0, 1.1)]).runs == runs

    @pytest.mark.parametrize(("runs", "longer"), [(11, True), (12, False), (1_000, False)])
    def test_a_verdict_that_is_longer_than_the_search_is_warned_of(self, read, cores, runs, longer):
        file = replace(read(), budget=Budget(runs=runs))
        told = [w for w in warnings(file, [self.trial(file, 1.0)]) if "longer" in w]
        assert bool(told) is longer

    def test_without_a_trial_the_time_is_unknown(self, read):
        told = afterwards(read(verdict="{runs = 6, in_budget = true}"), [])
        assert told.text == "6 runs of each side after the search, part of the budget"

    def test_where_nothing_can_be_compared_there_is_none(self, read):
        assert afterwards(read(deterministic="true", test_instances="0.0"), []) is None

    @pytest.mark.parametrize(("count", "message"), [(6, True), (11, True), (12, False)])
    def test_that_only_more_instances_can_prove_anything_is_said(self, read, count, message):
        names = str([f"i{k}" for k in range(count)]).replace("'", '"')
        file = read(instances=names, test_instances="0.0", deterministic="true")
        (warning,) = [text for text in warnings(file, []) if text.startswith("no instances")]
        assert ("only more instances can" in warning) is message
        assert ("only more instances can" in why_none(file, asked=True)) is message
