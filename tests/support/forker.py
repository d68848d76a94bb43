"""Commands in processes forked from one that has imported the command line already.

Most of a small command's time goes into imports. The fork has them from the start; all else is as
in `python -m paramhs`: a process with a folder, an environment, an empty standard input, pipes that
end when the last process holding them does, exit codes, and an interpreter that ends by itself.
"""

import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HUNG = 240.0  # seconds until a command is taken to hang
LARGE = {
    "saps": "paramhs.bundled.saps",
    "landscape": "paramhs.theory.table",
    **dict.fromkeys(("tune", "show", "report", "simplify"), "paramhs.report.files"),
}
"""What some commands import besides: had once, when the first of them is asked for."""
_ENDED = 16  # bytes of an answer


class Forker:
    """The process that forks; it ends with the one that made it."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def run(
        self, words: Sequence[str], cwd: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, and to that of all that hold its output."""
        ours, theirs = zip(os.pipe(), os.pipe(), strict=True)
        request = json.dumps([words, str(cwd), environment]).encode()
        socket.send_fds(self._line, [len(request).to_bytes(8) + request], theirs)
        for end in theirs:
            os.close(end)
        pid = int(self._line.recv(_ENDED))
        try:
            out, err = _all_read(ours)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self._line.recv(_ENDED)
            raise
        finally:
            for end in ours:
                os.close(end)
        return subprocess.CompletedProcess(words, int(self._line.recv(_ENDED)), out, err)


def _all_read(ends: Sequence[int]) -> list[str]:
    """What comes from each until it is closed."""
    message: dict[int, bytearray] = {end: bytearray() for end in ends}
    until = time.monotonic() + HUNG
    with selectors.DefaultSelector() as waiting:
        for end in ends:
            waiting.register(end, selectors.EVENT_READ)
        while waiting.get_map():
            if time.monotonic() > until:
                raise TimeoutError(f"a command still runs after {HUNG:.0f} s; it said {message}")
            for key, _ in waiting.select(1.0):
                piece = os.read(key.fd, 1 << 16)
                message[key.fd] += piece
                if not piece:
                    waiting.unregister(key.fd)
    return [text.decode("utf-8").replace("\r\n", "\n") for text in message.values()]


def _serve(line: socket.socket) -> tuple[list[str], str, dict[str, str]] | None:
    """Fork for each request; returns in the fork what it is to run, else nothing at the end."""
    while True:
        start, ends, _, _ = socket.recv_fds(line, 8, 2)
        if not start:
            return None
        request = json.loads(line.recv(int.from_bytes(start), socket.MSG_WAITALL))
        if request[0] and request[0][0] in LARGE:
            importlib.import_module(LARGE[request[0][0]])
        gc.freeze()  # a fork that looks for garbage would copy all that was there before it
        pid = os.fork()
        if not pid:
            line.close()
            for here, end in enumerate(ends, 1):
                os.dup2(end, here)
                os.close(end)
            return request
        for end in ends:
            os.close(end)
        line.sendall(str(pid).ljust(_ENDED).encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        line.sendall(str(code).ljust(_ENDED).encode())


def _main() -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads would not survive a fork

    import paramhs.cli  # noqa: F401

    request = _serve(socket.socket(fileno=int(sys.argv[1])))
    if request is None:
        return
    words, folder, environment = request
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = os.getcwd()
    sys.argv = ["", *words]
    runpy.run_module("paramhs", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
