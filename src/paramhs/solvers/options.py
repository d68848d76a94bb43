"""What a solver says about one of its options."""

from dataclasses import dataclass
from typing import Literal

from paramhs.core.space import Value

Kind = Literal["boolean", "integer", "real", "choice", "text"]

UNSET = "-"
"""The default of an option that has no value of its own by default; it is never written."""


@dataclass(frozen=True)
class Option:
    """An option as the installed version lists it.

    `low` and `high` are None where the solver gives no bound. `log` says that the solver itself
    marks the range as exponential.
    """

    name: str
    kind: Kind
    default: Value
    low: float | None = None
    high: float | None = None
    choices: tuple[Value, ...] = ()
    description: str = ""
    log: bool = False
    deprecated: bool = False
    expert: bool = False
    """Whether the solver says that the option is for experts or for its developers."""
    switch: str | None = None
    """Text before the value, where it is not that of the entry's style."""
