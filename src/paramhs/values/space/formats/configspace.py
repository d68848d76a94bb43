"""Reads ConfigSpace's JSON and YAML, through that library (the extra `configspace`).

The library checks the file and makes its objects; here they become ours.
"""

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramhs.values.errors import BadInput
from paramhs.values.space.expressions import Compare, Expression, Member, Ref
from paramhs.values.space.formats.logic import Resolver, Unlike, both, either
from paramhs.values.space.parameters import Boolean, Categorical, Integer, Ordinal, Parameter, Real
from paramhs.values.space.space import Space
from paramhs.values.space.values import Value

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

META = "paramhs"  # what a grid has beyond ConfigSpace's range is kept in its meta data, under this

_SIGNS = {
    "EqualsCondition": "==",
    "GreaterThanCondition": ">",
    "LessThanCondition": "<",
    "ForbiddenEqualsClause": "==",
    "ForbiddenGreaterThanClause": ">",
    "ForbiddenGreaterThanEqualsClause": ">=",
    "ForbiddenLessThanClause": "<",
    "ForbiddenLessThanEqualsClause": "<=",
    "ForbiddenEqualsRelation": "==",
    "ForbiddenGreaterThanRelation": ">",
    "ForbiddenGreaterThanEqualsRelation": ">=",
    "ForbiddenLessThanRelation": "<",
    "ForbiddenLessThanEqualsRelation": "<=",
}


def read_configspace(path: Path, text: str, format: str) -> Space:
    """The space that a file describes."""
    said = _loaded_json(path, text) if format == "configspace-json" else _loaded_yaml(path, text)
    if not isinstance(said, dict) or not isinstance(said.get("hyperparameters"), list):
        raise BadInput(f"{path}: expected a ConfigSpace with a list of hyperparameters")
    steps = {h["name"]: h["q"] for h in said["hyperparameters"] if _has_step(h)}
    return _translated(_library_object(path, said), steps)


def _loaded_json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}, line {error.lineno}, column {error.colno}: {error.msg}") from None


def _loaded_yaml(path: Path, text: str) -> Any:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise missing(error) from None
    try:
        return yaml.load(text, _with_tuples(yaml.SafeLoader))  # noqa: S506 -- a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise BadInput(f"{path}{place}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise BadInput(f"{path}: {error}") from None


def _with_tuples(safe: Any) -> Any:
    """A safe loader that also knows the tuples which ConfigSpace writes."""
    loader = type("Loader", (safe,), {})
    loader.add_constructor("tag:yaml.org,2002:python/tuple", safe.construct_sequence)  # type: ignore[attr-defined]
    return loader


def missing(error: ModuleNotFoundError) -> BadInput:
    """What to install."""
    return BadInput(f"{error.name} is not installed: pip install 'paramhs[configspace]'")


def _has_step(hyperparameter: object) -> bool:
    return isinstance(hyperparameter, dict) and hyperparameter.get("q") is not None


def _library_object(path: Path, said: dict[str, Any]) -> "ConfigurationSpace":
    try:
        from ConfigSpace import ConfigurationSpace
    except ModuleNotFoundError as error:
        raise missing(error) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about q and older versions of the format
            return ConfigurationSpace.from_serialized_dict(said)
    except Exception as error:  # the library raises whatever its parts raise
        what = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{path}: ConfigSpace cannot read it: {what[:300]}") from None


def _translated(cs: "ConfigurationSpace", steps: Mapping[str, float]) -> Space:
    parameters = {name: _parameter(name, hp, steps.get(name)) for name, hp in cs.items()}
    said = {condition.child.name: _expression(condition) for condition in cs.conditions}
    resolver = Resolver(said)
    return Space(
        parameters,
        conditions=resolver.conditions(),
        forbidden=[resolver.meant(_expression(clause)) for clause in cs.forbidden_clauses],
    )


def _parameter(name: str, hp: Any, step: float | None) -> Parameter:
    kind = type(hp).__name__.removesuffix("Hyperparameter")
    make = _MAKERS.get(kind)
    if make is None:
        raise BadInput(f"{name}: parameters of type {kind} are not read")
    try:
        return make(hp, step)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None


def _integer(hp: Any, step: float | None) -> Parameter:
    low, high, default = int(hp.lower), int(hp.upper), int(hp.default_value)
    if hp.log:
        return Integer(low, high, log=True, levels=_levels(hp), default=default)
    return Integer(low, high, 1 if step is None else int(step), default=default)


def _real(hp: Any, step: float | None) -> Parameter:
    low, high, default = float(hp.lower), float(hp.upper), float(hp.default_value)
    levels = _levels(hp)
    if step is not None and not hp.log:
        levels = round((high - low) / step) + 1
    return Real(low, high, **({"levels": levels} if levels else {}), log=hp.log, default=default)


def _levels(hp: Any) -> int | None:
    kept = (hp.meta or {}).get(META)
    return kept.get("levels") if isinstance(kept, dict) else None


def _categorical(hp: Any, step: float | None) -> Parameter:
    values, default = [_plain(v) for v in hp.choices], _plain(hp.default_value)
    if values[0] is False and values[1:] == [True]:
        return Boolean(default=bool(default))
    return Categorical(values, default=default)


def _ordinal(hp: Any, step: float | None) -> Parameter:
    return Ordinal([_plain(v) for v in hp.sequence], default=_plain(hp.default_value))


def _constant(hp: Any, step: float | None) -> Parameter:
    return Categorical([_plain(hp.value)])


_MAKERS: dict[str, Callable[[Any, float | None], Parameter]] = {
    "UniformFloat": _real,
    "NormalFloat": _real,
    "BetaFloat": _real,
    "UniformInteger": _integer,
    "NormalInteger": _integer,
    "BetaInteger": _integer,
    "Categorical": _categorical,
    "Ordinal": _ordinal,
    "Constant": _constant,
}


def _plain(value: Any) -> Value:
    """Numbers of numpy become Python's."""
    plain: Value = value.item() if hasattr(value, "item") else value
    return plain


def _expression(said: Any) -> Expression:
    """A condition or a forbidden clause."""
    kind = type(said).__name__
    if kind in ("AndConjunction", "ForbiddenAndConjunction"):
        return both(map(_expression, said.components))
    if kind in ("OrConjunction", "ForbiddenOrConjunction"):
        return either(map(_expression, said.components))
    if kind in _SIGNS and kind.endswith("Relation"):
        return Compare(said.left.name, _SIGNS[kind], Ref(said.right.name))
    name = said.parent.name if hasattr(said, "parent") else said.hyperparameter.name
    if kind in ("InCondition", "ForbiddenInClause"):
        return Member(name, tuple(dict.fromkeys(map(_plain, said.values))))
    if kind == "NotEqualsCondition":
        return Unlike(name, (_plain(said.value),))
    if kind not in _SIGNS:
        raise BadInput(f"{kind} is not read")
    return Compare(name, _SIGNS[kind], _plain(said.value))
