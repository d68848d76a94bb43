"""The command line as a user has it: real processes, in a folder with a scenario and its target."""

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TextIO

from tests.support.forker import HUNG, Forker

COMMAND = [sys.executable, "-m", "paramhs"]

TARGET = """\
import time
from pathlib import Path
from random import Random


def noisy(config, seed):
    return (config["x"] - 70) ** 2 + Random(seed).random()


def slow(config, seed):
    if not Path(__file__).with_name("hurry").exists():
        time.sleep(0.02)
    return noisy(config, seed)


def endless(config, seed):
    Path(__file__).with_name("begun").touch()
    time.sleep(600)


def broken(config, seed):
    raise RuntimeError("no licence found")


def brittle(config, instance, seed):
    if config["mode"] == "b":
        raise ValueError("no mode b")
    return noisy(config, seed)


def infinite(config, seed):
    return float("inf") if seed % 2 else 1.0


def named(config):
    return {"[bold]a[/bold]": 3, "[/b]": 2, "[red]c[/red]": 1}[config["[u]mode[/u]"]]
"""

SCENARIO = """\
function = "target:noisy"

[space.x]
type = "integer"
low = 0
high = 99

[budget]
runs = 60
"""

MARKUP = """\
function = "target:named"
instances = ["i1", "i2", "i3", "i4"]

[space."[u]mode[/u]"]
type = "categorical"
values = ["[bold]a[/bold]", "[/b]", "[red]c[/red]"]

[budget]
runs = 60
"""


def scenario(folder: Path, text: str = SCENARIO, function: str = "noisy") -> Path:
    """A scenario file beside its target."""
    (folder / "target.py").write_text(TARGET, encoding="utf-8")
    path = folder / "scenario.toml"
    path.write_text(text.replace("target:noisy", f"target:{function}"), encoding="utf-8")
    return path


def environment() -> dict[str, str]:
    """Ours, without what would colour or narrow the output."""
    unwanted = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "PYTEST_CURRENT_TEST")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "COLUMNS": "100", "TERM": "xterm", "PYTHONDONTWRITEBYTECODE": "1"}


def paramhs(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a process of its own that has imported us already."""
    return _forker().run([str(word) for word in words], cwd, environment())


@cache
def _forker() -> Forker:
    return Forker()


def fresh(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, from a new interpreter with a hash seed of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=HUNG,
        check=False,
    )


def begin(*words: object, cwd: Path) -> subprocess.Popen[str]:
    """Start a command; its output comes through pipes."""
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=_hears_ctrl_c,
    )


def reads(stream: TextIO, part: str) -> bool:
    """Whether such a line comes; there may be others before it."""
    return any(part in line for line in stream)


def _hears_ctrl_c() -> None:
    """What a shell starts in the background ignores it otherwise."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def flat(text: str) -> str:
    """Without frames and line breaks."""
    return " ".join(text.translate(dict.fromkeys(map(ord, "│╭╮╰╯─"), " ")).split())
