"""How many workers a search keeps busy: `python -m benchmarks.studies.workers`.

The driver itself, in virtual time: its runs take the seconds that real runs took, and waiting takes
none. Simulations that data/workers.csv has not are made and added to it (all of them take an hour
on one core). Prints the tables of docs/benchmarks/workers.md and draws docs/benchmarks/workers.svg.
"""

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.studies.workers.cases import CASES, Case
from benchmarks.studies.workers.virtual import VirtualDriver, VirtualWorkers
from paramhs.core.runs import Task
from paramhs.core.space import Config
from paramhs.execution.driver import Budget
from paramhs.execution.storage import MemoryStore
from paramhs.search.configurators import Configurator, IteratedRace, ParamHS, ParamILS
from paramhs.search.history import History
from paramhs.search.operators import SeveralParameters

ROOT = Path(__file__).parents[3]
TABLE = Path(__file__).parent / "data" / "workers.csv"
SEARCHES: dict[str, Callable[[int], Configurator]] = {
    "ParamHS, learned": lambda _: ParamHS(),
    "ParamHS, plain": lambda _: ParamHS(SeveralParameters()),
    "ParamILS": lambda _: ParamILS(),
    "Race": lambda _: IteratedRace(),
}
"""By name, for so many workers."""
FORMER = [
    "1939fd1, learned",
    "before cohorts, learned",
    "before cohorts, plain",
    "ParamILS, before",
    "asynchronous (removed), learned",
    "asynchronous (removed), plain",
]
"""Searches of former versions, whose rows are kept to compare with."""
WORKERS = [2**k for k in range(11)]


class Row(NamedTuple):
    """One simulated search."""

    case: str
    search: str
    runs: int
    seed: int
    workers: int
    seconds: float
    """Of virtual time until it was done."""
    made: int
    """Runs made."""
    used: int
    """Runs that the search asked for."""
    cost: float
    """Mean cost of the last incumbent over all instances."""


def simulated(name: str, case: Case, search: str, runs: int, seed: int, workers: int) -> Row:
    """One search, until its budget of runs is spent."""
    history, virtual = History(case.scenario, seed), VirtualWorkers()
    rules = SEARCHES[search](workers)
    driver = VirtualDriver(
        *(rules.search(history), history, case.target, MemoryStore(), Budget(runs=runs)),
        *(virtual, workers),
    )
    driver.run()
    cost = cost_of(case, driver.record.incumbent or case.scenario.space.default)
    seconds, made = round(virtual.now, 3), driver.new_runs
    return Row(name, search, runs, seed, workers, seconds, made, driver.taken, round(cost, 4))


def cost_of(case: Case, config: Config) -> float:
    """The mean over all instances."""
    scenario = case.scenario
    tasks = [Task(config, instance, 1, scenario.cutoff) for instance in scenario.instances]
    return fmean(scenario.cost_of(case.target(task))[0] for task in tasks)


def read() -> list[Row]:
    """All that were simulated."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return [
            Row(*row[:2], *map(int, row[2:5]), float(row[5]), *map(int, row[6:8]), float(row[8]))
            for row in list(csv.reader(file))[1:]
        ]


def add_missing(args: argparse.Namespace, rows: list[Row]) -> None:
    """Simulate what the table has not."""
    there = {row[:5] for row in rows}
    for name in args.cases:
        wanted = product(args.searches, args.runs, range(args.seeds), args.workers)
        new = [key for key in wanted if (name, *key) not in there]
        case = CASES[name]() if new else None
        for key in new:
            assert case is not None
            rows.append(simulated(name, case, *key))
            print(*rows[-1], flush=True)
            write(rows)


def write(rows: Sequence[Row]) -> None:
    """The whole table."""
    with TABLE.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows(sorted(rows))


class Summary(NamedTuple):
    """The same search with several seeds."""

    case: str
    search: str
    runs: int
    workers: int
    seconds: float
    faster: float
    """Than one worker, in the mean over seeds."""
    useful: float
    """Share of the runs made."""
    cost: float


def summaries(rows: Sequence[Row], fewest: int = 1) -> Iterator[Summary]:
    """By case, search, budget and workers, of which there are at least so many numbers; over the
    seeds that were simulated with all of them."""
    groups: dict[tuple[str, str, int], dict[int, dict[int, Row]]] = {}
    for row in rows:
        group = groups.setdefault((row.case, row.search, row.runs), {})
        group.setdefault(row.workers, {})[row.seed] = row
    for key, by_workers in groups.items():
        seeds = set.intersection(*(set(found) for found in by_workers.values()))
        if len(by_workers) < fewest or 1 not in by_workers:
            continue
        for workers, found in sorted(by_workers.items()):
            own = [found[seed] for seed in sorted(seeds)]
            yield Summary(
                *(*key, workers, fmean(row.seconds for row in own)),
                fmean(by_workers[1][row.seed].seconds / row.seconds for row in own),
                sum(row.used for row in own) / sum(row.made for row in own),
                fmean(row.cost for row in own),
            )


def lines(found: Sequence[Summary]) -> Iterator[str]:
    """A table of what so many workers gain."""
    names = ["runs of", "search", "budget", "workers", "time", "times faster"]
    names += ["useful", "efficiency", "cost"]
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    for one in found:
        cells = [
            *(one.case, one.search, f"{one.runs:,}", f"{one.workers:,}"),
            *(f"{one.seconds:,.0f} s", f"{one.faster:.1f}", f"{one.useful:.0%}"),
            *(f"{one.faster / one.workers:.0%}", f"{one.cost:.2f}"),
        ]
        yield f"| {' | '.join(cells)} |"


def figure(found: Sequence[Summary]) -> Any:
    """How much faster, and what share of the runs is useful, by the number of workers."""
    import altair as alt

    rows = [{**one._asdict(), "panel": f"{one.case}, {one.runs:,} runs"} for one in found]
    base = alt.Chart(alt.Data(values=rows), width=230, height=180).encode(
        alt.X(
            "workers:Q",
            scale=alt.Scale(type="log", base=2),
            axis=alt.Axis(values=[4**k for k in range(6)]),
        ),
        alt.Color("search:N", sort=[*SEARCHES, *FORMER], title=None),
        alt.StrokeDash("search:N", sort=[*SEARCHES, *FORMER], legend=None),
    )
    logs = alt.Scale(type="log", base=2)
    faster = base.mark_line(point=alt.OverlayMarkDef(size=18)).encode(
        alt.Y("faster:Q", scale=logs, title="times faster than one")
    )
    useful = base.mark_line(point=alt.OverlayMarkDef(size=18)).encode(
        alt.Y("useful:Q", axis=alt.Axis(format="%"), title="useful runs")
    )
    columns = [
        (faster.transform_filter(f"datum.panel == '{panel}'").properties(title=panel))
        | useful.transform_filter(f"datum.panel == '{panel}'")
        for panel in dict.fromkeys(row["panel"] for row in rows)
    ]
    return alt.vconcat(*columns)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.workers", description=__doc__
    )
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--searches", nargs="*", choices=SEARCHES, default=list(SEARCHES))
    parser.add_argument("--workers", nargs="*", type=int, default=WORKERS)
    parser.add_argument("--runs", nargs="*", type=int, default=[2_000])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--shown", nargs="*", type=int, default=[1, 64])
    args = parser.parse_args()
    rows = read()
    add_missing(args, rows)
    shown = [row for row in rows if row.workers in args.shown]
    print("\n".join(lines(in_order(summaries(shown)))))
    from paramhs.report.chart_files import draw

    draw(
        figure(in_order(summaries(rows, fewest=4))),
        ROOT / "docs" / "benchmarks",
        "workers",
        ("svg",),
    )


def in_order(found: Iterator[Summary]) -> list[Summary]:
    """By case, budget and search."""
    return sorted(
        found, key=lambda one: (one.case, one.runs, [*SEARCHES, *FORMER].index(one.search))
    )


if __name__ == "__main__":
    main()
