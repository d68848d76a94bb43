"""Worker processes for Python functions: a hang or a crash costs one run, not the search.

A process pool of the standard library cannot stop one worker without losing all; so each thread
of the driver's pool talks to a worker process of its own, which it can kill.
"""

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
import warnings
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from paramhs.errors import BadInput, TargetError
from paramhs.runs import Run, Status, Task
from paramhs.targets.function import FunctionTarget

_LONGEST_WAIT = 3600.0  # seconds; the system refuses to wait for very long times at once
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
        self._all: list[_Worker] = []
        # A fork made while another thread holds both ends of a pipe would keep that pipe open.
        self._processes = threading.Lock()
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for _ in range(count):  # here, in the main thread, before there are others
            self._idle.put(self._hired())

    def __call__(self, task: Task) -> Run:
        """Run a task in an idle worker; kill the worker at the cutoff."""
        worker = self._idle.get()
        try:
            run = self._supervised(worker, task)
        finally:
            if worker not in self._all and not self._closed:
                worker = self._hired()
            self._idle.put(worker)
        return run

    def shown(self, task: Task) -> str:
        """The call, for people."""
        return self.target.shown(task)

    def _supervised(self, worker: _Worker, task: Task) -> Run:
        begin = time.monotonic()
        try:
            worker.connection.send(self.target.arguments(task))
            if not _heard(worker, task.cutoff):
                self._kill(worker)
                return Run(task, Status.TIMEOUT, task.cutoff, None, "stopped at the cutoff")
            run: Run = worker.connection.recv().run(task)
            return run
        except (EOFError, OSError):
            what = f"the worker process died (exit code {self._kill(worker)})"
            return Run(task, Status.CRASHED, time.monotonic() - begin, None, what)
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            raise BadInput(
                f"instance {task.instance.name!r} cannot be sent to a worker process ({error});"
                " use executor='threads', or give a path or a name"
            ) from error

    def _hired(self) -> _Worker:
        """A new worker that has said it is ready. A fork may inherit a lock held by a thread and
        stand still; that is noticed here, and it is tried again."""
        for _ in range(3):
            with self._processes:
                if self._closed:
                    raise TargetError("the workers are closed")
                worker = self._started()
                self._all.append(worker)
            if worker.connection.poll(_READY):
                with contextlib.suppress(EOFError, ConnectionError):
                    worker.connection.recv()
                    return worker
            self._kill(worker)
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
        with self._processes:
            self._closed = True
        for worker in list(self._all):
            self._kill(worker)

    def _kill(self, worker: _Worker) -> int | None:
        """End a worker and the children of its process group; its exit code."""
        with self._processes:  # starting a process looks at all others, so none may go meanwhile
            if worker not in self._all:
                return None
            self._all.remove(worker)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(worker.process.pid or 0, signal.SIGKILL)
            worker.process.kill()
            worker.process.join()
            code: int | None = worker.process.exitcode
            worker.process.close()
            worker.connection.close()
            return code


def _heard(worker: _Worker, cutoff: float) -> bool:
    """Wait for an answer, the worker's death or the cutoff; False if it was the cutoff."""
    deadline = time.monotonic() + cutoff
    while True:
        left = deadline - time.monotonic()
        if wait([worker.connection, worker.process.sentinel], min(max(left, 0.0), _LONGEST_WAIT)):
            return True
        if left <= 0:
            return False


def _work(target: FunctionTarget, connection: "Connection[Any, Any]", parent: int) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver to answer
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setpgid(0, 0)  # so that what the function starts can be ended with it
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
