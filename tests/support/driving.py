"""Answers searches and races by plain functions, and keeps what they asked for."""

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from paramhs.core.costs import Score, score
from paramhs.core.random_streams import stream
from paramhs.core.runs import Evaluate, Incumbent, Instance, Run, Search, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.execution.driver import LookAhead
from paramhs.search.comparison import Comparison
from paramhs.search.configurators import Configurator
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.testing.driving import steps
from paramhs.testing.duels import Duels, Sampled, calls_until_sampled

__all__ = ["Sampled", "calls_until_sampled"]

Target = Callable[[Task], Run]
MOST_WITHOUT_RUN = 200  # changes of incumbent in a row, before a search is said to go in circles


@dataclass
class Driven:
    """What a search did."""

    batches: list[list[Task]] = field(default_factory=list)
    looked_at: list[list[Task]] = field(default_factory=list)
    """For each batch, the likely tasks that were looked at."""
    incumbents: list[Config] = field(default_factory=list)
    events: list[Task | Config] = field(default_factory=list)
    """Tasks and incumbents as they came."""
    ended: str | None = None

    @property
    def tasks(self) -> list[Task]:
        return [task for batch in self.batches for task in batch]

    @property
    def configs(self) -> list[Config]:
        """In the order of their first run."""
        return list(dict.fromkeys(task.config for task in self.tasks))


def drive(
    search: Search,
    target: Target,
    runs: float = math.inf,
    peek: Iterable[int] = (),
    history: History | None = None,
) -> Driven:
    """Answer a search until it ends, or until it was given this many runs.

    `peek`: how many tasks to make early at each batch, none when it ends; with a `history`.
    """
    driven, peeks, idle = Driven(), iter(peek), 0
    ahead = LookAhead() if history else None
    dialogue = Dialogue(search)
    for request in steps(dialogue, target):
        if isinstance(request, Incumbent):
            idle += 1
            assert idle < MOST_WITHOUT_RUN, "the incumbent changes for ever without a run"
            driven.incumbents.append(request.config)
            driven.events.append(request.config)
        else:
            idle = 0
            driven.batches.append(list(request.tasks))
            tasks = ahead.tasks(request) if ahead else request.likely
            driven.looked_at.append(list(islice(tasks, next(peeks, 0))))
            for task in driven.looked_at[-1] if ahead else ():
                ahead.add(target(task))  # type: ignore[union-attr]
            driven.events.extend(request.tasks)
            if len(driven.tasks) >= runs:
                break
    else:
        driven.ended = dialogue.result
    search.close()
    return driven


def begin(rules: Configurator, scenario: Scenario, seed: int) -> Search:
    """A new search, with a history of its own."""
    return rules.search(History(scenario, seed))


def settle(
    asking: Generator[Evaluate, Sequence[Run], bool], target: Target
) -> tuple[bool, list[list[Task]]]:
    """What a test_set decides, and the batches that it asked for."""
    dialogue = Dialogue(asking)
    batches = [list(request.tasks) for request in steps(dialogue, target)]
    return dialogue.result, batches


class Compared:
    """A comparison in a search of its own, without a configurator."""

    def __init__(self, comparison: Comparison, scenario: Scenario, seed: int) -> None:
        self.comparison = comparison
        self.history = History(scenario, seed)

    def start(self, config):
        return self.comparison.start(self.history, config)

    def better(self, challenger, incumbent):
        return self.comparison.better(self.history, challenger, incumbent)

    def is_final(self, challenger, incumbent):
        return self.comparison.is_final(self.history, challenger, incumbent)

    def costs(self, config):
        return list(self.history.costs(config).values())


def ok(task: Task, quality: float) -> Run:
    return Run(task, Status.OK, 0.0, quality)


def instances(count: int) -> tuple[Instance, ...]:
    return tuple(Instance(f"i{k}") for k in range(count))


def one_parameter(levels: int) -> Space:
    return Space({"x": range(levels)})


def at(space: Space, x: int) -> Config:
    return space.config(x=x)


def noise(task: Task) -> float:
    """A number in [0, 1) that is a function of the task's configuration, instance and seed."""
    return stream(task.seed, task.config.key, task.instance.name).random()


def by_pair(scenario: Scenario, seed: int, costs: Callable[[Config, int], float | Run]) -> Target:
    """A target that knows which pair of a search's list a task is on: costs(config, k)."""
    history, known = History(scenario, seed), {}

    def target(task: Task) -> Run:
        while task.pair not in known:
            known[history.pair(len(known))] = len(known)
        return ok(task, costs(task.config, known[task.pair]))

    return target


def by_instance(table: Mapping[tuple[Config, str], float]) -> Target:
    """A deterministic target: the cost of each configuration on each instance."""
    return lambda task: ok(task, table[task.config, task.instance.name])


def random_table(scenario: Scenario, seed: int) -> dict[tuple[Config, str], float]:
    rng = stream(seed, "table")
    return {
        (config, instance.name): rng.random()
        for config in scenario.space.configs()
        for instance in scenario.instances
    }


def total_score(
    scenario: Scenario, table: Mapping[tuple[Config, str], float], config: Config
) -> Score:
    """The score of a configuration on all instances."""
    return score([(table[config, instance.name],) for instance in scenario.instances])


class LawComparison(Duels):
    """Decides by the probabilities of a win and of a tie, `outcome(challenger, incumbent)`; a fair
    coin decides ties."""

    def __init__(
        self,
        outcome: Callable[[Config, Config], tuple[float, float]],
        optimum: Config | None = None,
    ) -> None:
        def beats(incumbent: Config, challenger: Config, rng: Random) -> bool:
            win, tie = outcome(challenger, incumbent)
            u = rng.random()
            return u < win or (u < win + tie and rng.random() < 0.5)

        super().__init__(beats, () if optimum is None else (optimum,))
        self.outcome = outcome


def standard_errors(counts: Sequence[int], mean: float) -> float:
    """By how many standard errors the mean of independent counts is off."""
    n = len(counts)
    average = math.fsum(counts) / n
    variance = math.fsum((x - average) ** 2 for x in counts) / (n - 1)
    return (average - mean) / math.sqrt(variance / n)
