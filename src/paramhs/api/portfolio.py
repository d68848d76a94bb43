"""The Python interface to portfolios: several configurations that together do well."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from paramhs.analysis.portfolio import Portfolio
from paramhs.api.command import Command
from paramhs.api.tune import seen_by, target_of, with_test_set
from paramhs.core.errors import BadInput
from paramhs.core.runs import Target
from paramhs.core.scenario import Scenario
from paramhs.core.space.objects import plain
from paramhs.core.test_set import TestSet
from paramhs.execution.driver import Watcher
from paramhs.execution.executors import AnyExecutor
from paramhs.execution.settings import Running
from paramhs.procedures.portfolio import portfolio as chosen_portfolio
from paramhs.report.result import Result
from paramhs.search.configurators import Configurator
from paramhs.search.registry import CONFIGURATORS


def portfolio(
    result: Result,
    function: Callable[..., Any] | Command | Target,
    size: int = 3,
    *,
    runs: int = 0,
    search: bool = False,
    configurator: Configurator | None = None,
    test_instances: Iterable[Any] | Mapping[str, Any] | None = None,
    verdict_runs: int | None = None,
    jobs: int = 1,
    executor: AnyExecutor = None,
    watcher: Watcher | None = None,
    progress: bool | None = None,
) -> Portfolio:
    """Choose configurations of a finished search that together do well.

    Args:
        result: The search, from `tune`; its instances must have their values, as they do there.
        function: What was tuned, as for `tune`.
        size: Number of members, 2 to 20. Fewer are returned if no other improves the portfolio.
        runs: New runs that fill missing cells of promising configurations. With 0, only
            configurations that are known on all pairs of the best can be members.
        search: Whether the new runs also search for complementary configurations, one round for
            each member (Hydra).
        configurator: The search of these rounds; the default one if left out.
        test_instances: Instances for the verdict, which the search has not seen. Left out, there
            is no verdict.
        verdict_runs: Runs of each configuration in the verdict, as for `validate`.
        jobs: Runs at a time.
        executor: What makes the runs, as for `tune`.
        watcher: Called back at every run.
        progress: Whether to show how things stand.

    Returns:
        A `Portfolio`: members, time slices, and verdicts in parallel and in turn.

    Raises:
        KeyboardInterrupt: If it was interrupted.

    Examples:
        >>> import paramhs
        >>> def cost(config, instance):
        ...     return 1 + abs(config["x"] - (2 if instance.startswith("a") else 7))
        >>> names = [f"{family}{k}" for family in "ab" for k in range(6)]
        >>> found = paramhs.tune(cost, {"x": range(10)}, instances=names, budget=60)
        >>> both = paramhs.portfolio(found, cost, 2, runs=60, search=True)
        >>> len(both.members), both.gains[1] > 1.3
        (2, True)
    """
    scenario = result.scenario
    size, runs, verdict_runs = map(plain, (size, runs, verdict_runs))  # type: ignore[assignment]
    target = target_of(function, scenario.space, scenario.cost, None)
    if type(runs) is not int or runs < 0:
        raise BadInput(f"runs must be a number that is not negative, not {runs!r}")
    tests = _tests(test_instances, scenario, verdict_runs)
    rounds = (configurator or CONFIGURATORS["paramhs"]) if search else None
    with Running(jobs, executor, seen_by(watcher, progress)).reach() as running:
        found = chosen_portfolio(
            scenario,
            target,
            result.record,
            size,
            runs=runs,
            configurator=rounds,
            test_set=tests,
            store=result.store,
            running=running,
        )
    if found is None:
        raise KeyboardInterrupt
    return found


def _tests(
    test: Iterable[Any] | Mapping[str, Any] | None, scenario: Scenario, runs: int | None
) -> TestSet | None:
    if test is None:
        return None
    found = with_test_set(test, scenario)[1]
    return found and TestSet(found.instances, found.held_out, runs)
