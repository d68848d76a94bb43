"""Ablation: which of the changes between the default and the best carry the gain.

This module holds the results; the search that makes the runs is in `procedures/ablation`.

Source: Fawcett, Hoos, Analysing differences between algorithm configurations through ablation
(Journal of Heuristics 22, 2016).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from paramhs.analysis.intervals import Interval
from paramhs.analysis.verdict import Side, Verdict
from paramhs.core.costs import CostMetric, Quality
from paramhs.core.space import Config, Space, Value, value_text
from paramhs.core.text.html import html_table
from paramhs.core.text.numbers import counted, finite
from paramhs.core.type_checks import check_types

_QUALITY = Quality()


@dataclass(frozen=True)
class Change:
    """One parameter with its values before and after."""

    name: str
    before: Value | None
    """The old value; None where the parameter was inactive."""
    after: Value | None
    """The new value; None where the parameter is no longer active."""

    def __str__(self) -> str:
        before, after = ("-" if v is None else value_text(v) for v in (self.before, self.after))
        return f"{self.name}: {before} -> {after}"


def changes_between(first: Config, second: Config) -> tuple[Change, ...]:
    """List the parameters whose values differ, in the order of the space."""
    return tuple(
        Change(name, first.get(name), second.get(name))
        for position, name in enumerate(first.space.parameters)
        if first.indices[position] != second.indices[position]
    )


def settings(changes: Iterable[Change]) -> list[Change]:
    """Select the changes a user has to make; parameters they deactivate need no setting."""
    return [change for change in changes if change.after is not None]


@dataclass(frozen=True)
class AblationStep:
    """One step of the ablation path.

    Costs are means over the pairs of the ablation, in the units shown to people. A ratio above 1
    means better.
    """

    changes: tuple[Change, ...]
    """The parameters changed together: one, and those that it activates or deactivates."""
    config: Config
    """The configuration after the step."""
    count: int
    """Number of parameters that now differ from the default."""
    cost: float
    failed: int
    """Number of runs without a usable cost."""
    ratio: Interval | None
    """Factor of improvement over the previous step; None unless all costs are positive."""
    gain: Interval | None
    """Improvement over the previous step, in units of the cost."""
    total: Interval | None
    """Factor of improvement over the default."""
    kept: float | None
    """Share of the whole gain reached: 0 at the default, 1 at the best; None if there is no gain.
    """
    tried: int
    """Number of candidates raced for this step."""

    def to_json(self) -> dict[str, object]:
        """Convert the step to JSON types."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "changes": [vars(change) for change in self.changes],
            "config": self.config.as_dict(),
            "cost": finite(self.cost),
            **{name: _interval_json(getattr(self, name)) for name in ("ratio", "gain", "total")},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], space: Space) -> "AblationStep":
        """Rebuild a step from the result of `to_json`."""
        intervals = {name: _interval(data.get(name)) for name in ("ratio", "gain", "total")}
        read = {
            "changes": tuple(Change(**change) for change in data["changes"]),
            "config": space.config(data["config"]),
            "cost": _number(data["cost"]),
        }
        return cls(**{**data, **read, **intervals})


@dataclass(frozen=True)
class Ablation:
    """Path from the default to the best configuration.

    Its steps are also the best configurations found for each number of changes.
    """

    default: Config
    best: Config
    default_cost: float
    default_failed: int
    steps: tuple[AblationStep, ...]
    """The steps in order. The last may make many changes at once that no longer matter."""
    pairs: int
    """Number of pairs each cost is averaged over, equal for all steps."""
    runs: int
    """Total number of runs of the ablation."""
    target_time: float
    on: str
    """Description of the pairs, for people."""
    label: str
    """Name of the cost."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """All differences between the default and the best."""
        return changes_between(self.default, self.best)

    def to_json(self) -> dict[str, object]:
        """Convert the ablation to JSON types."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "default": self.default.as_dict(),
            "best": self.best.as_dict(),
            "default_cost": finite(self.default_cost),
            "steps": [step.to_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], space: Space) -> "Ablation":
        """Rebuild an ablation from the result of `to_json`."""
        read = {
            "default": space.config(data["default"]),
            "best": space.config(data["best"]),
            "default_cost": _number(data["default_cost"]),
            "steps": tuple(AblationStep.from_json(step, space) for step in data["steps"]),
        }
        return cls(**{**data, **read})


@dataclass(frozen=True, repr=False)
class Simplified:
    """The fewest changes that keep the gain, with verdicts on pairs that did not choose them."""

    ablation: Ablation
    step: int
    """Number of leading steps of the ablation that are made."""
    keep: float
    """Share of the gain that had to be kept."""
    verdict: Verdict | None = None
    """The default against the simplified configuration on the test set; None without one."""
    against_best: Verdict | None = None
    """The best against the simplified configuration, on the same runs."""
    verdict_runs: int = 0
    """Number of runs behind the two verdicts."""

    @property
    def config(self) -> Config:
        """The simplified configuration."""
        return self.ablation.steps[self.step - 1].config if self.step else self.ablation.default

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changes from the default to the simplified configuration."""
        return changes_between(self.ablation.default, self.config)

    @property
    def kept(self) -> float | None:
        """Share of the gain that is kept, on the runs of the ablation."""
        return self.ablation.steps[self.step - 1].kept if self.step else 0.0

    @property
    def _facts(self) -> list[tuple[str, str]]:
        keep = "keeps" if len(self.changes) == 1 else "keep"
        kept = "" if self.kept is None else f", which {keep} {self.kept:.0%} of the gain"
        of = f"{len(self.changes):,} of {counted(len(self.ablation.changes), 'change')}{kept}"
        return [
            ("simplified", f"{of}: {', '.join(map(str, self.changes))}" if self.step else "none"),
            ("values", str(self.config)),
            ("ablation", f"{counted(self.ablation.runs, 'run')} on {self.ablation.on}"),
            *([("verdict", self.verdict.recommendation)] if self.verdict else []),
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{heading:<11}{text}" for heading, text in self._facts)

    def _repr_html_(self) -> str:
        return html_table(self._facts)

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types."""
        return {
            "config": self.config.as_dict(),
            "changes": [vars(change) for change in self.changes],
            "step": self.step,
            "keep": self.keep,
            "kept": self.kept,
            "verdict": self.verdict and self.verdict.to_json(),
            "against_best": self.against_best and self.against_best.to_json(),
            "verdict_runs": self.verdict_runs,
            "ablation": self.ablation.to_json(),
        }

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], space: Space, metric: CostMetric = _QUALITY
    ) -> "Simplified":
        """Rebuild a result from the output of `to_json`.

        Raises:
            ValueError: The data describes no such result.
        """
        found = cls(
            Ablation.from_json(data["ablation"], space),
            data["step"],
            data["keep"],
            _verdict(data["verdict"], space, metric),
            _verdict(data["against_best"], space, metric),
            data["verdict_runs"],
        )
        check_types(found)
        if not 0 <= found.step <= len(found.ablation.steps):
            raise ValueError(f"the ablation has no step {found.step}")
        return found


def _interval_json(interval: Interval | None) -> dict[str, float | None] | None:
    return None if interval is None else interval.to_json()


_BOUNDS: Mapping[str, float] = {"low": float("-inf"), "high": float("inf")}


def _interval(data: Mapping[str, float | None] | None) -> Interval | None:
    if data is None:
        return None
    return Interval(**{n: _number(x, _BOUNDS.get(n, float("inf"))) for n, x in data.items()})


def _number(number: float | None, otherwise: float = float("inf")) -> float:
    """Restore an infinity, which JSON represents as null."""
    return otherwise if number is None else number


def _verdict(data: Mapping[str, Any] | None, space: Space, metric: CostMetric) -> Verdict | None:
    if data is None:
        return None
    sides = {name: _side(data[name], space) for name in ("first", "second")}
    intervals = {name: _interval(data.get(name)) for name in ("gain", "ratio", "time")}
    known = {field.name for field in fields(Verdict)}
    rest = {name: value for name, value in data.items() if name in known}
    more = {"names": tuple(data["names"]), "metric": metric, "favours_second": _favours(data)}
    return Verdict(**{**rest, **sides, **intervals, **more})


def _favours(data: Mapping[str, Any]) -> bool:
    """Whether a verdict favours the second; if unclear, by the sign of the gain."""
    gain = data["gain"]
    ahead = gain is not None and (gain["estimate"] or 0) > 0
    return bool(
        {"better": True, "worse": False}.get(data.get("conclusion_here", data["conclusion"]), ahead)
    )


def _side(data: Mapping[str, Any], space: Space) -> Side:
    numbers = {"cost": _number(data["cost"]), "time": _number(data.get("time"), float("nan"))}
    return Side(**{**data, **numbers, "config": space.config(data["config"])})


def words(changes: Iterable[Change], most: int = 4) -> str:
    """Summarise changes in one line, without the parameters they deactivate."""
    made = list(changes)
    listed = [str(change) for change in settings(made) or made]
    more = f", and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
