"""Descriptions of targets, metrics and operators by value, in JSON types.

A storage keeps runs for as long as they mean the same. Everything that defines their meaning must
therefore describe itself in a form that people can read and compare: a dataclass by its fields, a
function by its name and the values bound to it, anything else by a method `describe`. An object
that offers neither is rejected, or described by its class where its identity is stored as well
(`core/identity/`).
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.identity.bytecode import code_text
from paramhs.core.identity.walk import said

IMPORTED = "imported"
"""Key in the description of a target whose runs another configurator has made."""


def description(thing: Any, what: str = "it") -> Any:
    """Describe an object by value; `what` names it in messages.

    Raises:
        BadInput: The object cannot describe itself.
    """
    return _Describer().of(thing, what)


def outline(thing: Any, what: str = "it") -> Any:
    """Describe an object whose identity is stored as well, without ever failing.

    An object that cannot describe itself is described by its class, and an anonymous function by
    its name alone.
    """
    return _Describer(strict=False).of(thing, what)


def own_description(thing: Any, what: str) -> dict[str, Any]:
    """Describe a dataclass by its class and its fields."""
    return _Describer(strict=False).dataclass(thing, what)


def digest(data: bytes | str) -> str:
    """Short hexadecimal digest that stands for data too long to keep."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


class _Describer:
    """Recursive description of one object.

    `inside` holds the ids of the objects being described, so that a reference cycle ends.
    """

    def __init__(self, strict: bool = True) -> None:
        self.strict = strict
        self.inside: set[int] = set()

    def of(self, thing: Any, what: str) -> Any:
        if id(thing) in self.inside:
            return "itself"
        self.inside.add(id(thing))
        try:
            return self._of(thing, what)
        finally:
            self.inside.discard(id(thing))

    def _of(self, thing: Any, what: str) -> Any:
        if thing is None or (isinstance(thing, bool | int | str) and not isinstance(thing, Enum)):
            return thing
        if isinstance(thing, float):
            return thing if math.isfinite(thing) else repr(thing)
        told = said(thing)
        if told is not None:
            named = thing if isinstance(thing, FunctionType) else type(thing)
            return {"kind": _name(named), **told}
        for kind, describe in _KINDS:
            if isinstance(thing, kind):
                return describe(self, thing, what)
        if hasattr(thing, "tobytes") and hasattr(thing, "dtype"):
            return {"array": self.array(thing, what), "type": f"{thing.dtype} {thing.shape}"}
        return self.dataclass(thing, what)

    def array(self, array: Any, what: str) -> Any:
        """Describe the content of an array; an array of objects element by element."""
        if getattr(array.dtype, "hasobject", False):
            return self.many(array.ravel().tolist(), what)
        return digest(array.tobytes())

    def dataclass(self, thing: Any, what: str) -> dict[str, Any]:
        """Describe a dataclass by its fields."""
        if not is_dataclass(thing):
            if not self.strict:
                return {"kind": _name(type(thing))}
            raise BadInput(
                f"{what} is a {_name(type(thing))}, which does not say what defines it, so stored"
                " runs could be taken for those of another: make it a dataclass, give it a method"
                " describe() that returns JSON types, or do without a store"
            )
        values = {f.name: getattr(thing, f.name) for f in fields(thing)}
        return {"kind": _name(type(thing)), **self.named(values, what)}

    def named(self, values: Mapping[str, Any], what: str) -> dict[str, Any]:
        return {name: self.of(value, f"{what}'s {name}") for name, value in values.items()}

    def many(self, things: Any, what: str) -> list[Any]:
        return [self.of(thing, f"{what}[{k}]") for k, thing in enumerate(things)]

    def unordered(self, things: AbstractSet[Any], what: str) -> list[Any]:
        return sorted(self.many(things, what), key=lambda x: json.dumps(x, sort_keys=True))

    def mapping(self, things: Mapping[Any, Any], what: str) -> dict[str, Any]:
        return {
            name if isinstance(name, str) else json.dumps(self.of(name, what)): self.of(
                thing, f"{what}[{name!r}]"
            )
            for name, thing in things.items()
        }

    def function(self, function: FunctionType, what: str) -> Any:
        """Describe a function by its name and the values bound to it."""
        details: dict[str, Any] = {}
        if self.strict and "<lambda>" in function.__qualname__:
            details["code"] = digest(code_text(function.__code__))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        bound = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        values = {**bound, **_defaults(function)}
        if values:
            details["bound"] = self.named(values, what)
        return {"function": _name(function), **details} if details else _name(function)

    def method(self, method: MethodType, what: str) -> Any:
        return {"method": method.__func__.__qualname__, "of": self.of(method.__self__, what)}

    def partial(self, call: "partial[Any]", what: str) -> Any:
        return {
            "partial": self.of(call.func, what),
            "arguments": self.many(call.args, f"{what}'s arguments"),
            "named": self.mapping(call.keywords, f"{what}'s arguments"),
        }


_KINDS: tuple[tuple[Any, Callable[[_Describer, Any, str], Any]], ...] = (
    (Enum, lambda self, thing, what: {"kind": _name(type(thing)), "name": thing.name}),
    (PurePath, lambda self, thing, what: str(thing)),
    (bytes | bytearray, lambda self, thing, what: {"bytes": digest(bytes(thing))}),
    (range | complex, lambda self, thing, what: repr(thing)),
    (type | ModuleType | BuiltinFunctionType, lambda self, thing, what: _name(thing)),
    (FunctionType, _Describer.function),
    (MethodType, _Describer.method),
    (partial, _Describer.partial),
    (list | tuple, _Describer.many),
    (AbstractSet, _Describer.unordered),
    (Mapping, _Describer.mapping),
)


def _name(thing: Any) -> str:
    """Return `module:name`, or the name alone for the main program and for paramhs itself."""
    module = getattr(thing, "__module__", None) or ""
    name = getattr(thing, "__qualname__", None) or thing.__name__
    bare = module in ("", "__main__", "__mp_main__", "builtins") or module.startswith("paramhs.")
    return name if bare else f"{module}:{name}"


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _defaults(function: FunctionType) -> dict[str, Any]:
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = function.__defaults__ or ()
    named = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
    return {**named, **(function.__kwdefaults__ or {})}
