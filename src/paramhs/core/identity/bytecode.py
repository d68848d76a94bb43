"""Bytecode as text that is equal for equal behaviour.

Bytecode is what runs: it exists where there is no source, it separates lambdas that share a line,
and it does not change when a file is edited after its import. It is the same for all patch releases
of a Python version. Comments, line numbers and file names are not part of it; names, constants and
the code of inner functions are.
"""

import dis
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import resolve_name
from types import CodeType, FunctionType
from typing import Any

_CHANGING = {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop"}
_CHANGING |= {"popitem", "popleft", "remove", "setdefault", "sort", "update"}
"""Methods that change the container they are called on."""
_MAX_DECORATORS = 50


def code_text(code: CodeType) -> str:
    """Return the canonical text of a code object."""
    constants = list(code.co_consts)
    if _has_spare_docstring(code):
        constants[0] = None
    return repr(
        (
            code.co_code.hex(),
            [_constant(constant) for constant in constants],
            code.co_names,
            (code.co_varnames, code.co_freevars, code.co_cellvars),
            (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
            code.co_flags,
            code.co_exceptiontable.hex(),
        )
    )


def _constant(constant: object) -> str:
    if isinstance(constant, CodeType):
        return code_text(constant)
    if isinstance(constant, frozenset):  # its order depends on the process
        return f"frozenset({sorted(map(_constant, constant))})"
    if isinstance(constant, tuple):
        return f"({', '.join(map(_constant, constant))})"
    return f"{type(constant).__name__} {constant!r}"


def _has_spare_docstring(code: CodeType) -> bool:
    """Whether the first constant is a docstring that no instruction loads."""
    if not code.co_consts or not isinstance(code.co_consts[0], str):
        return False
    return all(
        instruction.arg != 0
        for instruction in dis.get_instructions(code)
        if instruction.opcode in dis.hasconst
    )


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of its inner functions, classes and comprehensions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def globals_read(code: CodeType) -> list[str]:
    """List the global names that a code object reads, each once, in order."""
    return list(
        dict.fromkeys(
            instruction.argval
            for inner in codes_in(code)
            for instruction in dis.get_instructions(inner)
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        )
    )


def imports_of(code: CodeType, package: str | None) -> list[str]:
    """List the names of modules that a code object imports when it runs.

    `from a import b` may mean the module `a.b`; a relative name is resolved against the package.
    """
    found: dict[str, None] = {}
    for inner in codes_in(code):
        # Before IMPORT_NAME the compiler pushes the two constants `level` (the number of dots) and
        # `fromlist`, so the two preceding instructions hold them.
        before: list[dis.Instruction] = []
        for instruction in dis.get_instructions(inner):
            if instruction.opname == "IMPORT_NAME":
                level, members = (one.argval for one in before[-2:])
                base = _absolute(instruction.argval, level, package)
                found |= dict.fromkeys([base, *(f"{base}.{name}" for name in members or ())])
            before = [*before[-1:], instruction]
    return [name.strip(".") for name in found if name.strip(".")]


def _absolute(name: str, level: int, package: str | None) -> str:
    try:
        return resolve_name("." * level + name, package)
    except ImportError:
        return name


def globals_changed(names: Mapping[str, Any]) -> frozenset[str]:
    """Global names that functions of a module set or change while they run.

    Such names are state, for example counters and caches, and not part of what a program is.
    Detected are `global` statements, `NAME[key] = value` with a simple key, and calls such as
    `NAME.append`.
    """
    functions = (f for thing in list(names.values()) for f in _functions_in(thing))
    return frozenset(
        name
        for function in functions
        if function.__globals__ is names
        for code in codes_in(function.__code__)
        for name in _changed_by(code)
    )


def _functions_in(thing: object) -> Iterator[FunctionType]:
    """Yield a function, those inside its decorators, and the methods of a class."""
    if isinstance(thing, type):
        for value in vars(thing).values():
            if isinstance(value, FunctionType):
                yield value
        return
    for _ in range(_MAX_DECORATORS):
        if isinstance(thing, FunctionType):
            yield thing
        if not isinstance(inner := getattr(thing, "__dict__", {}).get("__wrapped__"), FunctionType):
            return
        thing = inner


def _changed_by(code: CodeType) -> Iterator[str]:
    # A sliding window over the instructions: `NAME[key] = value` ends with LOAD_GLOBAL NAME, load
    # key, STORE_SUBSCR; `NAME.append(...)` contains LOAD_GLOBAL NAME directly before the lookup of
    # the method. More complex expressions are missed, which makes such a global a value instead of
    # state: a false change is reported, but none is overlooked.
    before: list[dis.Instruction] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("CACHE", "PRECALL", "PUSH_NULL"):
            continue
        if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            yield instruction.argval
        elif instruction.opname in ("STORE_SUBSCR", "DELETE_SUBSCR"):
            yield from _global_names(before[-2:-1])
        elif instruction.argval in _CHANGING and instruction.opname in ("LOAD_METHOD", "LOAD_ATTR"):
            yield from _global_names(before[-1:])
        before = [*before[-1:], instruction]


def _global_names(instructions: Sequence[dis.Instruction]) -> Iterator[str]:
    return (one.argval for one in instructions if one.opname == "LOAD_GLOBAL")
