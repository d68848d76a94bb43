"""A space again from what it says of itself: the inverse of `Space.describe`."""

from collections.abc import Callable, Mapping
from typing import Any

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.space.parameters import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from paramhs.values.space.space import Space

_KINDS: Mapping[str, Callable[..., Parameter]] = {
    "integer": Integer,
    "real": Real,
    "ordinal": Ordinal,
    "categorical": Categorical,
    "boolean": Boolean,
}


def space_of(described: Mapping[str, Any]) -> Space:
    """The space that describes itself so; `BadInput` where none does."""
    try:
        return Space(
            {name: _parameter(facts) for name, facts in described["parameters"].items()},
            conditions=described["conditions"],
            forbidden=described["forbidden"],
        )
    except (KeyError, TypeError, AttributeError):
        raise BadInput(f"{short(described)} describes no space") from None


def _parameter(described: Mapping[str, Any]) -> Parameter:
    facts = dict(described)
    kind = facts.pop("type")
    if kind == "boolean":
        del facts["values"]
    return _KINDS[kind](**facts)
