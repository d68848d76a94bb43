import json
import re
import shlex
import signal
import sqlite3
import time

import pytest
from typer.testing import CliRunner

from paramhs import __version__
from paramhs.bundled.saps import Saps
from paramhs.cli import app
from paramhs.execution.driver import Budget
from tests.support.command_line import (
    HUNG,
    MARKUP,
    SCENARIO,
    begin,
    flat,
    fresh,
    paramhs,
    reads,
    scenario,
)

DEMO = {"BUDGET": Budget(runs=500), "target": lambda: Saps(1_000)}  # short runs in machine code


def tuned(*words, cwd, run=paramhs):
    """The result of `tune --json`, which must succeed."""
    done = run("tune", "scenario.toml", *words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def decisions(result):
    """Content of a result, without measured times and its place."""
    others = ("trajectory", "page", "accepted")
    kept = {k: v for k, v in result.items() if not k.endswith("_time") and k not in others}
    points = [{k: v for k, v in p.items() if k != "target_time"} for p in result["trajectory"]]
    return _without_times(kept), points


def _without_times(data):
    """The data without the measured times of a verdict's sides."""
    if not isinstance(data, dict):
        return data
    return {name: _without_times(value) for name, value in data.items() if name != "time"}


def runs_in(path):
    with sqlite3.connect(path) as db:
        (count,) = db.execute("SELECT count(*) FROM readable WHERE record = 'search'").fetchone()
    return count


class TestHelp:
    def test_version_is_printed(self, tmp_path):
        done = fresh("--version", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, f"paramhs {__version__}\n")

    def test_help_lists_commands_and_exit_codes(self, tmp_path):
        done = paramhs("--help", cwd=tmp_path)
        text = flat(done.stdout)
        assert done.returncode == 0
        for command in ("demo Tune a built-in SAT", "tune Search for", "show Show the results"):
            assert command in text
        for code in (
            "0 success",
            "1 the target",
            "2 invalid input",
            "3 the store",
            "130 interrupted",
        ):
            assert code in text

    @pytest.mark.parametrize("command", ["demo", "init", "check", "tune", "validate", "show"])
    def test_each_command_has_help_and_json(self, tmp_path, command):
        done = paramhs(command, "--help", cwd=tmp_path)
        assert done.returncode == 0
        assert "--json" in done.stdout

    def test_no_command_prints_the_help(self, tmp_path):
        done = paramhs(cwd=tmp_path)
        assert "Exit codes" in flat(done.stdout + done.stderr)


class TestDemo:
    def test_beats_the_default_on_held_out_instances_and_draws_its_way(self, tmp_path, monkeypatch):
        """Without its clock, so that a busy machine finds the same."""
        for name, value in DEMO.items():
            monkeypatch.setattr(f"paramhs.cli.demonstration.{name}", value)
        done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)], env={"COLUMNS": "100"})
        assert done.exit_code == 0, done.output
        assert "default: alpha=1.3 rho=0.8 ps=0.05 wp=0.01\n" in done.stdout
        assert "verdict, on 12 held-out instances:" in done.stdout
        assert "Best is better: " in done.stdout
        assert re.search(r"^rho 0 .*\d", done.stdout, re.MULTILINE)
        assert "incumbent the default" in done.stderr
        assert {p.name for p in tmp_path.iterdir()} == {"demo.html", "demo.svg"}

    @pytest.mark.slow
    def test_ends_by_its_own_clock(self, tmp_path):
        done = fresh("demo", "--out", "pictures", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = ("verdict, on 12 held-out instances:", "Keep the default: ")  # if it is busy
        assert any(words in done.stdout for words in found)
        assert "Next: paramhs init DIR" in done.stdout
        assert "\x1b" not in done.stdout + done.stderr
        assert {p.name for p in tmp_path.rglob("*.*")} == {"demo.html", "demo.svg"}


class TestTune:
    def test_prints_progress_to_stderr_and_the_result_to_stdout(self, tmp_path):
        scenario(tmp_path)
        done = paramhs("tune", "scenario.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "the budget of 60 runs is spent" in done.stdout
        assert "\nbest, as changes of the default: x=" in done.stdout
        assert "\ndefault: x=49\n" in done.stdout
        assert "paramhs show scenario.sqlite" in done.stdout
        assert done.stderr.startswith("3 runs: incumbent the default\n")
        assert "\x1b" not in done.stdout + done.stderr

    def test_json_is_all_that_is_printed(self, tmp_path):
        scenario(tmp_path)
        done = paramhs("tune", "scenario.toml", "--json", cwd=tmp_path)
        result = json.loads(done.stdout)
        assert done.stderr.startswith("3 runs: incumbent the default\n")
        assert 50 <= result["runs"] <= 60
        assert result["default"] == {"x": 49}
        assert result["trajectory"][-1]["config"] == result["best"]

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.jsonl", '{"x": 3}\n{"x": 70}\n'),
            ("a.csv", "x\n3\n70\n"),
            ("a.txt", "x\n3\n70\n"),
        ],
    )
    def test_initial_configurations_are_tried_first(self, tmp_path, name, text):
        scenario(tmp_path)
        (tmp_path / name).write_text(text)
        result = tuned("--initial", name, "--runs", 20, cwd=tmp_path)
        assert result["best"] == {"x": 70}

    @pytest.mark.parametrize(
        "command", [("tune", "scenario.toml", "--runs", 300), ("show", "scenario.sqlite")]
    )
    def test_what_a_search_printed_gives_initial_configurations(self, tmp_path, command):
        scenario(tmp_path)
        found = tuned("--runs", 300, cwd=tmp_path)
        (tmp_path / "found.json").write_text(paramhs(*command, "--json", cwd=tmp_path).stdout)
        again = tuned(
            *("--initial", "found.json", "--runs", 12, "--store", "b.sqlite", "--seed", 5),
            cwd=tmp_path,
        )
        assert again["trajectory"][1]["config"] == found["best"]

    def test_a_bad_initial_configuration_is_refused_with_its_line(self, tmp_path):
        scenario(tmp_path)
        (tmp_path / "a.jsonl").write_text('{"x": 3}\n{"x": 700}\n')
        done = paramhs("tune", "scenario.toml", "--initial", "a.jsonl", cwd=tmp_path)
        assert done.returncode == 2
        assert "a.jsonl, line 2: x: 700 is not in 0 .. 99" in done.stderr

    def test_a_warm_start_says_what_it_took(self, tmp_path):
        scenario(tmp_path)
        runs = tuned(cwd=tmp_path)["runs"]
        done = paramhs(
            *("tune", "scenario.toml", "--warm-start", "scenario.sqlite", "--store", "b.sqlite"),
            *("--seed", 5),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert f"scenario.sqlite: {runs} runs taken and " in done.stderr

    def test_same_command_again_makes_no_new_run(self, tmp_path):
        scenario(tmp_path)
        first = tuned(cwd=tmp_path)
        (tmp_path / "target.py").write_text("def noisy(config, seed):\n    raise SystemError\n")
        again = tuned("--accept-changed", cwd=tmp_path, run=fresh)
        assert again["recommendation"].startswith(f"{first['recommendation']} Mind: runs from")
        for made in (again, again["verdict"]):
            made["recommendation"] = first["recommendation"]
        assert decisions(again) == decisions(first)
        assert runs_in(tmp_path / "scenario.sqlite") == first["runs"]

    def test_larger_budget_extends_as_if_it_had_been_so_from_the_start(self, tmp_path):
        scenario(tmp_path)
        short = tuned(cwd=tmp_path)
        extended = tuned("--runs", 150, cwd=tmp_path)
        assert extended["runs"] > 134
        ways = [[(p["config"], p["runs"]) for p in x["trajectory"]] for x in (short, extended)]
        assert ways[1][: len(ways[0])] == ways[0]
        whole = tuned("--runs", 150, "--store", "other.sqlite", cwd=tmp_path, run=fresh)
        assert decisions(extended) == decisions(whole)

    def test_number_of_jobs_does_not_change_the_result(self, tmp_path):
        scenario(tmp_path)
        one = tuned(cwd=tmp_path)
        two = tuned("--jobs", 2, "--store", "two.sqlite", cwd=tmp_path)
        del one["speculative_runs"], two["speculative_runs"]
        assert decisions(one) == decisions(two)

    def test_a_given_seed_overrides_that_of_the_file(self, tmp_path):
        scenario(tmp_path)
        given = tuned("--seed", 5, "--store", "a.sqlite", cwd=tmp_path)
        scenario(tmp_path, "seed = 5\n" + SCENARIO)
        assert decisions(tuned("--store", "b.sqlite", cwd=tmp_path)) == decisions(given)

    def test_wall_time_stops_the_search(self, tmp_path):
        scenario(tmp_path, function="slow")
        result = tuned("--runs", 100_000, "--wall-time", "0.4 s", "--no-verdict", cwd=tmp_path)
        assert result["stopped"].startswith("the budget of 0.4 s of wall time is spent")
        assert 0 < result["runs"] < 100_000

    def test_changed_scenario_is_refused_with_the_difference(self, tmp_path):
        path = scenario(tmp_path)
        runs = tuned(cwd=tmp_path)["runs"]
        path.write_text(path.read_text().replace("high = 99", "high = 199"))
        done = paramhs("tune", "scenario.toml", cwd=tmp_path)
        assert done.returncode == 3
        assert "parameters.x.high: stored 99, now 199" in done.stderr
        assert "Traceback" not in done.stderr
        assert runs_in(tmp_path / "scenario.sqlite") == runs

    def test_exhausted_space_says_so(self, tmp_path):
        scenario(tmp_path, "deterministic = true\n" + SCENARIO.replace("high = 99", "high = 3"))
        assert tuned(cwd=tmp_path)["stopped"] == "all 4 configurations tried"

    def test_broken_target_is_exit_1_with_the_call_and_what_it_raised(self, tmp_path):
        scenario(tmp_path, function="broken")
        done = paramhs("tune", "scenario.toml", cwd=tmp_path)
        assert done.returncode == 1
        assert "target:broken({'x': 49}, " in done.stderr
        assert "RuntimeError: no licence found" in done.stderr
        assert done.stderr.count("Traceback") == 1, "the target's own"
        assert "site-packages" not in done.stderr
        assert done.stdout == ""

    def test_a_fixed_target_starts_afresh(self, tmp_path):
        scenario(tmp_path, function="broken")
        paramhs("tune", "scenario.toml", cwd=tmp_path)
        path = tmp_path / "target.py"
        path.write_text(
            path.read_text().replace('raise RuntimeError("no licence found")', "return 1")
        )
        assert tuned(cwd=tmp_path)["runs"] == 50  # all costs are equal: no challenger is ahead


class TestInterrupts:
    def interrupted(self, folder, *words):
        process = begin("tune", "scenario.toml", *words, cwd=folder)
        first = process.stderr.readline()
        assert "incumbent" in first
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HUNG)
        return process.returncode, out, first + err

    def test_an_interrupted_search_says_how_to_resume_and_resumes(self, tmp_path):
        scenario(tmp_path, function="slow")
        code, out, err = self.interrupted(tmp_path, "--runs", "80")
        assert code == 130
        assert "Resume with: paramhs tune scenario.toml --runs 80" in err
        assert "best configuration, complete:\nx=" in out
        assert "Traceback" not in err
        stored = runs_in(tmp_path / "scenario.sqlite")
        assert 0 < stored < 80
        (tmp_path / "hurry").touch()
        resumed = tuned("--runs", 80, cwd=tmp_path)
        assert 80 - 13 <= runs_in(tmp_path / "scenario.sqlite") <= 80  # a sixth may stay in reserve
        whole = tuned("--runs", 80, "--store", "whole.sqlite", cwd=tmp_path)
        assert decisions(resumed) == decisions(whole)

    def test_the_resume_command_can_be_typed(self, tmp_path):
        scenario(tmp_path, function="slow")
        _, _, err = self.interrupted(tmp_path, "--runs", "80", "--wall-time", "10 min")
        (line,) = [line for line in err.splitlines() if "Resume with: " in line]
        words = ["paramhs", "tune", "scenario.toml", "--runs", "80", "--wall-time", "10 min"]
        assert shlex.split(line.split("Resume with: ")[1]) == words

    @pytest.mark.parametrize("executor", ["inline", "threads", "processes"])
    def test_second_interrupt_stops_at_once(self, tmp_path, executor):
        scenario(tmp_path, f'executor = "{executor}"\n' + SCENARIO, function="endless")
        process = begin("tune", "scenario.toml", cwd=tmp_path)
        try:
            for _ in range(2400):
                if (tmp_path / "begun").exists():
                    break
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert reads(process.stderr, "Ctrl-C again stops at once")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=HUNG)  # a run takes 600 s
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == 130
        assert "all stored runs are kept" in err
        assert "Traceback" not in err


class TestShow:
    @pytest.fixture
    def store(self, tmp_path):
        scenario(tmp_path)
        self.runs = tuned(cwd=tmp_path)["runs"]
        return tmp_path / "scenario.sqlite"

    def test_text_lists_counts_incumbents_and_the_most_run(self, store):
        done = paramhs("show", store.name, cwd=store.parent)
        assert done.returncode == 0
        assert done.stdout.startswith(f"scenario.sqlite: {self.runs} runs ({self.runs} ok)\n")
        assert "1 session" in done.stdout
        told = done.stdout.split("incumbents", 1)[1].split("most run")[0]
        assert "the default" in told
        assert re.search(r"the best and the default: \d+ common runs, too few to compare", told)
        assert done.stderr == ""

    def test_json_agrees_with_the_search(self, store):
        about = json.loads(paramhs("show", store.name, "--json", cwd=store.parent).stdout)
        result = tuned(cwd=store.parent)
        assert about["runs"] == result["runs"]
        assert about["statuses"] == {"ok": self.runs}
        assert [p["runs"] for p in about["trajectory"]] == [
            point["runs"] for point in result["trajectory"]
        ]
        assert about["scenario"]["target"] == {"function": "target:noisy"}
        assert len(about["most_run"]) <= 10

    def test_showing_leaves_the_store_as_it_was(self, store):
        before = store.read_bytes()
        paramhs("show", store.name, cwd=store.parent)
        assert store.read_bytes() == before

    def test_infinite_answers_are_still_valid_json(self, tmp_path):
        scenario(tmp_path, function="infinite")
        paramhs("tune", "scenario.toml", cwd=tmp_path)
        done = paramhs("show", "scenario.sqlite", "--json", cwd=tmp_path)
        assert done.returncode == 0
        assert "Traceback" not in done.stderr
        assert json.loads(done.stdout)["runs"] == 50

    def test_store_can_be_shown_while_a_search_is_writing_it(self, tmp_path):
        scenario(tmp_path, function="slow")
        process = begin("tune", "scenario.toml", "--runs", "100000", cwd=tmp_path)
        process.stderr.readline()
        done = paramhs("show", "scenario.sqlite", "--json", cwd=tmp_path)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HUNG)
        assert done.returncode == 0
        assert json.loads(done.stdout)["runs"] >= 3


class TestMarkup:
    def test_names_with_brackets_are_printed_as_they_are(self, tmp_path):
        scenario(tmp_path, MARKUP)
        done = paramhs("tune", "scenario.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert 'of the default: "[u]mode[/u]"="[red]c[/red]"\n' in done.stdout
        assert 'closest "[u]mode[/u]"="[/b]" is' in done.stdout
        assert 'default: "[u]mode[/u]"="[bold]a[/bold]"' in done.stdout
        assert "Traceback" not in done.stderr
        shown = paramhs("show", "scenario.sqlite", cwd=tmp_path)
        assert shown.stdout.count('"[u]mode[/u]"="[/b]"') >= 1

    def test_store_with_brackets_in_its_name_is_named_as_it_is(self, tmp_path):
        scenario(tmp_path)
        runs = tuned("--store", "[red]a.sqlite", cwd=tmp_path)["runs"]
        done = paramhs("show", "[red]a.sqlite", cwd=tmp_path)
        assert done.stdout.startswith(f"[red]a.sqlite: {runs} runs")


def foreign(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")


def prepared(folder):
    """A folder full of things to get wrong."""
    scenario(folder)
    (folder / "syntax.toml").write_text("function = = 3\n")
    (folder / "latin.toml").write_bytes(b'store = "L\xf6sung"\n')
    (folder / "empty.toml").touch()
    (folder / "unknown.toml").write_text(SCENARIO + "speed = 3\n")
    (folder / "nofunction.toml").write_text(SCENARIO.replace(":noisy", ":nosy"))
    (folder / "nomodule.toml").write_text(SCENARIO.replace("target:", "tarjet:"))
    (folder / "instances.toml").write_text("instances = []\n" + SCENARIO)
    (folder / "exits.py").write_text("import sys\nsys.exit()\n")
    (folder / "exits.toml").write_text(SCENARIO.replace("target:", "exits:"))
    (folder / "garbage.sqlite").write_bytes(b"not a database, but long enough to look at" * 40)
    (folder / "blank.sqlite").touch()
    foreign(folder / "foreign.sqlite")
    return folder


BAD = [
    ("tune", 2, "Missing argument"),
    ("tun scenario.toml", 2, "No such command 'tun'"),
    ("tune scenario.toml --run 5", 2, "No such option"),
    ("tune scenario.toml extra", 2, "unexpected extra argument"),
    ("tune scenario.toml --runs many", 2, "--runs"),
    ("tune scenario.toml --runs", 2, "--runs"),
    ("tune scenario.toml --runs -5", 2, "must be a positive number, not -5"),
    ("tune scenario.toml --runs 0", 2, "must be a positive number, not 0"),
    ("tune scenario.toml --wall-time 10minutes", 2, "'10minutes' is not a duration"),
    ("tune scenario.toml --wall-time 0", 2, "must be a positive number"),
    ("tune scenario.toml --target-time 1.2.3", 2, "such as '90 s'"),
    ("tune scenario.toml --target-time 1e999", 2, "1e999"),
    ("tune scenario.toml --jobs 0", 2, "jobs must be at least 1, not 0"),
    ("tune scenario.toml --jobs -1", 2, "jobs must be at least 1, not -1"),
    ("tune scenario.toml --seed pi", 2, "--seed"),
    ("tune nothing.toml", 2, "cannot read nothing.toml: No such file"),
    ("tune .", 2, "Is a directory"),
    ("tune target.py", 2, "target.py: "),
    ("tune syntax.toml", 2, "line 1"),
    ("tune latin.toml", 2, "not UTF-8"),
    ("tune empty.toml", 2, "set either `function` or `command`"),
    ("tune unknown.toml", 2, "speed: there is no such setting"),
    ("tune nofunction.toml", 2, "module target has no function nosy"),
    ("tune nomodule.toml", 2, "No module named 'tarjet'"),
    ("tune instances.toml", 2, "the list of instances is empty"),
    ("tune exits.toml", 2, "importing exits failed"),
    ("tune scenario.toml --store garbage.sqlite", 3, "it is not an SQLite file"),
    ("tune scenario.toml --store foreign.sqlite", 3, "of another program"),
    ("tune scenario.toml --store no/folder.sqlite", 3, "there is no folder no"),
    ("tune scenario.toml --store .", 3, "is a folder"),
    ("tune scenario.toml --store target.py", 3, "it is not an SQLite file"),
    ("show", 2, "Missing argument"),
    ("show nothing.sqlite", 3, "there is no store nothing.sqlite"),
    ("show .", 3, "is a folder"),
    ("show scenario.toml", 3, "it is not an SQLite file"),
    ("show garbage.sqlite", 3, "it is not an SQLite file"),
    ("show foreign.sqlite", 3, "of another program"),
    ("show blank.sqlite", 3, "blank.sqlite is empty"),
    ("demo --seed x", 2, "--seed"),
]


@pytest.fixture
def mistakes(tmp_path):
    return prepared(tmp_path)


@pytest.mark.parametrize(("command", "code", "says"), BAD, ids=[case[0] for case in BAD])
def test_mistake_gets_a_message_and_its_exit_code(mistakes, command, code, says):
    before = {path.name: path.read_bytes() for path in mistakes.iterdir() if path.is_file()}
    done = paramhs(*command.split(), cwd=mistakes)
    after = {path.name: path.read_bytes() for path in mistakes.iterdir() if path.is_file()}
    assert "Traceback" not in done.stderr
    assert says in flat(done.stderr)
    assert done.returncode == code
    assert done.stdout == ""
    assert after == before, "nothing is changed or left behind"


def command_names():
    """Names of all commands, with those of the groups."""
    for command in app.registered_commands:
        yield [command.name or command.callback.__name__]
    for group in app.registered_groups:
        for command in group.typer_instance.registered_commands:
            yield [group.name, command.name]


@pytest.mark.parametrize("words", list(command_names()), ids=" ".join)
def test_help_fits_80_columns_and_loses_nothing(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = CliRunner().invoke(app, [*words, "--help"]).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "<bool>" not in text, "a flag takes no value"
    assert not re.search(r"\w \.\s", text), "brackets in a description were taken for markup"


def test_summaries_of_all_commands_fit_their_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "...\n" not in CliRunner().invoke(app, ["--help"]).stdout.replace("[ARGS]...", "")
    assert "...\n" not in CliRunner().invoke(app, ["instances"]).stdout.replace("[ARGS]...", "")
