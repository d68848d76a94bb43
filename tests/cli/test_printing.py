"""Nothing from outside reaches the terminal but as text."""

import io
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from paramhs.api.terminal.live_view import PlainView
from paramhs.cli.console import Terminal
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Run, Status, Task
from paramhs.core.space import Space
from paramhs.core.text.numbers import printable, printable_json
from tests.support.command_line import paramhs

TITLE = "\x1b]0;owned\x07"
EVIL = f"{TITLE}\x1b[2J\x9b31m\u202e\x08"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_what_a_terminal_would_obey_is_made_visible():
    assert printable("a\x1b[2Jb") == "a\\x1b[2Jb"
    assert printable("\x9b1m \u202e \ud800") == "\\x9b1m \\u202e \\ud800"
    assert printable("one\ttwo\nthree\r\n") == "one\ttwo\nthree\n"
    assert printable("ümlaut ± 漢字 🙂") == "ümlaut ± 漢字 🙂"


@given(st.text())
def test_any_text_becomes_printable_and_stays_so(text):
    once = printable(text)
    assert not OBEYED.search(once)
    assert printable(once) == once
    once.encode()


@given(st.text())
def test_json_says_the_same_without_control_characters(text):
    shown = printable_json(json.dumps(text, ensure_ascii=False))
    assert not OBEYED.search(shown)
    assert json.loads(shown) == text


def test_errors_and_reasons_are_printable():
    assert str(BadInput(f"no {EVIL}")) == f"no {printable(EVIL)}"
    task = Task(Space({"x": range(3)}).default, NO_INSTANCE, 1)
    assert not OBEYED.search(Run(task, Status.CRASHED, 0.0, None, f"it said {EVIL}").reason)


def shown(monkeypatch, print_something) -> str:
    """What a terminal is sent, without what rich itself says to it."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    terminal = Terminal(stderr=True)
    terminal._force_terminal = True
    print_something(terminal)
    return re.sub(r"\x1b\[[0-9;]*m", "", sys.stderr.getvalue())


def test_a_terminal_is_sent_no_sequence_from_outside(monkeypatch):
    def print_something(terminal):
        table = Table(f"name {EVIL}", title=EVIL)
        table.add_row(Text(EVIL, style="bold"))
        terminal.print(table)
        terminal.print(Text(f"bold {EVIL}", style="bold"), soft_wrap=True)
        PlainView(terminal).notice(f"notice {EVIL}")

    text = shown(monkeypatch, print_something)
    assert "notice \\x1b]0;owned" in text
    assert not OBEYED.search(text)


SCENARIO = f"""\
command = ["{sys.executable}", "evil.py", "{{params}}", "{{instance}}"]
cost = "minimise"
read = "last number"
instances = ["\\u001b[2Jone", "two\\u009b31m"]
verdict = {{runs = 2}}

[space.mode]
type = "categorical"
values = ["a\\u001b]0;owned\\u0007", "b"]

[budget]
runs = 6
"""

PROGRAM = f"""\
import sys
sys.stdout.write({EVIL!r} + "\\n")
sys.stderr.write({EVIL!r} + "\\n")
print("fail" if "fail" in sys.argv else 1)
"""


@pytest.mark.parametrize("words", [["check"], ["tune"], ["check", "--json"], ["tune", "--json"]])
@pytest.mark.parametrize("ending", ["1", "'none'"])
def test_commands_print_nothing_raw(tmp_path, words, ending):
    (tmp_path / "evil.py").write_text(PROGRAM + f"print({ending})\n")
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    done = paramhs(words[0], "scenario.toml", *words[1:], cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "owned" in done.stdout + done.stderr
    assert not OBEYED.search(done.stdout)
    assert not OBEYED.search(done.stderr)


FUNCTION = f"""\
import sys

def f(config, seed):
    print({EVIL!r})
    sys.stderr.writelines([{EVIL!r}, "10 %\\r20 %\\n"])
    return 1.0
"""


@pytest.mark.parametrize("words", [["check"], ["tune"], ["tune", "--jobs", 2, "--json"]])
def test_what_a_function_prints_is_shown_on_standard_error(tmp_path, words):
    (tmp_path / "evil.py").write_text(FUNCTION)
    space = 'space = {x = {type = "integer", low = 0, high = 9}}'
    (tmp_path / "s.toml").write_text(f'function = "evil:f"\nbudget = {{runs = 2}}\n{space}\n')
    done = paramhs(words[0], "s.toml", *words[1:], cwd=tmp_path)
    assert "\\x1b]0;owned" in done.stderr
    assert "10 %\n20 %\n" in done.stderr
    assert not OBEYED.search(done.stdout + done.stderr)
    assert "owned" not in done.stdout


def test_a_long_line_of_output_is_cut_by_check(tmp_path):
    command = f'["{sys.executable}", "-c", "print(\'x\' * 10**6, 7)", "{{params}}"]'
    rest = 'cost = "minimise"\nread = "last number"\nbudget = {runs = 2}\n'
    space = 'space = {x = {type = "integer", low = 0, high = 9}}'
    (tmp_path / "s.toml").write_text(f"command = {command}\n{rest}{space}\n")
    shown = paramhs("check", "s.toml", "--runs", 1, cwd=tmp_path).stdout
    assert "xxx ... xxx" in shown
    assert "quality 7" in shown
    assert len(shown) < 3000


def test_more_configurations_than_json_can_count_are_not_counted(tmp_path):
    (tmp_path / "many.pcs").write_text("\n".join(f"p{i} {{a,b}} [a]" for i in range(20_000)))
    (tmp_path / "evil.py").write_text(FUNCTION)
    (tmp_path / "s.toml").write_text(
        'function = "evil:f"\nbudget = {runs = 2}\nspace = "many.pcs"\n'
    )
    done = paramhs("check", "s.toml", "--runs", 0, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["configurations"] is None
