"""How a cluster is reached."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.space.values import is_finite

SYSTEMS = ("slurm", "pbs", "lsf", "sge", "htcondor", "oar", "moab")
"""Batch systems that dask-jobqueue knows."""


@dataclass(frozen=True)
class Dask:
    """Runs are made by the workers of a Dask cluster: `tune(..., executor=Dask("tcp://...:8786"))`.

    `address` is that of its scheduler; "local" starts a cluster on this machine, with as many
    worker processes as there are jobs. With a `system` ("slurm", "pbs", ...), workers are jobs of
    a batch system, as many as there are jobs here, and `options` are what `dask_jobqueue` takes
    (`queue`, `cores`, `memory`, `walltime` and so on). `client` is a `distributed.Client`, or a
    function that makes one. With an address or a client, as many runs are made at a time as the
    workers have threads, unless there are several `jobs`.
    """

    address: str = "local"
    system: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    client: Any = None
    ship: bool = False
    """Whether files of instances are sent along; else workers find them where they are here."""
    patience: float | None = None
    """Seconds that the search waits for a worker, or the scheduler, to come back; left out, five
    minutes, and with a batch system as long as it takes."""

    def __post_init__(self) -> None:
        ways = [self.address != "local", self.system is not None, self.client is not None]
        if sum(ways) > 1:
            raise BadInput(
                "a cluster is reached by an address, a batch system or a client, one of them"
            )
        if self.system is not None and self.system not in SYSTEMS:
            raise BadInput(f"system must be one of {', '.join(SYSTEMS)}, not {short(self.system)}")
        if self.options and self.system is None:
            raise BadInput("options are for a batch system, and none is named")
        if self.patience is not None and not (is_finite(self.patience) and self.patience > 0):
            raise BadInput(
                f"patience must be a number of seconds above 0, not {short(self.patience)}"
            )

    @property
    def starts_workers(self) -> bool:
        """Whether it is for us to start workers, as many as there are jobs."""
        return self.client is None and (self.system is not None or self.address == "local")


class AtHand:
    """A cluster that was reached, and is to be used for several things."""


def as_dask(executor: object) -> Dask | None:
    """The cluster that is meant by what a user gives as the executor; None if it is none."""
    if isinstance(executor, Dask):
        return executor
    if isinstance(executor, str) and executor == "dask":
        return Dask()
    return Dask(client=executor) if _is_client(executor) else None


def _is_client(thing: object) -> bool:
    """Who has a client has imported Dask; nobody else needs to."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(thing, distributed.Client)
