"""Writes ConfigSpace's JSON and YAML, through that library (the extra `configspace`)."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from paramhs.values.errors import BadInput
from paramhs.values.space.expressions import And, Compare, Expression, Leaf, Member, Or, Ref
from paramhs.values.space.formats.configspace import META, missing
from paramhs.values.space.formats.simpler import simpler
from paramhs.values.space.formats.texts import is_listed
from paramhs.values.space.parameters import DEFAULT_LEVELS, Integer, Ordinal, Parameter, Real
from paramhs.values.space.space import Space


def written_configspace(space: Space, format: str) -> str:
    """The space as JSON or YAML."""
    try:
        text = json.dumps(_library_object(space).to_serialized_dict(), indent=2)
        if format == "configspace-json":
            return text + "\n"
        import yaml

        # The library's own YAML has tuples, which it then does not read.
        return yaml.safe_dump(json.loads(text), sort_keys=False, allow_unicode=True)
    except ModuleNotFoundError as error:
        raise missing(error) from None


def _library_object(space: Space) -> Any:
    import ConfigSpace

    cs = ConfigSpace.ConfigurationSpace()
    cs.add([_hyperparameter(ConfigSpace, name, p) for name, p in space.parameters.items()])
    conditions = [_condition(ConfigSpace, cs, space, child) for child in space.conditions]
    forbidden = [_clause(ConfigSpace, cs, space, clause) for clause in space.forbidden]
    try:
        cs.add(conditions, forbidden)
    except Exception as error:  # the library raises whatever its parts raise
        raise BadInput(f"ConfigSpace does not accept it: {error}") from None
    return cs


def _hyperparameter(library: Any, name: str, parameter: Parameter) -> Any:
    default = parameter.default
    if is_listed(parameter):
        values = [parameter.value(i) for i in range(parameter.levels)]
        if isinstance(parameter, Ordinal):
            return library.OrdinalHyperparameter(name, values, default_value=default)
        return library.CategoricalHyperparameter(name, values, default_value=default)
    assert isinstance(parameter, Integer | Real)  # noqa: S101 -- for the type checker
    if isinstance(parameter, Integer) and parameter.step > 1:
        raise BadInput(f"ConfigSpace cannot say that {name} goes in steps of {parameter.step}")
    kind = "Integer" if isinstance(parameter, Integer) else "Float"
    return getattr(library, f"Uniform{kind}Hyperparameter")(
        name,
        parameter.low,
        parameter.high,
        default_value=default,
        log=parameter.log,
        meta=_grid(parameter),
    )


def _grid(parameter: Integer | Real) -> dict[str, object] | None:
    gridded = isinstance(parameter, Real) or parameter.log
    if not gridded or parameter.levels == DEFAULT_LEVELS:
        return None
    return {META: {"levels": max(parameter.levels, 3)}}


def _condition(library: Any, cs: Any, space: Space, child: str) -> Any:
    make = partial(_simple_condition, library, cs, child)
    joints = (library.AndConjunction, library.OrConjunction)
    try:
        return _joined(space, space.conditions[child], make, joints)
    except BadInput as error:
        raise BadInput(f"the condition of {child!r} cannot be written: {error}") from None


def _simple_condition(library: Any, cs: Any, child: str, leaf: Leaf) -> Any:
    if isinstance(leaf, Member):
        return library.InCondition(cs[child], cs[leaf.name], list(leaf.values))
    kind = {"==": "Equals", "!=": "NotEquals", "<": "LessThan", ">": "GreaterThan"}[leaf.sign]
    return getattr(library, f"{kind}Condition")(cs[child], cs[leaf.name], leaf.other)


def _clause(library: Any, cs: Any, space: Space, clause: Expression) -> Any:
    make = partial(_simple_clause, library, cs)
    joints = (library.ForbiddenAndConjunction, library.ForbiddenOrConjunction)
    try:
        return _joined(space, clause, make, joints, forbidden=True)
    except BadInput as error:
        raise BadInput(f"the forbidden '{clause}' cannot be written: {error}") from None


_CLAUSES = {
    "==": "Equals",
    "<": "LessThan",
    "<=": "LessThanEquals",
    ">": "GreaterThan",
    ">=": "GreaterThanEquals",
}


def _simple_clause(library: Any, cs: Any, leaf: Leaf) -> Any:
    if isinstance(leaf, Member):
        return library.ForbiddenInClause(cs[leaf.name], list(leaf.values))
    kind = _CLAUSES[leaf.sign]
    if isinstance(leaf.other, Ref):
        relation = getattr(library, f"Forbidden{kind}Relation")
        return relation(cs[leaf.name], cs[leaf.other.name])
    return getattr(library, f"Forbidden{kind}Clause")(cs[leaf.name], leaf.other)


def _joined(
    space: Space,
    expression: Expression,
    make: Callable[[Leaf], Any],
    joints: tuple[Any, Any],
    forbidden: bool = False,
) -> Any:
    """The library's object for an expression; `joints` are its words for and, or."""
    if isinstance(expression, And | Or):
        parts = [_joined(space, part, make, joints, forbidden) for part in expression.parts]
        return joints[isinstance(expression, Or)](*parts)
    if forbidden and isinstance(expression, Compare) and isinstance(expression.other, Ref):
        leaves = _relations(space, expression)
    else:
        # There is no != among forbidden clauses: so none may be taken for always active.
        conditional = space.parameters if forbidden else space.conditions
        leaves = [leaf for [leaf] in simpler(expression, space.parameters, conditional)]
    if not leaves:
        raise BadInput(f"nothing satisfies '{expression}'")
    made = [make(leaf) for leaf in leaves]
    return made[0] if len(made) == 1 else joints[1](*made)


def _relations(space: Space, leaf: Compare) -> list[Leaf]:
    assert isinstance(leaf.other, Ref)  # noqa: S101 -- for the type checker
    if any(is_listed(space.parameters[name]) for name in (leaf.name, leaf.other.name)):
        raise BadInput(f"only ranges can be compared with each other: '{leaf}'")
    if leaf.sign != "!=":
        return [leaf]
    return [Compare(leaf.name, sign, leaf.other) for sign in ("<", ">")]
