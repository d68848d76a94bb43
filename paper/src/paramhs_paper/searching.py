"""Figure 2 by the real configurators: comparisons drawn from the laws, or every bit simulated."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from paramhs.results.landscape.outcomes import Array
from paramhs.values.costs import Cost
from paramhs.values.runs import Asking, Search
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import SEEDS, below, stream
from paramhs.values.space import Config
from paramhs_paper.exact import scenario_outcomes
from paramhs_paper.scenarios import RUNS, SCENARIOS, Curve, configurator_of, space_of

Duel = Callable[[int, int, Random], bool]
"""Whether the challenger (second) replaces the incumbent (first)."""


class _Found(Exception):
    """An optimum was sampled."""


class _GivenUp(Exception):
    """It was not, in as many calls as were allowed."""


def _first_index(config: Config) -> int:
    return config.indices[0]


@dataclass(frozen=True)
class Duels:
    """A comparison that asks for no runs: a duel decides; sampling an optimum ends the search.

    Configurations are known to it by their places.
    """

    duel: Duel
    optima: Collection[int]
    place: Callable[[Config], int] = _first_index
    patience: float = math.inf
    """Calls after which a search is given up, as it may be trapped."""

    def begin(self, scenario: Scenario, seed: int) -> "_Contest":
        """A new contest, for one search."""
        return _Contest(self, stream(seed, "duels"))


class _Contest:
    remembers = False
    tried: Collection[Config] = ()
    settled: Collection[Config] = ()

    def __init__(self, rules: Duels, rng: Random) -> None:
        self.rules = rules
        self.rng = rng
        self.asked = 0

    def enter(self, config: Config) -> Asking:
        if self.rules.place(config) in self.rules.optima:
            raise _Found(0)
        return True
        yield

    def better(self, challenger: Config, incumbent: Config, ahead: Iterable[Config] = ()) -> Asking:
        self.asked += 1
        place = self.rules.place
        if place(challenger) in self.rules.optima:
            raise _Found(self.asked)
        if self.asked >= self.rules.patience:
            raise _GivenUp
        return self.rules.duel(place(incumbent), place(challenger), self.rng)
        yield

    def costs(self, config: Config) -> Sequence[Cost]:
        return ()

    def deepen(self, incumbent: Config) -> bool:
        return False


def calls_of_search(curve: Curve, step: int, size: int, duels: Duels, seed: int) -> int:
    """Run one search until it samples an optimum; how many calls that took."""
    search = configurator_of(curve, step, duels).search(Scenario(space_of(size)), seed)
    calls = calls_until_found(search)
    if calls is None:
        raise AssertionError("the search was given up")
    return calls


def calls_until_found(search: Search) -> int | None:
    """How many calls a search by duels takes to sample an optimum; None if it is given up."""
    try:
        for _ in search:
            pass
    except _Found as found:
        return int(found.args[0])
    except _GivenUp:
        return None
    raise AssertionError("the search ended without sampling an optimum")


def searched_calls(
    name: str, curve: Curve, size: int, method: str, repetitions: int, seed: int, runs: int = RUNS
) -> list[int]:
    """The calls of many searches; `method` is "search" or "simulate"."""
    scenario = SCENARIOS[name]
    duel = duel_by_law(name, runs) if method == "search" else duel_by_bits(name, runs)
    duels = Duels(duel, {scenario.optimum})
    seeds = stream(seed, name, curve.name, size)
    return [
        calls_of_search(curve, scenario.step, size, duels, below(SEEDS, seeds))
        for _ in range(repetitions)
    ]


@lru_cache(maxsize=16)
def _beats(name: str, runs: int) -> list[list[float]]:
    beats: Array = scenario_outcomes(name, runs).beats()
    rows: list[list[float]] = beats.tolist()
    return rows


def duel_by_law(name: str, runs: int) -> Duel:
    """The challenger wins with its exact probability, ties included."""
    beats = _beats(name, runs)
    return lambda incumbent, challenger, rng: rng.random() < beats[incumbent][challenger]


def duel_by_bits(name: str, runs: int) -> Duel:
    """Both are run anew, bit by bit; a fair coin decides ties."""
    scenario = SCENARIOS[name]

    def total(place: int, rng: Random) -> int:
        value = scenario.values[place]
        return int(scenario.heuristic.simulate(value, runs, below(SEEDS, rng)).sum())

    def duel(incumbent: int, challenger: int, rng: Random) -> bool:
        new, old = total(challenger, rng), total(incumbent, rng)
        return rng.random() < 0.5 if new == old else new > old

    return duel
