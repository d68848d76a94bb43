"""Worker processes for Python functions: a hang or a crash costs one run, not the search.

A process pool of the standard library cannot stop one worker without losing all; so each thread
of the driver's pool talks to a worker process of its own, which it can kill.
"""

import contextlib
import ctypes
import multiprocessing
import os
import queue
import signal
import sys
import warnings
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from paramhs.errors import BadInput, TargetError
from paramhs.runs import Run, Status, Task
from paramhs.targets.function import FunctionTarget

_READY = 30.0  # seconds that a new worker may take to say that it is there


class _Worker(NamedTuple):
    process: BaseProcess
    connection: "Connection[Any, Any]"


class Workers:
    """A target that runs its function in worker processes, as many at a time as it was given.

    On Linux they are forks of this process, so any function will do; elsewhere the function must
    be importable. They die with this process (on Linux at once, elsewhere when their run is over).
    """

    def __init__(self, target: FunctionTarget, count: int) -> None:
        self.target = target
        self._context: Any = multiprocessing.get_context(
            "fork" if sys.platform == "linux" else "spawn"
        )
        self._closed = False
        self._all: set[_Worker] = set()
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for _ in range(count):  # here, in the main thread, before there are others
            self._idle.put(self._hired())

    def __call__(self, task: Task) -> Run:
        """Run a task in an idle worker; kill the worker at the cutoff."""
        worker = self._idle.get()
        try:
            run = self._supervised(worker, task)
        finally:
            if not worker.process.is_alive() and not self._closed:
                self._all.discard(worker)
                worker = self._hired()
            self._idle.put(worker)
        return run

    def _supervised(self, worker: _Worker, task: Task) -> Run:
        try:
            worker.connection.send(self.target.arguments(task))
            if not worker.connection.poll(None if task.cutoff == float("inf") else task.cutoff):
                _killed(worker)
                return Run(task, Status.TIMEOUT, task.cutoff, None, "stopped at the cutoff")
            answer = worker.connection.recv()
        except (EOFError, ConnectionError):
            _killed(worker)
            what = f"the worker process died (exit code {worker.process.exitcode})"
            return Run(task, Status.CRASHED, 0.0, None, what)
        run: Run = answer.run(task)
        return run

    def _hired(self) -> _Worker:
        """A new worker that has said it is ready. A fork may inherit a lock held by a thread and
        stand still; that is noticed here, and it is tried again."""
        for _ in range(3):
            worker = self._started()
            if worker.connection.poll(_READY):
                with contextlib.suppress(EOFError, ConnectionError):
                    worker.connection.recv()
                    self._all.add(worker)
                    return worker
            _killed(worker)
        raise TargetError("worker processes do not start; use executor='threads'")

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(self.target, theirs, os.getpid()), daemon=True
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads: see _hired
                process.start()
        except (AttributeError, TypeError, ImportError) as error:  # pickling, where not forked
            raise BadInput(
                f"{self.target.name} cannot be sent to worker processes ({error}):"
                " define it at the top of a module, or use executor='threads'"
            ) from error
        theirs.close()
        return _Worker(process, ours)

    def close(self) -> None:
        """Kill all workers, whatever they are doing."""
        self._closed = True
        for worker in self._all:
            _killed(worker)


def _killed(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()


def _work(target: FunctionTarget, connection: "Connection[Any, Any]", parent: int) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver to answer
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _die_with(parent)
    connection.send("ready")
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            connection.send(target.answer(connection.recv()))


def _die_with(parent: int) -> None:
    """Ask Linux for a SIGKILL when the parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
