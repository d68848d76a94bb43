"""Base class of comparisons."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from numbers import Integral
from typing import NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.runs import Asking, Evaluate, Found, Pair, Run, Task
from paramhs.core.space import Config
from paramhs.search.dialogue import Dialogue, checked
from paramhs.search.history import History


class Opening(NamedTuple):
    """What a race will request that is opened now and held after others."""

    ahead: Callable[[Found], Sequence[Task]]
    """Returns runs of the challenger, given those that were made early."""
    gained: Sequence[Pair] = ()
    """New pairs of the incumbent, on which it runs as well."""


OpenRace = Generator[Evaluate | Opening, Sequence[Run], bool]
"""A race that yields its opening first, and then requests runs."""


class Comparison(ABC):
    """Rule that decides between two configurations by requesting runs.

    It keeps no state: everything it knows is in the history.
    """

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "better" in vars(cls) and "opened" not in vars(cls):
            cls.opened = Comparison.opened  # type: ignore[method-assign]  # not those of another race

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

    def opened(
        self,
        history: History,
        challenger: Config,
        incumbent: Config,
        planned: Sequence[Pair] = (),
    ) -> OpenRace:
        """A race like that of `better`, which may be opened a while before it is held.

        Between its opening and its first request the history may grow.

        Args:
            history: Everything the search knows.
            challenger: The configuration that was proposed.
            incumbent: The configuration to beat.
            planned: Pairs that the incumbent will have run on when the race is held.

        Returns:
            A generator like that of `better`, which yields its opening first.
        """

        def ahead(found: Found) -> Sequence[Task]:
            return first_tasks(self.better(history.copy(), challenger, incumbent))

        yield Opening(ahead)
        return (yield from checked(self.better(history, challenger, incumbent)))

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


def first_tasks(asking: Asking) -> Sequence[Task]:
    """The first runs that a race will request; the race is not held."""
    dialogue = Dialogue(asking)
    dialogue.close()
    return dialogue.request.tasks if dialogue.request else ()


def check_runs(runs: object) -> None:
    """Reject an invalid number of runs."""
    if not isinstance(runs, Integral) or runs < 1:
        raise BadInput(f"a comparison needs at least 1 run, not {runs}")
