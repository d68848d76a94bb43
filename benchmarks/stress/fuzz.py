"""Fuzzed inputs for every reader, as many as there is time for.

python -m benchmarks.stress.fuzz --minutes 10            every reader, turn by turn
python -m benchmarks.stress.fuzz --inputs 100000         this number for each
python -m benchmarks.stress.fuzz --only irace --seed 3   one of them, with other inputs

Each row says how many inputs a reader got, how many it accepted and refused, the slowest of them,
and what broke it: its seed and number give the input again. The exit code is 1 if any broke it, or
took longer than a second.
"""

import argparse
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.support.fuzzing import TARGETS, Tally, tried

MAX_SECONDS = 1.0  # seconds of processor time for one input
TURN = 200  # inputs of one target before the next has its turn


def fuzzed(names: list[str], seed: int, until: float, most: int) -> dict[str, Tally]:
    """What became of the inputs; targets take turns, until an interrupt if need be."""
    tallies = {name: Tally() for name in names}
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        start = 0
        while start < most and time.monotonic() < until:
            for name in names:
                for number in range(start, min(start + TURN, most)):
                    tried(TARGETS[name], seed, number, Path(folder), tallies[name])
            start += TURN
    return tallies


def printed(tallies: dict[str, Tally]) -> None:
    table = Table("reader", "inputs", "accepted", "refused", "slowest", "broken", box=None)
    for name, tally in tallies.items():
        slowest = f"{1000 * tally.slowest:,.0f} ms (input {tally.slowest_input:,})"
        counts = [f"{n:,}" for n in (tally.inputs, tally.accepted, tally.refused)]
        table.add_row(name, *counts, slowest, f"{len(tally.failures):,}")
    console = Console()
    console.print(table)
    for tally in tallies.values():
        for failure in tally.failures[:5]:
            console.print(Text(failure), soft_wrap=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stress.fuzz")
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--inputs", type=int, default=None)
    parser.add_argument("--only", choices=TARGETS, action="append")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    minutes = 1.0 if given.minutes is None and given.inputs is None else given.minutes
    until = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    most = sys.maxsize if given.inputs is None else given.inputs
    tallies = fuzzed(given.only or list(TARGETS), given.seed, until, most)
    printed(tallies)
    broken = any(tally.failures or tally.slowest > MAX_SECONDS for tally in tallies.values())
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
