"""The result of a search, for people, notebooks, data frames and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paramhs.analysis.capping_savings import Saved
from paramhs.analysis.evidence import Common, common_costs, steps, too_few
from paramhs.analysis.families import NO_FAMILIES, Disagreement, ceiling_text, disagreement
from paramhs.analysis.front import Front, FrontVerdict
from paramhs.analysis.solved_runs import Answers, answers_of, exit_code_alone
from paramhs.analysis.verdict import NoVerdict, Verdict
from paramhs.analysis.verdict_text import directions, times
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.families import families_by
from paramhs.core.runs import FAILURES, Point, Run
from paramhs.core.scenario import Scenario, plain_name
from paramhs.core.space import Config, Space
from paramhs.core.text.html import Markup, html_table, joined, paragraph
from paramhs.core.text.numbers import counted, finite
from paramhs.core.text.quoting import short
from paramhs.execution.targets.command.template import command_line_of, native_text, target_name
from paramhs.procedures.recommendation import accepted_in
from paramhs.report.tables import (
    TABLE_NAMES,
    Row,
    TableName,
    config_rows,
    dataframe,
    front_rows,
    polars_dataframe,
    run_rows,
    stored_rows,
    trajectory_rows,
    verdict_rows,
)
from paramhs.search.history import History
from paramhs.search.record import Record

if TYPE_CHECKING:
    import pandas
    import polars

    from paramhs.analysis.ablation import Simplified
    from paramhs.analysis.certificate import Certificate
    from paramhs.analysis.clusters import Clusters
    from paramhs.analysis.failures import FailureGroup
    from paramhs.analysis.importance import Ranking
    from paramhs.analysis.interactions import Interaction
    from paramhs.report.plots import Plots

MAX_GROUPS = 3
"""Groups of failures that a summary names."""


@dataclass(frozen=True)
class Result:
    """Result of a search, with a verdict on held-out runs."""

    record: Record
    """Everything that happened: runs, races, incumbents, and why the search ended."""
    verdict: Verdict | NoVerdict
    """The default against the best on runs that did not influence the search.

    A `NoVerdict` with the reason, which is falsy, if there is none."""
    store: Path | None = None
    """Path of the store; None without one."""
    capped: Saved | None = field(default=None, compare=False)
    """Time saved by capping; None if no run was cut short."""
    running: bool = False
    """Whether the search was running when it was loaded."""

    @property
    def best(self) -> Config:
        """The last incumbent."""
        return self.record.best

    @property
    def default(self) -> Config:
        """The configuration at which the search began."""
        return self.record.default

    @property
    def front(self) -> Front | None:
        """The front, where there are several costs: configurations of which none is better than
        another in every cost. None where there is one cost, or no front yet."""
        return self.verdict.front if isinstance(self.verdict, FrontVerdict) else None

    @property
    def trajectory(self) -> tuple[Point, ...]:
        """The incumbents, in order."""
        return tuple(self.record.trajectory)

    @property
    def history(self) -> History:
        """Index of all runs and races, by configuration and by pair."""
        return self.record.history

    @property
    def asked(self) -> int:
        """Number of runs that the search requested and was granted."""
        return len(self.runs)

    @property
    def speculative(self) -> int:
        """Number of speculative runs, made by idle workers, that were not used."""
        return self.record.speculative

    @property
    def target_time(self) -> float:
        """Total runtime of the target in seconds."""
        return self.record.target_time

    @property
    def wall_time(self) -> float:
        """Elapsed time in seconds, over all sessions."""
        return self.record.wall_time

    @property
    def stopped(self) -> str:
        """Reason why the search ended."""
        going_on = "it is running" if self.running else "the store ends here"
        return self.record.ending.stopped or going_on

    @property
    def target(self) -> str:
        """Description of the target, for people."""
        return target_name(self.record.target)

    @property
    def command(self) -> str:
        """The best's command line, where the target is a command."""
        return command_line_of(self.record.target, self.best)

    @property
    def native(self) -> str:
        """The best as the program's own users write it: its settings file, or a command line.

        Only what differs from the default is written. Where a target says no such form, it is the
        command line; for a Python function, the values.
        """
        text = native_text(self.record.target, self.best)
        return (self.command or str(self.best)) if text is None else text

    @property
    def simplified_command(self) -> str:
        """The command line of the simplified best; empty if there is none."""
        found = self.simplified
        return command_line_of(self.record.target, found.config) if found else ""

    @property
    def clock(self) -> str:
        """Which time the target's runtime is: "wall" or "cpu"."""
        return str(self.record.target.get("clock", "wall"))

    @property
    def metric(self) -> CostMetric:
        """Metric of the search."""
        return self.scenario.cost

    @property
    def label(self) -> str:
        """Name of the cost beside an axis."""
        return f"{self.metric.label} (more is better)" if self.more_is_better else self.metric.label

    @property
    def more_is_better(self) -> bool:
        """Whether larger numbers are better."""
        return self.metric.maximise and not self.metric.needs_runtime

    @property
    def best_cost(self) -> float | None:
        """Mean cost of the best over the runs in common with the default.

        Without the runs that either failed; None if there are none.
        """
        return self._common.second

    @property
    def best_failed(self) -> int:
        """Number of common runs on which the best gave no usable cost."""
        return self._common.second_failed

    @property
    def default_cost(self) -> float | None:
        """The default's mean over the same runs."""
        return self._common.first

    @property
    def default_failed(self) -> int:
        """Number of common runs on which the default gave no usable cost."""
        return self._common.first_failed

    @property
    def common_runs(self) -> int:
        """Number of runs that the default and the best have in common."""
        return self._common.runs

    @property
    def ratio(self) -> float | None:
        """Factor by which the best is better on them; None unless all costs are positive."""
        return self._common.ratio

    @property
    def recommendation(self) -> str:
        """Which configuration to use, in the sentence that every view of this search prints."""
        return self.verdict.recommendation

    @property
    def scenario(self) -> Scenario:
        """The tuning problem: space, instances, cost, cutoff."""
        return self.history.scenario

    @property
    def space(self) -> Space:
        """Space of the parameters."""
        return self.scenario.space

    @cached_property
    def certificate(self) -> "Certificate":
        """What is known about the best, how surely, and what more runs would gain."""
        from paramhs.analysis.certificate import certificate  # numpy only where it is needed

        return certificate(self.record, self.verdict)

    @property
    def simplified(self) -> "Simplified | None":
        """Result of `simplify` for the best; None if it was not called or has not finished."""
        if self.store is None:
            return None
        from paramhs.procedures.simplify import read_simplified  # numpy only where it is needed

        found = read_simplified(self.store, self.space, self.scenario.cost)
        return found if found and found.ablation.best == self.best else None

    @property
    def runs(self) -> Sequence[Run]:
        """The requested runs in order, without those known before the search."""
        return self.record.runs

    @property
    def failed_runs(self) -> int:
        """Number of runs that crashed, were wrong, or gave no usable number."""
        return sum(run.status in FAILURES for run in self.runs)

    @cached_property
    def answers(self) -> Answers:
        """Summary of the answers, with a warning if none was recognised."""
        return answers_of(self.history, exit_code_alone(self.scenario.cost, self.record.target))

    @cached_property
    def failures(self) -> "tuple[FailureGroup, ...]":
        """Failed runs by the values that explain them, each with the clause that forbids it."""
        from paramhs.analysis.failures import failure_groups  # numpy only where it is needed

        return failure_groups(self.history.runs, self.space)

    @cached_property
    def unsolved(self) -> tuple[str, ...]:
        """Instances on which no run of any configuration succeeded."""
        from paramhs.report.per_instance import unsolved

        paired = self.verdict.paired_runs if isinstance(self.verdict, Verdict) else ()
        return unsolved([self.history.runs, (run for pair in paired for run in pair)], self.metric)

    @property
    def failure_lines(self) -> list[str]:
        """Sentences about failed runs: how many, and what explains them. Empty if none failed."""
        if not self.failed_runs:
            return []
        groups = self.failures[:MAX_GROUPS]
        forbid = [group.forbid for group in groups if group.forbid]
        return [
            f"{self.failed_runs:,} of {counted(self.asked, 'run')} failed",
            *(group.text for group in groups),
            *([f"to exclude them: Space(..., forbidden={forbid!r})"] if forbid else []),
        ]

    @cached_property
    def importance(self) -> "Ranking":
        """Importance of each parameter from all runs of the search, the most important first.

        Empty if there are too few runs.
        """
        from paramhs.analysis.importance import importance  # numpy only where it is needed

        return importance(self.history.runs, self.history.scenario.cost)

    @cached_property
    def families(self) -> Disagreement:
        """The verdict by family of instances, and whether families disagree."""
        if not isinstance(self.verdict, Verdict):
            return NO_FAMILIES
        searched = [instance.name for instance in self.scenario.instances]
        return disagreement(self.verdict, self.scenario.families, searched)

    @cached_property
    def clusters(self) -> "Clusters | None":
        """Families or groups of instances that prefer different configurations, beyond chance."""
        from paramhs.analysis import clusters  # numpy only where it is needed

        names = [plain_name(instance.name) for instance in self.scenario.instances]
        families = self.scenario.families or families_by("auto", names)
        if len({families.get(name, "") for name in names}) > 1:
            return clusters.family_preferences(self.history, families)
        return clusters.clusters(self.history)

    @cached_property
    def ceiling(self) -> tuple[float, int] | None:
        """Factor by which a perfect choice for each run would beat the best, in the search's runs.

        With the number of configurations it chooses from; None unless all costs are positive.
        """
        from paramhs.analysis.clusters import virtual_best  # numpy only where it is needed

        return virtual_best(self.history, self.best)

    @property
    def group_notes(self) -> list[str]:
        """Sentences about families, groups of instances and the ceiling of per-run choices."""
        if self.front is not None:
            return []
        factor, configs = self.ceiling or (None, 0)
        found = None if self.families.disagree else self.clusters
        lines = (
            self.families.sentence,
            found.sentence if found else "",
            ceiling_text(factor, configs, self.metric),
        )
        return [line for line in lines if line]

    def groups_json(self) -> dict[str, object]:
        """Convert families, groups of instances and the ceiling to JSON types."""
        return {
            **self.families.to_json(),
            "clusters": self.clusters and self.clusters.to_json(),
            "ceiling": self.ceiling and self.ceiling[0],
        }

    @cached_property
    def interactions(self) -> "tuple[Interaction, ...] | None":
        """Importance of parameters alone and in pairs, by a random forest.

        The most important first; None without the extra `importance`.
        """
        from paramhs.analysis.interactions import interactions  # numpy only where it is needed

        return interactions(self.history.runs, self.history.scenario.cost)

    @property
    def comparison(self) -> str:
        """Comparison of the best and the default on their common runs of the search, in words."""
        if self.best == self.default:
            return "the default is the best that was found" if self.trajectory else "not run"
        return against_default(self._common, self.history, ("the best", "the default"))

    @cached_property
    def _common(self) -> Common:
        """The default and the best."""
        met = common_costs(self.history, self.default, self.best)
        return met or Common(None, None, 0, 0, 0, None)

    @property
    def accepted(self) -> tuple[str, ...]:
        """Changes of the program or of instances accepted in the store, in words.

        Runs from before and after such a change are compared with each other.
        """
        return accepted_in(self.store)

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types."""
        return {
            "accepted": list(self.accepted),
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
            "answers": self.answers.to_json(),
            "failures": [group.to_json() for group in self.failures],
            "target_time": self.target_time,
            "wall_time": self.wall_time,
            "stopped": self.stopped,
            "recommendation": self.recommendation,
            "verdict": self.verdict.to_json(),
            "groups": self.groups_json(),
            **({"front": self.front.to_json()} if self.front else {}),
            "certificate": self.certificate.to_json(),
            "trajectory": [step.to_json() for step in steps(self.history, self.trajectory)],
        }

    def report(self, path: str | Path, *, title: str = "") -> Path:
        """Write a report: one HTML file without scripts that works offline.

        Args:
            path: The file.
            title: Title of the page. Left out: the name of the store or of the target.

        Returns:
            The path of the file.
        """
        from paramhs.report.files import write_report  # the template only where it is needed
        from paramhs.report.page import PageOptions

        return write_report(self, Path(path), PageOptions(title))[0]

    @property
    def plot(self) -> "Plots":
        """Pictures of this result, for notebooks and files: `result.plot.history()`."""
        from paramhs.report.plots import Plots  # only where it is needed

        return Plots(self)

    def table(self, name: TableName = "runs") -> Sequence[Row]:
        """A table of plain values, a dictionary for each row.

        Args:
            name: "runs", "configurations", "trajectory", "verdict", "front", or the runs behind the
                verdict ("verdict-runs") or a simplification ("ablation-runs", with a store).

        Returns:
            The rows, all with the same keys; None stands for what is missing.
        """
        if name == "runs":
            return list(run_rows(self.scenario, self.runs))
        if name == "configurations":
            return list(config_rows(self.history, self.best))
        if name == "trajectory":
            return list(trajectory_rows(self.history, self.trajectory))
        if name == "verdict":
            return list(verdict_rows([self.verdict] if isinstance(self.verdict, Verdict) else []))
        if name == "front":
            return list(front_rows(self.front))
        if name in ("verdict-runs", "ablation-runs"):
            return self._runs_of(name.removesuffix("-runs"))
        raise BadInput(f"there is no table {short(name)}; there are {', '.join(TABLE_NAMES)}")

    def _runs_of(self, record: str) -> Sequence[Row]:
        if self.store is not None:
            return list(stored_rows(self.store, record))
        pairs = self.verdict.paired_runs if isinstance(self.verdict, Verdict) else ()
        runs = [run for side in zip(*pairs, strict=True) for run in side]
        rows = run_rows(self.scenario, runs if record == "verdict" else ())
        return [{**row, "run": None} for row in rows]

    def to_dataframe(self, table: TableName = "runs") -> "pandas.DataFrame":
        """A table as a pandas data frame (extra `pandas`).

        Whole numbers stay whole where some are missing: such columns are nullable.

        Args:
            table: One of the tables of `table`.

        Returns:
            The data frame.
        """
        return dataframe(self.table(table))

    def to_polars(self, table: TableName = "runs") -> "polars.DataFrame":
        """A table as a polars data frame, if polars is installed.

        Args:
            table: One of the tables of `table`.

        Returns:
            The data frame; a column with values of several types is one of texts.
        """
        return polars_dataframe(self.table(table))

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """The most important facts: headings and texts."""
        last = self.trajectory[-1].runs if self.trajectory else 0
        return [
            ("best", str(self.best)),
            ("default", str(self.default)),
            ("search", self.comparison),
            ("course", f"{counted(len(self.trajectory), 'incumbent')}, the last after"
             f" {counted(last, 'run')}"),
            *([("capping", str(self.capped))] if self.capped else []),
            *([("answers", self.answers.text)] if self.answers.text else []),
            *(("warning", text) for text in self.answers.warnings),
            *(("failures", text) for text in self.failure_lines),
            ("verdict", self.recommendation),
        ]  # fmt: skip

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


def against_default(met: Common | None, history: History, names: tuple[str, str]) -> str:
    """Compare a configuration with the default, in words, unless too few runs are common."""
    few = too_few(met, history) if met and met.runs else ""
    return f"{names[0]} and {names[1]}: {few}" if few else common_text(met, history, names)


def common_text(met: Common | None, history: History, names: tuple[str, str]) -> str:
    """Compare two configurations on common runs, in words: both means, and the ratio."""
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
