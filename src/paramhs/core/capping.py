"""Adaptive capping: stop a run as soon as it can no longer win, where time is the cost."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from paramhs.core.errors import BadInput

Kind = Literal["none", "preserving", "aggressive"]

MIN_CAP = 0.01
"""Smallest cutoff in seconds, because starting a program takes part of it."""

# Per second: caps are rounded up to a millisecond, which every program can read.
_CAPS_PER_SECOND = 1000


@dataclass(frozen=True)
class Capping:
    """When the run of a challenger is stopped early.

    "preserving" stops a run once its configuration can no longer win; all decisions stay as they
    would be without capping. "aggressive" also stops a challenger that has taken `factor` times as
    long as the incumbent on the pairs compared so far. Without a factor, the bound falls with the
    number of pairs.

    Args:
        kind: "none", "preserving" or "aggressive".
        factor: Bound of aggressive capping, as a multiple of the incumbent's time. Left out: 1 + 4
            / pairs.

    Examples:
        >>> from paramhs.core import Capping
        >>> Capping("aggressive").times(4)
        2.0

    Source: Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009), section 7, where the factor is 2;
    the dependence on the number of pairs is our own.
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
        """Largest allowed ratio of the challenger's time to the incumbent's on this number of
        pairs.

        Args:
            pairs: Number of pairs compared so far.

        Returns:
            The ratio; infinite unless the capping is aggressive.
        """
        if self.kind != "aggressive":
            return math.inf
        return 1 + 4 / pairs if self.factor is None else self.factor

    def describe(self) -> dict[str, object]:
        """Describe the capping in JSON types."""
        return {"name": self.kind} | ({"factor": self.factor} if self.factor is not None else {})


def cap(seconds: float) -> float:
    """Round a cutoff up to what programs can read, and to at least `MIN_CAP`."""
    return (
        max(math.ceil(seconds * _CAPS_PER_SECOND) / _CAPS_PER_SECOND, MIN_CAP)
        if seconds < math.inf
        else seconds
    )
