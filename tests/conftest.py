"""What is the same for all tests: how much is tried, and in which order."""

import os

# Before numpy is loaded: threads of BLAS wait for each other in loops where workers share cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gc
import shutil
import signal
from itertools import islice

import pytest

from tests.support import scale

MEMORY = "/dev/shm"
ROOM = 1 << 30  # bytes free there, of which the suite needs a tenth


# Before numpy is imported: the threads of OpenBLAS would compete with the other test processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    scale.configure(config)
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        # Stores wait for a disk at every run; what they do with a full or a slow one is tested.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As in the background of a shell; but what tests start and interrupt is to hear it.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that fork come first, in all workers but one.

    A fork takes longer the more is in memory, and these tests also wait the longest: meanwhile the
    other worker has something to do. Each worker begins with as many tests, which come in a row.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    forking = max(1, workers - 1)
    first = [item for item in items if item.get_closest_marker("forks")]
    others = iter([item for item in items if not item.get_closest_marker("forks")])
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        own = first[worker::forking] if worker < forking else []
        count = (len(items) - len(ordered)) // (workers - worker) - len(own)
        ordered += own + list(islice(others, max(0, count)))
    items[:] = ordered + list(others)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt what was collected from garbage collection, so that forks share it."""
    gc.collect()
    gc.freeze()
