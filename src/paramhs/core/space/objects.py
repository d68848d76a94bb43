"""Objects as values: categories that stand for `None`, tuples, functions or classes.

A space keeps names, so that stores, keys and reports have text to show; the target of a search in
Python receives the objects. An object is identified by its content (`paramhs.core.identity`), so a
store notices when a name stands for another object than before.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from paramhs.core.identity import identity_of

MAX_NAME = 60  # characters of the name that is made for an object
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def plain(value: object) -> object:
    """The Python value of a scalar or an array of numpy; anything else is itself."""
    if type(value).__module__.partition(".")[0] != "numpy" or isinstance(value, type):
        return value
    unpacked = getattr(value, "tolist", None)
    return unpacked() if callable(unpacked) else value


def named_objects(values: list[Any]) -> tuple[list[Any], list[Any]]:
    """Names for the values and the objects they stand for; no objects where all are plain.

    Texts and numbers are their own names. A function or class has the name it was defined with, any
    other object its `repr`, without addresses in memory and shortened. Different objects whose
    names would be the same, such as two lambdas, are numbered.
    """
    if all(map(_is_plain, values)):
        return values, []
    names = list(map(_name, values))
    vague = [names[i] for i, value in enumerate(values) if names[i] != _exact_name(value)]
    for name in {name for name in vague if names.count(name) > 1}:
        places = [i for i, other in enumerate(names) if other == name]
        if all(position_of(values[i], values) == i for i in places):
            for number, place in enumerate(places, 1):
                names[place] = f"{name} {number}"
    return names, values


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | str | int) or (isinstance(value, float) and isfinite(value))


def _exact_name(value: object) -> object:
    """A text that tells the object from all others of its type, if it has one."""
    if _is_plain(value):
        return value
    return None if callable(value) else repr(value)


def _name(value: object) -> Any:
    if _is_plain(value):
        return value
    named = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if named is None:
        usual = type(value).__repr__ is object.__repr__
        named = type(value).__qualname__ if usual else repr(value)
    text = _ADDRESS.sub("", str(named)).rpartition("<locals>.")[2].replace("<lambda>", "lambda")
    return text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 3]}..."


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
