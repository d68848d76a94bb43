"""Searches with the real configurators, whose comparisons are drawn from the laws."""

import math
from collections.abc import Callable, Iterator
from random import Random

import numpy as np

from paramhs.core.random_streams import SEEDS, below, stream
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.search.history import History
from paramhs.testing.duels import Duels, calls_until_sampled
from paramhs_paper.arena import Arena
from paramhs_paper.scenarios import L_STEP, Curve, PaperScenario

PATIENCE = 2_000  # calls after which an l-step search on a table counts as trapped

Duel = Callable[[int, int, Random], bool]
"""Whether the challenger (second) replaces the incumbent (first)."""


def duels(duel: Duel, arena: Arena, space: Space, patience: float = math.inf) -> Duels:
    """Comparison by a duel, until a target of the arena is sampled."""

    def beats(incumbent: Config, challenger: Config, rng: Random) -> bool:
        return duel(state(incumbent), state(challenger), rng)

    def state(config: Config) -> int:
        """Index of a configuration, numbered as by `ravel`."""
        state = 0
        for index, levels in zip(config.indices, arena.shape, strict=True):
            state = state * levels + index
        return state

    cells = zip(*np.unravel_index(arena.targets, arena.shape), strict=True)
    return Duels(beats, {space.configured([int(k) for k in cell]) for cell in cells}, patience)


def searched(
    scenario: PaperScenario,
    curve: Curve,
    size: int,
    repetitions: int,
    seed: int,
    duel: Duel | None = None,
) -> Iterator[float]:
    """Yield the calls of many searches, infinite for abandoned ones.

    Comparisons are drawn from the law unless another duel is given.
    """
    arena = scenario.arena(size, curve.ties)
    trapped = scenario.fresh_runs is None and curve.operator == L_STEP.operator
    patience = PATIENCE if trapped else math.inf
    problem = Scenario(scenario.space(size))
    comparison = duels(duel or duel_by_law(arena), arena, problem.space, patience)
    configurator = scenario.configurator(curve, comparison)
    seeds = stream(seed, *scenario.stream(curve, size))
    for _ in range(repetitions):
        history = History(problem, below(SEEDS, seeds))
        yield calls_until_sampled(configurator.search(history))


def duel_by_law(arena: Arena) -> Duel:
    """Duel that the challenger wins with its exact probability, including ties."""
    beats = np.asarray(arena.beats).tolist()
    return lambda incumbent, challenger, rng: rng.random() < beats[incumbent][challenger]
