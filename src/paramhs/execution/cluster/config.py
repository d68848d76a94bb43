"""Settings of a connection to a cluster."""

import ipaddress
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.space.literals import is_finite
from paramhs.core.text.quoting import short

SYSTEMS = ("slurm", "pbs", "lsf", "sge", "htcondor", "oar", "moab")
"""Batch systems supported by dask-jobqueue."""


@dataclass(frozen=True)
class Credentials:
    """Paths of the PEM files that grant access to a cluster.

    Every process of the cluster (scheduler, workers, this one) has the same three files: the
    certificate of the authority that signed all others, a certificate, and its key. The
    owner of the key may run programs on the cluster.
    """

    ca_file: str
    cert: str
    key: str

    def __post_init__(self) -> None:
        for name in ("ca_file", "cert", "key"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise BadInput(f"tls needs the path of a file as {name}")


@dataclass(frozen=True)
class Dask:
    """Makes runs on the workers of a Dask cluster: `tune(..., executor=Dask("tcp://...:8786"))`.

    `address` is the address of its scheduler; "local" starts a cluster on this machine with one
    worker process per job. With a `system` ("slurm", "pbs", ...), workers are jobs of a batch
    system, one per job of the search, and `options` are the arguments of `dask_jobqueue` (`queue`,
    `cores`, `memory`, `walltime` and so on). `client` is a `distributed.Client`, or a function that
    creates one. With an address or a client, the number of concurrent runs is the workers' number
    of threads, unless `jobs` is larger than 1.

    A local cluster is private: its connections are encrypted and admit only its own processes.
    So are the connections of a batch system's workers, unless `options` has `security` or
    `protocol`. For an `address`, give `tls` where its scheduler is encrypted ("tls://...").

    Args:
        address: Address of the scheduler; "local" starts workers on this machine.
        system: Batch system whose jobs are the workers.
        options: What `dask_jobqueue` is told about a job, such as `cores` and `walltime`.
        client: A `distributed.Client`, or a function that makes one.
        ship: Whether instance files are sent to the workers.
        patience: Seconds to wait for a lost worker or scheduler.
        tls: Credentials of an encrypted cluster.
        dashboard: Whether a local cluster has Dask's dashboard.

    Examples:
        >>> import paramhs
        >>> paramhs.Dask(system="slurm", options={"cores": 8, "walltime": "04:00:00"}).system
        'slurm'
    """

    address: str = "local"
    system: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    client: Any = None
    ship: bool = False
    """Whether instance files are sent to the workers; otherwise workers read the same paths."""
    patience: float | None = None
    """Seconds to wait for a worker or the scheduler to return.

    Default: five minutes; without limit with a batch system.
    """
    tls: Credentials | None = None
    """Credentials of an encrypted cluster reached by an address or a batch system."""
    dashboard: bool = False
    """Whether a local cluster serves Dask's dashboard (needs bokeh).

    It listens on the loopback interface only, but every user of this machine can read it.
    """

    def __post_init__(self) -> None:
        ways = [self.address != "local", self.system is not None, self.client is not None]
        if sum(ways) > 1:
            raise BadInput("a cluster needs exactly one of an address, a batch system and a client")
        if self.system is not None and self.system not in SYSTEMS:
            raise BadInput(f"system must be one of {', '.join(SYSTEMS)}, not {short(self.system)}")
        if self.options and self.system is None:
            raise BadInput("options apply only to a batch system, but none is named")
        if self.tls is not None and (self.client is not None or self.is_local):
            raise BadInput(
                "tls applies to an address or a batch system; a local cluster creates its own"
            )
        if self.tls is not None and {"security", "protocol"} & self.options.keys():
            raise BadInput("set either tls or the options security and protocol")
        if self.dashboard and not self.is_local:
            raise BadInput("dashboard applies only to a cluster started on this machine")
        if self.patience is not None and not (is_finite(self.patience) and self.patience > 0):
            raise BadInput(
                f"patience must be a number of seconds above 0, not {short(self.patience)}"
            )

    @property
    def starts_workers(self) -> bool:
        """Whether workers are started here, one per job."""
        return self.system is not None or self.is_local

    @property
    def is_local(self) -> bool:
        """Whether the cluster is started on this machine."""
        return self.client is None and self.system is None and self.address == "local"

    @property
    def exposure(self) -> str:
        """Warning about an unsafe connection; empty if it is encrypted or unknown."""
        if self.system is not None:
            unsafe = _unencrypted(self.options) and self.tls is None
            return f"the scheduler of the {self.system} workers {_ANYBODY}" if unsafe else ""
        if self.is_local or self.client is not None or not _is_plain(self.address):
            return ""
        if _is_loopback(self.address):
            return f"the scheduler at {self.address} {_ANY_USER}"
        return f"the scheduler at {self.address} {_ANYBODY}"


_UNSAFE = "is not encrypted and asks for no password:"
_CONSEQUENCE = "can run programs as you; use TLS (docs/how-to/cluster.md)"
_ANYBODY = f"{_UNSAFE} everyone on its network {_CONSEQUENCE}"
_ANY_USER = f"{_UNSAFE} every user of this machine {_CONSEQUENCE}"


def _unencrypted(options: Mapping[str, Any]) -> bool:
    """Whether options of dask-jobqueue turn off encryption, which is on by default."""
    if "security" in options:
        return not options["security"]
    return "protocol" in options and _is_plain(str(options["protocol"]))


def _is_plain(address: str) -> bool:
    scheme = address.partition("://")[0] if "://" in address else "tcp"
    return scheme in ("tcp", "ws", "ucx")


def _is_loopback(address: str) -> bool:
    """Whether an address such as tcp://127.0.0.1:8786 is reachable only from this machine."""
    host = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class AtHand:
    """A connected cluster that is used for several purposes."""


def as_dask(executor: object) -> Dask | None:
    """Interpret a user's executor as a cluster; None if it is something else."""
    if isinstance(executor, Dask):
        return executor
    if isinstance(executor, str) and executor == "dask":
        return Dask()
    return Dask(client=executor) if _is_client(executor) else None


def _is_client(thing: object) -> bool:
    """Whether an object is a Dask client, without importing Dask: its owner has imported it."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(thing, distributed.Client)
