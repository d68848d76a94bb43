"""Spaces rebuilt from their descriptions: the inverse of `Space.describe`."""

from ast import literal_eval
from collections.abc import Callable, Mapping
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.space.number_list import NumberList
from paramhs.core.space.objects import MAX_NAME, digests_of
from paramhs.core.space.parameters import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from paramhs.core.space.space import Space
from paramhs.core.text.quoting import short

_KINDS: Mapping[str, Callable[..., Parameter]] = {
    "integer": Integer,
    "real": Real,
    "ordinal": Ordinal,
    "categorical": Categorical,
    "boolean": Boolean,
    "numbers": NumberList,
}


def space_of(described: Mapping[str, Any]) -> Space:
    """Rebuild a space from its description.

    Raises:
        BadInput: The description does not describe a space.
    """
    try:
        return Space(
            {name: _parameter(facts) for name, facts in described["parameters"].items()},
            conditions=described["conditions"],
            forbidden=described["forbidden"],
        )
    except (KeyError, TypeError, AttributeError):
        raise BadInput(f"{short(described)} does not describe a space") from None


def without_objects(space: Space) -> list[str]:
    """Parameters of which a description had names only, where a Python target takes objects."""
    return [
        name
        for name, one in space.parameters.items()
        if isinstance(one, Categorical | Ordinal) and len(one.objects) < len(one.object_digests)
    ]


def _parameter(described: Mapping[str, Any]) -> Parameter:
    facts = dict(described)
    kind = facts.pop("type")
    if kind == "boolean":
        del facts["values"]
    digests = facts.pop("objects", {})
    found = _KINDS[kind](**facts)
    if isinstance(found, Categorical | Ordinal):
        found.object_digests = {str(name): str(digest) for name, digest in digests.items()}
        found.objects = _literals(found) if digests else ()
    return found


def _literals(parameter: Categorical | Ordinal) -> tuple[object, ...]:
    """Objects whose names are their literals, such as None or (64, 32); all of them, or none."""
    found = []
    for name in parameter.values:
        digest = parameter.object_digests.get(str(name))
        for candidate in (name, _literal(name)):
            if digests_of([("", candidate)])[""] == digest:
                found.append(candidate)
                break
        else:
            return ()
    return tuple(found)


def _literal(name: object) -> object:
    try:
        return literal_eval(name) if isinstance(name, str) and len(name) <= MAX_NAME else name
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return name
