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

from command_line import paramhs
from paramhs.faces.cli.output import Terminal
from paramhs.faces.views import PlainView
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Run, Status, Task
from paramhs.values.space import Space
from paramhs.values.wording import printable, printable_json

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
