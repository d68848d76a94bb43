"""Content of a report: a search, and what is known about its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paramhs.analysis.ablation import Simplified
from paramhs.analysis.capping_savings import Saved
from paramhs.analysis.failures import FailureGroup
from paramhs.analysis.importance import Importance
from paramhs.analysis.interactions import Interaction
from paramhs.analysis.solved import NO_ANSWERS, Answers
from paramhs.analysis.verdict import NoVerdict, Verdict
from paramhs.core.costs import CostMetric
from paramhs.core.runs import Point, Run
from paramhs.core.space import Config
from paramhs.execution.targets.command.template import command_line_of, target_name
from paramhs.report.landscape_map import Map
from paramhs.search.history import History
from paramhs.search.record import Record


@dataclass(frozen=True)
class Material:
    """Everything shown on the page; unknown parts are left out."""

    record: Record
    verdict: Verdict | NoVerdict
    name: str
    """What the reader calls it: mostly the store's name."""
    running: bool = False
    notes: tuple[str, ...] = ()
    """Sentences that a reader must know about the runs."""
    capped: Saved | None = None
    """Time saved by capping."""
    simplified: Simplified | None = None
    importance: tuple[Importance, ...] = ()
    interactions: tuple[Interaction, ...] | None = None
    """Interactions of parameters; None if not requested."""
    failures: tuple[FailureGroup, ...] = ()
    unsolved: tuple[str, ...] = ()
    """Instances on which no run succeeded."""
    answers: Answers = NO_ANSWERS
    """Summary of the answers."""
    map: Map | None = None
    calls: Mapping[str, str] = field(default_factory=dict)
    """Commands that continue from here, ready to paste, by name."""
    refresh: int | None = None
    """Seconds after which a browser should reload the page."""
    written: str = ""
    """Date and time of the page."""

    @property
    def target(self) -> str:
        """What was tuned, in words."""
        return target_name(self.record.target)

    @property
    def command(self) -> str:
        """The command line of the best."""
        return command_line_of(self.record.target, self.best)

    @property
    def simplified_command(self) -> str:
        """The command line of the simplified best."""
        found = self.simplified
        return command_line_of(self.record.target, found.config) if found else ""

    @property
    def clock(self) -> str:
        """Which time the target's is, "wall" or "cpu"."""
        return str(self.record.target.get("clock", "wall"))

    @property
    def history(self) -> History:
        """The runs, by configuration and by pair."""
        return self.record.history

    @property
    def trajectory(self) -> Sequence[Point]:
        """The incumbents, in order."""
        return self.record.trajectory

    @property
    def metric(self) -> CostMetric:
        """Metric of the search."""
        return self.history.scenario.cost

    @property
    def default(self) -> Config:
        """Where the search began."""
        return self.record.default

    @property
    def best(self) -> Config:
        """The last incumbent; the default while there is none."""
        return self.record.best

    @property
    def asked(self) -> Sequence[Run]:
        """The runs that the search asked for, in order."""
        return self.record.runs

    @property
    def label(self) -> str:
        """Name of the cost beside an axis."""
        return f"{self.metric.label} (more is better)" if self.more_is_better else self.metric.label

    @property
    def more_is_better(self) -> bool:
        """Whether larger numbers are better."""
        return self.metric.maximise and not self.metric.needs_runtime
