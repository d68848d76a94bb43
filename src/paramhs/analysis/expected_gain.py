"""What more runs would probably gain, from how improvements came so far.

In a search that draws at random, the number of improvements between run t and run c * t does not
depend on what is searched: it is about Poisson with mean log(c). A search that learns improves
more often, and less and less towards its end. So improvements are counted on a logarithmic scale of
runs, over the last factor of `SPAN`, and their rate is what these counts allow: a gamma law, which
never excludes another improvement. Each improvement saves a share of the cost; shares are
exponential, with the mean of those seen, the later the more weight.

The prediction is therefore about the search as it goes, not about the space: it does not know of a
region that no move has found yet. Costs of successive incumbents are compared on the runs that both
have made, and a winner was lucky on them, so the gains are rather too large than too small.

Source: Renyi, On outstanding values of a sequence of observations (1962), for the law of records.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from paramhs.analysis.evidence import common_costs
from paramhs.core.runs import Point
from paramhs.core.several_costs import Costs
from paramhs.search.history import History
from paramhs.search.record import Record

QUANTILE = 0.9
"""Quantile of the predicted law that is shown as the upper end."""
STATED_CONFIDENCE = 0.8
"""Confidence in the upper end: how often it held on known laws, in simulations."""
SPAN = 4.0  # improvements since a quarter of the runs give their rate
_PRIOR_COUNT = 0.5  # Jeffreys' prior of a Poisson rate
_DRAWS = 1_000


class Improvement(NamedTuple):
    """A change of the incumbent."""

    runs: int
    """Runs of the search before it."""
    share: float
    """Share of the cost that it saved, on the runs that both have made."""


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
        return f"Another {self.runs:,} runs would probably gain {_range(self.low, self.high)}."

    @property
    def short(self) -> str:
        """The prediction on part of a line."""
        return f"{self.runs:,} more runs gain {_range(self.low, self.high)}"

    def to_json(self) -> dict[str, object]:
        """Convert the prediction to JSON types."""
        return {**vars(self), "level": STATED_CONFIDENCE, "text": self.text}


def _range(low: float, high: float) -> str:
    top = f"{100 * high:.2g} %"
    if high < 0.001:
        return "nothing"
    return f"{100 * low:.2g} to {top}" if low >= 0.001 else f"at most {top}"


def expected_gain(record: Record, further: int) -> ExpectedGain | None:
    """Predict the gain of `further` runs; None before the first race, or with several costs."""
    history = record.history
    if not history.races or further < 1 or isinstance(record.scenario.cost, Costs):
        return None
    past = improvements(history, record.trajectory)
    return predicted(past, len(record.runs), further, history.rng("gain"))


def improvements(history: History, trajectory: Sequence[Point]) -> list[Improvement]:
    """Every change of the incumbent with its gain."""
    pairs = itertools.pairwise(trajectory)
    return [Improvement(new.runs, _share(history, old, new)) for old, new in pairs]


def _share(history: History, old: Point, new: Point) -> float:
    """Share of the old one's cost that the new one saves; all of it if the old one failed."""
    met = common_costs(history, old.config, new.config)
    if met is None or met.second is None:
        return 1.0
    if met.first is None or met.first_failed > met.second_failed:
        return 1.0
    if met.ratio is not None:
        return min(max(1 - 1 / met.ratio, 0.0), 1.0)
    difference = abs(met.first - met.second)
    return min(difference / max(abs(met.first), abs(met.second), 1e-300), 1.0)


def predicted(past: Sequence[Improvement], now: int, further: int, rng: Random) -> ExpectedGain:
    """Predict the gain of `further` runs after `now`, given the improvements so far."""
    recent = sum(change.runs > now / SPAN for change in past)
    ahead = math.log1p(further / max(now, 1)) / math.log(SPAN)
    mean = _mean_share(past, now)
    gains = sorted(_gain(recent, ahead, mean, rng) for _ in range(_DRAWS))
    low, high = (gains[int(q * (_DRAWS - 1))] for q in (1 - QUANTILE, QUANTILE))
    return ExpectedGain(further, math.fsum(gains) / _DRAWS, low, high)


def _mean_share(past: Sequence[Improvement], now: int) -> float:
    """Mean gain of an improvement, in logarithms of the cost; the later, the more weight.

    Improvements become smaller, so weights grow with the square of the runs before.
    """
    weights = [(change.runs / max(now, 1)) ** 2 for change in past]
    logs = [-math.log(max(1 - change.share, 1e-3)) for change in past]
    total = math.fsum(weights)
    return math.fsum(map(math.prod, zip(weights, logs, strict=True))) / total if total else 0.0


def _gain(recent: int, ahead: float, mean: float, rng: Random) -> float:
    """One draw of the gain: a Poisson number of improvements at a rate drawn from its law."""
    rate = rng.gammavariate(recent + _PRIOR_COUNT, ahead)
    log, time = 0.0, rng.expovariate(1.0)
    while time < rate:
        log += rng.expovariate(1.0) * mean
        time += rng.expovariate(1.0)
    return 1 - math.exp(-log)
