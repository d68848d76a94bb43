"""How a run is cut short that can no longer win, where time is what counts."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from paramhs.values.errors import BadInput

Kind = Literal["none", "preserving", "aggressive"]

LEAST_CAP = 0.01
"""Seconds: no run is given less, for starting a program takes a part of that."""

_STEPS = 1000  # a second: caps are rounded up to a millisecond, which every program can read


@dataclass(frozen=True)
class Capping:
    """When a challenger's run is cut short.

    "preserving": when its configuration can no longer win. All decisions are what they would be
    without. "aggressive": also when, on the pairs met so far, it has taken so many times what the
    incumbent took; `factor` says how many, and left out it falls with the number of pairs.

    Source: Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009), section 7, where the factor is 2;
    that it depends on the number of pairs is our own.
    """

    kind: Kind = "none"
    factor: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            known = ", ".join(map(repr, get_args(Kind)))
            raise BadInput(f"there is no capping {self.kind!r}; there are {known}")
        if self.factor is None:
            return
        if self.kind != "aggressive":
            raise BadInput("only aggressive capping has a factor")
        number = isinstance(self.factor, int | float) and not isinstance(self.factor, bool)
        if not number or not 1 <= self.factor < math.inf:
            raise BadInput(f"the factor of capping must be at least 1, not {self.factor!r}")

    def times(self, pairs: int) -> float:
        """How many times the incumbent's time a challenger may take on so many pairs."""
        if self.kind != "aggressive":
            return math.inf
        return 1 + 4 / pairs if self.factor is None else self.factor

    def describe(self) -> dict[str, object]:
        """What defines it, in JSON types."""
        return {"name": self.kind} | ({"factor": self.factor} if self.factor is not None else {})


def cap(seconds: float) -> float:
    """The cutoff of a run that may take so long: never nothing, and no finer than programs read."""
    return max(math.ceil(seconds * _STEPS) / _STEPS, LEAST_CAP) if seconds < math.inf else seconds
