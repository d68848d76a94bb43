"""Configurations meet on instances, with seeds that no search has used."""

import json
import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramhs.results.verdict import Verdict, verdict
from paramhs.search.history import History
from paramhs.values.describing import description
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Instance, Pair, Run, Search, Target, Task
from paramhs.values.scenario import Scenario, endless_pairs, told_apart
from paramhs.values.seeds import SEEDS
from paramhs.values.space import Config
from paramhs.world.driver import Budget, Driver, Watcher
from paramhs.world.executing import check_jobs, executing
from paramhs.world.store import open_store

if TYPE_CHECKING:
    from paramhs.world.store.reading import StoredSearch

_NOTE = "verdicts"
_KEPT = 100  # verdicts that are remembered

USUAL_PAIRS = 50  # at least so many where the target is random


@dataclass(frozen=True)
class TestSet:
    """On what configurations are compared in the end."""

    __test__ = False  # whatever pytest makes of the name

    instances: tuple[Instance, ...]
    held_out: bool
    """Whether the search never saw these instances; its seeds are new in any case."""
    runs: int | None = None
    """How many of each configuration, rounded up to as many on each instance; None for one an
    instance, or 50 if the target is random."""

    @property
    def text(self) -> str:
        """What it is on, in words."""
        if self.instances == (NO_INSTANCE,):
            return "new seeds"
        count = f"{len(self.instances):,} instance{'s' * (len(self.instances) != 1)}"
        return f"{count} held out" if self.held_out else f"{count} of the search, with new seeds"

    def __post_init__(self) -> None:
        if not self.instances:
            raise BadInput("a verdict needs instances, and the list is empty")
        if len({instance.name for instance in self.instances}) < len(self.instances):
            raise BadInput("a verdict needs instances that differ, and one is listed twice")
        if self.runs is not None and (type(self.runs) is not int or self.runs < 1):
            raise BadInput(f"a verdict needs at least 1 run of each side, not {self.runs!r}")

    def pairs(self, deterministic: bool, seed: int) -> list[Pair]:
        """Instances with seeds. Those of a search come 2^30 seeds earlier if it has as many
        instances, and elsewhere otherwise: of 2^31 seeds they would share one by rare chance."""
        count = len(self.instances)
        if not deterministic:
            count = max(count, USUAL_PAIRS)
        if self.runs is not None:
            count = self.runs
        if deterministic:
            count = min(count, len(self.instances))
        if count > len(self.instances):  # as many on each
            count = len(self.instances) * math.ceil(count / len(self.instances))
        return list(islice(endless_pairs(self.instances, seed, SEEDS // 2), count))


def validate(
    scenario: Scenario,
    target: Target,
    configs: Sequence[Config],
    test_set: TestSet,
    *,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
) -> list[Verdict] | None:
    """The first configuration against each of the others; None if it was interrupted."""
    made = meet(
        scenario,
        target,
        configs,
        test_set,
        seed=seed,
        jobs=jobs,
        store=store,
        executor=executor,
        watcher=watcher,
    )
    if made is None:
        return None
    first, *others = made.values()
    return [verdict(first, other, scenario.cost, test_set.text) for other in others]


def meet(
    scenario: Scenario,
    target: Target,
    configs: Sequence[Config],
    test_set: TestSet,
    *,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
) -> dict[Config, list[Run]] | None:
    """Make the runs of configurations on a test set, the same for all; None if interrupted."""
    check_jobs(jobs)
    different = list(dict.fromkeys(configs))
    if len(different) < 2:
        raise BadInput("a verdict needs two different configurations")
    if store is not None:
        test_set = replace(test_set, instances=tuple(map(told_apart, test_set.instances)))
    pairs = test_set.pairs(scenario.deterministic, seed)
    watcher = watcher or Watcher()
    watcher.notice(f"verdict: {len(pairs):,} runs of each configuration, on {test_set.text}")
    tests = replace(scenario, instances=test_set.instances, initial=(), known=())
    history = History(tests, seed)
    tasks = [history.task(config, pair) for pair in pairs for config in different]
    if not _make(tasks, history, target, jobs, store, executor, watcher):
        return None
    made: dict[Config, list[Run]] = {config: [] for config in different}
    for run in history.runs:
        made[run.task.config].append(run)
    if store is not None:
        _note(Path(store), different, pairs, test_set)
    return made


def _note(store: Path, configs: Sequence[Config], pairs: Sequence[Pair], test_set: TestSet) -> None:
    """Keep who met on which pairs: the runs do not say when all of them are made."""
    from paramhs.world.store.notes import write_note  # sqlite3 only where it is needed

    first, *others = [config.key for config in configs]
    noted = [one for one in _noted(store) if one["second"] not in others]
    where = {"on": test_set.text, "pairs": [[pair.instance.name, pair.seed] for pair in pairs]}
    made = [{"first": first, "second": other, **where} for other in others]
    write_note(store, _NOTE, json.dumps([*noted[-_KEPT:], *made]))


def _noted(store: Path) -> list[dict[str, Any]]:
    from paramhs.world.store.notes import read_note

    noted: list[dict[str, Any]] = json.loads(read_note(store, _NOTE) or "[]")
    return noted


def read_verdict(search: "StoredSearch") -> Verdict | None:
    """The last verdict that was made of the default and the best of a stored search."""
    path = verdict_store(search.path)
    if path is None or not path.exists():
        return None
    keys = {"first": search.default.key, "second": search.best.key}
    noted = [one for one in _noted(path) if keys.items() <= one.items()]
    if not noted:
        return None
    runs = _runs_of(path, search)
    last = noted[-1]
    pairs = [(name, seed) for name, seed in last["pairs"]]
    try:
        sides = [[runs[key, pair] for pair in pairs] for key in keys.values()]
    except KeyError:
        return None
    return verdict(sides[0], sides[1], search.scenario.cost, last["on"])


def _runs_of(path: Path, search: "StoredSearch") -> dict[tuple[str, tuple[str, int]], Run]:
    """The runs of the default and of the best, by pair."""
    from paramhs.world.store.sqlite import read_runs

    wanted, cutoff = (search.default, search.best), search.scenario.cutoff
    return {
        (run.task.config.key, (run.task.instance.name, run.task.seed)): run
        for run in read_runs(path, search.scenario.space)
        if run.task.config in wanted and run.task.cutoff == cutoff
    }


def _make(
    tasks: Sequence[Task],
    history: History,
    target: Target,
    jobs: int,
    store: str | Path | None,
    executor: str | Executor | None,
    watcher: Watcher,
) -> bool:
    """Make the runs of these tasks, from the store where they were made before; whether all are."""
    scenario = history.scenario
    described = {} if store is None else run_described("verdict", scenario, target)
    opened = open_store(store, scenario.space, described, target.source)
    try:
        with executing(target, executor, jobs, scenario.cutoff) as (workers, runner):
            driver = Driver(
                _ask_for(tasks, history),
                history,
                runner,
                opened,
                Budget(runs=len(tasks)),
                workers,
                jobs,
                watcher,
                purpose="verdict",
            )
            driver.run()
        return len(history.runs) == len(tasks)
    finally:
        opened.close()


def _ask_for(tasks: Sequence[Task], history: History) -> Search:
    yield from history.make(tasks)
    return "all runs are made"


def run_described(purpose: str, scenario: Scenario, target: Target) -> dict[str, object]:
    """What makes stored runs usable again; which instances they are on is no part of it."""
    cost = description(scenario.cost, "the cost")
    space = scenario.space.describe()
    return {purpose: {"space": space, "cost": cost}, "target": target.describe()}


def verdict_store(store: str | Path | None) -> Path | None:
    """Where the runs of a verdict are kept: beside those of the search."""
    if store is None:
        return None
    return Path(store).with_name(f"{Path(store).name.removesuffix('.sqlite')}.verdict.sqlite")
