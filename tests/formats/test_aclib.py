"""Scenario files of AClib, SMAC and ParamILS run as they are.

The names are those of SMAC 2.10 (AlgorithmExecutionOptions, ScenarioOptions,
TerminationCriteriaOptions), SMAC3 0.12 (cmd_reader.py) and ParamILS 2.3 (its manual).
"""

import json
import math
import os
import re
import sys

import pytest

from paramhs.core.costs import Quality, Runtime
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Status, Task
from paramhs.execution.driver import Budget
from paramhs.execution.supervisor.pool import Supervised
from paramhs.formats.scenario import read_scenario
from tests.support.aclib_tree import SCENARIO, aclib
from tests.support.command_line import paramhs


def with_line(key, value, text=SCENARIO):
    """The scenario with one line changed, or added."""
    kept = [line for line in text.splitlines() if line.split(" = ")[0] != key]
    return "\n".join([*kept, f"{key} = {value}"]) + "\n"


def without(*keys):
    lines = SCENARIO.splitlines()
    return "\n".join(line for line in lines if line.split(" = ")[0] not in keys) + "\n"


def renamed(key, alias):
    return re.sub(f"^{key} = ", f"{alias} = ", SCENARIO, flags=re.MULTILINE)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The root of an AClib, which is also where we are."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def read(root):
    return lambda text=SCENARIO: read_scenario(aclib(root, text))


@pytest.fixture
def message(read):
    def found(text):
        with pytest.raises(BadInput) as caught:
            read(text)
        return str(caught.value)

    return found


def made(found, **values):
    """The run of a configuration on the first instance."""
    space, scenario = found.scenario.space, found.scenario
    task = Task(space.config(values), scenario.instances[0], 7, scenario.cutoff)
    target = Supervised(found.target)
    try:
        return target(task)
    finally:
        target.close()


class TestMeaning:
    def test_every_line_has_its_meaning(self, read):
        found = read()
        assert list(found.scenario.space.parameters) == ["k", "mode"]
        assert len(found.scenario.instances) == 8
        assert found.test_set.held_out
        assert len(found.test_set.instances) == 8
        assert found.scenario.cost == Runtime(10)
        assert found.scenario.cutoff == 0.4
        assert found.scenario.deterministic
        assert found.budget == Budget(runs=60, target_time=100)
        assert found.notes == ()

    def test_command_line_is_that_of_paramils(self, read, root):
        found = read()
        task = Task(found.scenario.space.default, found.scenario.instances[0], 7, 0.4)
        words = found.target.words(task)
        wrapper = [sys.executable, "./target_algorithms/toy/wrapper.py"]
        instance = str(root / "instances/toy/data/i0.txt")
        assert list(words) == [
            *wrapper, instance, "0", "0.4", "2147483647", "7", "-k", "50", "-mode", "fast"
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("written", "metric"),
        [("mean", Runtime(1)), ("mean10", Runtime(10)), ("MEAN10", Runtime(10)),
         ("mean1000", Runtime(1000)), ("PAR10", Runtime(10)), ("par2", Runtime(2))],
    )  # fmt: skip
    def test_overall_objective_is_the_penalty(self, read, written, metric):
        assert read(with_line("overall_obj", written)).scenario.cost == metric

    def test_penalty_is_ten_where_nothing_is_said(self, read):
        assert read(without("overall_obj")).scenario.cost == Runtime(10)

    @pytest.mark.parametrize("written", ["quality", "QUALITY", "qual"])
    def test_quality_is_minimised(self, read, written):
        assert read(with_line("run_obj", written)).scenario.cost == Quality()

    @pytest.mark.parametrize(
        ("written", "meant"),
        [("1", True), ("true", True), ("True", True), ("0", False), ("false", False)],
    )
    def test_deterministic_is_a_digit_or_a_word(self, read, written, meant):
        assert read(with_line("deterministic", written)).scenario.deterministic is meant

    @pytest.mark.parametrize(("written", "given"), [("max", "2147483647"), ("5000", "5000")])
    def test_cutoff_length_is_passed_on(self, read, written, given):
        found = read(with_line("cutoff_length", written))
        task = Task(found.scenario.space.default, found.scenario.instances[0], 7, 0.4)
        assert found.target.words(task)[5] == given

    @pytest.mark.parametrize("line", ["# a comment", "", "   ", "#algo = nothing"])
    def test_comments_and_blank_lines_mean_nothing(self, read, line):
        assert read(f"{line}\n" + SCENARIO).budget == Budget(runs=60, target_time=100)

    def test_comment_behind_a_value_is_no_part_of_it(self, read):
        found = read(with_line("cutoff_time", "0.3   # CPU seconds"))
        assert found.scenario.cutoff == 0.3

    @pytest.mark.parametrize("sign", ["=", " = ", "   =   ", ": ", "  "])
    def test_any_sign_between_key_and_value_will_do(self, read, sign):
        assert read(SCENARIO.replace(" = ", sign)).scenario.cutoff == 0.4

    def test_windows_line_ends_and_a_byte_order_mark_are_read(self, root):
        path = aclib(root)
        path.write_bytes(b"\xef\xbb\xbf" + SCENARIO.replace("\n", "\r\n").encode())
        assert read_scenario(path).scenario.cutoff == 0.4

    def test_settings_that_mean_nothing_here_are_named_with_their_lines(self, read):
        (note,) = read("feature_file = features.csv\n" + SCENARIO).notes
        assert "feature_file (line 1)" in note

    def test_booleans_are_written_in_the_words_of_the_pcs_file(self, root):
        path = aclib(root)
        (root / "target_algorithms/toy/params.pcs").write_text(
            "k integer [0, 60] [50]\nlazy categorical {true, false} [true]\n"
        )
        found = read_scenario(path)
        words = found.target.words(
            Task(found.scenario.space.default, found.scenario.instances[0], 1)
        )
        assert words[-2:] == ("-lazy", "true")


ALIASES = [
    *[("algo", name) for name in ("algo-exec", "algoExec", "--algo")],
    *[("execdir", name) for name in ("algo-exec-dir", "exec-dir", "execDir", "--execdir")],
    *[("deterministic", name) for name in ("algo-deterministic",)],
    *[("run_obj", name) for name in ("run-obj", "runObj")],
    *[
        ("overall_obj", name)
        for name in ("overall-obj", "overallObj", "intra-obj", "intra_instance_obj")
    ],
    *[
        ("cutoff_time", name)
        for name in (
            *("cutoff-time", "cutoffTime", "cutoff", "algo-cutoff-time"),
            *("target_run_cputime_limit", "target-run-cputime-limit"),
        )
    ],
    *[("cutoff_length", name) for name in ("cutoffLength", "algo-cutoff-length")],
    *[
        ("tunerTimeout", name)
        for name in (
            *("tuner-timeout", "tuner_timeout", "cputime-limit", "cputime_limit"),
            *("tunertime-limit", "algo_runs_timelimit"),
        )
    ],
    *[
        ("runcount_limit", name)
        for name in (
            *("runcount-limit", "totalNumRunsLimit", "numRunsLimit", "numberOfRunsLimit"),
            *("ta_run_limit", "maxEvals"),
        )
    ],
    *[
        ("paramfile", name)
        for name in ("paramFile", "param-file", "param_file", "pcs-file", "pcs_fn")
    ],
    *[
        ("instance_file", name)
        for name in ("instanceFile", "instance-file", "instances", "i", "train_inst_fn")
    ],
    *[
        ("test_instance_file", name)
        for name in ("testInstanceFile", "test-instance-file", "test-instances", "test_inst_fn")
    ],
]


class TestNames:
    @pytest.mark.parametrize(("key", "alias"), ALIASES, ids=[alias for _, alias in ALIASES])
    def test_names_of_smac_and_paramils_mean_the_same(self, read, key, alias):
        found, usual = read(renamed(key, alias)), read()
        assert found.notes == ()
        assert found.scenario.describe() == usual.scenario.describe()
        assert found.target.words(
            Task(found.scenario.space.default, found.scenario.instances[0], 7, 0.4)
        ) == usual.target.words(
            Task(usual.scenario.space.default, usual.scenario.instances[0], 7, 0.4)
        )
        assert (found.budget, found.test_set) == (usual.budget, usual.test_set)

    @pytest.mark.parametrize(
        "name", ["wallclock_limit", "wallclock-limit", "wallClockLimit", "runtime-limit"]
    )
    def test_wall_clock_limits_are_part_of_the_budget(self, read, name):
        assert read(f"{name} = 90\n" + SCENARIO).budget.wall_time == 90

    @pytest.mark.parametrize("name", ["memory_limit", "memory-limit"])
    def test_memory_limit_of_smac_is_kept_in_megabytes(self, read, name):
        assert read(f"{name} = 512\n" + SCENARIO).target.memory == pytest.approx(512e6, rel=0.05)

    @pytest.mark.parametrize("limit", ["max", "inf", "Infinity", "2147483647"])
    @pytest.mark.parametrize("key", ["runcount_limit", "tunerTimeout", "wallclock_limit"])
    def test_limits_without_end_are_read(self, read, key, limit):
        budget = read(with_line(key, limit)).budget
        limits = [n for n in vars(budget).values() if n is not None]
        assert len(limits) in (1, 2, 3)
        assert all(map(math.isfinite, limits))


class TestPlaces:
    """AClib's paths are relative to its root, which is where configurators are started."""

    def test_scenario_is_found_from_the_root(self, read):
        run = made(read(), k=10)
        assert run.status is Status.OK
        assert run.runtime == pytest.approx(0.03)

    def test_command_runs_in_the_root_if_execdir_is_a_dot(self, read, root):
        assert os.path.samefile(read().target.folder, root)

    @pytest.mark.parametrize("elsewhere", [".", "scenarios", "scenarios/toy/near_ten"])
    def test_scenario_runs_from_any_folder_of_the_tree(self, root, monkeypatch, elsewhere):
        path = aclib(root)
        monkeypatch.chdir(root / elsewhere)
        assert made(read_scenario(path), k=10).status is Status.OK

    def test_execdir_is_where_the_wrapper_runs(self, read, root):
        text = with_line("execdir", "./target_algorithms/toy")
        found = read(text.replace("./target_algorithms/toy/wrapper.py", "wrapper.py"))
        assert os.path.samefile(found.target.folder, root / "target_algorithms/toy")
        assert made(found, k=10).status is Status.OK

    def test_all_paths_beside_the_scenario_work_from_anywhere(self, root, monkeypatch):
        path = aclib(root)
        text = SCENARIO.replace("./target_algorithms/toy/", "").replace("./instances/toy/", "")
        folder = path.parent
        folder.joinpath("scenario.txt").write_text(text)
        for name in ("target_algorithms/toy/wrapper.py", "target_algorithms/toy/params.pcs"):
            (root / name).rename(folder / (root / name).name)
        for name in ("training.txt", "test.txt"):
            (root / "instances/toy" / name).rename(folder / name)
        monkeypatch.chdir("/")
        assert made(read_scenario(path), k=10).status is Status.OK

    def test_store_is_made_in_the_outdir(self, root):
        aclib(root, SCENARIO + "outdir = out/toy\n")
        done = paramhs("tune", "scenarios/toy/near_ten/scenario.txt", "--runs", 6, cwd=root)
        assert done.returncode == 0, done.stderr
        made = {path.name for path in (root / "out/toy").iterdir()}
        assert made == {"scenario.sqlite", "scenario.html"}


class TestInstances:
    def lines(self, root, *lines, text=SCENARIO):
        path = aclib(root, text)
        (root / "instances/toy/training.txt").write_text("\n".join(lines) + "\n")
        return read_scenario(path)

    def test_extra_columns_are_given_to_the_wrapper(self, root):
        found = self.lines(root, "./instances/toy/data/i0.txt sat 17", "instances/toy/data/i1.txt")
        first, second = found.scenario.instances
        assert (first.value.info, second.value.info) == ("sat 17", "0")
        words = found.target.words(Task(found.scenario.space.default, first, 1, 0.4))
        assert words[2:5] == (str(root / "instances/toy/data/i0.txt"), "sat 17", "0.4")

    def test_column_that_says_unsat_is_the_expected_answer(self, root):
        found = self.lines(root, "instances/toy/data/i0.txt UNSATISFIABLE")
        run = made(found, k=10)
        assert run.status is Status.WRONG
        assert "is unsat" in run.detail

    def test_seeds_before_the_names_are_no_names(self, root):
        # ParamILS's manual: a line of an instance_seed_file is a seed, then an instance.
        lines = ("11 ./instances/toy/data/i0.txt", "12 ./instances/toy/data/i1.txt")
        found = self.lines(root, *lines, text=renamed("instance_file", "instance_seed_file"))
        names = [os.path.basename(i.name) for i in found.scenario.instances]
        assert names == ["i0.txt", "i1.txt"]

    def test_scenario_without_instances_is_tuned_without(self, read):
        found = read(without("instance_file", "test_instance_file"))
        assert found.scenario.instances == (NO_INSTANCE,)

    def test_empty_file_of_test_instances_holds_nothing_out(self, root):
        path = aclib(root)
        (root / "instances/toy/test.txt").write_text("")
        assert read_scenario(path).test_set is None

    def test_no_cutoff_is_needed_where_quality_counts(self, read):
        found = read(with_line("cutoff_time", "max", with_line("run_obj", "quality")))
        assert math.isinf(found.scenario.cutoff)
        assert made(found, k=10).status is Status.OK

    def test_seeds_are_no_names_even_where_the_names_are_no_files(self, root):
        lines = ("11 nameA", "12 nameB sat", "-3 name with 17")
        text = renamed("instance_file", "instance_seed_file")
        scenario_file = self.lines(root, *lines, text=text)
        values = [i.value for i in scenario_file.scenario.instances]
        assert [(v.path, v.info) for v in values] == [
            ("nameA", "0"), ("nameB", "sat"), ("name", "with 17")
        ]  # fmt: skip

    @pytest.mark.parametrize("key", ["instance_file", "instance_seed_file"])
    def test_seeds_that_are_not_used_are_noted(self, root, key):
        lines = ("11 ./instances/toy/data/i0.txt", "12 ./instances/toy/data/i1.txt")
        scenario_file = self.lines(root, *lines, text=renamed("instance_file", key))
        (note,) = scenario_file.notes
        assert f"line 11, {key}: the 2 seeds in the file are ignored" in note

    @pytest.mark.parametrize("line", ["./instances/toy/data/i0.txt", "11", "x y"])
    def test_line_without_a_seed_where_one_must_be_is_refused(self, root, line):
        text = renamed("instance_file", "instance_seed_file")
        with pytest.raises(BadInput, match=r"training\.txt, line 2: expected a seed and an inst"):
            self.lines(root, "1 a", line, text=text)

    @pytest.mark.parametrize("objective", ["runtime", "quality"])
    def test_objective_over_instances_is_a_mean(self, read, objective):
        with pytest.raises(BadInput, match="overall_obj: 'median' is not supported"):
            read(with_line("overall_obj", "median", with_line("run_obj", objective)))


class TestCommands:
    def test_quoted_words_of_the_call_stay_words(self, read, root):
        found = read(with_line("algo", f'{sys.executable} "./target_algorithms/toy/wrapper.py"'))
        assert found.target.template.words[:2] == [
            sys.executable, "./target_algorithms/toy/wrapper.py"
        ]  # fmt: skip

    def test_braces_in_the_call_are_just_braces(self, read):
        found = read(with_line("algo", sys.executable + " wrapper.py --options={a}"))
        task = Task(found.scenario.space.default, found.scenario.instances[0], 7, 0.4)
        assert "--options={a}" in found.target.words(task)

    def test_call_of_aclib_2_has_options_and_a_json_line(self, root):
        path = aclib(root, SCENARIO + "tae = aclib\n")
        (root / "target_algorithms/toy/wrapper.py").write_text(ACLIB_2)
        scenario_file = read_scenario(path)
        run = made(scenario_file, k=10)
        assert (run.status, run.runtime, run.quality) == (Status.OK, 0.03, 3.0)
        assert made(scenario_file, k=60).status is Status.TIMEOUT


ACLIB_2 = """\
import argparse, json

parser = argparse.ArgumentParser()
for name in ("--instance", "--cutoff", "--seed"):
    parser.add_argument(name, required=True)
parser.add_argument("--config", nargs=argparse.REMAINDER)
given = parser.parse_args()
config = dict(zip(given.config[::2], given.config[1::2]))
seconds = 0.01 + abs(int(config["-k"]) - int(open(given.instance).read())) / 100
status = "SUCCESS" if seconds < float(given.cutoff) else "TIMEOUT"
print("Result of this algorithm run:", json.dumps(
    {"status": status, "cost": seconds * 100, "runtime": seconds, "misc": ""}))
"""


class TestMistakes:
    @pytest.mark.parametrize(
        ("key", "value", "instead"),
        [
            ("run_obj", "runlength", "print it as the quality"),
            ("overall_obj", "geomean", "the logarithm of the cost"),
            ("overall_obj", "median", "compared by their means"),
            ("overall_obj", "q90", "mean10"),
        ],
    )
    def test_what_is_not_offered_says_what_to_use_instead(self, message, key, value, instead):
        found = message(with_line(key, value))
        assert f"{key}: {value!r} is not supported" in found
        assert instead in found

    @pytest.mark.parametrize("key", ["algo", "paramfile"])
    def test_what_is_missing_is_named(self, message, key):
        found = message(without(key))
        assert key in found
        assert "missing" in found

    @pytest.mark.parametrize("key", ["algo", "paramfile"])
    def test_what_is_empty_is_missing(self, message, key):
        found = message(with_line(key, ""))
        assert key in found
        assert "missing" in found

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("cutoff_time", "soon"),
            ("cutoff_time", "-5"),
            ("tunerTimeout", "-5"),
            ("runcount_limit", "many"),
            ("runcount_limit", "nan"),
            ("runcount_limit", "1e999"),
            ("run_obj", "beauty"),
            ("overall_obj", "q90"),
            ("deterministic", "perhaps"),
            ("execdir", "no/such/folder"),
            ("paramfile", "no/such/file.pcs"),
            ("instance_file", "no/such/list.txt"),
            ("test_instance_file", "no/such/list.txt"),
            ("algo", "no-such-program-at-all"),
        ],
    )
    def test_bad_value_is_refused_with_file_and_line(self, message, root, key, value):
        found = message(with_line(key, value))
        lines = with_line(key, value).splitlines()
        assert f"scenario.txt, line {len(lines)}" in found

    def test_several_mistakes_are_reported_at_once(self, message):
        found = message(
            with_line("cutoff_time", "soon", with_line("execdir", "nowhere", with_line(
                "run_obj", "beauty"
            )))
        )  # fmt: skip
        assert all(word in found for word in ("soon", "nowhere", "beauty"))

    @pytest.mark.parametrize(
        ("key", "value"), [("cutoff_time", "soon"), ("run_obj", "beauty"), ("tunerTimeout", "-5")]
    )
    def test_what_follows_from_a_mistake_is_no_other(self, message, key, value):
        assert len(message(with_line(key, value)).splitlines()) == 1

    def test_line_that_is_no_setting_is_refused_with_its_number(self, message):
        assert "line 1: expected key = value, found 'nonsense'" in message("nonsense\n" + SCENARIO)

    def test_runtime_without_cutoff_is_refused(self, message):
        assert "cutoff" in message(without("cutoff_time"))


class TestRunning:
    def test_other_instances_are_looked_for_where_those_of_the_search_are(self, root):
        aclib(root)
        words = ("-c", "default", "-c", "k=10", "--on", "../../../instances/toy/training.txt")
        folder = root / "scenarios/toy/near_ten"
        done = paramhs("validate", "scenario.txt", *words, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        (verdict,) = json.loads(done.stdout)["verdicts"]
        assert verdict["on"] == "8 instances of the search, with new seeds"
        assert (verdict["second"]["solved"], verdict["second"]["failed"]) == (8, 0)

    def test_tune_finds_the_best_and_proves_it_on_the_test_instances(self, root):
        aclib(root)
        done = paramhs("tune", "scenarios/toy/near_ten/scenario.txt", "--json", cwd=root)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["best"]["k"] < 30
        verdict = result["verdict"]
        assert verdict["conclusion"] == "better"
        assert (verdict["instances"], verdict["wins"]) == (8, 8)
        assert verdict["on"] == "8 held-out instances"
        # The default is k = 50: 0.39 s to 0.43 s by its own word, of 0.4 s that it may take.
        assert verdict["first"]["solved"] < 8
        assert verdict["second"]["solved"] == 8
