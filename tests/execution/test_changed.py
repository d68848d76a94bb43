"""A store never mixes two programs: what changed is refused, named, or accepted and shown."""

import json
import sqlite3
import warnings
from contextlib import closing

import pytest

from paramhs import Command, ParamhsWarning, StoreError, Watcher, load, simplify, tune
from paramhs.execution import subject
from tests.support.command_line import paramhs

SPACE = {"x": range(20)}
SOLVER = "#!/bin/sh\nread scale < $1\necho $(( ($2 - 7) * ($2 - 7) * scale + 1 ))\n"
SCENARIO = """
command = "./solver {{instance}} {{x}}"
read = "last number"
cost = "minimise"
instances = "train/*"
test_instances = "test/*"
deterministic = true
{more}
[budget]
runs = 60
[space]
x = [0, 12]
"""


def write_scenario(folder, more=""):
    (folder / "scenario.toml").write_text(SCENARIO.format(more=more))


@pytest.fixture
def folder(tmp_path):
    for part, count in (("train", 6), ("test", 7)):
        (tmp_path / part).mkdir()
        for number in range(count):
            (tmp_path / part / f"i{number}").write_text(f"{number + 1}\n")
    (tmp_path / "solver").write_text(SOLVER)
    (tmp_path / "solver").chmod(0o755)
    write_scenario(tmp_path)
    return tmp_path


def tuned(folder, *words):
    return paramhs("tune", "scenario.toml", "--no-report", *words, cwd=folder)


def printed(text):
    return " ".join(text.split())


class TestCommands:
    def test_instances_that_changed_between_two_sittings_are_refused(self, folder):
        assert tuned(folder).returncode == 0
        for path in (folder / "train").iterdir():
            path.write_text("1000\n")
        again = tuned(folder, "--runs", "90")
        assert again.returncode != 0
        message = printed(again.stderr)
        assert "6 of 6 instances changed: train/i0, train/i1" in message
        assert "runs stored since 20" in message
        for way in ("--store NEW", "--warm-start scenario.sqlite", "--accept-changed"):
            assert way in message

    def test_files_that_the_command_makes_of_a_name_are_instances(self, folder):
        text = SCENARIO.format(more="").replace("{instance}", "train/{instance}")
        text = text.replace('"train/*"', '["i0", "i1", "i2", "i3", "i4", "i5"]')
        (folder / "scenario.toml").write_text(text.replace('test_instances = "test/*"', ""))
        assert tuned(folder).returncode == 0
        (folder / "train" / "i1").write_text("1000\n")
        again = tuned(folder, "--runs", "90")
        assert again.returncode != 0
        assert "1 of 6 instances changed: i1" in printed(again.stderr)

    def test_the_command_of_a_shell_is_named(self, folder):
        text = SCENARIO.format(more="").replace(
            "./solver {instance} {x}", "sh -c './solver $0 $1' {instance} {x}"
        )
        (folder / "scenario.toml").write_text(text)
        first = tuned(folder)
        assert first.returncode == 0
        assert "cannot notice changes" in printed(first.stderr)
        assert "./solver $0 $1" in printed(first.stderr)

    def test_test_instances_that_changed_are_refused_by_the_verdict(self, folder):
        assert tuned(folder).returncode == 0
        (folder / "test" / "i3").write_text("1000\n")
        again = paramhs("validate", "scenario.toml", cwd=folder)
        assert "1 of 7 instances changed: test/i3" in printed(again.stderr)

    def test_a_program_that_changed_is_refused_everywhere(self, folder):
        assert tuned(folder).returncode == 0
        (folder / "solver").write_text(SOLVER.replace("+ 1", "+ 2"))
        for words in (["tune"], ["validate"], ["simplify"]):
            ran = paramhs(*words, "scenario.toml", cwd=folder)
            assert ran.returncode != 0
            assert "program ./solver changed" in ran.stderr

    def test_a_comparison_after_touching_files_resumes(self, folder):
        assert tuned(folder).returncode == 0
        for path in [*(folder / "train").iterdir(), folder / "solver"]:
            path.write_bytes(path.read_bytes())
        assert tuned(folder, "--runs", "70").returncode == 0

    def test_an_accepted_change_is_recorded_and_shown(self, folder):
        assert tuned(folder).returncode == 0
        (folder / "solver").write_text(SOLVER.replace("+ 1", "+ 2"))
        (folder / "test" / "i1").write_text("4\n")
        again = tuned(folder, "--accept-changed", "--runs", "70")
        assert again.returncode == 0, again.stderr
        told = "program ./solver changed"
        assert told in printed(again.stdout)
        shown = paramhs("show", "scenario.sqlite", cwd=folder)
        assert told in printed(shown.stdout)
        as_json = json.loads(paramhs("show", "scenario.sqlite", "--json", cwd=folder).stdout)
        assert told in as_json["accepted"][0]
        page = paramhs("report", "scenario.sqlite", cwd=folder)
        assert page.returncode == 0
        assert told in (folder / "scenario.html").read_text()
        verdict = paramhs("validate", "scenario.toml", cwd=folder)
        assert told in printed(verdict.stdout)
        assert "1 of 7 instances changed: test/i1" in printed(verdict.stdout)

    def test_a_warm_start_takes_nothing_that_changed_and_says_so(self, folder):
        assert tuned(folder).returncode == 0
        (folder / "train" / "i2").write_text("1000\n")
        words = ("--store", "new.sqlite", "--warm-start", "scenario.sqlite")
        new = tuned(folder, *words, "--runs", "5")
        assert "on instances that changed" in new.stderr
        with closing(sqlite3.connect(folder / "new.sqlite")) as db:
            taken = {name for (name,) in db.execute("SELECT instance FROM known")}
        assert taken == {f"train/i{k}" for k in range(6)} - {"train/i2"}
        (folder / "solver").write_text(SOLVER.replace("+ 1", "+ 2"))
        other = tuned(folder, "--store", "other.sqlite", *words[2:], "--runs", "5")
        assert "nothing is taken, the target changed: program ./solver changed" in other.stderr

    def test_scripts_and_checkers_count(self, folder):
        (folder / "check.sh").write_text("exit 0\n")
        more = 'checker = "sh check.sh"'
        write_scenario(folder, more)
        text = (folder / "scenario.toml").read_text().replace("./solver", "sh solver")
        (folder / "scenario.toml").write_text(text)
        assert tuned(folder).returncode == 0
        (folder / "check.sh").write_text("true; exit 0\n")
        (folder / "solver").write_text(SOLVER.replace("+ 1", "+ 2"))
        message = tuned(folder).stderr
        assert "file solver changed" in message
        assert "the checker's file check.sh changed" in message

    def test_a_program_that_changes_during_the_search_gives_no_verdict(self, folder):
        change = "[ -e done ] || { touch done; sleep 0.01; echo '# more' >> solver; }\n"
        (folder / "solver").write_text(SOLVER + change)
        ran = tuned(folder)
        assert ran.returncode == 0, ran.stderr
        assert "program ./solver changed during the runs" in printed(ran.stdout)
        assert "Best is better" not in ran.stdout

    def test_a_store_without_identities_is_refused_with_the_ways_out(self, folder):
        assert tuned(folder).returncode == 0
        with closing(sqlite3.connect(folder / "scenario.sqlite")) as db:
            db.execute("DELETE FROM identities")
            db.commit()
        assert "it does not know which program" in tuned(folder).stderr
        assert (
            "it does not know which"
            in tuned(folder, "--store", "new.sqlite", "--warm-start", "scenario.sqlite").stderr
        )
        assert tuned(folder, "--accept-changed").returncode == 0
        assert tuned(folder).returncode == 0

    def test_a_time_out_answers_no_longer_cutoff(self, folder):
        slow = "#!/bin/sh\ncase $2 in 7) sleep 0.01;; *) sleep 0.4;; esac\n"
        (folder / "solver").write_text(slow)
        settings = 'cutoff = {}\nclock = "wall"'
        text = (folder / "scenario.toml").read_text().replace("minimise", "runtime")
        text = text.replace('read = "last number"\n', "").replace("runs = 60", "runs = 1")
        words = ("validate", "scenario.toml", "-c", "x=0", "-c", "x=7", "--json")
        (folder / "scenario.toml").write_text(
            text.replace("deterministic", settings.format(0.2) + "\ndeterministic")
        )
        first = paramhs(*words, cwd=folder)
        assert json.loads(first.stdout)["verdicts"][0]["first"]["cost"] == pytest.approx(2.0)
        (folder / "scenario.toml").write_text(
            text.replace("deterministic", settings.format(30.0) + "\ndeterministic")
        )
        second = paramhs(*words, cwd=folder)
        assert second.returncode != 0
        assert "verdict.cutoff: stored 0.2, now 30.0" in second.stderr


class Notices(Watcher):
    def __init__(self):
        self.lines = []

    def notice(self, text):
        self.lines.append(text)


def made(source, name="f"):
    names = {"__name__": "__main__"}
    exec(source, names)
    return names[name]


WRAPPED = """
import functools
def d(g):
    return functools.wraps(g)(lambda c, s: g(c, s))
@d
def f(c, s):
    return c['x']
"""
PAIRS = [
    ("def f(c, s):\n    return (c['x'] - 3) ** 2", "def f(c, s):\n    return (c['x'] - 9) ** 2"),
    (
        "K = 3\ndef f(c, s):\n    return abs(c['x'] - K)",
        "K = 9\ndef f(c, s):\n    return abs(c['x'] - K)",
    ),
    (
        "def g(x):\n    return x\ndef f(c, s):\n    return g(c['x'])",
        "def g(x):\n    return -x\ndef f(c, s):\n    return g(c['x'])",
    ),
    (
        "from math import sin as h\nf = lambda c, s: h(c['x'])",
        "from math import cos as h\nf = lambda c, s: h(c['x'])",
    ),
    (
        "f = lambda c, s: sum([i for i in (c['x'], 1)])",
        "f = lambda c, s: sum([i for i in (c['x'], 2)])",
    ),
    (
        "class T:\n    def __call__(self, c, s):\n        return c['x']\nf = T()",
        "class T:\n    def __call__(self, c, s):\n        return -c['x']\nf = T()",
    ),
    (WRAPPED, WRAPPED.replace("s: g", "s: -g")),
]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_function_that_changed_is_refused_and_leaves_nothing(tmp_path, before, after):
    store = tmp_path / "runs.sqlite"
    first = tune(made(before), SPACE, budget=30, store=store)
    assert tune(made(before), SPACE, budget=30, store=store).best == first.best
    with pytest.raises(StoreError, match="Choose one of these"):
        tune(made(after), SPACE, budget=30, store=store)
    notices = Notices()
    warm = tune(made(after), SPACE, budget=5, warm_start=store, watcher=notices)
    assert "nothing is taken, the target changed" in notices.lines[0]
    assert len(warm.history.runs) == 5


def test_an_accepted_change_is_in_the_result(tmp_path):
    store = tmp_path / "runs.sqlite"
    tune(made(PAIRS[0][0]), SPACE, budget=30, store=store)
    with pytest.warns(ParamhsWarning, match="accepted, function f changed"):
        result = tune(made(PAIRS[0][1]), SPACE, budget=40, store=store, accept_changed=True)
    assert "function f changed" in result.accepted[0]
    assert result.to_json()["accepted"] == list(result.accepted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tune(made(PAIRS[0][1]), SPACE, budget=40, store=store)
    notices = Notices()
    tune(made(PAIRS[0][1]), SPACE, budget=5, warm_start=store, watcher=notices)
    assert "20 made before a change that was accepted" in notices.lines[0]


def test_the_recommendation_says_that_a_change_was_accepted(tmp_path):
    store, tests = tmp_path / "runs.sqlite", [f"t{k}" for k in range(8)]
    how = {"instances": ["a", "b", "c"], "test_instances": tests, "store": store}

    def f(config, instance):
        return config["x"] + 1

    def changed(config, instance):
        return config["x"] + 1.5

    changed.__name__, changed.__qualname__ = f.__name__, f.__qualname__
    tune(f, SPACE, budget=40, **how)
    with pytest.warns(ParamhsWarning, match="accepted"):
        result = tune(changed, SPACE, budget=60, accept_changed=True, **how)
    assert "from before and after a change are compared" in result.recommendation
    assert load(store).recommendation == result.recommendation


def test_simplify_refuses_another_function(tmp_path):
    store = tmp_path / "runs.sqlite"
    result = tune(made(PAIRS[0][0]), SPACE, budget=60, store=store)
    assert result.best != result.default
    with pytest.raises(StoreError, match="function f changed"):
        simplify(made(PAIRS[0][1]), result, budget=20, store=store)


def test_files_that_a_function_is_given_count(tmp_path):
    store, path = tmp_path / "runs.sqlite", tmp_path / "data"
    path.write_text("1")

    def f(config, instance):
        return config["x"] * float(open(instance).read())

    tune(f, SPACE, instances=[str(path)], budget=5, store=store)
    path.write_text("2")
    with pytest.raises(StoreError, match="1 of 1 instance changed"):
        tune(f, SPACE, instances=[str(path)], budget=9, store=store)


def test_objects_that_are_instances_count(tmp_path):
    class Data:
        def __init__(self, value):
            self.value = value

    def f(config, instance):
        return config["x"] * instance.value

    store = tmp_path / "runs.sqlite"
    tune(f, SPACE, instances={"a": Data(1), "b": Data(2)}, budget=5, store=store)
    tune(f, SPACE, instances={"a": Data(1), "b": Data(2)}, budget=9, store=store)
    with pytest.raises(StoreError, match="1 of 2 instances changed: b "):
        tune(f, SPACE, instances={"a": Data(1), "b": Data(3)}, budget=9, store=store)


def test_what_cannot_be_identified_is_named_once(tmp_path):
    from threading import Lock

    lock, store, notices = Lock(), tmp_path / "runs.sqlite", Notices()

    def f(config):
        with lock:
            return config["x"]

    tune(f, SPACE, budget=5, store=store, watcher=notices)
    tune(f, SPACE, budget=9, store=store, watcher=notices)
    (line,) = notices.lines
    assert "cannot notice changes" in line
    assert "_thread:lock" in line


def test_a_command_in_python_is_known_by_its_files(tmp_path):
    solver, store = tmp_path / "solver", tmp_path / "runs.sqlite"
    solver.write_text("#!/bin/sh\necho $1\n")
    solver.chmod(0o755)
    command = Command("./solver {x}", read="last number", folder=tmp_path)
    tune(command, SPACE, budget=3, store=store)
    solver.write_text("#!/bin/sh\necho 1$1\n")
    with pytest.raises(StoreError, match=r"program \./solver changed"):
        tune(command, SPACE, budget=5, store=store)


class TestInstancesThatAreNotRun:
    """An instance is identified before its first run, and not looked at earlier."""

    @pytest.fixture
    def files(self, tmp_path):
        paths = [tmp_path / f"i{number}" for number in range(40)]
        for path in paths:
            path.write_text("1")
        return paths

    @staticmethod
    def work(config, instance):
        return config["x"] + float(instance.read_text())

    def test_a_start_looks_at_no_file_that_is_not_run(self, files, tmp_path, monkeypatch):
        store, looked = tmp_path / "runs.sqlite", set()
        found = tune(self.work, SPACE, instances=files, budget=5, store=store)
        used = {str(run.task.instance.value) for run in found.runs}
        real = subject.content_of
        monkeypatch.setattr(subject, "content_of", lambda p, *b: looked.add(p) or real(p, *b))
        tune(self.work, SPACE, instances=files, budget=5, store=store)
        assert used == {path for path in looked if path in set(map(str, files))}
        assert len(used) < len(files)

    def test_a_change_before_the_first_run_is_none(self, files, tmp_path):
        store = tmp_path / "runs.sqlite"
        found = tune(self.work, SPACE, instances=files, budget=5, store=store)
        used = {run.task.instance.value for run in found.runs}
        unused = next(path for path in files if path not in used)
        unused.write_text("1000")
        longer = tune(self.work, SPACE, instances=files, budget=300, store=store)
        assert unused in {run.task.instance.value for run in longer.runs}

    def test_a_change_after_the_first_run_in_a_later_session_is_refused(self, files, tmp_path):
        store = tmp_path / "runs.sqlite"
        first = tune(self.work, SPACE, instances=files, budget=5, store=store)
        longer = tune(self.work, SPACE, instances=files, budget=300, store=store)
        early, late = ({run.task.instance.value for run in r.runs} for r in (first, longer))
        min(late - early).write_text("1000")
        with pytest.raises(StoreError, match=f"{min(late - early).name} .runs stored since"):
            tune(self.work, SPACE, instances=files, budget=300, store=store)

    def test_instances_of_runs_that_were_taken_from_elsewhere_are_watched(self, files, tmp_path):
        store, other = tmp_path / "runs.sqlite", tmp_path / "other.sqlite"
        longer = tune(self.work, SPACE, instances=files, budget=200, store=other)
        short = {"instances": files, "budget": 1, "store": store}
        begun = tune(self.work, SPACE, **short, warm_start=other)
        only_known = {run.task.instance.value for run in longer.runs}
        only_known -= {run.task.instance.value for run in begun.runs}
        min(only_known).write_text("1000")
        with pytest.raises(StoreError, match="1 of"):
            tune(self.work, SPACE, **short)
