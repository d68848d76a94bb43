"""Parses the R expressions of irace's files: comparisons, %in%, &, |, ! and parentheses.

The text is parsed, never evaluated. R binds, from tightest: %in%, comparisons, !, & and &&, | and
||. Negation is pushed inwards to the comparisons, which is exact also for R's NA.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from paramhs.values.errors import BadInput
from paramhs.values.space.expressions import Compare, Expression, Member, Ref
from paramhs.values.space.formats.logic import OPPOSITE, Unlike, both, either
from paramhs.values.space.formats.texts import NUMBER, Span, shown, value_on
from paramhs.values.space.parameters import Parameter
from paramhs.values.space.values import Value

_TOKEN = re.compile(
    rf"""\s*(?:
        (?P<text>"[^"]*"|'[^']*')
      | (?P<quoted>`[^`]+`)
      | (?P<number>{NUMBER}(?![\w.]))
      | (?P<word>[A-Za-z._][\w.]*)
      | (?P<mark>%in%|==|!=|<=|>=|<|>|&&?|\|\|?|!|\(|\)|,)
      | (?P<other>\S+)
    )""",
    re.VERBOSE,
)
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_TRUTH = ("TRUE", "FALSE")  # as text, where the parameter has such values


@dataclass(frozen=True)
class _Operand:
    span: Span
    is_name: bool


def parse_r(span: Span, parameters: Mapping[str, Parameter]) -> Expression:
    """The expression written there; `Unlike` where R counts an inactive parameter as true."""
    parser = _Parser(span, parameters)
    expression = parser.either(negated=False)
    if parser.peek() is not None:
        raise parser.error("'&', '|' or the end")
    return expression


class _Parser:
    def __init__(self, span: Span, parameters: Mapping[str, Parameter]) -> None:
        self.span = span
        self.parameters = parameters
        self.tokens = [m for m in _TOKEN.finditer(span.text) if m.lastgroup]
        self.next = 0

    def peek(self) -> str | None:
        """The next token."""
        return self._at(self.next).text if self.next < len(self.tokens) else None

    def error(self, expected: str) -> BadInput:
        """What was expected instead of the next token."""
        found = repr(self.peek()) if self.peek() is not None else "the end"
        place = self._at(self.next)
        raise place.error(f"expected {expected}, found {found}")

    def _at(self, number: int) -> Span:
        if number >= len(self.tokens):
            return self.span.part(len(self.span.text))
        match = self.tokens[number]
        return self.span.group(match, match.lastgroup or "")

    def _take(self, *marks: str) -> str | None:
        token = self.peek()
        if token not in marks or self.tokens[self.next].lastgroup not in ("mark", "word"):
            return None
        self.next += 1
        return token

    def either(self, negated: bool) -> Expression:
        """What is joined by |, or its negation."""
        parts = [self._both(negated)]
        while self._take("|", "||"):
            parts.append(self._both(negated))
        return both(parts) if negated else either(parts)

    def _both(self, negated: bool) -> Expression:
        parts = [self._atom(negated)]
        while self._take("&", "&&"):
            parts.append(self._atom(negated))
        return either(parts) if negated else both(parts)

    def _atom(self, negated: bool) -> Expression:
        if self._take("!"):
            return self._atom(not negated)
        if self._take("("):
            inner = self.either(negated)
            if not self._take(")"):
                raise self.error("')'")
            return inner
        return self._comparison(negated)

    def _comparison(self, negated: bool) -> Expression:
        left = self._operand()
        if self._take("%in%"):
            name = self._named(left)
            listed = [value_on(v.span, name, self.parameters[name]) for v in self._members()]
            values = tuple(dict.fromkeys(listed))
            return Unlike(name, values) if negated else Member(name, values)
        sign = self._take(*OPPOSITE)
        if sign is None:
            raise self.error("a comparison, such as == or %in%")
        right = self._operand()
        if not left.is_name:
            left, right, sign = right, left, _MIRRORED.get(sign, sign)
        name = self._named(left)
        other = self._other(name, sign, right)
        return Compare(name, OPPOSITE[sign] if negated else sign, other)

    def _operand(self) -> _Operand:
        if self.next >= len(self.tokens):
            raise self.error("a parameter's name or a value")
        kind, span = self.tokens[self.next].lastgroup, self._at(self.next)
        if kind in ("mark", "other"):
            raise self.error("a parameter's name or a value")
        self.next += 1
        if kind in ("text", "quoted"):
            inner = Span(span.path, span.line, span.column + 1, span.text[1:-1])
            return _Operand(inner, is_name=kind == "quoted")
        if kind == "number" or (span.text in _TRUTH and span.text not in self.parameters):
            return _Operand(span, is_name=False)
        return _Operand(span, is_name=True)

    def _named(self, operand: _Operand) -> str:
        name = operand.span.text
        if not operand.is_name:
            raise operand.span.error(f"expected a parameter's name, found {name!r}")
        if name not in self.parameters:
            raise operand.span.error(
                f"no parameter is called {name!r}; there are {shown(self.parameters, 8)};"
                " a value must be in quotes, and there is no arithmetic"
            )
        return name

    def _members(self) -> list[_Operand]:
        if not (self.peek() == "c" and self._take("c")):
            return [self._operand()]
        if not self._take("("):
            raise self.error("'('")
        members = [self._operand()]
        while self._take(","):
            members.append(self._operand())
        if not self._take(")"):
            raise self.error("',' or ')'")
        return members

    def _other(self, name: str, sign: str, right: _Operand) -> Value | Ref:
        parameter = self.parameters[name]
        if sign in _MIRRORED and not parameter.numeric:
            raise right.span.error(
                f"{name} has type c or o, whose values R compares by alphabet, not in their order;"
                " use %in%"
            )
        if right.is_name:
            other = self._named(right)
            if self.parameters[other].numeric != parameter.numeric:
                raise right.span.error(f"{name} and {other} cannot be compared: one is no number")
            return Ref(other)
        return right.span.number() if sign in _MIRRORED else value_on(right.span, name, parameter)
