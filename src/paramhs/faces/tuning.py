"""The Python interface: `tune` a function, a command or any other target."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramhs.faces.choices import (
    capping_named,
    check_seed,
    chosen,
    configs_of,
    cost_named,
    named_instances,
    path_of,
    positive,
    scenario_of,
)
from paramhs.faces.command import Command
from paramhs.faces.judging import Later, found, judge
from paramhs.faces.result import Result
from paramhs.faces.surroundings import is_watched
from paramhs.results.validating import TestSet, meet, verdict_store
from paramhs.search.configurators import CONFIGURATORS, Configurator, check_configurator
from paramhs.search.configurators import asynchronous as made_asynchronous
from paramhs.search.history import History
from paramhs.values.capping import Capping
from paramhs.values.costs import CostMetric
from paramhs.values.describing import description
from paramhs.values.errors import BadInput
from paramhs.values.runs import Target
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config, Space
from paramhs.values.wording import counted
from paramhs.world.driver import Budget, Watcher
from paramhs.world.executing import AnyExecutor
from paramhs.world.running import ONE_AT_A_TIME, Running
from paramhs.world.store import NOTHING_KNOWN, Known, open_store
from paramhs.world.targets import FunctionTarget


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
    executor: AnyExecutor = None,
    watcher: Watcher | None = None,
    progress: bool | None = None,
    initial: Iterable[Config | Mapping[str, object]] = (),
    warm_start: str | Path | Iterable[str | Path] = (),
    verdict_in_budget: bool = False,
    capping: str | Capping | None = None,
    asynchronous: bool | int = False,
) -> Result:
    """Search for the configuration with the lowest mean cost of `function` over the instances.

    `function` is `f(config)`, `f(config, instance)` or `f(config, instance, seed)` and returns a
    number; or a `Command`, or any other `Target`. One that takes no seed is assumed deterministic
    unless told otherwise. `instances` are
    texts, numbers or paths, or a dictionary from names to anything; with `test_instances`, the best
    and the default meet on those when the search is done, which is the result's `verdict`; its runs
    come on top of the budget unless `verdict_in_budget`. `budget` is a number of runs or a
    `Budget`. With a `store` (a file), a search that was stopped goes on
    where it was, and a larger budget extends one that was done. `executor` is "inline", "threads",
    "processes", "dask" (worker processes of a cluster on this machine), a `Dask` or a
    `distributed.Client` (workers elsewhere), or any `concurrent.futures.Executor`; left out, it is
    "processes" if there are several jobs or a limit (only processes can be stopped at a `cutoff`,
    in seconds, or when they use more than `memory`, in bytes), else "inline". Idle workers make
    speculative runs, which the search will probably ask for; they do not count against a budget in
    runs. Ctrl-C ends the search cleanly, with `stopped` being "interrupted"; a second one raises
    KeyboardInterrupt. Where time is the cost, runs that can no longer win are cut short: `capping`
    is "none", "preserving", "aggressive" or a `Capping`. `progress` shows how things stand; left
    out, it does so in a terminal and in a notebook. A `watcher` of one's own is called back at
    every run and every incumbent; with `progress=True`, beside the view.

    With `asynchronous` many races are under way at once, as many runs as there are jobs (or as the
    number says), and each result is used when it comes: many more workers are kept busy, but what
    is found depends on the order in which runs end. It is stored, so such a search can go on.
    """
    metric = cost_named(cost)
    space = space if isinstance(space, Space) else Space(space)
    target = target_of(function, space, metric, memory)
    if deterministic is None:
        deterministic = not target.uses_seed
    scenario = scenario_of(space, instances, metric, cutoff, deterministic)
    scenario = replace(
        scenario,
        initial=configs_of(initial, scenario.space),
        capping=capping_named(capping, metric),
    )
    with Running(jobs, executor, _seen_by(watcher, progress)).reach() as running:
        return tune_scenario(
            scenario,
            target,
            chosen(configurator, CONFIGURATORS, "configurator"),
            budget=budget if isinstance(budget, Budget) else Budget(runs=budget),
            seed=seed,
            store=store,
            running=running,
            test_set=None if test_instances is None else held_out(test_instances, scenario),
            warm_start=[warm_start] if isinstance(warm_start, str | Path) else warm_start,
            verdict_in_budget=verdict_in_budget,
            asynchronous=asynchronous,
        )


def _seen_by(watcher: Watcher | None, progress: bool | None) -> Watcher:
    """Who sees the search: the caller's own watcher, a view, or both."""
    if progress is None:
        progress = watcher is None and is_watched()
    if not progress:
        return watcher or Watcher()
    from paramhs.faces.views import Watchers, shown  # rich only where it is needed

    return Watchers(watcher, shown()) if watcher else shown()


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
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
    test_set: TestSet | None = None,
    warm_start: Iterable[str | Path] = (),
    verdict_in_budget: bool = False,
    no_test_set: str = "there are no test instances to compare on.",
    asynchronous: bool | int = False,
) -> Result:
    """The same, from parts that are ready; `no_test_set` says why there is no test set."""
    check_seed(seed)
    check_configurator(configurator)
    if asynchronous is not False:
        width = _width(running) if asynchronous is True else asynchronous
        configurator = made_asynchronous(configurator, width)
    store = None if store is None else path_of(store, "store")
    earlier = [path_of(path, "warm_start") for path in warm_start]
    known = _known(store, earlier, scenario, target, running.watcher)
    initial = tuple(dict.fromkeys((*scenario.initial, *known.initial)))
    scenario = replace(scenario, initial=initial, known=known.runs)
    described = {} if store is None else _described(scenario, target, configurator, seed)
    history = History(scenario, seed)
    later = Later(history, test_set, budget, verdict_in_budget)
    opened = open_store(store, scenario.space, described, target.source, known)
    try:
        driver = running.drive(
            configurator.search(history),
            history,
            target,
            opened,
            budget,
            default=scenario.space.default,
            later=later,
        )
        result = _labelled(found(driver, no_test_set), target, store)
    finally:
        opened.close()
    configs = later.configs(result)
    if test_set is None or not configs:
        return result
    made = meet(
        scenario,
        target,
        configs,
        test_set,
        seed=seed,
        store=verdict_store(store),
        running=running,
        expected=later.seconds(configs),
    )
    return judge(result, made, test_set)


def _labelled(result: Result, target: Target, store: str | Path | None) -> Result:
    """With what it is of, and where its runs are."""
    path = None if store is None else Path(store)
    command = target.command_line(result.best)
    return replace(result, target=target.name, command=command, store=path)


def _width(running: Running) -> int:
    """How many runs are under way where nobody says; that of a cluster changes, so it is asked."""
    if running.jobs == 1 and not isinstance(running.executor, str | None):
        raise BadInput(
            "asynchronous = true means as many runs at a time as there are jobs; where an executor"
            " or a cluster makes them, say how many, such as asynchronous = 64"
        )
    return running.jobs


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
