"""Real workers beside the virtual ones: `python -m benchmarks.studies.workers.real`.

The target sleeps for a time with a heavy tail and returns a noisy quality, so it needs no processor
and any number of workers fits on one machine. One search is made with one worker, 32 threads, and 8
worker processes of Dask. Rows are added to data/real.csv; the table of docs/benchmarks/workers.md
is printed. `--make 32` makes a search with so many threads, `--make dask` one on Dask.
"""

import argparse
import csv
import hashlib
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import paramhs
from paramhs.core.random_streams import stream
from paramhs.report.result import Result

TABLE = Path(__file__).parent / "data" / "real.csv"
SPACE = {"x": range(40), "y": range(40), "mode": ["a", "b", "c"], "z": range(20)}
INSTANCES = 20
MEDIAN_SECONDS, SPREAD = 0.12, 1.2
"""Of a run's time, which is lognormal: one run in a hundred takes 16 times the median."""
DASK_WORKERS = 8


class Row(NamedTuple):
    """One search."""

    runs: int
    seed: int
    executor: str
    workers: int
    seconds: float
    """From the beginning to the last run."""
    slept: float
    """Seconds that the runs took, together."""
    made: int
    """Runs made, without those that were ended."""
    used: int
    """Runs that the search asked for."""
    trajectory: str
    """Digest of the incumbents and of when they were found."""
    load: float
    """Load of the machine when the search began."""


def target(config: Mapping[str, Any], instance: int, seed: int) -> float:
    """Sleep, and return a noisy quality."""
    rng = stream(seed, str(config), instance)
    slow = 3.0 if config["mode"] == "a" else 1.0
    time.sleep(slow * MEDIAN_SECONDS * math.exp(SPREAD * rng.gauss(0.0, 1.0)))
    far = abs(config["x"] - 31) + abs(config["y"] - 8) + 10 * (config["mode"] != "c")
    return far + config["z"] / 2 + 8 * rng.random() + instance % 5


def searched(executor: str, workers: int, runs: int, seed: int) -> Row:
    """Make one search."""
    load = os.getloadavg()[0]
    result = paramhs.tune(
        target,
        SPACE,
        instances=range(INSTANCES),
        test_instances=0,
        budget=runs,
        seed=seed,
        jobs=workers,
        executor=executor,  # type: ignore[arg-type]
    )
    seconds, slept = round(result.record.wall_time, 1), round(result.target_time, 1)
    made = len(result.runs) + result.record.speculative
    used = len(result.runs)
    digest = trajectory_digest(result)
    return Row(runs, seed, executor, workers, seconds, slept, made, used, digest, round(load, 1))


def trajectory_digest(result: Result) -> str:
    """Digest of the incumbents, and of the runs after which they were found."""
    points = [(point.config.key, point.runs) for point in result.record.trajectory]
    return hashlib.sha256(repr(points).encode()).hexdigest()[:12]


def read() -> list[Row]:
    """Rows of the searches that were made."""
    if not TABLE.exists():
        return []
    kinds = Row.__annotations__.values()
    with TABLE.open(newline="") as file:
        found = list(csv.reader(file))[1:]
    return [Row(*(kind(text) for kind, text in zip(kinds, row, strict=True))) for row in found]


def write(rows: Sequence[Row]) -> None:
    """Write the whole table."""
    with TABLE.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows(sorted(rows))


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """A table: the mean over the seeds that were searched with one worker, too."""
    yield "| runs | searches | workers | time | times faster | useful | same trajectory | load |"
    yield "|---|---|---|---|---|---|---|---|"
    alone = {(row.runs, row.seed): row for row in rows if row.workers == 1}
    for kind in sorted({(row.runs, row.workers, row.executor) for row in rows}):
        own = [r for r in rows if (r.runs, r.workers, r.executor) == kind and r[:2] in alone]
        if not own:
            continue
        one = [alone[row[:2]] for row in own]
        faster = fmean(a.seconds / row.seconds for a, row in zip(one, own, strict=True))
        useful = sum(row.used for row in own) / sum(row.made for row in own)
        same = sum(a.trajectory == row.trajectory for a, row in zip(one, own, strict=True))
        names = {"inline": "", "threads": " threads", "dask": " of Dask"}
        loads = f"{min(row.load for row in own):.1f} to {max(row.load for row in own):.1f}"
        cells = [
            *(f"{kind[0]:,}", str(len(own)), f"{kind[1]}{names[kind[2]]}"),
            *(f"{fmean(row.seconds for row in own):,.0f} s", f"{faster:.1f}", f"{useful:.0%}"),
            *(f"{same} of {len(own)}", loads),
        ]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.workers.real", description=__doc__
    )
    parser.add_argument("--make", nargs="*", default=[], help="1, numbers of threads, or dask")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    args = parser.parse_args()
    for seed in args.seeds:
        for how in args.make:
            row = _made(how, args.runs, seed)
            rows = [old for old in read() if old[:4] != row[:4]]
            write([*rows, row])
            print(*row, flush=True)
    print("\n".join(lines(read())))


def _made(how: str, runs: int, seed: int) -> Row:
    if how == "dask":
        return searched("dask", DASK_WORKERS, runs, seed)
    return searched("inline" if how == "1" else "threads", int(how), runs, seed)


if __name__ == "__main__":
    main()
