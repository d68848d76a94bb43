"""What every comparison offers."""

from numbers import Integral
from typing import Protocol

from paramhs.search.history import History
from paramhs.values.errors import BadInput
from paramhs.values.runs import Asking
from paramhs.values.space import Config


class Comparison(Protocol):
    """Who is better. It asks for runs and decides; all that it knows is in the history."""

    def start(self, history: History, config: Config) -> Asking:
        """Make the initial runs of a first incumbent."""

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger replaces the incumbent."""

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether another race between them could not end otherwise: all is known that counts."""


def check_runs(runs: object) -> None:
    """Refuse what is no number of runs."""
    if not isinstance(runs, Integral) or runs < 1:
        raise BadInput(f"a comparison needs at least 1 run, not {runs}")
