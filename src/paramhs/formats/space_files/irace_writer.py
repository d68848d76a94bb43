"""Writer of irace's parameters.txt.

irace's names consist of letters, digits, points and underscores, because they appear in R
expressions. Other names are rewritten; the switch, which is what a target sees, keeps the original.
"""

import re
from collections.abc import Mapping

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import (
    And,
    Compare,
    Expression,
    Member,
    Or,
    Relation,
    cut,
)
from paramhs.core.space.conditions.terms import FUNCTIONS, Calculation, Ref, Term
from paramhs.core.space.literals import Value
from paramhs.core.space.parameters import Integer, Ordinal, Parameter, Real
from paramhs.core.space.space import Space
from paramhs.core.text.quoting import short
from paramhs.formats.space_files.lowering import satisfying
from paramhs.formats.space_files.source_lines import is_listed, written_value

_PLAIN = re.compile(r"(?:[A-Za-z]|\.(?![0-9]))[A-Za-z0-9_.]*+")
_RESERVED = re.compile(
    r"if|else|repeat|while|function|for|next|break|in|TRUE|FALSE|NULL|Inf|NaN|NA(?:_\w+_)?|T|F|c|is\.na"
)
_DECIMALS = 15  # decimal places that irace can store


def written_irace(space: Space, switches: Mapping[str, str]) -> str:
    """Write a space for irace; a missing switch becomes `-name `."""
    return _Writer(space, switches).text()


def irace_names(space: Space) -> dict[str, str]:
    """Name that irace uses for each parameter, usually unchanged."""
    kept = {name for name in space.parameters if _is_plain(name)}
    found: dict[str, str] = {}
    taken = set(kept)
    for name in space.parameters:
        found[name] = name if name in kept else _free(_plainer(name), taken)
        taken.add(found[name])
    return found


def _is_plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and not _RESERVED.fullmatch(name) and name not in FUNCTIONS


def _plainer(name: str) -> str:
    letters = re.sub(r"[^A-Za-z0-9_.]", "_", name)
    return letters if _is_plain(letters) else f"p_{letters}"


def _free(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


class _Writer:
    def __init__(self, space: Space, switches: Mapping[str, str]) -> None:
        self.space = space
        self.switches = switches
        self.names = irace_names(space)

    def text(self) -> str:
        lines = [self._parameter(name, p) for name, p in self.space.parameters.items()]
        if self.space.forbidden:
            lines += ["", "[forbidden]"]
            lines += [self._written(clause) for clause in self.space.forbidden]
        digits = max(_digits(name, p) for name, p in self.space.parameters.items())
        if digits > 4:  # irace's default number of decimal places
            lines += ["", "[global]", f"digits = {digits}"]
        return "\n".join(lines) + "\n"

    def _parameter(self, name: str, parameter: Parameter) -> str:
        kind, values = _domain(name, parameter)
        switch = _quoted(self.switches.get(name, f"-{name} "))
        line = f"{self.names[name]} {switch} {kind} ({values})"
        if name in self.space.conditions:
            line += f" | {self._written(self.space.conditions[name])}"
        return line

    # Expressions in R

    def _written(self, expression: Expression) -> str:
        if isinstance(expression, And | Or):
            joint = " & " if isinstance(expression, And) else " | "
            return joint.join(map(self._part, expression.parts))
        if isinstance(expression, Relation):
            both = (self._term(expression.left), self._term(expression.right))
            return f"{both[0]} {expression.sign} {both[1]}"
        return self._leaf(expression)

    def _part(self, part: Expression) -> str:
        return f"({self._written(part)})" if isinstance(part, And | Or) else self._written(part)

    def _leaf(self, leaf: Compare | Member) -> str:
        name, parameter = leaf.name, self.space.parameters[leaf.name]
        if isinstance(leaf, Compare) and isinstance(leaf.other, Ref):
            return self._relation(leaf, leaf.other.name)
        if is_listed(parameter):
            values = satisfying(leaf, name, parameter)
            if not values:
                raise BadInput(f"irace cannot express '{cut(leaf)}', which never holds")
            return self._in(name, [_quoted(written_value(value)) for value in values])
        if isinstance(leaf, Member):
            return self._in(name, [_number(value) for value in leaf.values])
        return f"{self.names[name]} {leaf.sign} {_number(leaf.other)}"

    def _in(self, name: str, values: list[str]) -> str:
        if not values:
            raise BadInput(f"irace cannot express an empty set of values of {name}")
        if len(values) == 1:
            return f"{self.names[name]} == {values[0]}"
        return f"{self.names[name]} %in% c({', '.join(values)})"

    def _relation(self, leaf: Compare, other: str) -> str:
        for name in (leaf.name, other):
            self._check_number(name, leaf)
        return f"{self.names[leaf.name]} {leaf.sign} {self.names[other]}"

    def _check_number(self, name: str, part: object) -> None:
        if is_listed(self.space.parameters[name]):
            raise BadInput(f"irace compares only numbers with each other: '{part}'")

    def _term(self, term: Term) -> str:
        if isinstance(term, Ref):
            self._check_number(term.name, term)
            return self.names[term.name]
        if not isinstance(term, Calculation):
            return f"({term!r})" if term < 0 else repr(term)
        parts = list(map(self._term, term.parts))
        if term.sign in FUNCTIONS:
            return f"{term.sign}({', '.join(parts)})"
        sign = "%%" if term.sign == "%" else term.sign
        return f"({f' {sign} '.join(parts)})"


def _digits(name: str, parameter: Parameter) -> int:
    """Number of decimal places of the bounds of a real range."""
    if not isinstance(parameter, Real):
        return 0
    ends = (parameter.low, parameter.high)
    for end in ends:
        if abs(round(end, _DECIMALS) - end) > 1e-9 * abs(end):
            raise BadInput(
                f"irace keeps at most {_DECIMALS} decimal places, too few for {end!r} of {name}"
            )
    return max(len(f"{end:.{_DECIMALS}f}".rstrip("0").partition(".")[2]) for end in ends)


def _domain(name: str, parameter: Parameter) -> tuple[str, str]:
    if is_listed(parameter):
        kind = "o" if isinstance(parameter, Ordinal) else "c"
        texts = [_quoted(written_value(parameter.value(i))) for i in range(parameter.levels)]
        return kind, ", ".join(texts)
    assert isinstance(parameter, Integer | Real)  # noqa: S101 -- for the type checker
    if isinstance(parameter, Integer) and parameter.step > 1:
        raise BadInput(f"irace cannot express the step of {name}: {parameter.step}")
    if isinstance(parameter, Integer) and max(-parameter.low, parameter.high) >= 2**31:
        raise BadInput(f"R's integers end at 2147483647, but {name} exceeds it")
    kind = "i" if isinstance(parameter, Integer) else "r"
    return kind + ",log" * parameter.log, f"{parameter.low!r}, {parameter.high!r}"


def _quoted(text: str) -> str:
    if re.search(r'["\\#|\n\r]', text):
        raise BadInput(f'irace cannot express {short(text)}, which contains one of " \\ # |')
    return f'"{text}"'


def _number(value: Value | Ref) -> str:
    return repr(value)
