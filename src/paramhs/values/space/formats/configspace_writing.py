"""Writes ConfigSpace's JSON and YAML, in the form that its versions from 1.0 on read.

The library itself is not used, so that parameters keep their order and ranges their exact ends.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

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
)
from paramhs.values.space.formats.configspace import (
    CLAUSE_SIGNS,
    CONDITION_SIGNS,
    META,
    RELATION_SIGNS,
    missing,
)
from paramhs.values.space.formats.simpler import simpler
from paramhs.values.space.formats.texts import is_listed
from paramhs.values.space.parameters import DEFAULT_LEVELS, Integer, Ordinal, Parameter, Real
from paramhs.values.space.space import Space
from paramhs.values.space.terms import Ref

_FORMAT = 0.4  # the version of the form, as ConfigSpace counts
_IN_CONDITIONS = {sign: kind for kind, sign in CONDITION_SIGNS.items()}
_IN_CLAUSES = {sign: kind for kind, sign in CLAUSE_SIGNS.items()}
_IN_RELATIONS = {sign: kind for kind, sign in RELATION_SIGNS.items()}

Item = dict[str, Any]


def written_configspace(space: Space, format: str) -> str:
    """The space as JSON or YAML."""
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
    # Gone through JSON, so that nothing is shared and YAML needs no aliases.
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
        raise BadInput(f"ConfigSpace cannot say that {name} goes in steps of {parameter.step}")
    if isinstance(parameter, Integer) and max(-parameter.low, parameter.high) >= 2**63:
        raise BadInput(f"ConfigSpace's integers end at 2^63: those of {name} do not")
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
    gridded = isinstance(parameter, Real) or parameter.log
    if not gridded or parameter.levels == DEFAULT_LEVELS:
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
        raise BadInput(f"the condition of {child!r} cannot be written: {error}") from None


def _simple_condition(child: str, leaf: Leaf) -> Item:
    item = {"type": "IN", "child": child, "parent": leaf.name}
    if isinstance(leaf, Member):
        return {**item, "values": list(leaf.values)}
    return {**item, "type": _IN_CONDITIONS[leaf.sign], "value": leaf.other}


def _clause(space: Space, clause: Expression) -> Item:
    try:
        return _joined(space, clause, _simple_clause, {}, "clauses")
    except BadInput as error:
        raise BadInput(f"the forbidden '{cut(clause)}' cannot be written: {error}") from None


def _simple_clause(leaf: Leaf) -> Item:
    if isinstance(leaf, Member):
        return {"type": "IN", "name": leaf.name, "values": list(leaf.values)}
    if isinstance(leaf.other, Ref):
        return {"type": _IN_RELATIONS[leaf.sign], "left": leaf.name, "right": leaf.other.name}
    return {"type": _IN_CLAUSES[leaf.sign], "name": leaf.name, "value": leaf.other}


def _joined(
    space: Space, expression: Expression, make: Callable[[Leaf], Item], more: Item, key: str
) -> Item:
    """The item for an expression; joints have what is in `more`, and their parts under `key`."""
    if isinstance(expression, And | Or):
        kind = "OR" if isinstance(expression, Or) else "AND"
        parts = [_joined(space, part, make, more, key) for part in expression.parts]
        return {"type": kind, **more, key: parts}
    made = [make(leaf) for leaf in _leaves(space, expression, forbidden=key == "clauses")]
    return made[0] if len(made) == 1 else {"type": "OR", **more, key: made}


def _leaves(space: Space, expression: Leaf | Relation, forbidden: bool) -> list[Leaf]:
    """Comparisons that ConfigSpace knows, of which one must hold."""
    if isinstance(expression, Relation):
        raise BadInput(f"ConfigSpace has no arithmetic: '{cut(expression)}'")
    if forbidden and isinstance(expression, Compare) and isinstance(expression.other, Ref):
        return _relations(space, expression)
    # There is no != among forbidden clauses: so none may be taken for always active.
    conditional = space.parameters if forbidden else space.conditions
    leaves = [leaf for [leaf] in simpler(expression, space.parameters, conditional)]
    if not leaves:
        raise BadInput(f"nothing satisfies '{cut(expression)}'")
    return leaves


def _relations(space: Space, leaf: Compare) -> list[Leaf]:
    assert isinstance(leaf.other, Ref)  # noqa: S101 -- for the type checker
    if any(is_listed(space.parameters[name]) for name in (leaf.name, leaf.other.name)):
        raise BadInput(f"only ranges can be compared with each other: '{leaf}'")
    if leaf.sign != "!=":
        return [leaf]
    return [Compare(leaf.name, sign, leaf.other) for sign in ("<", ">")]
