"""Writes irace's parameters.txt."""

import re
from collections.abc import Mapping

from paramhs.values.errors import BadInput
from paramhs.values.space.expressions import And, Compare, Expression, Member, Or, Ref
from paramhs.values.space.formats.simpler import satisfying
from paramhs.values.space.formats.texts import is_listed, written_value
from paramhs.values.space.parameters import Integer, Ordinal, Parameter, Real
from paramhs.values.space.space import Space
from paramhs.values.space.values import Value


def written_irace(space: Space, switches: Mapping[str, str]) -> str:
    """The space as a file for irace; a switch that is not given is empty."""
    lines = [
        _parameter(space, name, p, switches.get(name, "")) for name, p in space.parameters.items()
    ]
    if space.forbidden:
        lines += ["", "[forbidden]"]
        lines += [_written(space, clause) for clause in space.forbidden]
    digits = max(map(_digits, space.listed))
    if digits > 4:  # irace's own number of decimal places
        lines += ["", "[global]", f"digits = {digits}"]
    return "\n".join(lines) + "\n"


def _digits(parameter: Parameter) -> int:
    """Decimal places of the ends of a real range."""
    if not isinstance(parameter, Real):
        return 0
    return max(
        len(f"{end:.15f}".rstrip("0").partition(".")[2]) for end in (parameter.low, parameter.high)
    )


def _parameter(space: Space, name: str, parameter: Parameter, switch: str) -> str:
    if not re.fullmatch(r"[A-Za-z.][\w.]*", name, re.ASCII):
        raise BadInput(f"irace's names have letters, digits, '.' and '_' only: {name!r}")
    kind, values = _domain(name, parameter)
    line = f"{name} {_quoted(switch)} {kind} ({values})"
    if name in space.conditions:
        line += f" | {_written(space, space.conditions[name])}"
    return line


def _domain(name: str, parameter: Parameter) -> tuple[str, str]:
    if is_listed(parameter):
        kind = "o" if isinstance(parameter, Ordinal) else "c"
        texts = [_quoted(written_value(parameter.value(i))) for i in range(parameter.levels)]
        return kind, ", ".join(texts)
    assert isinstance(parameter, Integer | Real)  # noqa: S101 -- for the type checker
    if isinstance(parameter, Integer) and parameter.step > 1:
        raise BadInput(f"irace cannot say that {name} goes in steps of {parameter.step}")
    kind = "i" if isinstance(parameter, Integer) else "r"
    return kind + ",log" * parameter.log, f"{parameter.low!r}, {parameter.high!r}"


def _quoted(text: str) -> str:
    if re.search(r'["\\#|\n\r]', text):
        raise BadInput(f"irace cannot write {text!r}: quotes and the marks \\ # | are not allowed")
    return f'"{text}"'


def _written(space: Space, expression: Expression) -> str:
    """The expression in R."""
    if isinstance(expression, And | Or):
        joint = " & " if isinstance(expression, And) else " | "
        return joint.join(_part(space, part) for part in expression.parts)
    name, parameter = expression.name, space.parameters[expression.name]
    if isinstance(expression, Compare) and isinstance(expression.other, Ref):
        return _relation(space, expression, expression.other.name)
    if is_listed(parameter):
        values = satisfying(expression, name, parameter)
        if not values:
            raise BadInput(f"irace cannot write '{expression}', which never holds")
        return _in(name, [_quoted(written_value(value)) for value in values])
    if isinstance(expression, Member):
        return _in(name, [_number(value) for value in expression.values])
    return f"{name} {expression.sign} {_number(expression.other)}"


def _part(space: Space, part: Expression) -> str:
    return f"({_written(space, part)})" if isinstance(part, And | Or) else _written(space, part)


def _in(name: str, values: list[str]) -> str:
    return f"{name} == {values[0]}" if len(values) == 1 else f"{name} %in% c({', '.join(values)})"


def _number(value: Value | Ref) -> str:
    return repr(value)


def _relation(space: Space, expression: Compare, other: str) -> str:
    for name in (expression.name, other):
        if is_listed(space.parameters[name]):
            raise BadInput(f"irace compares only numbers with each other: '{expression}'")
    return f"{expression.name} {expression.sign} {other}"
