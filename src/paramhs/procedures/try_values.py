"""Trial of every value of every parameter, to find failing ones before a search does.

Starting from the default, one parameter is changed at a time; an inactive one is activated by as
few other changes as possible. Of a long grid, the ends and a few values between are tried. The
first value of each parameter precedes all second values, so a budget that ends early has covered
every parameter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product, takewhile, zip_longest

from paramhs.core.errors import BadInput
from paramhs.core.runs import FAILURES, Run, Search, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import (
    INACTIVE,
    And,
    Compare,
    Config,
    Expression,
    Member,
    Or,
    Parameter,
    Ref,
    Space,
    Value,
)
from paramhs.core.space.conditions.expressions import names
from paramhs.execution.driver import Budget
from paramhs.execution.settings import ONE_AT_A_TIME, Running
from paramhs.execution.storage import MemoryStore
from paramhs.search.history import History

_MAX_VALUES = 12  # up to this number of values of an ordered parameter, all are tried
_MAX_WAYS = 5_000  # ways to activate a parameter that are examined


@dataclass(frozen=True)
class Trying:
    """A value to try, with the configuration that contains it."""

    name: str
    index: int
    config: Config

    @property
    def value(self) -> Value:
        """The value to try."""
        return self.config.space.parameters[self.name].value(self.index)


@dataclass(frozen=True)
class Failing:
    """A value that fails."""

    name: str
    value: Value
    status: Status
    message: str
    forbid: str
    """Clause that forbids the value."""

    def to_json(self) -> dict[str, object]:
        """Convert the failure to JSON types."""
        return vars(self)


@dataclass(frozen=True)
class ValuesTried:
    """Result of trying all values."""

    runs: tuple[Run, ...]
    planned: int
    failing: tuple[Failing, ...]
    unreachable: tuple[str, ...]
    """Parameters that could not be activated."""
    stopped: str
    """Why the trial ended early; empty if all values were tried."""

    @property
    def clauses(self) -> list[str]:
        """All clauses to forbid, without duplicates."""
        return list(dict.fromkeys(one.forbid for one in self.failing))

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types."""
        return {
            "tried": len(self.runs),
            "planned": self.planned,
            "stopped": self.stopped,
            "unreachable": list(self.unreachable),
            "failing": [one.to_json() for one in self.failing],
        }


def try_values(
    scenario: Scenario,
    target: Target,
    *,
    budget: Budget,
    seed: int = 0,
    running: Running = ONE_AT_A_TIME,
) -> ValuesTried:
    """Run each value once, on the first instance, within a budget."""
    plan, unreachable = planned(scenario.space)
    history = History(scenario, seed)
    pair = history.pair(0)
    tasks = [history.task(one.config, pair) for one in plan]
    driver = running.drive(
        _ask_for(history, [history.task(scenario.space.default, pair), *tasks]),
        history,
        target,
        MemoryStore(),
        budget,
        default=scenario.space.default,
        purpose="values",
    )
    made = {run.task.config: run for run in history.runs}
    runs = tuple(made[one.config] for one in plan if one.config in made)
    stopped = "" if len(runs) == len(plan) else driver.stopped
    return ValuesTried(runs, len(plan), tuple(_failing(plan, made)), tuple(unreachable), stopped)


def _ask_for(history: History, tasks: Sequence[Task]) -> Search:
    yield from history.make(list(dict.fromkeys(tasks)))
    return "all values are tried"


# Plan


def planned(space: Space) -> tuple[list[Trying], list[str]]:
    """Values to try, and the parameters that cannot be activated."""
    columns, unreachable = [], []
    for name, parameter in space.parameters.items():
        configs = [(i, config_with(space, name, i)) for i in tried_indices(parameter)]
        reached = [Trying(name, i, c) for i, c in configs if c is not None and c != space.default]
        columns.append(reached)
        if all(config is None for _, config in configs):
            unreachable.append(name)
    rounds = zip_longest(*columns)
    return [one for turn in rounds for one in turn if one is not None], unreachable


def tried_indices(parameter: Parameter) -> list[int]:
    """All indices; of a long grid, the ends first and a few between."""
    last = parameter.levels - 1
    if not parameter.ordered or last < _MAX_VALUES:
        return list(range(parameter.levels))
    return list(dict.fromkeys((0, last, last // 2, last // 4, last - last // 4)))


def config_with(space: Space, name: str, index: int) -> Config | None:
    """The default with one value changed and its parameter activated; None if impossible."""
    indices = [p.default_index for p in space.listed]
    indices[space.position[name]] = index
    for way in islice(_switched_on(space, indices, name), _MAX_WAYS):
        config = space.configured(way)
        if space.allowed(config):
            return config
    return None


def _switched_on(space: Space, indices: Sequence[int], name: str) -> Iterator[list[int]]:
    """Yield index lists in which a parameter is active, the fewest changes first."""
    # Depth-first search through the conditions: choose values of the parents that satisfy the
    # condition, activating the parents themselves first, recursively. Most combinations fail for
    # conditions with many parents, so the caller limits how many are examined.
    if space.active(indices)[space.position[name]] != INACTIVE:
        yield list(indices)
        return
    parents = list(dict.fromkeys(names(space.conditions[name])))
    for changes in _combinations(space, parents, space.conditions[name]):
        changed = list(indices)
        for parent, index in changes.items():
            changed[space.position[parent]] = index
        for parent in parents:
            changed = next(_switched_on(space, changed, parent), changed)
        if space.active(changed)[space.position[name]] != INACTIVE:
            yield changed


def _combinations(
    space: Space, parents: Sequence[str], condition: Expression
) -> Iterator[dict[str, int]]:
    """Yield values for the parameters of a condition, the fewest changes first."""
    named = list(_named(condition))
    choices = []
    for name in parents:
        parameter = space.parameters[name]
        own = [i for one, value in named if one == name for i in _around(parameter, value)]
        listed = (parameter.default_index, *own, *tried_indices(parameter))
        choices.append([(name, index) for index in dict.fromkeys(listed)])
    ways = [dict(way) for way in islice(product(*choices), _MAX_WAYS)]
    usual = {name: space.parameters[name].default_index for name in parents}
    yield from sorted(ways, key=lambda way: sum(way[name] != usual[name] for name in parents))


def _named(expression: Expression) -> Iterator[tuple[str, Value]]:
    """Yield the values with which an expression compares parameters."""
    if isinstance(expression, And | Or):
        for part in expression.parts:
            yield from _named(part)
    elif isinstance(expression, Member):
        yield from ((expression.name, value) for value in expression.values)
    elif isinstance(expression, Compare) and not isinstance(expression.other, Ref):
        yield expression.name, expression.other


def _around(parameter: Parameter, value: Value) -> list[int]:
    """Indices of a value and its neighbours; none if it is not a value of the parameter."""
    try:
        index = parameter.index(value)
    except BadInput:
        return []
    return [i for i in (index, index + 1, index - 1) if 0 <= i < parameter.levels]


# Results


def _failing(plan: Sequence[Trying], made: Mapping[Config, Run]) -> Iterator[Failing]:
    """Yield the failing values, except those that fail only because of others they need."""
    failed = [one for one in plan if one.config in made and made[one.config].status in FAILURES]
    values = {(one.name, one.index) for one in failed}
    for one in failed:
        space = one.config.space
        others = [
            (name, one.config.indices[at])
            for name, at in space.position.items()
            if name != one.name and one.config.indices[at] != space.default.indices[at]
        ]
        if not values.intersection(others):
            run = made[one.config]
            yield Failing(one.name, one.value, run.status, run.reason, _clause(one, plan, made))


def _clause(one: Trying, plan: Sequence[Trying], made: Mapping[Config, Run]) -> str:
    """Clause of a failing value, or a threshold if the outer values of a long grid all fail."""
    parameter = one.config.space.parameters[one.name]
    fails = {
        other.index: made[other.config].status in FAILURES
        for other in plan
        if other.name == one.name and other.config in made
    }
    fails.setdefault(parameter.default_index, False)
    if parameter.ordered and parameter.levels > _MAX_VALUES:
        for sign, tail in ((">=", sorted(fails, reverse=True)), ("<=", sorted(fails))):
            bad = list(takewhile(fails.__getitem__, tail))
            if one.index in bad:
                return str(Compare(one.name, sign, parameter.value(bad[-1])))
    return str(Compare(one.name, "==", one.value))
