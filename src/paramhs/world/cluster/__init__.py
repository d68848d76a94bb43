"""Runs on many machines, by Dask: the same search, its runs made elsewhere.

    home: the search, the store, the one who decides           executor.py, cluster.py
      scheduler: Dask's own, ours is none
        worker: Dask's process; makes what it is ordered to    worker.py
          warden, keeper, the run: as at home                  world/targets/supervisor

What a run needs travels once: space and target are a *kit*, known by its digest. An order names the
kit, the levels of the configuration, the instance and the seed (`packing.py`). A worker that does
not have what an order names says so and is sent it, so nothing has to be known about who has what:
workers may come, go and be replaced, and so may the scheduler.

A run is a pure function of its task, so what is lost with a worker is made again elsewhere, and
what is made twice is the same. A crash may be that of the target or that of the worker; it counts
as the target's only when two workers have seen it (`standing.py`).

Dask is imported where a cluster is used, not before.
"""

from paramhs.world.cluster.settings import SYSTEMS, Dask, as_dask

__all__ = ["SYSTEMS", "Dask", "as_dask"]
