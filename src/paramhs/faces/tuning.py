"""The Python interface: `tune` a function."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paramhs.faces.choices import (
    check_seed,
    chosen,
    cost_named,
    named_instances,
    positive,
    scenario_of,
)
from paramhs.results.validating import Meeting, validate, verdict_store
from paramhs.results.verdict import Verdict
from paramhs.search.configurators import CONFIGURATORS, Configurator, check_configurator
from paramhs.values.costs import CostMetric, Runtime, Score, score
from paramhs.values.errors import BadInput
from paramhs.values.runs import Point
from paramhs.values.scenario import Scenario, description
from paramhs.values.space import Config, Space
from paramhs.values.wording import counted, finite
from paramhs.world.driver import INTERRUPTED, Budget, Driver, Watcher
from paramhs.world.executing import AnyTarget, check_jobs, executing
from paramhs.world.store import Store, open_store
from paramhs.world.targets import FunctionTarget
from paramhs.world.targets.command import answers


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
    runs: Store
    """All runs that are stored; `len` counts them."""
    asked: int
    """How many of them the search has used."""
    early: int
    """How many were made early by idle workers in this session, and not used."""
    target_time: float
    wall_time: float
    stopped: str
    """Why it ended."""
    verdict: Verdict | None = None
    """The default against the best where the search never was; None if that was not asked for,
    not finished, or the default is the best."""

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
            "runs_made_early": self.early,
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
    function: Callable[..., Any] | AnyTarget,
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
) -> Result:
    """Search for the configuration with the lowest mean cost of `function` over the instances.

    `function` is `f(config)`, `f(config, instance)` or `f(config, instance, seed)` and returns a
    number. One that takes no seed is assumed deterministic unless told otherwise. `instances` are
    texts, numbers or paths, or a dictionary from names to anything; with `test_instances`, the best
    and the default meet on those when the search is done, which is the result's `verdict`. `budget`
    is a number of runs or a `Budget`. With a `store` (a file), a search that was stopped goes on
    where it was, and a larger budget extends one that was done. `executor` is "inline", "threads",
    "processes" or any `concurrent.futures.Executor`; left out, it is "processes" if there are
    several jobs or a limit (only processes can be stopped at a `cutoff`, in seconds, or when they
    use more than `memory`, in bytes), else "inline". Idle workers make runs early that the search
    will probably ask for; they do not count against a budget in runs. Ctrl-C ends the search
    cleanly, with `stopped` being "interrupted"; a second one raises KeyboardInterrupt.
    """
    metric = cost_named(cost)
    target = function if isinstance(function, AnyTarget) else _target(function, metric, memory)
    if deterministic is None:
        deterministic = not target.uses_seed
    scenario = scenario_of(space, instances, metric, cutoff, deterministic)
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
        meeting=None if test_instances is None else _held_out(test_instances, scenario),
    )


def _held_out(instances: Iterable[Any] | Mapping[str, Any], scenario: Scenario) -> Meeting:
    meeting = Meeting(named_instances(instances), held_out=True)
    seen = {instance.name for instance in scenario.instances}
    both = [instance.name for instance in meeting.instances if instance.name in seen]
    if both:
        raise BadInput(f"{both[0]!r} is an instance of the search and of the test")
    return meeting


def _target(
    function: Callable[..., Any], metric: CostMetric, memory: float | None
) -> FunctionTarget:
    expected = "memory must be a positive number of bytes"
    return FunctionTarget(
        function,
        needs_number=not isinstance(metric, Runtime),
        memory=math.inf if memory is None else positive(memory, expected),
    )


def tune_scenario(
    scenario: Scenario,
    target: AnyTarget,
    configurator: Configurator,
    *,
    budget: Budget,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
    meeting: Meeting | None = None,
) -> Result:
    """The same, from parts that are ready."""
    check_jobs(jobs)
    check_seed(seed)
    check_configurator(configurator)
    described = _described(scenario, target, configurator, seed)
    opened = open_store(store, scenario.space, described, target.source)
    try:
        with executing(target, executor, jobs, scenario.cutoff) as (workers, runner):
            driver = Driver(
                configurator.search(scenario, seed),
                scenario.cost,
                runner,
                opened,
                budget,
                workers,
                jobs,
                watcher or Watcher(),
                scenario.space.default,
            )
            driver.run()
        result = _result(driver, scenario)
    finally:
        opened.close()
    if meeting is None or result.stopped == INTERRUPTED or result.best == result.default:
        return result
    verdicts = validate(
        scenario,
        target,
        [result.default, result.best],
        meeting,
        seed=seed,
        jobs=jobs,
        store=verdict_store(store),
        executor=executor,
        watcher=watcher,
    )
    if verdicts is None:
        return replace(result, stopped=INTERRUPTED)
    return replace(result, verdict=verdicts[0])


def _described(
    scenario: Scenario, target: AnyTarget, configurator: Configurator, seed: int
) -> dict[str, object]:
    """What a search and its answers are defined by, in JSON types."""
    known = answers(scenario.instances)
    return {
        "scenario": scenario.describe(),
        "target": target.name,
        **target.describe(),
        "configurator": description(configurator),
        "seed": seed,
        **({"answers": known} if known else {}),
    }


def _result(driver: Driver, scenario: Scenario) -> Result:
    session, default = driver.session, scenario.space.default
    points = tuple(session.trajectory)
    from_default = bool(points) and points[0].config == default
    default_costs = session.first_costs if from_default else ()

    def shown(costs: Sequence[Score]) -> float | None:
        return scenario.cost.shown(score(costs)) if costs else None

    return Result(
        best=points[-1].config if points else default,
        best_cost=shown(session.costs),
        best_runs=len(session.costs),
        best_failed=_failed(session.costs),
        default=default,
        default_cost=shown(default_costs),
        default_runs=len(default_costs),
        default_failed=_failed(default_costs),
        trajectory=points,
        runs=driver.store,
        asked=driver.taken,
        early=driver.early_runs,
        target_time=driver.store.target_time,
        wall_time=driver.wall_time,
        stopped=driver.stopped,
    )


def _failed(costs: Sequence[Score]) -> int:
    return sum(math.isinf(cost[0]) for cost in costs)


def _cost_text(cost: float | None, runs: int, failed: int) -> str:
    if cost is None:
        return "not run"
    if failed == runs:
        return f"none of {counted(runs, 'run')} gave a usable cost"
    failures = f", {failed:,} failed" if failed else ""
    return f"mean {cost:.6g} over {counted(runs - failed, 'run')}{failures}"
