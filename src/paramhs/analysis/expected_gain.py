"""What more runs would probably gain, from how improvements came so far.

In a search that draws at random, the number of improvements between run t and run c * t does not
depend on what is searched: it is about Poisson with mean log(c). A search that learns improves
more often, and less and less towards its end. So improvements are counted on a logarithmic scale of
runs, over the last factor of `SPAN`, and their rate is what these counts allow: a gamma law, which
never excludes another improvement. Each improvement saves a share of the cost; shares are
exponential, with the mean of those seen, the later the more weight.

Costs of successive incumbents are compared on the runs that both have made. A winner was lucky on
them, and late in a search most changes of the incumbent are nothing but luck. So each share is
shrunk by its standard error, as James and Stein do; one below its error is no improvement, and does
not count.

The prediction is about the search as it goes, not about the space: it does not know of a region
that no move has found yet.

Sources: Renyi, On outstanding values of a sequence of observations (1962), for the law of records;
James, Stein, Estimation with quadratic loss (1961), of which this is the positive part.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import NamedTuple

from paramhs.analysis.evidence import standard_error
from paramhs.core.costs import WORST
from paramhs.core.runs import Point
from paramhs.core.several_costs import Costs
from paramhs.search.history import History
from paramhs.search.record import Record

QUANTILE = 0.9
"""Quantile of the predicted law that is shown as the upper end."""
STATED_CONFIDENCE = 0.75
"""Confidence in the upper end: how often it held on known laws, in simulations."""
_SURE = f"{100 * STATED_CONFIDENCE:.0f} %"
SPAN = 4.0  # improvements since a quarter of the runs give their rate
_PRIOR_COUNT = 0.5  # Jeffreys' prior of a Poisson rate
MIN_RACES = 10
"""Races before which nothing is predicted."""
UNKNOWN_GAIN = 0.1  # mean gain of an improvement before one is clear
_MIN_LEFT = 1e-3  # share of the cost that is left after any improvement, at least
_DRAWS = 1_000


class Improvement(NamedTuple):
    """A change of the incumbent."""

    runs: int
    """Runs of the search before it."""
    share: float
    """Share of the cost that it saved, on the runs that both have made."""
    error: float = 0.0
    """Standard error of the share."""

    @property
    def gain(self) -> float:
        """Logarithm of the factor by which it was better, shrunk by its error; 0 if not clear."""
        if self.share <= self.error:
            return 0.0
        return -math.log(max(1 - self.share, _MIN_LEFT)) * (1 - (self.error / self.share) ** 2)


@dataclass(frozen=True)
class ExpectedGain:
    """Share of the best's cost that more runs would probably save."""

    runs: int
    """How many more runs."""
    estimate: float
    """Mean of the predicted gain."""
    low: float
    """The gain is at least this, as sure as `STATED_CONFIDENCE`."""
    high: float
    """The gain is at most this, as sure as `STATED_CONFIDENCE`."""

    @property
    def text(self) -> str:
        """The prediction, as a sentence."""
        gain = _range(self.low, self.high)
        return f"Another {self.runs:,} runs would probably gain {gain} ({_SURE})."

    @property
    def short(self) -> str:
        """The prediction on part of a line."""
        return f"{self.runs:,} more runs gain {_range(self.low, self.high)} ({_SURE})"

    def to_json(self) -> dict[str, object]:
        """Convert the prediction to JSON types."""
        return {**vars(self), "level": STATED_CONFIDENCE, "text": self.text}


def _range(low: float, high: float) -> str:
    top = f"{_two_digits(100 * high)} %"
    if high < 0.001:
        return "nothing"
    return f"{_two_digits(100 * low)} to {top}" if low >= 0.001 else f"at most {top}"


def _two_digits(percent: float) -> str:
    return f"{percent:.2g}" if percent < 99.5 else f"{percent:.0f}"


def expected_gain(record: Record, further: int) -> ExpectedGain | None:
    """Predict the gain of `further` runs; None before `MIN_RACES`, or with several costs."""
    history = record.history
    if len(history.races) < MIN_RACES or isinstance(record.scenario.cost, Costs):
        return None
    past = improvements(history, record.trajectory)
    return predicted(past, len(record.runs), further, history.rng("gain"))


def improvements(history: History, trajectory: Sequence[Point]) -> list[Improvement]:
    """Every change of the incumbent with its gain."""
    pairs = itertools.pairwise(trajectory)
    return [Improvement(new.runs, *_saved(history, old, new)) for old, new in pairs]


def _saved(history: History, old: Point, new: Point) -> tuple[float, float]:
    """Share of the old one's cost that the new one saves, and its standard error.

    It is all of the cost if the old one failed more often.
    """
    mine, other = history.costs(old.config), history.costs(new.config)
    shared = [(mine[pair][0], other[pair][0]) for pair in mine if pair in other]
    usable = [pair for pair in shared if max(pair) < WORST]
    if not usable or sum(a == WORST for a, _ in shared) > sum(b == WORST for _, b in shared):
        return 1.0, 0.0
    before, after = map(fmean, zip(*usable, strict=True))
    scale = max(abs(before), abs(after), 1e-300)
    ratio = after / before if before * after > 0 else 1.0
    rest = [(b - ratio * a) / scale for a, b in usable]
    error = 0.0 if history.pair_count == 1 else standard_error(rest)
    return min(max((before - after) / scale, 0.0), 1.0), error


def predicted(past: Sequence[Improvement], now: int, further: int, rng: Random) -> ExpectedGain:
    """Predict the gain of `further` runs after `now`, given the improvements so far."""
    clear = [change for change in past if change.gain > 0]
    recent = sum(change.runs > now / SPAN for change in clear)
    ahead = math.log1p(further / max(now, 1)) / math.log(SPAN)
    mean = _mean_gain(clear)
    gains = sorted(_gain(recent, ahead, mean, rng) for _ in range(_DRAWS))
    low, high = (gains[int(q * (_DRAWS - 1))] for q in (1 - QUANTILE, QUANTILE))
    return ExpectedGain(further, math.fsum(gains) / _DRAWS, low, high)


def _mean_gain(clear: Sequence[Improvement]) -> float:
    """Mean gain of an improvement; the later, the more weight, because they become smaller."""
    runs = sum(change.runs for change in clear)
    return math.fsum(change.gain * change.runs for change in clear) / runs if runs else UNKNOWN_GAIN


def _gain(recent: int, ahead: float, mean: float, rng: Random) -> float:
    """One draw of the gain: a Poisson number of improvements at a rate drawn from its law."""
    rate = rng.gammavariate(recent + _PRIOR_COUNT, ahead)
    log, time = 0.0, rng.expovariate(1.0)
    while time < rate:
        log += rng.expovariate(1.0) * mean
        time += rng.expovariate(1.0)
    return 1 - math.exp(-log)
