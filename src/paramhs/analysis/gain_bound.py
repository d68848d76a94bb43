"""How much better a configuration that was tried could be than the best.

Most configurations have a few runs, so some that were rejected may be better. The search's own
model says how likely that is: it has a posterior for the mean of every configuration, from its own
runs and from what its neighbours showed. The statement is the upper quantile of the largest gain in
draws from that posterior. Which configuration was run how often does not matter for a posterior, so
the statement does not suffer from the race having chosen; it is as right as the model, which is why
its coverage is measured (docs/explanation/certificate.md).

Means are of logarithms of costs where all costs are positive, so every instance counts alike, and a
gain is a share of the cost on a typical instance. Otherwise it is a share of the best's mean cost.
"""

import math
from dataclasses import dataclass

from paramhs.core.runs import Status
from paramhs.core.space import Config
from paramhs.search.history import History
from paramhs.search.record import Record

LEVEL = 0.05
MAX_STATED_GAIN = 0.95
"""Largest gain that is stated; a larger one says nothing."""
_TAIL_PARTS = 5  # the quantile is that of this part of the level
WIDENING_FACTOR = 2.0
"""Factor of the quantile. The posterior takes its variances as known, so its tails are too thin."""
_DRAWS = 400


@dataclass(frozen=True)
class GainBound:
    """Bound of how much better any configuration that was tried is than the best."""

    configurations: int
    """Configurations that were tried, the best included."""
    bound: float
    """None of them saves more than this share of the best's cost."""
    level: float
    """Probability that one does."""

    @property
    def text(self) -> str:
        """The statement, as a sentence."""
        sure = f"({100 * (1 - self.level):.3g} %)"
        much = f"more than {100 * self.bound:.2g} % better" if self.bound > 0.0005 else "better"
        return f"No configuration tried ({self.configurations:,}) is {much} {sure}."

    def to_json(self) -> dict[str, object]:
        """Convert the statement to JSON types."""
        return {**vars(self), "text": self.text}


def gain_bound(record: Record, level: float = LEVEL) -> GainBound | None:
    """The statement about all configurations of a record; None where too little is known."""
    history, best = record.history, record.best
    count = len(history.configs)
    if count < 2 or best not in history.configs:
        return None
    if history.pair_count == 1:
        return GainBound(count, 0.0, level)
    bound = _bound(_whole_runs(record), best, level)
    return None if bound is None or bound > MAX_STATED_GAIN else GainBound(count, bound, level)


def _whole_runs(record: Record) -> History:
    """The runs as they were made, even where the search has used only their beginning.

    A search knows less of some runs than its record holds. All that read the record must say the
    same, so the statement rests on the runs alone.
    """
    whole = History(record.scenario, record.history.seed, record.history.judge.baseline)
    for run in record.runs:
        whole.add(run)
    return whole


def _bound(history: History, best: Config, level: float) -> float | None:
    """The quantile of the largest gain in draws from the posterior."""
    import numpy as np

    from paramhs.search.model.dataset import dataset  # numpy only where it is needed
    from paramhs.search.model.main_effects import fitted

    if any(run.status is Status.WRONG for run in history.runs if run.task.config == best):
        return None
    data = dataset(history)
    if not data.is_enough:
        return None
    model = fitted(data)
    if best not in model.rows.configs:
        return None
    draws = model.drawn(_DRAWS, history.rng("certificate"))
    costs = np.array([draw.costs for draw in draws])
    right = np.array([config not in history.wrong for config in model.rows.configs])
    at = list(model.rows.configs).index(best)
    gains = costs[:, at] - costs[:, right].min(axis=1)
    largest = float(np.quantile(gains, 1 - level / _TAIL_PARTS, method="higher"))
    return _share(history, best, WIDENING_FACTOR * largest)


def _share(history: History, best: Config, gain: float) -> float | None:
    """A gain in the model's units as a share of the best's cost."""
    from paramhs.search.model.dataset import unit_of

    unit, logs = unit_of(history)
    if logs:
        return 1 - math.exp(-gain * unit)
    own = [abs(cost[0]) for cost in history.costs(best).values() if math.isfinite(cost[0])]
    mean = math.fsum(own) / len(own) if own else 0.0
    return gain * unit / mean if mean > 0 else None
