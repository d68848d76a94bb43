"""Parameters, configurations and spaces."""

from paramhs.space.config import INACTIVE, Config
from paramhs.space.expressions import And, Compare, Expression, Member, Or, Ref, compiled, parse
from paramhs.space.parameters import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from paramhs.space.space import Space
from paramhs.space.values import Value, value_text

__all__ = [
    "INACTIVE",
    "And",
    "Boolean",
    "Categorical",
    "Compare",
    "Config",
    "Expression",
    "Integer",
    "Member",
    "Or",
    "Ordinal",
    "Parameter",
    "Real",
    "Ref",
    "Space",
    "Value",
    "compiled",
    "parse",
    "value_text",
]
