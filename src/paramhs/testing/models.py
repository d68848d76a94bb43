"""Conformance suite for models of costs."""

import math
from collections.abc import Callable
from statistics import fmean

from paramhs.core.random_streams import stream
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.search.history import History
from paramhs.search.model.model import Draw, Model
from paramhs.testing.driving import SPACE

_CONFIGS = 40
_DRAWS = 4


def check_model(model: Model, space: Space = SPACE) -> None:
    """Check that a model tells good from bad, is reproducible, and survives useless costs.

    It is fitted to runs with noise on two instances, to runs without noise, to equal costs and to
    failures only.

    Args:
        model: The model.
        space: Space with at least two values of its first parameter.

    Examples:
        >>> from paramhs.search import MainEffects
        >>> from paramhs.testing import check_model
        >>> check_model(MainEffects())
    """
    rng = stream(0, "check model")
    noise = {config: rng.gauss(0, 0.1) for config in space.draws(rng, _CONFIGS)}
    first = space.listed[0]

    def cost(config: Config) -> float:
        return 1.0 + 2.0 * config.indices[0] / max(first.levels - 1, 1) + noise.get(config, 0.0)

    for deterministic in (False, True):
        for costs in (cost, lambda config: 1.0, lambda config: math.inf):
            history = _history(space, list(noise), costs, deterministic)
            draws = _check_fit(model, history)
            if costs is cost:
                _check_order(draws, sorted(noise, key=cost))


def _history(
    space: Space, configs: list[Config], cost: Callable[[Config], float], deterministic: bool
) -> History:
    """Two instances, the second twice as costly; only one without noise."""
    names = ("i",) if deterministic else ("i", "j")
    scenario = Scenario(space, tuple(map(Instance, names)), deterministic=deterministic)
    history = History(scenario, 0)
    for config in configs:
        for number, instance in enumerate(scenario.instances):
            found = cost(config) * (1 + number)
            status = Status.OK if math.isfinite(found) else Status.CRASHED
            quality = found if status is Status.OK else None
            history.add(Run(Task(config, instance, number), status, 0.0, quality))
    return history


def _check_fit(model: Model, history: History) -> list[Draw]:
    from paramhs.search.model.dataset import dataset

    data = dataset(history)
    fits = [model.fit(data) for _ in range(2)]
    names = {instance.name for instance in history.scenario.instances}
    for name, variance in fits[0].noise_of.items():
        assert name in {*names, *history.scenario.instances}, f"{name} is no instance"
        assert 0 < variance < math.inf, f"the noise of {name} is {variance}"
    draws, same = (list(fit.draws(_DRAWS, stream(0, "draws"))) for fit in fits)
    assert 1 <= len(draws) <= _DRAWS, f"{len(draws)} draws instead of {_DRAWS}"
    configs = list(data.configs)
    for draw, other in zip(draws, same, strict=True):
        scores = draw.score(configs)
        assert len(scores) == len(configs), "there is not one score for each configuration"
        assert all(map(math.isfinite, scores)), "a score is not finite"
        assert scores == other.score(configs), "fitted again, the scores are others"
        assert set(draw.best) <= set(configs), "the best has not been run"
    return draws


def _check_order(draws: list[Draw], configs: list[Config]) -> None:
    """Check that the better half has better scores on average."""
    half = len(configs) // 2
    scores = [fmean(column) for column in zip(*(d.score(configs) for d in draws), strict=True)]
    assert fmean(scores[:half]) < fmean(scores[half:]), "good configurations have no better scores"
