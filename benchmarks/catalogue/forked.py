"""Runs of a runner in forks of one process that has imported it, and the library that it calls.

Importing takes up to half a second of processor time, and the runs of the checks some
milliseconds. What is run is the main program of `solvers/runners` with the same arguments.
"""

import base64
import json
import os
import runpy
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paramhs.core.runs import Run, Task
from paramhs.execution.supervisor import Outcome
from paramhs.execution.targets.command import CommandTarget

_WALL_FACTOR = 2.0  # times the cutoff, until a run is stopped by the clock on the wall


class Forked:
    """Makes runs of a target whose command is a runner, of a library or of a program."""

    def __init__(self, target: CommandTarget, runner: Sequence[str]) -> None:
        self.target = target
        self.skipped = len(runner)
        call = [sys.executable, __file__, *runner[1:]]
        self.server = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, task: Task) -> Run:
        """Run a task."""
        server = self.server
        assert server.stdin is not None
        assert server.stdout is not None
        words = self.target.words(task)[self.skipped :]
        server.stdin.write(json.dumps([words, task.cutoff]).encode() + b"\n")
        server.stdin.flush()
        said = json.loads(server.stdout.readline())
        streams = {name: base64.b64decode(said.pop(name)) for name in ("output", "errors")}
        return self.target.judged(task, Outcome(**said, **streams))

    def close(self) -> None:
        """End the process."""
        if self.server.stdin is not None:
            self.server.stdin.close()
        self.server.wait()


def _serve(folder: str, name: str) -> None:
    """Answer each line of standard input, a list of words and a cutoff, with an outcome."""
    sys.path.insert(0, folder)
    __import__(f"run_{name.replace('-', '_')}")
    for line in sys.stdin:
        words, cutoff = json.loads(line)
        sys.argv = [folder, name, *words]
        print(json.dumps(_outcome(folder, cutoff)), flush=True)


def _outcome(folder: str, cutoff: float) -> dict[str, Any]:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            _run(folder, output.fileno(), errors.fileno())
        limit = "" if _ended(child, _WALL_FACTOR * cutoff) else "wall"
        if limit:
            os.killpg(child, 9)
        _, status, used = os.wait4(child, 0)
        wall = time.monotonic() - begin
        streams = {}
        for key, file in (("output", output), ("errors", errors)):
            file.seek(0)
            streams[key] = base64.b64encode(file.read()).decode()
    code = os.waitstatus_to_exitcode(status)
    return {"limit": limit, "code": code, "wall": wall, "cpu": used.ru_utime, **streams}


def _ended(child: int, seconds: float) -> bool:
    """Wait for the end of a child, at most this long."""
    handle = os.pidfd_open(child)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def _run(folder: str, output: int, errors: int) -> None:
    """What the child does: the main program, and no return."""
    os.setpgid(0, 0)  # so that a program which it calls is stopped as well
    os.dup2(output, 1)
    os.dup2(errors, 2)
    code = 0
    try:
        runpy.run_path(str(Path(folder) / "__main__.py"), run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
