"""Runtime checks of field types, for dataclasses rebuilt from a file."""

from collections.abc import Collection
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

MAX_COUNT = 2**63  # no count of paramhs reaches it


def check_types(thing: Any, but: Collection[str] = ()) -> None:
    """Raise a `ValueError` for a dataclass with a field of another type than declared.

    Fields that are dataclasses are checked recursively; those named in `but` are skipped.
    """
    hints = get_type_hints(type(thing))
    for field in fields(thing):
        if field.name not in but and not _conforms(getattr(thing, field.name), hints[field.name]):
            raise ValueError(f"{type(thing).__name__} has another kind of {field.name}")


def _conforms(value: Any, hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(_conforms(value, option) for option in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and _conform(value, get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    if hint is float:
        return type(value) is float or _conforms(value, int)
    if hint is int:
        return type(value) is int and abs(value) < MAX_COUNT
    if getattr(hint, "_is_protocol", False):
        return all(hasattr(value, name) for name in vars(hint) if not name.startswith("_"))
    if not isinstance(value, get_origin(hint) or hint):
        return False
    if is_dataclass(value) and is_dataclass(hint):
        check_types(value)
    return True


def _conform(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(_conforms(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(_conforms, values, hints))
