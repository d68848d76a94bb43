"""Keepers at work for a target: one for each run at a time."""

import contextlib
import math
import os
import queue
import secrets
import select
import selectors
import signal
import socket
import struct
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NoReturn, Protocol

import psutil

from paramhs.values.errors import TargetError
from paramhs.values.runs import Run, Task
from paramhs.world.targets.supervisor.cgroup import ControlGroup, group_of
from paramhs.world.targets.supervisor.keeper import MARK, Job, Keeper
from paramhs.world.targets.supervisor.outcome import Execute, Limits, Outcome
from paramhs.world.targets.supervisor.reaper import be_subreaper, disregard_signals
from paramhs.world.targets.supervisor.stopwatch import Stopwatch
from paramhs.world.targets.supervisor.tree import below, state
from paramhs.world.targets.supervisor.warden import KEEPER_STOPPED, Warden

_READY = 30.0  # seconds that a new keeper may take to say that it is there
_ANSWERING = 120.0  # seconds that it may take beyond the limits of a run, or within a message
_ENDING = 15.0  # seconds that a keeper may take to end what it keeps, before it is looked after
_LOOK = 1.0  # seconds between looks at a warden
_STOPPED = 3.0  # seconds that a warden may be stopped while paramhs is not
_TRIES = 2  # times that a run is made whose keeper is lost


class Supervisable(Protocol):
    """A target that can run under a keeper."""

    @property
    def name(self) -> str:
        """What it is, for people."""

    def job(self) -> Job:
        """What its keepers run."""

    def run(self, task: Task, execute: Execute) -> Run:
        """Turn a task into a run, by means of a keeper."""

    def shown(self, task: Task) -> str:
        """The call, for people."""


class _Lost(Exception):
    """A keeper is gone."""


class _Late(_Lost):
    """A keeper does not answer in time."""


class _KeeperLine:
    """A keeper, seen from paramhs: the line to it, and its warden, which is our child.

    Requests are numbered, and each is waited for with a deadline. That covers what no warden can
    see to: that it is itself stopped, or that both are.
    """

    def __init__(
        self,
        warden: int,
        connection: "Connection[Any, Any]",
        mark: str,
        group: ControlGroup | None = None,
    ) -> None:
        self.warden = warden
        self._group = group
        self.mark = mark
        """What all that it starts have in their environment."""
        self.keeper = 0
        """Its process, once it is ready."""
        self.seconds = 0.0
        """How long it has been waited for."""
        self._connection = connection
        self._number = 0
        self._stopped = 0.0
        self._poll = select.poll()
        self._poll.register(connection.fileno(), select.POLLIN)
        _set_timeouts(connection)

    def await_ready(self) -> bool:
        """Whether there is a keeper at the other end."""
        with contextlib.suppress(_Lost):
            self.keeper = int(self._receive(_READY))
        return self.keeper > 0

    @property
    def silent(self) -> bool:
        """Whether all is quiet on the line, as it is while a keeper has nothing to do."""
        return not self._poll.poll(0)

    def ask(self, request: Any, limits: Limits) -> Outcome:
        """What a keeper answers; `_Lost` if it does not."""
        self._number += 1
        try:
            self._connection.send((self._number, request, limits))
        except OSError as error:
            raise _Lost from error
        number, outcome = self._receive(limits.wall + limits.grace + _ANSWERING)
        if number != self._number:
            raise _Lost
        answer: Outcome = outcome
        return answer

    def _receive(self, patience: float) -> Any:
        watch = Stopwatch(_LOOK)
        while not self._poll.poll(_LOOK * 1000):
            self.seconds = watch.look()
            if self.seconds > patience:
                raise _Late
            self._look_after_warden()
        self.seconds = watch.look()
        try:
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise _Lost from error

    def _look_after_warden(self) -> None:
        """Let a stopped warden go on; who stops everything would have stopped us by now."""
        if state(self.warden) != psutil.STATUS_STOPPED:
            self._stopped = 0.0
            return
        self._stopped += _LOOK
        if self._stopped > _STOPPED:
            _signal(self.warden, signal.SIGCONT)

    def hang_up(self) -> None:
        """Both ends see it at once, also a thread that waits for an answer."""
        with (
            contextlib.suppress(OSError),
            socket.socket(fileno=os.dup(self._connection.fileno())) as line,
        ):
            line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the line."""
        self._connection.close()

    def await_end(self) -> int | None:
        """Wait until a keeper that was hung up on has ended all, and its warden has gone: its exit
        code, or None if it takes too long. Then the warden is left at it, because it goes on until
        nothing is left; killing it would help nobody."""
        code = _await_exit(self.warden, _ENDING)
        if code is None and not self.keeper:  # it has never begun
            _kill_all_below(self.warden)
            return _await_exit(self.warden, _ENDING)
        if code is None:
            _signal(self.warden, signal.SIGCONT)
            _signal(self.keeper, signal.SIGCONT)
            code = _await_exit(self.warden, _ENDING)
        if code is None:  # it is lost, or does what takes for ever; its warden will see to the rest
            _signal(self.keeper, signal.SIGKILL)
            code = _await_exit(self.warden, _ENDING)
        if code is not None and code < 0:  # somebody has killed it: has the keeper seen that?
            _await_absence(self.keeper, _ENDING)
            _kill_orphans(self.mark)
        if code is not None and self._group:
            self._group.end()
        return code


class Supervised:
    """A target whose runs are kept, as many at a time as there are threads that call it.

    Keepers are forks of this process, so any function will do. They end their runs when this
    process ends, however it ends.
    """

    def __init__(self, target: Supervisable, count: int = 0) -> None:
        self.target = target
        self._closed = False
        self._all: list[_KeeperLine] = []
        # A fork made while another thread holds both ends of a pipe would keep that pipe open.
        self._processes = threading.Lock()
        self._idle: queue.SimpleQueue[_KeeperLine] = queue.SimpleQueue()
        try:
            for _ in range(count):  # here, in the main thread, before there are others
                self._idle.put(self._start_keeper())
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> tuple[object, ...]:
        return Supervised, (self.target,)

    def __call__(self, task: Task) -> Run:
        """Run a task under an idle keeper, or a new one."""
        slot = _Slot(self)
        try:
            run = self.target.run(task, slot.execute)
        except BaseException:
            slot.dismiss()
            raise
        slot.give_back()
        return run

    def shown(self, task: Task) -> str:
        """The call, for people."""
        return self.target.shown(task)

    def take(self) -> _KeeperLine:
        """A keeper that has nothing to do; one that died meanwhile is replaced."""
        while True:
            try:
                keeper = self._idle.get_nowait()
            except queue.Empty:
                return self._start_keeper()
            if keeper.silent:
                return keeper
            self.dismiss(keeper)

    def give_back(self, keeper: _KeeperLine) -> None:
        """It has nothing to do."""
        self._idle.put(keeper)

    @property
    def closed(self) -> bool:
        """Whether no more runs are wanted."""
        return self._closed

    def _start_keeper(self) -> _KeeperLine:
        """A new keeper that has said it is ready. A fork may inherit a lock held by a thread and
        stand still; that is noticed here, and it is tried again."""
        for _ in range(3):
            with self._processes:
                if self._closed:
                    raise TargetError("the keepers are closed")
                keeper = self._fork_warden()
                self._all.append(keeper)
            if keeper.await_ready():
                return keeper
            self.dismiss(keeper)
        raise TargetError("the processes that keep runs do not start")

    def _fork_warden(self) -> _KeeperLine:
        ours, theirs = Pipe()
        job, paramhs, mark = self.target.job(), os.getpid(), secrets.token_hex(16)
        group = group_of(mark)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()  # lest a fork print it again
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # see _start_keeper
                pid = os.fork()
        except OSError as error:
            raise TargetError(f"no process can be started: {error.strerror}") from error
        if pid == 0:
            for other in self._all:
                other.close()
            _be_warden(job, theirs, ours, paramhs, mark, group)
        theirs.close()
        return _KeeperLine(pid, ours, mark, group)

    def close(self) -> None:
        """End all runs, whatever they are doing, and their keepers."""
        with self._processes:
            self._closed = True
            going = list(self._all)
            self._all.clear()
        _end_together(going)

    def dismiss(self, keeper: _KeeperLine) -> int | None:
        """Hang up, which makes a keeper end all it keeps, and see it go: its warden's exit code."""
        with self._processes:
            if keeper not in self._all:
                return None
            self._all.remove(keeper)
        return _end_together([keeper])[0]


class _Slot:
    """What one run needs: a keeper, and another if that is lost."""

    def __init__(self, supervised: Supervised) -> None:
        self._supervised = supervised
        self._keeper: _KeeperLine | None = None

    def execute(self, request: Any, limits: Limits) -> Outcome:
        """Make a run under a keeper.

        A run whose keeper is lost is made again: somebody may have killed it. If that happens
        again it is the run's own doing, so it has failed, like any other that does not end well.
        """
        why, seconds = "", 0.0
        for _ in range(_TRIES):
            keeper = self._keeper = self._keeper or self._supervised.take()
            try:
                outcome = keeper.ask(request, limits)
            except _Lost as lost:
                seconds = min(keeper.seconds, limits.wall)
                why = _why_lost(lost, self.dismiss())
                if self._supervised.closed:
                    raise TargetError("the keepers are closed, and the run was ended") from None
                continue
            if outcome.exhausted:
                raise TargetError(
                    f"runs cannot be started: {outcome.trouble}; stored runs are safe"
                )
            return outcome
        return Outcome(wall=seconds, cpu=seconds, trouble=why)

    def dismiss(self) -> int | None:
        """End the keeper, with its run."""
        keeper, self._keeper = self._keeper, None
        return self._supervised.dismiss(keeper) if keeper else None

    def give_back(self) -> None:
        """The keeper is free for another run."""
        if self._keeper:
            self._supervised.give_back(self._keeper)


def _why_lost(lost: _Lost, code: int | None) -> str:
    """What became of a keeper, also by its warden's exit code."""
    what = "was stopped" if code == KEEPER_STOPPED else "was killed"
    if isinstance(lost, _Late):
        what = "did not answer in time"
    return (
        f"the process that keeps the run {what}, in {_TRIES} of {_TRIES} attempts;"
        " does the target send signals to its parent?"
    )


def _end_together(keepers: Sequence[_KeeperLine]) -> list[int | None]:
    """Hang up on all, then wait for each."""
    for keeper in keepers:
        keeper.hang_up()
    codes = [keeper.await_end() for keeper in keepers]
    for keeper in keepers:
        keeper.close()
    return codes


def _be_warden(
    job: Job,
    connection: "Connection[Any, Any]",
    other: "Connection[Any, Any]",
    paramhs: int,
    mark: str,
    group: ControlGroup | None,
) -> NoReturn:
    """The life of a warden, in the forked process, and that of its keeper, forked from it."""
    code = 1
    try:
        other.close()  # else nobody would see that paramhs hung up
        before = disregard_signals()
        os.environ[MARK] = mark
        with open(os.devnull, encoding="utf-8") as nothing:
            os.dup2(nothing.fileno(), 0)
        with contextlib.suppress(OSError):
            os.setsid()
        be_subreaper(b"run-warden")
        if group and not group.join():
            group = None
        warden = os.getpid()
        pid = os.fork()
        if pid == 0:
            be_subreaper(b"run-keeper")
            Keeper(connection, before, group).serve(job, paramhs, warden)
            code = 0
        else:
            connection.close()
            code = Warden(pid).serve(paramhs)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _set_timeouts(connection: "Connection[Any, Any]") -> None:
    """Within a message, nobody waits for ever, should a keeper be stopped just then."""
    seconds = struct.pack("@ll", math.ceil(_ANSWERING), 0)
    with socket.socket(fileno=os.dup(connection.fileno())) as line:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            line.setsockopt(socket.SOL_SOCKET, option, seconds)


def _await_exit(pid: int, seconds: float) -> int | None:
    """Wait until a child has ended, and reap it: its exit code; None if it has not ended."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:  # somebody else has reaped it
            return 0
        if done:
            return os.waitstatus_to_exitcode(status)
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        _await_event(pid, left)


def _await_absence(pid: int, seconds: float) -> None:
    """Wait until a process that is not our child is gone."""
    deadline = time.monotonic() + seconds
    while state(pid) != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        _await_event(pid, deadline - time.monotonic())


def _await_event(pid: int, seconds: float) -> None:
    """Until a process ends, or a moment where the system cannot tell."""
    if not hasattr(os, "pidfd_open"):
        time.sleep(min(seconds, 0.01))
        return
    with contextlib.suppress(OSError):
        end = os.pidfd_open(pid)
        with contextlib.closing(selectors.DefaultSelector()) as selector:
            selector.register(end, selectors.EVENT_READ)
            selector.select(max(seconds, 0.0))
        os.close(end)


def _kill_orphans(mark: str) -> None:
    """Kill what a keeper had started that was killed together with its warden."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                process.kill()


def _kill_all_below(pid: int) -> None:
    for process in [*below(pid), pid]:
        _signal(process, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
