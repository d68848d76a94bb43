"""Translation of names and shorthands that users write into the objects they name."""

import json
import math
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any, Literal

from paramhs.core.capping import Capping, Kind
from paramhs.core.costs import CostMetric, CountedWork, Quality, Runtime, RuntimeThenQuality
from paramhs.core.errors import BadInput, ParamhsWarning
from paramhs.core.quantities import positive_seconds
from paramhs.core.runs import NO_INSTANCE, Instance
from paramhs.core.scenario import Scenario
from paramhs.core.several_costs import costs_named
from paramhs.core.space import Config, Space
from paramhs.core.space.nearest import rounded, switched_off
from paramhs.core.space.objects import plain
from paramhs.core.text.quoting import short

CostName = Literal[
    "minimise",
    "maximise",
    "minimize",
    "maximize",
    "work",
    "runtime",
    "PAR1",
    "PAR2",
    "PAR10",
    "runtime, then minimise",
    "runtime, then maximise",
]
"""Names of costs, as editors complete them; PARk with any other number k works as well."""

COSTS: dict[str, CostMetric] = {
    "minimise": Quality(),
    "maximise": Quality(maximise=True),
    "work": CountedWork(),
    "runtime": Runtime(),
    "runtime, then minimise": RuntimeThenQuality(),
    "runtime, then maximise": RuntimeThenQuality(maximise=True),
    "minimize": Quality(),
    "maximize": Quality(maximise=True),
}
"""Costs that have a name. PARk, the runtime with penalty factor k, is parsed separately."""


USUAL_CAPPING: Kind = "preserving"
"""The capping of costs that grow with time (docs/explanation/capping.md)."""


def cost_named(name: str | CostMetric | Sequence[str], subject_to: object = ()) -> CostMetric:
    """Return the cost metric with this name, or these names; a metric is returned unchanged."""
    if isinstance(name, list | tuple):
        return costs_named(name, subject_to)
    if subject_to:
        raise BadInput(
            "subject_to bounds one of several costs, as in cost=['runtime', 'minimise gap'] with"
            " subject_to='gap <= 0.01'; here there is one cost"
        )
    penalty = re.fullmatch(r"PAR(\d+(?:\.\d+)?)", name) if isinstance(name, str) else None
    if penalty:
        return Runtime(float(penalty[1]))
    metric: CostMetric = chosen(name, COSTS, "cost")
    if isinstance(metric, type) or not isinstance(metric, CostMetric):
        raise BadInput(
            f"{metric!r} is not a cost; there are {', '.join(map(repr, COSTS))}, 'PAR2', and any"
            " object of a subclass of paramhs.core.CostMetric"
        )
    return metric


def capping_named(
    name: str | Capping | None, metric: CostMetric, factor: float | None = None
) -> Capping:
    """Return the capping with this name; for None, the recommended one for the cost."""
    if isinstance(name, Capping):
        return name
    usual = USUAL_CAPPING if metric.grows_with_time else "none"
    return Capping(usual if name is None else name, factor)  # type: ignore[arg-type] # it checks


def scenario_of(
    space: Space | Mapping[str, object],
    instances: Iterable[Any] | Mapping[str, Any] | None,
    metric: CostMetric,
    cutoff: float | str | None,
    deterministic: bool,
) -> Scenario:
    """Build a scenario from the arguments a user passes."""
    return Scenario(
        space if isinstance(space, Space) else Space(space),
        named_instances(instances),
        metric,
        math.inf if cutoff is None else positive_seconds(cutoff, "the cutoff"),
        deterministic,
    )


def configs_of(
    things: Iterable[Config | Mapping[str, object]], space: Space, what: str = "initial"
) -> tuple[Config, ...]:
    """Convert configurations given by the user; an error names the index of the faulty one."""
    configs = []
    if isinstance(things, str | Mapping) or not isinstance(things, Iterable):
        raise BadInput(f"{what} must be a list of configurations, not {short(things)}")
    for index, thing in enumerate(things):
        try:
            if not isinstance(thing, Mapping):
                raise BadInput(f"{short(thing)} is not a dictionary of values")
            values, changes = rounded(space, {name: plain(v) for name, v in thing.items()})
            config = space.config(values)
            idle = switched_off(config, thing, changes)
            if changes:
                told = [*changes.values(), *(f"{name} is inactive then" for name in idle)]
                warnings.warn(
                    f"{what}[{index}] is between levels and was rounded: {', '.join(told)}",
                    ParamhsWarning,
                    stacklevel=3,
                )
            configs.append(config)
        except BadInput as error:
            raise BadInput(f"{what}[{index}]: {error}") from None
    return tuple(configs)


def seed_of(seed: object) -> int:
    """The seed, if it is one; numpy's integers are."""
    number = plain(seed)
    check_seed(number)
    assert isinstance(number, int)  # noqa: S101 -- for the type checker
    return number


def check_seed(seed: object) -> None:
    """Reject anything but an integer of at most 300 digits."""
    if type(seed) is not int:
        raise BadInput(f"seed must be an integer, not {short(seed)}")
    if abs(seed) >= 10**300:
        raise BadInput("seed must be an integer of at most 300 digits")


def path_of(thing: object, what: str) -> Path:
    """Return the path of a file that need not exist."""
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
    """Look up a name; anything but a text is returned unchanged."""
    if not isinstance(choice, str):
        return choice
    if choice not in named:
        known = ", ".join(map(repr, named))
        raise BadInput(f"there is no {what} {choice!r}; there are {known}")
    return named[choice]


def named_instances(instances: Iterable[Any] | Mapping[str, Any] | None) -> tuple[Instance, ...]:
    """Return instances with the names under which their runs are stored."""
    if instances is None:
        return (NO_INSTANCE,)
    if isinstance(instances, str):
        raise BadInput(f"instances must be a list, not the text {short(instances)}")
    instances = plain(instances)  # type: ignore[assignment]  # an array is a list
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
            raise BadInput(
                f"instance {position} has too many digits to serve as a name in the storage"
            ) from None
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        raise BadInput(
            f"instance {position} is a {type(value).__name__}, which has no name that its"
            " runs could be stored under;"
            " give a dictionary {name: instance}"
        ) from None
