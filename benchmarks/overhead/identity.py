"""The cost of identifying a program and its instances by content.

python -m benchmarks.overhead.identity

A scenario with many instance files is started with a budget of one run, and then again; and so with
a larger budget. Times are in seconds of wall time in this process, from
reading the scenario to the end; all but the first starts are medians over several.
"""

import argparse
import os
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from paramhs.execution.storage import SEARCH
from paramhs.execution.storage.identities import compare
from paramhs.execution.storage.sqlite import connect_to_read
from paramhs.execution.subject import subject_of
from paramhs.formats.scenario import read_scenario

_SCENARIO = """
command = "/bin/echo {{instance}} {{x}}"
read = "last number"
cost = "minimise"
instances = "instances/*"
deterministic = true
[budget]
runs = {runs}
[space]
x = [0, 999999]
"""


def write_files(folder: Path, count: int, size: int) -> None:
    """Instances, old enough to be trusted by their stamps."""
    (folder / "instances").mkdir()
    for number in range(count):
        (folder / "instances" / f"i{number:06}").write_bytes(os.urandom(size))
    time.sleep(2.5)


def start(folder: Path) -> float:
    """Seconds from reading the scenario to the end of a search of one run."""
    from paramhs.api.tune import tune_scenario

    began = time.perf_counter()
    read = read_scenario(folder / "scenario.toml")
    store = folder / "runs.sqlite"
    tune_scenario(read.scenario, read.target, read.configurator, budget=read.budget, store=store)
    return time.perf_counter() - began


def look(folder: Path) -> float:
    """Seconds to compare program and instances with what the store remembers."""
    read = read_scenario(folder / "scenario.toml")
    began = time.perf_counter()
    subject = subject_of(read.target, read.scenario.instances, read.scenario.cost)
    seconds = time.perf_counter() - began
    with closing(connect_to_read(folder / "runs.sqlite")) as db:
        began = time.perf_counter()
        compare(db, SEARCH, subject)
        return seconds + time.perf_counter() - began


def measure(folder: Path, runs: int, starts: int) -> None:
    """Print the times of the first start and of later ones, with this budget."""
    (folder / "scenario.toml").write_text(_SCENARIO.format(runs=runs))
    (folder / "runs.sqlite").unlink(missing_ok=True)
    first = start(folder)
    again = statistics.median(start(folder) for _ in range(starts))
    looking = statistics.median(look(folder) for _ in range(starts))
    print(f"budget of {runs:,} runs")
    print(f"  first start                  {first:8.3f} s")
    print(f"  second start                 {again:8.3f} s")
    print(f"    of it, comparing identity  {looking:8.4f} s  ({looking / again:.1%})")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--bytes", type=int, default=20_000)
    parser.add_argument("--starts", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, given.files, given.bytes)
        print(f"{given.files:,} instance files of {given.bytes:,} bytes")
        for runs in (1, 1000):
            measure(folder, runs, given.starts)


if __name__ == "__main__":
    main()
