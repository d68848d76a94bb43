"""Portfolios of configurations: how they run, what their runs cost, and their verdicts.

A portfolio runs *in parallel*, each member on a core of its own, until one member has solved the
instance; or as a *schedule* on one core, one member after the other, each for its slice of the time
limit. Both are computed from whole runs of the members on the same pairs, without an oracle: the
schedule is found on the instances of the search, and the verdicts are on the test set.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from paramhs.analysis.verdict import Verdict, verdict
from paramhs.analysis.verdict_text import directions, times
from paramhs.core.costs import CostMetric, Score, mean, score
from paramhs.core.runs import Pair, Run, Status
from paramhs.core.scenario import plain_name
from paramhs.core.space import Config
from paramhs.core.text.html import html_table
from paramhs.core.text.numbers import counted, finite

Member = Mapping[Pair, Run]
"""Whole runs of a member, by pair."""

_MAX_ORDERS = 4  # members up to which every order is tried
_CHOICES = 12  # lengths of a slice that are tried
_PASSES = 3
_MARGIN = 1.1  # factor of a slice over the longest run that it is to let finish


@dataclass(frozen=True)
class Slice:
    """One part of a schedule: a member and the seconds it may take."""

    config: Config
    seconds: float


@dataclass(frozen=True)
class Row:
    """A member of a portfolio on the instances of the search."""

    config: Config
    wins: tuple[str, ...]
    """Instances on which its mean cost is the least of all members."""
    cost: float
    """Cost as shown to people, alone."""


@dataclass(frozen=True)
class Portfolio:
    """Several configurations, and what they do together."""

    members: tuple[Config, ...]
    """The members; the first is the best single configuration."""
    rows: tuple[Row, ...]
    schedule: tuple[Slice, ...]
    """Time slices on one core, in order; empty where the cost is not a time."""
    gains: tuple[float | None, ...]
    """For each number of members, how many times better than the first alone in the search."""
    pairs: int
    """Number of pairs on which the members were chosen."""
    runs: int
    """Number of runs made to choose them."""
    verdicts: Mapping[str, Verdict]
    """Verdicts on the test set: "parallel" and "sequential", each "against best" and "against
    default"; empty without a test set."""
    commands: tuple[str, ...] = ()
    """Command line of each member, if the target is a command."""
    metric: CostMetric | None = None
    size: int = 0
    """Number of members that were asked for."""

    @property
    def why_fewer(self) -> str:
        """Why there are fewer members than were asked for; empty if there are not."""
        if len(self.members) >= self.size:
            return ""
        return (
            f"{self.size} members were asked for. No other configuration known on these runs"
            " improves the portfolio on an instance; more runs make more configurations known."
        )

    def to_json(self) -> dict[str, Any]:
        """Convert the portfolio to JSON types."""
        return {
            "members": [
                {
                    "config": row.config.as_dict(),
                    "cost": finite(row.cost),
                    "wins": list(row.wins),
                    "gain": finite(gain),
                    **({"command": command} if command else {}),
                }
                for row, gain, command in zip(
                    self.rows, self.gains, self.commands or ("",) * len(self.rows), strict=True
                )
            ],
            "schedule": [
                {"member": self.members.index(one.config), "seconds": one.seconds}
                for one in self.schedule
            ],
            "pairs": self.pairs,
            "runs": self.runs,
            "verdicts": {name: made.to_json() for name, made in self.verdicts.items()},
            "recommendation": self.recommendation,
        }

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """The members, the schedule and what to do: headings and texts."""
        members = [
            (
                f"member {k}",
                f"{row.config}; alone {row.cost:.4g}, best on {counted(len(row.wins), 'instance')}",
            )
            for k, row in enumerate(self.rows, 1)
        ]
        parts = (f"{one.seconds:.3g} s of {one.config}" for one in self.schedule)
        return [
            *members,
            *([("schedule", ", then ".join(parts))] if self.schedule else []),
            *((name, made.recommendation) for name, made in self.verdicts.items()),
            ("advice", self.recommendation),
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{heading:<10}{text}" for heading, text in self._facts)

    def _repr_html_(self) -> str:
        return html_table(self._facts)

    @property
    def recommendation(self) -> str:
        """Whether to use the portfolio, in one sentence."""
        if len(self.members) < 2:
            return "Keep the best: no other configuration known on the same runs improves on it."
        told = self.verdicts.get("parallel against best")
        if told is None:
            return "No verdict on the portfolio: there is no test set."
        if told.conclusion == "better":
            return f"On {len(self.members)} cores, use the portfolio. {self._on_one_core}".rstrip()
        schedule = self._on_one_core if self._is_schedule_better else ""
        return f"Keep the best: no gain of the portfolio is shown. {schedule}".rstrip()

    @property
    def _is_schedule_better(self) -> bool:
        alone = self.verdicts.get("sequential against best")
        timed = self.metric is None or self.metric.needs_runtime
        return timed and alone is not None and alone.conclusion == "better"

    @property
    def _on_one_core(self) -> str:
        """What to do on one core, in a sentence; empty without a verdict on it."""
        if "sequential against best" not in self.verdicts:
            return ""
        if self.metric is not None and not self.metric.needs_runtime:
            return "On one core, its members run one after the other and take the time of all."
        if self._is_schedule_better:
            return "Run it as a schedule too: it is better on one core as well."
        return "On one core, keep the best single configuration."


def in_parallel(runs: Sequence[Run], metric: CostMetric) -> Run:
    """Run of a portfolio whose members run at the same time on one pair.

    Where time is the cost, the first member that ends with an answer ends them all, also if its
    answer is wrong. Where quality counts, all members run to their ends, and the best one counts.
    """
    least = min(runs, key=metric.of)
    if not metric.needs_runtime:
        return least._replace(runtime=max(run.runtime for run in runs))
    wrong = [run for run in runs if run.status is Status.WRONG]
    first = min(wrong, key=lambda run: run.runtime, default=least)
    beaten = first.runtime < least.runtime or least.status is not Status.OK
    return first if beaten else least


def in_turn(schedule: Sequence[Slice], runs: Mapping[Config, Run], metric: CostMetric) -> Run:
    """Run of a schedule on one pair, from whole runs of its members.

    Without time slices, members run to their ends one after the other and the best one counts.
    """
    if not metric.needs_runtime:
        least = min(runs.values(), key=metric.of)
        return least._replace(runtime=math.fsum(run.runtime for run in runs.values()))
    passed, run = 0.0, next(iter(runs.values()))
    for part in schedule:
        run = runs[part.config]
        if run.status in (Status.OK, Status.WRONG) and run.runtime <= part.seconds:
            return run._replace(runtime=passed + run.runtime)
        passed += min(part.seconds, run.runtime)
    return Run(run.task, Status.TIMEOUT, run.task.cutoff, None, "no slice of the schedule sufficed")


def find_schedule(
    members: Mapping[Config, Member], metric: CostMetric, cutoff: float
) -> tuple[Slice, ...]:
    """Time slices, together as long as the cutoff, with the least cost on these runs.

    A run that was capped counts as unsolved beyond its cutoff. For up to four members every order
    is tried, and slices are improved in turn; so the result is good, not proven to be the best. Of
    equal ones the first member alone is taken, so that no slice is cut without a reason.
    """
    if not metric.needs_runtime or math.isinf(cutoff) or len(members) < 2:
        return ()
    pairs = list(dict.fromkeys(pair for runs in members.values() for pair in runs))
    orders = permutations(members) if len(members) <= _MAX_ORDERS else [tuple(members)]
    count = len(members)
    whole, even = [cutoff] + [0.0] * (count - 2), [cutoff / count] * (count - 1)
    found = [
        _improved(order, members, metric, cutoff, pairs, start)
        for start in (whole, even)
        for order in orders
    ]
    best = min(found, key=lambda plan: _plan_score(plan, members, metric, pairs))
    return tuple(part for part in best if part.seconds > 0)


def _improved(
    order: Sequence[Config],
    members: Mapping[Config, Member],
    metric: CostMetric,
    cutoff: float,
    pairs: Sequence[Pair],
    lengths: Sequence[float],
) -> list[Slice]:
    """Improve one slice after the other; the last member has the rest of the time."""

    def plan(lengths: Sequence[float]) -> list[Slice]:
        rest = max(0.0, cutoff - math.fsum(lengths))
        return [Slice(c, s) for c, s in zip(order, (*lengths, rest), strict=True)]

    best = _plan_score(plan(lengths), members, metric, pairs)
    for _ in range(_PASSES):
        before = best
        for k, config in enumerate(order[:-1]):
            for seconds in _lengths(members[config], cutoff):
                tried = [*lengths[:k], seconds, *lengths[k + 1 :]]
                if math.fsum(tried) <= cutoff:
                    found = _plan_score(plan(tried), members, metric, pairs)
                    if found < best:
                        best, lengths = found, tried
        if best == before:
            break
    return plan(lengths)


def _lengths(runs: Member, cutoff: float) -> list[float]:
    """Lengths of a slice to try: none, and quantiles of the member's solving times."""
    solved = sorted(run.runtime for run in runs.values() if run.status is Status.OK)
    count = min(_CHOICES, len(solved))
    chosen = {solved[(k + 1) * len(solved) // count - 1] for k in range(count)}
    return [0.0, *sorted(min(_MARGIN * seconds + 0.01, cutoff) for seconds in chosen)]


def _plan_score(
    plan: Sequence[Slice],
    members: Mapping[Config, Member],
    metric: CostMetric,
    pairs: Sequence[Pair],
) -> Score:
    made = (in_turn(plan, {c: runs[pair] for c, runs in members.items()}, metric) for pair in pairs)
    return score([metric.of(run) for run in made])


def portfolio_verdicts(
    made: Mapping[Config, Sequence[Run]],
    members: Sequence[Config],
    default: Config,
    schedule: Sequence[Slice],
    metric: CostMetric,
    on: str,
) -> dict[str, Verdict]:
    """Verdicts on the portfolio against the best single configuration and the default.

    Args:
        made: Runs of each configuration on the same pairs.
        members: The portfolio; the first is the best single configuration.
        default: The default configuration.
        schedule: Time slices; without any there is no sequential verdict where time is the cost.
        metric: What a run costs.
        on: The instances and seeds, in words.

    Returns:
        The verdicts by name, corrected for their number.
    """
    by_pair = {c: {run.task.pair: run for run in runs} for c, runs in made.items()}
    pairs = list(by_pair[members[0]])
    whole = {pair: {c: by_pair[c][pair] for c in members} for pair in pairs}
    sides = {"parallel": [in_parallel([*runs.values()], metric) for runs in whole.values()]}
    if schedule or not metric.needs_runtime:
        sides["sequential"] = [in_turn(schedule, runs, metric) for runs in whole.values()]
    single = list(dict.fromkeys((members[0], default)))
    names = {members[0]: "best", default: "default"} if len(single) > 1 else {default: "default"}
    count = len(sides) * len(single)
    return {
        f"{how} against {'best' if config == members[0] else 'default'}": _named(
            verdict(made[config], runs, metric, on, comparisons=count), names[config], how
        )
        for how, runs in sides.items()
        for config in single
    }


def _named(made: Verdict, first: str, how: str) -> Verdict:
    name = "portfolio" if how == "parallel" else "portfolio in turn"
    return replace(made, names=(first, name))


def rows_of(members: Mapping[Config, Member], metric: CostMetric) -> tuple[Row, ...]:
    """Row of each member: its own cost, and the instances on which it is the best."""
    wins: dict[Config, list[str]] = {config: [] for config in members}
    names = dict.fromkeys(pair.instance.name for runs in members.values() for pair in runs)
    for name in names:
        scores = {c: score([*_costs(runs, metric, name)]) for c, runs in members.items()}
        winner = min(scores, key=lambda c: scores[c])
        wins[winner].append(plain_name(name))
    return tuple(
        Row(config, tuple(wins[config]), _shown([*_costs(runs, metric)], metric))
        for config, runs in members.items()
    )


def _costs(
    runs: Member, metric: CostMetric, name: str | None = None
) -> Iterator[tuple[float, ...]]:
    for pair, run in runs.items():
        if name is None or pair.instance.name == name:
            yield metric.of(run)


def _shown(costs: Sequence[tuple[float, ...]], metric: CostMetric) -> float:
    total = score(costs)
    return metric.shown(total) if math.isfinite(total[1]) else math.inf


def gains_of(members: Mapping[Config, Member], metric: CostMetric) -> tuple[float | None, ...]:
    """For each number of members, the ratio of the first one's mean cost to the portfolio's."""
    listed = list(members.values())
    means = []
    for count in range(1, len(listed) + 1):
        costs = [min(metric.of(runs[pair]) for runs in listed[:count])[0] for pair in listed[0]]
        means.append(mean(costs) if all(0 < cost < math.inf for cost in costs) else None)
    first = means[0]
    return tuple(first / one if first and one else None for one in means)


def gain_text(gain: float | None, metric: CostMetric) -> str:
    """How many times better a portfolio is, in words; empty if unknown."""
    return times(gain, *directions(metric)) if gain else ""
