"""One search as a process of its own, and the evaluator that it talks to."""

import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchmarks.peers.environment import ROOT
from benchmarks.peers.evaluating import Bench, Evaluator
from benchmarks.peers.tools import Job, Tool
from paramhs.core.space import Config

PATIENCE = 60.0  # seconds that a tool has to end after it was told to stop


class Failed(Exception):
    """A tool ended as it should not; what it said is the message."""


@dataclass(frozen=True)
class Found:
    """What a search gave back."""

    best: dict[int, Config]
    """At each mark."""
    runs: int
    own: float
    """Seconds of processor time that it took itself, with starting, without the target."""


@dataclass
class Line:
    """A connection, and what was read of a line that is not complete."""

    connection: socket.socket
    read: bytes = b""


@dataclass
class Search:
    """A running tool: its process, its requests, and the evaluator that answers them."""

    tool: Tool
    bench: Bench
    job: Job
    marks: Sequence[int]
    log: Path
    told: Config | None = None
    stopped: float | None = None
    events: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)

    def __post_init__(self) -> None:
        self.evaluator = Evaluator(self.bench, self.marks, self._incumbent, self.log)

    def _incumbent(self) -> Config:
        default = self.bench.case.scenario.space.default
        return self.tool.incumbent(self.job) or self.told or default

    def found(self) -> Found:
        """Run the tool to its end."""
        with ExitStack() as stack:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            stack.enter_context(closing(self.events))
            self.tool.write(self.job, listener.getsockname()[1])
            output = stack.enter_context((self.job.folder / "output.txt").open("wb"))
            process = self._started(output)
            stack.callback(_end, process)
            self.events.register(listener, selectors.EVENT_READ)
            self._serve(process.pid)
            code, own = _waited_for(process)
        if code and not self.stopped and not self.evaluator.asked >= max(self.marks):
            output = (self.job.folder / "output.txt").read_text("utf-8", "replace")
            raise Failed(f"{self.tool.name} ended with {code}:\n{output[-3000:]}")
        return Found(self.evaluator.close(), self.evaluator.asked, own)

    def _started(self, output: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.tool.command(self.job),
            cwd=self.job.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": _path(), "OMP_NUM_THREADS": "1"},
        )

    def _serve(self, pid: int) -> None:
        """Answer requests until the process is over."""
        over = os.pidfd_open(pid)
        self.events.register(over, selectors.EVENT_READ)
        try:
            while all(self._answered(key, over) for key, _ in self.events.select(1.0)):
                if self.stopped and time.monotonic() > self.stopped + PATIENCE:
                    os.killpg(pid, signal.SIGKILL)
        finally:
            os.close(over)

    def _answered(self, key: selectors.SelectorKey, over: int) -> bool:
        """Take care of one event; False if the process is over."""
        if key.fd == over:
            return False
        if key.data is None:
            connection, _ = key.fileobj.accept()  # type: ignore[union-attr]
            self.events.register(connection, selectors.EVENT_READ, Line(connection))
        else:
            self._read(key.data)
        return True

    def _read(self, line: Line) -> None:
        more = line.connection.recv(1 << 16)
        *requests, line.read = (line.read + more).split(b"\n")
        for request in requests:
            answer = self._answer(request.decode().split("\t"))
            line.connection.sendall(f"{answer}\n".encode())
        if not more:
            self.events.unregister(line.connection)
            line.connection.close()

    def _answer(self, words: list[str]) -> str:
        if words[0] == "incumbent":
            self.told = self.tool.understood(self.job, words[1:])
            return "ok"
        number, seed, config = self.tool.request(self.job, words[1:])
        cost = self.evaluator.cost(config, number, seed)
        if cost is None:
            self.stopped = self.stopped or time.monotonic()
        return self.tool.answer(self.job, words[1:], cost)


def _path() -> str:
    """Where modules are found from any folder: ours, then what was given."""
    return os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Leave nothing behind where something went wrong."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _waited_for(process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """Its exit code, and the processor time that it and all it waited for have taken."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime
