"""Spaces that people bring: files of parameters, and objects of ConfigSpace and Optuna."""

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paramhs.core.errors import BadInput, ParamhsWarning
from paramhs.core.space import Categorical, Integer, Parameter, Real, Space
from paramhs.core.space.objects import named_objects
from paramhs.core.text.quoting import short
from paramhs.formats.space_files import read_space
from paramhs.formats.space_files.configspace_reader import read_configspace

AnySpace = Any
"""A `Space`, a dictionary of parameters, a file, or a space of ConfigSpace or Optuna."""


def space_from(thing: AnySpace) -> Space:
    """Convert what the caller passed to a space.

    Args:
        thing: A `Space`; a dictionary of parameters or shorthands, or of Optuna's distributions;
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
    try:
        text = json.dumps(space.to_serialized_dict())
    except AttributeError:  # before version 1.0
        from ConfigSpace.read_and_write import json as writer

        text = writer.write(space)
    except TypeError as error:
        raise BadInput(
            f"a value of the ConfigurationSpace cannot be written as JSON ({error}); give the"
            " parameter as Categorical({name: object})"
        ) from None
    return read_configspace(Path("ConfigurationSpace"), text, "configspace-json")[0]


def _parameter(name: object, spec: Any) -> Any:
    """The parameter of one of Optuna's distributions; anything else is left to `Space`."""
    if not _is_from(spec, "optuna"):
        return spec
    try:
        return parameter_of(spec)
    except BadInput as error:
        raise BadInput(f"parameter {short(name)}: {error}") from None


def parameter_of(distribution: Any) -> Parameter:
    """The parameter that a distribution of Optuna describes; its default is the middle."""
    if hasattr(distribution, "choices"):
        return Categorical(named_objects(list(distribution.choices)))
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
