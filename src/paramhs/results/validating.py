"""Configurations meet on instances, with seeds that no search has used."""

import math
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from paramhs.results.verdict import Verdict, verdict
from paramhs.values.costs import CostMetric
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Evaluate, Incumbent, Instance, Run, Task
from paramhs.values.scenario import Scenario, description, endless_pairs
from paramhs.values.seeds import SEEDS
from paramhs.values.space import Config, Space
from paramhs.world.driver import Budget, Driver, Watcher
from paramhs.world.executing import AnyTarget, check_jobs, executing
from paramhs.world.store import open_store
from paramhs.world.targets.command import answers

USUAL_PAIRS = 50  # at least so many where the target is random


@dataclass(frozen=True)
class Meeting:
    """On what configurations are to meet."""

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

    def pairs(self, deterministic: bool, seed: int) -> list[tuple[Instance, int]]:
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
    target: AnyTarget,
    configs: Sequence[Config],
    meeting: Meeting,
    *,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
) -> list[Verdict] | None:
    """The first configuration against each of the others; None if it was interrupted."""
    check_jobs(jobs)
    if len(set(configs)) < 2:
        raise BadInput("a verdict needs two different configurations")
    tasks = [
        Task(config, _with_answer(instance), number, scenario.cutoff)
        for instance, number in meeting.pairs(scenario.deterministic, seed)
        for config in dict.fromkeys(configs)
    ]
    watcher = watcher or Watcher()
    count = len(tasks) // len(set(configs))
    watcher.notice(f"verdict: {count:,} runs of each configuration, on {meeting.text}")
    runs = _made(tasks, scenario, target, jobs, store, executor, watcher)
    if runs is None:
        return None
    made = {c: [run for run in runs if run.task.config == c] for c in dict.fromkeys(configs)}
    first, *others = made.values()
    return [verdict(first, other, scenario.cost, meeting.text) for other in others]


def _with_answer(instance: Instance) -> Instance:
    """Runs are stored by the names of instances, and judged by what is known of them: if that is
    corrected, they must be made again."""
    known = " ".join(w for w in answers([instance]).get(instance.name, ()) if w not in ("", "0"))
    return Instance(f"{instance.name} ({known})", instance.value) if known else instance


def _made(
    tasks: Sequence[Task],
    scenario: Scenario,
    target: AnyTarget,
    jobs: int,
    store: str | Path | None,
    executor: str | Executor | None,
    watcher: Watcher,
) -> Sequence[Run] | None:
    """The runs of these tasks, from the store where they were made before."""
    described = _described(scenario.space, scenario.cost, target)
    opened = open_store(store, scenario.space, described, target.source)
    made: list[Run] = []
    try:
        with executing(target, executor, jobs, scenario.cutoff) as (workers, runner):
            driver = Driver(
                _asking(tasks, made),
                scenario.cost,
                runner,
                opened,
                Budget(runs=len(tasks)),
                workers,
                jobs,
                watcher,
                purpose="verdict",
            )
            driver.run()
        return made if len(made) == len(tasks) else None
    finally:
        opened.close()


def _asking(
    tasks: Sequence[Task], made: list[Run]
) -> Generator[Evaluate | Incumbent, Sequence[Run], str]:
    made.extend((yield Evaluate(tasks)))
    return "all runs are made"


def _described(space: Space, cost: CostMetric, target: AnyTarget) -> dict[str, object]:
    """What makes stored runs usable again; which instances they are on is no part of it."""
    return {
        "verdict": {"space": space.describe(), "cost": description(cost)},
        "target": target.name,
        **target.describe(),
    }


def verdict_store(store: str | Path | None) -> Path | None:
    """Where the runs of a verdict are kept: beside those of the search."""
    if store is None:
        return None
    return Path(store).with_name(f"{Path(store).name.removesuffix('.sqlite')}.verdict.sqlite")
