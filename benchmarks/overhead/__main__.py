"""What paramhs costs: each row is measured beside a bare loop in the same run.

python -m benchmarks.overhead          all, with a store of 1,000,000 runs: about two minutes
python -m benchmarks.overhead --quick  with a store of 100,000 runs
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean

from rich.console import Console
from rich.table import Table

import paramhs
from benchmarks.overhead import saps, supervisor
from paramhs.search.operators import BothSides, OneParameter, Operator, SeveralParameters, Uniform

SPACE = {f"p{i}": (0.0, 1.0) for i in range(10)}
RUNS = 20_000


def instant(config: dict[str, float], seed: int) -> float:
    """A target that costs nothing."""
    return config["p0"] + seed % 1000 / 10_000


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best_of(times: int, action: Callable[[], float]) -> float:
    """The least disturbed of several measurements."""
    return min(action() for _ in range(times))


def bare_call() -> float:
    """Seconds for one call of the target, called as paramhs calls it."""
    config = dict.fromkeys(SPACE, 0.5)
    return best_of(3, lambda: seconds(lambda: [instant(config, s) for s in range(RUNS)]) / RUNS)


def tuned(store: Path | None, runs: int = RUNS) -> float:
    return seconds(lambda: paramhs.tune(instant, SPACE, budget=runs, store=store)) / runs


def in_memory() -> float:
    return best_of(3, lambda: tuned(None))


def with_file(folder: Path) -> float:
    stores = iter(range(100))
    return best_of(3, lambda: tuned(folder / f"file{next(stores)}.sqlite"))


def proposal(operator: Operator, parameters: int = 100, count: int = 5_000) -> float:
    space = paramhs.Space({f"p{i}": (0.0, 1.0) for i in range(parameters)})
    rng = Random(1)

    def draws() -> None:
        for _ in range(count):
            operator.sample(space, space.default, rng)

    return best_of(5, lambda: seconds(draws) / count)


def bare_draw(count: int = 100_000) -> float:
    draw = Random(1).random
    return best_of(3, lambda: seconds(lambda: [draw() for _ in range(count)]) / count)


def resumed(store: Path, runs: int) -> tuple[float, float]:
    """Seconds and bytes that a new process takes to resume a store of this size."""
    output = subprocess.run(
        [sys.executable, "-m", "benchmarks.overhead", "--resume", str(store), "--runs", str(runs)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    measured = json.loads(output)
    return measured["seconds"], measured["bytes"]


def resume(store: Path, runs: int) -> None:
    """The process that `resumed` measures."""
    elapsed = seconds(lambda: paramhs.tune(instant, SPACE, budget=runs, store=store))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": elapsed, "bytes": peak}))


def import_time() -> tuple[float, float]:
    """Seconds that `import paramhs` adds to a bare interpreter, and those of the interpreter."""

    def start(code: str) -> float:
        command = [sys.executable, "-c", code]
        return best_of(7, lambda: seconds(lambda: subprocess.run(command, check=True)))

    bare = start("pass")
    return start("import paramhs") - bare, bare


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--resume", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.resume:
        resume(options.resume, options.runs)
        return
    table = Table("what", "measured", "bare", "ratio", "limit", title="What paramhs costs")

    def row(what: str, measured: float, bare: float, limit: float, unit: float, name: str) -> None:
        verdict = "ok" if measured <= limit else "OVER"
        table.add_row(
            what,
            f"{measured / unit:.3g} {name}",
            f"{bare / unit:.2g} {name}",
            f"{measured / bare:,.3g}",
            f"{limit / unit:g} {name}  {verdict}",
        )

    micro = 1e-6
    bare = bare_call()
    row("overhead a run, in memory", in_memory() - bare, bare, 100e-6, micro, "us")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        row("overhead a run, SQLite file", with_file(folder) - bare, bare, 250e-6, micro, "us")
        draw = bare_draw()
        for operator in (SeveralParameters(), OneParameter(), OneParameter(Uniform()), BothSides()):
            what = f"proposal, 100 parameters, {operator}"
            row(what, proposal(operator), draw, 10e-6, micro, "us")
        runs = 100_000 if options.quick else 1_000_000
        store = folder / "large.sqlite"
        making = tuned(store, runs)
        elapsed, peak = resumed(store, runs)
        row(f"replay a run, of {runs:,}", elapsed / runs, making, 50e-6, micro, "us")
        row(f"resume {runs:,} runs", elapsed, making * runs, 90 * runs / 1e6, 1, "s")
        row(
            f"memory to resume {runs:,} runs",
            peak,
            store.stat().st_size,
            1.5e9 * max(runs / 1e6, 0.1),
            1e6,
            "MB",
        )
    for jobs in (1, 2):
        kept, spawned = supervisor.spawning(jobs)
        at = f"{jobs} at a time"
        row(f"overhead a kept command, {at}", kept - spawned, spawned, 1.5e-3, 1e-3, "ms")
        row(f"a kept command, {at}", kept, spawned, 2 * spawned, 1e-3, "ms")
    fast, other = (1 / fmean(speeds) for speeds in zip(*saps.pairs(), strict=True))
    row(f"a step of SAPS, beside {saps.other()}", fast, other, other / saps.MIN_RATIO, 1e-9, "ns")
    added, interpreter = import_time()
    row("import paramhs, over a bare start", added, interpreter, 0.15, 1e-3, "ms")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
