"""The Python interface: `tune` a function, or run your own loop with `AskTell`."""

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Number
from pathlib import Path
from typing import Any

from paramhs.configurators import CONFIGURATORS, Configurator
from paramhs.costs import CostMetric, Quality, Runtime, RuntimeThenQuality, Score, score
from paramhs.driver import Budget, Driver, Inline, Session, Watcher
from paramhs.errors import BadInput
from paramhs.runs import NO_INSTANCE, Instance, Point, Run, Status, Target, Task
from paramhs.scenario import Scenario, description
from paramhs.space import Config, Space
from paramhs.store import Store, open_store
from paramhs.targets import FunctionTarget

COSTS: dict[str, CostMetric] = {
    "minimise": Quality(),
    "maximise": Quality(maximise=True),
    "runtime": Runtime(),
    "runtime, then minimise": RuntimeThenQuality(),
    "runtime, then maximise": RuntimeThenQuality(maximise=True),
    "minimize": Quality(),
    "maximize": Quality(maximise=True),
}
"""The costs with a name."""

MOST_JOBS = 1024
_LOOK_AHEAD = 64  # tasks that `AskTell` may hand out before the search asks for them

EXECUTORS = ("inline", "threads", "processes")


@dataclass(frozen=True)
class Result:
    """What a search found. Costs are means over the runs made while searching, not a verdict."""

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
            "best_cost": _finite(self.best_cost),
            "best_runs": self.best_runs,
            "best_failed": self.best_failed,
            "default": self.default.as_dict(),
            "default_cost": _finite(self.default_cost),
            "default_runs": self.default_runs,
            "default_failed": self.default_failed,
            "runs": self.asked,
            "runs_made_early": self.early,
            "target_time": self.target_time,
            "wall_time": self.wall_time,
            "stopped": self.stopped,
            "trajectory": [
                {**point._asdict(), "config": point.config.as_dict(), "cost": _finite(point.cost)}
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
        )


def tune(
    function: Callable[..., Any],
    space: Space | Mapping[str, object],
    *,
    instances: Iterable[Any] | Mapping[str, Any] | None = None,
    budget: int | Budget,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    configurator: str | Configurator = "paramhs",
    cost: str | CostMetric = "minimise",
    cutoff: float | None = None,
    deterministic: bool | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Search for the configuration with the lowest mean cost of `function` over the instances.

    `function` is `f(config)`, `f(config, instance)` or `f(config, instance, seed)` and returns a
    number. One that takes no seed is assumed deterministic unless told otherwise. `instances` are
    texts, numbers or paths, or a dictionary from names to anything. `budget` is a number of runs or
    a `Budget`. With a `store` (a file), a search that was stopped goes on where it was, and a
    larger budget extends one that was done. `executor` is "inline", "threads", "processes" or any
    `concurrent.futures.Executor`; left out, it is "processes" if there are several jobs or a cutoff
    (only processes can be stopped at a cutoff), else "inline". Idle workers make runs early that
    the search will probably ask for; they do not count against a budget in runs. Ctrl-C ends the
    search cleanly, with `stopped` being "interrupted"; a second one raises KeyboardInterrupt.
    """
    metric = chosen(cost, COSTS, "cost")
    target = FunctionTarget(function, needs_number=not isinstance(metric, Runtime))
    if deterministic is None:
        deterministic = not target.uses_seed
    scenario = _scenario(space, instances, metric, cutoff, deterministic)
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
    )


def _scenario(
    space: Space | Mapping[str, object],
    instances: Iterable[Any] | Mapping[str, Any] | None,
    metric: CostMetric,
    cutoff: float | None,
    deterministic: bool,
) -> Scenario:
    return Scenario(
        space if isinstance(space, Space) else Space(space),
        named_instances(instances),
        metric,
        math.inf if cutoff is None else cutoff,
        deterministic,
    )


def tune_scenario(
    scenario: Scenario,
    target: FunctionTarget,
    configurator: Configurator,
    *,
    budget: Budget,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    executor: str | Executor | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """The same, from parts that are ready."""
    for name, number in (("jobs", jobs), ("seed", seed)):
        if type(number) is not int:
            raise BadInput(f"{name} must be a whole number, not {number!r}")
    if not hasattr(configurator, "search"):
        raise BadInput(f"{configurator!r} is not a configurator: it has no `search`")
    if jobs < 1:
        raise BadInput(f"jobs must be at least 1, not {jobs}")
    if jobs > MOST_JOBS:
        raise BadInput(f"jobs must be at most {MOST_JOBS:,}, not {jobs:,}")
    described = {
        "scenario": scenario.describe(),
        "target": target.name,
        "configurator": description(configurator),
        "seed": seed,
    }
    opened = open_store(store, scenario.space, described, target.source)
    try:
        with _executing(target, executor, jobs, scenario.cutoff) as (workers, runner):
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
        return _result(driver, scenario)
    finally:
        opened.close()


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


@contextmanager
def _executing(
    target: FunctionTarget, executor: str | Executor | None, jobs: int, cutoff: float
) -> Iterator[tuple[Executor, Target]]:
    """An executor and what it is to run."""
    if isinstance(executor, Executor):
        yield executor, target
        return
    if executor is None:
        executor = "processes" if jobs > 1 or math.isfinite(cutoff) else "inline"
    if executor not in EXECUTORS:
        raise BadInput(f"executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
    if executor == "inline":
        yield Inline(), target
        return
    workers = None
    if executor == "processes":
        from paramhs.targets.workers import Workers

        workers = Workers(target, jobs)
    pool = ThreadPoolExecutor(jobs)
    finished = False
    try:
        yield pool, workers or target
        finished = True
    finally:
        if workers:
            workers.close()
        pool.shutdown(wait=finished, cancel_futures=True)  # a thread cannot be stopped by force


class AskTell:
    """A search for people with a loop of their own.

    >>> search = AskTell({"x": range(10)}, deterministic=True)
    >>> while task := search.ask():
    ...     search.tell(task, (task.config["x"] - 7) ** 2)
    >>> search.best["x"], search.ended
    (7, 'all 10 configurations tried')

    Several tasks may be asked for before the first is told; `ask` gives None when it must wait for
    answers, or when the search has `ended`.
    """

    def __init__(
        self,
        space: Space | Mapping[str, object],
        *,
        instances: Iterable[Any] | Mapping[str, Any] | None = None,
        seed: int = 0,
        configurator: str | Configurator = "paramhs",
        cost: str | CostMetric = "minimise",
        cutoff: float | None = None,
        deterministic: bool = False,
    ) -> None:
        metric = chosen(cost, COSTS, "cost")
        scenario = _scenario(space, instances, metric, cutoff, deterministic)
        search = chosen(configurator, CONFIGURATORS, "configurator").search(scenario, seed)
        self._default = scenario.space.default
        self._metric = scenario.cost
        self._session = Session(search, scenario.cost)
        self._handed_out: set[Task] = set()
        self._told: set[Task] = set()
        self._early: dict[Task, Run] = {}
        self._renew_offers()

    def _renew_offers(self) -> None:
        request = self._session.request
        self._wanted = set(request.tasks)
        self._offers = chain(request.tasks, islice(request.likely, _LOOK_AHEAD))

    def ask(self) -> Task | None:
        """A run to make: it has a `config`, an `instance` (its `value` is yours) and a `seed`."""
        for task in self._offers:
            if task not in self._handed_out:
                self._handed_out.add(task)
                return task
        return None

    def tell(
        self,
        task: Task,
        quality: float | None = None,
        *,
        runtime: float | None = None,
        status: str = "ok",
    ) -> None:
        """What came of it: a quality, or a runtime in seconds where that counts, or both.

        A run that failed has the status "crashed", one that was stopped "timeout". No quality where
        one is needed is a failure too; a runtime above the cutoff is a timeout.
        """
        if task not in self._handed_out or task in self._told:
            what = f"{task.config} with seed {task.seed}" if isinstance(task, Task) else repr(task)
            raise BadInput(f"{what} was not asked for, or is told twice")
        if quality is not None and (not isinstance(quality, int | float) or math.isnan(quality)):
            raise BadInput(f"{quality!r} is not a quality; tell None for a run that failed")
        if status not in ("ok", "timeout", "crashed"):
            raise BadInput(f"status must be 'ok', 'timeout' or 'crashed', not {status!r}")
        needs_runtime = not isinstance(self._metric, Quality)
        if status == "ok" and needs_runtime and runtime is None:
            raise BadInput("tuning for runtime: tell the runtime of a run that ended")
        if status == "ok" and not needs_runtime and quality is None:
            status = "crashed"
        seconds = runtime or 0.0
        late = status == "ok" and seconds > task.cutoff
        self._told.add(task)
        run = Run(task, Status.TIMEOUT if late else Status(status), seconds, quality)
        if task in self._wanted:
            self._pass_on(run)
        else:
            self._early[task] = run

    def _pass_on(self, run: Run) -> None:
        """Give the search an answer that it wants; if it goes on, also those told early."""
        request = self._session.request
        self._session.answer(run)
        while self._session.request is not request:
            request = self._session.request
            self._renew_offers()
            for task in self._wanted & self._early.keys():
                self._session.answer(self._early.pop(task))

    @property
    def best(self) -> Config:
        """The incumbent."""
        points = self._session.trajectory
        return points[-1].config if points else self._default

    @property
    def trajectory(self) -> tuple[Point, ...]:
        """The incumbents so far."""
        return tuple(self._session.trajectory)

    @property
    def ended(self) -> str | None:
        """Why the search is over, or None if it is not."""
        return self._session.ended


def chosen(choice: Any, named: Mapping[str, Any], what: str) -> Any:
    """What a name stands for; anything but a text is itself."""
    if not isinstance(choice, str):
        return choice
    if choice not in named:
        known = ", ".join(map(repr, named))
        raise BadInput(f"there is no {what} {choice!r}; there are {known}")
    return named[choice]


def named_instances(instances: Iterable[Any] | Mapping[str, Any] | None) -> tuple[Instance, ...]:
    """Instances under the names that runs are stored by."""
    if instances is None:
        return (NO_INSTANCE,)
    if isinstance(instances, str):
        raise BadInput(f"instances must be a list, not the text {instances!r}")
    if not isinstance(instances, Iterable):
        raise BadInput(f"instances must be a list or a dictionary, not {instances!r}")
    if isinstance(instances, Mapping):
        return tuple(Instance(str(name), value) for name, value in instances.items())
    return tuple(Instance(_name(i, value), value) for i, value in enumerate(instances))


def _name(position: int, value: object) -> str:
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, Number) and not isinstance(value, bool):
        return str(value)
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        raise BadInput(
            f"instance {position} is a {type(value).__name__}, which has no name to store runs by;"
            " give a dictionary {name: instance}"
        ) from None


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _failed(costs: Sequence[Score]) -> int:
    return sum(math.isinf(cost[0]) for cost in costs)


def _cost_text(cost: float | None, runs: int, failed: int) -> str:
    if cost is None:
        return "not run"
    if failed == runs:
        return f"none of {counted(runs, 'run')} gave a usable cost"
    failures = f", {failed:,} failed" if failed else ""
    return f"mean {cost:.6g} over {counted(runs - failed, 'run')}{failures}"


def counted(number: int, what: str) -> str:
    """Such as 1 run, 2 runs."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
