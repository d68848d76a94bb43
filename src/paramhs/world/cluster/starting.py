"""Clusters that are started, or only spoken to."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster

from paramhs.values.errors import BadInput, TargetError
from paramhs.world.cluster.settings import Dask

_CONNECTING = 60.0  # seconds that a scheduler may take to answer at first
_WRITTEN = {"htcondor": "HTCondor", "moab": "Moab"}  # by dask-jobqueue; others in capitals
_UNINTERRUPTED = "import signal\nsignal.signal(signal.SIGINT, lambda *received: None)\n"
"""Ctrl-C reaches all processes of a terminal; it is for the search to answer."""
_TTL = "30 s"  # after which a worker of ours that is not heard of is replaced


@contextmanager
def start_cluster(settings: Dask, jobs: int) -> Iterator[Client]:
    """A client of the cluster; whatever was started for it ends with it."""
    if settings.client is not None:
        with _made_elsewhere(settings.client) as client:
            yield client
    elif settings.system is not None:
        with _queue_workers(settings, jobs) as cluster, Client(cluster) as client:
            yield client
    elif settings.address == "local":
        with _local(jobs) as cluster, Client(cluster) as client:
            yield client
    else:
        with _connect(settings.address, settings.patience or _CONNECTING) as client:
            yield client


def _local(workers: int) -> Any:
    """Worker processes on this machine."""
    try:
        with dask.config.set({"distributed.scheduler.worker-ttl": _TTL}):
            return LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",
                memory_limit=0,  # limits are the keepers' affair
                preload=_UNINTERRUPTED,
                silence_logs=logging.CRITICAL,  # what went wrong is said by us, and once
            )
    except RuntimeError as error:
        raise TargetError(
            f"the worker processes do not start: {error} (a script must call tune inside"
            ' if __name__ == "__main__":, because they begin by importing it)'
        ) from None


def _connect(address: str, patience: float) -> Client:
    """A client of the scheduler there, which may be just starting."""
    deadline = time.monotonic() + patience
    while True:
        left = max(deadline - time.monotonic(), 0.1)
        try:
            return Client(address, timeout=left)
        except ValueError as error:
            raise BadInput(f"{address!r} is no address of a scheduler: {error}") from None
        except OSError as error:
            if time.monotonic() >= deadline:
                raise TargetError(f"no Dask scheduler answers at {address}: {error}") from None
        time.sleep(0.2)


@contextmanager
def _made_elsewhere(client: Any) -> Iterator[Client]:
    """A client that is the user's, or that a function of theirs makes for us."""
    if not isinstance(client, Client):
        made = client()
        if not isinstance(made, Client):
            raise BadInput(f"{client} gave a {type(made).__name__}, not a distributed.Client")
        with made:
            yield made
        return
    if client.asynchronous:
        raise BadInput("the client is asynchronous; make one without asynchronous=True")
    if client.status != "running":
        raise BadInput(f"the client is {client.status}")
    yield client


def _queue_workers(settings: Dask, jobs: int) -> Any:
    """Workers that are jobs of a batch system; each makes one run at a time."""
    try:
        import dask_jobqueue
    except ImportError:
        raise BadInput(
            "workers of a batch system need the extra cluster: pip install 'paramhs[cluster]'"
        ) from None
    system = str(settings.system)
    kind = getattr(dask_jobqueue, f"{_WRITTEN.get(system, system.upper())}Cluster")
    options = {"cores": 1, **settings.options}
    options.setdefault("processes", options["cores"])
    try:
        cluster = kind(**options)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{system}: {error}") from None
    cluster.scale(jobs)
    return cluster
