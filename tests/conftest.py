"""What is the same for all tests: how much is tried, and in which order."""

import gc
import os
import shutil
import signal
from itertools import islice

import pytest

import scale

FORKING = (
    "cgroup",
    "cluster",
    "command_target",
    "driver",
    "seams",
    "supervised_functions",
    "supervisor",
    "tuning",
    "validating",
)
"""Files whose tests fork this process, which takes longer the more is in its memory."""

MEMORY = "/dev/shm"
ROOM = 1 << 30  # bytes free there, of which the suite needs a tenth


def pytest_configure(config: pytest.Config) -> None:
    scale.configure(config)
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        # Stores wait for a disk at every run; what they do with a full or a slow one is tested.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As in the background of a shell; but what tests start and interrupt is to hear it.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What forks comes first, in all workers but one: it also waits the longest, and meanwhile
    there is something to do. Each worker begins with as many tests, which come in a row."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    forking = max(1, workers - 1)
    names = {f"test_{name}" for name in FORKING}
    first = [item for item in items if item.path.stem in names]
    others = iter([item for item in items if item.path.stem not in names])
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        own = first[worker::forking] if worker < forking else []
        count = (len(items) - len(ordered)) // (workers - worker) - len(own)
        ordered += own + list(islice(others, max(0, count)))
    items[:] = ordered + list(others)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays: nobody need look for garbage in it, and forks share it."""
    gc.collect()
    gc.freeze()
