import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from rich.console import Console

from paramhs import Budget, Categorical, tune
from paramhs.api.terminal import live_view as views
from paramhs.api.terminal.live_view import LiveView, PlainView, Silent, duration, used_share, view
from paramhs.cli.render_result import print_counts, print_result
from paramhs.core import Quality
from paramhs.execution.driver import Progress, Watcher
from paramhs.search.record import Ending
from tests.support.command_line import COMMAND, MARKUP, SCENARIO, environment, scenario

MODES = Categorical(["[bold]a[/bold]", "[red]b[/red]", "[/c]"])
SPACE = {"[u]mode[/u]": MODES}


def paper(**options):
    """A console that writes into a text."""
    nothing = {"TERM": "xterm"}  # whatever COLUMNS says where the tests run
    return Console(file=io.StringIO(), width=100, highlight=False, _environ=nothing, **options)


def by_mode(config, seed):
    return MODES.index(config["[u]mode[/u]"]) * -10.0 + seed % 3


def square(config):
    return (config["x"] - 7) ** 2


class Clock:
    """Time that passes when told to."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(views, "time", made)
    return made


def at(taken=0, new=0, spent=0.0, wall=0.0, **budget):
    """How far a search has come."""
    limits = Budget(**budget)
    return Progress("", taken, new, 0, None, limits, spent, wall, 1.0, 1, "", None, "")


def recorded(costs=()):
    """As much of a record as a view looks at."""
    known = dict(enumerate(costs))
    space = SimpleNamespace(default="the default")
    scenario = SimpleNamespace(cost=Quality(), space=space)
    history = SimpleNamespace(costs=lambda config: known, scenario=scenario)
    return SimpleNamespace(
        trajectory=[], incumbent="the default", default="the default", history=history, runs=()
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00:00"), (7.9, "0:00:07"), (61, "0:01:01"), (12300, "3:25:00"), (360000, "100:00:00")],
)
def test_duration_is_hours_minutes_seconds(seconds, text):
    assert duration(seconds) == text


def test_progress_is_that_of_the_limit_closest_to_its_end():
    come = at(taken=10, spent=30.0, wall=5.0, runs=100, target_time=60.0, wall_time=100.0)
    assert used_share(come) == (0.5, "0:00:30 of 0:01:00 target time")


def test_progress_counts_runs():
    assert used_share(at(taken=1500, runs=20000)) == (0.075, "1,500 of 20,000 runs")


def test_without_a_limit_there_is_no_progress():
    assert used_share(at(taken=3)) is None
    assert PlainView(paper()).counts(at(taken=3)) == "3 runs"


def test_without_a_limit_time_left_is_until_the_space_is_exhausted():
    assert PlainView(paper()).time_left(at(taken=3)) == "until the space is exhausted"


def test_rate_is_of_this_session_alone(clock):
    seen = PlainView(paper())
    seen.started(recorded(), at())
    clock.now += 4
    assert seen.rate(at(taken=1000, new=10, runs=2000)) == pytest.approx(2.5)


def test_time_left_goes_by_the_pace_of_new_runs(clock):
    seen = PlainView(paper())
    seen.started(recorded(), at(runs=1000))
    assert seen.time_left(at(taken=500, new=0, runs=1000)) == "?"
    seen.time_left(at(taken=500, new=1, runs=1000))
    clock.now += 10
    assert seen.time_left(at(taken=600, new=101, runs=1000)) == "0:00:40"


def test_first_plain_line_has_an_estimate_of_the_time_left(clock):
    console = paper()
    seen = PlainView(console)
    seen.started(recorded(), at(runs=1000))
    for taken in range(1, 101):
        clock.now += 0.0625
        seen.ran(recorded(), at(taken=taken, new=taken, runs=1000))
    first = console.file.getvalue().splitlines()[0]
    assert first.startswith("80 of 1,000 runs, 16.0 runs/s, left 0:00:5")


def test_cost_has_its_error_and_number_of_runs():
    seen = PlainView(paper())
    assert seen.cost(recorded([(2.0,), (4.0,)])) == "mean 3 ± 1 over 2 runs"
    assert seen.cost(recorded([(2.0,)])) == "mean 2 over 1 run"
    assert seen.cost(recorded()) == ""


def test_cost_of_runs_of_which_one_crashed_has_no_error():
    assert "±" not in PlainView(paper()).cost(recorded([(2.0,), (float("inf"),)]))


def test_plain_view_says_every_incumbent():
    console = paper()
    result = tune(square, {"x": range(10)}, budget=50, watcher=PlainView(console))
    lines = console.file.getvalue().splitlines()
    assert len(lines) == len(result.trajectory)
    assert lines[0] == "1 run: incumbent the default"
    for line, (before, point) in zip(lines[1:], pairwise(result.trajectory), strict=True):
        means = f"new {point.cost:g}, previous {before.cost:g}"
        assert f"incumbent {point.config.key}; mean on 1 common run: {means}" in line


def test_plain_view_says_one_run_in_the_singular():
    console = paper()
    tune(square, {"x": range(10)}, budget=50, watcher=PlainView(console))
    assert "(1 runs)" not in console.file.getvalue()


def test_plain_line_is_not_wrapped_however_long():
    console = paper()
    space = {f"parameter{i}": range(10) for i in range(50)}
    tune(lambda config: config["parameter7"], space, budget=1, watcher=PlainView(console))
    assert len(console.file.getvalue().splitlines()) == 1


def test_plain_view_prints_names_as_they_are():
    console = paper()
    tune(by_mode, SPACE, budget=40, configurator="paramhs-plain", watcher=PlainView(console))
    shown = console.file.getvalue()
    assert 'incumbent "[u]mode[/u]"="[/c]"; mean on' in shown or '="[red]b[/red]"; mean on' in shown


def test_live_view_prints_names_as_they_are():
    console = paper(force_terminal=True, color_system=None)
    tune(by_mode, SPACE, budget=40, watcher=LiveView(console))
    assert '"[u]mode[/u]"="[/c]"' in console.file.getvalue()


def test_notices_are_printed_as_they_are():
    for kind in (PlainView, LiveView):
        console = paper()
        kind(console).notice("[/x] lies on [red]nfs[/red]")
        assert console.file.getvalue() == "[/x] lies on [red]nfs[/red]\n"


def test_live_view_clips_a_long_incumbent():
    console = paper(force_terminal=True, color_system=None)
    space = {f"parameter{i}": range(10) for i in range(100)}
    tune(lambda config: config["parameter7"], space, budget=1, watcher=LiveView(console))
    assert "parameter99" not in console.file.getvalue()


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True, encoding="utf-8"))
    for term, kind in (("dumb", PlainView), ("unknown", PlainView), ("xterm", LiveView)):
        monkeypatch.setenv("TERM", term)
        assert type(view()) is kind


def test_json_in_a_terminal_is_all_that_is_seen_there(monkeypatch):
    assert type(view(as_json=True)) is PlainView
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: True))
    assert type(view(as_json=True)) is Silent


@pytest.mark.parametrize("kind", [PlainView, LiveView])
def test_failures_are_counted_with_the_last_message(kind):
    def brittle(config, seed):
        if config["x"] > 10:
            raise ValueError("[b]too[/b] large")
        return config["x"] + seed % 3

    made = kind(paper())
    shown = []

    class Noting(Watcher):
        def ran(self, record, progress):
            shown.append(made.failures(progress))

    result = tune(brittle, {"x": range(20)}, budget=60, watcher=Noting())
    assert shown[0] == ""
    message = f"{result.failed_runs} runs failed, the last: ValueError: [b]too[/b] large"
    assert shown[-1] == message


def printed(result, metric=None):
    console = paper()
    print_result(console, result)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def marked():
    return tune(by_mode, SPACE, budget=60)


def told(result, **facts):
    """The result of a search of which something else was recorded."""
    return replace(result, record=replace(result.record, **facts))


def test_result_prints_names_as_they_are(marked):
    rivals = [line for line in printed(marked).splitlines() if line.startswith("  closest")]
    named = [line for line in rivals if "the default" not in line]
    assert named
    assert all('"[u]mode[/u]"="[' in line for line in named)


def test_result_with_a_name_that_is_broken_markup_is_printed():
    space = {"mode": Categorical(["[/a]", "b", "c"], default="c")}
    result = tune(lambda config, seed: "b[c/a]".index(config["mode"][-1]), space, budget=60)
    assert 'mode="[/a]" is clearly worse' in printed(result)


def test_rival_that_looks_better_is_not_called_worse():
    result = tune(square, {"x": range(10)}, budget=100, deterministic=False)
    text = printed(told(result, trajectory=result.trajectory[:2]))
    assert "closest rivals" in text
    assert "worse, by -" not in text


def test_reason_for_ending_is_printed_as_it_is(marked):
    why = "no untried configuration is one move from [red]x[/red]"
    assert why in printed(told(marked, ending=Ending(why)))


def test_default_that_was_never_beaten_is_to_be_kept():
    result = tune(lambda config: abs(config["x"] - 4), {"x": range(10)}, budget=100)
    assert "the default is the best that was found" in printed(result)


def test_result_says_why_it_ended():
    result = tune(square, {"x": range(10)}, budget=100)
    assert "the search ended: all 10 configurations tried" in printed(result)


def test_long_trajectory_is_shown_by_its_ends():
    result = tune(square, {"x": range(10)}, budget=100)
    longer = told(result, trajectory=result.trajectory * 20)
    text = printed(longer)
    assert f"({len(longer.trajectory) - 12} more)" in text
    assert len(text.split("\n\n")[0].splitlines()) == 1 + 12 + 1 + 1


def test_one_run_is_in_the_singular():
    assert "over 1 runs" not in printed(tune(square, {"x": range(10)}, budget=100))


def test_store_is_named_as_it_is():
    console = paper()
    about = {
        "store": "[red]a.sqlite",
        "records": {},
        "runs": 0,
        "statuses": {},
        "configurations": 0,
        "target_time": 0.0,
        "sessions": 0,
    }
    print_counts(console, about)
    assert console.file.getvalue().startswith("[red]a.sqlite: 0 runs (none)")


class Terminal:
    """A pseudo-terminal of 100 columns; a command's standard error goes to it."""

    def __init__(self):
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(self.theirs)

    def run(self, *words, cwd):
        """Exit code, standard output, and all that was drawn."""
        process = subprocess.Popen(
            [*COMMAND, *words],
            cwd=cwd,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.theirs,
        )
        after = os.dup(self.theirs)
        os.close(self.theirs)
        self.theirs = after
        drawn = bytearray()
        os.set_blocking(self.ours, False)
        while process.poll() is None:
            drawn += self.read()
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        drawn += self.read()
        out = process.stdout.read().decode()
        process.stdout.close()
        return process.returncode, out, drawn.decode()

    def read(self):
        read = bytearray()
        while True:
            try:
                read += os.read(self.ours, 65536)
            except BlockingIOError:
                return read

    def in_order(self):
        return termios.tcgetattr(self.theirs) == self.before

    def close(self):
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal():
    made = Terminal()
    yield made
    made.close()


def assert_left_in_order(terminal, drawn):
    assert terminal.in_order()
    hidden = [m.start() for m in re.finditer(re.escape("\x1b[?25l"), drawn)]
    shown = [m.start() for m in re.finditer(re.escape("\x1b[?25h"), drawn)]
    assert hidden, "the view hides the cursor while it draws"
    assert shown[-1] > hidden[-1]
    assert "\x1b[?1049h" not in drawn, "no other screen"


def test_live_view_draws_bar_speed_incumbent_cost_and_time_left(tmp_path, terminal):
    scenario(tmp_path, "verdict = {runs = 20}\n" + SCENARIO, function="slow")
    code, out, drawn = terminal.run("tune", "scenario.toml", cwd=tmp_path)
    assert code == 0, drawn
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", drawn)
    assert "━" in plain
    assert re.search(r"\d+ of 60 runs", plain)
    assert re.search(r"[\d.]+ runs/s", plain)
    assert re.search(r"incumbent\s+x=\d+", plain)
    assert re.search(r"cost\s+incumbent and default: \d+ common runs, too few to compare", plain)
    assert re.search(r"how sure\s+\d+ more runs gain at most [\d.]+ %", plain)
    assert re.search(r"verdict\s+then about [\d.]+ s", plain)
    assert re.search(r"left 0:00:\d\d", plain)
    assert_left_in_order(terminal, drawn)
    assert "\nbest, as changes of the default: x=" in out
    assert "\x1b" not in out


def test_live_view_is_taken_away_when_the_target_is_broken(tmp_path, terminal):
    scenario(tmp_path, function="broken")
    code, _, drawn = terminal.run("tune", "scenario.toml", cwd=tmp_path)
    assert code == 1
    assert_left_in_order(terminal, drawn)
    assert drawn.rindex("no licence found") > drawn.rindex("\x1b[?25h")


def test_json_into_a_file_has_plain_lines_beside_it(tmp_path, terminal):
    scenario(tmp_path)
    code, out, drawn = terminal.run("tune", "scenario.toml", "--json", cwd=tmp_path)
    assert code == 0
    assert out.startswith("{")
    assert drawn.startswith("3 runs: incumbent the default\r\n")
    assert "\x1b" not in drawn


def test_names_with_brackets_are_drawn_as_they_are(tmp_path, terminal):
    scenario(tmp_path, MARKUP)
    _, _, drawn = terminal.run("tune", "scenario.toml", cwd=tmp_path)
    assert '"[u]mode[/u]"="[' in drawn
