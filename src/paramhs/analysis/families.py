"""Families of instances: a verdict for each, and whether they disagree.

A family's verdict uses the same statistics as the verdict on all instances, corrected for the
number of families, so that all statements about families hold together. Two families disagree if
the second configuration is significantly better on one and significantly worse on another.

Source: tests of qualitative interaction, Gail and Simon (Biometrics 41, 1985); the correction is an
intersection-union test over directions, Bonferroni over families.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paramhs.analysis.intervals import SIGNIFICANCE_LEVEL
from paramhs.analysis.verdict import Verdict, verdict
from paramhs.analysis.verdict_text import directions, how_much, times
from paramhs.core.costs import CostMetric, mean
from paramhs.core.families import Families, families_by
from paramhs.core.runs import Run
from paramhs.core.scenario import plain_name
from paramhs.core.text.numbers import counted, finite


@dataclass(frozen=True)
class Disagreement:
    """Families of one verdict."""

    verdicts: Mapping[str, Verdict]
    """Verdict of each family, corrected for the number of families."""
    two: float | None
    """Factor by which two configurations, each on the families it suits, are better than the better
    one alone; None unless the families disagree and costs are positive."""

    @property
    def better(self) -> list[str]:
        """Families on which the second is significantly better."""
        return [name for name, made in self.verdicts.items() if _claims(made) == "better"]

    @property
    def worse(self) -> list[str]:
        """Families on which the second is significantly worse."""
        return [name for name, made in self.verdicts.items() if _claims(made) == "worse"]

    @property
    def disagree(self) -> bool:
        """Whether the second is better on some family and worse on another, beyond chance."""
        return bool(self.better and self.worse)

    @property
    def sentence(self) -> str:
        """What families say, in one sentence; empty unless they disagree."""
        if not self.disagree:
            return ""
        second = next(iter(self.verdicts.values())).names[1]
        two = (
            f"; two configurations would be {self.two:.3g} times better than the better one alone"
            if self.two and self.two > 1
            else ""
        )
        return (
            f"Families disagree: {second} is better on {_listed(self.better)}, worse on"
            f" {_listed(self.worse)}{two}."
        )

    @property
    def table(self) -> list[list[str]]:
        """Table for people: headings, then a row for each family."""
        return _table(self.verdicts) if self.verdicts else []

    def to_json(self) -> dict[str, Any]:
        """Convert the result to JSON types."""
        return {
            "families": [_row_json(name, made) for name, made in self.verdicts.items()],
            "disagree": self.disagree,
            "two": finite(self.two),
            "sentence": self.sentence,
        }


NO_FAMILIES = Disagreement({}, None)


def disagreement(made: Verdict, families: Families, others: Sequence[str] = ()) -> Disagreement:
    """Split a verdict by family.

    Args:
        made: A verdict with its runs.
        families: Family of each instance; empty to take families from the names.
        others: Names of further instances, such as those of the search, from which families are
            inferred.

    Returns:
        A verdict for each family; none if there are fewer than two families.
    """
    groups = _groups(made, families, others)
    if len(groups) < 2:
        return NO_FAMILIES
    verdicts = {
        name: _part(made, pairs, len(groups)) for name, pairs in sorted(groups.items()) if pairs
    }
    found = Disagreement(verdicts, None)
    return Disagreement(verdicts, _two(found)) if found.disagree else found


def _groups(
    made: Verdict, families: Families, others: Sequence[str]
) -> dict[str, list[tuple[Run, Run]]]:
    names = {pair[0].task.instance.name: pair for pair in made.paired_runs}
    plain = {name: plain_name(name) for name in names}
    known = families or families_by("auto", [*plain.values(), *others])
    groups: dict[str, list[tuple[Run, Run]]] = {}
    for pair in made.paired_runs:
        family = known.get(plain[pair[0].task.instance.name])
        if family is not None:
            groups.setdefault(family, []).append(pair)
    return groups


def _part(made: Verdict, pairs: Sequence[tuple[Run, Run]], count: int) -> Verdict:
    """Verdict on the runs of one family."""
    first, second = zip(*pairs, strict=True)
    part = verdict(first, second, made.metric, made.on, comparisons=made.comparisons * count)
    return replace(part, names=made.names)


def _claims(made: Verdict) -> str:
    """Whether the second is better or worse on a family, for the claim that families disagree.

    The claim is false only if no family is truly better or none truly worse. Then it takes a false
    conclusion in one direction, a one-sided error, so the corrected two-sided p-value may be twice
    the level.
    """
    if any(made.wrong):
        return made.conclusion_here
    if made.p_value >= 2 * SIGNIFICANCE_LEVEL:
        return "unclear"
    return "better" if made.favours_second else "worse"


def _two(found: Disagreement) -> float | None:
    """Gain of two configurations, each on the families it suits, over the better one."""
    sides = [_sums(made) for made in found.verdicts.values()]
    first, second = (math.fsum(side[k] for side in sides) for k in (0, 1))
    both = math.fsum(min(side) for side in sides)
    return min(first, second) / both if both > 0 and all(min(side) > 0 for side in sides) else None


def _sums(made: Verdict) -> tuple[float, float]:
    """Sum over instances of each side's mean cost, over runs that neither has failed."""
    if made.by == "quality" and made.metric.maximise:
        return 0.0, 0.0
    costs: dict[str, list[tuple[float, float]]] = {}
    for mine, other in made.paired_runs:
        both = (made.metric.of(mine)[0], made.metric.of(other)[0])
        if all(map(math.isfinite, both)):
            costs.setdefault(mine.task.instance.name, []).append(both)
    firsts, seconds = (
        math.fsum(mean([both[k] for both in case]) for case in costs.values()) for k in (0, 1)
    )
    return firsts, seconds


def _table(verdicts: Mapping[str, Verdict]) -> list[list[str]]:
    some = next(iter(verdicts.values()))
    label = some.metric.label
    heads = ["family", "instances", *(f"{name}: {label}" for name in some.names)]
    solved = some.metric.needs_runtime
    rows = [[*heads, *(["finished"] if solved else []), "p", "difference"]]
    for name, made in verdicts.items():
        ends = f"{made.first.solved} and {made.second.solved} of {made.first.runs}"
        rows.append(
            [
                name or "(none)",
                str(made.instances),
                _cost(made.first.cost),
                _cost(made.second.cost),
                *([ends] if solved else []),
                f"{made.p_value:.2g}",
                how_much(made),
            ]
        )
    return rows


def _cost(cost: float) -> str:
    return f"{cost:.4g}" if math.isfinite(cost) else "-"


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(name or "(none)" for name in names[:4])
    return first if len(names) <= 4 else f"{first} and {counted(len(names) - 4, 'other family')}"


def _row_json(name: str, made: Verdict) -> dict[str, Any]:
    keys = ("instances", "wins", "ties", "losses", "ratio", "gain", "p_value", "conclusion_here")
    told = made.to_json()
    cost, solved = (
        {f"{side}_{what}": getattr(getattr(made, side), what) for side in ("first", "second")}
        for what in ("cost", "solved")
    )
    costs = {key: finite(value) for key, value in cost.items()}
    return {
        "family": name,
        **costs,
        **solved,
        "runs": made.first.runs,
        **{k: told[k] for k in keys},
    }


def ceiling_text(factor: float | None, configs: int, metric: CostMetric) -> str:
    """Sentence about the virtual best of all configurations tried; empty if it is unknown."""
    if factor is None or factor <= 1:
        return ""
    words = times(factor, *directions(metric))
    much = "as good as" if words == "the same" else f"{words} than"
    return (
        f"Ceiling: a perfect choice for each run among the {counted(configs, 'configuration')}"
        f" tried would be {much} the best alone, in the runs of the search (it includes chance and"
        " no method reaches it)."
    )
