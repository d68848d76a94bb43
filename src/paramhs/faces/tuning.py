"""The Python interface: `tune` a function, a command or any other target."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramhs.faces.choices import (
    check_seed,
    chosen,
    configs_of,
    cost_named,
    named_instances,
    positive,
    scenario_of,
)
from paramhs.faces.command import Command
from paramhs.results.validating import TestSet, validate, verdict_store
from paramhs.results.verdict import Verdict
from paramhs.search.configurators import CONFIGURATORS, Configurator, check_configurator
from paramhs.search.history import History
from paramhs.values.costs import Cost, CostMetric, score
from paramhs.values.describing import description
from paramhs.values.errors import BadInput
from paramhs.values.runs import FAILURES, Point, Run, Target
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config, Space
from paramhs.values.wording import counted, finite
from paramhs.world.driver import INTERRUPTED, Budget, Driver, Watcher
from paramhs.world.executing import check_jobs, executing
from paramhs.world.store import NOTHING_KNOWN, Known, open_store
from paramhs.world.targets import FunctionTarget

if TYPE_CHECKING:
    from paramhs.results.failures import FailureGroup
    from paramhs.results.importance import Importance


@dataclass(frozen=True)
class Result:
    """What a search found. Costs are means over the runs made while searching; the verdict is on
    others."""

    best: Config
    best_cost: float | None
    best_runs: int
    best_failed: int
    """How many of them have no usable cost; the mean is over the others."""
    default: Config
    default_cost: float | None
    default_runs: int
    default_failed: int
    trajectory: tuple[Point, ...]
    history: History
    """All that the search knew: every run it was given, in order, and every race."""
    asked: int
    """How many runs the search has asked for and was granted."""
    unfinished: tuple[Run, ...]
    """Runs of a request that was not answered in full: made and stored, but not in the history."""
    speculative: int
    """How many runs idle workers made ahead of time in this session that were not used."""
    target_time: float
    wall_time: float
    stopped: str
    """Why it ended."""
    verdict: Verdict | None = None
    """The default against the best where the search never was; None if that was not asked for,
    not finished, or the default is the best."""

    @property
    def runs(self) -> Sequence[Run]:
        """The runs that the search asked for, in order; what was known before is none of them."""
        return [*self.history.runs[len(self.history.scenario.known) :], *self.unfinished]

    @property
    def failed_runs(self) -> int:
        """How many of the runs crashed or gave a wrong answer."""
        return sum(run.status in FAILURES for run in self.runs)

    @cached_property
    def failures(self) -> "tuple[FailureGroup, ...]":
        """Failed runs by the values that explain them, each with the clause that forbids it."""
        if not self.failed_runs:
            return ()
        from paramhs.results.failures import failure_groups  # numpy only where it is needed

        return failure_groups(self.runs, self.history.scenario.space)

    @cached_property
    def importance(self) -> "tuple[Importance, ...]":
        """How much each parameter matters, from all runs of the search, the most important first;
        empty where there are too few to tell."""
        from paramhs.results.importance import importance  # numpy only where it is needed

        return importance(self.history.runs, self.history.scenario.cost)

    @property
    def best_text(self) -> str:
        """The best's mean cost, in words."""
        return _cost_text(self.best_cost, self.best_runs, self.best_failed)

    @property
    def default_text(self) -> str:
        """The default's mean cost, in words."""
        return _cost_text(self.default_cost, self.default_runs, self.default_failed)

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {
            "best": self.best.as_dict(),
            "best_cost": finite(self.best_cost),
            "best_runs": self.best_runs,
            "best_failed": self.best_failed,
            "default": self.default.as_dict(),
            "default_cost": finite(self.default_cost),
            "default_runs": self.default_runs,
            "default_failed": self.default_failed,
            "runs": self.asked,
            "speculative_runs": self.speculative,
            "failed_runs": self.failed_runs,
            "failures": [group.to_json() for group in self.failures],
            "target_time": self.target_time,
            "wall_time": self.wall_time,
            "stopped": self.stopped,
            "verdict": self.verdict and self.verdict.to_json(),
            "trajectory": [
                {**point._asdict(), "config": point.config.as_dict(), "cost": finite(point.cost)}
                for point in self.trajectory
            ],
        }

    def __repr__(self) -> str:
        return (
            f"Result after {self.asked:,} runs ({self.stopped})\n"
            f"  best     {self.best}  {self.best_text}\n"
            f"  default  {self.default}  {self.default_text}\n"
            f"  {counted(len(self.trajectory), 'incumbent')}, the last after"
            f" {counted(self.trajectory[-1].runs if self.trajectory else 0, 'run')}"
            f"{self._verdict_line}"
        )

    @property
    def _verdict_line(self) -> str:
        made = self.verdict
        if made is None:
            return ""
        costs = f"{made.first.cost:.6g} to {made.second.cost:.6g}"
        return f"\n  verdict  {made.conclusion}, from {costs} on {made.on}, p = {made.p_value:.2g}"


def tune(
    function: Callable[..., Any] | Command | Target,
    space: Space | Mapping[str, object],
    *,
    instances: Iterable[Any] | Mapping[str, Any] | None = None,
    test_instances: Iterable[Any] | Mapping[str, Any] | None = None,
    budget: int | Budget,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    configurator: str | Configurator = "paramhs",
    cost: str | CostMetric = "minimise",
    cutoff: float | None = None,
    memory: float | None = None,
    deterministic: bool | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
    initial: Iterable[Config | Mapping[str, object]] = (),
    warm_start: str | Path | Iterable[str | Path] = (),
) -> Result:
    """Search for the configuration with the lowest mean cost of `function` over the instances.

    `function` is `f(config)`, `f(config, instance)` or `f(config, instance, seed)` and returns a
    number; or a `Command`, or any other `Target`. One that takes no seed is assumed deterministic
    unless told otherwise. `instances` are
    texts, numbers or paths, or a dictionary from names to anything; with `test_instances`, the best
    and the default meet on those when the search is done, which is the result's `verdict`. `budget`
    is a number of runs or a `Budget`. With a `store` (a file), a search that was stopped goes on
    where it was, and a larger budget extends one that was done. `executor` is "inline", "threads",
    "processes" or any `concurrent.futures.Executor`; left out, it is "processes" if there are
    several jobs or a limit (only processes can be stopped at a `cutoff`, in seconds, or when they
    use more than `memory`, in bytes), else "inline". Idle workers make speculative
    runs, which the search will probably ask for; they do not count against a budget in runs. Ctrl-C
    ends the search cleanly, with `stopped` being "interrupted"; a second one raises
    KeyboardInterrupt.
    """
    metric = cost_named(cost)
    space = space if isinstance(space, Space) else Space(space)
    target = target_of(function, space, metric, memory)
    if deterministic is None:
        deterministic = not target.uses_seed
    scenario = scenario_of(space, instances, metric, cutoff, deterministic)
    scenario = replace(scenario, initial=configs_of(initial, scenario.space))
    return tune_scenario(
        scenario,
        target,
        chosen(configurator, CONFIGURATORS, "configurator"),
        budget=budget if isinstance(budget, Budget) else Budget(runs=budget),
        seed=seed,
        jobs=jobs,
        store=store,
        executor=executor,
        watcher=watcher,
        test_set=None if test_instances is None else held_out(test_instances, scenario),
        warm_start=[warm_start] if isinstance(warm_start, str | Path) else warm_start,
    )


def held_out(instances: Iterable[Any] | Mapping[str, Any], scenario: Scenario) -> TestSet:
    """The test set of these instances; none of the search's may be among them."""
    test_set = TestSet(named_instances(instances), held_out=True)
    seen = {instance.name for instance in scenario.instances}
    both = [instance.name for instance in test_set.instances if instance.name in seen]
    if both:
        raise BadInput(f"{both[0]!r} is an instance of the search and of the test")
    return test_set


def target_of(
    thing: Callable[..., Any] | Command | Target,
    space: Space,
    metric: CostMetric,
    memory: float | None,
) -> Target:
    """What is meant by a function, a command, or a target that is ready."""
    if memory is not None:
        positive(memory, "memory must be a positive number of bytes")
    if isinstance(thing, Command):
        return thing.target(space, metric, memory)
    if not isinstance(thing, Target):
        limit = math.inf if memory is None else memory
        return FunctionTarget(thing, needs_number=metric.needs_quality, memory=limit)
    if memory is not None and thing.memory != memory:
        raise BadInput(f"{thing.name} is a target of its own, which memory= cannot limit")
    return thing


def tune_scenario(
    scenario: Scenario,
    target: Target,
    configurator: Configurator,
    *,
    budget: Budget,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
    test_set: TestSet | None = None,
    warm_start: Iterable[str | Path] = (),
) -> Result:
    """The same, from parts that are ready."""
    check_jobs(jobs)
    check_seed(seed)
    check_configurator(configurator)
    watcher = watcher or Watcher()
    known = _known(store, [Path(path) for path in warm_start], scenario, target, watcher)
    initial = tuple(dict.fromkeys((*scenario.initial, *known.initial)))
    scenario = replace(scenario, initial=initial, known=known.runs)
    described = {} if store is None else _described(scenario, target, configurator, seed)
    opened = open_store(store, scenario.space, described, target.source, known)
    history = History(scenario, seed)
    try:
        with executing(target, executor, jobs, scenario.cutoff) as (workers, runner):
            driver = Driver(
                configurator.search(history),
                history,
                runner,
                opened,
                budget,
                workers,
                jobs,
                watcher,
                scenario.space.default,
            )
            driver.run()
        result = _result(driver, scenario)
    finally:
        opened.close()
    if test_set is None or result.stopped == INTERRUPTED or result.best == result.default:
        return result
    verdicts = validate(
        scenario,
        target,
        [result.default, result.best],
        test_set,
        seed=seed,
        jobs=jobs,
        store=verdict_store(store),
        executor=executor,
        watcher=watcher,
    )
    if verdicts is None:
        return replace(result, stopped=INTERRUPTED)
    return replace(result, verdict=verdicts[0])


def _known(
    store: str | Path | None,
    warm_start: Sequence[Path],
    scenario: Scenario,
    target: Target,
    watcher: Watcher,
) -> Known:
    """What a search begins with: what its store says, or what a new one finds in earlier ones."""
    if store is None and not warm_start:
        return NOTHING_KNOWN
    from paramhs.world.store.warm import collect, read_known  # sqlite3 only where it is needed

    begun = None if store is None else read_known(Path(store), scenario)
    if begun is None:
        begun, lines = collect(warm_start, scenario, target)
        for line in lines:
            watcher.notice(line)
    elif warm_start:
        watcher.notice(f"{store} goes on as it was begun, with {counted(len(begun.runs), 'run')}")
    return begun


def _described(
    scenario: Scenario, target: Target, configurator: Configurator, seed: int
) -> dict[str, object]:
    """What a search and its answers are defined by, in JSON types."""
    return {
        "scenario": scenario.describe(),
        "target": target.describe(),
        "configurator": description(configurator, "the configurator"),
        "seed": seed,
    }


def _result(driver: Driver, scenario: Scenario) -> Result:
    history, default = driver.history, scenario.space.default
    best = driver.session.incumbent or default
    costs, default_costs = (list(history.costs(config).values()) for config in (best, default))

    def shown(costs: Sequence[Cost]) -> float | None:
        return scenario.cost.shown(score(costs)) if costs else None

    return Result(
        best=best,
        best_cost=shown(costs),
        best_runs=len(costs),
        best_failed=_failed(costs),
        default=default,
        default_cost=shown(default_costs),
        default_runs=len(default_costs),
        default_failed=_failed(default_costs),
        trajectory=tuple(driver.session.trajectory),
        history=history,
        asked=driver.taken,
        unfinished=driver.session.unfinished,
        speculative=driver.speculative_runs,
        target_time=driver.store.target_time,
        wall_time=driver.wall_time,
        stopped=driver.stopped,
    )


def _failed(costs: Sequence[Cost]) -> int:
    return sum(math.isinf(cost[0]) for cost in costs)


def _cost_text(cost: float | None, runs: int, failed: int) -> str:
    if cost is None:
        return "not run"
    if failed == runs:
        return f"none of {counted(runs, 'run')} gave a usable cost"
    failures = f", {failed:,} failed" if failed else ""
    return f"mean {cost:.6g} over {counted(runs - failed, 'run')}{failures}"
