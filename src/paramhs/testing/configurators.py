"""Conformance suite for configurators."""

from paramhs.core.description import description
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config
from paramhs.search.configurators import Configurator
from paramhs.search.history import History
from paramhs.testing.driving import SCENARIO, SPACE, events, noisy


def check_configurator(
    configurator: Configurator, scenario: Scenario = SCENARIO, runs: int = 200
) -> None:
    """Check that the seed decides the search, lookahead changes nothing, and it can be stored.

    Each search ends after this number of `runs`.

    Args:
        configurator: The configurator to check.
        scenario: Problem to search on.
        runs: Number of runs after which a search ends.

    Examples:
        >>> from paramhs.search import ParamRLS
        >>> from paramhs.testing import check_configurator
        >>> check_configurator(ParamRLS(), runs=50)
    """
    plain = _events(configurator, scenario, 1, 0, runs)
    assert plain == _events(configurator, scenario, 1, 0, runs), "a seed does not decide the search"
    for peek in (1, 7, 100):
        ahead = _events(configurator, scenario, 1, peek, runs)
        assert ahead == plain, "making runs early changes the search"
    assert any(isinstance(event, Config) for event in plain), "it never names an incumbent"
    assert plain != _events(configurator, scenario, 2, 0, runs), "the seed has no effect"
    description(configurator, "the configurator")


def _events(
    configurator: Configurator, scenario: Scenario, seed: int, peek: int, runs: int
) -> list[object]:
    cost = noisy if scenario.space == SPACE else (lambda task: float(task.seed % 97))
    history = History(scenario, seed)
    return events(configurator.search(history), cost, runs, peek, history)
