"""Objects as values: categories that stand for `None`, tuples, functions or classes.

A space keeps names, so that stores, keys and reports have text to show; the target of a search in
Python receives the objects. An object is identified by its content (`paramhs.core.identity`), so a
store notices when a name stands for another object than before.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.identity import identity_of
from paramhs.core.text.quoting import short


def plain(value: object) -> object:
    """The Python value of a scalar or an array of numpy; anything else is itself."""
    if type(value).__module__.partition(".")[0] != "numpy" or isinstance(value, type):
        return value
    unpacked = getattr(value, "tolist", None)
    return unpacked() if callable(unpacked) else value


def named_objects(values: list[Any]) -> Any:
    """The values, under names where some of them are neither texts, numbers nor booleans."""
    if all(isinstance(value, bool | int | float | str) for value in values):
        return values
    names = list(map(_name, values))
    if len(set(map(str, names))) < len(names):
        raise BadInput(f"values must differ, also in writing: {short(names)}")
    return dict(zip(names, values, strict=True))


def _name(value: object) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    named = getattr(value, "__qualname__", None) or repr(value)
    return str(named).rpartition("<locals>.")[2]


def position_of(value: object, objects: Sequence[object]) -> int | None:
    """The position of an object among others, by identity or by type and equality."""
    return next((i for i, one in enumerate(objects) if _is_same(one, value)), None)


def _is_same(one: object, other: object) -> bool:
    try:
        return one is other or (type(one) is type(other) and bool(one == other))
    except Exception:  # whatever the objects' own comparison raises
        return False


def digests_of(objects: Iterable[tuple[str, object]]) -> Mapping[str, str]:
    """A digest of the content of each object, by name."""
    return {name: _digest(thing) for name, thing in objects}


def _digest(thing: object) -> str:
    parts = sorted(identity_of(thing, "the object").parts.items())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
