"""What a search on a cluster survives: faults on real worker processes, each beside home.

python -m benchmarks.stress.cluster                100 kills, and a few of each other fault
python -m benchmarks.stress.cluster --kills 1000   more of them

The table is in docs/how-to/cluster.md.
"""

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from distributed import Client
from rich.console import Console
from rich.table import Table

import paramhs
from benchmarks.overhead.cluster import local
from paramhs.core.space import Space
from paramhs.execution.storage.sqlite import read_runs

SPACE = Space({"x": range(40), "mode": ["a", "b", "c"], "rate": (0.5, 2.5)})


def noisy(config: dict[str, Any], instance: int, seed: int) -> float:
    """A function of its arguments alone, after some milliseconds; it writes a file, as many do."""
    draw = random.Random(f"{sorted(config.items())} {instance} {seed}")
    time.sleep(0.02 + 0.04 * draw.random())
    scratch = os.environ.get("SCRATCH", tempfile.gettempdir())
    with tempfile.NamedTemporaryFile("w", dir=scratch) as file:
        file.write("x" * 1000)
        file.flush()
    return abs(config["x"] - 13) + "abc".index(config["mode"]) + 4 * draw.random()


RUNS = 120


def search(executor: Any, store: Path | None, seed: int, watcher: Any = None) -> Any:
    return paramhs.tune(
        noisy,
        SPACE,
        instances=range(20),
        budget=RUNS,
        seed=seed,
        cutoff=20.0,
        executor=executor,
        store=store,
        watcher=watcher,
        progress=False,
    )


def outline(result: Any) -> object:
    """Part of a result that must not depend on which worker makes the runs."""
    runs = [(r.task.config.key, *r.task[1:3], r.status, r.quality) for r in result.history.runs]
    return runs, [(point.config.key, point.runs) for point in result.trajectory]


class Heard(paramhs.Watcher):
    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


class Outcome(NamedTuple):
    fault: str
    times: int
    searches: int
    same: int
    resumed: int
    doubled: int
    """Stored runs that are there twice, or that the search was given and the store has not."""
    left: int
    """Processes of runs that are left behind."""
    notices: int
    repeated: int


def studied(
    fault: str, searching: Callable[[Path, int, Heard], tuple[Any, int, int]], enough: int
) -> Outcome:
    """Search under a fault until it has happened often enough; each beside the same at home."""
    times = searches = same = resumed = doubled = notices = twice = 0
    while times < enough:
        seed, heard = 100 + searches, Heard()
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder, "runs.sqlite")
            result, happened, stops = searching(store, seed, heard)
            stored = [run.task.call for run in read_runs(store, SPACE)]
        given = {run.task.call for run in result.history.runs}
        times, searches, resumed = times + happened, searches + 1, resumed + stops
        same += outline(result) == outline(search("processes", None, seed))
        doubled += len(stored) - len(set(stored)) + len(given - set(stored))
        notices += len(heard.notices)
        of_workers = [notice for notice in heard.notices if notice.startswith("worker ")]
        twice += len(of_workers) - len(set(of_workers))
        print(
            f"{fault}: {times} of {enough}, {searches} searches, {same} the same", file=sys.stderr
        )
        for notice in heard.notices:
            print("   ", notice, file=sys.stderr)
    made = Outcome(fault, times, searches, same, resumed, doubled, left_behind(), notices, twice)
    print(made, file=sys.stderr, flush=True)
    return made


def left_behind() -> int:
    """Keepers, wardens and runs without a worker above them."""
    time.sleep(1.0)
    names = ("run-warden", "run-keeper", "run-worker")
    found = [p for p in psutil.process_iter(["name", "ppid"]) if p.info["name"] in names]
    return sum(process.info["ppid"] == 1 for process in found)


class Now_and_then:  # noqa: N801 -- reads as a sentence
    """Does something at random moments while a search is at work; counts how often."""

    def __init__(self, do: Callable[[], bool], least: float, most: float, seed: int) -> None:
        self._rng = random.Random(f"moments {seed}")
        self._do, self._range = do, (least, most)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.times = 0

    def _work(self) -> None:
        while not self._over.wait(self._rng.uniform(*self._range)):
            self.times += self._do()

    def __enter__(self) -> "Now_and_then":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()


def pids(client: Client) -> list[int]:
    """Process ids of the running workers; one that is just being started is left alone."""
    known = set(client.cluster.scheduler.workers)
    return [n.pid for n in client.cluster.workers.values() if n.worker_address in known and n.pid]


def under_signals(number: int, least: float, most: float) -> Any:
    def searching(store: Path, seed: int, heard: Heard) -> tuple[Any, int, int]:
        with local(3) as client:
            strike = striking(client, number)
            with Now_and_then(strike, least, most, seed) as moments:
                result = search(client, store, seed, heard)
        return result, moments.times, 0

    return searching


def striking(client: Client, number: int) -> Callable[[], bool]:
    """Sends a signal to a worker that had none yet, while there are others."""
    struck: set[int] = set()

    def strike() -> bool:
        workers = [pid for pid in pids(client) if pid not in struck]
        if len(workers) < 2:
            return False
        chosen = random.choice(workers)
        struck.add(chosen)
        with suppress(ProcessLookupError):
            os.kill(chosen, number)
            return True
        return False

    return strike


def with_full_disk(client: Client) -> Any:
    def searching(store: Path, seed: int, heard: Heard) -> tuple[Any, int, int]:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "full", folder], check=True)
            try:
                Path(folder, "rest").write_bytes(b"x" * 4096)
                worker = sorted(client.nthreads())[0]
                client.run(set_scratch, folder, workers=[worker])
                result = search(client, store, seed, heard)
                client.run(set_scratch, tempfile.gettempdir(), workers=[worker])
            finally:
                subprocess.run(["umount", folder], check=True)
        return result, 1, 0

    return searching


def set_scratch(folder: str) -> None:
    os.environ["SCRATCH"] = folder


class Apart:
    """A scheduler and workers in processes of their own, and a line to it that can be cut."""

    def __init__(self, workers: int) -> None:
        self.port, self.door = free_port(), free_port()
        self._count = workers
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lines: list[socket.socket] = []
        self.start()
        threading.Thread(target=self._serve, daemon=True).start()

    def start(self) -> None:
        begun = [self._begin("scheduler", "--port", str(self.port), "--no-dashboard")]
        for _ in range(self._count):
            address = f"tcp://127.0.0.1:{self.port}"
            begun.append(self._begin("worker", address, "--nthreads", "1", "--no-dashboard"))
        self._processes = begun

    def _begin(self, *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "dask", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, start_new_session=True, **quiet)

    def restart(self) -> bool:
        """The scheduler dies; workers end with it, and others come, as from a batch system."""
        self.stop()
        self.start()
        return True

    def stop(self) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def cut(self) -> bool:
        """All connections from home break at once; new ones are taken."""
        lines, self._lines = self._lines, []
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        return bool(lines)

    def _serve(self) -> None:
        with closing(socket.create_server(("127.0.0.1", self.door))) as server:
            while True:
                ours, _ = server.accept()
                try:
                    theirs = socket.create_connection(("127.0.0.1", self.port), 5)
                except OSError:
                    ours.close()
                    continue
                theirs.settimeout(None)
                self._lines += [ours, theirs]
                for one, other in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=pass_on, args=(one, other), daemon=True).start()


def pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    for line in (one, other):
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
    return port


def apart(cluster: Apart, do: Callable[[], bool], least: float, most: float) -> Any:
    def searching(store: Path, seed: int, heard: Heard) -> tuple[Any, int, int]:
        cluster_of = paramhs.Dask(f"tcp://127.0.0.1:{cluster.door}", patience=120.0)
        stops = 0
        with Now_and_then(do, least, most, seed) as done:
            while True:
                try:
                    result = search(cluster_of, store, seed, heard)
                    break
                except paramhs.TargetError as error:
                    print("    stopped:", error, file=sys.stderr)
                    stops += 1
        return result, done.times, stops

    return searching


def with_home_killed(cluster: Apart) -> Any:
    """Home is killed at a random moment, and its command given again until it ends."""

    def searching(store: Path, seed: int, heard: Heard) -> tuple[Any, int, int]:
        address, rng, times = f"tcp://127.0.0.1:{cluster.port}", random.Random(seed), 0
        command = [
            sys.executable,
            "-m",
            "benchmarks.stress.cluster",
            "--search",
            address,
            str(store),
        ]
        while times < 3:
            home = subprocess.Popen([*command, str(seed)], stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                home.wait(rng.uniform(3, 7))
                break
            home.kill()
            home.wait()
            times += 1
        return search(paramhs.Dask(address), store, seed, heard), times, times

    return searching


def faults(kills: int, only: str) -> Table:
    """All of them, or those with a word in their name."""
    few = max(kills // 20, 1)
    rows = []

    def study(fault: str, searching: Any, enough: int = few) -> None:
        if only in fault:
            rows.append(studied(fault, searching, enough))

    study("a worker is killed", under_signals(signal.SIGKILL, 0.3, 1.5), kills)
    study("a worker is frozen", under_signals(signal.SIGSTOP, 1, 4))
    with local(2) as client:
        study("a worker's disk is full", with_full_disk(client))
    cluster = Apart(2)
    try:
        study("the connection is cut", apart(cluster, cluster.cut, 1, 4))
        study("paramhs is killed", with_home_killed(cluster))
        study("the scheduler is restarted", apart(cluster, cluster.restart, 2, 8))
    finally:
        cluster.stop()
    return as_table(rows)


def as_table(rows: list[Outcome]) -> Table:
    table = Table(title=f"faults while searches of {RUNS} runs were made")
    heads = ("fault", "times", "searches", "the same result", "stopped and resumed")
    for head in (*heads, "runs lost or doubled", "processes left", "notices", "repeated"):
        table.add_column(head, justify="left" if head == "fault" else "right")
    for row in rows:
        table.add_row(*map(str, row))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--only", default="", metavar="WORD", help="of the name of a fault")
    parser.add_argument("--search", nargs=3, metavar=("ADDRESS", "STORE", "SEED"))
    given = parser.parse_args()
    if given.search:
        address, store, seed = given.search
        search(paramhs.Dask(address), Path(store), int(seed))
        return
    Console(width=150).print(faults(given.kills, given.only))


if __name__ == "__main__":
    main()
