"""Spaces rebuilt from their descriptions: the inverse of `Space.describe`."""

from collections.abc import Callable, Mapping
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.space.number_list import NumberList
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


def _parameter(described: Mapping[str, Any]) -> Parameter:
    facts = dict(described)
    kind = facts.pop("type")
    if kind == "boolean":
        del facts["values"]
    digests = facts.pop("objects", {})
    found = _KINDS[kind](**facts)
    if isinstance(found, Categorical | Ordinal):
        found.object_digests = {str(name): str(digest) for name, digest in digests.items()}
    return found
