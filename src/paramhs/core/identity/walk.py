"""Walk through a function or an object and everything of the user's that it uses.

| thing | what counts |
|---|---|
| function, lambda | its bytecode, defaults, closure, `__wrapped__`, and the globals it reads |
| own module imported inside a function | its file's code, and the own modules it imports |
| class | its methods, attributes, bases |
| object | its class and its fields (by `__reduce_ex__`, which covers `__dict__` and `__slots__`) |
| with `describe()` | its description and its code, but neither fields nor bound values |
| value | its type and content; an array of objects by its elements |
| own module | the code of its file, and the own modules it imports |
| installed package | its name and version |

"Own" is code that belongs neither to Python, nor to paramhs, nor to site-packages. Each function,
class, module and global value is a separate part, so that a change can be named. No text contains a
memory address or depends on the order of sets: equal things have equal identities in all processes.
"""

import copyreg
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cached_property, partial
from pathlib import PurePath
from random import Random
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from paramhs.core.identity.bytecode import (
    code_text,
    globals_changed,
    globals_read,
    imports_of,
)
from paramhs.core.identity.origin import (
    installed_version,
    is_own,
    module_of,
    name_of,
    own_spec,
)
from paramhs.core.identity.parts import Identity

MAX_PARTS = 2_000
_MAX_VALUE_CHARACTERS = 60  # characters of a value that is kept unhashed
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented))
_SKIPPED = frozenset({"_abc_impl", "__doc__", "__module__", "__qualname__", "__dict__"})
_GENERATED = {"__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__"}
_GENERATED |= {"__hash__", "__setattr__", "__delattr__", "__replace__"}


def identity_of(thing: Any, what: str = "the target", *, by_fields: bool = False) -> Identity:
    """Identify a function or an object by content; `what` names it in messages.

    `by_fields` reads the fields of the object even if it has a method `describe()`.
    """
    walk = _Walk(thing if by_fields else None)
    text = walk.text(thing, what)
    if text[1:-1] not in walk.parts:
        walk.parts[what] = _brief(text)
    code = any(name.startswith(("function ", "class ", "module ")) for name in walk.parts)
    python = {"Python": "{}.{}".format(*sys.version_info)} if code else {}
    return Identity({**python, **walk.parts}, {}, tuple(walk.unknown))


def said(thing: Any) -> Mapping[str, Any] | None:
    """Return what an object says of itself by a method `describe()`; None if it has none."""
    if isinstance(thing, type) or not callable(getattr(thing, "describe", None)):
        return None
    # `describe()` of a pandas or numpy object computes statistics
    if hasattr(thing, "dtypes") or hasattr(thing, "dtype"):
        return None
    found = thing.describe()
    return found if isinstance(found, Mapping) else None


class _Walk:
    def __init__(self, whole: object) -> None:
        self._whole = whole
        self.parts: dict[str, str] = {}
        self.unknown: dict[str, None] = {}
        self._keys: dict[int, str] = {}
        self._kept: list[object] = []  # keeps objects alive, so that no id is used twice
        self._inside: set[int] = set()
        self._state: dict[int, frozenset[str]] = {}

    def text(self, thing: Any, what: str) -> str:
        """Content of an object as text; a reference in angle brackets where it is a part."""
        # The walk is a depth-first traversal of a graph with cycles. An object that became a part
        # is referred to by the name of the part; an object that is still being read is referred to
        # as "<itself>", so that the traversal ends. Ids identify objects, which is safe only
        # because `_kept` and the caller hold every object that has been seen: an id may be reused
        # after its object is freed.
        if type(thing) in _PLAIN:
            return f"{type(thing).__name__} {thing!r}"
        if id(thing) in self._keys:
            return f"<{self._keys[id(thing)]}>"
        if id(thing) in self._inside:
            return "<itself>"
        self._inside.add(id(thing))
        try:
            return self._text(thing, what)
        except RecursionError:
            return self._not_known(thing, f"{what} (nested too deeply)")
        except Exception:  # methods of the user's objects may raise anything
            return self._not_known(thing, what)
        finally:
            self._inside.discard(id(thing))

    def _text(self, thing: Any, what: str) -> str:
        for kind, read in _KINDS:
            if isinstance(thing, kind):
                return read(self, thing, what)
        if hasattr(thing, "tobytes") and hasattr(thing, "dtype") and hasattr(thing, "shape"):
            return self.array(thing, what)
        return self.object(thing, what)

    def _not_known(self, thing: object, what: str) -> str:
        self.unknown[f"{what}: a {name_of(type(thing))}"] = None
        return f"unknown {name_of(type(thing))}"

    def _part(self, kind: str, thing: Any, read: Callable[[], str]) -> str:
        """Register an object as a part under a unique name, and return a reference to it."""
        if len(self.parts) >= MAX_PARTS:
            self.unknown[f"whatever comes after {MAX_PARTS:,} functions, classes and values"] = None
            return f"<{kind} {name_of(thing)}>"
        base = f"{kind} {name_of(thing)}"
        key, count = base, 1
        while key in self.parts:
            count += 1
            key = f"{base} ({count})"
        # The name is registered before the content is read, because recursive functions and modules
        # that import each other refer to themselves while they are read.
        self.parts[key] = ""
        self._keys[id(thing)] = key
        self._kept.append(thing)
        self.parts[key] = digest(read())
        return f"<{key}>"

    # Values

    def many(self, things: Iterable[Any], what: str) -> str:
        return "[" + ", ".join(self.text(thing, what) for thing in things) + "]"

    def mapping(self, things: Mapping[Any, Any], what: str) -> str:
        items = (
            f"{self.text(name, what)}: {self.text(thing, f'{what}[{_brief(repr(name))}]')}"
            for name, thing in list(things.items())
        )
        return f"{self.kind(things, what)} {{{', '.join(items)}}}"

    def sequence(self, things: Any, what: str) -> str:
        return f"{self.kind(things, what)} {self.many(things, what)}"

    def unordered(self, things: AbstractSet[Any], what: str) -> str:
        texts = sorted(self.text(thing, what) for thing in things)
        return f"{self.kind(things, what)} {{{', '.join(texts)}}}"

    def array(self, array: Any, what: str) -> str:
        kind = f"array {array.dtype} {tuple(array.shape)}"
        if getattr(array.dtype, "hasobject", False):
            return f"{kind} {self.many(array.ravel().tolist(), what)}"
        return f"{kind} {hashlib.sha256(array.tobytes()).hexdigest()}"

    def kind(self, thing: Any, what: str) -> str:
        """Text for the class of an object."""
        return self.text(type(thing), what)

    def member(self, member: Enum, what: str) -> str:
        return f"{self.kind(member, what)}.{member.name}"

    def object(self, thing: Any, what: str) -> str:
        """Identify an object by its class and its fields."""
        # Objects whose fields do not define them come first: one that describes itself, a wrapper
        # (of functools.cache or numba) that stands for the function inside, a ctypes object (memory
        # addresses), and a random generator (its state changes with every draw). All others are
        # taken apart as pickle would, which covers __dict__, __slots__, and extension types with a
        # reducer.
        told = None if thing is self._whole else said(thing)
        if told is not None:
            return f"{self.kind(thing, what)} says {self.text(dict(told), what)}"
        inner = getattr(thing, "__wrapped__", None) or getattr(thing, "py_func", None)
        if callable(inner) and not isinstance(thing, type):
            settings: object = getattr(thing, "cache_parameters", dict)()
            return f"{self.kind(thing, what)} of {self.text(inner, what)} {settings}"
        if module_of(type(thing)).partition(".")[0] in ("ctypes", "_ctypes"):
            return self._not_known(thing, what)  # its fields are memory addresses
        if isinstance(thing, Random) or module_of(type(thing)).startswith("numpy.random"):
            return f"{self.kind(thing, what)} in some state"  # its state changes with every draw
        reduce = copyreg.dispatch_table.get(type(thing))
        try:
            reduced = reduce(thing) if reduce else thing.__reduce_ex__(4)
        except Exception:  # the object's own pickling may raise anything
            return self._not_known(thing, what)
        if isinstance(reduced, str):
            return f"{self.kind(thing, what)} {reduced}"
        return self._reduced(thing, reduced, what)

    def _reduced(self, thing: Any, reduced: tuple[Any, ...], what: str) -> str:
        make, arguments, state, items, pairs, *_ = (*reduced, None, None, None, None)
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
            state = {**(state[0] or {}), **state[1]}
        if isinstance(state, dict):
            fresh = {n: v for n, v in state.items() if not _is_cached(type(thing), n)}
            held = ", ".join(f"{n}={self.text(v, f'{what}.{n}')}" for n, v in fresh.items())
        else:
            held = self.text(state, what)
        made = f"{self.kind(thing, what)} {self.text(make, what)} {self.many(arguments, what)}"
        return f"{made} {held} {self.many(items or (), what)} {self.many(pairs or (), what)}"

    # Code

    def function(self, function: FunctionType, what: str) -> str:
        """Identify a function by all it reads; a library function by the version of its package."""
        if not is_own(str(function.__globals__.get("__name__") or "")):
            return self._library_function(function, what)
        return self._part("function", function, lambda: self._own_function(function, what))

    def _library_function(self, function: FunctionType, what: str) -> str:
        self._package(str(function.__globals__.get("__name__")))
        return f"function {function.__code__.co_name} {self._bound(function, what)}"

    def _own_function(self, function: FunctionType, what: str) -> str:
        code = code_text(function.__code__)
        told = said(function)
        if told is not None:
            return f"{code} says {self.text(dict(told), what)}"
        package = function.__globals__.get("__package__")
        imported = self._imported(function.__code__, package)
        return f"{code} {self._bound(function, what)} {self._globals(function)} {imported}"

    def _bound(self, function: FunctionType, what: str) -> str:
        """Defaults, closure, and the function inside a decorator."""
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        closure = [f"{name}={self.text(cell, f'{what} ({name})')}" for name, cell in cells]
        defaults = self.text(function.__defaults__, what)
        named = self.text(function.__kwdefaults__, what)
        inner = self.text(getattr(function, "__wrapped__", None), what)
        return f"{closure} {defaults} {named} {inner}"

    def _globals(self, function: FunctionType) -> str:
        names = function.__globals__
        if id(names) not in self._state:
            self._state[id(names)] = globals_changed(names)
            self._kept.append(names)
        read = [
            name
            for name in globals_read(function.__code__)
            if name in names and not name.startswith("__") and name not in self._state[id(names)]
        ]
        return ", ".join(f"{name}={self._global(function, name)}" for name in read)

    def _global(self, function: FunctionType, name: str) -> str:
        """Register a global value that a function reads, under its name in its module."""
        module = str(function.__globals__.get("__name__") or "")
        key = f"value {name_of(_Named(module, name))}"
        if key in self.parts:
            return f"<{key}>"
        text = self.text(function.__globals__[name], f"{name}, which {function.__qualname__} uses")
        if text[1:-1] in self.parts or len(self.parts) >= MAX_PARTS:
            return text  # it is a part already
        self.parts[key] = _brief(text)
        return f"<{key}>"

    def klass(self, kind: type, what: str) -> str:
        if is_own(module_of(kind)) and kind.__module__ != "builtins":
            return self._part("class", kind, lambda: self._own_class(kind, what))
        self._package(module_of(kind))
        return f"class {name_of(kind)}"

    def _own_class(self, kind: type, what: str) -> str:
        bases = self.many((base for base in kind.__bases__ if base is not object), what)
        if issubclass(kind, Enum):
            members = ", ".join(f"{m.name}={self.text(m.value, what)}" for m in kind)
            return f"{bases} {members} {self._attributes(kind, what, values=False)}"
        return f"{bases} {self._fields(kind, what)} {self._attributes(kind, what)}"

    def _attributes(self, kind: type, what: str, values: bool = True) -> str:
        found = []
        for name, value in sorted(vars(kind).items(), key=lambda item: item[0]):
            if name in _SKIPPED or _is_generated(kind, name, value):
                continue
            if isinstance(value, _CODE) or (values and not name.startswith("__")):
                found.append(f"{name}={self.text(value, f'{what} ({kind.__qualname__}.{name})')}")
        return ", ".join(found)

    def _fields(self, kind: type, what: str) -> str:
        if "__dataclass_fields__" not in vars(kind):
            return ""
        return ", ".join(
            f"{f.name} {f.init} {f.kw_only} {self._default(f, what)}" for f in fields(kind)
        )

    def _default(self, field: Any, what: str) -> str:
        given = field.default if field.default_factory is MISSING else field.default_factory
        return "" if given is MISSING else self.text(given, what)

    def module(self, module: ModuleType, what: str) -> str:
        """Identify a module used as a whole by its file or the version of its package."""
        if not is_own(module.__name__):
            self._package(module.__name__)
            return f"module {module.__name__}"
        return self._part("module", module, lambda: self._own_module(module, what))

    def _own_module(self, module: ModuleType, what: str) -> str:
        source = getattr(module, "__file__", None)
        try:
            with open(source, "rb") as file:  # type: ignore[arg-type]
                code = code_text(compile(file.read(), "", "exec", dont_inherit=True))
        except (OSError, TypeError, ValueError, SyntaxError):
            return self._not_known(module, f"module {module.__name__}")
        used = {module_of(value) for value in vars(module).values()} - {module.__name__, ""}
        own = [sys.modules[name] for name in sorted(used) if name in sys.modules and is_own(name)]
        return f"{code} {self.many(own, what)}"

    def _imported(self, code: CodeType, package: str | None) -> str:
        """Register the own modules that code imports when it runs, and those that they import.

        They are read from their files, because they need not be imported yet.
        """
        names = [name for name in imports_of(code, package) if self._add_file(name)]
        return f"imports {names}" if names else ""

    def _add_file(self, name: str) -> bool:
        """Register a module that may not be imported yet; return whether it is the user's own."""
        found = own_spec(name)
        key = f"imported module {name}"
        if found is None or key in self.parts:
            return found is not None
        self.parts[key] = ""
        with open(str(found.origin), "rb") as file:
            content = file.read()
        try:
            code = compile(content, "", "exec", dont_inherit=True)
        except (ValueError, SyntaxError):  # compiled already
            text = repr(content)
        else:
            text = f"{code_text(code)} {self._imported(code, found.parent)}"
        self.parts[key] = digest(text)
        return True

    def _package(self, module: str) -> None:
        package, version = installed_version(module)
        if package:
            self.parts[f"package {package}"] = version or "unknown version"

    def method(self, method: MethodType, what: str) -> str:
        return f"method {self.text(method.__func__, what)} of {self.text(method.__self__, what)}"

    def built_in(self, function: Any, what: str) -> str:
        owner = getattr(function, "__self__", None)
        if owner is None or isinstance(owner, ModuleType):
            self._package(module_of(function))
            return f"built-in {name_of(function)}"
        return f"built-in {function.__name__} of {self.text(owner, what)}"

    def partial(self, call: "partial[Any]", what: str) -> str:
        given = f"{self.many(call.args, what)} {self.mapping(call.keywords, what)}"
        return f"partial {self.text(call.func, what)} {given}"

    def wrapper(self, thing: Any, what: str) -> str:
        """Identify a property, a class method, or another wrapper of functions."""
        names = ("fget", "fset", "fdel", "func", "__func__")
        inner = [getattr(thing, name, None) for name in names]
        return f"{type(thing).__name__} {self.many(inner, what)}"

    def cell(self, cell: CellType, what: str) -> str:
        try:
            return self.text(cell.cell_contents, what)
        except ValueError:
            return "empty"


class _Named:
    """A global value in the form that `name_of` expects."""

    def __init__(self, module: str, name: str) -> None:
        self.__module__ = module
        self.__qualname__ = name


_WRAPPERS = (property, staticmethod, classmethod, cached_property)
_CODE = (FunctionType, *_WRAPPERS)
_DESCRIPTORS = (
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
_KINDS: tuple[tuple[Any, Callable[[_Walk, Any, str], str]], ...] = (
    (Enum, _Walk.member),
    (type, _Walk.klass),
    (FunctionType, _Walk.function),
    (MethodType, _Walk.method),
    (BuiltinFunctionType | MethodWrapperType, _Walk.built_in),
    (_DESCRIPTORS, lambda self, thing, what: f"descriptor {thing.__qualname__}"),
    (partial, _Walk.partial),
    (_WRAPPERS, _Walk.wrapper),
    (ModuleType, _Walk.module),
    (CellType, _Walk.cell),
    (CodeType, lambda self, thing, what: code_text(thing)),
    (PurePath, lambda self, thing, what: f"path {str(thing)!r}"),
    (list | tuple, _Walk.sequence),
    (AbstractSet, _Walk.unordered),
    (Mapping, _Walk.mapping),
)


def _is_cached(kind: type, name: str) -> bool:
    """Whether a field holds the cached value of a property."""
    return isinstance(getattr(kind, name, None), cached_property)


def _is_generated(kind: type, name: str, value: object) -> bool:
    """Whether `dataclass` generated a method, which the fields then define."""
    return (
        is_dataclass(kind)
        and name in _GENERATED
        and isinstance(value, FunctionType)
        and inspect.unwrap(value).__code__.co_filename == "<string>"
    )


def digest(text: str) -> str:
    """Short hexadecimal digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _brief(text: str) -> str:
    return text if len(text) <= _MAX_VALUE_CHARACTERS and text.isprintable() else digest(text)
