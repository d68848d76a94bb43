"""Configurations meet on instances, with seeds that no search has used."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from paramhs.results.verdict import Verdict, verdict
from paramhs.search.history import History
from paramhs.values.describing import description
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Instance, Pair, Run, Search, Target, Task
from paramhs.values.scenario import Scenario, endless_pairs, told_apart
from paramhs.values.seeds import SEEDS
from paramhs.values.space import Config
from paramhs.values.wording import counted, time_text
from paramhs.world.driver import Budget, Driver
from paramhs.world.running import ONE_AT_A_TIME, Running
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
    """Whether the search never saw these instances; a random target's seeds are new in any case."""
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
        instances, and elsewhere otherwise: of 2^31 seeds they would share one by rare chance.
        A deterministic target has the same fixed seed in both."""
        pairs = endless_pairs(self.instances, seed, SEEDS // 2, deterministic=deterministic)
        return list(islice(pairs, self.count(deterministic)))

    def count(self, deterministic: bool) -> int:
        """How many pairs there are."""
        count = len(self.instances)
        if not deterministic:
            count = max(count, USUAL_PAIRS)
        if self.runs is not None:
            count = self.runs
        if deterministic:
            count = min(count, len(self.instances))
        if count > len(self.instances):  # as many on each
            count = len(self.instances) * math.ceil(count / len(self.instances))
        return count


class VerdictTime:
    """How long a verdict will take, from the runs of a search so far."""

    def __init__(self, history: History, pairs: int) -> None:
        self.pairs = pairs
        self._history = history
        self._read = 0
        self._seconds: dict[Config, tuple[int, float]] = {}
        self._lock = Lock()  # a live view asks from a thread of its own

    def seconds(self, *configs: Config) -> float:
        """Seconds of target time for these to run on every pair; 0 while nothing is known."""
        with self._lock:
            new = self._history.runs[self._read :]
            for run in new:
                count, total = self._seconds.get(run.task.config, (0, 0.0))
                self._seconds[run.task.config] = (count + 1, total + run.runtime)
            self._read += len(new)
            made = [self._seconds[config] for config in configs if config in self._seconds]
        return self.pairs * math.fsum(total / count for count, total in made)


def validate(
    scenario: Scenario,
    target: Target,
    configs: Sequence[Config],
    test_set: TestSet,
    *,
    seed: int = 0,
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
) -> list[Verdict] | None:
    """The first configuration against each of the others; None if it was interrupted."""
    made = meet(scenario, target, configs, test_set, seed=seed, store=store, running=running)
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
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
    expected: float = 0.0,
) -> dict[Config, list[Run]] | None:
    """The runs of each configuration, all on the same pairs; None if that was interrupted.

    `expected` is the target time that this will probably take, in seconds, to be told beforehand.
    """
    different = list(dict.fromkeys(configs))
    if len(different) < 2:
        raise BadInput("a verdict needs two different configurations")
    if store is not None:
        test_set = replace(test_set, instances=tuple(map(told_apart, test_set.instances)))
    pairs = test_set.pairs(scenario.deterministic, seed)
    soon = f", about {time_text(expected / running.jobs)}" if expected else ""
    each = f"{counted(len(pairs), 'run')} of each of {len(different)} configurations"
    running.watcher.notice(f"verdict: {each}, on {test_set.text}{soon}")
    tests = replace(scenario, instances=test_set.instances, initial=(), known=())
    history = History(tests, seed)
    tasks = [history.task(config, pair) for pair in pairs for config in different]
    budget = Budget(runs=len(tasks))
    make_runs("verdict", _ask_for(tasks, history), history, target, budget, store, running)
    if len(history.runs) < len(tasks):
        return None
    made: dict[Config, list[Run]] = {config: [] for config in different}
    for run in history.runs:
        made[run.task.config].append(run)
    if store is not None:
        _note(Path(store), different, pairs, test_set)
    return made


def _note(store: Path, configs: Sequence[Config], pairs: Sequence[Pair], test_set: TestSet) -> None:
    """Keep who met on which pairs: the runs do not say when all of them are made."""
    from paramhs.world.store.notes import keep_note, read_note  # sqlite3 only where it is needed

    first, *others = [config.key for config in configs]
    noted = [one for one in _noted(read_note(store, _NOTE)) if one["second"] not in others]
    where = {"on": test_set.text, "pairs": [[pair.instance.name, pair.seed] for pair in pairs]}
    made = [{"first": first, "second": other, **where} for other in others]
    keep_note(store, _NOTE, [*noted[-_KEPT:], *made])


def _noted(note: object) -> list[dict[str, Any]]:
    return note if isinstance(note, list) else []


def read_verdict(search: "StoredSearch") -> Verdict | None:
    """The last verdict that was made of the default and the best of a stored search."""
    return read_verdict_of(search, search.default, search.best)


def read_verdict_of(search: "StoredSearch", first: Config, second: Config) -> Verdict | None:
    """The last verdict for which both of these were run on the same pairs."""
    path = verdict_store(search.path)
    if path is None or not path.exists() or first == second:
        return None
    from paramhs.world.store.notes import read_note

    sides = [first.key, second.key]
    last = _last_noted(_noted(read_note(path, _NOTE)), sides)
    if last is None:
        return None
    runs = _runs_of(path, search, (first, second))
    pairs = [(name, seed) for name, seed in last["pairs"]]
    try:
        mine, other = ([runs[key, pair] for pair in pairs] for key in sides)
    except KeyError:
        return None
    return verdict(mine, other, search.scenario.cost, last["on"])


def _last_noted(noted: Sequence[dict[str, Any]], keys: Sequence[str]) -> dict[str, Any] | None:
    """The last note of runs that these have all made; several notes may be of the same pairs."""
    for last in noted[::-1]:
        same = [one for one in noted if (one["on"], one["pairs"]) == (last["on"], last["pairs"])]
        if {*keys} <= {key for one in same for key in (one["first"], one["second"])}:
            return last
    return None


def _runs_of(
    path: Path, search: "StoredSearch", configs: Sequence[Config]
) -> dict[tuple[str, tuple[str, int]], Run]:
    """The runs of these configurations, by pair."""
    from paramhs.world.store.sqlite import read_runs

    cutoff = search.scenario.cutoff
    return {
        (run.task.config.key, (run.task.instance.name, run.task.seed)): run
        for run in read_runs(path, search.scenario.space)
        if run.task.config in configs and run.task.cutoff == cutoff
    }


def _ask_for(tasks: Sequence[Task], history: History) -> Search:
    yield from history.make(tasks)
    return "all runs are made"


def make_runs(
    purpose: str,
    search: Search,
    history: History,
    target: Target,
    budget: Budget,
    store: str | Path | None,
    running: Running,
) -> Driver:
    """Make runs that are no part of a search, from the store where they were made before."""
    scenario = history.scenario
    described = {} if store is None else _described(purpose, scenario, target)
    opened = open_store(store, scenario.space, described, target.source)
    try:
        return running.drive(search, history, target, opened, budget, purpose=purpose)
    finally:
        opened.close()


def _described(purpose: str, scenario: Scenario, target: Target) -> dict[str, object]:
    """What makes stored runs usable again; which instances they are on is no part of it."""
    cost = description(scenario.cost, "the cost")
    space = scenario.space.describe()
    return {purpose: {"space": space, "cost": cost}, "target": target.describe()}


def verdict_store(store: str | Path | None) -> Path | None:
    """Where the runs of a verdict are kept: beside those of the search."""
    if store is None:
        return None
    return Path(store).with_name(f"{Path(store).name.removesuffix('.sqlite')}.verdict.sqlite")
