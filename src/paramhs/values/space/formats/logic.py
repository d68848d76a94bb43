"""Expressions in the terms of other formats: negation, what inactive means there, normal forms.

Here a comparison with an inactive parameter is false. So it is in irace, where it is NA and NA
counts as false, but `!(a %in% c("x"))` is true there when a is inactive. In ConfigSpace an inactive
value is NaN, so the condition `a != x` holds when a is inactive. Both are `Unlike`, and R's
`is.na(a)` is `Inactive`, until all conditions are known and a `Resolver` says in our terms when a
is inactive.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import product

from paramhs.values.errors import BadInput
from paramhs.values.space.expressions import (
    And,
    Compare,
    Expression,
    Leaf,
    Member,
    Or,
    Relation,
    cut,
    names,
)
from paramhs.values.space.parameters import Integer, Parameter, Real
from paramhs.values.space.space import ClauseError
from paramhs.values.space.terms import may_be_nan

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MOST = 4096  # parts of a normal form
_DEEPEST = 100  # levels of conditions of parameters in conditions
_LONGEST = 1000  # parts of what says when a parameter is inactive


class Unlike(Member):
    """A parameter that is inactive, or has none of these values.

    It is a `Member` only so that it may stand in an expression; no space ever holds one.
    """


class Inactive(Member):
    """A parameter that is inactive; of no values, and like `Unlike` never in a space."""


class Active(Member):
    """A parameter that is active: the opposite of `Inactive`."""


def active(name: str, parameter: Parameter) -> Expression:
    """That a parameter is active, whatever its value."""
    if isinstance(parameter, Integer | Real):
        return Compare(name, ">=", parameter.low)
    return Member(name, tuple(parameter.value(i) for i in range(parameter.levels)))


def never(name: str) -> Expression:
    """What never holds."""
    return Member(name, ())


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

    def __init__(
        self, conditions: Mapping[str, Expression], parameters: Mapping[str, Parameter]
    ) -> None:
        self.given = conditions
        self.parameters = parameters
        self.known: dict[str, Expression | None] = {}
        self.depth = 0

    def meant(self, expression: Expression) -> Expression:
        """The expression in our terms."""
        if isinstance(expression, And):
            return both(map(self.meant, expression.parts))
        if isinstance(expression, Or):
            return either(map(self.meant, expression.parts))
        if isinstance(expression, Inactive):
            return either(self._inactive(expression.name) or [never(expression.name)])
        if isinstance(expression, Active):
            return active(expression.name, self.parameters[expression.name])
        if isinstance(expression, Unlike):
            other = both(Compare(expression.name, "!=", value) for value in expression.values)
            if not expression.values:
                other = active(expression.name, self.parameters[expression.name])
            return either([other, *self._inactive(expression.name)])
        return expression

    def conditions(self) -> dict[str, Expression]:
        """All conditions in our terms."""
        return {name: self.meant(expression) for name, expression in self.given.items()}

    def _inactive(self, name: str) -> list[Expression]:
        """When a parameter is inactive; nothing if never."""
        if name not in self.given:
            return []
        if name not in self.known:
            self.known[name] = None
            self.depth += 1
            found = self._untrue(self.given[name]) if self.depth <= _DEEPEST else None
            if found is None or not _is_short(found):
                raise ClauseError(
                    f"conditions are nested too deeply to say when {name!r} is inactive",
                    conditions=(name,),
                )
            self.known[name] = found
            self.depth -= 1
        found = self.known[name]
        if found is None:
            raise ClauseError(
                f"conditions go round in a circle: {name!r} depends on itself", conditions=(name,)
            )
        return [found]

    @property
    def _looking(self) -> list[str]:
        """The parameters whose conditions are being looked at, the innermost first."""
        return [name for name, found in reversed(self.known.items()) if found is None]

    def _untrue(self, expression: Expression) -> Expression:
        if isinstance(expression, And):
            return either(map(self._untrue, expression.parts))
        if isinstance(expression, Or):
            return both(map(self._untrue, expression.parts))
        if isinstance(expression, Member):
            return self.meant(negated(expression))
        if isinstance(expression, Relation) and (
            may_be_nan(expression.left) or may_be_nan(expression.right)
        ):
            raise ClauseError(
                f"'{cut(expression)}' may divide by zero, so it cannot be said when it does not"
                " hold",
                conditions=self._looking,
            )
        inactive = [e for name in dict.fromkeys(names(expression)) for e in self._inactive(name)]
        return either([negated(expression), *inactive])


def _is_short(expression: Expression) -> bool:
    """Whether it has few comparisons: what says when another is inactive grows exponentially."""
    left = [expression]
    for _ in range(_LONGEST):
        if not left:
            return True
        part = left.pop()
        left += part.parts if isinstance(part, And | Or) else ()
    return False


def negated(expression: Expression) -> Expression:
    """The negation as R has it: a comparison with an inactive parameter stays NA.

    Only `%in%` and `is.na`, which are never NA, turn into what holds of an inactive parameter.
    """
    if isinstance(expression, And | Or):
        return (either if isinstance(expression, And) else both)(map(negated, expression.parts))
    if isinstance(expression, Relation):
        return Relation(expression.left, OPPOSITE[expression.sign], expression.right)
    if isinstance(expression, Compare):
        return Compare(expression.name, OPPOSITE[expression.sign], expression.other)
    kind = {Inactive: Active, Active: Inactive, Unlike: Member}.get(type(expression), Unlike)
    return kind(expression.name, expression.values)


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
    if isinstance(expression, Relation):
        raise BadInput(f"the format has no arithmetic: '{cut(expression)}'")
    return written(expression)


def _check_few(count: int) -> None:
    if count > _MOST:
        raise BadInput(f"written out, an expression has more than {_MOST:,} alternatives")
