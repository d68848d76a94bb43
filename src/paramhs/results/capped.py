"""How much time was saved by cutting runs short: an estimate, and of what.

What a run would have taken that was cut at c seconds is not known. What is estimated is the mean of
what runs of this search take beyond c that last so long, up to the cutoff: the area under the
Kaplan-Meier curve of all its runs beyond c, over its height there. Times beyond the longest run
that ended are not counted, and those that are cut short are mostly of slow configurations, so this
is rather too little than too much.

Source: Kaplan, Meier (JASA 53, 1958), Nonparametric estimation from incomplete observations.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from paramhs.search.history import History
from paramhs.values.runs import Run, Status
from paramhs.values.wording import counted


@dataclass(frozen=True)
class Saved:
    """What capping did."""

    runs: int
    """How many runs were cut short."""
    seconds: float
    """What they took."""
    more: float
    """About how many seconds more they would have taken."""

    def __str__(self) -> str:
        return f"{counted(self.runs, 'run')} cut short, which saved about {self.more:.3g} s"

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {"runs": self.runs, "target_time": self.seconds, "saved": self.more}


def saved(runs: Sequence[Run]) -> Saved | None:
    """What capping saved in these runs; None if none was cut short."""
    cuts = [run.runtime for run in runs if run.status is Status.CAPPED]
    if not cuts:
        return None
    ended = [run.runtime for run in runs if run.status is not Status.CAPPED]
    return Saved(len(cuts), math.fsum(cuts), math.fsum(_beyond(ended, cuts)))


def saved_in(history: History, made: Iterable[Run]) -> Saved | None:
    """What capping saved in a search, given the runs that were really made for it.

    A run that an idle worker made with a larger cutoff may count as one that was cut short, so that
    workers never change the result; it saved nothing.
    """
    if all(run.status is not Status.CAPPED for run in history.runs):
        return None
    asked = {run.task.call for run in history.runs}
    return saved([run for run in made if run.task.call in asked])


def _beyond(ended: Sequence[float], cuts: Sequence[float]) -> list[float]:
    """For each time at which a run was cut, the mean of what those take more that last so long."""
    last = max(ended, default=0.0)
    times = sorted([(t, False) for t in ended] + [(t, True) for t in cuts if t < last])
    left, height = len(times), 1.0
    heights, widths = [], []  # of the curve between one time and the next
    moments = [(t, list(group)) for t, group in groupby(times, key=lambda time: time[0])]
    for position, (t, group) in enumerate(moments):
        ends = sum(not is_cut for _, is_cut in group)
        height *= 1 - ends / left
        left -= len(group)
        heights.append(height)
        widths.append(moments[position + 1][0] - t if position + 1 < len(moments) else 0.0)
    area, means = 0.0, {}
    for (t, _), height, width in zip(reversed(moments), heights[::-1], widths[::-1], strict=True):
        area += height * width
        means[t] = area / height if height > 0 else 0.0
    return [means.get(t, 0.0) for t in cuts]
