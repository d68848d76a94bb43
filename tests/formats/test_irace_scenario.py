"""Scenarios of irace run as they are.

Names and defaults are those of irace 4.1 (`defaultScenario`) and its user guide.
"""

import json
import math
import os
import sys

import pytest

from paramhs.core.costs import Quality, Runtime
from paramhs.core.errors import BadInput
from paramhs.core.runs import Status, Task
from paramhs.execution.driver import Budget
from paramhs.execution.supervisor.pool import Supervised
from paramhs.formats.scenario import read_scenario
from paramhs.formats.scenario.irace import is_irace
from tests.support.command_line import paramhs

RUNNER = f"""\
#!{sys.executable}
import sys

config, number, seed, instance, *rest = sys.argv[1:]
given = dict(zip(rest[::2], rest[1::2]))
with open(instance) as file:
    best = int(file.read())
print("some noise first")
print(abs(int(given["--k"]) - best) + (given["--mode"] == "slow"))
"""

PARAMETERS = """\
k     "--k "     i  (0, 60)
mode  "--mode "  c  (fast, slow)
rate  "--rate "  r  (0.0, 1.0)  | mode == "slow"
"""

SCENARIO = """\
## File that contains the description of the parameters.
parameterFile = "./parameters.txt"
targetRunner = "./target-runner"   # our own
trainInstancesDir = "./Instances"
maxExperiments = 60
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "Instances").mkdir()
    for number in range(6):
        (tmp_path / f"Instances/i{number}.txt").write_text(str(8 + number))
    (tmp_path / "parameters.txt").write_text(PARAMETERS)
    runner = tmp_path / "target-runner"
    runner.write_text(RUNNER)
    runner.chmod(0o755)
    return tmp_path


@pytest.fixture
def read(root):
    def of(*lines, text=SCENARIO):
        path = root / "scenario.txt"
        path.write_text("\n".join([*text.splitlines(), *lines]) + "\n")
        return read_scenario(path)

    return of


@pytest.fixture
def message(read):
    def of(*lines, text=SCENARIO):
        with pytest.raises(BadInput) as caught:
            read(*lines, text=text)
        return str(caught.value)

    return of


def words(scenario_file, cutoff=math.inf, **values):
    scenario = scenario_file.scenario
    task = Task(scenario.space.config(values), scenario.instances[0], 7, cutoff)
    return list(scenario_file.target.words(task))


class TestMeaning:
    def test_minimal_scenario_has_irace_s_defaults(self, read, root):
        scenario_file = read()
        assert list(scenario_file.scenario.space.parameters) == ["k", "mode", "rate"]
        names = [instance.name for instance in scenario_file.scenario.instances]
        assert names == [f"Instances/i{number}.txt" for number in range(6)]
        assert scenario_file.scenario.cost == Quality()
        assert not scenario_file.scenario.deterministic
        assert scenario_file.budget == Budget(runs=60)
        assert (scenario_file.seed, scenario_file.jobs) == (0, 1)
        assert os.path.samefile(scenario_file.target.folder, root)
        assert scenario_file.notes == ()
        assert scenario_file.scenario.initial == ()

    def test_target_runner_is_called_as_irace_does(self, read, root):
        call = words(read(), k=10)
        assert call[0] == str(root / "target-runner")
        assert call[3:] == ["7", str(root / "Instances/i0.txt"), "--k", "10", "--mode", "fast"]
        assert len(call[1:3]) == 2, "the numbers of configuration and instance"

    def test_run_gives_the_number_in_the_last_line(self, read):
        scenario_file = read()
        scenario = scenario_file.scenario
        task = Task(scenario.space.config(k=10), scenario.instances[0], 7, scenario.cutoff)
        target = Supervised(scenario_file.target)
        try:
            run = target(task)
        finally:
            target.close()
        assert (run.status, run.quality) == (Status.OK, 2.0)

    @pytest.mark.parametrize("sign", ["=", "<-", " =  ", " <- "])
    def test_values_are_given_by_either_sign_of_r(self, read, sign):
        assert read(text=SCENARIO.replace(" = ", sign)).budget == Budget(runs=60)

    @pytest.mark.parametrize(
        ("line", "attribute", "value"),
        [("seed = 12", "seed", 12), ("seed = 12L", "seed", 12), ("seed = NA", "seed", 0),
         ("parallel = 4", "jobs", 4), ("parallel = 0", "jobs", 1)],
    )  # fmt: skip
    def test_numbers_have_their_meaning(self, read, line, attribute, value):
        assert getattr(read(line), attribute) == value

    @pytest.mark.parametrize("value", ["1", "TRUE", "T", '"1"'])
    def test_deterministic_target_is_run_once_an_instance(self, read, value):
        assert read(f"deterministic = {value}").scenario.deterministic

    def test_time_limits_the_target_s_time(self, read):
        text = SCENARIO.replace("maxExperiments = 60", "maxTime = 3600")
        scenario_file = read(text=text)
        assert scenario_file.budget == Budget(target_time=3600)
        assert scenario_file.scenario.cost == Quality()

    def test_bound_with_a_time_budget_tunes_for_runtime(self, read):
        text = SCENARIO.replace("maxExperiments = 60", "maxTime = 3600")
        scenario_file = read("boundMax = 5", "boundPar = 10", text=text)
        assert scenario_file.scenario.cost == Runtime(10)
        assert (
            "boundMax: with maxTime, runtimes are minimised, as in irace 4;"
            in scenario_file.notes[0]
        )
        assert scenario_file.scenario.cutoff == 5
        call = words(scenario_file, 5.0, k=10)
        assert call[5:] == ["5", "--k", "10", "--mode", "fast"]

    def test_bound_without_capping_is_passed_on_and_quality_counts(self, read):
        scenario_file = read("boundMax = 5")
        assert scenario_file.scenario.cost == Quality()
        assert words(scenario_file, 5.0)[5] == "5"
        text = SCENARIO.replace("maxExperiments = 60", "maxTime = 3600")
        scenario_file = read("boundMax = 5", "capping = 0", text=text)
        assert scenario_file.scenario.cost == Quality()
        assert scenario_file.notes == ()

    def test_exec_dir_is_where_the_runner_runs(self, read, root):
        (root / "arena").mkdir()
        assert os.path.samefile(read('execDir = "./arena"').target.folder, root / "arena")

    def test_launcher_starts_the_runner(self, read, root):
        launcher = f'targetRunnerLauncher = "{sys.executable}"'
        call = words(read(launcher), k=10)
        assert call[:2] == [sys.executable, str(root / "target-runner")]
        assert call[4:6] == ["7", str(root / "Instances/i0.txt")]
        more = 'targetRunnerLauncherArgs = "-u {targetRunner} {targetRunnerArgs}"'
        assert words(read(launcher, more), k=10) == [call[0], "-u", *call[1:]]

    def test_command_line_may_be_another(self, read, root):
        line = 'targetCmdline = "--seed={seed} {instance} {bound} {targetRunnerArgs}"'
        call = words(read(line), k=10)
        instance = str(root / "Instances/i0.txt")
        assert call[1:] == ["--seed=7", instance, "--k", "10", "--mode", "fast"]

    def test_aclib_mode_calls_as_aclib_2_does(self, read):
        scenario_file = read("aclib = 1", "boundMax = 5")
        assert scenario_file.target.template.words[1:] == [
            *("--instance", "{instance}", "--cutoff", "{cutoff}", "--seed", "{seed}"),
            *("--config", "{params}"),
        ]

    def test_what_has_no_effect_is_named_with_its_line(self, read):
        (note,) = read("firstTest = 5", 'testType = "F-test"', ".mine = 3").notes
        assert note.endswith(
            "ignored by paramhs: firstTest (line 6), testType (line 7), .mine (line 8)"
        )

    def test_names_of_irace_1_are_known(self, read):
        text = SCENARIO.replace("targetRunner", "hookRun").replace("trainI", "i")
        assert len(read(text=text.replace("instancesDir", "instanceDir")).scenario.instances) == 6

    def test_paths_are_relative_to_the_scenario(self, read, root, monkeypatch):
        monkeypatch.chdir("/")
        assert len(read().scenario.instances) == 6


class TestInstances:
    def test_list_names_files_of_the_folder(self, read, root):
        (root / "list.txt").write_text("# mine\ni3.txt  # hard\ni1.txt\n")
        scenario_file = read('trainInstancesFile = "list.txt"')
        paths = [instance.value.path for instance in scenario_file.scenario.instances]
        assert paths == [str(root / "Instances/i3.txt"), str(root / "Instances/i1.txt")]

    def test_folder_of_the_list_comes_before_the_scenario_s_own(self, read, root):
        (root / "i3.txt").write_text("another")
        (root / "list.txt").write_text("i3.txt\n")
        scenario_file = read('trainInstancesFile = "list.txt"')
        (instance,) = scenario_file.scenario.instances
        assert instance.value.path == str(root / "Instances/i3.txt")
        assert instance.name == "Instances/i3.txt"

    def test_list_without_a_folder_may_name_anything(self, read, root):
        (root / "list.txt").write_text("1\n2\n3\n")
        text = SCENARIO.replace('"./Instances"', '""')
        scenario_file = read('trainInstancesFile = "list.txt"', text=text)
        assert [i.value.path for i in scenario_file.scenario.instances] == ["1", "2", "3"]

    def test_usual_folder_is_looked_into_if_none_is_named(self, read):
        text = SCENARIO.replace('trainInstancesDir = "./Instances"\n', "")
        assert len(read(text=text).scenario.instances) == 6

    def test_test_instances_are_the_test_set(self, read, root):
        (root / "test").mkdir()
        (root / "test/t.txt").write_text("9")
        scenario_file = read('testInstancesDir = "test"')
        assert scenario_file.test_set.held_out
        assert [i.name for i in scenario_file.test_set.instances] == ["test/t.txt"]

    def test_words_after_a_name_are_refused_with_their_line(self, message, root):
        (root / "list.txt").write_text("i1.txt\ni2.txt --time 5\n")
        assert "list.txt, line 2: '--time 5' after the name" in message(
            'trainInstancesFile = "list.txt"'
        )


class TestConfigurations:
    def test_table_gives_initial_configurations(self, read, root):
        (root / "configurations.txt").write_text(
            'rate k mode\n NA 3 "fast"\n# a comment\n 0.5 4 slow\n'
        )
        scenario_file = read('configurationsFile = "configurations.txt"')
        assert [dict(config) for config in scenario_file.scenario.initial] == [
            {"k": 3, "mode": "fast"},
            {"k": 4, "mode": "slow", "rate": 0.5},
        ]

    def test_number_between_levels_is_the_nearest_and_that_is_said(self, read, root):
        (root / "configurations.txt").write_text("k mode rate\n3 slow 0.3\n")
        scenario_file = read('configurationsFile = "configurations.txt"')
        assert scenario_file.scenario.initial[0]["rate"] == 0.296875
        assert any("rate = 0.296875 for 0.3" in note for note in scenario_file.notes)

    @pytest.mark.parametrize(
        ("row", "says"),
        [
            ("99 fast NA", "k: 99 is not in 0 .. 60"),
            ("3 middling NA", "mode: 'middling' is not one of fast, slow"),
            ("3 fast", "2 values, but 3 names"),
            ('3 "fast NA', "No closing quotation"),
            ("3 slow much", "rate: 'much' is not a number"),
        ],
    )
    def test_bad_configuration_is_refused_with_its_line(self, message, root, row, says):
        (root / "configurations.txt").write_text(f"k mode rate\n1 fast NA\n{row}\n")
        found = message('configurationsFile = "configurations.txt"')
        assert "configurations.txt, line 3: " in found
        assert says in found

    def test_forbidden_file_is_obeyed(self, read, root):
        (root / "forbidden.txt").write_text('# not both\n(mode == "slow") & (k > 50)\n')
        space = read('forbiddenFile = "forbidden.txt"').scenario.space
        with pytest.raises(BadInput, match="forbidden"):
            space.config(mode="slow", k=55)

    def test_mistake_in_the_forbidden_file_has_its_line_there(self, message, root):
        (root / "forbidden.txt").write_text('(mode == "slow") & (k > 50)\n(speed > 3)\n')
        assert "forbidden.txt, line 2, column" in message('forbiddenFile = "forbidden.txt"')


class TestMistakes:
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            (
                "maxExperiment = 5",
                "line 6: irace has no setting maxExperiment; did you mean maxExperiment",
            ),
            ("targetRunner = my.runner", "line 6: targetRunner: 'my.runner' is R code"),
            ("targetRunner = function(e, s) {", "line 6: this is a scenario of irace, and R code"),
            ("targetRunner = 5", "line 6, targetRunner: expected a quoted text, not 5.0"),
            ('targetEvaluator = "./evaluate"', "line 6, targetEvaluator: costs must be printed by"),
            ('parallel = "many"', "line 6, parallel: expected a number"),
            ("maxExperiments = -5", "line 6, maxExperiments: expected a number"),
            ("maxExperiments = 2.5", "line 6, maxExperiments: expected an integer"),
            ("deterministic = 7", "line 6, deterministic: expected 0 or 1"),
            ('execDir = "nowhere"', "line 6, execDir: there is no folder"),
            ('parameterFile = "none.txt"', "line 6, parameterFile: there is no file none.txt"),
            ('trainInstancesDir = "none"', "line 6, trainInstancesDir: there is no folder or file"),
            ('configurationsFile = "none"', "line 6, configurationsFile: there is no file none"),
            ('targetRunner = "./none"', "line 6, targetRunner: "),
            ("nonsense", "line 6: this is a scenario of irace"),
        ],
    )
    def test_each_is_refused_with_file_and_line(self, message, line, says):
        found = message(line)
        assert f"scenario.txt, {says}" in found
        assert len(found.splitlines()) == 1

    def test_budget_is_needed(self, message):
        text = SCENARIO.replace("maxExperiments = 60", "")
        assert "set maxExperiments or maxTime" in message(text=text)

    def test_all_are_reported_at_once(self, message):
        found = message('execDir = "nowhere"', 'parallel = "many"', 'parameterFile = "none.txt"')
        assert len(found.splitlines()) == 3


class TestRecognised:
    @pytest.mark.parametrize(
        "text",
        [
            SCENARIO,
            'trainInstancesDir = ""\n',
            'parameterFile <- "p.txt"\nexecDir <- "."\n',
            " logFile = './irace.Rdata'\n maxTime = 5",
        ],
    )
    def test_irace_s_are(self, text):
        assert is_irace(text)

    @pytest.mark.parametrize(
        "text",
        [
            "algo = ./wrapper\nparamfile = p.pcs\ndeterministic = 1\n",
            "algo-exec = x\nparameterFile = p.pcs\n",
            'command = "x {instance}"\ninstances = "a"\nseed = 3\n',
            "",
            "# targetRunner = 'x'\n",
        ],
    )
    def test_others_are_not(self, text):
        assert not is_irace(text)


def test_tune_finds_the_best(root):
    (root / "scenario.txt").write_text(SCENARIO + "deterministic = 1\n")
    done = paramhs("tune", "scenario.txt", "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    assert 5 <= json.loads(done.stdout)["best"]["k"] <= 20
