"""Random spaces with conditions and forbidden clauses, and the slow, obvious semantics of them."""

import json
import operator
from collections.abc import Mapping

from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.space import (
    And,
    Boolean,
    Categorical,
    Compare,
    Config,
    Expression,
    Integer,
    Member,
    Or,
    Ordinal,
    Parameter,
    Real,
    Ref,
    Space,
    Value,
)

NAMES = ("k", "alpha", "mode", "use-x", "s2.depth")
WORDS = ("a", "b", "two words", "k", "true", 'quo"te', "é", "", "0")

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    low, step, more = draw(st.integers(-3, 3)), draw(st.integers(1, 3)), draw(st.integers(0, 3))
    default = low + step * draw(st.integers(0, more))
    return Integer(low, low + step * more, step, default=default)


@st.composite
def reals(draw: st.DrawFn) -> Real:
    low, high = draw(st.sampled_from([(0.5, 25.0), (1, 2), (0.001, 0.1)]))
    default = draw(st.none() | st.floats(low, high))
    return Real(low, high, draw(st.integers(3, 4)), log=draw(st.booleans()), default=default)


def listed(kind: type[Parameter]) -> st.SearchStrategy[Parameter]:
    words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True)
    numbers = st.lists(st.integers(-2, 2) | st.just(2.5), min_size=1, max_size=4, unique=True)
    return (words | numbers).map(kind)


def parameters() -> st.SearchStrategy[Parameter]:
    booleans = st.booleans().map(lambda default: Boolean(default=default))
    return integers() | reals() | listed(Ordinal) | listed(Categorical) | booleans


def values(parameter: Parameter) -> st.SearchStrategy[Value]:
    return st.integers(0, parameter.levels - 1).map(parameter.value)


@st.composite
def comparisons(draw: st.DrawFn, known: Mapping[str, Parameter]) -> Expression:
    name = draw(st.sampled_from(sorted(known)))
    parameter = known[name]
    if draw(st.integers(0, 2)) == 0:
        return Member(name, tuple(draw(st.lists(values(parameter), min_size=1, max_size=3))))
    others = [other for other in known if other != name and known[other].numeric]
    if parameter.numeric and others and draw(st.booleans()):
        return Compare(
            name, draw(st.sampled_from(sorted(SIGNS))), Ref(draw(st.sampled_from(others)))
        )
    signs = sorted(SIGNS) if parameter.ordered else ["==", "!="]
    return Compare(name, draw(st.sampled_from(signs)), draw(values(parameter)))


@st.composite
def expressions(draw: st.DrawFn, known: Mapping[str, Parameter], depth: int = 2) -> Expression:
    """As `parse` gives them: no And directly within an And, every joint of two parts or more."""
    joint = draw(st.sampled_from([None, And, Or])) if depth else None
    if joint is None:
        return draw(comparisons(known))
    part = expressions(known, depth - 1)
    if joint is And:
        part = part.filter(lambda inner: not isinstance(inner, And))
    return joint(tuple(draw(st.lists(part, min_size=2, max_size=3))))


@st.composite
def spaces(draw: st.DrawFn, most: int = 4) -> Space:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=most, unique=True))
    known = {name: draw(parameters()) for name in names}
    ranked = draw(st.permutations(names))  # parents come earlier here, anywhere in the space
    conditions = {
        name: draw(expressions({parent: known[parent] for parent in ranked[:rank]}))
        for rank, name in enumerate(ranked)
        if rank and draw(st.integers(0, 2)) < 2
    }
    space = Space(known, conditions=conditions)
    for clause in draw(st.lists(expressions(known), max_size=2)):
        forbidden = (*space.forbidden, clause)
        try:
            space = Space(known, conditions=conditions, forbidden=forbidden)
        except BadInput:  # the clause forbids the default
            continue
    return space


@st.composite
def spaces_with_config(draw: st.DrawFn, most: int = 4) -> tuple[Space, Config]:
    """A space and an allowed configuration of it."""
    space = draw(spaces(most))
    some = [
        c
        for c in (space.configured(draw(full_indices(space))) for _ in range(4))
        if space.allowed(c)
    ]
    return space, draw(st.sampled_from([space.default, *some]))


def full_indices(space: Space) -> st.SearchStrategy[tuple[int, ...]]:
    """One index for each parameter, active or not."""
    return st.tuples(*(st.integers(0, p.levels - 1) for p in space.listed))


def rebuilt(description: Mapping[str, object]) -> Space:
    """The space that a description, gone through JSON, stands for."""
    loaded = json.loads(json.dumps(description))
    return Space(
        {name: _parameter(**spec) for name, spec in loaded["parameters"].items()},
        conditions=loaded["conditions"],
        forbidden=loaded["forbidden"],
    )


def _parameter(type: str, **spec: object) -> Parameter:
    if type == "boolean":
        return Boolean(default=spec["default"])
    kinds = {"integer": Integer, "real": Real, "ordinal": Ordinal, "categorical": Categorical}
    return kinds[type](**spec)


# What conditions and forbidden clauses mean, word by word.


def holds(expression: Expression, space: Space, full: Mapping[str, Value]) -> bool:
    """Whether an expression is true, given a value for every parameter, active or not."""
    if isinstance(expression, And):
        return all(holds(part, space, full) for part in expression.parts)
    if isinstance(expression, Or):
        return any(holds(part, space, full) for part in expression.parts)
    if not is_active(expression.name, space, full):
        return False
    left, parameter = full[expression.name], space.parameters[expression.name]
    if isinstance(expression, Member):
        return any(same(left, value) for value in expression.values)
    if isinstance(expression.other, Ref):
        other = expression.other.name
        return is_active(other, space, full) and SIGNS[expression.sign](left, full[other])
    if isinstance(parameter, Ordinal):
        rank = [str(value) for value in parameter.values].index
        return SIGNS[expression.sign](rank(str(left)), rank(str(expression.other)))
    return SIGNS[expression.sign](left, expression.other)


def same(one: Value, other: Value) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def is_active(name: str, space: Space, full: Mapping[str, Value]) -> bool:
    return name not in space.conditions or holds(space.conditions[name], space, full)


def only_active(space: Space, full: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in full.items() if is_active(name, space, full)}


def is_forbidden(space: Space, full: Mapping[str, Value]) -> bool:
    return any(holds(clause, space, full) for clause in space.forbidden)


def filled(space: Space, config: Mapping[str, Value]) -> dict[str, Value]:
    """The configuration with defaults where it says nothing."""
    return {name: config.get(name, p.default) for name, p in space.parameters.items()}


def plain(space: Space, irace: bool) -> Space:
    """Space with names and values that every format can write."""
    new_name = {name: f"p{i}" for i, name in enumerate(space.parameters)}
    known = {new_name[n]: _plain_parameter(p, irace) for n, p in space.parameters.items()}

    def renamed(e: Expression) -> Expression:
        if isinstance(e, And | Or):
            return type(e)(tuple(map(renamed, e.parts)))
        old = space.parameters[e.name]
        if isinstance(e, Member):
            return Member(new_name[e.name], tuple(_plain_value(old, v) for v in e.values))
        other = (
            Ref(new_name[e.other.name]) if isinstance(e.other, Ref) else _plain_value(old, e.other)
        )
        return Compare(new_name[e.name], e.sign, other)

    conditions = {new_name[n]: renamed(e) for n, e in space.conditions.items()}
    return Space(known, conditions=conditions, forbidden=map(renamed, space.forbidden))


def _plain_parameter(parameter: Parameter, irace: bool) -> Parameter:
    if isinstance(parameter, Integer):
        log = parameter.low > 0
        return Integer(
            parameter.low, parameter.high + 1, log=log, default=None if irace else parameter.low
        )
    if isinstance(parameter, Real):
        default = None if irace else parameter.default
        return Real(parameter.low, parameter.high, log=parameter.log, default=default)
    kind = Ordinal if isinstance(parameter, Ordinal) else Categorical
    default = {} if irace else {"default": f"v{parameter.default_index}"}
    return kind([f"v{i}" for i in range(parameter.levels)], **default)


def _plain_value(parameter: Parameter, value: Value) -> Value:
    return value if parameter.numeric else f"v{parameter.index(value)}"
