"""Conformance suite for comparisons."""

from paramhs.core.description import description
from paramhs.core.runs import Task
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison
from paramhs.search.history import History
from paramhs.testing.driving import SCENARIO, SPACE, answer

_RACES = 30


def check_comparison(comparison: Comparison) -> None:
    """Check that a comparison favours the better side, and depends only on the history.

    Args:
        comparison: The comparison to check.

    Examples:
        >>> from paramhs.search import FixedRuns
        >>> from paramhs.testing import check_comparison
        >>> check_comparison(FixedRuns(10))
    """
    worse, better, *others = SPACE.configs()

    def cost(task: Task) -> float:
        return float(task.seed % 7 + 10 * (task.config != better))

    history = History(SCENARIO, 1)
    answer(comparison.start(history, worse), cost)
    _check_race(comparison, history, better, worse, True, cost)
    for challenger in others[:_RACES]:
        _check_race(comparison, history, challenger, better, False, cost)
    _check_it_keeps_nothing(comparison, history, others[_RACES], better, cost)
    description(comparison, "the comparison")


def _check_race(
    comparison: Comparison,
    history: History,
    challenger: Config,
    incumbent: Config,
    wins: bool,
    cost: object,
) -> None:
    before = history.asked
    won, tasks = answer(comparison.better(history, challenger, incumbent), cost)  # type: ignore[arg-type]
    history.decide(challenger, incumbent, won)
    assert won == wins, f"the {'better' if wins else 'worse'} one {'lost' if wins else 'won'}"
    assert history.asked - before == len(tasks), "runs were asked for past the history"
    assert {task.config for task in tasks} <= {challenger, incumbent}, "runs of others were asked"
    assert len(set(tasks)) == len(tasks), "a run was asked for twice"


def _check_it_keeps_nothing(
    comparison: Comparison, history: History, challenger: Config, incumbent: Config, cost: object
) -> None:
    """Check that two races from the same history request the same runs."""
    other = History(SCENARIO, 1)
    for run in history.runs:
        other.add(run)
    for race in history.races:
        other.decide(race.challenger, race.incumbent, race.won)
    other.restore(history.asked, ())
    first, second = (
        answer(comparison.better(known, challenger, incumbent), cost)  # type: ignore[arg-type]
        for known in (history, other)
    )
    assert first == second, "it depends on more than the history"
