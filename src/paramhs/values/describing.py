"""What defines the answers of a target, a metric, an operator: by value, in JSON types.

A store keeps runs for as long as they mean the same. So what it is asked about must say what it is
in a way that two different things never share: a dataclass by its fields, a function by its name
and by the values it is bound to, anything else by a method `describe` of its own. What can say
neither is refused, rather than taken for another.
"""

import hashlib
import inspect
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

from paramhs.values.errors import BadInput


def description(thing: Any, what: str = "it") -> Any:
    """What a thing is, by value; `BadInput` if it cannot say. `what` names it in messages."""
    return _Describer().of(thing, what)


def own_description(thing: Any, what: str) -> dict[str, Any]:
    """A dataclass by its class and its fields; for a thing that has no better way to say it."""
    return _Describer().dataclass(thing, what)


def digest(data: bytes | str) -> str:
    """A short name for data that is too long to keep."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


class _Describer:
    """One walk through a thing; `inside` are those it is in the middle of, so that it ends."""

    def __init__(self) -> None:
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
        if not isinstance(thing, type) and callable(getattr(thing, "describe", None)):
            named = thing if isinstance(thing, FunctionType) else type(thing)
            return {"kind": _name(named), **thing.describe()}
        for kind, describe in _KINDS:
            if isinstance(thing, kind):
                return describe(self, thing, what)
        if hasattr(thing, "tobytes") and hasattr(thing, "dtype"):
            return {"array": digest(thing.tobytes()), "type": f"{thing.dtype} {thing.shape}"}
        return self.dataclass(thing, what)

    def dataclass(self, thing: Any, what: str) -> dict[str, Any]:
        if not is_dataclass(thing):
            raise BadInput(
                f"{what} is a {_name(type(thing))}, which does not say what defines its answers, so"
                " stored runs could be taken for those of another: make it a dataclass, give it a"
                " method describe() that returns JSON types, or do without a store"
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
        """Its name, and what it is bound to; what has no name of its own, by its code."""
        details: dict[str, Any] = {}
        if "<lambda>" in function.__qualname__:
            details["code"] = source_digest(function)
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


def source_digest(function: Callable[..., Any]) -> str:
    """A digest of a function's code; empty if that cannot be read."""
    try:
        return digest(inspect.getsource(function).encode("utf-8", "replace"))
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return digest(code.co_code + repr(code.co_consts).encode()) if code else ""


def _name(thing: Any) -> str:
    """`module:name`; without the module where that is the program itself, whatever runs it, or
    one of ours, wherever it lies."""
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
