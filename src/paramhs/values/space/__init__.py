"""Parameters, configurations and spaces."""

from paramhs.values.space.config import INACTIVE, Config
from paramhs.values.space.expressions import (
    And,
    Compare,
    Expression,
    Member,
    Or,
    Relation,
    compiled,
)
from paramhs.values.space.parameters import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from paramhs.values.space.parsing import parse
from paramhs.values.space.space import Space
from paramhs.values.space.terms import Calculation, Ref
from paramhs.values.space.values import Value, value_text

__all__ = [
    "INACTIVE",
    "And",
    "Boolean",
    "Calculation",
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
    "Relation",
    "Space",
    "Value",
    "compiled",
    "parse",
    "value_text",
]
