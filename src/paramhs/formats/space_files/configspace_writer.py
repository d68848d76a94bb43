"""Writer of ConfigSpace's JSON and YAML, in the form read by its versions from 1.0.

The library itself is not used, so that parameters keep their order and ranges their exact ends.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

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
)
from paramhs.core.space.conditions.terms import Ref
from paramhs.core.space.parameters import Integer, Ordinal, Parameter, Real
from paramhs.core.space.space import Space
from paramhs.formats.space_files.configspace_reader import (
    CLAUSE_SIGNS,
    CONDITION_SIGNS,
    META,
    RELATION_SIGNS,
    missing,
)
from paramhs.formats.space_files.lowering import has_own_levels, simpler
from paramhs.formats.space_files.source_lines import is_listed

_FORMAT = 0.4  # version of the file format
_IN_CONDITIONS = {sign: kind for kind, sign in CONDITION_SIGNS.items()}
_IN_CLAUSES = {sign: kind for kind, sign in CLAUSE_SIGNS.items()}
_IN_RELATIONS = {sign: kind for kind, sign in RELATION_SIGNS.items()}

Item = dict[str, Any]


def written_configspace(space: Space, format: str) -> str:
    """Write the space as JSON or YAML."""
    content = {
        "name": None,
        "hyperparameters": [_parameter(name, p) for name, p in space.parameters.items()],
        "conditions": [_condition(space, child) for child in space.conditions],
        "forbiddens": [_clause(space, clause) for clause in space.forbidden],
        "python_module_version": "1.2.0",
        "format_version": _FORMAT,
    }
    if format == "configspace-json":
        return json.dumps(content, indent=2) + "\n"
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise missing(error) from None
    # Converted through JSON, so that no object is shared and YAML needs no aliases.
    plain = json.loads(json.dumps(content))
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))


def _parameter(name: str, parameter: Parameter) -> Item:
    if is_listed(parameter):
        kind, key = "categorical", "choices"
        if isinstance(parameter, Ordinal):
            kind, key = "ordinal", "sequence"
        values = [parameter.value(i) for i in range(parameter.levels)]
        weights = {"weights": None} if key == "choices" else {}
        item: Item = {"type": kind, "name": name, key: values, **weights}
        return {**item, "default_value": parameter.default, "meta": None}
    assert isinstance(parameter, Integer | Real)  # noqa: S101 -- for the type checker
    if isinstance(parameter, Integer) and parameter.step > 1:
        raise BadInput(f"ConfigSpace cannot express the step of {name}: {parameter.step}")
    if isinstance(parameter, Integer) and max(-parameter.low, parameter.high) >= 2**63:
        raise BadInput(f"ConfigSpace's integers end at 2^63, but {name} exceeds it")
    return {
        "type": "uniform_int" if isinstance(parameter, Integer) else "uniform_float",
        "name": name,
        "lower": parameter.low,
        "upper": parameter.high,
        "default_value": parameter.default,
        "log": parameter.log,
        "meta": _grid(parameter),
    }


def _grid(parameter: Integer | Real) -> Item | None:
    if not has_own_levels(parameter):
        return None
    return {META: {"levels": max(parameter.levels, 3)}}


def _condition(space: Space, child: str) -> Item:
    try:
        return _joined(
            space,
            space.conditions[child],
            partial(_simple_condition, child),
            {"child": child},
            "conditions",
        )
    except BadInput as error:
        raise BadInput(f"the condition of {child!r} cannot be expressed: {error}") from None


def _simple_condition(child: str, leaf: Leaf) -> Item:
    item = {"type": "IN", "child": child, "parent": leaf.name}
    if isinstance(leaf, Member):
        return {**item, "values": list(leaf.values)}
    return {**item, "type": _IN_CONDITIONS[leaf.sign], "value": leaf.other}


def _clause(space: Space, clause: Expression) -> Item:
    try:
        return _joined(space, clause, _simple_clause, {}, "clauses")
    except BadInput as error:
        raise BadInput(f"the forbidden '{cut(clause)}' cannot be expressed: {error}") from None


def _simple_clause(leaf: Leaf) -> Item:
    if isinstance(leaf, Member):
        return {"type": "IN", "name": leaf.name, "values": list(leaf.values)}
    if isinstance(leaf.other, Ref):
        return {"type": _IN_RELATIONS[leaf.sign], "left": leaf.name, "right": leaf.other.name}
    return {"type": _IN_CLAUSES[leaf.sign], "name": leaf.name, "value": leaf.other}


def _joined(
    space: Space, expression: Expression, make: Callable[[Leaf], Item], more: Item, key: str
) -> Item:
    """Item of an expression; joints contain `more`, and their parts under `key`."""
    if isinstance(expression, And | Or):
        kind = "OR" if isinstance(expression, Or) else "AND"
        parts = [_joined(space, part, make, more, key) for part in expression.parts]
        return {"type": kind, **more, key: parts}
    made = [make(leaf) for leaf in _leaves(space, expression, forbidden=key == "clauses")]
    return made[0] if len(made) == 1 else {"type": "OR", **more, key: made}


def _leaves(space: Space, expression: Leaf | Relation, forbidden: bool) -> list[Leaf]:
    """Comparisons known to ConfigSpace whose disjunction is the expression."""
    if isinstance(expression, Relation):
        raise BadInput(f"ConfigSpace has no arithmetic: '{cut(expression)}'")
    if forbidden and isinstance(expression, Compare) and isinstance(expression.other, Ref):
        return _relations(space, expression)
    # Forbidden clauses have no !=, so no parameter may be treated as always active.
    conditional = space.parameters if forbidden else space.conditions
    leaves = [leaf for [leaf] in simpler(expression, space.parameters, conditional)]
    if not leaves:
        raise BadInput(f"nothing satisfies '{cut(expression)}'")
    return leaves


def _relations(space: Space, leaf: Compare) -> list[Leaf]:
    assert isinstance(leaf.other, Ref)  # noqa: S101 -- for the type checker
    if any(is_listed(space.parameters[name]) for name in (leaf.name, leaf.other.name)):
        raise BadInput(f"only numeric ranges can be compared with each other: '{leaf}'")
    if leaf.sign != "!=":
        return [leaf]
    return [Compare(leaf.name, sign, leaf.other) for sign in ("<", ">")]
