"""What a run on a cluster costs beside Dask's own call; tables for docs/how-to/cluster.md.

python -m benchmarks.overhead.cluster
"""

import pickle
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
import psutil
from distributed import Client, LocalCluster
from rich.console import Console
from rich.table import Table

from paramhs.core.runs import Instance, Task
from paramhs.core.space import Space
from paramhs.execution.cluster.serialization import Packer
from paramhs.execution.executors import executing
from paramhs.execution.targets import FunctionTarget

ROUNDS, CALLS = 12, 40
LARGE = Space({f"parameter_{i}": range(1000) for i in range(150)})
INSTANCE = Instance("/scratch/instances/uniform-250-1065/uf250-042.cnf")


def nothing(config: dict[str, Any], instance: object, seed: int) -> float:
    """A target that does nothing."""
    return 0.0


def nought() -> float:
    """What Dask alone is given to do."""
    return 0.0


def overheads() -> Table:
    """A run beside Dask's own call of nothing, in turns, so that both see the same machine."""
    table = Table(title="a run on a worker beside Dask's own call of nothing")
    for name in ("at a time", "Dask, ms", "paramhs, ms", "ratio", "ratio of processor time"):
        table.add_column(name, justify="right")
    with local(2) as client, executing(FunctionTarget(nothing), client, 1, 10.0) as (pool, runner):
        task = Task(LARGE.default, INSTANCE, 1, 10.0)

        def ours(count: int) -> None:
            for future in [pool.submit(runner, task) for _ in range(count)]:
                future.result()

        def theirs(count: int) -> None:
            futures = [client.submit(nought, pure=False) for _ in range(count)]
            client.gather(futures) if count > 1 else futures[0].result()

        for together in (1, 8):
            ours(together), theirs(together)
            rounds = [(per_call(theirs, together), per_call(ours, together)) for _ in range(ROUNDS)]
            bare, made = (statistics.median(times) for times in zip(*rounds, strict=True))
            ratio = statistics.median(b / a for a, b in rounds)
            worked = processor_time(ours, together) / processor_time(theirs, together)
            times = (f"{1e3 * bare:.2f}", f"{1e3 * made:.2f}", f"{ratio:.2f}", f"{worked:.2f}")
            table.add_row(str(together), *times)
    return table


def per_call(call: Callable[[int], None], together: int) -> float:
    begin = time.perf_counter()
    for _ in range(CALLS // together):
        call(together)
    return (time.perf_counter() - begin) / (CALLS // together * together)


def processor_time(call: Callable[[int], None], together: int) -> float:
    """Seconds that all processes work for many calls, whatever else the machine does."""
    before = worked()
    for _ in range(5):
        per_call(call, together)
    return worked() - before


def worked() -> float:
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def sizes() -> Table:
    """What travels for one run of 150 parameters."""
    table = Table(title="what travels, in bytes, with 150 parameters")
    table.add_column("what")
    table.add_column("bytes", justify="right")
    task = Task(LARGE.default, INSTANCE, 2**31 - 1, 300.0)
    packer = Packer(FunctionTarget(nothing), ship=False)
    order = packer.order(task)
    table.add_row("an order", f"{len(order):,}")
    (kit,) = packer.parcels((packer.kit,)).values()
    table.add_row("space and target, once a worker", f"{len(kit):,}")
    table.add_row(
        "a task with its space, as any other executor gets it", f"{len(pickle.dumps(task)):,}"
    )
    return table


@contextmanager
def local(workers: int) -> Iterator[Client]:
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "5 s"}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        yield client


def main() -> None:
    console = Console(width=150)
    console.print(overheads())
    console.print(sizes())


if __name__ == "__main__":
    main()
