"""What commands print in everyday use: no flood, no riddle, nothing false."""

import os
import pty
import subprocess
import sys
from concurrent.futures import Executor, Future
from contextlib import suppress

import pytest
import typer

import paramhs
from paramhs import StoreError, TargetError, tune
from paramhs.api.terminal import live_view
from paramhs.api.terminal.live_view import PlainView
from paramhs.cli import app
from paramhs.report.sections import going
from tests.cli.test_views import at, paper

UP = {"x": range(9)}


def in_terminal(*words, cwd):
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "paramhs", *words], stdout=theirs, stderr=theirs, cwd=cwd
    )
    os.close(theirs)
    told = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        told += part
    os.close(ours)
    assert process.wait() == 0
    return told.decode()


def test_a_table_does_not_flood_the_terminal(tmp_path):
    found = tune(lambda c: c["x"], {"x": range(99)}, budget=60, store=tmp_path / "runs.sqlite")
    lines = in_terminal("export", "runs.sqlite", cwd=tmp_path).splitlines()
    assert len(lines) < 25
    assert lines[0].startswith("run,config,")
    assert f"{len(found.runs)} rows in all" in " ".join(lines[-3:])
    assert "--out runs.csv" in " ".join(lines[-3:])


def test_a_pipe_receives_the_whole_table(tmp_path, capsysbinary):
    found = tune(lambda c: c["x"], {"x": range(99)}, budget=60, store=tmp_path / "runs.sqlite")
    app(["export", str(tmp_path / "runs.sqlite")], standalone_mode=False)
    assert len(capsysbinary.readouterr().out.splitlines()) == 1 + len(found.runs)


def test_check_shows_the_traceback_of_a_function(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "broken_target.py").write_text(
        "def inner(config):\n    return {}['missing']\n\n"
        "def cost(config):\n    return inner(config)\n"
    )
    (tmp_path / "s.toml").write_text(
        'function = "broken_target:cost"\nexecutor = "inline"\nbudget.runs = 3\nspace.x = [0, 9]\n'
    )
    with suppress(TargetError, SystemExit, typer.Exit):
        app(["check", "s.toml", "--runs", "1"], standalone_mode=False)
    out = capsys.readouterr().out
    assert "Traceback" in out
    assert "in inner" in out
    assert "KeyError: 'missing'" in out


class Gone(Executor):
    def __init__(self, after):
        self.left = after

    def submit(self, function, /, *arguments, **named):
        future = Future()
        self.left -= 1
        if self.left < 0:
            future.set_exception(RuntimeError("the machine is gone"))
        else:
            future.set_result(function(*arguments, **named))
        return future


def test_stored_runs_are_called_safe_only_where_a_store_is(tmp_path):
    def cost(config):
        return config["x"]

    with pytest.raises(TargetError) as without:
        tune(cost, UP, budget=9, executor=Gone(3))
    with pytest.raises(TargetError) as with_store:
        tune(cost, UP, budget=9, executor=Gone(3), store=tmp_path / "runs.sqlite")
    assert "the machine is gone" in str(without.value)
    assert "safe" not in str(without.value)
    assert "Stored runs are safe; run the same command to resume." in str(with_store.value)


def test_a_refused_change_names_the_warm_start(tmp_path):
    store = tmp_path / "runs.sqlite"
    tune(lambda c: c["x"], UP, budget=5, store=store)
    with pytest.raises(StoreError, match=f"--warm-start {store}"):
        tune(lambda c: c["x"], {"x": range(10)}, budget=5, store=store)


def test_show_does_not_say_twice_that_there_is_no_verdict(tmp_path, capsys):
    store = tmp_path / "runs.sqlite"
    tune(lambda c: c["x"], UP, budget=9, store=store)
    app(["show", str(store)], standalone_mode=False)
    out = capsys.readouterr().out
    assert out.lower().count("no verdict") == 1


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(live_view.time, "monotonic", made.monotonic)
    return made


def lines_of(clock, seconds, state):
    """Lines that an hour of runs prints, one run each second."""
    result = tune(lambda c: c["x"], UP, budget=9)
    console = paper()
    clock.now = 0.0
    seen = PlainView(console)
    for second in range(seconds):
        clock.now = float(second)
        seen.ran(result.record, state(second))
    return console.file.getvalue().splitlines()


def test_a_log_grows_by_a_line_a_minute_at_most(clock):
    lines = lines_of(clock, 3600, lambda second: at(taken=second))
    assert 55 <= len(lines) <= 66
    assert len(lines_of(clock, 30, lambda second: at(taken=second))) >= 2


def test_what_has_not_changed_is_not_said_again(clock):
    assert len(lines_of(clock, 3600, lambda second: at(taken=3))) == 1


def test_processor_time_is_not_subtracted_from_time_that_passed(tmp_path):
    target = paramhs.Command("echo {x}", read="last number", clock="cpu")
    found = tune(target, UP, budget=6, cutoff=60)
    text = " ".join(going(found, None).sentences)
    assert found.clock == "cpu"
    assert "were spent in paramhs" not in text
    assert "of processor time" in text


def test_a_script_that_workers_import_ends_quietly(monkeypatch):
    launch = pytest.importorskip("paramhs.execution.cluster.launch")
    assert not launch._is_imported_by_worker()
    monkeypatch.setitem(sys.modules, "__mp_main__", sys.modules["__main__"])
    assert not launch._is_imported_by_worker()
    monkeypatch.setitem(sys.modules, "__mp_main__", pytest)
    assert launch._is_imported_by_worker()
    with pytest.raises(SystemExit):
        launch._local(1, dashboard=False)


def test_names_break_only_where_they_must(tmp_path):
    space = {"learning_rate_of_the_model": range(9), "x" * 60: range(3)}
    page = tune(lambda c: sum(c.values()), space, budget=20).report(tmp_path / "page.html")
    text = page.read_text()
    assert '<td class="word long"><bdi>' + "x" * 60 in text
    assert '<td class="word"><bdi>learning_<wbr>rate_<wbr>of_<wbr>the_<wbr>model' in text
