"""The front of a search with several costs, and the verdict on each of its points.

The points are chosen by the runs of the search and judged by runs on the test set: in each cost
against the default, corrected for the number of points and costs. Whatever compares points with
each other or with a bound uses means over the same runs, and says over which.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramhs.analysis.intervals import MARGIN, Interval, fewest_cases
from paramhs.analysis.verdict import NoVerdict, Verdict, verdict
from paramhs.analysis.verdict_text import how_much
from paramhs.core.errors import BadInput
from paramhs.core.runs import Run
from paramhs.core.several_costs import Bound, Costs, bounds_of
from paramhs.core.space import Config
from paramhs.core.text.html import html_table, joined, paragraph
from paramhs.core.text.numbers import counted, finite
from paramhs.search.front import (
    Numbers,
    Position,
    RelativeCosts,
    is_dominated,
    mean_costs,
    positions,
    preferred,
    shown_means,
    violation,
    weighed,
)
from paramhs.search.history import History

MAX_POINTS = 8
"""Largest number of points; each has runs on the test set."""


@dataclass(frozen=True)
class FrontPoint:
    """A configuration on the front, or the default beside it."""

    number: int
    """Number of the point, by the first cost; 0 for the default."""
    config: Config
    costs: Mapping[str, float]
    """Mean of each cost, by its name, as shown to people."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict, repr=False)
    """Verdict of each cost against the default; empty without a test set."""
    beaten: bool = False
    """Whether the default or another point is no worse in all means, and better in one."""
    within_bounds: bool = True
    """Whether the means keep the bounds of the search."""
    command: str = ""
    """Command line, if the target is a command."""
    failed: int = 0
    """Number of failed runs on the test set; means are over pairs without one."""

    @property
    def name(self) -> str:
        """Name for people: "point 2", or "default"."""
        return f"point {self.number}" if self.number else "default"

    @property
    def is_better(self) -> bool:
        """Whether it is shown to be better than the default in a cost, with no worse mean in any.

        A mean that is worse by at most one percent counts as the same.
        """
        made = self.verdicts.values()
        worse = any(one.conclusion == "worse" or _has_worse_mean(one) for one in made)
        return not worse and any(one.conclusion == "better" for one in made)

    def to_json(self) -> dict[str, Any]:
        """Convert the point to JSON types."""
        return {
            "number": self.number,
            "config": self.config.as_dict(),
            "costs": {name: finite(number) for name, number in self.costs.items()},
            "verdicts": {name: _verdict_json(one) for name, one in self.verdicts.items()},
            "beaten": self.beaten,
            "within_bounds": self.within_bounds,
            "failed": self.failed,
            **({"command": self.command} if self.command else {}),
        }


def _has_worse_mean(made: Verdict) -> bool:
    if made.ratio is not None:
        return made.ratio.estimate < 1 - MARGIN
    return made.gain is None or made.gain.estimate < 0


def _verdict_json(made: Verdict) -> dict[str, Any]:
    return {
        "ratio": made.ratio and made.ratio.to_json(),
        "gain": made.gain and made.gain.to_json(),
        "p_value": made.p_value,
        "conclusion": made.conclusion,
        "comparisons": made.comparisons,
    }


@dataclass(frozen=True)
class Front:
    """Configurations of which none is better than another in every cost."""

    metric: Costs
    default: FrontPoint
    points: tuple[FrontPoint, ...]
    """The points, the least first cost first; at most eight."""
    on: str
    """What the means are over: the test set, or the runs of the search."""
    is_verdict: bool
    """Whether the means are over runs that the search has not chosen by."""
    best: int
    """Number of the point that the search reports as its best; 0 for the default."""
    why_none: str = ""
    """Why there is no verdict on the points, as a sentence."""

    @property
    def chosen(self) -> FrontPoint:
        """The point that the search reports as its best."""
        return (self.default, *self.points)[self.best]

    @property
    def best_name(self) -> str:
        """What the search reports as its best, in words."""
        if not self.points:
            return "the default"
        name = self.chosen.name if self.chosen.number else "the default"
        if not self.metric.bounds:
            return f"{name}, which balances the costs"
        bounds = " and ".join(map(str, self.metric.bounds))
        outside = "" if self.chosen.within_bounds else f", outside them on {self.on}"
        return f"{name}, chosen by the search for {bounds}{outside}"

    def pick(self, bounds: str) -> FrontPoint:
        """Choose the point with the least first cost that has no bound.

        Args:
            bounds: Bounds on the means, such as "runtime <= 0.1" or "gap <= 0.01 and size <= 3".

        Returns:
            A point of the front, or the default if it is the best within the bounds.

        Raises:
            BadInput: No point is within the bounds.
        """
        metric = Costs(self.metric.parts, self.metric.names, bounds_of(bounds))
        within = [
            point
            for point in (self.default, *self.points)
            if all(bound.holds(point.costs[bound.name]) for bound in metric.bounds)
        ]
        if not within:
            raise BadInput(f"no point is within {bounds!r}; {self._ranges(metric.bounds)}")
        first = metric.names[metric.parts.index(metric.leading)]
        sign = -1.0 if metric.leading.maximise else 1.0
        return min(within, key=lambda point: sign * point.costs[first])

    def _ranges(self, bounds: Sequence[Bound]) -> str:
        ends = []
        for name in dict.fromkeys(bound.name for bound in bounds):
            numbers = [point.costs[name] for point in (self.default, *self.points)]
            ends.append(f"{name} is {min(numbers):.4g} to {max(numbers):.4g} on {self.on}")
        return ", ".join(ends)

    @property
    def recommendation(self) -> str:
        """What to use, in one paragraph."""
        if not self.points:
            return "Keep the default: no configuration was found that improves a cost."
        why_none = self.why_none or "there are no held-out runs."
        if self.metric.bounds:
            none = "" if self.is_verdict else f" No verdict: {why_none}"
            return f"{self._under_bounds()}{none}"
        head = f"{counted(len(self.points), 'point')} on the front of {self.metric}"
        if not self.is_verdict:
            return f"{head}; no verdict on them: {why_none}"
        better = [str(point.number) for point in self.points if point.is_better]
        found = (
            f"{'point' if len(better) == 1 else 'points'} {', '.join(better)}"
            f" {'is' if len(better) == 1 else 'are'} shown to be better than the default in a cost,"
            " with no worse mean in another"
            if better
            else "none is shown to be better than the default in a cost without a worse mean in"
            " another"
        )
        choice = "one" if len(self.points) > 1 else "it or the default"
        return f"{head}: on {self.on}, {found}. Choose {choice} by what matters to you."

    def _under_bounds(self) -> str:
        bounds = " and ".join(map(str, self.metric.bounds))
        point, first = self.chosen, self.metric.leading
        name = self.metric.names[self.metric.parts.index(first)]
        means = f"{self._means(point)} on {self.on}"
        if not point.within_bounds:
            others = [p for p in (self.default, *self.points) if p.within_bounds]
            sign = -1.0 if first.maximise else 1.0
            other = min(others, key=lambda p: sign * p.costs[name], default=None)
            also = f" {other.name.capitalize()} does: {self._means(other)}." if other else ""
            return f"The best of the search, {point.name}, has {means}, not {bounds}.{also}"
        if not point.number:
            return f"Keep the default: it is the best found with {bounds} ({means})."
        made = point.verdicts.get(name)
        if made is None:
            return f"{point.name.capitalize()} keeps {bounds} ({means})."
        much = how_much(made)
        if not self.default.within_bounds:
            return (
                f"Use {point.name}: it keeps {bounds}, and the default does not ({means}); in"
                f" {name}, it is {much}."
            )
        if made.conclusion == "better":
            return f"Use {point.name}: it keeps {bounds} ({means}), and in {name} it is {much}."
        return f"Keep the default: no gain of {point.name} in {name} is shown; it is {much}."

    def _means(self, point: FrontPoint) -> str:
        return ", ".join(f"{name} {_brief(point.costs[name])}" for name in self.metric.names)

    @property
    def table(self) -> list[list[str]]:
        """Rows for people: headings, the default, and the points with their ratios."""
        names = self.metric.names
        rows = [["", *(cell for name in names for cell in (name, "times the default's")), ""]]
        for point in (self.default, *self.points):
            cells = [point.name]
            for name in names:
                made = point.verdicts.get(name)
                cells += [
                    f"{_brief(point.costs[name])}",
                    "" if made is None else _change_text(made),
                ]
            rows.append([*cells, self._note(point)])
        return rows

    def _note(self, point: FrontPoint) -> str:
        notes = (
            "beaten by another" if point.beaten and point.number else "",
            f"{counted(point.failed, 'run')} failed" if point.failed else "",
            "" if point.within_bounds else "outside the bounds",
        )
        return ", ".join(note for note in notes if note)

    @property
    def caveat(self) -> str:
        """How the numbers are to be read, in one sentence."""
        made = next((one for point in self.points for one in point.verdicts.values()), None)
        if made is None:
            return "Means are over runs that the points were chosen by, so they are too good."
        count = f"{counted(len(self.points), 'point')}, {len(self.metric.names)} costs"
        least = fewest_cases(made.comparisons)
        if made.instances < least:
            return (
                f"Means are over {self.on}. There are no intervals: {made.comparisons} comparisons"
                f" ({count}) need at least {counted(least, made.case)}."
            )
        return (
            f"Means are over {self.on}. Intervals are corrected for {made.comparisons} comparisons"
            f" ({count}): all hold together with 95 % confidence."
        )

    def to_json(self) -> dict[str, Any]:
        """Convert the front to JSON types."""
        return {
            "costs": list(self.metric.names),
            "bounds": [str(bound) for bound in self.metric.bounds],
            "on": self.on,
            "is_verdict": self.is_verdict,
            "default": self.default.to_json(),
            "points": [point.to_json() for point in self.points],
            "best": self.best,
            "recommendation": self.recommendation,
        }

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.table, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in self.table]
        return "\n".join([*lines, self.recommendation, self.caveat])

    def _repr_html_(self) -> str:
        head, *rows = self.table
        return joined(html_table(rows, head), *map(paragraph, (self.recommendation, self.caveat)))


@dataclass(frozen=True, repr=False)
class FrontVerdict(NoVerdict):
    """The front in the place of a verdict: with several costs there is no single best."""

    front: Front

    def __repr__(self) -> str:
        return self.reason

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types; the front is beside it."""
        return {"conclusion": self.conclusion, "reason": self.reason}


def share(made: Verdict) -> Interval | None:
    """Factor from the default's mean to the point's, in the target's own numbers; or None."""
    found = made.ratio
    if found is None or made.metric.maximise:
        return found
    return Interval(*(_inverse(number) for number in (found.estimate, found.high, found.low)))


def _inverse(number: float) -> float:
    return 1 / number if number else math.inf


def _brief(number: float) -> str:
    """A mean for people: four digits, or all of a large one."""
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e9 else f"{number:.4g}"


def _change_text(made: Verdict) -> str:
    """A mean compared with the default's, with the interval."""
    factor = share(made)
    if factor is not None and factor.low <= 0 and math.isinf(factor.high):
        return f"{factor.estimate:.3g} (no interval)"
    if factor is not None:
        return f"{factor.estimate:.3g} ({factor.low:.3g} to {factor.high:.3g})"
    if made.gain is not None and (made.gain.low, made.gain.high) == (0, 0):
        return "the same"
    return how_much(made) if made.gain else ""


def front_configs(history: History, most: int = MAX_POINTS) -> tuple[list[Config], Config]:
    """Points of a front by the runs of a search, and the one that it reports as its best.

    A point is not dominated by another or by the default, when each is taken one standard error
    worse. Of more than `most`, those are kept that leave the smallest gaps.
    """
    metric = history.scenario.cost
    assert isinstance(metric, Costs)  # noqa: S101 -- for the type checker
    default = history.scenario.space.default
    if not history.costs(default):
        return [], default
    relative = RelativeCosts(history)
    found = [
        position
        for position in positions(history, relative, history.configs)
        if position.config not in history.wrong
    ]
    uppers = [position.upper for position in found]
    kept = [p for p in found if not is_dominated(p.upper, uppers) or p.config == default]
    best = preferred(history, metric, kept).config
    others = [p for p in kept if p.config != default]
    chosen = _spread_out(others, best, most)
    return [p.config for p in sorted(chosen, key=lambda p: p.means)], best


def _spread_out(found: Sequence[Position], best: Config, most: int) -> list[Position]:
    """At most this many of the positions: both ends, the best, and what lies farthest apart."""
    if len(found) <= most:
        return list(found)
    ranges = weighed((1.0,) * len(found[0].means), found).ranges
    chosen = [min(found, key=lambda p: p.means[k]) for k in range(len(ranges))]
    chosen = list(dict.fromkeys([p for p in found if p.config == best] + chosen))
    while len(chosen) < most:
        left = [p for p in found if p not in chosen]
        chosen.append(
            max(left, key=lambda p: min(_apart(p.means, c.means, ranges) for c in chosen))
        )
    return chosen


def _apart(first: Numbers, second: Numbers, ranges: Numbers) -> float:
    return max(abs(a - b) / size for a, b, size in zip(first, second, ranges, strict=True))


def front(
    history: History,
    made: Mapping[Config, Sequence[Run]],
    on: str,
    commands: Mapping[Config, str],
) -> Front:
    """Front of a search, judged by runs on the test set.

    Args:
        history: Runs of the search.
        made: Runs of the default and of each point on the same pairs; empty without a test set.
        on: The instances and seeds of these runs, in words.
        commands: Command lines of configurations.
    """
    metric = history.scenario.cost
    assert isinstance(metric, Costs)  # noqa: S101 -- for the type checker
    configs, best = front_configs(history)
    default = history.scenario.space.default
    judged = bool(made) and all(config in made for config in (default, *configs))
    count = len(configs) * len(metric.parts)
    wanted = (default, *configs)
    means = (
        _means(metric, {c: made[c] for c in wanted})
        if judged
        else {c: mean_costs(history, c) for c in wanted}
    )
    least = {c: _least(metric, numbers) for c, numbers in means.items()}

    def point(number: int, config: Config) -> FrontPoint:
        verdicts = {
            name: verdict(made[default], made[config], part, on, comparisons=count)
            for name, part in zip(metric.names, metric.parts, strict=True)
            if judged and number
        }
        return FrontPoint(
            number,
            config,
            dict(zip(metric.names, means[config], strict=True)),
            verdicts,
            is_dominated(least[config], least.values()),
            violation(metric, means[config]) == 0,
            commands.get(config, ""),
            sum(math.inf in metric.of(run) for run in made.get(config, ())),
        )

    points = tuple(point(number, config) for number, config in enumerate(configs, start=1))
    where = on if judged else "the runs of the search"
    number = configs.index(best) + 1 if best in configs else 0
    return Front(metric, point(0, default), points, where, judged, number)


def _means(metric: Costs, made: Mapping[Config, Sequence[Run]]) -> dict[Config, Numbers]:
    """Mean costs over the pairs on which no configuration failed."""
    costs = {
        config: {run.task.pair: metric.of(run) for run in runs} for config, runs in made.items()
    }
    first = next(iter(costs.values()))
    usable = [p for p in first if all(math.isfinite(x) for own in costs.values() for x in own[p])]
    return {config: shown_means(metric, [own[p] for p in usable]) for config, own in costs.items()}


def _least(metric: Costs, means: Sequence[float]) -> Numbers:
    """Means of which the least is the best."""
    pairs = zip(metric.parts, means, strict=True)
    return tuple(
        -number if part.maximise and math.isfinite(number) else number for part, number in pairs
    )
