"""Hostile programs, kills and full disks: is anything left, lost or late?

python -m benchmarks.stress.hostile                 the whole zoo, and 200 kills: some minutes
python -m benchmarks.stress.hostile --kills 1000    more of them
python -m benchmarks.stress.hostile --times 10      each kind ten times

This process makes itself a child subreaper, so every process that escapes becomes its child, by
descent and whatever it did to its environment. Beside each hostile run a calm one is made.
"""

import argparse
import ctypes
import os
import resource
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import psutil
from rich.console import Console
from rich.table import Table

import paramhs
from benchmarks.stress.zoo import FUNCTIONS, GRACE, MEMORY, PROGRAMS, Kind
from paramhs.core.errors import StoreError
from paramhs.core.runs import Instance, Run, Task
from paramhs.core.space import Space
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.targets import FunctionTarget
from paramhs.execution.targets.command import CommandTarget, LastNumber, Style, Template

SPACE = Space({"x": range(20)})
LARGE = Space({"x": range(1000), "mode": ["a", "b", "c"], "rate": (0.0, 1.0)})  # has no end
KILLS = 50  # kills of one search
MAX_RUNS = 10**6  # runs, more than any search makes before it is killed
PATIENCE = 30.0  # seconds until what has not ended is said to be left


class Row(NamedTuple):
    """A line of the table."""

    what: str
    runs: int
    left: int
    """Number of processes left behind."""
    lost: int
    """Runs that are not what they should be, or that a store has lost."""
    over: float
    """The most seconds that a run took beyond its limit and grace."""
    became: str


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stress.hostile")
    parser.add_argument("--times", type=int, default=3, help="runs of each kind")
    parser.add_argument("--kills", type=int, default=200, help="of searches, and their keepers")
    parser.add_argument("--full", type=int, default=20, help="number of full disks")
    parser.add_argument("--markdown", action="store_true", help="print a table for a page")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    rows = []
    for row in measured(options.times, options.kills, options.full):
        rows.append(row)
        print(f"{row.what}: {row.became}", file=sys.stderr, flush=True)
    rows.append(total(rows))
    print_markdown(rows) if options.markdown else print_table(rows)
    sys.exit(any(row.left or row.lost for row in rows))


def measured(times: int, kills: int, full: int) -> Iterator[Row]:
    yield from zoo(programs("wall"), [k for k in PROGRAMS if k.clock == "wall"], times)
    yield from zoo(programs("cpu"), [k for k in PROGRAMS if k.clock == "cpu"], times)
    yield from zoo(functions(), FUNCTIONS, times)
    with tempfile.TemporaryDirectory() as folder:
        yield killed(Path(folder), kills)
        yield disks(Path(folder), full)


# The zoo.


def programs(clock: Any) -> CommandTarget:
    """Runs an instance, which is a line for the shell."""
    template = Template(["/bin/sh", "-c", "{instance}", "{params}"], SPACE, Style())
    return CommandTarget(
        template, Path("/"), LastNumber(), clock=clock, memory=MEMORY, wall_limit=4.0, grace=GRACE
    )


def functions() -> FunctionTarget:
    """Calls an instance."""
    return FunctionTarget(lambda config, instance: FUNCTIONS[instance].what(), memory=MEMORY * 2)


def zoo(target: Any, kinds: Sequence[Kind], times: int) -> Iterator[Row]:
    command = isinstance(target, CommandTarget)
    calm = Instance("calm", "sleep 0.2; echo 7" if command else 0)
    with closing(Supervised(target, 2)) as supervised, ThreadPoolExecutor(2) as pool:
        for kind in kinds:
            value = kind.what if command else FUNCTIONS.index(kind)
            instance = Instance(kind.name, value)
            runs, over, lost = [], 0.0, 0
            for seed in range(times):
                beside = pool.submit(supervised, task(calm, seed, 60.0))
                begin = time.monotonic()
                runs.append(supervised(task(instance, seed, kind.cutoff)))
                over = max(over, beyond(target, runs[-1], time.monotonic() - begin))
                lost += beside.result().quality != 7.0
            lost += sum(not right(run, kind) for run in runs)
            became = Counter(run.status.value for run in runs)
            yield Row(kind.name, 2 * times, len(left()), lost, over, _counts(became))


def task(instance: Instance, seed: int, cutoff: float) -> Task:
    return Task(SPACE.default, instance, seed, cutoff)


def beyond(target: Any, run: Run, passed: float) -> float:
    """Seconds beyond the limit and the grace, by the clock that counts."""
    if target.clock == "cpu":
        return run.runtime - run.task.cutoff - GRACE
    return passed - run.task.cutoff - (GRACE if isinstance(target, CommandTarget) else 1.0)


def right(run: Run, kind: Kind) -> bool:
    if run.status.value not in kind.becomes.split():
        return False
    return run.status.value != "ok" or run.quality == 7.0


def left() -> list[psutil.Process]:
    """Processes that are neither wardens, keepers, workers nor what those keep between runs."""
    deadline = time.monotonic() + PATIENCE
    while found := [process for process in psutil.Process().children() if escaped(process)]:
        if time.monotonic() > deadline:
            return found
        time.sleep(0.01)
    return []


def escaped(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE and process.name() != "run-warden"
    return False


# Searches that are killed.


def noisy(config: dict[str, Any], seed: int) -> float:
    time.sleep(0.001)
    distance = abs(config["x"] - 637) / 50 + config["rate"]
    return distance + "abc".index(config["mode"]) + 4 * Random(seed).random()


def search(store: Path | None, budget: int) -> list[tuple[str, int, float | None]]:
    result = paramhs.tune(noisy, LARGE, budget=budget, jobs=2, store=store, cutoff=20.0)
    return [(point.config.key, point.runs, point.cost) for point in result.trajectory]


def forked(action: Callable[[], object]) -> int:
    """A process that does something, as quiet as a grave."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    with suppress(StoreError):
        action()
    os._exit(0)


def family(pid: int, *names: str) -> list[int]:
    """The processes below one, perhaps only those of some names."""
    with suppress(psutil.Error):
        children = psutil.Process(pid).children(recursive=True)
        return [p.pid for p in children if not names or p.name() in names]
    return []


def send(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_search(pid: int, rng: Random) -> None:
    pass  # what comes after every trouble


def kill_keeper(pid: int, rng: Random) -> None:
    send(family(pid, "run-keeper")[:1], signal.SIGKILL)


def kill_warden(pid: int, rng: Random) -> None:
    send(family(pid, "run-warden")[:1], signal.SIGKILL)


def hang_up_all(pid: int, rng: Random) -> None:
    send(family(pid, "run-keeper", "run-warden"), signal.SIGHUP)


def stop_keepers(pid: int, rng: Random) -> None:
    send(family(pid, "run-keeper"), signal.SIGSTOP)


def stop_keepers_and_wardens(pid: int, rng: Random) -> None:
    send(family(pid, "run-warden", "run-keeper"), signal.SIGSTOP)


def stop_and_continue_all(pid: int, rng: Random) -> None:
    everybody = [pid, *family(pid)]
    send(everybody, signal.SIGSTOP)
    time.sleep(rng.random())
    send(everybody, signal.SIGCONT)


def terminate(pid: int, rng: Random) -> None:
    send([pid], signal.SIGTERM)


TROUBLES = [kill_search, kill_keeper, kill_search, kill_warden, kill_search, stop_keepers,
            kill_search, stop_keepers_and_wardens, kill_search, stop_and_continue_all,
            kill_search, hang_up_all, kill_search, terminate]  # fmt: skip


def killed(folder: Path, kills: int) -> Row:
    """Searches that are killed again and again, each time resumed; so often each that a session
    gets further than what it repeats."""
    rng, stored, left, lost, other = Random(1), 0, 0, 0, 0
    for first in range(0, kills, KILLS):
        store, some = folder / f"{first}.sqlite", range(first, min(first + KILLS, kills))
        runs, now_left, now_lost, same = kill_and_resume(store, some, rng)
        stored, left, lost = stored + runs, left + now_left, lost + now_lost + (not same)
        other += not same
    searches = -(-kills // KILLS)
    became = f"{stored:,} runs stored; {searches - other} of {searches} end as if uninterrupted"
    return Row(f"{kills} kills of {searches} searches", stored, left, lost, 0.0, became)


def kill_and_resume(store: Path, kills: range, rng: Random) -> tuple[int, int, int, bool]:
    """Runs stored, processes left, runs lost, and whether it ends like an uninterrupted one."""
    stored, lost, left = rows_of(store), 0, 0
    for kill in kills:
        pid = forked(lambda: search(store, MAX_RUNS))
        time.sleep(0.05 + 0.4 * rng.random())
        TROUBLES[kill % len(TROUBLES)](pid, rng)
        time.sleep(0.05 * rng.random())
        send([pid], signal.SIGKILL)
        os.waitpid(pid, 0)
        left += len(gone_or_left())
        before, stored = stored, rows_of(store)
        lost += lost_between(before, stored)
    lost += sum(row[4] != "ok" for row in stored)
    enough = len(stored) + 100
    return len(stored), left, lost, search(store, enough) == search(None, enough)


def gone_or_left() -> list[psutil.Process]:
    """Processes that outlive a killed search."""
    deadline = time.monotonic() + PATIENCE
    while found := psutil.Process().children(recursive=True):
        with suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        if time.monotonic() > deadline:
            send([process.pid for process in found], signal.SIGKILL)
            return found
        time.sleep(0.005)
    return []


Rows = dict[tuple[Any, ...], int | None]
"""Runs, and as which of its runs the search asked for each: None while it has not."""


def rows_of(store: Path) -> Rows:
    """What is in a file."""
    if not store.exists():
        return {}
    with closing(sqlite3.connect(store, timeout=10)) as db:
        (known,) = db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'readable'")
        columns = "config, instance, seed, cutoff, status, runtime, quality, detail, session"
        rows = db.execute(f"SELECT {columns}, finished, asked FROM readable") if known[0] else ()
        return {tuple(run): asked for *run, asked in rows}


def lost_between(before: Rows, after: Rows) -> int:
    """Runs that are gone or changed; a speculative one may have been asked for since."""
    same = {run for run, asked in before.items() if asked is None or after.get(run) == asked}
    return len(before) - len(same & after.keys())


# Full disks.


def disks(folder: Path, count: int) -> Row:
    """A search on a disk that has less room than it needs, then a little more, and so on."""
    store, lost, remaining = folder / "full.sqlite", 0, 0
    stored: Rows = {}
    for k in range(count):
        pid = forked(lambda room=60_000 + 8_000 * k: search_within(store, room))
        os.waitpid(pid, 0)
        remaining += len(gone_or_left())
        before, stored = stored, rows_of(store)
        lost += lost_between(before, stored)
    same = search(store, 500) == search(None, 500)
    became = f"{len(stored)} runs stored, resumed {'as' if same else 'NOT as'} uninterrupted"
    return Row(f"{count} full disks", len(stored), remaining, lost + (not same), 0.0, became)


def search_within(store: Path, room: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    search(store, 500)


# The table.


def total(rows: Sequence[Row]) -> Row:
    runs, gone, lost = (sum(row[column] for row in rows) for column in (1, 2, 3))
    return Row("all", runs, gone, lost, max(row.over for row in rows), "")


def _counts(became: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in became.items())


def _cells(row: Row) -> list[str]:
    over = f"{row.over:.1f}" if row.over > 0.05 else ""
    return [row.what, f"{row.runs:,}", str(row.left), str(row.lost), over, row.became]


COLUMNS = ("what", "runs", "processes left", "runs lost", "seconds over the limit", "became")


def print_table(rows: Sequence[Row]) -> None:
    table = Table(*COLUMNS, title="Hostile programs, kills, full disks")
    for row in rows:
        table.add_row(*_cells(row))
    Console(width=140).print(table)


def print_markdown(rows: Sequence[Row]) -> None:
    print("|", " | ".join(COLUMNS), "|")
    print("|---|---:|---:|---:|---:|---|")
    for row in rows:
        print("|", " | ".join(_cells(row)), "|")


if __name__ == "__main__":
    main()
