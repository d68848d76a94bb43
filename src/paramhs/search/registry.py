"""Registry of every part of a search.

`configurator=` and scenario files find parts here by name, stored searches are rebuilt from it, and
tests check every part in it with its conformance suite. `register` adds another one.
"""

import inspect
from abc import ABCMeta
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

from paramhs.core.description import description
from paramhs.core.errors import BadInput
from paramhs.core.type_checks import check_types
from paramhs.search import comparison, configurators, operators
from paramhs.search.configurators import Configurator
from paramhs.search.model.model import ByNoise, GaussianProcess, MainEffects, Model

ConfiguratorName = Literal["paramhs", "paramhs-plain", "paramils", "paramrls", "race", "random"]
"""Names of our configurators, as editors complete them."""

_ROLES: dict[str, tuple[type, ...]] = {
    "name": (Configurator,),
    "moves": (operators.Operator, operators.Learner),
    "step": (operators.Step,),
    "model": (Model,),
    "comparison": (comparison.Comparison,),
    "walk": (configurators.Walk,),
}
"""Settings of a scenario file that name a part, with the base classes of such parts."""

NAMED: dict[str, dict[str, Any]] = {role: {} for role in _ROLES}
"""Named parts, by the setting that names them."""
CONFIGURATORS: dict[str, Configurator] = NAMED["name"]
"""All configurators that have a name."""
CLASSES: dict[str, type] = {}
"""Classes of all parts, by the `kind` in their description."""

_SETTINGS: dict[type, Collection[str]] = {}
"""Fields that a scenario file may set, for parts where these are not all."""


def register(part: Any, name: str = "", settings: Collection[str] | None = None) -> None:
    """Add a part: an object, or a class whose arguments a scenario file must give.

    Without a name, the part can be given in Python only. `settings` are the fields of the part
    that a scenario file may set; all if left out. A part of your own replaces one of the same name,
    as when a cell of a notebook is run again, but none of ours.

    Args:
        part: The part, or a class whose arguments a scenario file must give.
        name: Name in scenario files and for `configurator=`.
        settings: Fields that a scenario file may set. Left out: all.

    Returns:
        Nothing.

    Examples:
        >>> from paramhs.search import ParamHS, SeveralParameters, register
        >>> register(ParamHS(SeveralParameters()), "my-search")
    """
    made = _class_of(part)
    role = _role_of(made)
    if role is None:
        raise BadInput(f"{made.__name__} is not a part: it derives from none of {_bases()}")
    if isinstance(made, ABCMeta) and made.__abstractmethods__:
        missing = min(made.__abstractmethods__)
        raise BadInput(f"{made.__name__} is not finished: it has no method {missing}")
    if name and role == "name":
        configurators.check_configurator(part)
    kind = description(made)
    for known, new in ((CLASSES.get(kind, made), made), (NAMED[role].get(name, part), part)):
        if known != new and _class_of(known).__module__.startswith("paramhs."):
            raise BadInput(f"{name or kind} is the name of another part, {known}")
    CLASSES[kind] = made
    if settings is not None:
        _SETTINGS[made] = settings
    if name:
        NAMED[role][name] = part


def _class_of(part: Any) -> type:
    return part if isinstance(part, type) else type(part)


def _bases() -> str:
    return ", ".join(base.__name__ for bases in _ROLES.values() for base in bases)


def _role_of(made: type) -> str | None:
    return next((role for role, bases in _ROLES.items() if issubclass(made, bases)), None)


for _name, _part in {
    "paramhs": configurators.ParamHS(),
    "paramhs-plain": configurators.ParamHS(operators.SeveralParameters()),
    "paramrls": configurators.ParamRLS(),
    "paramils": configurators.ParamILS(),
    "race": configurators.IteratedRace(),
    "random": configurators.ParamHS(operators.UniformRandom()),
    "one": operators.OneParameter(),
    "several": operators.SeveralParameters(),
    "both sides": operators.BothSides(),
    "harmonic": operators.Harmonic(),
    "uniform": operators.Uniform(),
    "l-step": operators.LStep(),
    "growing": comparison.Growing(),
    "focused": comparison.Focused(),
    "fixed": comparison.FixedRuns(),
    "fresh": comparison.FreshRuns,
    "by noise": ByNoise(),
    "gaussian process": GaussianProcess(),
    "undiscovered": configurators.TabuWalk(),
    "afresh": configurators.RestartWalk(),
}.items():
    register(_part, _name)
register(configurators.FrontSearch())
register(MainEffects(), "main effects", settings=())
# Its `candidates` differ from those of a race.
register(operators.Learned(), "learned", settings=())
for _part in (operators.UniformRandom, operators.Narrowing):
    register(_part)


# Configurators from the settings of scenario files


def _parts_of(part: Any) -> dict[str, Any]:
    """Parts of a part, by the names of its fields."""
    names = (field.name for field in fields(part)) if is_dataclass(part) else ()
    values = {name: getattr(part, name, None) for name in names}
    return {name: value for name, value in values.items() if _role_of(type(value))}


def settings_of(part: Any) -> list[str]:
    """Fields of a part that a scenario file may set, except its own parts."""
    names = [field.name for field in fields(part)] if is_dataclass(part) else []
    return [name for name in _SETTINGS.get(_class_of(part), names) if name not in _parts_of(part)]


def configurator_of(settings: Mapping[str, Any]) -> Configurator:
    """Build the configurator of these settings; the rest is as in the named one.

    Other moves keep the step. A setting that no part uses is rejected.
    """
    unused = dict(settings)
    made: Configurator = _configured(CONFIGURATORS[unused.pop("name", "paramhs")], unused)
    if unused:
        names = ", ".join(sorted(unused))
        raise BadInput(f"{names}: without effect beside the other settings here")
    return made


def _configured(part: Any, unused: dict[str, Any]) -> Any:
    """Apply the settings that a part has, and remove them from the dictionary."""
    changes = {name: unused.pop(name) for name in settings_of(part) if name in unused}
    for name, inner in _parts_of(part).items():
        changes[name] = _configured(_chosen(inner, unused), unused)
    if isinstance(part, type):
        return _made(part, changes)
    return replace(part, **changes) if changes else part


def _chosen(now: Any, unused: dict[str, Any]) -> Any:
    """Part that the settings name in place of this one.

    A part without a name, such as the moves of random search, cannot be replaced.
    """
    role = _role_of(type(now)) or ""
    named = NAMED[role]
    if role not in unused or type(now) not in map(type, named.values()):
        return now
    part, inner = named[unused.pop(role)], _parts_of(now)
    kept = {name: inner[name] for name in _parts_of(part) if name in inner}
    return replace(part, **kept) if kept else part


# Configurators from descriptions in stores, whose content is arbitrary

MAX_COUNT = 10_000  # largest count in a part; a larger one takes too long to replay


def rebuilt(described: object) -> Configurator:
    """Rebuild a configurator from its description: the inverse of `description`."""
    made = _rebuilt(described)
    if not isinstance(made, Configurator):
        raise BadInput("it describes no configurator")
    return made


def _rebuilt(described: object) -> Any:
    if not isinstance(described, Mapping):
        return described
    kind = str(described.get("kind"))
    if kind not in CLASSES:
        raise BadInput(
            f"there is no part {kind!r}; if it is one of your own, import it and call"
            " paramhs.search.registry.register on it"
        )
    facts = {name: _rebuilt(value) for name, value in described.items() if name != "kind"}
    if any(type(fact) is int and abs(fact) > MAX_COUNT for fact in facts.values()):
        raise BadInput(f"{kind} has more than {MAX_COUNT:,} of something")
    made = _made(CLASSES[kind], facts)
    try:
        if is_dataclass(made):
            check_types(made)
    except ValueError as error:
        raise BadInput(str(error)) from None
    return made


def _made(kind: type, arguments: Mapping[str, Any]) -> Any:
    needed = inspect.signature(kind).parameters.values()
    missing = [p.name for p in needed if p.default is p.empty and p.name not in arguments]
    if missing:
        raise BadInput(f"{kind.__name__} needs {', '.join(missing)}")
    try:
        return kind(**arguments)
    except TypeError as error:
        raise BadInput(f"{kind.__name__} has changed: {error}") from None
