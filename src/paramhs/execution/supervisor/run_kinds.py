"""The two kinds of runs under a keeper: a command, or a Python function in a worker process.

Both start a run, let the keeper watch it until it is over or a limit is reached, and end whatever
is left of it. A program is started anew each time, by vfork, so that it costs the same however
large paramhs is; everything below the keeper belongs to its run. A function is called in a worker
that is forked once and reused. Processes that it keeps (a pool of its own) may survive between its
runs; all of them are ended when a worker is replaced because it reached a limit or died.
"""

import contextlib
import ctypes
import errno
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO, Any, NoReturn

from paramhs.execution.supervisor.capture import Capture
from paramhs.execution.supervisor.keeper import Keeper
from paramhs.execution.supervisor.orders import Command, Limits, Outcome
from paramhs.execution.supervisor.stopwatch import Stopwatch
from paramhs.execution.supervisor.tree import PEAK_UNIT
from paramhs.execution.supervisor.worker_channel import Link, receive_request, send_answer

READ_SECONDS = 10.0  # processor time for reading an output
_FAST_BYTES = 1 << 14  # of output that paramhs reads itself; a keeper reads a longer one
_EXHAUSTED = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY}


class CommandJob:
    """Runs a program in its own session; the run is over when the program has ended.

    Processes that it leaves behind are killed then. `read` interprets the outputs, here instead of
    in paramhs, because a regular expression can take for ever on an unexpected output and could not
    be interrupted there.
    """

    def __init__(self, read: Callable[[str, str], Any] | None = None) -> None:
        self._read = read

    def begin(self, keeper: Keeper) -> None:
        """Do nothing, because a program needs no preparation."""

    def run(self, keeper: Keeper, command: Command, limits: Limits) -> Outcome:
        """Start the program, watch it and end it."""
        cpu_before, keeper.tree.peak = keeper.tree.reaped_cpu, 0
        try:
            program, outputs, watch = _begin(command)
        except (OSError, ValueError) as error:
            exhausted = isinstance(error, OSError) and error.errno in _EXHAUSTED
            return Outcome(trouble=_explained(error, command), exhausted=exhausted)
        for output in outputs:
            output.close_theirs()
            keeper.on(output.fd, lambda output=output: _take_in(keeper, output))  # type: ignore[misc]

        def over() -> bool:
            return program.pid in keeper.ended

        limit = keeper.watch(limits, cpu_before, over, watch)
        # The grace period is not part of the run.
        wall = watch.look()
        if limit:
            keeper.stop(limit, limits)
        left = keeper.end()
        program.returncode = keeper.ended.get(program.pid, -signal.SIGKILL)
        for output in outputs:
            keeper.off(output.fd)
        printed, errors = (output.close() for output in outputs)
        return Outcome(
            limit=limit,
            code=program.returncode,
            wall=wall,
            cpu=keeper.tree.reaped_cpu - cpu_before,
            memory=_known_peak(keeper.tree.peak),
            output=printed,
            errors=errors,
            left_behind=0 if limit else left,
            reading=self._reading(command, printed, errors),
        )

    def _reading(self, command: Command, output: bytes, errors: bytes) -> Any:
        """Read the output if that may take long; otherwise paramhs reads it faster."""
        if self._read is None or not (command.read or len(output) + len(errors) > _FAST_BYTES):
            return None
        return _read_within_limit(self._read, output, errors)


def _read_within_limit(read: Callable[[str, str], Any], output: bytes, errors: bytes) -> Any:
    """Read an output; return a TimeoutError if it takes too long."""
    before = signal.signal(signal.SIGPROF, _give_up_reading)
    # Python's re checks for signals now and then.
    signal.setitimer(signal.ITIMER_PROF, READ_SECONDS)
    try:
        return read(output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))
    except Exception as error:
        return error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _give_up_reading(number: int, frame: object) -> None:
    raise TimeoutError(f"reading its output took more than {READ_SECONDS:g} s")


def _known_peak(peak: int) -> int:
    """Peak memory if known: a program counts as no smaller than the process that forked it."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT
    return peak if peak > own else 0


def _begin(
    command: Command,
) -> tuple["subprocess.Popen[bytes]", tuple[Capture, Capture], Stopwatch]:
    """Start a program with its outputs and stopwatch; retry while resources are exhausted."""
    for pause in (0.05, 0.2, 0.8, None):
        outputs: list[Capture] = []
        try:
            outputs += [Capture(command.kept) for _ in range(2)]
            watch = Stopwatch()
            return _start(command, outputs[0], outputs[1]), (outputs[0], outputs[1]), watch
        except (OSError, ValueError) as error:
            for output in outputs:
                output.close()
            if pause is None or not isinstance(error, OSError) or error.errno not in _EXHAUSTED:
                raise
            time.sleep(pause)
    raise AssertionError("this line is never reached")


def _start(command: Command, output: Capture, errors: Capture) -> "subprocess.Popen[bytes]":
    with contextlib.ExitStack() as stack:
        given: Any = subprocess.DEVNULL
        if command.given:
            given = stack.enter_context(_in_memory())
            given.write(command.given)
            given.seek(0)
        return subprocess.Popen(  # noqa: S603 -- a list of words, no shell
            command.words,
            stdin=given,
            stdout=output.theirs,
            stderr=errors.theirs,
            cwd=command.folder,
            start_new_session=True,
        )


def _in_memory() -> IO[bytes]:
    """Anonymous file, in memory if the system supports it."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("given"), "w+b")
    return tempfile.TemporaryFile()


def _take_in(keeper: Keeper, output: Capture) -> None:
    output.read()
    if not output.open:
        keeper.off(output.fd)


def _explained(error: OSError | ValueError, command: Command) -> str:
    """Explain why a program could not be started, and what would help."""
    program = command.words[0]
    if isinstance(error, ValueError):
        return f"{program} cannot be started: {error}"
    if not os.path.isdir(command.folder):
        return f"{program} cannot be started: there is no folder {command.folder}"
    if isinstance(error, FileNotFoundError):
        if os.sep in program and os.path.exists(os.path.join(command.folder, program)):
            return f"{program} cannot be started: its interpreter (the #! line) does not exist"
        where = "" if os.sep in program else " on the PATH"
        return f"there is no program {program}{where}"
    if isinstance(error, PermissionError):
        return f"{program} may not be executed: chmod +x it, or name its interpreter before it"
    if error.errno == errno.ENOEXEC:
        return f"{program} is not a program: a script needs a first line such as #!/bin/sh"
    return f"{program} cannot be started: {error.strerror}"


class FunctionJob:
    """Calls a Python function in a worker process, forked again after it had to be killed."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self._answer = answer
        self._worker = 0
        self._link: Link | None = None

    def begin(self, keeper: Keeper) -> None:
        """Fork the worker."""
        ours, theirs = socket.socketpair()
        keeper_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            ours.close()
            _be_worker(self._answer, keeper, theirs, keeper_pid)
        theirs.close()
        self._worker, self._link = pid, Link(ours)

    def run(self, keeper: Keeper, arguments: bytes, limits: Limits) -> Outcome:
        """Call the function; a worker that reaches a limit or dies is replaced."""
        if self._worker in keeper.ended:  # it died while idle
            self._replace(keeper)
        assert self._link is not None  # noqa: S101 -- begun
        link, measured = self._link, limits.clock == "cpu"
        cpu_before = keeper.tree.cpu() if measured else 0.0

        def over() -> bool:
            return bool(link.answer) or link.broken or self._worker in keeper.ended

        watch = Stopwatch()
        link.ask(arguments)
        _listen(keeper, link)
        limit = keeper.watch(limits, cpu_before, over, watch)
        wall = watch.look()
        cpu = keeper.tree.cpu() - cpu_before if measured else 0.0
        keeper.off(link.fileno())
        if not limit and link.answer:
            if self._worker in keeper.ended:  # it died after its answer
                self._replace(keeper)
            return Outcome(wall=wall, cpu=cpu, code=0, answer=link.answer)
        if limit:
            keeper.stop(limit, limits)
        code = self._replace(keeper)
        return Outcome(limit, code, wall, cpu)

    def _replace(self, keeper: Keeper) -> int:
        """End the worker and all processes below it, fork another, and return the old exit code."""
        keeper.end()
        code = keeper.ended.get(self._worker, -signal.SIGKILL)
        if self._link is not None:
            self._link.close()
        self.begin(keeper)
        return code


def _listen(keeper: Keeper, link: Link) -> None:
    """Let the keeper's event loop move data on the connection, in both directions."""

    def go_on() -> None:
        link.advance()
        # Whether it waits for writing may have changed, and a selector keeps what it was told.
        keeper.off(link.fileno())
        if not link.broken:
            keeper.on(link.fileno(), go_on, link.writing)

    keeper.on(link.fileno(), go_on, link.writing)


def _be_worker(
    answer: Callable[[Any], Any], keeper: Keeper, line: socket.socket, keeper_pid: int
) -> NoReturn:
    """Main function of a worker process."""
    code = 1
    try:
        keeper.forget()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.setsid()
        _die_with(keeper_pid)
        while True:
            number, request = receive_request(line)
            send_answer(line, number, pickle.dumps(answer(pickle.loads(request))))  # noqa: S301
    except (EOFError, ConnectionError):
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _die_with(parent: int) -> None:
    """Ask Linux for a SIGKILL when the parent dies."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        libc.prctl(15, b"run-worker", 0, 0, 0)  # PR_SET_NAME
        # The parent may have died before the system knew of the wish.
        if os.getppid() != parent:
            os._exit(1)
