"""Translation of expressions between formats: negation, inactive parameters, normal forms.

In paramhs a comparison with an inactive parameter is false. irace agrees, because such a comparison
is NA and NA counts as false; but `!(a %in% c("x"))` is true there when a is inactive. In
ConfigSpace an inactive value is NaN, so the condition `a != x` holds when a is inactive. Both are
represented by `Unlike`, and R's `is.na(a)` by `Inactive`, until all conditions are known and a
`Resolver` replaces them by explicit expressions.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import product

from paramhs.core.errors import BadInput
from paramhs.core.space.conditions.expressions import (
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
from paramhs.core.space.conditions.terms import may_be_nan
from paramhs.core.space.parameters import Integer, Parameter, Real
from paramhs.core.space.space import ClauseError

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MAX_ALTERNATIVES = 4096  # parts of a normal form
_MAX_LEVELS = 100  # nesting levels of conditions of parameters in conditions
_MAX_PARTS = 1000  # parts of the expression for an inactive parameter


class Unlike(Member):
    """Condition that a parameter is inactive or has none of these values.

    A subclass of `Member` so that it can appear in an expression; no space ever contains one.
    """


class Inactive(Member):
    """Condition that a parameter is inactive; without values, and never in a space."""


class Active(Member):
    """Condition that a parameter is active: the negation of `Inactive`."""


def active(name: str, parameter: Parameter) -> Expression:
    """Expression that holds exactly if a parameter is active."""
    if isinstance(parameter, Integer | Real):
        return Compare(name, ">=", parameter.value(0))
    return Member(name, tuple(parameter.value(i) for i in range(parameter.levels)))


def never(name: str) -> Expression:
    """Expression that never holds."""
    return Member(name, ())


def both(parts: Iterable[Expression]) -> Expression:
    """Conjunction of parts, without duplicates."""
    return _joined(And, parts)


def either(parts: Iterable[Expression]) -> Expression:
    """Disjunction of parts, without duplicates."""
    return _joined(Or, parts)


def _joined(kind: type[And] | type[Or], parts: Iterable[Expression]) -> Expression:
    flat: dict[Expression, None] = {}
    for part in parts:
        inner = part.parts if isinstance(part, And | Or) and isinstance(part, kind) else (part,)
        flat.update(dict.fromkeys(inner))
    return next(iter(flat)) if len(flat) == 1 else kind(tuple(flat))


class Resolver:
    """Translator of another format's expressions into ours, given all its conditions."""

    def __init__(
        self, conditions: Mapping[str, Expression], parameters: Mapping[str, Parameter]
    ) -> None:
        self.given = conditions
        self.parameters = parameters
        self.known: dict[str, Expression | None] = {}
        self.depth = 0

    def meant(self, expression: Expression) -> Expression:
        """Translate an expression."""
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
        """Translate all conditions."""
        return {name: self.meant(expression) for name, expression in self.given.items()}

    def _inactive(self, name: str) -> list[Expression]:
        """Expression for when a parameter is inactive; empty if it never is."""
        if name not in self.given:
            return []
        # Memoised depth-first search: None marks a parameter whose condition is being translated,
        # so meeting None again means that the conditions form a cycle.
        if name not in self.known:
            self.known[name] = None
            self.depth += 1
            found = self._untrue(self.given[name]) if self.depth <= _MAX_LEVELS else None
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
                f"conditions depend on each other in a cycle: {name!r} depends on itself",
                conditions=(name,),
            )
        return [found]

    @property
    def _looking(self) -> list[str]:
        """Parameters whose conditions are being translated, the innermost first."""
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
                f"'{cut(expression)}' may divide by zero, so it is unknown when it does not hold",
                conditions=self._looking,
            )
        inactive = [e for name in dict.fromkeys(names(expression)) for e in self._inactive(name)]
        return either([negated(expression), *inactive])


def _is_short(expression: Expression) -> bool:
    """Whether an expression has few comparisons; negated conditions can grow exponentially."""
    left = [expression]
    for _ in range(_MAX_PARTS):
        if not left:
            return True
        part = left.pop()
        left += part.parts if isinstance(part, And | Or) else ()
    return False


def negated(expression: Expression) -> Expression:
    """Negate as R does: a comparison with an inactive parameter stays NA.

    Only `%in%` and `is.na`, which are never NA, turn into conditions that hold for an inactive
    parameter.
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
    """Disjunctive normal form as a list of conjunctions; `written` may split a comparison."""
    if isinstance(expression, Or):
        listed = [alternatives(part, written) for part in expression.parts]
        _check_few(sum(map(len, listed)))
        return [conjunction for part in listed for conjunction in part]
    if isinstance(expression, And):
        found: list[list[Leaf]] = [[]]
        for part in expression.parts:
            more = alternatives(part, written)
            # Checked before it is made: a few short conditions have a product that fills the
            # memory.
            _check_few(len(found) * len(more))
            found = [[*a, *(leaf for leaf in b if leaf not in a)] for a, b in product(found, more)]
        return found
    if isinstance(expression, Relation):
        raise BadInput(f"the format has no arithmetic: '{cut(expression)}'")
    return written(expression)


def _check_few(count: int) -> None:
    if count > _MAX_ALTERNATIVES:
        raise BadInput(
            f"written out, an expression has more than {_MAX_ALTERNATIVES:,} alternatives"
        )
