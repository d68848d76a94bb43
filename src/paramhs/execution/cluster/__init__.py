"""Runs on many machines through Dask: the same search with remote runs.

    home: the search, the store, all decisions                 executor.py, cluster.py
      scheduler: Dask's own, unmodified
        worker: Dask's process; executes orders                worker.py
          warden, keeper, run: as on one machine               execution/supervisor

What all runs need is sent once: space and target form a *kit*, identified by its digest. An order
names the kit, the levels of the configuration, the instance and the seed (`serialization.py`). A
worker that lacks something replies with its digest and receives it, so nothing needs to be tracked:
workers may come, leave and be replaced, and so may the scheduler.

A run is a pure function of its task, so a run lost with a worker is made again elsewhere, and a run
made twice has the same result. A crash may be caused by the target or by the worker; it counts as
the target's only if two workers have seen it (`worker_health.py`).

Anyone with access to a scheduler can run programs as its owner. A cluster started here is
therefore encrypted and admits only the processes started for it (`launch.py`).

Dask is imported only where a cluster is used.
"""

from paramhs.execution.cluster.config import SYSTEMS, Credentials, Dask, as_dask

__all__ = ["SYSTEMS", "Credentials", "Dask", "as_dask"]
