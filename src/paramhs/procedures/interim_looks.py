"""Comparisons that end as soon as they are clear.

The runs of a comparison are looked at on 12 instances, on twice as many, and so on. It ends where
every verdict is clear, or shows a difference too small to matter. Intervals and p-values are
corrected for the number of looks (Bonferroni), so they hold at whichever look it ended. Looks are
few, so the correction costs little; a confidence sequence, which allows any number, is wider
(docs/explanation/certificate.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from paramhs.analysis.verdict import Verdict, verdict
from paramhs.core.costs import CostMetric
from paramhs.core.random_streams import drawn, stream
from paramhs.core.runs import Pair, Run, Search
from paramhs.core.space import Config
from paramhs.core.text.numbers import counted
from paramhs.search.history import History

FIRST_LOOK = 12  # instances before the first look
NEGLIGIBLE = 0.02  # share of the cost below which a difference does not matter


def interim_looks(pairs: Sequence[Pair], seed: int) -> list[list[Pair]]:
    """The pairs known at each look: on 12 instances, then on twice as many, and at last on all.

    The order of instances is random, so that those of a look are a sample of all. Without
    instances, seeds take their place.
    """
    groups: dict[object, list[Pair]] = {}
    alone = len({pair.instance.name for pair in pairs}) == 1
    for pair in pairs:
        groups.setdefault(pair if alone else pair.instance.name, []).append(pair)
    order = list(drawn(list(groups.values()), stream(seed, "order of looks")))
    sizes = [FIRST_LOOK]
    while 2 * sizes[-1] < len(order):
        sizes.append(2 * sizes[-1])
    whole = [size for size in sizes if size < len(order)]
    return [[pair for group in order[:n] for pair in group] for n in (*whole, len(order))]


@dataclass
class Met:
    """Runs of some configurations on the same pairs, made look by look."""

    configs: Sequence[Config]
    """The baseline, and the others."""
    metric: CostMetric
    all_on: str
    """Description of all instances."""
    looks: Sequence[Sequence[Pair]]
    """The pairs of each look, each a part of the next."""
    comparisons: int
    runs: dict[Config, list[Run]] = field(default_factory=dict)
    """Runs of each configuration."""
    early: str = ""
    """Why it ended before the last look."""
    is_over: bool = False

    def asked_for(self, history: History) -> Search:
        """Request the runs of one look after the other, until all comparisons are clear."""
        known = 0
        for pairs in self.looks:
            tasks = [history.task(c, pair) for pair in pairs[known:] for c in self.configs]
            yield from history.make(tasks)
            known = len(pairs)
            self.runs = {config: [] for config in self.configs}
            for run in history.runs:
                self.runs[run.task.config].append(run)
            if known < len(self.looks[-1]):
                self.early = self._why_clear()
                if self.early:
                    break
        self.is_over = True
        return self.early or "all runs are made"

    @property
    def pairs(self) -> Sequence[Pair]:
        """The pairs that were run."""
        count = min(map(len, self.runs.values()))
        return self.looks[-1][:count]

    @property
    def on(self) -> str:
        """Description of the instances that were run."""
        names = len({pair.instance.name for pair in self.pairs})
        return f"{names} of {self.all_on}" if self.early and names > 1 else self.all_on

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of each configuration against the first; one for each of several costs."""
        first, *others = self.runs.values()
        costs = self.metric.by_name
        return [
            replace(
                verdict(
                    first,
                    other,
                    metric,
                    self.on,
                    comparisons=len(others) * len(costs),
                    looks=len(self.looks),
                    early=self.early,
                ),
                cost_name=name,
            )
            for other in others
            for name, metric in costs.items()
        ]

    def _why_clear(self) -> str:
        """Why no further look is needed; empty if one is."""
        verdicts = self.verdicts
        if not all(map(_is_clear, verdicts)):
            return ""
        count = counted(verdicts[0].instances, "instance")
        if verdicts[0].without_instances:
            count = counted(verdicts[0].first.runs, "run")
        if any(one.conclusion_here != "unclear" for one in verdicts):
            return f"the answer was clear after {count}"
        return f"after {count} any difference is below {100 * NEGLIGIBLE:.0f} %"


def _is_clear(found: Verdict) -> bool:
    """Whether one side is better, or the difference is too small to matter."""
    if found.conclusion_here != "unclear":
        return True
    ratio = found.ratio
    if ratio is None or found.failures_differ:
        return False
    return ratio.low >= 1 / (1 + NEGLIGIBLE) and ratio.high <= 1 + NEGLIGIBLE
