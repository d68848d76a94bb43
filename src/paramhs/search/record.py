"""The record of a search: everything that happened, in order.

There is one for each search. The driver writes it, a store keeps it, `load` returns the same type,
and results, pages and live views read it. It only ever grows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramhs.core.runs import Point, Run
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.search.history import History
from paramhs.search.proposal_law import UNKNOWN_LAW, ProposalLaw


@dataclass(frozen=True)
class Ending:
    """How a search ended. A field that is empty is not known: the search runs, or was killed."""

    stopped: str = ""
    """Why it ended."""
    no_test_set: str = ""
    """Why no verdict was to follow, as a sentence; empty if one was."""
    mixed: str = ""
    """What changed while the search made its runs, as a sentence: they cannot be judged."""


UNKNOWN = Ending()


@dataclass(eq=False)
class Record:
    """One search: its runs, races and incumbents in order, and why it ended."""

    history: History
    """The runs known before the search, then those it was given, in the order in which it asked for
    them; its decided races, and the open one. An index of them by configuration and by pair."""
    target: Mapping[str, Any] = field(default_factory=dict)
    """The target's description, in JSON types; empty if there is none."""
    trajectory: list[Point] = field(default_factory=list)
    """The incumbents, in order."""
    elapsed: list[float] = field(default_factory=list)
    """For each run in `runs`, seconds from the beginning until it was stored, over all sessions."""
    speculative: int = 0
    """Number of runs that idle workers made ahead of time and that were not used."""
    sessions: int = 1
    """Number of times the search was started or resumed."""
    target_time: float = 0.0
    """Seconds that the target ran, speculative runs included."""
    wall_time: float = 0.0
    """Seconds that passed, over all sessions."""
    ending: Ending = UNKNOWN
    """How the search ended; empty while it runs."""
    proposals: ProposalLaw = UNKNOWN_LAW
    """What is known of the law of its proposals."""

    @property
    def scenario(self) -> Scenario:
        """What was tuned; instances that were read from a store have names only."""
        return self.history.scenario

    @property
    def space(self) -> Space:
        """Space of the tuned parameters."""
        return self.scenario.space

    @property
    def runs(self) -> Sequence[Run]:
        """The runs that the search asked for, in order, without those known before."""
        known = len(self.scenario.known)
        return self.history.runs[known:] if known else self.history.runs

    @property
    def default(self) -> Config:
        """The configuration at which the search began."""
        return self.space.default

    @property
    def incumbent(self) -> Config | None:
        """The best configuration so far; None before the first."""
        return self.trajectory[-1].config if self.trajectory else None

    @property
    def best(self) -> Config:
        """The last incumbent; the default while there is none."""
        return self.incumbent or self.default
