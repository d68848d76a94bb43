"""What a page is made from: a search, and what is known of its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paramhs.results.ablation import Simplified
from paramhs.results.capped import Saved
from paramhs.results.failures import FailureGroup
from paramhs.results.importance import Importance
from paramhs.results.interactions import Interaction
from paramhs.results.report.maps import Map
from paramhs.results.verdict import Verdict
from paramhs.search.history import History
from paramhs.values.costs import CostMetric
from paramhs.values.runs import Point, Run
from paramhs.values.space import Config


@dataclass(frozen=True)
class Material:
    """All that the page tells; what is not known is left out of it."""

    name: str
    """What the reader calls it: mostly the store's name."""
    target: str
    """What was tuned, in words."""
    history: History
    trajectory: tuple[Point, ...]
    target_time: float
    verdict: Verdict | None = None
    no_verdict: str = ""
    """Why there is none."""
    command: str = ""
    """The command line of the best."""
    clock: str = "wall"
    """Which time the target's is, "wall" or "cpu"."""
    wall_time: float | None = None
    elapsed: Sequence[float] = ()
    """For each run that was asked for, the seconds that had passed; empty where nobody knows."""
    speculative: int = 0
    sessions: int = 1
    running: bool = False
    stopped: str = ""
    """Why the search ended."""
    notes: tuple[str, ...] = ()
    """What else there is to say of its end."""
    capped: Saved | None = None
    """What was saved by cutting runs short."""
    challenger: str = ""
    """What to do with a challenger that was ahead in the end and is proven better; a sentence."""
    simplified: Simplified | None = None
    simplified_command: str = ""
    """Its command line."""
    importance: tuple[Importance, ...] = ()
    interactions: tuple[Interaction, ...] | None = None
    """None where nobody asked for them."""
    failures: tuple[FailureGroup, ...] = ()
    unsolved: tuple[str, ...] = ()
    """Instances on which no run has succeeded."""
    map: Map | None = None
    calls: Mapping[str, str] = field(default_factory=dict)
    """Commands of this program that go on from here, ready to paste, by their names."""
    refresh: int | None = None
    """After how many seconds a browser should look again."""
    written: str = ""
    """When."""

    @property
    def metric(self) -> CostMetric:
        """How runs were judged."""
        return self.history.scenario.cost

    @property
    def default(self) -> Config:
        """Where the search began."""
        return self.history.scenario.space.default

    @property
    def best(self) -> Config:
        """The last incumbent; the default while there is none."""
        return self.trajectory[-1].config if self.trajectory else self.default

    @property
    def asked(self) -> Sequence[Run]:
        """The runs that the search asked for, in order."""
        known = len(self.history.scenario.known)
        return self.history.runs[known:] if known else self.history.runs

    @property
    def label(self) -> str:
        """What a cost is called beside an axis."""
        return f"{self.metric.label} (more is better)" if self.more_is_better else self.metric.label

    @property
    def more_is_better(self) -> bool:
        """Whether what people see is to be large."""
        return self.metric.maximise and not self.metric.needs_runtime
