"""The Python interface to `tune`: search for a better configuration of any target."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramhs.analysis.capping_savings import saved_in
from paramhs.analysis.verdict import Verdict
from paramhs.api.command import Command
from paramhs.api.outcome import Later
from paramhs.api.terminal.environment import is_watched
from paramhs.core.answers import Answer
from paramhs.core.arguments import (
    CostName,
    capping_named,
    check_seed,
    chosen,
    configs_of,
    cost_named,
    named_instances,
    path_of,
    scenario_of,
    seed_of,
)
from paramhs.core.capping import Capping, Kind
from paramhs.core.costs import CostMetric
from paramhs.core.description import description
from paramhs.core.errors import BadInput, CannotRun, ChangedMeanwhile
from paramhs.core.families import checked_families, families_by
from paramhs.core.held_out import split
from paramhs.core.quantities import positive_bytes
from paramhs.core.runs import NO_INSTANCE, Target
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.core.space.objects import plain
from paramhs.core.test_set import TestSet
from paramhs.core.text.numbers import counted, time_text
from paramhs.core.text.quoting import short
from paramhs.execution.driver import INTERRUPTED, Budget, Watcher
from paramhs.execution.executors import AnyExecutor
from paramhs.execution.settings import ONE_AT_A_TIME, Running
from paramhs.execution.storage import NOTHING_KNOWN, Known, open_store
from paramhs.execution.subject import Subject, changed_meanwhile, files_of, subject_of
from paramhs.execution.targets import FunctionTarget
from paramhs.execution.targets.command import CommandTarget, Expected
from paramhs.formats.space_objects import AnySpace, space_from
from paramhs.procedures.recommendation import accepted_in, keep_ending, keep_families, outcome
from paramhs.procedures.validate import as_noted, validate
from paramhs.report.result import Result
from paramhs.search.configurators import Configurator, check_configurator
from paramhs.search.configurators import asynchronous as made_asynchronous
from paramhs.search.history import History
from paramhs.search.proposal_law import proposal_law
from paramhs.search.record import Ending, Record
from paramhs.search.registry import CONFIGURATORS, ConfiguratorName

RESERVE = 0.05
"""Share of a budget reserved to finish a race that the challenger is winning."""
MANY_FAILED = 0.1
"""Share of failed runs above which the end of `tune` says so."""
MIN_LONG_SECONDS = 2.0
"""Seconds below which no verdict counts as long."""


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
    cost: CostName | CostMetric = "minimise",
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
    asynchronous: bool | int = False,
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
            accepted), or a `CostMetric`.
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
        asynchronous: Use results as they arrive, with as many runs under way as there are jobs, or
            this number. It keeps many more workers busy, but the result depends on the order in
            which runs end.
        answer_tolerance: Relative difference up to which two numbers are the same answer.
        expected: Right answers: one for all instances, a dictionary by instance, or a `Path` of a
            file with lines `instance answer`. A default that contradicts them stops the search.
        accept_changed: Continue with a store although the target or instances have changed. This is
            recorded in the store and shown with the result.
        families: Which instances belong together: a dictionary from instance names to families,
            "folder", "name", a regular expression whose first group is the family, or "balanced":
            all families count alike in every comparison. Left out: as folders or names tell.

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
    metric = cost_named(cost)
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
            asynchronous=asynchronous,
            accept_changed=accept_changed,
        )
        if result.failed_runs > MANY_FAILED * result.asked:
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
        limit = math.inf if memory is None else memory
        return FunctionTarget(thing, needs_number=metric.needs_quality, memory=limit)
    if memory is not None and thing.memory != memory:
        raise BadInput(f"{thing.name} is a custom target, which memory= cannot limit")
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
    accept_changed: bool = False,
) -> Result:
    """Run `tune` with prepared parts; `no_test_set` explains a missing test set."""
    check_seed(seed)
    check_configurator(configurator)
    if asynchronous is not False:
        width = _width(running) if asynchronous is True else asynchronous
        configurator = made_asynchronous(configurator, width)
    store = None if store is None else path_of(store, "store")
    kept = None if store is None else Path(store).absolute()  # a function may change the folder
    earlier = [path_of(path, "warm_start") for path in warm_start]
    subject = (
        subject_of(target, scenario.instances, scenario.cost)
        if store is not None or earlier
        else files_of(target, scenario.instances)
    )
    known = _known(store, earlier, scenario, target, subject, running.watcher)
    initial = tuple(dict.fromkeys((*scenario.initial, *known.initial)))
    scenario = replace(scenario, initial=initial, known=known.runs)
    described: dict[str, Any] = (
        {} if store is None else _described(scenario, target, configurator, seed)
    )
    history = History(scenario, seed)
    later = Later(history, test_set, budget, verdict_in_budget)
    opened = open_store(store, scenario.space, described, subject, known, accept_changed)
    try:
        driver = running.drive(
            configurator.search(history),
            history,
            target,
            opened,
            budget,
            default=scenario.space.default,
            later=later,
            reserve=RESERVE if asynchronous is False else 0.0,
            proposals=proposal_law(configurator),
        )
        record, capped = driver.record, saved_in(history, opened)
        mixed = changed_meanwhile(opened.sight)
    except CannotRun as error:
        if store is None:
            raise
        raise CannotRun(f"{error} Stored runs are safe; run the same command to resume.") from error
    finally:
        opened.close()
    record.target = _described_target(target) if store is None else described["target"]
    record.ending = Ending(driver.stopped, "" if test_set else no_test_set, mixed)
    if kept is not None:
        keep_ending(kept, record.ending)
        keep_families(kept, scenario.families)
    sized = later.test_set(record.best, driver.pace)
    made = None
    ended = driver.stopped != INTERRUPTED and not mixed
    if sized is not None and record.best != record.default and ended:
        sized = as_noted(kept, sized, {"budget": vars(budget), "best": record.best.key})
        expected = driver.pace * later.seconds(sized, record.best)
        made = _verdict(record, target, sized, expected, kept, running, accept_changed)
    if record.ending.mixed:
        running.watcher.notice(record.ending.mixed)
    verdict = made or outcome(record, kept)
    return Result(record, verdict, None if store is None else Path(store), capped)


def _verdict(
    record: Record,
    target: Target,
    sized: TestSet,
    seconds: float,
    store: Path | None,
    running: Running,
    accept_changed: bool,
) -> Verdict | None:
    """The verdict that follows a search; None, with the reason in the record, if there is none."""
    if seconds > max(record.wall_time, MIN_LONG_SECONDS):
        running.watcher.notice(
            f"warning: the verdict takes longer (about {time_text(seconds)}) than the search"
            f" ({time_text(record.wall_time)}); verdict.runs makes it shorter"
        )
    try:
        made = validate(
            record.scenario,
            target,
            [record.default, record.best],
            sized,
            seed=record.history.seed,
            store=store,
            running=running,
            expected=seconds,
            accept_changed=accept_changed,
        )
    except ChangedMeanwhile as error:
        record.ending = replace(record.ending, mixed=str(error))
    else:
        if made is not None:
            return replace(made[0], accepted=accepted_in(store))
        record.ending = replace(record.ending, stopped=INTERRUPTED)
    if store is not None:
        keep_ending(store, record.ending)
    return None


def _described_target(target: Target) -> dict[str, object]:
    """The description of a target that results show: of a command all, else its name."""
    return target.describe() if isinstance(target, CommandTarget) else {"function": target.name}


def _width(running: Running) -> int:
    """Number of concurrent runs if none is given; the size of a cluster varies, so it must be."""
    if running.jobs == 1 and not isinstance(running.executor, str | None):
        raise BadInput(
            "asynchronous = true means as many parallel runs as jobs; where an executor"
            " or a cluster makes the runs, give their number, such as asynchronous = 64"
        )
    return running.jobs


def _known(
    store: str | Path | None,
    warm_start: Sequence[Path],
    scenario: Scenario,
    target: Target,
    subject: Subject,
    watcher: Watcher,
) -> Known:
    """Runs and configurations known before the search: from its store, or from earlier ones."""
    if store is None and not warm_start:
        return NOTHING_KNOWN
    from paramhs.execution.storage.warm_start import (  # sqlite3 only where it is needed
        collect,
        read_known,
    )

    begun = None if store is None else read_known(Path(store), scenario)
    if begun is None:
        begun, lines = collect(warm_start, scenario, target, subject)
        for line, whole in lines:
            (watcher.announce if whole else watcher.notice)(line)
    elif warm_start:
        watcher.announce(
            f"{store} is resumed as it was started, with {counted(len(begun.runs), 'run')}"
        )
    return begun


def _described(
    scenario: Scenario, target: Target, configurator: Configurator, seed: int
) -> dict[str, object]:
    """Describe in JSON types what defines a search and its answers."""
    return {
        "scenario": scenario.describe(),
        "target": target.describe(),
        "configurator": description(configurator, "the configurator"),
        "seed": seed,
    }
