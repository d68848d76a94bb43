"""Rule that stops a search when more runs would gain too little.

The prediction (`analysis.expected_gain`) is evaluated right after a race was decided, whenever the
runs have grown by one part in `LOOK_GROWTH`. It depends on the record alone, which is the same for
any number of workers and in every replay. So a search that is resumed stops at the same run, and
one that is extended continues as if it had not stopped.

Both the upper end of the prediction and its mean must be below the limit: where improvements are
rare but large, nothing is gained in nine of ten cases, and much in the tenth.
"""

from dataclasses import dataclass, field

from paramhs.analysis.expected_gain import STATED_CONFIDENCE, ExpectedGain, expected_gain
from paramhs.execution.driver.budget import Budget
from paramhs.search.record import Record

NEXT_SHARE = 10  # the gain is predicted for this part of the budget
MIN_SHARE = 5  # no search stops before this part of its budget
MIN_RACES = 50  # nor before as many races
LOOK_GROWTH = 50


@dataclass
class Stopping:
    """The rule of a budget that ends where the predicted gain is small."""

    budget: Budget
    _races: int = field(default=0, init=False)
    _looked: int = field(default=0, init=False)

    def why(self, record: Record) -> str:
        """Reason to stop now; empty if there is none."""
        least, races = self.budget.least_gain, len(record.history.races)
        if not least or races == self._races:
            return ""
        self._races, runs = races, len(record.runs)
        if races < MIN_RACES or runs * LOOK_GROWTH < self._looked * (LOOK_GROWTH + 1):
            return ""
        self._looked, whole = runs, runs_in(self.budget, record)
        if runs * MIN_SHARE < whole:
            return ""
        found = expected_gain(record, next_runs(whole))
        if found is None or not is_enough(found, least):
            return ""
        sure = f"({100 * STATED_CONFIDENCE:.0f} % sure)"
        return f"the next {found.runs:,} runs would gain less than {100 * least:g} % {sure}"


def next_runs(whole: float) -> int:
    """Number of runs whose gain is predicted, of this many in the whole budget."""
    return max(int(whole / NEXT_SHARE), 1)


def is_enough(found: ExpectedGain, least: float) -> bool:
    """Whether the predicted gain is below the limit, both its upper end and its mean."""
    return max(found.high, found.estimate) < least


def runs_in(budget: Budget, record: Record) -> float:
    """Number of runs in the whole budget, at the pace so far."""
    runs = max(len(record.runs), 1)
    limits = [float(budget.runs)] if budget.runs else []
    if budget.target_time:
        seconds = sum(run.runtime for run in record.runs)
        limits.append(runs * budget.target_time / max(seconds, 1e-9))
    if budget.wall_time and record.elapsed:
        limits.append(runs * budget.wall_time / max(record.elapsed[-1], 1e-9))
    return min(limits, default=float(runs))
