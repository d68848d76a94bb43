"""Base class of comparisons."""

from abc import ABC, abstractmethod
from numbers import Integral

from paramhs.core.errors import BadInput
from paramhs.core.runs import Asking
from paramhs.core.space import Config
from paramhs.search.history import History


class Comparison(ABC):
    """Decides between two configurations by requesting runs; all it knows is in the history."""

    @abstractmethod
    def start(self, history: History, config: Config) -> Asking:
        """Make the initial runs of a first incumbent.

        Args:
            history: What the search knows.
            config: The first incumbent.

        Returns:
            A generator that asks for runs.
        """

    @abstractmethod
    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger replaces the incumbent.

        Args:
            history: What the search knows.
            challenger: The configuration that was proposed.
            incumbent: The configuration to beat.

        Returns:
            A generator that asks for runs and returns whether the challenger wins.
        """

    @abstractmethod
    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether another race between them could not end otherwise: all is known that counts.

        Args:
            history: What the search knows.
            challenger: The configuration that was proposed.
            incumbent: The configuration to beat.

        Returns:
            Whether a further race could not change the outcome.
        """


def check_runs(runs: object) -> None:
    """Reject an invalid number of runs."""
    if not isinstance(runs, Integral) or runs < 1:
        raise BadInput(f"a comparison needs at least 1 run, not {runs}")
