"""The Python interface to `validate`: a verdict on any configurations and instances."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paramhs.analysis.verdict import Verdict
from paramhs.api.command import Command
from paramhs.api.tune import seen_by, target_of
from paramhs.core.arguments import CostName, configs_of, cost_named, path_of, scenario_of, seed_of
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.runs import Target
from paramhs.core.space import Config
from paramhs.core.space.objects import plain
from paramhs.core.test_set import TestSet
from paramhs.execution.driver import Watcher
from paramhs.execution.executors import AnyExecutor
from paramhs.execution.settings import Running
from paramhs.formats.space_objects import AnySpace, space_from
from paramhs.procedures.validate import validate as validated


def validate(
    target: Callable[..., Any] | Command | Target,
    space: AnySpace,
    configurations: Iterable[Config | Mapping[str, object]],
    *,
    instances: Iterable[Any] | Mapping[str, Any] | None = None,
    runs: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    store: str | Path | None = None,
    cost: CostName | CostMetric | Sequence[str] = "minimise",
    cutoff: float | str | None = None,
    memory: float | str | None = None,
    deterministic: bool | None = None,
    executor: AnyExecutor = None,
    watcher: Watcher | None = None,
    progress: bool | None = None,
    until_clear: bool = False,
) -> list[Verdict]:
    """Compare configurations with the first of them, on the same instances and seeds.

    Args:
        target: What is run, as for `tune`: a function, a `Command` or a `Target`.
        space: Its parameters.
        configurations: The baseline, then the others; values left out are the default's.
        instances: What to run on, a list or a dictionary of names.
        runs: Runs of each configuration in all, rounded up to the same number on each instance;
            fewer than instances use only that many of them. Left out: one on each instance, or at
            least 50 in all if the target is random.
        seed: Another seed, other runs of a random target.
        jobs: Runs at a time.
        store: A file in which runs are kept, and from which those made before are taken.
        cost: As for `tune`: "minimise", "maximise", "runtime", "PAR2", ..., a `CostMetric`, or a
            list of several costs.
        cutoff: Seconds after which a run is stopped.
        memory: Bytes that a run may use.
        deterministic: Whether the seed does not matter; left out, by whether the function takes it.
        executor: What makes the runs, as for `tune`.
        watcher: Called back at every run.
        progress: Whether to show how things stand.
        until_clear: Whether to end as soon as every comparison is clear, or shows a difference of
            less than 2 %. The runs are looked at on 12 instances, on twice as many, and so on;
            intervals and p-values are corrected for these looks.

    Returns:
        A `Verdict` for each configuration but the first, and for each of several costs
        (`Verdict.cost_name`). With several verdicts, intervals and p-values are
        corrected for their number (Bonferroni), so that all hold together with 95 % confidence.

    Raises:
        KeyboardInterrupt: If it was interrupted; with a `store` the runs made are kept.

    >>> from paramhs import validate
    >>> def work(config, instance):
    ...     return instance * (1 + config["x"])
    >>> [verdict] = validate(work, {"x": range(4)}, [{"x": 3}, {"x": 0}], instances=range(1, 13))
    >>> verdict.conclusion, verdict.ratio.estimate
    ('better', 4.0)
    """
    metric = cost_named(cost)
    space = space_from(space)
    made = target_of(target, space, metric, memory)
    seed = seed_of(seed)
    if deterministic is None:
        deterministic = not made.uses_seed
    scenario = scenario_of(space, instances, metric, cutoff, deterministic)
    configs = configs_of(configurations, space, "configurations")
    names = _names(configs)
    if deterministic and instances is None:
        raise BadInput("a deterministic target without instances has nothing to be compared on")
    test_set = TestSet(scenario.instances, held_out=None, runs=plain(runs))  # type: ignore[arg-type]
    with Running(jobs, executor, seen_by(watcher, progress)).reach() as running:
        verdicts = validated(
            scenario,
            made,
            configs,
            test_set,
            seed=seed,
            store=None if store is None else path_of(store, "store"),
            running=running,
            names=names,
            until_clear=until_clear,
        )
    if verdicts is None:
        raise KeyboardInterrupt
    return verdicts


def _names(configs: tuple[Config, ...]) -> tuple[str, ...]:
    """Display names of the configurations, which must all differ."""
    if len(set(configs)) < len(configs):
        raise BadInput("a verdict needs different configurations, and one is listed twice")
    if len(configs) == 2:
        return "baseline", "challenger"
    return "baseline", *(f"configuration {k}" for k in range(2, len(configs) + 1))
