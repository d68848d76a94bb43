"""Estimate of the time saved by capping runs.

The full duration of a run that was capped at c seconds is unknown. The estimate is the mean
remaining time of runs of this search that last longer than c: the area under the Kaplan-Meier curve
of all runs beyond c, divided by its height at c. Times beyond the longest finished run are not
counted, and capped runs mostly belong to slow configurations, so the estimate is rather too low.

Source: Kaplan, Meier (JASA 53, 1958), Nonparametric estimation from incomplete observations.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from paramhs.core.runs import Run, Status
from paramhs.core.text.numbers import counted
from paramhs.search.history import History


@dataclass(frozen=True)
class Saved:
    """Effect of capping on a set of runs."""

    runs: int
    """Number of capped runs."""
    seconds: float
    """Seconds that the capped runs took."""
    more: float
    """Estimated number of further seconds they would have taken."""

    def __str__(self) -> str:
        return f"{counted(self.runs, 'run')} cut short, which saved about {self.more:.3g} s"

    def to_json(self) -> dict[str, object]:
        """Convert the estimate to JSON types."""
        return {"runs": self.runs, "target_time": self.seconds, "saved": self.more}


def saved(runs: Sequence[Run]) -> Saved | None:
    """Estimate what capping saved in these runs; None if none was capped."""
    cuts = [run.runtime for run in runs if run.status is Status.CAPPED]
    if not cuts:
        return None
    ended = [run.runtime for run in runs if run.status is not Status.CAPPED]
    return Saved(len(cuts), math.fsum(cuts), math.fsum(_beyond(ended, cuts)))


def saved_in(history: History, made: Iterable[Run]) -> Saved | None:
    """Estimate what capping saved in a search, given the runs made for it.

    A run that an idle worker made ahead with a larger cutoff may count as a capped one, so that
    workers never change the result. Such a run saved nothing.
    """
    if all(run.status is not Status.CAPPED for run in history.runs):
        return None
    asked = {run.task.call for run in history.runs}
    return saved([run for run in made if run.task.call in asked])


def _beyond(ended: Sequence[float], cuts: Sequence[float]) -> list[float]:
    """Mean remaining time for each moment at which a run was capped."""
    # Kaplan-Meier: at each time the survival curve falls by the share of the runs still under
    # observation that end there; a capped run leaves the observation without ending. Integrating
    # the curve from right to left gives all remaining means in one pass.
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
