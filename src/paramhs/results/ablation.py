"""Which changes carry the gain: the way from the default to the best, one change at a time.

What is known of a way when its runs are made; `ablating` is the search that makes them.

Source: Fawcett, Hoos, Analysing differences between algorithm configurations through ablation
(Journal of Heuristics 22, 2016).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from paramhs.results.verdict import Interval, Side, Verdict
from paramhs.values.costs import CostMetric, Quality
from paramhs.values.space import Config, Space, Value, value_text
from paramhs.values.wording import finite

_QUALITY = Quality()


@dataclass(frozen=True)
class Change:
    """A parameter that has another value than before."""

    name: str
    before: Value | None
    """None where it was not active."""
    after: Value | None
    """None where it is not active any more."""

    def __str__(self) -> str:
        before, after = ("-" if v is None else value_text(v) for v in (self.before, self.after))
        return f"{self.name}: {before} -> {after}"


def changes_between(first: Config, second: Config) -> tuple[Change, ...]:
    """What is another in the second, in the order of the space."""
    return tuple(
        Change(name, first.get(name), second.get(name))
        for position, name in enumerate(first.space.parameters)
        if first.indices[position] != second.indices[position]
    )


def settings(changes: Iterable[Change]) -> list[Change]:
    """The changes that somebody has to make: what they switch off changes by itself."""
    return [change for change in changes if change.after is not None]


@dataclass(frozen=True)
class AblationStep:
    """One step of the way. Costs are means over the pairs of the ablation, as people expect them;
    a ratio above 1 is better."""

    changes: tuple[Change, ...]
    """What this step changes, together: one parameter, with those that it switches on or off."""
    config: Config
    """What is reached by it."""
    count: int
    """How many parameters are set to something else than the default by now."""
    cost: float
    failed: int
    """How many of its runs have no usable cost."""
    ratio: Interval | None
    """How many times better than the step before; None where costs are not all positive."""
    gain: Interval | None
    """How much better than the step before, in units of the cost."""
    total: Interval | None
    """How many times better than the default."""
    kept: float | None
    """The share of the whole gain by now: 0 at the default, 1 at the best; None if none is."""
    tried: int
    """How many were raced to be this step."""

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "changes": [vars(change) for change in self.changes],
            "config": self.config.as_dict(),
            "cost": finite(self.cost),
            **{name: _interval_json(getattr(self, name)) for name in ("ratio", "gain", "total")},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], space: Space) -> "AblationStep":
        """What `to_json` gave."""
        intervals = {name: _interval(data[name]) for name in ("ratio", "gain", "total")}
        read = {
            "changes": tuple(Change(**change) for change in data["changes"]),
            "config": space.config(data["config"]),
            "cost": _number(data["cost"]),
        }
        return cls(**{**data, **read, **intervals})


@dataclass(frozen=True)
class Ablation:
    """The way from the default to the best. Its steps are also the best that was found for each
    number of changes."""

    default: Config
    best: Config
    default_cost: float
    default_failed: int
    steps: tuple[AblationStep, ...]
    """The last ends in the best; it may make many changes at once, which no longer matter."""
    pairs: int
    """Over so many the costs are, the same for all."""
    runs: int
    """How many runs all of it took."""
    target_time: float
    on: str
    """What the pairs are, in words."""
    label: str
    """What the cost is called."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """All that the best changes."""
        return changes_between(self.default, self.best)

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "default": self.default.as_dict(),
            "best": self.best.as_dict(),
            "default_cost": finite(self.default_cost),
            "steps": [step.to_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], space: Space) -> "Ablation":
        """What `to_json` gave."""
        read = {
            "default": space.config(data["default"]),
            "best": space.config(data["best"]),
            "default_cost": _number(data["default_cost"]),
            "steps": tuple(AblationStep.from_json(step, space) for step in data["steps"]),
        }
        return cls(**{**data, **read})


@dataclass(frozen=True)
class Simplified:
    """The fewest changes that keep the gain, and what they are worth where nothing was chosen."""

    ablation: Ablation
    step: int
    """So many first steps of the ablation are made."""
    keep: float
    """The share of the gain that had to be kept."""
    verdict: Verdict | None = None
    """The default against the simplified one on the test set; None where there is none."""
    against_best: Verdict | None = None
    """The best against the simplified one, on the same runs."""
    verdict_runs: int = 0
    """How many runs the two verdicts are made of."""

    @property
    def config(self) -> Config:
        """The simplified configuration."""
        return self.ablation.steps[self.step - 1].config if self.step else self.ablation.default

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it changes."""
        return changes_between(self.ablation.default, self.config)

    @property
    def kept(self) -> float | None:
        """The share of the gain that it keeps, on the runs of the ablation."""
        return self.ablation.steps[self.step - 1].kept if self.step else 0.0

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
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
        """What `to_json` gave, of costs by this metric."""
        return cls(
            Ablation.from_json(data["ablation"], space),
            data["step"],
            data["keep"],
            _verdict(data["verdict"], space, metric),
            _verdict(data["against_best"], space, metric),
            data["verdict_runs"],
        )


def _interval_json(interval: Interval | None) -> dict[str, float | None] | None:
    return None if interval is None else interval.to_json()


_BOUNDS: Mapping[str, float] = {"low": float("-inf"), "high": float("inf")}


def _interval(data: Mapping[str, float | None] | None) -> Interval | None:
    if data is None:
        return None
    return Interval(**{n: _number(x, _BOUNDS.get(n, float("inf"))) for n, x in data.items()})


def _number(number: float | None, otherwise: float = float("inf")) -> float:
    """JSON has no infinity: it was None there."""
    return otherwise if number is None else number


def _verdict(data: Mapping[str, Any] | None, space: Space, metric: CostMetric) -> Verdict | None:
    if data is None:
        return None
    sides = {name: _side(data[name], space) for name in ("first", "second")}
    intervals = {name: _interval(data[name]) for name in ("gain", "ratio")}
    known = {field.name for field in fields(Verdict)}
    rest = {name: value for name, value in data.items() if name in known}
    more = {"names": tuple(data["names"]), "metric": metric, "favours_second": _favours(data)}
    return Verdict(**{**rest, **sides, **intervals, **more})


def _favours(data: Mapping[str, Any]) -> bool:
    """Whether a verdict favours the second; where it is unclear, by the sign of the gain."""
    gain = data["gain"]
    ahead = gain is not None and (gain["estimate"] or 0) > 0
    return bool({"better": True, "worse": False}.get(data["conclusion"], ahead))


def _side(data: Mapping[str, Any], space: Space) -> Side:
    return Side(**{**data, "config": space.config(data["config"]), "cost": _number(data["cost"])})


def words(changes: Iterable[Change], most: int = 4) -> str:
    """Changes on one line, without what they switch off; of many the first few."""
    made = list(changes)
    listed = [str(change) for change in settings(made) or made]
    more = f", and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
