"""The Python interface: `simplify` what `tune` has found."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramhs.faces.choices import named_instances
from paramhs.faces.command import Command
from paramhs.faces.result import Result
from paramhs.faces.tuning import held_out, target_of
from paramhs.results.validating import TestSet
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Target
from paramhs.values.scenario import Scenario
from paramhs.world.driver import Watcher
from paramhs.world.executing import AnyExecutor
from paramhs.world.running import Running

if TYPE_CHECKING:
    from paramhs.results.ablation import Simplified


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
    memory: float | None = None,
    executor: AnyExecutor = None,
    watcher: Watcher | None = None,
) -> "Simplified | None":
    """The fewest changes of the default that keep the gain of a search's best configuration.

    `function` is what was tuned and `result` what `tune` returned. `budget` is the number of runs
    for the ablation, which finds the order in which changes matter, on the instances of the search
    with new seeds; `keep` is the share of the gain that must be kept. A result that was read from a
    store knows its instances by name only, so they are to be given again. The `verdict` of what is
    returned is on `test_instances`; left out, on the instances of the search with other seeds
    again, and there is none if the target is deterministic. Its runs come on top. With the `store`
    of the search they all lie beside it, and a call that was interrupted, which returns None, goes
    on when it is made again.
    """
    from paramhs.results.simplifying import simplify as simplified  # numpy only where it is needed

    if not isinstance(result, Result):
        raise BadInput(f"simplify needs what tune returned, not {type(result).__name__}")
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
        )


def _with_instances(
    scenario: Scenario, instances: Iterable[Any] | Mapping[str, Any] | None
) -> Scenario:
    """The scenario with the instances themselves, where it has their names."""
    if instances is None:
        nameless = scenario.instances != (NO_INSTANCE,)
        if nameless and all(instance.value is None for instance in scenario.instances):
            raise BadInput("the result was read from a store: give the instances again, instances=")
        return scenario
    given = {instance.name: instance for instance in named_instances(instances)}
    missing = [instance.name for instance in scenario.instances if instance.name not in given]
    if missing:
        raise BadInput(f"{missing[0]!r} is an instance of the search, and not given")
    return replace(scenario, instances=tuple(given[i.name] for i in scenario.instances))
