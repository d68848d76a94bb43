"""Compare configurators on the laboratory's real targets, with the same number of runs for each.

python -m benchmarks.peers --setup      installs the peers into .venv-peers (irace and Ruby: apt)
python -m benchmarks.peers              all that is not yet in benchmarks/peers/data/peers.csv
python -m benchmarks.peers --table      the tables, in markdown

Every tool is a process that asks the same evaluator for runs of the same targets, by the number of
a training instance and a seed; so it never sees the test instances. Costs are counted work, so a
busy machine changes nothing but the tools' own time. What is run once is not run again.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.laboratory.cases import CASES, fold
from benchmarks.peers.environment import HERE, ROOT, set_up
from benchmarks.peers.evaluating import Bench, opened
from benchmarks.peers.rows import Row, add_rows, read_rows
from benchmarks.peers.serving import Search
from benchmarks.peers.tables import tables
from benchmarks.peers.tools import TOOLS, Job, Tool

DATA = HERE / "data" / "peers.csv"
CACHE = ROOT / ".cache" / "peers"
SCENARIOS = ("saps", "minisat", "kissat")
RUNS = (300, 1_000)
MOST = {"SMAC3": 300}
"""Runs for a tool whose own time is far beyond the target's."""


def searches(tool: Tool, runs: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The marks of each search that is needed: one for all if the tool is anytime."""
    marks = tuple(r for r in sorted(runs) if r <= MOST.get(tool.name, r))
    if tool.anytime and marks:
        yield marks
    elif not tool.anytime:
        yield from ((mark,) for mark in reversed(marks))  # the short one then finds its runs known


def rows_of(tool: Tool, bench: Bench, seed: int, marks: tuple[int, ...]) -> list[Row]:
    """Make a search and judge what it found on the test instances."""
    case = bench.case
    log = CACHE / "logs" / f"{case.name}-{tool.name.replace(' ', '-')}-{seed}-{max(marks)}.csv"
    with tempfile.TemporaryDirectory() as folder:
        job = Job(case, seed, max(marks), Path(folder))
        found = Search(tool, bench, job, marks, log).found()
    own = 1000 * found.own / max(found.runs, 1)
    default = bench.held_out(case.scenario.space.default)
    return [
        Row(
            case.name,
            bench.identity,
            tool.name,
            seed,
            mark,
            min(found.runs, mark),
            bench.held_out(best),
            default,
            round(own, 3),
            best.key,
        )
        for mark, best in found.best.items()
    ]


def compare(given: argparse.Namespace, seed: int, name: str) -> None:
    """All searches of one case with one seed that are missing."""
    with CASES[name](fold(seed)) as case, opened(case, CACHE / "runs.sqlite") as bench:
        there = {row.key for row in read_rows(given.data)}
        for tool in map(TOOLS.__getitem__, given.tools):
            for marks in searches(tool, tuple(given.runs)):
                keys = {(name, bench.identity, tool.name, seed, mark) for mark in marks}
                if keys <= there:
                    continue
                rows = rows_of(tool, bench, seed, marks)
                add_rows(given.data, [row for row in rows if row.key not in there])
                for row in rows:
                    print(name, tool.name, seed, row.runs, row.asked, end=" ")
                    print(
                        f"{row.relative:.3f} {row.own:.1f} ms, new runs: {bench.made}", flush=True
                    )


def wanted(row: Row, given: argparse.Namespace) -> bool:
    """Whether it was asked for."""
    here = row.case in given.cases and row.tool in given.tools
    seeds = given.seeds or (row.seed,)
    return here and row.seed in seeds and row.runs in given.runs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--setup", action="store_true", help="install the peers")
    parser.add_argument("--table", action="store_true", help="print the tables")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=SCENARIOS)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--runs", nargs="+", type=int, default=RUNS)
    parser.add_argument("--seeds", nargs="+", type=int, help="1 to 10, in tables all there are")
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    if given.setup:
        set_up()
    elif given.table:
        print(tables([row for row in read_rows(given.data) if wanted(row, given)]))
    else:
        missing = [tool for tool in given.tools if not TOOLS[tool].installed()]
        if missing:
            parser.error(f"not installed (see --setup): {', '.join(missing)}")
        for seed in given.seeds or range(1, 11):
            for name in given.cases:
                compare(given, seed, name)


if __name__ == "__main__":
    main()
