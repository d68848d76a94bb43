"""Base class of comparisons."""

from abc import ABC, abstractmethod
from numbers import Integral

from paramhs.core.errors import BadInput
from paramhs.core.runs import Asking
from paramhs.core.space import Config
from paramhs.search.history import History


class Comparison(ABC):
    """Rule that decides between two configurations by requesting runs.

    It keeps no state: everything it knows is in the history.
    """

    @abstractmethod
    def start(self, history: History, config: Config) -> Asking:
        """Make the initial runs of a first incumbent.

        Args:
            history: Everything the search knows.
            config: The first incumbent.

        Returns:
            A generator that requests runs.
        """

    @abstractmethod
    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Whether the challenger replaces the incumbent.

        Args:
            history: Everything the search knows.
            challenger: The configuration that was proposed.
            incumbent: The configuration to beat.

        Returns:
            A generator that requests runs and returns whether the challenger wins.
        """

    @abstractmethod
    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Whether another race between the two could not end differently.

        Args:
            history: Everything the search knows.
            challenger: The configuration that was proposed.
            incumbent: The configuration to beat.

        Returns:
            Whether a further race could not change the outcome.
        """


def check_runs(runs: object) -> None:
    """Reject an invalid number of runs."""
    if not isinstance(runs, Integral) or runs < 1:
        raise BadInput(f"a comparison needs at least 1 run, not {runs}")
