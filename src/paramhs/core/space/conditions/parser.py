"""Parser of conditions and forbidden clauses: `mode in {a, b} and (k > 3 or rho < 2 * alpha)`.

The text is parsed, never evaluated. A bare word on the right of a comparison is a parameter if one
has that name, else a value; quotes make it a value, backquotes a parameter name with arbitrary
characters. Names may contain - and /, so these operators need blanks around them.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import (
    MAX_DEPTH,
    And,
    Compare,
    Expression,
    Member,
    Or,
    Relation,
    check_depth,
)
from paramhs.core.space.conditions.terms import (
    FUNCTIONS,
    NUMBER,
    WORD,
    Calculation,
    Ref,
    Term,
    calculated,
)
from paramhs.core.space.literals import Value, number_of
from paramhs.core.space.parameters import Boolean
from paramhs.core.text.quoting import short

MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

# The grammar, from the loosest joint to the tightest:
# either := both ("or" both)*, both := comparison ("and" comparison)*,
# comparison := sum ["in" "{" values "}" | sign sum], sum := product (("+" | "-") product)*,
# product := signed (("*" | "/" | "%") signed)*, signed := ["-" | "+"] power,
# power := primary ["^" signed], primary := "(" either ")" | function "(" sums ")" | word | number.

_TOKEN = re.compile(
    rf"""\s*+(?:
        (?P<quoted>`[^`]+`)
      | (?P<text>"(?:[^"\\]|\\.)*+"|'[^']*+')
      | (?P<sign>==|!=|<=|>=|<|>|=)
      | (?P<number>{NUMBER})
      | (?P<word>{WORD})
      | (?P<mark>[(){{}},\[\]]|&&|\|\||[-+*/%^])
    )""",
    re.VERBOSE,
)


def parse(text: str, parameters: Mapping[str, object]) -> Expression:
    """Parse the text of an expression.

    Raises:
        BadInput: The message names the column of the error.
    """
    try:
        return _Parser(text, parameters).whole()
    except RecursionError:  # the caller is deep in the stack already
        raise BadInput(f"{short(text)}: parentheses are nested too deeply") from None


@dataclass(frozen=True)
class _Word:
    """A word or a quoted text: a name on the left of a comparison, perhaps a value on the right."""

    text: str
    column: int
    kind: str


_Node = Expression | Term | _Word


class _Parser:
    def __init__(self, text: str, parameters: Mapping[str, object]) -> None:
        self.text = text
        self.parameters = parameters
        self.tokens = list(self._tokens())
        self.next = 0
        self.depth = 0

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        position, end = 0, len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if not match or match.lastgroup is None:
                blank = re.compile(r"\s*+").match(self.text, position)
                self._fail("a comparison", blank.end() if blank else position)
            yield match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
            position = match.end()
        yield "end", "the end", len(self.text)

    def _fail(self, expected: str, column: int) -> NoReturn:
        found = self.text[column : column + 20] or "the end"
        raise BadInput(
            f"in {self._around(column)}, column {column + 1}: expected {expected}, found {found!r}"
        )

    def _around(self, column: int, most: int = 200) -> str:
        """Return the text, or the part of a long one near the column."""
        if len(self.text) <= most:
            return repr(self.text)
        return f"... {self.text[max(0, column - 60) : column + 60]!r} ..."

    def _peek(self, *words: str) -> bool:
        return self.tokens[self.next][1] in words and self.tokens[self.next][0] != "text"

    def _take(self, *words: str) -> str | None:
        if not self._peek(*words):
            return None
        self.next += 1
        return self.tokens[self.next - 1][1]

    def _here(self) -> int:
        return self.tokens[self.next][2]

    def _demand(self, *marks: str) -> None:
        if not self._take(*marks):
            self._fail(f"{marks[0]!r}", self._here())

    # Boolean operators

    def whole(self) -> Expression:
        expression = self._truth(self._either())
        if self.tokens[self.next][0] != "end":
            self._fail("'and', 'or' or the end", self._here())
        check_depth(expression)
        return expression

    def _either(self) -> _Node:
        node = self._both()
        if not self._peek("or", "||"):
            return node
        parts = [self._truth(node)]
        while self._take("or", "||"):
            parts.append(self._truth(self._both()))
        return Or(tuple(parts))

    def _both(self) -> _Node:
        node = self._comparison()
        if not self._peek("and", "&&"):
            return node
        parts = [self._truth(node)]
        while self._take("and", "&&"):
            parts.append(self._truth(self._comparison()))
        return And(tuple(parts))

    def _truth(self, node: _Node) -> Expression:
        """Return a comparison; a boolean parameter by itself means that it is true."""
        if isinstance(node, Compare | Member | Relation | And | Or):
            return node
        if not (isinstance(node, Ref) and isinstance(self.parameters[node.name], Boolean)):
            self._fail("==, !=, <, <=, >, >= or in", self._here())
        return Compare(node.name, "==", True)

    def _comparison(self) -> _Node:
        column = self._here()
        left = self._named(self._sum("a parameter's name"))
        if isinstance(left, Ref) and self._take("in"):
            return Member(left.name, self._values())
        if self.tokens[self.next][0] != "sign" or isinstance(left, And | Or | Member | Compare):
            return left
        _, sign, _ = self.tokens[self.next]
        self.next += 1
        right = self._sum("a value")
        return self._compared(left, "==" if sign == "=" else sign, right, column)

    def _compared(self, left: _Node, sign: str, right: _Node, column: int) -> Expression:
        other = self._value_or_name(right)
        if isinstance(left, Ref) and not isinstance(other, Calculation | Expression):
            return Compare(left.name, sign, other)
        if isinstance(left, int | float) and isinstance(other, Ref):
            return Compare(other.name, MIRRORED[sign], left)
        if not any(isinstance(side, Ref | Calculation) for side in (left, other)):
            self._fail("a parameter's name", column)
        return Relation(self._number(left, column), sign, self._number(other, column))

    def _named(self, node: _Node) -> _Node:
        """Resolve a word on the left of a comparison to a parameter."""
        if not isinstance(node, _Word):
            return node
        if node.text not in self.parameters:
            self._fail("a parameter's name", node.column)
        return Ref(node.text)

    def _value_or_name(self, node: _Node) -> Expression | Term | Value:
        if not isinstance(node, _Word):
            return node
        if node.kind != "text" and node.text in self.parameters:
            return Ref(node.text)
        if node.kind == "quoted":
            self._fail("a parameter's name", node.column)
        return self._plain(node)

    def _plain(self, word: _Word) -> Value:
        if word.kind == "word" and word.text in ("true", "True", "false", "False"):
            return word.text in ("true", "True")
        return word.text

    # Arithmetic

    def _number(self, node: object, column: int) -> Term:
        if isinstance(node, _Word):
            column = node.column
            node = self._named(node)
        if isinstance(node, bool) or not isinstance(node, int | float | Ref | Calculation):
            self._fail("a number or a parameter's name", column)
        return node

    def _calculated(self, sign: str, column: int, *parts: _Node) -> Term:
        terms = [self._number(part, column) for part in parts]
        try:
            return calculated(sign, *terms)
        except BadInput as error:
            raise BadInput(f"in {self._around(column)}, column {column + 1}: {error}") from None

    def _sum(self, expected: str) -> _Node:
        column = self._here()
        node = self._product(expected)
        while sign := self._take("+", "-"):
            node = self._calculated(sign, column, node, self._product("a number"))
        return node

    def _product(self, expected: str) -> _Node:
        column = self._here()
        node = self._signed(expected)
        while sign := self._take("*", "/", "%"):
            node = self._calculated(sign, column, node, self._signed("a number"))
        return node

    def _signed(self, expected: str) -> _Node:
        column = self._here()
        sign = self._take("-", "+")
        if not sign:
            return self._power(expected)
        power = self._number(self._power("a number"), self._here())
        if isinstance(power, int | float):
            return -power if sign == "-" else power
        return self._calculated("-", column, 0, power) if sign == "-" else power

    def _power(self, expected: str) -> _Node:
        column = self._here()
        base = self._primary(expected)
        if not self._take("^"):
            return base
        return self._calculated("^", column, base, self._deeper(lambda: self._signed("a number")))

    def _primary(self, expected: str) -> _Node:
        kind, text, column = self.tokens[self.next]
        if self._take("("):
            inner = self._deeper(self._either)
            self._demand(")")
            return inner
        if kind not in ("word", "text", "quoted", "number"):
            self._fail(expected, column)
        self.next += 1
        if kind == "number":
            return self._literal(text, column)
        if kind == "word" and text in FUNCTIONS and self._take("("):
            return self._function(text, column)
        return _Word(self._unquoted(text, column), column, kind)

    def _deeper(self, parse: Callable[[], _Node]) -> _Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            column = self._here()
            raise BadInput(
                f"in {self._around(column)}, column {column + 1}: parentheses are nested more than"
                f" {MAX_DEPTH} deep"
            )
        node = parse()
        self.depth -= 1
        return node

    def _function(self, name: str, column: int) -> Term:
        parts = [self._deeper(lambda: self._sum("a number"))]
        while self._take(","):
            parts.append(self._deeper(lambda: self._sum("a number")))
        self._demand(")")
        return self._calculated(name, column, *parts)

    # Values

    def _values(self) -> tuple[Value, ...]:
        self._demand("{", "[", "(")
        if self._take("}", "]", ")"):
            return ()
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        self._demand("}", "]", ")")
        return tuple(values)

    def _value(self) -> Value:
        sign = self._take("-", "+")
        kind, text, column = self.tokens[self.next]
        if kind not in ("number",) + ("text", "word") * (not sign):
            self._fail("a value", column)
        self.next += 1
        if kind == "number":
            number = self._literal(text, column)
            return -number if sign == "-" else number
        return self._plain(_Word(self._unquoted(text, column), column, kind))

    def _literal(self, text: str, column: int) -> int | float:
        try:
            return number_of(text)
        except BadInput as error:
            raise BadInput(f"in {self._around(column)}, column {column + 1}: {error}") from None

    def _unquoted(self, text: str, column: int) -> str:
        if text.startswith('"'):
            try:
                return str(json.loads(text))
            except json.JSONDecodeError:
                self._fail("a text in double quotes as JSON has it", column)
        return text[1:-1] if text.startswith(("'", "`")) else text
