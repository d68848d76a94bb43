"""Real child processes that run a few lines of Python, and waiting for what they do."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psutil

PATIENCE = 120.0  # seconds until a child that says nothing is taken to hang


def start(code: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """A child at the head of a process group of its own, as the shell would make it."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=with_our_modules() | environment,
    )


def with_our_modules() -> dict[str, str]:
    """The environment of a child that can import what this process can."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@contextmanager
def child(code: str, *arguments: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A child that is gone at the end, with all that it started."""
    process = start(code, *arguments, **environment)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def output(code: str, *arguments: object, **environment: str) -> str:
    """What a child that ends well prints."""
    with child(code, *arguments, **environment) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out


def eventually(fact: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether something becomes true before long."""
    deadline = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_gone(process: psutil.Process) -> bool:
    """Whether it is dead, buried or not."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def offspring(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
