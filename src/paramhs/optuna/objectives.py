"""An Optuna objective tuned by paramhs: `objective(trial)` unchanged, raced over instances."""

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FixedTrial

from paramhs.api.tune import tune as tune_function
from paramhs.core.errors import BadInput, ParamhsWarning
from paramhs.core.space import Parameter
from paramhs.execution.driver import Budget
from paramhs.formats.space_objects import AnySpace, parameter_of, space_from
from paramhs.report.result import Result

Distribution = FloatDistribution | IntDistribution | CategoricalDistribution


def tune(
    objective: Callable[..., Any],
    *,
    budget: int | Budget,
    direction: Literal["minimize", "maximize"] = "minimize",
    space: AnySpace | None = None,
    **settings: Any,
) -> Result:
    """Tune an Optuna objective with paramhs.

    Args:
        objective: `objective(trial)`, or `objective(trial, instance)` and `objective(trial,
            instance, seed)` to race configurations over instances and seeds.
        budget: Number of runs, or a `paramhs.Budget`.
        direction: As in `optuna.create_study`.
        space: The search space. Left out, a first trial with the middle of every distribution
            records what the objective suggests; that call counts on top of the budget.
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
    if direction not in ("minimize", "maximize"):
        raise BadInput(f"direction must be 'minimize' or 'maximize', not {direction!r}")
    takes = _extra_arguments(objective)
    if space is None:
        space = recorded_space(objective, _first_of(settings.get("instances"), takes))

    def cost(config: Mapping[str, Any], *instance_and_seed: Any) -> Any:
        return objective(_ConfigTrial(config), *instance_and_seed)

    functions: Sequence[Callable[..., Any]] = (
        lambda config: cost(config),
        lambda config, instance: cost(config, instance),
        lambda config, instance, seed: cost(config, instance, seed),
    )
    return tune_function(
        functions[takes], space_from(space), budget=budget, cost=direction, **settings
    )


def recorded_space(objective: Callable[..., Any], arguments: Sequence[Any] = ()) -> dict[str, Any]:
    """Search space that an objective suggests in one call at the middle of every distribution.

    Args:
        objective: An objective of Optuna.
        arguments: Further arguments of the call.

    Returns:
        The parameters that the objective suggested, in order.

    Examples:
        >>> from paramhs.optuna import recorded_space
        >>> list(recorded_space(lambda trial: trial.suggest_float("x", 0, 1)))
        ['x']
    """
    recorder = _Recorder()
    objective(recorder, *arguments)
    if not recorder.space:
        raise BadInput("the objective suggested no parameter in its first trial; give space=")
    return dict(recorder.space)


def _extra_arguments(objective: Callable[..., Any]) -> int:
    count = len(inspect.signature(objective).parameters) - 1
    if not 0 <= count <= 2:
        raise BadInput(
            "the objective must be objective(trial), objective(trial, instance) or"
            f" objective(trial, instance, seed), not objective{inspect.signature(objective)}"
        )
    return count


def _first_of(instances: Any, count: int) -> tuple[Any, ...]:
    values = list(instances.values() if isinstance(instances, Mapping) else instances or [None])
    return (values[0], 1)[:count]


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
        raise NotImplementedError


class _Recorder(_SuggestingTrial):
    """Suggests the default of every parameter, and records it."""

    def __init__(self) -> None:
        super().__init__({})
        self.space: dict[str, Parameter] = {}

    def _value(self, name: str, distribution: Distribution) -> Any:
        parameter = self.space[name] = parameter_of(distribution)
        return parameter.argument(parameter.default_index)


class _ConfigTrial(_SuggestingTrial):
    """Suggests the values of a configuration."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(dict(config))
        self._config = config

    def _value(self, name: str, distribution: Distribution) -> Any:
        if name in self._config:
            return self._config[name]
        warnings.warn(
            f"parameter {name!r} is not tuned: the first trial did not suggest it; give space="
            " with every parameter of the objective",
            ParamhsWarning,
            stacklevel=2,
        )
        parameter = parameter_of(distribution)
        return parameter.argument(parameter.default_index)
