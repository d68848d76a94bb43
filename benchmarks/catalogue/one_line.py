"""Time the one line: `paramhs tune SOLVER instances...`, its verdict, and whether that holds.

    python -m benchmarks.catalogue.one_line scip --options short       # about 4 minutes
    python -m benchmarks.catalogue.one_line --table

The search has 36 generated instances of one family, of which it holds out some; then the best and
the default are run on 20 that are new. Results are kept in data/searches, one file for each search.
"""

import argparse
import json
import math
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil

import paramhs
from benchmarks.catalogue.checks import instances
from benchmarks.catalogue.instances import write
from paramhs.core.runs import Instance, Task
from paramhs.core.space import Config
from paramhs.execution.supervisor.pool import Supervised
from paramhs.solvers import Solver, get

DATA = Path(__file__).parent / "data" / "searches"
INSTANCES = 36
FRESH_INSTANCES = 20
CUTOFF = 5.0  # seconds of a run; what the line has by itself with 10 minutes
POLL_SECONDS = 0.05
SIGNIFICANT_ERRORS = (
    2.0  # standard errors from which a ratio above 1 contradicts the verdict "better"
)


def searched(name: str, options: str, seconds: float, folder: Path) -> dict[str, Any]:
    """Run the line, and examine what it found."""
    solver = get(name, options=options, cost=_cost(name))  # type: ignore[arg-type]
    store = folder / "search.sqlite"
    paths = [str(p) for p in write(solver.entry, folder / "all", INSTANCES, 100, larger=True)]
    line = ["tune", name, *paths, "--wall-time", f"{seconds:g} s", "--cost", solver.cost]
    line += [
        "--cutoff",
        f"{CUTOFF:g} s",
        "--options",
        options,
        "--store",
        str(store),
        "--no-report",
    ]
    begin = time.monotonic()
    call = [sys.executable, "-m", "paramhs", *line]
    with subprocess.Popen(call, stdout=subprocess.DEVNULL) as search:
        while search.poll() is None and not _runs(store):
            time.sleep(POLL_SECONDS)
        first, busy = time.monotonic() - begin, _processor_seconds(search.pid)
    if search.returncode:
        sys.exit(f"{name}: the search ended with {search.returncode}")
    result = paramhs.load(store)
    fresh = instances(solver, folder / "fresh", FRESH_INSTANCES, 200, larger=True)
    config = solver.space.config(result.best.as_dict())
    pairs = list(
        zip(*(_costs(solver, c, fresh) for c in (config, solver.space.default)), strict=True)
    )
    ratio, error = _ratio(pairs)
    verdict = result.verdict
    changed = [n for n, v in config.items() if solver.space.default.get(n) != v]
    return {
        "solver": name,
        "version": solver.version,
        "options": options,
        "tuned": len(solver.space.parameters),
        "cost": solver.cost,
        "seconds": seconds,
        "seconds_to_first_run": round(first, 2),
        "processor_seconds_to_first_run": round(busy, 2),
        "runs": len(result.runs),
        "configurations": len(result.history.configs),
        "conclusion": verdict.conclusion,
        "recommendation": verdict.recommendation,
        "changed": len(changed),
        "best": _without_folder(result.native),
        "fresh_ratio": round(ratio, 4),
        "fresh_error": round(error, 4),
        "false": verdict.conclusion == "better" and ratio - SIGNIFICANT_ERRORS * error > 1.0,
    }


def _processor_seconds(pid: int) -> float:
    """Processor time of a process and of those below it; load does not change it."""
    process = psutil.Process(pid)
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(sum(part[:4]) for part in times)


def _cost(name: str) -> Any:
    return "work" if get(name).entry.work is not None else "runtime"


def _runs(store: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened:
            return int(opened.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.Error:
        return 0


def _costs(solver: Solver, config: Config, fresh: Sequence[Instance]) -> list[float]:
    timed = solver.cost == "runtime"
    with closing(Supervised(solver.target, 1)) as kept:
        runs = [kept(Task(config, one, 2, CUTOFF)) for one in fresh]
    return [run.runtime if timed else run.quality or math.inf for run in runs]


def _without_folder(native: str | None) -> str | None:
    """The command with the program's name in place of its path; files are kept as they are."""
    head, blank, rest = (native or "").partition(" ")
    return native if "\n" in head else Path(head).name + blank + rest


def _ratio(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Ratio of the sums, and its standard error by the jackknife."""
    best, default = map(sum, zip(*pairs, strict=True))
    left = [(best - one) / (default - other) for one, other in pairs]
    mean = sum(left) / len(left)
    spread = sum((value - mean) ** 2 for value in left)
    return best / default, math.sqrt(spread * (len(left) - 1) / len(left))


def table() -> str:
    """The searches that were made, in Markdown."""
    rows = [
        "| solver | options | tuned | seconds | first run | its processor time |"
        " runs | verdict on held-out instances | changed |"
        " on 20 new instances, best / default | false |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted(DATA.glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        rows.append(
            f"| {one['solver']} {one['version']} | {one['options']} | {one['tuned']} |"
            f" {one['seconds']:g} | {one['seconds_to_first_run']:.1f} s |"
            f" {one.get('processor_seconds_to_first_run', '-')} | {one['runs']} |"
            f" {one['conclusion']} | {one['changed']} |"
            f" {one['fresh_ratio']:.2f} ± {one['fresh_error']:.2f} |"
            f" {'YES' if one['false'] else 'no'} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Search with the solvers that are named, or print the table."""
    parser = argparse.ArgumentParser(description="Time the one line, and check its verdict.")
    parser.add_argument("names", nargs="*", help="solvers")
    parser.add_argument("--options", default="short", choices=["short", "all"])
    parser.add_argument("--seconds", type=float, default=120.0, help="elapsed time of a search")
    parser.add_argument("--table", action="store_true", help="print the table and end")
    given = parser.parse_args()
    if given.table:
        print(table())
        return
    for name in given.names:
        with tempfile.TemporaryDirectory() as folder:
            found = searched(name, given.options, given.seconds, Path(folder))
        DATA.mkdir(parents=True, exist_ok=True)
        text = json.dumps(found, indent=1) + "\n"
        (DATA / f"{name}-{given.options}.json").write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
