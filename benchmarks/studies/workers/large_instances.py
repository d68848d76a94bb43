"""What large instances in memory cost: `python -m benchmarks.studies.workers.large_instances`.

A search of 60 runs on four arrays of 20 MB, whose function reads a few numbers of its array, beside
the same search on arrays of 8 kB. The time of the search itself is measured, without the start of a
cluster. Rows are added to data/large_instances.csv for the executors of `--make`.
"""

import argparse
import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paramhs

TABLE = Path(__file__).parent / "data" / "large_instances.csv"
INSTANCES, RUNS, JOBS = 4, 60, 2
LARGE_SIZE, SMALL_SIZE = 20_000_000, 8_000
KINDS = ["inline", "processes", "ProcessPoolExecutor", "loky", "dask"]


class Row(NamedTuple):
    """One search."""

    code: str
    """Whether it is the code "before" instances were sent once, or that of "now"."""
    executor: str
    cutoff: str
    """Whether runs have a limit, and with it keepers."""
    size: int
    """Bytes of an instance."""
    seconds: float
    load: float
    """Load of the machine when the search began."""


def target(config: Mapping[str, Any], instance: Any, seed: int) -> float:
    """A quality that reads the instance."""
    near = (config["x"] - 3) ** 2 + instance[0] * config["y"]
    return float(near + 0 * instance[seed % len(instance)] + seed % 7 / 10)


def searched(code: str, kind: str, cutoff: str, size: int) -> Row:
    """Make one search."""
    load = os.getloadavg()[0]
    values = {f"i{k}": np.random.default_rng(k).random(size // 8) for k in range(INSTANCES)}
    how: dict[str, Any] = {"cutoff": 60} if cutoff == "yes" else {}
    result = paramhs.tune(
        target,
        {"x": range(10), "y": range(10)},
        instances=values,
        test_instances=0,
        budget=RUNS,
        seed=1,
        jobs=1 if kind == "inline" else JOBS,
        executor=_executor(kind),
        **how,
    )
    return Row(code, kind, cutoff, size, round(result.record.wall_time, 2), round(load, 1))


def _executor(kind: str) -> Any:
    if kind == "ProcessPoolExecutor":
        return ProcessPoolExecutor(JOBS)
    if kind == "loky":
        from loky import get_reusable_executor

        return get_reusable_executor(max_workers=JOBS)
    return kind


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
    """Seconds before and now, and now on small instances."""
    yield "| executor | limit | before | now | now, small instances |"
    yield "|---|---|---:|---:|---:|"
    by_key = {row[:4]: row.seconds for row in rows}
    for kind in KINDS:
        for cutoff in ("no", "yes"):
            found = [
                by_key.get(("before", kind, cutoff, LARGE_SIZE)),
                by_key.get(("now", kind, cutoff, LARGE_SIZE)),
                by_key.get(("now", kind, cutoff, SMALL_SIZE)),
            ]
            if any(found):
                cells = [kind, cutoff, *("" if x is None else f"{x:.1f} s" for x in found)]
                yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.workers.large_instances", description=__doc__
    )
    parser.add_argument("--make", nargs="*", choices=KINDS, default=[])
    parser.add_argument("--code", choices=["before", "now"], default="now")
    args = parser.parse_args()
    for kind in args.make:
        for cutoff in ("no", "yes") if kind != "inline" else ("no",):
            for size in (LARGE_SIZE, SMALL_SIZE) if args.code == "now" else (LARGE_SIZE,):
                row = searched(args.code, kind, cutoff, size)
                write([*(old for old in read() if old[:4] != row[:4]), row])
                print(*row, flush=True)
    print("\n".join(lines(read())))


if __name__ == "__main__":
    main()
