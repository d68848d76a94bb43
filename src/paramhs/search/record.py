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
    """How a search ended. An empty field is unknown: the search is running or was killed."""

    stopped: str = ""
    """Reason why the search ended."""
    no_test_set: str = ""
    """Why no verdict was to follow, as a sentence; empty if one was."""
    mixed: str = ""
    """Files that changed during the runs, as a sentence; such runs cannot be judged."""


UNKNOWN = Ending()


@dataclass(eq=False)
class Record:
    """One search: its runs, races and incumbents in order, and why it ended."""

    history: History
    """Index by configuration and by pair of all runs in order, the races, and the open race.

    Runs known before the search come first."""
    target: Mapping[str, Any] = field(default_factory=dict)
    """The target's description, in JSON types; empty if there is none."""
    trajectory: list[Point] = field(default_factory=list)
    """The incumbents, in order."""
    elapsed: list[float] = field(default_factory=list)
    """Seconds until each run in `runs` was stored, over all sessions."""
    speculative: int = 0
    """Number of speculative runs that were not used."""
    sessions: int = 1
    """Number of times the search was started or resumed."""
    target_time: float = 0.0
    """Total runtime of the target in seconds, speculative runs included."""
    wall_time: float = 0.0
    """Elapsed time in seconds, over all sessions."""
    ending: Ending = UNKNOWN
    """How the search ended; empty while it runs."""
    proposals: ProposalLaw = UNKNOWN_LAW
    """Known part of the law of the search's proposals."""

    @property
    def scenario(self) -> Scenario:
        """The tuning problem; instances that were read from a store have names only."""
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
