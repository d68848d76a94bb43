"""What a search found, for people, notebooks, data frames and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paramhs.faces.tables import dataframe, run_rows
from paramhs.results.capped import Saved
from paramhs.results.concluding import directions, times
from paramhs.results.evidence import Ahead, Common, steps
from paramhs.results.verdict import NoVerdict, Verdict
from paramhs.search.history import History
from paramhs.values.markup import Markup, html_table, joined, paragraph
from paramhs.values.runs import FAILURES, Point, Run
from paramhs.values.space import Config
from paramhs.values.wording import counted, finite

if TYPE_CHECKING:
    import pandas

    from paramhs.results.failures import FailureGroup
    from paramhs.results.importance import Importance
    from paramhs.results.interactions import Interaction


@dataclass(frozen=True)
class Result:
    """What a search found. The verdict is on runs that the search has not chosen by."""

    best: Config
    best_cost: float | None
    """Its mean over the runs that it has in common with the default, but for those that either has
    failed; None if there are none."""
    best_failed: int
    """How many of the common runs gave no usable cost."""
    default: Config
    default_cost: float | None
    """The default's mean over the same runs."""
    default_failed: int
    common_runs: int
    """How many runs the default and the best have in common."""
    ratio: float | None
    """How many times better the best is on those; None where costs are not all positive."""
    trajectory: tuple[Point, ...]
    history: History
    """All that the search knew: every run it was given, in order, and every race."""
    asked: int
    """How many runs the search has asked for and was granted."""
    unfinished: tuple[Run, ...]
    """Runs of a request that was not answered in full: made and stored, but not in the history."""
    speculative: int
    """How many runs idle workers made ahead of time in this session that were not used."""
    target_time: float
    wall_time: float
    stopped: str
    """Why it ended."""
    verdict: Verdict | NoVerdict
    """The default against the best (or, if it is the best itself, against the one that is ahead)
    where the search never was; or why there is none, which is false as a condition."""
    ahead: Ahead | None = None
    """The challenger that was winning when the budget ended inside its race."""
    ahead_verdict: Verdict | None = None
    """The best against that challenger, on the same runs as the verdict."""
    capped: Saved | None = field(default=None, compare=False)
    """What was saved by cutting runs short; None if none was."""
    target: str = field(default="", compare=False)
    """What was tuned, in words."""
    command: str = field(default="", compare=False)
    """The best's command line, where the target is a command."""
    store: Path | None = field(default=None, compare=False)
    """Where the runs are kept."""

    @property
    def ahead_wins(self) -> bool:
        """Whether the challenger that was ahead is proven better than the best: take it, then."""
        return self.ahead_verdict is not None and self.ahead_verdict.conclusion == "better"

    @property
    def runs(self) -> Sequence[Run]:
        """The runs that the search asked for, in order; what was known before is none of them."""
        return [*self.history.runs[len(self.history.scenario.known) :], *self.unfinished]

    @property
    def failed_runs(self) -> int:
        """How many of the runs crashed or gave a wrong answer."""
        return sum(run.status in FAILURES for run in self.runs)

    @cached_property
    def failures(self) -> "tuple[FailureGroup, ...]":
        """Failed runs by the values that explain them, each with the clause that forbids it."""
        if not self.failed_runs:
            return ()
        from paramhs.results.failures import failure_groups  # numpy only where it is needed

        return failure_groups(self.runs, self.history.scenario.space)

    @cached_property
    def importance(self) -> "tuple[Importance, ...]":
        """How much each parameter matters, from all runs of the search, the most important first;
        empty where there are too few to tell."""
        from paramhs.results.importance import importance  # numpy only where it is needed

        return importance(self.history.runs, self.history.scenario.cost)

    @cached_property
    def interactions(self) -> "tuple[Interaction, ...] | None":
        """What parameters do alone and two at a time, by a random forest (extra `importance`), the
        most important first; None where the extra is not installed."""
        from paramhs.results.interactions import interactions  # numpy only where it is needed

        return interactions(self.history.runs, self.history.scenario.cost)

    @property
    def comparison(self) -> str:
        """The best and the default on the runs that both have made while searching, in words."""
        if self.best == self.default:
            return "the default is the best that was found" if self.trajectory else "not run"
        met = self._common
        return common_text(met, self.history, ("the best", "the default"))

    @property
    def _common(self) -> Common:
        """The default and the best."""
        return Common(
            self.default_cost,
            self.best_cost,
            self.common_runs,
            self.default_failed,
            self.best_failed,
            self.ratio,
        )

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {
            "best": self.best.as_dict(),
            "best_cost": finite(self.best_cost),
            "best_failed": self.best_failed,
            "default": self.default.as_dict(),
            "default_cost": finite(self.default_cost),
            "default_failed": self.default_failed,
            "common_runs": self.common_runs,
            "ratio": finite(self.ratio),
            "runs": self.asked,
            "speculative_runs": self.speculative,
            "capping": self.capped and self.capped.to_json(),
            "failed_runs": self.failed_runs,
            "failures": [group.to_json() for group in self.failures],
            "target_time": self.target_time,
            "wall_time": self.wall_time,
            "stopped": self.stopped,
            "verdict": self.verdict.to_json(),
            "ahead": self.ahead and self._ahead_json(self.ahead),
            "trajectory": [step.to_json() for step in steps(self.history, self.trajectory)],
        }

    def _ahead_json(self, ahead: Ahead) -> dict[str, object]:
        return {
            "config": ahead.config.as_dict(),
            "cost": finite(ahead.common.second),
            "incumbent_cost": finite(ahead.common.first),
            "common_runs": ahead.common.runs,
            "verdict": self.ahead_verdict and self.ahead_verdict.to_json(),
        }

    def report(self, path: str | Path) -> Path:
        """Write what came of it as a page: one file, without scripts, that works offline."""
        from paramhs.faces.reporting import result_material, write_report

        return write_report(result_material(self), Path(path))[0]

    def to_dataframe(self) -> "pandas.DataFrame":
        """The runs of the search as a table of pandas (extra `pandas`), one row a run."""
        return dataframe(run_rows(self.history.scenario, self.runs))

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """What a person wants to know first: headings and texts."""
        last = self.trajectory[-1].runs if self.trajectory else 0
        return [
            ("best", str(self.best)),
            ("default", str(self.default)),
            ("search", self.comparison),
            *([("ahead", ahead_text(self.ahead, self.history))] if self.ahead else []),
            ("course", f"{counted(len(self.trajectory), 'incumbent')}, the last after"
             f" {counted(last, 'run')}"),
            *([("capping", str(self.capped))] if self.capped else []),
            *self._verdict_facts,
        ]  # fmt: skip

    @property
    def _verdict_facts(self) -> list[tuple[str, str]]:
        made = self.verdict
        if isinstance(made, NoVerdict):
            return [("verdict", str(made))] if made.conclusion == "kept" else []
        costs = f"{made.first.cost:.6g} to {made.second.cost:.6g}"
        words = f"{made.names[1]} is {made.conclusion}, from {costs} on {made.on}"
        return [("verdict", f"{words}, p = {made.p_value:.2g}")]

    @property
    def _head(self) -> str:
        return f"Result after {counted(self.asked, 'run')} ({self.stopped})"

    def __repr__(self) -> str:
        lines = [f"  {heading:<9}{text}" for heading, text in self._facts]
        return "\n".join([self._head, *lines])

    def _repr_html_(self) -> str:
        verdict: list[Markup] = [self.verdict.as_html()] if self.verdict else []
        facts = [fact for fact in self._facts if not (self.verdict and fact[0] == "verdict")]
        return joined(paragraph(self._head), html_table(facts), *verdict)


def common_text(met: Common | None, history: History, names: tuple[str, str]) -> str:
    """The second and the first on common runs: both means, and the ratio."""
    second, first = names
    if met is None or not met.runs:
        return f"{second} and {first} have no run in common"
    runs = f"on {counted(met.runs, 'common run')}"
    if met.first is None or met.second is None:
        return f"{second} and {first}: {runs}, none that both gave a usable cost on"
    failed = ", ".join(
        f"{counted(count, 'run')} of {name} failed"
        for name, count in ((second, met.second_failed), (first, met.first_failed))
        if count
    )
    words = directions(history.scenario.cost)
    ratio = f" ({times(met.ratio, *words)})" if met.ratio else ""
    more = f"; {failed}" if failed else ""
    means = f"{second} {met.second:.6g}, {first} {met.first:.6g}{ratio}"
    return f"{history.scenario.cost.label} {runs}: {means}{more}"


def ahead_text(ahead: Ahead, history: History) -> str:
    """That a race was not finished, and how it stood."""
    stood = common_text(ahead.common, history, ("the challenger", "the incumbent"))
    return f"{ahead.config} was ahead in a race that the budget ended; {stood}"
