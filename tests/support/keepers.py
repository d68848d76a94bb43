"""Commands under a keeper, without a target around them; and the processes that a test has left."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import psutil

from paramhs.core.runs import Instance
from paramhs.execution.supervisor import Command, Execute, Limits, Outcome
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.supervisor.run_kinds import CommandJob

MARK = "PARAMHS_TEST_MARK"

PYTHON = (sys.executable, "-I", "-S", "-c")

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    pid = os.fork()
    if pid:
        print(pid, flush=True)
        os._exit(0)
    open("ready", "w").close()
    time.sleep(1000)
os.wait()
"""

STOP_BOTH = """
import os, time
keeper = os.getppid()
warden = int(open(f"/proc/{keeper}/stat").read().rpartition(")")[2].split()[1])
for pid in (warden, keeper):
    assert open(f"/proc/{pid}/comm").read().startswith("run-")
    os.kill(pid, 19)
open("ready", "w").close()
time.sleep(1000)
"""


class Request(NamedTuple):
    """A command with limits, in the place of a task."""

    command: Command | None
    limits: Limits

    @property
    def instance(self) -> Instance:
        return Instance("none")

    @property
    def call(self) -> tuple[int]:
        return (id(self),)


class Bare:
    """A target whose tasks are requests, and whose runs are their outcomes."""

    name = "bare"

    def job(self) -> CommandJob:
        return CommandJob()

    def run(self, task: Any, execute: Execute) -> Any:
        return execute(*task)

    def shown(self, task: Any) -> str:
        return str(task)


class Kept:
    """A keeper or more; after each run, no process of it may be left."""

    def __init__(self, folder: str, mark: str, count: int = 1) -> None:
        os.environ[MARK] = mark
        self.folder = folder
        self.mark = mark
        self.supervised = Supervised(Bare(), count)

    @property
    def keeper(self) -> psutil.Process:
        return psutil.Process(self.supervised._all[0].keeper)

    def start(self, *words: str, given: bytes = b"", folder: str = "", **limits: float) -> Any:
        """The outcome of a program, or a crashed run if its keeper was lost."""
        command = Command(words, folder or self.folder, given)
        return self.supervised(Request(command, Limits(**limits)))

    def run(self, *words: str, **more: Any) -> Outcome:
        outcome = self.start(*words, **more)
        assert self.left() == []
        return outcome

    def sh(self, script: str, **more: Any) -> Outcome:
        return self.run("/bin/sh", "-c", script, **more)

    def python(self, code: str, **more: Any) -> Outcome:
        return self.run(*PYTHON, code, **more)

    def left(self) -> list[psutil.Process]:
        """Processes of this test that are alive, wherever they went."""
        return list(_marked(self.mark))


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                yield process
