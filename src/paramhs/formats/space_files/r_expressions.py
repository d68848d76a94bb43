"""Parser of R expressions in irace's files: comparisons, %in%, is.na, &, |, ! and arithmetic.

The text is parsed, never evaluated. R's operators bind in this order, from the tightest: ^, a sign,
%in% and %%, * and /, + and -, comparisons, !, & and &&, | and ||. Negation is pushed inwards to the
comparisons, which is exact even for R's NA.
"""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import (
    MAX_DEPTH,
    Compare,
    Expression,
    Member,
    Relation,
)
from paramhs.core.space.conditions.parser import MIRRORED
from paramhs.core.space.conditions.terms import (
    DIGITS,
    FUNCTIONS,
    Calculation,
    Ref,
    Term,
    calculated,
)
from paramhs.core.space.literals import Value
from paramhs.core.space.parameters import Integer, Parameter, Real
from paramhs.formats.space_files.normal_forms import (
    Inactive,
    both,
    either,
    negated,
)
from paramhs.formats.space_files.source_lines import Span, shown, value_if_any

_TOKEN = re.compile(
    rf"""\s*+(?:
        (?P<text>"[^"]*+"|'[^']*+')
      | (?P<quoted>`[^`]++`)
      | (?P<number>{DIGITS}L?+(?![\w.]))
      | (?P<word>[A-Za-z._][\w.]*+)
      | (?P<mark>%in%|%%|==|!=|<=|>=|<|>|&&?|\|\|?|!|\(|\)|,|[-+*/^])
      | (?P<other>\S++)
    )""",
    re.VERBOSE,
)
_TRUTH = ("TRUE", "FALSE")  # read as text where the parameter has such values
_ORDERED = ("<", "<=", ">", ">=")


class _Text(Span):
    """A quoted text or truth value: a value of a parameter, not its name."""


_Node = Expression | Term | _Text
_Parsed = TypeVar("_Parsed")


class RParser:
    """Parser of one expression or term; adds to `notes` what the user should know."""

    def __init__(
        self, span: Span, parameters: Mapping[str, Parameter], notes: list[str] | None = None
    ) -> None:
        self.span = span
        self.parameters = parameters
        self.notes = [] if notes is None else notes
        self.tokens = [m for m in _TOKEN.finditer(span.text) if m.lastgroup]
        self.next = 0
        self.depth = 0

    def expression(self) -> Expression:
        """Parse a whole Boolean expression.

        The result contains `Unlike` or `Inactive` where R's value depends on inactive parameters.
        """
        truth = self._truth(self._either())
        if self._peek() is not None:
            raise self._error("'&', '|' or the end")
        return truth

    def term(self) -> Term:
        """Parse a whole numeric term."""
        column = self._here()
        term = self._number(self._sum(), column)
        if self._peek() is not None:
            raise self._error("the end")
        return term

    # Tokens

    def _peek(self) -> str | None:
        if self.next >= len(self.tokens):
            return None
        match = self.tokens[self.next]
        return match[match.lastgroup or 0]

    def _here(self) -> Span:
        if self.next >= len(self.tokens):
            return self.span.part(len(self.span.text))
        match = self.tokens[self.next]
        return self.span.group(match, match.lastgroup or "")

    def _error(self, expected: str) -> BadInput:
        span = self._here()
        found = span.found if self._peek() is not None else "the end"
        return span.error(f"expected {expected}, found {found}")

    def _take(self, *marks: str) -> str | None:
        token = self._peek()
        if token not in marks or self.tokens[self.next].lastgroup not in ("mark", "word"):
            return None
        self.next += 1
        return token

    def _demand(self, mark: str) -> None:
        if not self._take(mark):
            raise self._error(f"{mark!r}")

    def _deeper(self, parse: Callable[[], _Parsed]) -> _Parsed:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._here().error(f"parentheses are nested too deeply: more than {MAX_DEPTH}")
        node = parse()
        self.depth -= 1
        return node

    # Boolean operators

    def _either(self) -> _Node:
        node = self._both()
        if self._peek() not in ("|", "||"):
            return node
        parts = [self._truth(node)]
        while self._take("|", "||"):
            parts.append(self._truth(self._both()))
        return either(parts)

    def _both(self) -> _Node:
        node = self._negation()
        if self._peek() not in ("&", "&&"):
            return node
        parts = [self._truth(node)]
        while self._take("&", "&&"):
            parts.append(self._truth(self._negation()))
        return both(parts)

    def _negation(self) -> _Node:
        marks = 0
        while self._take("!"):
            marks += 1
        node = self._comparison()
        if not marks:
            return node
        truth = self._truth(node)
        return negated(truth) if marks % 2 else truth

    def _truth(self, node: _Node) -> Expression:
        if isinstance(node, Expression):
            return node
        raise self._error("a comparison, such as == or %in%")

    def _comparison(self) -> _Node:
        span = self._here()
        left = self._sum()
        sign = None if isinstance(left, Expression) else self._take(*MIRRORED)
        if sign is None:
            return left
        other = self._here()
        right = self._sum()
        if isinstance(right, Ref) and not isinstance(left, Ref | Calculation):
            return self._compared(right, MIRRORED[sign], left, other, span)
        return self._compared(left, sign, right, span, other)

    def _compared(
        self, left: _Node, sign: str, right: _Node, span: Span, other: Span
    ) -> Expression:
        if isinstance(left, Calculation) or isinstance(right, Calculation):
            return Relation(self._number(left, span), sign, self._number(right, other))
        if not isinstance(left, Ref):
            raise span.error(f"expected a parameter's name, found {span.found}")
        parameter = self.parameters[left.name]
        if sign in _ORDERED and not parameter.numeric:
            raise other.error(
                f"{left.name} has type c or o, whose values R compares alphabetically, not in their"
                " order; use %in%"
            )
        if isinstance(right, Ref):
            if self.parameters[right.name].numeric != parameter.numeric:
                raise other.error(
                    f"{left.name} and {right.name} cannot be compared: one of them is not a number"
                )
            return Compare(left.name, sign, right)
        if isinstance(right, Expression):
            raise other.error(f"expected a value, found {other.found}")
        if sign in _ORDERED:
            return Compare(left.name, sign, _valued(right, other).number())
        value = self._value(left.name, _valued(right, other))
        if value is None:
            nothing = _nothing(left.name, parameter)
            return nothing if sign == "==" else negated(nothing)
        return Compare(left.name, sign, value)

    def _value(self, name: str, span: Span) -> Value | None:
        return value_if_any(span, name, self.parameters[name], self.notes)

    # Numbers and names

    def _number(self, node: object, span: Span) -> Term:
        if isinstance(node, bool) or not isinstance(node, int | float | Ref | Calculation):
            raise span.error(f"expected a number or a parameter's name, found {span.found}")
        if isinstance(node, Ref) and not self.parameters[node.name].numeric:
            raise span.error(f"{node.name} has type c or o, which does not support arithmetic")
        return node

    def _calculated(self, sign: str, span: Span, *parts: _Node) -> Term:
        terms = [self._number(part, span) for part in parts]
        try:
            return calculated("%" if sign == "%%" else sign, *terms)
        except BadInput as error:
            raise span.error(str(error)) from None

    def _sum(self) -> _Node:
        span = self._here()
        node = self._product()
        while sign := self._take("+", "-"):
            node = self._calculated(sign, span, node, self._product())
        return node

    def _product(self) -> _Node:
        span = self._here()
        node = self._special()
        while sign := self._take("*", "/"):
            node = self._calculated(sign, span, node, self._special())
        return node

    def _special(self) -> _Node:
        span = self._here()
        node = self._signed()
        while sign := self._take("%%", "%in%"):
            if sign == "%%":
                node = self._calculated(sign, span, node, self._signed())
                continue
            if not isinstance(node, Ref):
                raise span.error(f"expected a parameter's name, found {span.found}")
            name = node.name
            values = [self._value(name, member) for member in self._members()]
            node = Member(name, tuple(dict.fromkeys(v for v in values if v is not None)))
        return node

    def _signed(self) -> _Node:
        span = self._here()
        sign = self._take("-", "+")
        if not sign:
            return self._power()
        power = self._number(self._power(), span)
        if isinstance(power, int | float):
            return -power if sign == "-" else power
        return self._calculated("-", span, 0, power) if sign == "-" else power

    def _power(self) -> _Node:
        span = self._here()
        # The exponent may have a sign and a power of its own: `^` binds to the right, and 2^-1 is a
        # number.
        base = self._primary()
        if not self._take("^"):
            return base
        return self._calculated("^", span, base, self._deeper(self._signed))

    def _primary(self) -> _Node:
        if self._take("("):
            inner = self._deeper(self._either)
            self._demand(")")
            return inner
        span = self._here()
        kind = self.tokens[self.next].lastgroup if self.next < len(self.tokens) else "mark"
        if kind in ("mark", "other"):
            raise self._error("a parameter's name or a value")
        self.next += 1
        if kind in ("text", "quoted"):
            inside = (span.path, span.line, span.column + 1, span.text[1:-1])
            return _Text(*inside) if kind == "text" else self._named(Span(*inside))
        if kind == "number":
            return Span(span.path, span.line, span.column, span.text.rstrip("L")).number()
        return self._worded(span)

    def _worded(self, span: Span) -> _Node:
        """Parse a function call, a truth value, or a parameter."""
        word = span.text
        if word in (*FUNCTIONS, "is.na") and self._take("("):
            parts = [self._deeper(self._sum)]
            while self._take(","):
                parts.append(self._deeper(self._sum))
            self._demand(")")
            if word != "is.na":
                return self._calculated(word, span, *parts)
            if len(parts) != 1 or not isinstance(parts[0], Ref):
                raise span.error("expected one parameter's name in is.na()")
            return Inactive(parts[0].name, ())
        if word in _TRUTH and word not in self.parameters:
            return _Text(span.path, span.line, span.column, word)
        return self._named(span)

    def _named(self, span: Span) -> Ref:
        if span.text not in self.parameters:
            raise span.error(
                f"no parameter is called {span.found}; there are {shown(self.parameters, 8)};"
                " a value must be in quotes"
            )
        return Ref(span.text)

    def _members(self) -> list[Span]:
        """Right side of %in%: one value, in parentheses or not, or several in c()."""
        several = self._take("c") is not None
        if several and self._peek() != "(":
            raise self._error("'('")
        if not self._take("("):
            return [self._member()]
        members = [self._member()]
        while several and self._take(","):
            members.append(self._member())
        if not self._take(")"):
            raise self._error("',' or ')'" if several else "')'")
        return members

    def _member(self) -> Span:
        span = self._here()
        node = self._deeper(self._sum)
        if isinstance(node, Ref | Calculation | Expression):
            raise span.error(f"expected a value, found {span.found}; a text must be in quotes")
        return _valued(node, span)


def _valued(node: int | float | _Text, span: Span) -> Span:
    """Span of a value, with a number in plain digits."""
    if isinstance(node, _Text):
        return node
    return Span(span.path, span.line, span.column, repr(node))


def _nothing(name: str, parameter: Parameter) -> Expression:
    """Expression that is false for every value, and NA, like any comparison in R, if inactive."""
    if isinstance(parameter, Integer | Real):
        return Compare(name, "<", parameter.low)
    every = range(parameter.levels)
    return both(Compare(name, "!=", parameter.value(index)) for index in every)
