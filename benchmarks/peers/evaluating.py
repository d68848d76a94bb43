"""The one evaluator that all searches ask: it counts, remembers and keeps a log."""

import csv
import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir

from benchmarks.laboratory.cases import Case
from paramhs.core.description import description
from paramhs.core.runs import Instance, Run, Target, Task
from paramhs.core.scenario import FIXED_SEED
from paramhs.core.space import Config
from paramhs.execution.executors import executing
from paramhs.execution.targets import FunctionTarget

TEST_SEEDS = range(1_000_001, 1_000_003)  # which no search draws but by a rare chance


class Bench:
    """Makes the runs of a case, each once: a run is a function of configuration, instance, seed."""

    def __init__(self, case: Case, runner: Callable[[Task], Run], cache: Path) -> None:
        self.case = case
        self.runner = runner
        self.identity = identity(case)
        self.made = 0
        self._known = sqlite3.connect(cache, isolation_level=None)
        self._known.execute("PRAGMA journal_mode = wal")
        self._known.execute("PRAGMA synchronous = off")
        self._known.execute(
            "CREATE TABLE IF NOT EXISTS runs (bench, config, instance, seed, cost REAL,"
            " PRIMARY KEY (bench, config, instance, seed)) WITHOUT ROWID"
        )

    def cost(self, config: Config, instance: Instance, seed: int) -> float:
        """What a run costs."""
        seed = FIXED_SEED if self.case.scenario.deterministic else seed
        key = (self.identity, config.key, instance.name, seed)
        where = "bench = ? AND config = ? AND instance = ? AND seed = ?"
        row = self._known.execute(f"SELECT cost FROM runs WHERE {where}", key).fetchone()
        if row is not None:
            return float(row[0])
        cost = self._run(config, instance, seed)
        self._known.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?)", (*key, cost))
        return cost

    def _run(self, config: Config, instance: Instance, seed: int) -> float:
        scenario = self.case.scenario
        self.made += 1
        run = self.runner(Task(config, instance, seed, scenario.cutoff))
        (cost,) = scenario.cost_of(run)
        return cost

    def held_out(self, config: Config) -> float:
        """The mean on the test instances, of a target that draws with several seeds."""
        seeds: Sequence[int] = (FIXED_SEED,) if self.case.scenario.deterministic else TEST_SEEDS
        costs = [self.cost(config, instance, s) for instance in self.case.tests for s in seeds]
        return sum(costs) / len(costs)


def identity(case: Case) -> str:
    """A digest of all that decides what a run costs; the solver's own version is not in it."""
    scenario = case.scenario
    instances = {i.name: _content(i) for i in (*scenario.instances, *case.tests)}
    facts = [scenario.space.describe(), description(scenario.cost, "the cost"), scenario.cutoff]
    target = {name: fact for name, fact in case.target.describe().items() if name != "clock"}
    text = json.dumps([*facts, target, instances], default=str)
    text = re.sub(rf"{re.escape(gettempdir())}/\w+", "", text)  # where the case is this time
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _content(instance: Instance) -> str:
    file = file_of(instance)
    content = file.read_bytes() if file.is_file() else str(instance.value).encode()
    return hashlib.sha256(content).hexdigest()


def file_of(instance: Instance) -> Path:
    """Where its file is, if it is one: a command's instances know more than that."""
    return Path(str(getattr(instance.value, "path", instance.value)))


@contextmanager
def opened(case: Case, cache: Path) -> Iterator[Bench]:
    """A bench whose runs are made under the limits of the scenario."""
    cache.parent.mkdir(parents=True, exist_ok=True)
    cutoff = case.scenario.cutoff
    with executing(unhurried(case.target, cutoff), None, 1, cutoff) as (_, runner):
        yield Bench(case, runner, cache)


def unhurried(target: Target, cutoff: float) -> Target:
    """Convert a target to cutoffs in processor time, which a busy machine does not use up."""
    if isinstance(target, FunctionTarget) and math.isfinite(cutoff):
        return FunctionTarget(target.function, clock="cpu")
    return target


@dataclass
class Evaluator:
    """Part of a bench that one search sees: training instances by number, and a budget of runs.

    The incumbent is noted at each of the `marks`, when a run beyond it is asked for, and for those
    that are never reached when the search is over.
    """

    bench: Bench
    marks: Sequence[int]
    incumbent: Callable[[], Config]
    log: Path
    asked: int = 0
    noted: dict[int, Config] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("", encoding="utf-8")

    def cost(self, config: Config, number: int, seed: int) -> float | None:
        """What a run costs; None if the budget, the last of the marks, is spent."""
        if self.asked in self.marks and self.asked not in self.noted:
            self.noted[self.asked] = self.incumbent()
        if self.asked >= max(self.marks):
            return None
        self.asked += 1
        instance = self.bench.case.scenario.instances[number]
        cost = self.bench.cost(config, instance, seed)
        with self.log.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerow([config.key, instance.name, seed, cost])
        return cost

    def close(self) -> dict[int, Config]:
        """The search is over: what it would return at each mark."""
        left = [mark for mark in self.marks if mark not in self.noted]
        return self.noted | {mark: self.incumbent() for mark in left}
