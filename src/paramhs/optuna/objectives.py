"""An Optuna objective tuned by paramhs: `objective(trial)` unchanged, raced over instances."""

import inspect
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FixedTrial

from paramhs.api.tune import tune as tune_function
from paramhs.core.errors import BadInput, ParamhsWarning
from paramhs.core.space import Space
from paramhs.core.space.objects import plain
from paramhs.core.text.quoting import short
from paramhs.execution.driver import Budget
from paramhs.execution.targets.function import NOT_AWAITED, accepted_arguments, is_async
from paramhs.formats.imports.optuna_study import space_of_trials
from paramhs.formats.space_objects import AnySpace, parameter_of, space_from
from paramhs.report.result import Result

MAX_CALLS = 10
"""Calls that look for branches of an objective, at most."""
Direction = Literal["minimize", "maximize", "minimise", "maximise"]
_DIRECTIONS = {
    "minimize": "minimise",
    "minimise": "minimise",
    "maximize": "maximise",
    "maximise": "maximise",
}
Distribution = FloatDistribution | IntDistribution | CategoricalDistribution


def tune(
    objective: Callable[..., Any],
    *,
    budget: int | Budget,
    direction: Direction | Sequence[Direction] = "minimize",
    space: AnySpace | None = None,
    **settings: Any,
) -> Result:
    """Tune an Optuna objective with paramhs.

    Args:
        objective: `objective(trial)`, or `objective(trial, instance)`, `objective(trial, seed)` and
            `objective(trial, instance, seed)` to race configurations over instances and seeds.
        budget: Number of runs, or a `paramhs.Budget`.
        direction: As in `optuna.create_study`; a list for an objective that returns several values.
        space: The search space. Left out, `recorded_space` finds what the objective suggests; its
            calls count on top of the budget.
        **settings: Passed to `paramhs.tune`: `instances`, `test_instances`, `store`, `jobs`, ...

    Returns:
        A `paramhs.Result`; `result.best.arguments()` are the best parameters.

    Example:
        >>> import paramhs.optuna
        >>> def objective(trial):
        ...     return (trial.suggest_float("x", -10, 10) - 2.5) ** 2
        >>> round(paramhs.optuna.tune(objective, budget=100).best["x"], 1)
        2.5
    """
    settings.setdefault("cost", _cost(direction))
    takes = _extra_arguments(objective)
    if space is None:
        space = recorded_space(objective, _first_of(settings.get("instances"), takes))

    def cost(config: Mapping[str, Any], *instance_and_seed: Any) -> Any:
        return objective(_ConfigTrial(config), *instance_and_seed)

    functions: dict[tuple[str, ...], Callable[..., Any]] = {
        (): lambda config: cost(config),
        ("instance",): lambda config, instance: cost(config, instance),
        ("seed",): lambda config, seed: cost(config, seed),
        ("instance", "seed"): lambda config, instance, seed: cost(config, instance, seed),
        ("seed", "instance"): lambda config, seed, instance: cost(config, seed, instance),
    }
    return tune_function(functions[takes], space_from(space), budget=budget, **settings)


def _cost(direction: object) -> Any:
    """The cost of one direction; for several, names that say which value is meant."""
    if isinstance(direction, list | tuple):
        return [f"{_cost(one)} value_{number}" for number, one in enumerate(direction)]
    name = getattr(direction, "name", direction)  # of a StudyDirection
    found = _DIRECTIONS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise BadInput(f"direction must be 'minimize' or 'maximize', not {short(direction)}")
    return found


def recorded_space(objective: Callable[..., Any], arguments: Sequence[Any] = ()) -> Space:
    """Search space that an objective suggests.

    In a first call, every distribution suggests its middle, and a categorical one its first value.
    In up to 9 more, each other value of a categorical parameter is suggested once, because it may
    lead to another branch. A parameter that only some calls suggest is active under the categories
    that explain it. An error ends the first call only.

    Args:
        objective: An objective of Optuna.
        arguments: Further arguments of the call.

    Returns:
        The space of all parameters that were suggested, in order.

    Examples:
        >>> from paramhs.optuna import recorded_space
        >>> def objective(trial):
        ...     if trial.suggest_categorical("kind", ["a", "b"]) == "b":
        ...         return trial.suggest_float("x", 0, 1)
        ...     return 2.0
        >>> recorded_space(objective).conditions
        {'x': Member(name='kind', values=('b',))}
    """
    first = _Recorder({})
    objective(first, *arguments)
    if not first.params:
        raise BadInput("the objective suggested no parameter in its first trial; give space=")
    trials, seen, branches = [first], set(_categories(first)), deque(_branches(first))
    while branches and len(trials) < MAX_CALLS:
        trial = _Recorder(branches.popleft())
        if seen.issuperset(trial.given):
            continue
        with suppress(Exception):  # what it has suggested until then is known
            objective(trial, *arguments)
        trials.append(trial)
        seen.update(trial.given, _categories(trial))
        branches.extend(_branches(trial))
    return space_of_trials(trials)


def _choices(trial: "_Recorder") -> dict[str, Sequence[Any]]:
    """Categorical parameters that a trial suggested."""
    kinds = trial.distributions.items()
    return {n: kind.choices for n, kind in kinds if isinstance(kind, CategoricalDistribution)}


def _categories(trial: "_Recorder") -> list[tuple[str, str]]:
    """Categorical parameters of a trial with the values it was given."""
    return [(name, repr(trial.params[name])) for name in _choices(trial)]


def _branches(trial: "_Recorder") -> Iterator[dict[str, Any]]:
    """Categories for further calls: those of this trial, with one of them changed."""
    choices = _choices(trial)
    given = {name: trial.params[name] for name in choices}
    for name, values in choices.items():
        yield from ({**given, name: value} for value in values)


def _extra_arguments(objective: Callable[..., Any]) -> tuple[str, ...]:
    if is_async(objective):
        raise BadInput(f"the objective is an async function, {NOT_AWAITED}")
    try:
        return accepted_arguments(objective)
    except BadInput:
        raise BadInput(
            "the objective must be objective(trial), objective(trial, instance) or"
            f" objective(trial, instance, seed), not objective{inspect.signature(objective)}"
        ) from None


def _first_of(instances: Any, takes: Sequence[str]) -> list[Any]:
    """Arguments of the first calls: the first instance and a seed."""
    listed: Any = instances.values() if isinstance(instances, Mapping) else plain(instances)
    values = list(listed or [])
    first = {"instance": values[0] if values else None, "seed": 1}
    return [first[name] for name in takes]


class _SuggestingTrial(FixedTrial):
    """A trial that answers each suggestion by the value of one function."""

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> Any:
        """Value of a real parameter."""
        return self._value(name, FloatDistribution(low, high, log=log, step=step))

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> Any:
        """Value of an integer parameter."""
        return self._value(name, IntDistribution(low, high, log=log, step=step))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Value of a categorical parameter."""
        return self._value(name, CategoricalDistribution(choices))

    def _value(self, name: str, distribution: Distribution) -> Any:
        self._distributions[name] = distribution
        value = self._suggested_params[name] = self._chosen(name, distribution)
        return value

    def _chosen(self, name: str, distribution: Distribution) -> Any:
        raise NotImplementedError


class _Recorder(_SuggestingTrial):
    """Suggests the default of every parameter, but the given categories."""

    def __init__(self, categories: Mapping[str, Any]) -> None:
        super().__init__(dict(categories))
        self._categories = categories
        self.given = [(name, repr(value)) for name, value in categories.items()]

    def _chosen(self, name: str, distribution: Distribution) -> Any:
        return self._categories[name] if name in self._categories else _middle(distribution)


class _ConfigTrial(_SuggestingTrial):
    """Suggests the values of a configuration."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(dict(config))
        self._config = config

    def _chosen(self, name: str, distribution: Distribution) -> Any:
        if name in self._config:
            return self._config[name]
        warnings.warn(
            f"parameter {name!r} is not tuned: the first calls did not suggest it beside these"
            " categories; give space= with every parameter of the objective",
            ParamhsWarning,
            stacklevel=4,
        )
        return _middle(distribution)


def _middle(distribution: Distribution) -> Any:
    parameter = parameter_of(distribution)
    return parameter.argument(parameter.default_index)
