"""Parameters, configurations and spaces."""

from paramhs.values.space.config import INACTIVE, Config
from paramhs.values.space.expressions import (
    And,
    Compare,
    Expression,
    Member,
    Or,
    Ref,
    compiled,
    parse,
)
from paramhs.values.space.parameters import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from paramhs.values.space.space import Space
from paramhs.values.space.values import Value, value_text

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
