"""Test whether the challenger of an open race is ahead."""

from collections.abc import Sequence

from paramhs.core.costs import Cost
from paramhs.core.runs import Pair, Run, Status
from paramhs.core.space import Config
from paramhs.search.comparison.balance import total
from paramhs.search.history import History

MIN_COMMON_RUNS = 3  # with fewer common runs no challenger counts as ahead


def challenger_leads(history: History, incumbent: Config, unfinished: Sequence[Run] = ()) -> bool:
    """Whether a race against this incumbent is open and its challenger has the lower mean.

    Means are over all common runs. A challenger with a capped run is not ahead. `unfinished` are
    runs of the current request, which are not in the history yet.
    """
    if history.racing is None or history.racing[1] != incumbent:
        return False
    challenger = history.racing[0]
    theirs, own = (_costs(history, config, unfinished) for config in history.racing)
    if any(run.status is Status.CAPPED for run in unfinished):
        return False
    if any(history.censored(challenger, pair) for pair in own):
        return False
    shared = [pair for pair in own if pair in theirs]
    new, old = [theirs[pair] for pair in shared], [own[pair] for pair in shared]
    return len(shared) >= MIN_COMMON_RUNS and total(history, shared, new) < total(
        history, shared, old
    )


def _costs(history: History, config: Config, more: Sequence[Run]) -> dict[Pair, Cost]:
    cost_of = history.scenario.cost_of
    new = {run.task.pair: cost_of(run) for run in more if run.task.config == config}
    return {**history.costs(config), **new}
