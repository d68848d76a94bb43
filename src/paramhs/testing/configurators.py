"""What every configurator must do."""

from paramhs.search.configurators import Configurator
from paramhs.search.history import History
from paramhs.testing.driving import SCENARIO, SPACE, events, noisy
from paramhs.values.describing import description
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config


def check_configurator(
    configurator: Configurator, scenario: Scenario = SCENARIO, runs: int = 200
) -> None:
    """The seed decides the whole search, looking ahead changes nothing, and it can be stored.

    Searches end after so many `runs`.
    """
    plain = _events(configurator, scenario, 1, 0, runs)
    assert plain == _events(configurator, scenario, 1, 0, runs), "a seed does not decide the search"
    for peek in (1, 7, 100):
        ahead = _events(configurator, scenario, 1, peek, runs)
        assert ahead == plain, "looking at likely runs changes the search"
    assert any(isinstance(event, Config) for event in plain), "it never names an incumbent"
    assert plain != _events(configurator, scenario, 2, 0, runs), "the seed has no effect"
    description(configurator, "the configurator")


def _events(
    configurator: Configurator, scenario: Scenario, seed: int, peek: int, runs: int
) -> list[object]:
    cost = noisy if scenario.space == SPACE else (lambda task: float(task.seed % 97))
    return events(configurator.search(History(scenario, seed)), cost, runs, peek)
