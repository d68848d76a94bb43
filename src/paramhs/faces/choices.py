"""What the names and shorthands of the interfaces stand for."""

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from numbers import Number
from pathlib import Path
from typing import Any

from paramhs.values.capping import Capping, Kind
from paramhs.values.costs import CostMetric, Quality, Runtime, RuntimeThenQuality
from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.runs import NO_INSTANCE, Instance
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config, Space

COSTS: dict[str, CostMetric] = {
    "minimise": Quality(),
    "maximise": Quality(maximise=True),
    "runtime": Runtime(),
    "runtime, then minimise": RuntimeThenQuality(),
    "runtime, then maximise": RuntimeThenQuality(maximise=True),
    "minimize": Quality(),
    "maximize": Quality(maximise=True),
}
"""The costs with a name; beside them, PARk is the runtime with another penalty than ten."""


USUAL_CAPPING: Kind = "preserving"
"""Where time counts (docs/capping.md)."""


def cost_named(name: str | CostMetric) -> CostMetric:
    """The cost of this name; what is a cost is itself."""
    penalty = re.fullmatch(r"PAR(\d+(?:\.\d+)?)", name) if isinstance(name, str) else None
    if penalty:
        return Runtime(float(penalty[1]))
    metric: CostMetric = chosen(name, COSTS, "cost")
    if isinstance(metric, type) or not isinstance(metric, CostMetric):
        raise BadInput(
            f"{metric!r} is not a cost; there are {', '.join(map(repr, COSTS))}, 'PAR2', and any"
            " object of a subclass of paramhs.CostMetric"
        )
    return metric


def capping_named(
    name: str | Capping | None, metric: CostMetric, factor: float | None = None
) -> Capping:
    """The capping of this name; left out, what we advise for the cost."""
    if isinstance(name, Capping):
        return name
    usual = USUAL_CAPPING if metric.grows_with_time else "none"
    return Capping(usual if name is None else name, factor)  # type: ignore[arg-type] # it checks


def scenario_of(
    space: Space | Mapping[str, object],
    instances: Iterable[Any] | Mapping[str, Any] | None,
    metric: CostMetric,
    cutoff: float | None,
    deterministic: bool,
) -> Scenario:
    """The scenario meant by what a user gives."""
    return Scenario(
        space if isinstance(space, Space) else Space(space),
        named_instances(instances),
        metric,
        math.inf if cutoff is None else positive(cutoff, "the cutoff must be a positive number"),
        deterministic,
    )


def configs_of(things: Iterable[Config | Mapping[str, object]], space: Space) -> tuple[Config, ...]:
    """Configurations as a user gives them; what is wrong with one is told with its index."""
    configs = []
    if isinstance(things, str | Mapping) or not isinstance(things, Iterable):
        raise BadInput(f"initial must be a list of configurations, not {short(things)}")
    for index, thing in enumerate(things):
        try:
            if not isinstance(thing, Mapping):
                raise BadInput(f"{short(thing)} is not a dictionary of values")
            config = space.config(thing)
            idle = [name for name in thing if name not in config]
            if idle:
                raise BadInput(f"{idle[0]} is not active beside the other values")
            configs.append(config)
        except BadInput as error:
            raise BadInput(f"initial[{index}]: {error}") from None
    return tuple(configs)


def positive(amount: float, expected: str) -> float:
    """The amount, if it is a positive number that a float can hold; infinity is one."""
    try:
        is_one = not isinstance(amount, bool) and float(amount) > 0
    except (TypeError, ValueError, OverflowError):
        is_one = False
    if not is_one or isinstance(amount, str | bytes):
        raise BadInput(f"{expected}, not {short(amount)}")
    return amount


def check_seed(seed: object) -> None:
    """Refuse what is no seed: any whole number that can be written down."""
    if type(seed) is not int:
        raise BadInput(f"seed must be a whole number, not {short(seed)}")
    if abs(seed) >= 10**300:
        raise BadInput("seed must be a whole number of at most 300 digits")


def path_of(thing: object, what: str) -> Path:
    """The path of a file that may or may not be there."""
    try:
        path = Path(thing)  # type: ignore[arg-type]
    except TypeError:
        raise BadInput(f"{what} must be the path of a file, not {short(thing)}") from None
    if "\0" in str(path):
        raise BadInput(
            f"{what} must be the path of a file; no path has a NUL in it: {short(thing)}"
        )
    return path


def chosen(choice: Any, named: Mapping[str, Any], what: str) -> Any:
    """What a name stands for; anything but a text is itself."""
    if not isinstance(choice, str):
        return choice
    if choice not in named:
        known = ", ".join(map(repr, named))
        raise BadInput(f"there is no {what} {choice!r}; there are {known}")
    return named[choice]


def named_instances(instances: Iterable[Any] | Mapping[str, Any] | None) -> tuple[Instance, ...]:
    """Instances under the names that runs are stored by."""
    if instances is None:
        return (NO_INSTANCE,)
    if isinstance(instances, str):
        raise BadInput(f"instances must be a list, not the text {short(instances)}")
    if not isinstance(instances, Iterable):
        raise BadInput(f"instances must be a list or a dictionary, not {short(instances)}")
    if isinstance(instances, Mapping):
        return tuple(Instance(str(name), value) for name, value in instances.items())
    return tuple(Instance(_name(i, value), value) for i, value in enumerate(instances))


def _name(position: int, value: object) -> str:
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, Number) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:
            raise BadInput(f"instance {position} has too many digits to be stored by") from None
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        raise BadInput(
            f"instance {position} is a {type(value).__name__}, which has no name to store runs by;"
            " give a dictionary {name: instance}"
        ) from None
