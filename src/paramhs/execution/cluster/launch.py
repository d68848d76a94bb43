"""Clusters that are started here, or only connected to.

A Dask scheduler runs whatever a connected client sends. Clusters started here therefore use TLS
with a certificate created for each of them: without its key, which only their own processes have,
no connection is accepted. Local clusters listen on the loopback interface only. Dask's HTTP servers
cannot be turned off; without the dashboard they serve no pages.
"""

import importlib.util
import logging
import os
import ssl
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster, Security

from paramhs.core.errors import BadInput, TargetError
from paramhs.execution.cluster.config import Credentials, Dask

_CONNECT_SECONDS = 60.0  # for a scheduler to answer at first
# Spelling of dask-jobqueue; others are in capitals.
_WRITTEN = {"htcondor": "HTCondor", "moab": "Moab"}
_UNINTERRUPTED = "import signal\nsignal.signal(signal.SIGINT, lambda *received: None)\n"
"""Code that ignores Ctrl-C in workers; a terminal sends it to all, but the search handles it."""
_TTL = "30 s"  # a silent worker of ours is replaced after this time
_LOOPBACK = "127.0.0.1"
_ANY_PORT = f"{_LOOPBACK}:0"
_NO_PAGES: dict[str, Any] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextmanager
def start_cluster(settings: Dask, jobs: int) -> Iterator[Client]:
    """Yield a client of the cluster; whatever was started ends with it."""
    if settings.client is not None:
        with _made_elsewhere(settings.client) as client:
            yield client
    elif settings.system is not None:
        with _queue_workers(settings, jobs) as cluster, Client(cluster) as client:
            yield client
    elif settings.is_local:
        with _local(jobs, settings.dashboard) as cluster, Client(cluster) as client:
            yield client
    else:
        with _connect(settings) as client:
            yield client


def dashboard_of(client: Client) -> str:
    """Address of the dashboard of a local cluster."""
    return f"http://{_LOOPBACK}:{client.cluster.scheduler.http_server.port}/status"


def _local(workers: int, dashboard: bool) -> Any:
    """Private worker processes on this machine."""
    if _is_imported_by_worker():
        raise SystemExit(1)  # quietly: the process that starts the workers says why
    if dashboard and importlib.util.find_spec("bokeh") is None:
        raise BadInput("the dashboard needs bokeh: pip install bokeh")
    pages = {} if dashboard else _NO_PAGES
    try:
        with dask.config.set({"distributed.scheduler.worker-ttl": _TTL, **pages}):
            return LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host=_LOOPBACK,
                security=_temporary(),
                dashboard_address=_ANY_PORT if dashboard else None,
                scheduler_kwargs={"dashboard_address": _ANY_PORT},
                memory_limit=0,  # limits are enforced by the keepers
                preload=_UNINTERRUPTED,
                silence_logs=logging.CRITICAL,  # errors are reported by paramhs, once
            )
    except RuntimeError as error:
        raise TargetError(
            f"the worker processes do not start: {error} A script must call tune under"
            ' if __name__ == "__main__":, because they import the script.'
        ) from None


def _is_imported_by_worker() -> bool:
    """Whether a worker process that is starting imports the script that calls us.

    Until that is done, the script is a module of another name, and not yet the main one.
    """
    script = sys.modules.get("__mp_main__")
    return script is not None and script is not sys.modules.get("__main__")


def _temporary() -> Security:
    """Temporary credentials for one cluster, kept in memory."""
    try:
        return Security.temporary()
    except ImportError:
        raise BadInput(
            "a private cluster needs cryptography: pip install 'paramhs[cluster]'"
        ) from None


def _security(tls: Credentials) -> Security:
    """Credentials from files, for every role; connections without TLS are rejected."""
    for name, path in vars(tls).items():
        if not os.access(path, os.R_OK):
            raise BadInput(f"tls: {name} cannot be read: {path}")
    roles = ("client", "scheduler", "worker")
    certificates = {f"tls_{role}_cert": tls.cert for role in roles}
    keys = {f"tls_{role}_key": tls.key for role in roles}
    return Security(tls_ca_file=tls.ca_file, require_encryption=True, **certificates, **keys)


def _connect(settings: Dask) -> Client:
    """Connect to a scheduler, which may still be starting."""
    address = settings.address
    security = _security(settings.tls) if settings.tls else None
    deadline = time.monotonic() + (settings.patience or _CONNECT_SECONDS)
    while True:
        left = max(deadline - time.monotonic(), 0.1)
        try:
            return Client(address, timeout=left, security=security)
        except ValueError as error:
            raise BadInput(f"{address!r} is not the address of a scheduler: {error}") from None
        except (TypeError, RuntimeError, ssl.SSLError) as error:
            raise BadInput(
                f"{address} cannot be reached: {error}; does it need tls = ...?"
            ) from None
        except OSError as error:
            if time.monotonic() >= deadline:
                raise TargetError(f"no Dask scheduler answers at {address}: {error}") from None
        time.sleep(0.2)


@contextmanager
def _made_elsewhere(client: Any) -> Iterator[Client]:
    """The user's client, or one created by the user's function."""
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
    """Start workers as jobs of a batch system; each makes one run at a time."""
    try:
        import dask_jobqueue
    except ImportError:
        raise BadInput(
            "workers of a batch system need the extra cluster: pip install 'paramhs[cluster]'"
        ) from None
    system = str(settings.system)
    kind = getattr(dask_jobqueue, f"{_WRITTEN.get(system, system.upper())}Cluster")
    options = {"cores": 1, **_private(settings), **settings.options}
    options.setdefault("processes", options["cores"])
    own = {"dashboard": False, "dashboard_address": _ANY_PORT}
    options["security"] = options.get("security") or None
    options["scheduler_options"] = {**own, **options.get("scheduler_options", {})}
    try:
        cluster = kind(**options)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{system}: {error}") from None
    cluster.scale(jobs)
    return cluster


def _private(settings: Dask) -> dict[str, Any]:
    """Options that make TLS the default.

    Workers read temporary credentials from files that only their owner can read, in a folder shared
    with this process.
    """
    if {"security", "protocol"} & settings.options.keys():
        return {}
    if settings.tls:
        return {"security": _security(settings.tls), "protocol": "tls://"}
    return {
        "security": _temporary(),
        "protocol": "tls://",
        "shared_temp_directory": os.getcwd(),
    }
