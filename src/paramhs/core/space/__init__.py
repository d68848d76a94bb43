"""Parameters, configurations and spaces."""

from paramhs.core.space.conditions.expressions import (
    And,
    Compare,
    Expression,
    Member,
    Or,
    Relation,
    compiled,
)
from paramhs.core.space.conditions.parser import parse
from paramhs.core.space.conditions.terms import Calculation, Ref
from paramhs.core.space.config import INACTIVE, Config
from paramhs.core.space.literals import Value, value_text
from paramhs.core.space.parameters import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from paramhs.core.space.space import Space

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
