"""Conditions and forbidden combinations: comparisons joined by `and` and `or`.

Written as text, `mode in {a, b} and (k > 3 or rho < alpha)`, or built from the classes below; the
text is parsed, never evaluated. A bare word on the right of a comparison is a parameter if there is
one of that name, else a value; quotes make it a value, backquotes a parameter, whatever is in its
name. A comparison that mentions an inactive parameter is false.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from paramhs.values.errors import BadInput
from paramhs.values.space.parameters import Boolean, Integer, Ordinal, Parameter, Real
from paramhs.values.space.values import Value, value_text

Test = Callable[[Sequence[int]], bool]
"""Whether an expression holds, given one index a parameter (-1 where inactive)."""

_NOWHERE = -2  # no parameter's index: not a value's, nor the -1 of an inactive one

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Ref:
    """Another parameter, on the right of a comparison."""

    name: str


@dataclass(frozen=True)
class Compare:
    """A parameter against a value or another parameter: `==`, `!=`, `<`, `<=`, `>` or `>=`."""

    name: str
    sign: str
    other: Value | Ref

    def __str__(self) -> str:
        other = _name(self.other.name) if isinstance(self.other, Ref) else _quoted(self.other)
        return f"{_name(self.name)} {self.sign} {other}"

    def __post_init__(self) -> None:
        if self.sign not in _COMPARISONS:
            raise BadInput(f"{self.sign!r} is not one of {', '.join(_COMPARISONS)}")


@dataclass(frozen=True)
class Member:
    """A parameter having one of several values."""

    name: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{_name(self.name)} in {{{', '.join(map(_quoted, self.values))}}}"


@dataclass(frozen=True)
class And:
    """All parts hold."""

    parts: tuple["Expression", ...]

    def __str__(self) -> str:
        return " and ".join(f"({p})" if isinstance(p, And | Or) else str(p) for p in self.parts)


@dataclass(frozen=True)
class Or:
    """At least one part holds."""

    parts: tuple["Expression", ...]

    def __str__(self) -> str:
        return " or ".join(f"({p})" if isinstance(p, Or) else str(p) for p in self.parts)


Leaf = Compare | Member
Expression = Leaf | And | Or


def names(expression: Expression) -> Iterator[str]:
    """The parameters an expression mentions."""
    if isinstance(expression, And | Or):
        for part in expression.parts:
            yield from names(part)
        return
    yield expression.name
    if isinstance(expression, Compare) and isinstance(expression.other, Ref):
        yield expression.other.name


def compiled(
    expression: Expression,
    parameters: Mapping[str, Parameter],
    place: Mapping[str, int] | None = None,
) -> Test:
    """A fast test of the expression; `BadInput` where it makes no sense for these parameters.

    `place` says where each parameter's index is; whoever compiles many expressions has it.
    """
    for name in names(expression):
        if name not in parameters:
            raise BadInput(f"'{expression}' mentions {name!r}, which is not a parameter")
    try:
        if place is None:
            place = {name: i for i, name in enumerate(parameters)}
        return _compiled(expression, parameters, place)
    except BadInput as error:
        raise BadInput(f"in '{expression}': {error}") from None


def _compiled(
    expression: Expression, parameters: Mapping[str, Parameter], place: Mapping[str, int]
) -> Test:
    if isinstance(expression, And):
        tests = [_compiled(part, parameters, place) for part in expression.parts]
        return lambda indices: all(test(indices) for test in tests)
    if isinstance(expression, Or):
        tests = [_compiled(part, parameters, place) for part in expression.parts]
        return lambda indices: any(test(indices) for test in tests)
    at = place[expression.name]
    parameter = parameters[expression.name]
    if isinstance(expression, Member):
        members = frozenset(_index(parameter, value) for value in expression.values)
        return lambda indices: indices[at] in members
    if isinstance(expression.other, Ref):
        return _relation(expression, parameter, parameters[expression.other.name], place)
    return _against_value(expression.sign, expression.other, parameter, at)


def _against_value(sign: str, value: Value, parameter: Parameter, at: int) -> Test:
    compare = _COMPARISONS[sign]
    if sign in ("==", "!=") or not parameter.numeric:
        if sign not in ("==", "!=") and not parameter.ordered:
            raise BadInput(f"categories have no order, so {sign!r} means nothing; use == or in")
        index = _index(parameter, value)
        return lambda indices: indices[at] >= 0 and compare(indices[at], index)
    if isinstance(value, bool | str):
        raise BadInput(f"{value!r} is not a number")
    return lambda indices: indices[at] >= 0 and compare(parameter.value(indices[at]), value)


def _index(parameter: Parameter, value: Value) -> int:
    """The index of a value; what looks like a number or a truth value may also be a text.

    A number within the range that is not on the grid is a value nobody ever has.
    """
    try:
        return parameter.index(value)
    except BadInput as error:
        if _is_between_levels(parameter, value):
            return _NOWHERE
        try:
            return parameter.index(value_text(value))
        except BadInput:
            raise error from None


def _is_between_levels(parameter: Parameter, value: Value) -> bool:
    if isinstance(value, bool | str) or not isinstance(parameter, Real | Integer):
        return False
    if isinstance(parameter, Integer) and not (parameter.log and float(value).is_integer()):
        return False
    return parameter.low <= value <= parameter.high


def _relation(
    expression: Compare, left: Parameter, right: Parameter, place: Mapping[str, int]
) -> Test:
    compare = _COMPARISONS[expression.sign]
    assert isinstance(expression.other, Ref)  # noqa: S101 -- for the type checker
    at, other = place[expression.name], place[expression.other.name]
    if expression.sign not in ("==", "!="):
        for parameter in (left, right):
            if not _has_numbers(parameter):
                raise BadInput(
                    f"{expression.sign!r} between parameters needs numbers on both sides"
                )
    return lambda indices: (
        indices[at] >= 0
        and indices[other] >= 0
        and compare(left.value(indices[at]), right.value(indices[other]))
    )


def _has_numbers(parameter: Parameter) -> bool:
    if isinstance(parameter, Ordinal):
        return all(isinstance(v, int | float) for v in parameter.values)
    return parameter.numeric


# The grammar: either := both ("or" both)*, both := atom ("and" atom)*,
# atom := "(" either ")" | name "in" "{" value ("," value)* "}" | name sign (value | name).

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>`[^`]+`)
      | (?P<text>"(?:[^"\\]|\\.)*"|'[^']*')
      | (?P<sign>==|!=|<=|>=|<|>|=)
      | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.:@/-]))
      | (?P<word>[\w@][\w.:@/-]*)
      | (?P<mark>[(){},\[\]]|&&|\|\|)
    )""",
    re.VERBOSE,
)


def parse(text: str, parameters: Mapping[str, object]) -> Expression:
    """The expression a text stands for; `BadInput` names the column of what is wrong."""
    try:
        return _Parser(text, parameters).whole()
    except RecursionError:
        raise BadInput(f"{text[:40]!r}...: parentheses are nested too deeply") from None


class _Parser:
    def __init__(self, text: str, parameters: Mapping[str, object]) -> None:
        self.text = text
        self.parameters = parameters
        self.tokens = list(self._tokens())
        self.next = 0

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        position = 0
        while position < len(self.text.rstrip()):
            match = _TOKEN.match(self.text, position)
            if not match or match.lastgroup is None:
                blank = len(self.text[position:]) - len(self.text[position:].lstrip())
                self._fail("a comparison", position + blank)
            yield match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
            position = match.end()
        yield "end", "the end", len(self.text)

    def _fail(self, expected: str, column: int) -> NoReturn:
        found = self.text[column : column + 20] or "the end"
        raise BadInput(
            f"in {self.text!r}, column {column + 1}: expected {expected}, found {found!r}"
        )

    def _peek(self, *words: str) -> bool:
        return self.tokens[self.next][1] in words and self.tokens[self.next][0] != "text"

    def _take(self, *words: str) -> bool:
        found = self._peek(*words)
        self.next += found
        return found

    def _expect(self, expected: str, *kinds: str) -> tuple[str, str]:
        kind, text, column = self.tokens[self.next]
        if kind not in kinds:
            self._fail(expected, column)
        self.next += 1
        return kind, text

    def _demand(self, *marks: str) -> None:
        if not self._take(*marks):
            self._fail(f"{marks[0]!r}", self.tokens[self.next][2])

    def whole(self) -> Expression:
        expression = self._either()
        self._expect("'and', 'or' or the end", "end")
        return expression

    def _either(self) -> Expression:
        parts = [self._both()]
        while self._take("or", "||"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self) -> Expression:
        parts = [self._atom()]
        while self._take("and", "&&"):
            parts.append(self._atom())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _atom(self) -> Expression:
        if self._take("("):
            inner = self._either()
            self._demand(")")
            return inner
        column = self.tokens[self.next][2]
        _, name = self._expect("a parameter's name", "word", "text", "quoted")
        name = self._unquoted(name)
        if name not in self.parameters:
            self._fail("a parameter's name", column)
        if self._take("in"):
            return Member(name, self._values())
        if self._is_said_alone(name):
            return Compare(name, "==", True)
        _, sign = self._expect("==, !=, <, <=, >, >= or in", "sign")
        return Compare(name, "==" if sign == "=" else sign, self._right())

    def _is_said_alone(self, name: str) -> bool:
        """Whether a boolean stands by itself, meaning that it is true."""
        ends = self.tokens[self.next][0] == "end" or self._peek("and", "or", "&&", "||", ")")
        return ends and isinstance(self.parameters[name], Boolean)

    def _values(self) -> tuple[Value, ...]:
        self._demand("{", "[", "(")
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        self._demand("}", "]", ")")
        return tuple(values)

    def _right(self) -> Value | Ref:
        kind, word, column = self.tokens[self.next]
        name = word.strip("`") if kind == "quoted" else word
        if kind in ("word", "quoted") and name in self.parameters:
            self.next += 1
            return Ref(name)
        if kind == "quoted":
            self._fail("a parameter's name", column)
        return self._value()

    def _value(self) -> Value:
        kind, text = self._expect("a value", "text", "number", "word")
        if kind == "number":
            return float(text) if re.search(r"[.eE]", text) else int(text)
        if kind == "word" and text in ("true", "True", "false", "False"):
            return text in ("true", "True")
        return self._unquoted(text)

    def _unquoted(self, text: str) -> str:
        if text.startswith('"'):
            try:
                return str(json.loads(text))
            except json.JSONDecodeError:
                self._fail("a text in double quotes as JSON has it", self.tokens[self.next - 1][2])
        return text[1:-1] if text.startswith(("'", "`")) else text


def _quoted(value: Value) -> str:
    return json.dumps(value) if isinstance(value, str) else value_text(value)


def _name(name: str) -> str:
    match = _TOKEN.fullmatch(name)
    bare = match and match.lastgroup == "word" and name not in ("and", "or", "in")
    return name if bare else f"`{name}`"
