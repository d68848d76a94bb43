"""How often the statements of a certificate are wrong in whole searches.

python -m benchmarks.calibration.simulated --statements tried --searches 240   make those missing
python -m benchmarks.calibration.simulated --statements draws --searches 600
python -m benchmarks.calibration.simulated --table                             the tables

Searches are short and on targets whose true costs are known: laws, which give every configuration
its mean (a sum of effects, with or without interactions, times the size of the instance, times
noise); surrogates of real targets; and solvers whose measured work is replayed, with a star. Each
is looked at at several moments. Rows are kept in data/simulated.csv.xz, several at once with
--seconds; a search that is there is not made again.
"""

import argparse
import csv
import lzma
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from benchmarks.calibration.searches import REPLAYED, Lab, lab, prefix
from benchmarks.calibration.shares import interval
from benchmarks.laboratory.__main__ import collected
from paramhs.analysis.expected_gain import expected_gain
from paramhs.analysis.gain_bound import MAX_STATED_GAIN, gain_bound
from paramhs.analysis.win_probability import win_probabilities
from paramhs.api.tune import tune_scenario
from paramhs.core.costs import Quality
from paramhs.core.random_streams import stream
from paramhs.core.runs import NO_INSTANCE, Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Integer, Space
from paramhs.execution.driver import Budget
from paramhs.search.operators import SeveralParameters
from paramhs.search.record import Record
from paramhs.search.registry import CONFIGURATORS

DATA = Path(__file__).parent / "data" / "simulated.csv.xz"
MOMENTS = {"tried": (30, 50, 75, 100), "draws": (60, 120, 200, 300)}
"""Runs after which a search is looked at, by what is looked at."""
SPACE = Space({name: Integer(0, 4) for name in "abcd"})
SEARCHES = ("paramhs-plain", "random", "paramhs")
"""Searches whose draws are looked at."""


class Row(NamedTuple):
    """A statement of a search at a moment."""

    search: str
    case: str
    seed: int
    runs: int
    statement: str
    said: float
    true: float


@dataclass(frozen=True)
class Law:
    """Standard deviations of logarithms."""

    effects: float
    interactions: float
    noise: float
    instances: int = 20
    """Number of instances; none of a target without noise."""


LAWS = {
    "effects, noise": Law(0.5, 0.0, 0.3),
    "effects and interactions, noise": Law(0.3, 0.3, 0.3),
    "much noise": Law(0.2, 0.1, 1.0),
    "all alike": Law(0.0, 0.0, 0.5),
    "no noise": Law(0.3, 0.3, 0.0, 0),
}


@dataclass(frozen=True)
class Simulated(Target):
    """A target with one realisation of a law."""

    law: Law
    seed: int

    @cached_property
    def means(self) -> dict[Config, float]:
        """Logarithm of the mean cost of each configuration."""
        rng = stream(self.seed, "law")
        effects = [[rng.gauss(0, self.law.effects) for _ in range(5)] for _ in "abcd"]
        return {
            config: sum(e[i] for e, i in zip(effects, config.indices, strict=True))
            + rng.gauss(0, self.law.interactions)
            for config in SPACE.configs()
        }

    def __call__(self, task: Task) -> Run:
        """A run costs its mean, times the size of the instance, times noise."""
        log = self.means[task.config]
        if self.law.instances:
            log += stream(self.seed, "size", task.instance.name).gauss(0, 1)
            name = (task.instance.name, task.seed, task.config.key)
            log += stream(self.seed, "noise", *name).gauss(0, self.law.noise)
        return Run(task, Status.OK, 0.0, math.exp(log))

    @property
    def lab(self) -> Lab:
        """The target with what is true of it."""
        names = tuple(Instance(f"i{k}") for k in range(self.law.instances)) or (NO_INSTANCE,)
        scenario = Scenario(SPACE, names, Quality(), deterministic=not self.law.instances)
        return Lab(scenario, self, lambda c: math.exp(self.means[c]), self.means.__getitem__)


def made(case: str, seed: int) -> Lab:
    """The target of a search; of a law, a new realisation for each seed."""
    return Simulated(LAWS[case], seed).lab if case in LAWS else lab(case)


def searched(of: Lab, search: str, seed: int, runs: int) -> Record:
    """A search."""
    budget, configurator = Budget(runs=runs), CONFIGURATORS[search]
    return tune_scenario(of.scenario, of.target, configurator, budget=budget, seed=seed).record


def tried(case: str, seed: int) -> Iterator[Row]:
    """What is said of the configurations tried, and of what more runs would gain."""
    moments, of = MOMENTS["tried"], made(case, seed)
    whole = searched(of, "paramhs", seed, math.ceil(1.25 * max(moments)))
    for runs in moments:
        record = prefix(whole, runs)
        said, own = gain_bound(record), of.level(record.best)
        bound = MAX_STATED_GAIN if said is None else said.bound
        true = 1 - math.exp(min(map(of.level, record.history.configs)) - own)
        yield Row("paramhs", case, seed, runs, "tried", bound, true)
        gain = expected_gain(record, runs // 10)
        if gain is not None:
            later = prefix(whole, runs + runs // 10).best
            yield Row(
                "paramhs", case, seed, runs, "gain", gain.high, 1 - math.exp(of.level(later) - own)
            )


def draws(search: str, seed: int) -> Iterator[Row]:
    """What is said of other draws, where one run says all."""
    moments, target = MOMENTS["draws"], Simulated(LAWS["no noise"], seed)
    whole = searched(target.lab, search, seed, math.ceil(1.12 * max(moments)))
    for runs in moments:
        record = prefix(whole, runs)
        for one in win_probabilities(record):
            true = winning(one.law, record, target.means)
            yield Row(search, "no noise", seed, runs, one.law, one.bound, true)


def winning(law: str, record: Record, means: dict[Config, float]) -> float:
    """Probability that a draw of a law, of what has not been rejected, wins without noise."""
    best, known = record.best, set(record.history.configs)
    if law == "uniform":
        new = [config for config in means if config not in known]
        return sum(means[config] <= means[best] for config in new) / max(len(new), 1)
    moves = SeveralParameters().distribution(SPACE, best, known)
    return float(sum(p for (config,), p in moves.items() if means[config] <= means[best]))


def is_wrong(row: Row) -> bool:
    """Whether a statement is wrong."""
    return row.true > row.said + 1e-9


def table(rows: Iterable[Row], statements: Sequence[str]) -> Iterator[str]:
    """Wrong statements at each moment and at any, in percent, and the middle of what was said."""
    groups: dict[tuple[str, str, str], dict[int, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        if row.statement in statements and row.said < MAX_STATED_GAIN:  # else nothing is said
            groups[row.statement, row.search, row.case][row.seed].append(row)
    if not groups:
        return
    moments = sorted({row.runs for group in groups.values() for r in group.values() for row in r})
    columns = " | ".join(f"{n} runs" for n in moments)
    yield f"| statement, search | target | searches | {columns} | at any of these |"
    yield "|---" * (4 + len(moments)) + "|"
    everything: list[list[Row]] = []
    for (statement, search, case), by_seed in sorted(groups.items()):
        searches = list(by_seed.values())
        everything += searches
        yield f"| {statement}, {search} | {case} | {_cells(searches, moments)} |"
    yield f"| all | | {_cells(everything, moments)} |"


def _cells(searches: Sequence[Sequence[Row]], moments: Sequence[int]) -> str:
    cells = [f"{len(searches):,}"]
    for runs in moments:
        here = [row for search in searches for row in search if row.runs == runs]
        middle = sorted(row.said for row in here)[len(here) // 2] if here else math.nan
        wrong = sum(map(is_wrong, here))
        cells.append(f"{interval(wrong, len(here))}; {100 * middle:.0f} %" if here else "")
    ever = sum(any(map(is_wrong, search)) for search in searches)
    return " | ".join([*cells, interval(ever, len(searches))])


def read(path: Path = DATA) -> list[Row]:
    """The rows kept."""
    if not path.exists():
        return []
    with lzma.open(path, "rt", newline="") as file:
        return [
            Row(r[0], r[1], int(r[2]), int(r[3]), r[4], float(r[5]), float(r[6]))
            for r in csv.reader(file)
        ]


def write(rows: Sequence[Row], path: Path = DATA) -> None:
    """Keep these rows."""
    with lzma.open(path, "wt", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow((*row[:5], f"{row.said:.4f}", f"{row.true:.4f}"))


def main() -> None:
    """Make searches, or print the tables of those made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", choices=tuple(MOMENTS), default="tried")
    parser.add_argument("--searches", type=int, default=240, help="of each")
    parser.add_argument("--cases", nargs="+", default=[*LAWS, *REPLAYED, *collected()])
    parser.add_argument("--kinds", nargs="+", default=SEARCHES, help="of search, for draws")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    rows = read(given.data)
    if given.table:
        for statements in (["tried"], ["gain"], ["plain", "uniform"]):
            print("\n".join(table(rows, statements)), end="\n\n")
        return
    make: Callable[[str, int], Iterator[Row]] = tried if given.statements == "tried" else draws
    begun = time.monotonic()
    of = given.cases if given.statements == "tried" else given.kinds
    there = {
        (row.case if make is tried else row.search, row.seed)
        for row in rows
        if (row.statement in ("tried", "gain")) == (make is tried)
    }
    for seed in range(given.searches):
        for name in of:
            if (name, seed) not in there and time.monotonic() - begun < given.seconds:
                rows += make(name, seed)
    write(rows, given.data)


if __name__ == "__main__":
    main()
