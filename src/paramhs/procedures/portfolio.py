"""Portfolios: several configurations chosen from the record of a search, with a verdict.

The runs that fill missing cells, and those of the rounds of Hydra, are a record of their own in the
store; the runs of the verdict are in the record of verdicts.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paramhs.analysis.portfolio import (
    Member,
    Portfolio,
    find_schedule,
    gains_of,
    portfolio_verdicts,
    rows_of,
)
from paramhs.analysis.verdict import Verdict
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.runs import Evaluate, Instance, Pair, Run, Search, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.several_costs import Costs
from paramhs.core.space import Config
from paramhs.core.test_set import TestSet
from paramhs.execution.driver import Budget
from paramhs.execution.settings import ONE_AT_A_TIME, Running
from paramhs.execution.storage import PORTFOLIO
from paramhs.procedures.validate import make_runs, meet
from paramhs.search.configurators import Configurator
from paramhs.search.history import History
from paramhs.search.portfolio import addition, pairs_for, round_of
from paramhs.search.record import Record

MAX_MEMBERS = 20
_SEARCH_SHARE = 0.8  # share of a round's runs that search; the rest compares candidates


@dataclass
class _Choice:
    """Members chosen so far, and the pairs they were compared on."""

    members: list[Config]
    pairs: list[Pair]


def portfolio(
    scenario: Scenario,
    target: Target,
    record: Record,
    size: int,
    *,
    runs: int = 0,
    configurator: Configurator | None = None,
    test_set: TestSet | None = None,
    store: Path | None = None,
    running: Running = ONE_AT_A_TIME,
    accept_changed: bool = False,
) -> Portfolio | None:
    """Choose configurations that together do well; None if interrupted.

    `runs` is the number of new runs beside those of the verdict and those that bring the members to
    common pairs. With a `configurator`, they search for complementary configurations, in rounds.
    """
    check_size(size)
    check_one_cost(scenario)
    history = _history_of(scenario, record)
    best = scenario.space.from_key(record.best.key)
    choice = _Choice([best], pairs_for(history, best))
    begun = history.asked
    search = _choosing(history, choice, size, runs, configurator)
    driver = make_runs(
        PORTFOLIO,
        search,
        history,
        target,
        Budget(runs=runs + (size + 1) * len(choice.pairs)),
        store,
        running,
        accept_changed=accept_changed,
    )
    if driver.interrupted:
        return None
    metric = scenario.cost
    members = winners(_whole_runs(history, choice), metric)
    choice.members = [*members]
    schedule = find_schedule(members, metric, scenario.cutoff)
    verdicts: dict[str, Verdict] = {}
    if test_set is not None and len(members) > 1:
        default = scenario.space.default
        wanted = [default, *choice.members]
        made = meet(
            scenario,
            target,
            wanted,
            test_set,
            seed=history.seed,
            store=store,
            running=running,
            comparisons=len(set(wanted)) - 1,
            accept_changed=accept_changed,
        )
        if made is None:
            return None
        verdicts = portfolio_verdicts(
            made.runs, choice.members, default, schedule, metric, test_set.text
        )
    return Portfolio(
        tuple(choice.members),
        rows_of(members, metric),
        schedule,
        gains_of(members, metric),
        len(choice.pairs),
        history.asked - begun,
        verdicts,
        tuple(target.command_line(config) for config in choice.members),
        metric,
        size,
    )


def check_one_cost(scenario: Scenario) -> None:
    """Reject a scenario with several costs."""
    if isinstance(scenario.cost, Costs):
        raise BadInput("a portfolio has one cost, and this search has several: it has a front")


def check_size(size: object) -> None:
    """Reject anything but a number of members from 2 to 20."""
    if type(size) is not int or not 2 <= size <= MAX_MEMBERS:
        raise BadInput(f"a portfolio has 2 to {MAX_MEMBERS} members, not {size!r}")


def _history_of(scenario: Scenario, record: Record) -> History:
    """History in which all runs of a search are known, on the scenario's own instances."""
    instances = {instance.name: instance for instance in scenario.instances}
    configs = {c: scenario.space.from_key(c.key) for c in record.history.configs}
    known = tuple(
        run._replace(task=_own(run.task, configs[run.task.config], instances))
        for run in record.history.runs
        if run.task.instance.name in instances
    )
    return History(replace(scenario, known=known), record.history.seed)


def _own(task: Task, config: Config, instances: Mapping[str, Instance]) -> Task:
    return task._replace(config=config, instance=instances[task.instance.name])


def _choosing(
    history: History,
    choice: _Choice,
    size: int,
    runs: int,
    configurator: Configurator | None,
) -> Search:
    """Choose members one after the other, each with its share of the runs."""
    first = choice.members[0]
    yield from history.ask((first, choice.pairs))
    end = history.asked + runs
    while len(choice.members) < size:
        left = max(0, end - history.asked) // (size - len(choice.members))
        if configurator is not None:
            left = yield from _round(history, choice, configurator, left)
        found = yield from addition(history, choice.members, choice.pairs, left)
        if found is None:
            break
        choice.members.append(found)
    yield from history.ask(*((member, choice.pairs) for member in choice.members))
    return f"{len(choice.members)} members are chosen"


def _round(
    history: History, choice: _Choice, configurator: Configurator, runs: int
) -> Generator[Evaluate, Sequence[Run], int]:
    """A round of Hydra; returns the number of runs left to compare candidates."""
    before = history.asked
    number = len(choice.members)
    yield from round_of(history, choice.members, configurator, int(_SEARCH_SHARE * runs), number)
    return max(0, runs - (history.asked - before))


def winners(members: Mapping[Config, Member], metric: CostMetric) -> dict[Config, Member]:
    """The best single configuration, and the others that are the best on some instance.

    A member that was best when it was chosen may win nowhere beside later ones.
    """
    rows = rows_of(members, metric)
    return {row.config: members[row.config] for k, row in enumerate(rows) if row.wins or k == 0}


def _whole_runs(history: History, choice: _Choice) -> dict[Config, Member]:
    """Runs of the members on the common pairs, complete up to the scenario's cutoff."""
    found: dict[Config, dict[Pair, Run]] = {member: {} for member in choice.members}
    wanted = set(choice.pairs)
    for run in history.runs:
        task = run.task
        if task.config in found and task.pair in wanted and task.pair in history.costs(task.config):
            kept = found[task.config].get(task.pair)
            if kept is None or kept.task.cutoff < task.cutoff:
                found[task.config][task.pair] = run
    cutoff = history.scenario.cutoff
    return {
        member: {
            pair: runs[pair]._replace(task=runs[pair].task._replace(cutoff=cutoff))
            for pair in choice.pairs
        }
        for member, runs in found.items()
    }
