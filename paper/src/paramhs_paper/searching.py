"""The real configurators, with comparisons drawn from the laws, or every bit simulated."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from paramhs.search.history import History
from paramhs.values.runs import Asking, Search
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import SEEDS, below, stream
from paramhs.values.space import Config
from paramhs_paper.arena import Arena
from paramhs_paper.scenarios import L_STEP, TIES, Curve, HeuristicScenario, PaperScenario

PATIENCE = 2_000  # calls after which an l-step search on a table is taken to be trapped

Duel = Callable[[int, int, Random], bool]
"""Whether the challenger (second) replaces the incumbent (first)."""


class _Found(Exception):
    """An optimum was sampled."""


class _GivenUp(Exception):
    """It was not, in as many calls as were allowed."""


@dataclass(frozen=True)
class Duels:
    """A comparison that asks for no runs: a duel decides; sampling an optimum ends the search.

    Configurations are known to it by their numbers in a grid of this shape.
    """

    duel: Duel
    optima: Collection[int]
    shape: tuple[int, ...]
    rng: Random
    """What the duels of one search draw from."""
    patience: float = math.inf
    """Calls after which a search is given up, as it may be trapped."""

    def start(self, history: History, config: Config) -> Asking:
        """Nothing is run."""
        if self.state(config) in self.optima:
            raise _Found(0)
        return True
        yield

    def better(
        self, history: History, challenger: Config, incumbent: Config, ahead: Iterable[Config] = ()
    ) -> Asking:
        """One call."""
        history.asked += 1
        if self.state(challenger) in self.optima:
            raise _Found(history.asked)
        if history.asked >= self.patience:
            raise _GivenUp
        return self.duel(self.state(incumbent), self.state(challenger), self.rng)
        yield

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Never: every duel is a new one."""
        return False

    def state(self, config: Config) -> int:
        """As `ravel` numbers them."""
        state = 0
        for index, levels in zip(config.indices, self.shape, strict=True):
            state = state * levels + index
        return state


def calls_until_found(search: Search) -> float:
    """How many calls a search by duels takes to sample an optimum; infinite if it is given up."""
    try:
        for _ in search:
            pass
    except _Found as found:
        return float(found.args[0])
    except _GivenUp:
        return math.inf
    raise AssertionError("the search ended without sampling an optimum")


def searched(
    scenario: PaperScenario,
    curve: Curve,
    size: int,
    repetitions: int,
    seed: int,
    duel: Duel | None = None,
) -> Iterator[float]:
    """The calls of many searches, infinite if given up; comparisons are drawn from the law unless
    another duel is given."""
    arena = scenario.arena(size, curve.ties)
    trapped = scenario.fresh_runs is None and curve.operator == L_STEP.operator
    patience = PATIENCE if trapped else math.inf
    targets = set(arena.targets.tolist())
    decide, problem = duel or duel_by_law(arena), Scenario(scenario.space(size))
    seeds = stream(seed, *scenario.stream(curve, size))
    for _ in range(repetitions):
        number = below(SEEDS, seeds)
        duels = Duels(decide, targets, arena.shape, stream(number, "duels"), patience)
        configurator = scenario.configurator(curve, duels)
        yield calls_until_found(configurator.search(History(problem, number)))


def duel_by_law(arena: Arena) -> Duel:
    """The challenger wins with its exact probability, ties included."""
    beats = np.asarray(arena.beats).tolist()
    return lambda incumbent, challenger, rng: rng.random() < beats[incumbent][challenger]


def duel_by_bits(scenario: HeuristicScenario, runs: int, ties: str = "coin") -> Duel:
    """Both are run anew, bit by bit."""

    def total(index: int, rng: Random) -> int:
        value = scenario.values[index]
        return int(scenario.heuristic.simulate(value, runs, below(SEEDS, rng)).sum())

    def duel(incumbent: int, challenger: int, rng: Random) -> bool:
        new, old = total(challenger, rng), total(incumbent, rng)
        return rng.random() < TIES[ties] if new == old else new > old

    return duel
