"""Pool of keepers for a target, one for each concurrent run."""

import contextlib
import os
import queue
import secrets
import socket
import sys
import threading
import warnings
from typing import Any, NoReturn, Protocol

from paramhs.core.errors import CannotRun, TargetError
from paramhs.core.runs import Run, Task
from paramhs.execution.large_values import LargeValues
from paramhs.execution.supervisor.cgroup import ControlGroup, group_of
from paramhs.execution.supervisor.keeper import MARK, Job, Keeper
from paramhs.execution.supervisor.keeper_channel import (
    Declined,
    KeeperLine,
    Late,
    Lost,
    end_together,
)
from paramhs.execution.supervisor.orders import Execute, Limits, Outcome
from paramhs.execution.supervisor.reaper import be_subreaper, disregard_signals
from paramhs.execution.supervisor.warden import KEEPER_STOPPED_CODE, Warden

_MAX_ATTEMPTS = 2  # at a run whose keeper is lost
_MAX_DECLINES = 100  # of one run; earlier runs may have changed every idle keeper


class CannotKeep(CannotRun):
    """This machine currently has no resources for runs."""


class Ended(Exception):
    """A run was ended on request, without a result."""


class Supervisable(Protocol):
    """A target that can run under a keeper."""

    @property
    def name(self) -> str:
        """Display name of the target."""

    def job(self) -> Job:
        """Work that the keepers of the target do."""

    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task by means of a keeper."""

    def shown(self, task: Task) -> str:
        """Format the call of a task for display."""


class Supervised:
    """A target whose runs are supervised, one keeper for each calling thread.

    Keepers are forks of this process, so any function can be a target. They end their runs when
    this process ends, for whatever reason.
    """

    def __init__(self, target: Supervisable, count: int = 0) -> None:
        self.target = target
        self._values = LargeValues()
        self._running: dict[tuple[Any, ...], _Slot] = {}
        self._closed = False
        self._all: list[KeeperLine] = []
        # A fork made while another thread creates a socket pair would inherit both ends and keep it
        # open.
        self._processes = threading.Lock()
        self._idle: queue.SimpleQueue[KeeperLine] = queue.SimpleQueue()
        try:
            for _ in range(count):  # in the main thread, before there are others
                self._idle.put(self._start_keeper())
        except BaseException:
            self.close()
            raise

    def __call__(self, task: Task) -> Run:
        """Run a task under an idle keeper, or a new one."""
        packed, slot = self._values.packed(task), _Slot(self)
        self._running[task.call] = slot
        try:
            run = self.target.run(packed, slot.execute)
        except BaseException:
            slot.dismiss()
            raise
        finally:
            if self._running.get(task.call) is slot:  # another thread may run the same task
                del self._running[task.call]
        slot.give_back()
        return run if packed is task else run._replace(task=task)

    def end(self, task: Task) -> bool:
        """End the run of a task, whose caller receives `Ended`; False if there is none."""
        slot = self._running.get(task.call)
        if slot is not None:
            slot.end()
        return slot is not None

    def shown(self, task: Task) -> str:
        """Format the call of a task for display."""
        return self.target.shown(task)

    def take(self) -> KeeperLine:
        """Return an idle keeper, replacing one that has died meanwhile."""
        while True:
            keeper = None
            with contextlib.suppress(queue.Empty):
                keeper = self._idle.get_nowait()
            if keeper is None:  # a fork inside an except clause would show in every traceback
                return self._start_keeper()
            if keeper.silent:
                return keeper
            self.dismiss(keeper)

    def give_back(self, keeper: KeeperLine) -> None:
        """Return a keeper to the pool."""
        self._idle.put(keeper)

    @property
    def closed(self) -> bool:
        """Whether the pool accepts no more runs."""
        return self._closed

    def _start_keeper(self) -> KeeperLine:
        """Start a keeper and wait until it is ready.

        A fork may inherit a lock held by another thread and hang; this is detected here, and a new
        fork is tried.
        """
        for _ in range(3):
            with self._processes:
                if self._closed:
                    raise TargetError("the keepers are closed")
                keeper = self._fork_warden()
                self._all.append(keeper)
            if keeper.await_ready():
                return keeper
            self.dismiss(keeper)
        raise CannotKeep("the processes that supervise runs do not start")

    def _fork_warden(self) -> KeeperLine:
        ours, theirs = socket.socketpair()
        job, paramhs, mark = self.target.job(), os.getpid(), secrets.token_hex(16)
        group = group_of(mark)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()  # so that the fork does not print it again
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
        """End all runs immediately, with their keepers."""
        with self._processes:
            self._closed = True
            going = list(self._all)
            self._all.clear()
        end_together(going)
        self._values.close()

    def dismiss(self, keeper: KeeperLine) -> int | None:
        """End a keeper and its run; return the exit code of its warden."""
        with self._processes:
            if keeper not in self._all:
                return None
            self._all.remove(keeper)
        return end_together([keeper])[0]


class _Slot:
    """The keeper of one run, replaced if it is lost."""

    def __init__(self, supervised: Supervised) -> None:
        self._supervised = supervised
        self._keeper: KeeperLine | None = None
        self._ended = False

    def end(self) -> None:
        """End the run, from another thread."""
        self._ended = True
        if self._keeper:
            self._keeper.hang_up()

    def execute(self, request: Any, limits: Limits) -> Outcome:
        """Make a run under a keeper.

        A run whose keeper is lost is made again, because an outside process may have killed it. If
        that happens again, the run itself is the cause, and it counts as crashed.
        """
        # Three things can go wrong that are not the fault of the run: its keeper is killed from
        # outside, an earlier run has changed the keeper's limits, or the machine is out of
        # processes or memory. In each case one more attempt with a new keeper decides: a second
        # loss is blamed on the run, a second exhaustion stops the search, because no run could be
        # made.
        why, seconds = "", 0.0
        for attempt in range(_MAX_ATTEMPTS):
            try:
                outcome = self._ask(request, limits)
            except Lost as lost:
                seconds = min(self._keeper.seconds if self._keeper else 0.0, limits.wall)
                why = _why_lost(lost, self.dismiss())
                if self._ended:
                    raise Ended from None
                if self._supervised.closed:
                    raise TargetError("the keepers are closed, and the run was ended") from None
                continue
            if outcome.exhausted and attempt + 1 < _MAX_ATTEMPTS:
                self.dismiss()  # the run may have lowered the keeper's own limits
                continue
            if outcome.exhausted:
                raise CannotKeep(f"runs cannot be started: {outcome.trouble}.")
            return outcome
        return Outcome(wall=seconds, cpu=seconds, trouble=why)

    def _ask(self, request: Any, limits: Limits) -> Outcome:
        """Ask a keeper; one that declines is replaced without blaming this run."""
        for _ in range(_MAX_DECLINES):
            self._keeper = self._keeper or self._supervised.take()
            if self._ended:  # while there was no keeper
                raise Lost
            try:
                return self._keeper.ask(request, limits)
            except Declined:
                self.dismiss()
        raise Lost

    def dismiss(self) -> int | None:
        """End the keeper and its run."""
        keeper, self._keeper = self._keeper, None
        return self._supervised.dismiss(keeper) if keeper else None

    def give_back(self) -> None:
        """Return the keeper to the pool."""
        if self._keeper:
            self._supervised.give_back(self._keeper)


def _why_lost(lost: Lost, code: int | None) -> str:
    """Explain the loss of a keeper, using its warden's exit code."""
    what = "was stopped" if code == KEEPER_STOPPED_CODE else "was killed"
    if isinstance(lost, Late):
        what = "did not answer in time"
    return (
        f"the process that supervises the run {what}, in {_MAX_ATTEMPTS} of {_MAX_ATTEMPTS}"
        " attempts;"
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
    """Main function of a warden in the forked process, and of its keeper, forked from it."""
    code = 1
    # The order matters. Signals are ignored before anything else can send one; the mark is set
    # before the keeper is forked, so that everything below inherits it; both become subreapers
    # before a run can leave orphans; and the warden keeps no end of the connection, so that paramhs
    # notices the end of the keeper.
    try:
        other.close()  # otherwise a closed connection would go unnoticed
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
