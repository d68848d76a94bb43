"""Expressions in the terms of other formats: negation, what inactive means there, normal forms.

Here a comparison with an inactive parameter is false. So it is in irace, where it is NA and NA
counts as false, but `!(a %in% c("x"))` is true there when a is inactive. In ConfigSpace an inactive
value is NaN, so the condition `a != x` holds when a is inactive. Both are `Unlike`, until all
conditions are known and a `Resolver` says in our terms when a is inactive.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import product

from paramhs.values.errors import BadInput
from paramhs.values.space.expressions import And, Compare, Expression, Leaf, Member, Or, Ref

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MOST = 4096  # parts of a normal form


class Unlike(Member):
    """A parameter that is inactive, or has none of these values.

    It is a `Member` only so that it may stand in an expression; no space ever holds one.
    """


def both(parts: Iterable[Expression]) -> Expression:
    """All of them, each once."""
    return _joined(And, parts)


def either(parts: Iterable[Expression]) -> Expression:
    """At least one of them, each once."""
    return _joined(Or, parts)


def _joined(kind: type[And] | type[Or], parts: Iterable[Expression]) -> Expression:
    flat: dict[Expression, None] = {}
    for part in parts:
        inner = part.parts if isinstance(part, And | Or) and isinstance(part, kind) else (part,)
        flat.update(dict.fromkeys(inner))
    return next(iter(flat)) if len(flat) == 1 else kind(tuple(flat))


class Resolver:
    """Says in our terms what expressions of another format mean, given all its conditions."""

    def __init__(self, conditions: Mapping[str, Expression]) -> None:
        self.given = conditions
        self.known: dict[str, Expression | None] = {}

    def meant(self, said: Expression) -> Expression:
        """The expression in our terms."""
        if isinstance(said, And):
            return both(map(self.meant, said.parts))
        if isinstance(said, Or):
            return either(map(self.meant, said.parts))
        if isinstance(said, Unlike):
            other = both(Compare(said.name, "!=", value) for value in said.values)
            return either([other, *self._inactive(said.name)])
        return said

    def conditions(self) -> dict[str, Expression]:
        """All conditions in our terms."""
        return {name: self.meant(said) for name, said in self.given.items()}

    def _inactive(self, name: str) -> list[Expression]:
        """When a parameter is inactive; nothing if never."""
        if name not in self.given:
            return []
        if name not in self.known:
            self.known[name] = None
            self.known[name] = self._untrue(self.given[name])
        found = self.known[name]
        if found is None:
            raise BadInput(f"conditions go round in a circle: {name!r} depends on itself")
        return [found]

    def _untrue(self, said: Expression) -> Expression:
        if isinstance(said, And):
            return either(map(self._untrue, said.parts))
        if isinstance(said, Or):
            return both(map(self._untrue, said.parts))
        if isinstance(said, Unlike):
            return Member(said.name, said.values)
        if isinstance(said, Member):
            return self.meant(Unlike(said.name, said.values))
        opposite = Compare(said.name, OPPOSITE[said.sign], said.other)
        inactive = self._inactive(said.name)
        if isinstance(said.other, Ref):
            inactive = [*inactive, *self._inactive(said.other.name)]
        return either([opposite, *inactive])


def alternatives(
    expression: Expression, written: Callable[[Leaf], list[list[Leaf]]]
) -> list[list[Leaf]]:
    """The disjunctive normal form: a list of conjunctions; `written` may split a comparison."""
    if isinstance(expression, Or):
        listed = [alternatives(part, written) for part in expression.parts]
        _check_few(sum(map(len, listed)))
        return [conjunction for part in listed for conjunction in part]
    if isinstance(expression, And):
        found: list[list[Leaf]] = [[]]
        for part in expression.parts:
            more = alternatives(part, written)
            _check_few(len(found) * len(more))
            found = [[*a, *(leaf for leaf in b if leaf not in a)] for a, b in product(found, more)]
        return found
    return written(expression)


def _check_few(count: int) -> None:
    if count > _MOST:
        raise BadInput(f"written out, an expression has more than {_MOST:,} alternatives")
