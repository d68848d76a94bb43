"""The Python interface to `simplify`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramhs.api.command import Command
from paramhs.api.tune import held_out, target_of
from paramhs.core.arguments import named_instances
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Target
from paramhs.core.scenario import Scenario
from paramhs.core.space.objects import plain
from paramhs.core.test_set import TestSet
from paramhs.execution.driver import Watcher
from paramhs.execution.executors import AnyExecutor
from paramhs.execution.settings import Running
from paramhs.report.result import Result

if TYPE_CHECKING:
    from paramhs.analysis.ablation import Simplified


def simplify(
    function: Callable[..., Any] | Command | Target,
    result: Result,
    *,
    budget: int = 500,
    keep: float = 0.95,
    instances: Iterable[Any] | Mapping[str, Any] | None = None,
    test_instances: Iterable[Any] | Mapping[str, Any] | None = None,
    jobs: int = 1,
    store: str | Path | None = None,
    memory: float | str | None = None,
    executor: AnyExecutor = None,
    watcher: Watcher | None = None,
    accept_changed: bool = False,
) -> "Simplified | None":
    """Find the fewest changes of the default that keep the gain of the best configuration.

    An ablation finds the order in which the changes matter, on the instances of the search with new
    seeds. Then the shortest prefix that keeps the gain is compared with the default.

    Args:
        function: What was tuned, as for `tune`.
        result: What `tune` or `load` returned.
        budget: Number of runs for the ablation, at least 20.
        keep: Share of the gain to keep, between 0 and 1.
        instances: The instances of the search; needed if the result was loaded from a store, which
            knows only their names.
        test_instances: Instances for the verdict. Left out: those of the search with new seeds, or
            no verdict if the target is deterministic. These runs come on top of the budget.
        jobs: Runs at a time.
        store: The store of the search; the same call then resumes an ablation that was interrupted.
        memory: Bytes, or a text such as "2 GB", that a run may use.
        executor: What makes the runs, as for `tune`.
        watcher: Called back at each run.
        accept_changed: Continue although the target or instances have changed.

    Returns:
        A `Simplified` with `config`, `changes`, `ablation` and `verdict`; None if it was
        interrupted.

    Examples:
        >>> import paramhs
        >>> def cost(config):
        ...     return 10 + 5 * (config["a"] == 0) + abs(config["b"] - 2)
        >>> space = {"a": range(3), "b": range(5)}
        >>> result = paramhs.tune(cost, space, budget=30, initial=[{"a": 1, "b": 2}])
        >>> few = paramhs.simplify(cost, result, budget=40)
        >>> few.config["a"] > 0
        True
    """
    from paramhs.procedures.simplify import simplify as simplified  # numpy only where it is needed

    if not isinstance(result, Result):
        raise BadInput(f"simplify needs what tune returned, not {type(result).__name__}")
    budget, keep = map(plain, (budget, keep))  # type: ignore[assignment]
    scenario = _with_instances(result.history.scenario, instances)
    test_set = None if scenario.deterministic else TestSet(scenario.instances, held_out=False)
    order = [one.name for one in result.importance]
    with Running(jobs, executor, watcher or Watcher()).reach() as running:
        return simplified(
            scenario,
            target_of(function, scenario.space, scenario.cost, memory),
            result.best,
            budget=budget,
            keep=keep,
            order=order,
            test_set=test_set if test_instances is None else held_out(test_instances, scenario),
            seed=result.history.seed,
            store=store,
            running=running,
            accept_changed=accept_changed,
        )


def _with_instances(
    scenario: Scenario, instances: Iterable[Any] | Mapping[str, Any] | None
) -> Scenario:
    """Replace instances known by name only with the given ones."""
    if instances is None:
        nameless = scenario.instances != (NO_INSTANCE,)
        if nameless and all(instance.value is None for instance in scenario.instances):
            raise BadInput(
                "the result was read from a store, which has only names: pass instances="
            )
        return scenario
    given = {instance.name: instance for instance in named_instances(instances)}
    missing = [instance.name for instance in scenario.instances if instance.name not in given]
    if missing:
        raise BadInput(
            f"{missing[0]!r} is an instance of the search, but was not passed in instances="
        )
    return replace(scenario, instances=tuple(given[i.name] for i in scenario.instances))
