"""How long a page takes, and how large it is: of stores with 10,000 and 1,000,000 runs.

python -m benchmarks.overhead.report [--runs 10000 1000000] [--parameters 10] [--instances 100]

The stores are made up: incumbents get better, each challenger meets the incumbent on a few pairs,
some runs fail. Each page is made in a process of its own, as `paramhs report` makes it, with what
Python and the imports take, and the most memory it had.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from paramhs.core.description import description
from paramhs.core.runs import Instance
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.core.test_set import TestSet
from paramhs.execution.storage.sqlite import SqliteStore
from paramhs.execution.targets import FunctionTarget
from paramhs.procedures.validate import validate
from paramhs.search.configurators import ParamHS

TURN_RUNS = 5  # runs of a challenger


def cost(config: dict[str, float], instance: str, seed: int) -> float:
    """What a run reports."""
    rng = Random(f"{instance} {seed}")
    return sum((x - 0.2) ** 2 / (k + 1) for k, x in enumerate(config.values())) + rng.random()


def made_up(path: Path, runs: int, parameters: int, instances: int) -> None:
    """Write a store with this number of runs and a verdict."""
    space = Space({f"parameter{k}": (0.0, 1.0) for k in range(parameters)})
    names = tuple(Instance(f"instance-{k:05}", f"instance-{k:05}") for k in range(instances))
    scenario = Scenario(space, names)
    target = FunctionTarget(cost)
    described = {
        "scenario": scenario.describe(),
        "target": target.describe(),
        "configurator": description(ParamHS(), "it"),
        "seed": 0,
    }
    SqliteStore(path, space, described).close()
    rng = Random(0)
    steps = list(_incumbents(space, rng))
    with closing(sqlite3.connect(path)) as db:
        _fill(db, space, steps, names, runs, rng)
        db.commit()
    best = TestSet(tuple(Instance(f"test-{k:05}", f"test-{k:05}") for k in range(instances)), True)
    validate(scenario, target, [space.default, steps[-1]], best, store=path)


def _incumbents(space: Space, rng: Random, count: int = 40) -> Iterator[Config]:
    """Each closer to what is good in a few parameters."""
    indices = list(space.default.indices)
    for _ in range(count):
        yield space.configured(indices)
        for _ in range(3):
            position = rng.randrange(len(indices))
            indices[position] = (indices[position] + 13) // 2


def _fill(
    db: sqlite3.Connection,
    space: Space,
    steps: Sequence[Config],
    names: Sequence[Instance],
    runs: int,
    rng: Random,
) -> None:
    db.execute("INSERT INTO sessions VALUES (1, 1, 0.0)")
    db.executemany(
        "INSERT INTO instances VALUES (?, ?)", [(k, n.name) for k, n in enumerate(names)]
    )
    configs: dict[str, int] = {}

    def number(config: Config) -> int:
        return configs.setdefault(config.key, len(configs))

    def rows() -> Iterator[tuple[object, ...]]:
        for asked in range(runs):
            race, turn = divmod(asked, 2 * TURN_RUNS)
            if turn == 0:
                incumbent = steps[min(len(steps) - 1, race * len(steps) * TURN_RUNS * 2 // runs)]
                indices = list(incumbent.indices)
                for _ in range(2):
                    indices[rng.randrange(len(indices))] = rng.randrange(65)
                challenger = space.configured(indices)
            config = challenger if turn < TURN_RUNS else incumbent
            values, seed = config.as_dict(), asked if config is incumbent else race * 10 + turn
            failed = rng.random() < 0.001
            quality = None if failed else sum(
                (x - 0.2) ** 2 / (k + 1) for k, x in enumerate(values.values())
            ) + rng.random()  # fmt: skip
            status, detail = ("crashed", "no memory left") if failed else ("ok", "")
            instance = rng.randrange(len(names))
            yield (1, number(config), instance, seed, float("inf"), status, 0.01, quality, detail,
                   None, asked, 1, 0.0, asked * 0.011)  # fmt: skip

    db.executemany(f"INSERT OR IGNORE INTO runs VALUES ({', '.join('?' * 14)})", rows())
    every = max(1, runs // len(steps))
    points = [(1, k, number(c), k * every, k * 1.0, 1.0, 10) for k, c in enumerate(steps)]
    db.executemany("INSERT INTO trajectory VALUES (?, ?, ?, ?, ?, ?, ?)", points)
    db.executemany("INSERT INTO configs VALUES (?, ?)", [(k, key) for key, k in configs.items()])


ONE = """
import json, resource, sys, time
from paramhs.cli import main
sys.argv = ["paramhs", "report", sys.argv[1]]
try:
    main()
except SystemExit:
    pass
used = time.process_time()
print(json.dumps([used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def measured(store: Path) -> tuple[float, float, float, int]:
    """Seconds that passed, of processor time, megabytes of memory, bytes of the page."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", ONE, str(store)], capture_output=True, text=True, check=True
    )
    passed = time.perf_counter() - begun
    used, memory = json.loads(done.stdout.splitlines()[-1])
    return passed, used, memory, store.with_suffix(".html").stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--parameters", type=int, default=10)
    parser.add_argument("--instances", type=int, default=100)
    wanted = parser.parse_args()
    table = Table("runs", "parameters", "instances", "s passed", "s of CPU", "MB", "kB of page")
    for runs in wanted.runs:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder, "runs.sqlite")
            made_up(store, runs, wanted.parameters, wanted.instances)
            passed, used, memory, size = measured(store)
        shape = (f"{runs:,}", str(wanted.parameters), str(wanted.instances))
        table.add_row(*shape, f"{passed:.1f}", f"{used:.1f}", f"{memory:.0f}", f"{size / 1e3:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
