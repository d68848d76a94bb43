"""What a solver says about one of its options."""

from dataclasses import dataclass
from typing import Literal

from paramhs.core.space import Value

Kind = Literal["boolean", "integer", "real", "choice", "text"]


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
