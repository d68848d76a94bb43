"""init, check, tune, validate and show, as a user types them."""

import contextlib
import json
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest

from tests.support.children import eventually
from tests.support.command_line import HUNG, begin, environment, flat, paramhs, reads

SOLVER = """\
import os, sys, time
from random import Random

k, seed, instance = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if instance.endswith("endless"):
    open("begun", "w").close()
    time.sleep(600)
if not os.path.exists("hurry"):
    time.sleep(float(sys.argv[4]))
print("cost:", abs(k - 7) + Random(f"{seed} {instance}").random())
"""

SCENARIO = f"""\
command = "{sys.executable} solver.py {{k}} {{seed}} {{instance}} 0"
cost = "minimise"
read = {{regex = "cost: (.*)"}}
instances = ["a", "b", "c"]
test_instances = ["u", "v", "w", "x", "y", "z"]
verdict = {{runs = 6}}

[space.k]
type = "integer"
low = 0
high = 9
default = 2

[budget]
runs = 24
"""


def folder(path, text=SCENARIO):
    (path / "solver.py").write_text(SOLVER)
    (path / "scenario.toml").write_text(text)
    return path


def run(*words, cwd):
    done = paramhs(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done


def run_json(*words, cwd):
    """What is printed with --json: nothing else; progress is told on standard error."""
    return json.loads(run(*words, "--json", cwd=cwd).stdout)


def stored(path, record="search"):
    with sqlite3.connect(path) as db:
        query = "SELECT count(*) FROM readable WHERE record = ?"
        return db.execute(query, (record,)).fetchone()[0]


def has_runs(path):
    """Whether a store that is being written has runs yet."""
    with contextlib.suppress(sqlite3.OperationalError):  # its tables are not there
        return stored(path) > 0
    return False


def offspring(words):
    """Processes whose command line has all these words."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if all(word in line for word in words) and process.info["status"] != "zombie":
            found.append(process.pid)
    return found


def gone(*words, seconds=HUNG):
    """Whether all such processes end."""
    until = time.monotonic() + seconds
    while offspring(words) and time.monotonic() < until:
        time.sleep(0.1)
    return not offspring(words)


def waited_for(path):
    for _ in range(2400):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(path)


def killed(process):
    """Whatever became of it, it ends here."""
    if process.poll() is None:
        process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The folder that `init` writes, tuned by the commands that it names."""
    path = tmp_path_factory.mktemp("commands")
    wrote = run("init", "my example", cwd=path)
    checked = run("check", "my example/scenario.toml", "--runs", 1, cwd=path)
    with open(path / "my example/scenario.toml", "a", encoding="utf-8") as file:
        file.write("\n[verdict]\nruns = 6\n")
    tuned = run("tune", "my example/scenario.toml", "--runs", 20, cwd=path)
    return path, wrote.stdout, checked.stdout, tuned.stdout


class TestInit:
    def test_next_commands_can_be_typed(self, example):
        lines = example[1].splitlines()
        assert shlex.split(lines[1]) == ["next:", "paramhs", "check", "my example/scenario.toml"]
        assert shlex.split(lines[2]) == ["then:", "paramhs", "tune", "my example/scenario.toml"]

    def test_check_shows_command_output_and_what_was_read(self, example):
        checked = example[2]
        assert checked.startswith("space      3 parameters, 1 conditional; 1,430 configurations\n")
        assert "instances  10 to search on, 6 held out" in checked
        assert "$ python3 solver.py --noise=0.9" in checked
        assert "| false clauses: " in checked
        assert "read: ok, quality " in checked
        assert "s of processor time" in checked
        assert checked.splitlines()[-1].startswith("next: paramhs tune ")

    def test_example_as_it_is_gives_no_warning(self, example):
        assert "warning:" not in example[2]
        assert "no warnings" in example[2]

    def test_tune_ends_with_a_verdict_and_a_command_to_paste(self, example):
        tuned = example[3]
        assert "verdict, on 6 held-out instances:" in tuned or "Keep the default" in tuned
        lines = tuned.splitlines()
        command = lines[lines.index("command of the best configuration:") + 1]
        assert shlex.split(command)[:2] == ["python3", "solver.py"]
        assert "INSTANCE" in command
        assert "SEED" in command

    def test_show_reads_what_tune_left(self, example):
        shown = run_json("show", "my example/scenario.sqlite", cwd=example[0])
        assert shown["runs"] >= 17

    def test_all_that_is_written_is_listed_in_json(self, tmp_path):
        files = run_json("init", "there", cwd=tmp_path)["files"]
        written = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
        assert set(files) == written
        assert files[0] == "there/scenario.toml"

    @pytest.mark.parametrize("name", ["scenario.toml", "solver.py", "instances/random-03.cnf"])
    def test_nothing_is_written_over(self, tmp_path, name):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("precious")
        done = paramhs("init", cwd=tmp_path)
        assert done.returncode == 2
        assert f"{name} already exists" in done.stderr
        assert [p for p in tmp_path.rglob("*") if p.is_file()] == [tmp_path / name]
        assert (tmp_path / name).read_text() == "precious"

    def test_file_in_the_way_is_named(self, tmp_path):
        (tmp_path / "there").touch()
        done = paramhs("init", "there", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot write into there" in done.stderr


class TestCheck:
    def test_json_has_all_that_is_printed(self, tmp_path):
        folder(tmp_path)
        message = run_json("check", "scenario.toml", "--runs", 2, cwd=tmp_path)
        assert (message["parameters"], message["configurations"]) == (1, 10)
        assert message["instances"] == ["a", "b", "c"]
        assert message["held_out"] == ["u", "v", "w", "x", "y", "z"]
        # Two trials, and both instances again with another seed.
        assert [trial["status"] for trial in message["trials"]] == ["ok"] * 4
        assert all(5 <= trial["quality"] < 6 for trial in message["trials"])
        assert all("solver.py 2 " in trial["call"] for trial in message["trials"])
        assert any("only 3 instances" in warning for warning in message["warnings"])

    def test_check_leaves_no_store(self, tmp_path):
        folder(tmp_path)
        run("check", "scenario.toml", "--runs", 1, cwd=tmp_path)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["scenario.toml", "solver.py"]

    def test_target_that_always_fails_is_exit_1(self, tmp_path):
        folder(tmp_path, SCENARIO.replace("{instance} 0", "{instance} zero"))
        done = paramhs("check", "scenario.toml", cwd=tmp_path)
        assert done.returncode == 1
        assert "ValueError" in done.stdout, "the target's own words"
        assert "the default fails in every trial run" in done.stderr

    @pytest.mark.parametrize("value", ["float('inf')", "float('-inf')"])
    def test_infinite_answers_are_still_valid_json(self, tmp_path, value):
        (tmp_path / "target.py").write_text(f"def f(config):\n    return {value}\n")
        text = 'function = "target:f"\n' + SCENARIO[SCENARIO.index("[space.k]") :]
        (tmp_path / "scenario.toml").write_text(text)
        run_json("check", "scenario.toml", "--runs", 1, cwd=tmp_path)

    @pytest.mark.parametrize("command", ["check", "tune"])
    @pytest.mark.parametrize("executor", ["inline", "processes"])
    def test_what_a_function_and_its_children_print_is_no_part_of_the_json(
        self, tmp_path, command, executor
    ):
        source = "import subprocess\ndef f(config):\n    print('noise')\n"
        source += "    subprocess.run(['echo', 'more'], check=True)\n    return 1.0\n"
        (tmp_path / "target.py").write_text(source)
        text = f'function = "target:f"\nexecutor = "{executor}"\n'
        text += SCENARIO[SCENARIO.index("[space.k]") :].replace("runs = 24", "runs = 2")
        (tmp_path / "scenario.toml").write_text(text)
        done = run(command, "scenario.toml", "--json", cwd=tmp_path)
        assert json.loads(done.stdout)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_interrupted_check_leaves_no_process(self, tmp_path, number):
        text = SCENARIO.replace('instances = ["a", "b", "c"]', 'instances = ["endless"]')
        folder(tmp_path, text.replace("solver.py", f"{tmp_path}/solver.py"))
        process = begin("check", "scenario.toml", cwd=tmp_path)
        try:
            waited_for(tmp_path / "begun")
            process.send_signal(number)
            _, err = process.communicate(timeout=HUNG)
        finally:
            killed(process)
        assert "Traceback" not in err
        assert gone(f"{tmp_path}/solver.py")


class TestVerdict:
    def test_the_headline_is_held_out_and_separate_from_the_search(self, tmp_path):
        folder(tmp_path)
        text = run("tune", "scenario.toml", cwd=tmp_path).stdout
        told = re.search(r"during the search: .*\d+ common runs?", text)
        assert told.start() < text.index("verdict, on")
        assert "verdict, on 6 held-out instances:" in text
        assert "Best is better: " in text
        assert "(95 % interval " in text
        assert "6 won, 0 tied, 0 lost by instance; p = 0.031" in text
        lines = text.splitlines()
        command = lines[lines.index("command of the best configuration:") + 1]
        assert shlex.split(command)[-3:] == ["SEED", "INSTANCE", "0"]

    def test_verdict_can_be_left_out(self, tmp_path):
        folder(tmp_path)
        done = run("tune", "scenario.toml", "--no-verdict", cwd=tmp_path)
        assert "biased, because it selected by them." in " ".join(done.stdout.split())
        assert stored(tmp_path / "scenario.sqlite", "verdict") == 0

    def test_default_that_is_best_is_kept_in_plain_words(self, tmp_path):
        folder(tmp_path, SCENARIO.replace("default = 2", "default = 7"))
        assert "Keep the default" in run("tune", "scenario.toml", cwd=tmp_path).stdout

    def test_worse_is_said_in_good_english(self, tmp_path):
        folder(tmp_path)
        words = ("-c", "k=7", "-c", "k=9", "--runs", 6)
        text = run("validate", "scenario.toml", *words, cwd=tmp_path).stdout
        assert "k=9 is worse" in text
        assert "Keep the k=7" not in text
        assert "times as lower" not in text

    def test_an_interrupted_verdict_is_reported_and_resumes(self, tmp_path):
        slow = SCENARIO.replace("{instance} 0", "{instance} 0.05").replace("runs = 6", "runs = 30")
        folder(tmp_path, 'configurator = {name = "paramhs-plain"}\n' + slow)
        (tmp_path / "hurry").touch()
        run("tune", "scenario.toml", "--no-verdict", cwd=tmp_path)
        (tmp_path / "hurry").unlink()
        process = begin("tune", "scenario.toml", cwd=tmp_path)
        try:
            store = tmp_path / "scenario.sqlite"
            assert eventually(lambda: stored(store, "verdict"))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=HUNG)
        finally:
            killed(process)
        assert "Traceback" not in err
        assert "interrupted" in out + err
        assert "Resume with: paramhs tune scenario.toml" in err
        assert process.returncode == 130
        assert 0 < stored(store, "verdict") < 60
        (tmp_path / "hurry").touch()
        done = run("tune", "scenario.toml", cwd=tmp_path)
        assert stored(store, "verdict") == 60
        assert "Best is better" in done.stdout

    def test_second_interrupt_stops_a_command_and_all_it_started(self, tmp_path):
        text = SCENARIO.replace('instances = ["a", "b", "c"]', 'instances = ["endless"]')
        folder(tmp_path, text.replace("solver.py", f"{tmp_path}/solver.py"))
        process = begin("tune", "scenario.toml", "--jobs", 2, cwd=tmp_path)
        try:
            waited_for(tmp_path / "begun")
            process.send_signal(signal.SIGINT)
            assert reads(process.stderr, "Ctrl-C again stops at once")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=HUNG)
        finally:
            killed(process)
        assert process.returncode == 130
        assert "all stored runs are kept" in err
        assert "Traceback" not in err
        assert gone(f"{tmp_path}/solver.py")

    def test_changed_reading_does_not_meet_old_answers(self, tmp_path):
        folder(tmp_path)
        first = run_json("tune", "scenario.toml", cwd=tmp_path)["verdict"]
        (tmp_path / "scenario.sqlite").unlink()
        folder(tmp_path, SCENARIO.replace('"cost: (.*)"', '"cost: [0-9]([.].*)"'))
        done = paramhs("validate", "scenario.toml", "-c", "default", "-c", "k=7", cwd=tmp_path)
        assert first["first"]["cost"] > 5
        assert done.returncode == 3 or "5." not in done.stdout.split("default")[1].split("\n")[0]


BAD = [
    ("-c default", 2, "two different configurations"),
    ("-c default -c k=2", 2, "two different configurations"),
    ("-c default -c fastest", 2, "'fastest' is not a configuration"),
    ("-c default -c k=99", 2, "99"),
    ("-c default -c speed=3", 2, "speed"),
    ("-c default -c k=fast", 2, "fast"),
    ("-c default -c k=7,rubbish", 2, "rubbish"),
    ("--on nowhere", 2, "there is no folder or file nowhere"),
    ("--runs 0", 2, "--runs"),
    ("--store nothing.sqlite", 3, "there is no store nothing.sqlite"),
]


class TestValidate:
    @pytest.fixture(scope="class")
    @classmethod
    def tuned(cls, tmp_path_factory):
        path = folder(tmp_path_factory.mktemp("validate"))
        run("tune", "scenario.toml", cwd=path)
        return path

    def test_default_and_best_are_compared_on_test_instances_again(self, tuned):
        before = stored(tuned / "scenario.sqlite", "verdict")
        (verdict,) = run_json("validate", "scenario.toml", cwd=tuned)["verdicts"]
        assert verdict["conclusion"] == "better"
        assert verdict["on"] == "6 held-out instances"
        assert stored(tuned / "scenario.sqlite", "verdict") == before

    def test_any_configurations_meet_the_first(self, tuned):
        words = ("-c", "k=7", "-c", "default", "-c", "k=0", "--runs", 6)
        verdicts = run_json("validate", "scenario.toml", *words, cwd=tuned)["verdicts"]
        assert [v["second"]["config"]["k"] for v in verdicts] == [2, 0]
        assert {v["first"]["config"]["k"] for v in verdicts} == {7}
        assert {v["comparisons"] for v in verdicts} == {2}
        assert all(v["ratio"]["estimate"] < 1 for v in verdicts)

    @pytest.mark.parametrize("given", [("default", "k=7", "k=7"), ("default", "k=2", "k=7")])
    def test_configuration_named_twice_does_no_harm(self, tuned, given):
        words = [word for name in given for word in ("-c", name)]
        done = paramhs("validate", "scenario.toml", *words, "--runs", 6, cwd=tuned)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 2)

    def test_instances_may_be_those_of_the_search(self, tuned):
        (verdict,) = run_json("validate", "scenario.toml", "--on", "train", cwd=tuned)["verdicts"]
        assert verdict["on"] == "3 instances of the search, with new seeds"

    def test_instances_may_be_any(self, tuned):
        (tuned / "others.txt").write_text("one\ntwo\n")
        words = ("--on", "others.txt", "--runs", 4)
        (verdict,) = run_json("validate", "scenario.toml", *words, cwd=tuned)["verdicts"]
        assert (verdict["instances"], verdict["on"]) == (2, "2 held-out instances")

    def test_instances_of_the_search_are_known_from_any_folder(self, tmp_path):
        path = tmp_path / "deep"
        (path / "data").mkdir(parents=True)
        for name in "abcdef":
            (path / "data" / name).touch()
        text = SCENARIO.replace('instances = ["a", "b", "c"]', 'instances = "data"', 1)
        folder(path, text)
        words = ("-c", "default", "-c", "k=7", "--on", "deep/data", "--runs", 6)
        (verdict,) = run_json("validate", "deep/scenario.toml", *words, cwd=tmp_path)["verdicts"]
        assert verdict["on"] == "6 instances of the search, with new seeds"

    def test_expected_answers_hold_for_other_instances_too(self, tmp_path):
        solver = "import sys\nprint('s SATISFIABLE')\nprint('cost:', sys.argv[1])\n"
        folder(tmp_path, 'expected = "UNSAT"\n' + SCENARIO)
        (tmp_path / "solver.py").write_text(solver)
        (tmp_path / "others.txt").write_text("one\ntwo\n")
        words = ("-c", "default", "-c", "k=7", "--on", "others.txt", "--runs", 2)
        (verdict,) = run_json("validate", "scenario.toml", *words, cwd=tmp_path)["verdicts"]
        assert verdict["first"]["failed"] == 2

    def test_corrected_answers_are_not_compared_with_old_runs(self, tmp_path):
        solver = "import sys\nprint('s SATISFIABLE')\nprint('cost:', sys.argv[1])\n"
        words = ("-c", "default", "-c", "k=7", "--on", "train", "--runs", 3)
        failed = []
        for expected in ("", 'expected = "UNSAT"\n', 'expected = "SAT"\n'):
            folder(tmp_path, expected + SCENARIO)
            (tmp_path / "solver.py").write_text(solver)
            (verdict,) = run_json("validate", "scenario.toml", *words, cwd=tmp_path)["verdicts"]
            failed.append(verdict["first"]["failed"])
        assert failed == [0, 3, 0]

    @pytest.mark.parametrize(("words", "code", "says"), BAD, ids=[case[0] for case in BAD])
    def test_mistake_gets_a_message_and_its_exit_code(self, tuned, words, code, says):
        done = paramhs("validate", "scenario.toml", *words.split(), cwd=tuned)
        assert "Traceback" not in done.stderr
        assert says in flat(done.stderr)
        assert (done.returncode, done.stdout) == (code, "")

    def test_configuration_with_blanks_around_the_sign_is_read_or_refused(self, tuned):
        words = ("-c", "default", "-c", "k = 7", "--runs", 6)
        done = paramhs("validate", "scenario.toml", *words, cwd=tuned)
        assert done.returncode == 0 or "k = 7" in done.stderr


def test_best_command_runs_as_it_is_pasted(tmp_path):
    folder(tmp_path)
    text = run("tune", "scenario.toml", cwd=tmp_path).stdout
    lines = text.splitlines()
    command = lines[lines.index("command of the best configuration:") + 1]
    line = command.replace("SEED", "5").replace("INSTANCE", "a")
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env=environment(), capture_output=True, check=True
    )
    assert done.stdout.startswith(b"cost: ")
