"""Spaces that people bring: files of parameters, and objects of ConfigSpace and Optuna."""

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paramhs.core.errors import BadInput, ParamhsWarning
from paramhs.core.space import Categorical, Integer, Ordinal, Parameter, Real, Space
from paramhs.core.space.objects import named_objects, plain, position_of
from paramhs.core.text.quoting import short
from paramhs.formats.space_files import read_space
from paramhs.formats.space_files.configspace_reader import read_configspace

AnySpace = Any
"""A `Space`, a dictionary of parameters, a file, or a space of ConfigSpace or Optuna."""


def space_from(thing: AnySpace) -> Space:
    """Convert what the caller passed to a space.

    Args:
        thing: A `Space`; a dictionary of parameters or shorthands, or of distributions of Optuna
            or scipy;
            the path of a parameter file of ParamILS, SMAC, irace or ConfigSpace; or a
            `ConfigSpace.ConfigurationSpace`.

    Returns:
        The space, with the conditions, forbidden clauses, scales and defaults it was given.
    """
    if isinstance(thing, Space):
        return thing
    if isinstance(thing, str | os.PathLike):
        read = read_space(thing)
        for note in read.notes:
            warnings.warn(note, ParamhsWarning, stacklevel=3)
        return read.space
    if _is_from(thing, "ConfigSpace"):
        return _from_configspace(thing)
    if isinstance(thing, Mapping):
        return Space({name: _parameter(name, spec) for name, spec in thing.items()})
    raise BadInput(
        "a space is a dictionary of parameters, a Space, the path of a parameter file or a"
        f" ConfigurationSpace, not {short(thing)}"
    )


def _is_from(thing: object, package: str) -> bool:
    return any(kind.__module__.partition(".")[0] == package for kind in type(thing).__mro__[:-1])


def _from_configspace(space: Any) -> Space:
    """Convert through the JSON that the library writes, which contains the whole space."""
    named: dict[str, dict[str, Any]] = {}
    try:
        document = space.to_serialized_dict()
        for one in document["hyperparameters"]:
            values = one.get("choices") or one.get("sequence") or ()
            names, objects = named_objects(list(map(plain, values)))
            if objects:
                named[one["name"]] = dict(zip(map(str, names), objects, strict=True))
        text = json.dumps(_with_names(document, named))
    except AttributeError:  # before version 1.0
        from ConfigSpace.read_and_write import json as writer

        text = writer.write(space)
    found = read_configspace(Path("ConfigurationSpace"), text, "configspace-json")[0]
    return _with_objects(found, named) if named else found


_VALUES = ("value", "values", "choices", "sequence", "default_value")


def _with_names(item: Any, named: Mapping[str, Mapping[str, Any]]) -> Any:
    """What ConfigSpace has serialised, with names for the values that are objects."""
    if isinstance(item, list | tuple):
        return [_with_names(one, named) for one in item]
    if not isinstance(item, dict):
        return item
    objects = named.get(item.get("parent", item.get("name")) or "")
    return {
        key: _names_of(value, objects) if objects and key in _VALUES else _with_names(value, named)
        for key, value in item.items()
    }


def _names_of(value: Any, objects: Mapping[str, Any]) -> Any:
    """Name of an object, or names of a list of them."""
    at = position_of(plain(value), list(objects.values()))
    if at is not None:
        return list(objects)[at]
    return [_names_of(one, objects) for one in value]


def _with_objects(space: Space, named: Mapping[str, Mapping[str, Any]]) -> Space:
    """The space with objects in place of their names."""
    parameters = dict(space.parameters)
    for name, objects in named.items():
        kind = Ordinal if isinstance(parameters[name], Ordinal) else Categorical
        parameters[name] = kind(objects, default=parameters[name].default)
    return Space(parameters, conditions=space.conditions, forbidden=space.forbidden)


def _parameter(name: object, spec: Any) -> Any:
    """The parameter of a distribution of Optuna or scipy; anything else is left to `Space`."""
    is_scipy = _is_from(spec, "scipy") and hasattr(spec, "dist")
    if not is_scipy and not _is_from(spec, "optuna"):
        return spec
    try:
        return _of_scipy(spec) if is_scipy else parameter_of(spec)
    except BadInput as error:
        raise BadInput(f"parameter {short(name)}: {error}") from None


def _of_scipy(distribution: Any) -> Parameter:
    """The range of a frozen `uniform`, `loguniform` or `randint` of scipy.stats."""
    kind = distribution.dist.name
    low, high = distribution.support()
    if kind == "randint":
        return Integer(int(low), int(high))
    if kind not in ("uniform", "loguniform", "reciprocal"):
        raise BadInput(
            f"the distribution {short(kind)} of scipy has no ends or no equal steps; give a range"
            " such as Real(low, high), Real(low, high, log=True), or a list of values"
        )
    return Real(float(low), float(high), log=kind != "uniform")


def parameter_of(distribution: Any) -> Parameter:
    """The parameter that a distribution of Optuna describes; its default is the middle."""
    if hasattr(distribution, "choices"):
        return Categorical(distribution.choices)
    low, high = distribution.low, distribution.high
    if low == high:
        return Categorical([low])
    step = distribution.step
    if isinstance(low, int):
        log = bool(distribution.log)
        return Integer(low, high, log=True) if log else Integer(low, high, step)
    if step is not None:
        return Real(low, high, round((high - low) / step) + 1)
    return Real(low, high, log=bool(distribution.log))
