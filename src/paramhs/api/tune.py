"""The Python interface to `tune`: search for a better configuration of any target."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramhs.api.command import Command
from paramhs.api.terminal.environment import is_watched
from paramhs.core.answers import Answer
from paramhs.core.arguments import (
    CostName,
    capping_named,
    chosen,
    configs_of,
    cost_named,
    named_instances,
    scenario_of,
    seed_of,
)
from paramhs.core.capping import Capping, Kind
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.families import checked_families, families_by
from paramhs.core.held_out import split
from paramhs.core.quantities import positive_bytes
from paramhs.core.runs import NO_INSTANCE, Target
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.core.space.from_description import without_objects
from paramhs.core.space.objects import plain
from paramhs.core.test_set import TestSet
from paramhs.core.text.quoting import short
from paramhs.execution.driver import Budget, Watcher
from paramhs.execution.executors import AnyExecutor
from paramhs.execution.settings import Running
from paramhs.execution.targets import FunctionTarget
from paramhs.execution.targets.command import Expected
from paramhs.formats.space_objects import AnySpace, space_from
from paramhs.procedures.tune import tune as tuning
from paramhs.report.result import Result
from paramhs.search.configurators import Configurator
from paramhs.search.registry import CONFIGURATORS, ConfiguratorName

FAILED_SHARE = 0.1
"""Share of failed runs above which the end of `tune` says so."""


def tune(
    function: Callable[..., Any] | Command | Target,
    space: AnySpace,
    *,
    instances: Iterable[Any] | Mapping[str, Any] | None = None,
    test_instances: float | Iterable[Any] | Mapping[str, Any] | None = None,
    budget: int | Budget,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    configurator: ConfiguratorName | Configurator = "paramhs",
    cost: CostName | CostMetric | Sequence[str] = "minimise",
    subject_to: str | Sequence[str] = (),
    cutoff: float | str | None = None,
    memory: float | str | None = None,
    deterministic: bool | None = None,
    executor: AnyExecutor = None,
    watcher: Watcher | None = None,
    progress: bool | None = None,
    initial: Iterable[Config | Mapping[str, object]] = (),
    warm_start: str | Path | Iterable[str | Path] = (),
    verdict_in_budget: bool = False,
    capping: Kind | Capping | None = None,
    answer_tolerance: float | None = None,
    expected: str | float | Mapping[str, str | float] | Path | None = None,
    accept_changed: bool = False,
    families: str | Mapping[str, str] | None = None,
) -> Result:
    """Search for the configuration with the lowest mean cost over the instances.

    The default races challengers on common (instance, seed) pairs until the budget is spent. Ctrl-C
    ends the search cleanly, with `stopped` being "interrupted"; a second one raises
    KeyboardInterrupt.

    Args:
        function: What to tune: `f(config)`, `f(config, instance)` or `f(config, instance, seed)`
            that returns a number; or a `Command`, or a `Target`. A function without `seed` is taken
            to be deterministic.
        space: A `Space`, or a dictionary from names to parameters: `(0.0, 1.0)`, `range(1, 9)`,
            `["a", "b"]`, `bool`, `Real(...)`. Or the path of a parameter file (PCS, irace,
            ConfigSpace).
        instances: What to run on: texts, numbers or paths, or a dictionary from names to anything.
            Left out, the target runs without instances.
        test_instances: Instances that the search never sees, or the share of `instances` to hold
            out. The best and the default are compared on them at the end; the comparison is
            `Result.verdict`.
        budget: A number of runs, or a `Budget` of runs, target time and wall time. The verdict
            comes on top and takes at most half as long.
        seed: Seed of the search. Another seed is another search.
        jobs: Runs at a time. With a budget in runs the result is the same for any number.
        store: A file for all runs. The same call resumes a search that was stopped; a larger budget
            extends it.
        configurator: Name of the search, or a `Configurator` of `paramhs.search`.
        cost: What is compared: the returned number or the runtime, by name ("PAR2" and so on are
            accepted), or a `CostMetric`. A list of names means several costs, such as
            `["minimise size", "runtime"]`; then the result has a `front`. The function returns a
            dictionary by name, or its numbers in this order.
        subject_to: Bounds on the means of several costs, such as "gap <= 0.01".
        cutoff: Seconds, or a text such as "5 s", after which a run is stopped.
        memory: Bytes, or a text such as "2 GB", that a run may use.
        deterministic: Whether the seed does not matter. Left out: whether the target takes no seed.
        executor: What makes the runs: "inline", "threads", "processes", "dask" (workers on this
            machine), a `Dask`, a `distributed.Client`, or any `concurrent.futures.Executor`. Left
            out: "processes" if there are several jobs or a limit, else "inline".
        watcher: A `Watcher` of your own, which is called at each run and each incumbent.
        progress: Whether to show progress. Left out: in a terminal and in a notebook.
        initial: Configurations that challenge the default first; values left out are the default's.
        warm_start: Stores of earlier searches of the same target, whose runs are reused.
        verdict_in_budget: Whether the verdict's runs are part of the budget.
        capping: Whether runs that can no longer win are cut short, where time is the cost. Left
            out: "preserving", which changes no decision.
        answer_tolerance: Relative difference up to which two numbers are the same answer.
        expected: Right answers: one for all instances, a dictionary by instance, or a `Path` of a
            file with lines `instance answer`. A default that contradicts them stops the search.
        accept_changed: Continue with a store although the target or instances have changed. This is
            recorded in the store and shown with the result.
        families: Which instances belong together: a dictionary from instance names to families,
            "folder", "name", a regular expression whose first group is the family, or "balanced":
            all families count alike in every comparison. Left out: inferred from folders or names.

    Returns:
        A `Result` with the best configuration, all runs and the verdict.

    Raises:
        BadInput: An argument is wrong; the message names it.
        TargetError: The default fails in all of its first runs.
        StoreError: The store is damaged, locked, or belongs to another search.

    Examples:
        >>> import paramhs
        >>> result = paramhs.tune(lambda config: abs(config["x"] - 3), {"x": range(9)}, budget=30)
        >>> result.best["x"]
        3
    """
    metric = cost_named(cost, subject_to)
    space = space_from(space)
    target = target_of(function, space, metric, memory)
    if deterministic is None:
        deterministic = not target.uses_seed
    scenario = scenario_of(space, instances, metric, cutoff, deterministic)
    scenario = replace(
        scenario,
        initial=configs_of(initial, scenario.space),
        capping=capping_named(capping, metric),
    )
    scenario = with_families(families, test_instances, scenario)
    scenario, test_set = with_test_set(test_instances, scenario)
    if isinstance(function, Command):
        scenario, test_set = _with_answers(function, scenario, test_set)
    if answer_tolerance is not None:
        scenario = replace(scenario, answer_tolerance=answer_tolerance)
    if expected is not None:
        scenario = replace(scenario, expected=_right_answers(expected, scenario, test_set))
    with Running(jobs, executor, seen_by(watcher, progress)).reach() as running:
        result = tune_scenario(
            scenario,
            target,
            chosen(configurator, CONFIGURATORS, "configurator"),
            budget=budget if isinstance(budget, Budget) else Budget(runs=budget),
            seed=seed_of(seed),
            store=store,
            running=running,
            test_set=test_set,
            warm_start=[warm_start] if isinstance(warm_start, str | Path) else warm_start,
            verdict_in_budget=verdict_in_budget,
            accept_changed=accept_changed,
        )
        if result.failed_runs > FAILED_SHARE * result.asked:
            running.watcher.notice(f"warning: {'; '.join(result.failure_lines)}")
        return result


def _right_answers(
    said: str | float | Mapping[str, str | float] | Path,
    scenario: Scenario,
    test_set: TestSet | None,
) -> dict[str, Answer]:
    """Right answers of the instances that have one."""
    found = Expected.of(said)
    instances = (*scenario.instances, *(test_set.instances if test_set else ()))
    known = {instance.name: found.answer(instance.name) for instance in instances}
    unknown = [name for name in found.by_name if name not in known]
    if isinstance(said, Mapping) and unknown:
        raise BadInput(f"expected: no instance is called {unknown[0]!r}")
    return {name: answer for name, answer in known.items() if answer != ""}


def _with_answers(
    command: Command, scenario: Scenario, test_set: TestSet | None
) -> tuple[Scenario, TestSet | None]:
    """Attach a command's expected answers to the scenario and the test set."""
    scenario = replace(
        scenario,
        instances=command.with_expected(scenario.instances),
        answer_tolerance=command.answer_tolerance,
    )
    if test_set is not None:
        test_set = replace(test_set, instances=command.with_expected(test_set.instances))
    return scenario, test_set


def seen_by(watcher: Watcher | None, progress: bool | None) -> Watcher:
    """Combine the caller's watcher with a view, if progress is shown."""
    if progress is None:
        progress = watcher is None and is_watched()
    if not progress:
        return watcher or Watcher()
    from paramhs.api.terminal.live_view import Watchers, shown  # rich only where it is needed

    return Watchers(watcher, shown()) if watcher else shown()


def with_test_set(
    test: float | Iterable[Any] | Mapping[str, Any] | None, scenario: Scenario
) -> tuple[Scenario, TestSet | None]:
    """The scenario without its held-out instances, and the test set of them; or as it is."""
    test = plain(test)  # type: ignore[assignment]
    if test is None:
        return scenario, None
    if not isinstance(test, int | float):
        return scenario, held_out(test, scenario)
    if scenario.instances == (NO_INSTANCE,):
        raise BadInput("test_instances: there are no instances to hold a share out of")
    try:
        kept, out = split(scenario.instances, test, 0, scenario.families or None)
    except BadInput as error:
        raise BadInput(f"test_instances: {error}") from None
    return replace(scenario, instances=kept), TestSet(out, held_out=True) if out else None


def with_families(
    families: str | Mapping[str, str] | None,
    test: float | Iterable[Any] | Mapping[str, Any] | None,
    scenario: Scenario,
) -> Scenario:
    """The scenario with the families of its instances and of the test instances."""
    if families is None:
        return scenario
    names = [instance.name for instance in scenario.instances]
    if plain(test) is not None and not isinstance(plain(test), int | float):
        names += [instance.name for instance in named_instances(test)]  # type: ignore[arg-type]
    if isinstance(families, Mapping):
        found = checked_families(families, names)
        return replace(scenario, families=found)
    if not isinstance(families, str):
        raise BadInput(f"families must be a text or a dictionary, not {short(families)}")
    balanced = families == "balanced"
    found = families_by("auto" if balanced else families, names)
    return replace(scenario, families=found, balanced=balanced)


def held_out(instances: Iterable[Any] | Mapping[str, Any], scenario: Scenario) -> TestSet:
    """Test set of these instances, which must be disjoint from those of the search."""
    try:
        test_set = TestSet(named_instances(instances), held_out=True)
    except BadInput as error:
        raise BadInput(f"test_instances: {error}") from None
    seen = {instance.name for instance in scenario.instances}
    both = [instance.name for instance in test_set.instances if instance.name in seen]
    if both:
        raise BadInput(f"{both[0]!r} is both an instance of the search and a test instance")
    return test_set


def target_of(
    thing: Callable[..., Any] | Command | Target,
    space: Space,
    metric: CostMetric,
    memory: float | str | None,
) -> Target:
    """Wrap a function or command as a target; a target is returned unchanged."""
    if memory is not None:
        memory = positive_bytes(memory, "memory")
    if isinstance(thing, Command):
        return thing.target(space, metric, memory)
    if not isinstance(thing, Target):
        _check_objects(space)
        limit = math.inf if memory is None else memory
        return FunctionTarget(
            thing, needs_number=metric.needs_quality, memory=limit, names=metric.reports
        )
    if memory is not None and thing.memory != memory:
        raise BadInput(f"{thing.name} is a custom target, which memory= cannot limit")
    return thing


def _check_objects(space: Space) -> None:
    """Reject a space from a store that has only the names of the objects a function takes."""
    for name in without_objects(space):
        raise BadInput(
            f"the store has only the names of the values of {short(name)}, which are objects; load"
            " it with load(store, space=...), or give the space itself"
        )


def tune_scenario(
    scenario: Scenario, target: Target, configurator: Configurator, **settings: Any
) -> Result:
    """Run the procedure `tune`, with the same settings, and return its result."""
    made = tuning(scenario, target, configurator, **settings)
    return Result(made.record, made.verdict, made.store, made.capped)
