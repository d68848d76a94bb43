"""Keepers at work for a target: one for each run at a time."""

import contextlib
import os
import queue
import secrets
import socket
import sys
import threading
import warnings
from typing import Any, NoReturn, Protocol

from paramhs.values.errors import TargetError
from paramhs.values.runs import Run, Task
from paramhs.world.targets.supervisor.cgroup import ControlGroup, group_of
from paramhs.world.targets.supervisor.keeper import MARK, Job, Keeper
from paramhs.world.targets.supervisor.line import Declined, KeeperLine, Late, Lost, end_together
from paramhs.world.targets.supervisor.outcome import Execute, Limits, Outcome
from paramhs.world.targets.supervisor.reaper import be_subreaper, disregard_signals
from paramhs.world.targets.supervisor.warden import KEEPER_STOPPED, Warden

_TRIES = 2  # times that a run is made whose keeper is lost
_DECLINES = 100  # keepers that may decline a run; all that are idle may have been changed by others


class CannotKeep(TargetError):
    """This machine has no room for runs at the moment, whatever they are."""


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


class Supervised:
    """A target whose runs are kept, as many at a time as there are threads that call it.

    Keepers are forks of this process, so any function will do. They end their runs when this
    process ends, however it ends.
    """

    def __init__(self, target: Supervisable, count: int = 0) -> None:
        self.target = target
        self._closed = False
        self._all: list[KeeperLine] = []
        # A fork made while another thread holds both ends of a pipe would keep that pipe open.
        self._processes = threading.Lock()
        self._idle: queue.SimpleQueue[KeeperLine] = queue.SimpleQueue()
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

    def take(self) -> KeeperLine:
        """A keeper that has nothing to do; one that died meanwhile is replaced."""
        while True:
            try:
                keeper = self._idle.get_nowait()
            except queue.Empty:
                return self._start_keeper()
            if keeper.silent:
                return keeper
            self.dismiss(keeper)

    def give_back(self, keeper: KeeperLine) -> None:
        """It has nothing to do."""
        self._idle.put(keeper)

    @property
    def closed(self) -> bool:
        """Whether no more runs are wanted."""
        return self._closed

    def _start_keeper(self) -> KeeperLine:
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
        raise CannotKeep("the processes that keep runs do not start")

    def _fork_warden(self) -> KeeperLine:
        ours, theirs = socket.socketpair()
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
            raise CannotKeep(f"no process can be started: {error.strerror}") from error
        if pid == 0:
            for other in self._all:
                other.close()
            _be_warden(job, theirs, ours, paramhs, mark, group)
        theirs.close()
        return KeeperLine(pid, ours, mark, group)

    def close(self) -> None:
        """End all runs, whatever they are doing, and their keepers."""
        with self._processes:
            self._closed = True
            going = list(self._all)
            self._all.clear()
        end_together(going)

    def dismiss(self, keeper: KeeperLine) -> int | None:
        """Hang up, which makes a keeper end all it keeps, and see it go: its warden's exit code."""
        with self._processes:
            if keeper not in self._all:
                return None
            self._all.remove(keeper)
        return end_together([keeper])[0]


class _Slot:
    """What one run needs: a keeper, and another if that is lost."""

    def __init__(self, supervised: Supervised) -> None:
        self._supervised = supervised
        self._keeper: KeeperLine | None = None

    def execute(self, request: Any, limits: Limits) -> Outcome:
        """Make a run under a keeper.

        A run whose keeper is lost is made again: somebody may have killed it. If that happens
        again it is the run's own doing, so it has failed, like any other that does not end well.
        """
        why, seconds = "", 0.0
        for attempt in range(_TRIES):
            try:
                outcome = self._ask(request, limits)
            except Lost as lost:
                seconds = min(self._keeper.seconds if self._keeper else 0.0, limits.wall)
                why = _why_lost(lost, self.dismiss())
                if self._supervised.closed:
                    raise TargetError("the keepers are closed, and the run was ended") from None
                continue
            if outcome.exhausted and attempt + 1 < _TRIES:
                self.dismiss()  # it may be its own limits that a run has lowered
                continue
            if outcome.exhausted:
                raise CannotKeep(f"runs cannot be started: {outcome.trouble}; stored runs are safe")
            return outcome
        return Outcome(wall=seconds, cpu=seconds, trouble=why)

    def _ask(self, request: Any, limits: Limits) -> Outcome:
        """What a keeper answers; one that declines is replaced, which is no fault of this run."""
        for _ in range(_DECLINES):
            self._keeper = self._keeper or self._supervised.take()
            try:
                return self._keeper.ask(request, limits)
            except Declined:
                self.dismiss()
        raise Lost

    def dismiss(self) -> int | None:
        """End the keeper, with its run."""
        keeper, self._keeper = self._keeper, None
        return self._supervised.dismiss(keeper) if keeper else None

    def give_back(self) -> None:
        """The keeper is free for another run."""
        if self._keeper:
            self._supervised.give_back(self._keeper)


def _why_lost(lost: Lost, code: int | None) -> str:
    """What became of a keeper, also by its warden's exit code."""
    what = "was stopped" if code == KEEPER_STOPPED else "was killed"
    if isinstance(lost, Late):
        what = "did not answer in time"
    return (
        f"the process that keeps the run {what}, in {_TRIES} of {_TRIES} attempts;"
        " does the target send signals to its parent?"
    )


def _be_warden(
    job: Job,
    line: socket.socket,
    other: socket.socket,
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
            Keeper(line, before, group).serve(job, paramhs, warden)
            code = 0
        else:
            line.close()
            code = Warden(pid).serve(paramhs)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)
