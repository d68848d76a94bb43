"""Calls of each operator on a measured landscape until a good value is first sampled.

The paper's cost measure: calls of `better`, from a uniform start, until the optimum is sampled. A
comparison is either always correct, or is made with r runs of each value, drawn anew for each call
from the measured runs, both values on the same copies of the same instances. The chance that a
value wins is computed first, so the paper's operators are exact Markov chains with and without
noise; searches with a memory are simulated.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from benchmarks.landscapes.shapes import valley_of
from benchmarks.landscapes.tables import Array, Measured
from paramhs import AskTell
from paramhs.core.random_streams import SEEDS, below, stream
from paramhs.core.space import Config, Integer, Space
from paramhs.search.comparison import FreshRuns
from paramhs.search.configurators import ParamHS
from paramhs.search.operators import BothSides, Harmonic, LStep, Narrowing, Step
from paramhs.search.operators import Uniform as UniformStep
from paramhs.theory.harmonic_line import harmonic_line_calls
from paramhs.theory.hitting import Chain
from paramhs.theory.param_rls import grid_chain, param_rls_chain

RUNS = (0, 1, 5, 20)
"""Runs of each value in a comparison; 0 stands for comparisons that are always correct."""
GOALS = (0.0, 0.02, 0.05)
"""How far above the best mean a value may be to count as found."""
SAMPLES = 4_000  # comparisons from which the chance of winning is estimated
SEARCHES = {"narrowing": 20, "harmonic, no repetition": 200, "golden section": 200}
"""Number of simulated searches of each kind."""
LEARNT = 4  # searches of the default, which are slow
MOST_CALLS = 2_000  # a simulated search that takes more is given up
MOST_RACES = 3  # races for each value, after which a search of the default is given up

CHAINS: dict[str, Step] = {
    "1-step": LStep(1),
    "2-step": LStep(2),
    "3-step": LStep(3),
    "random": UniformStep(),
    "harmonic": Harmonic(),
}
OPERATORS = (
    *CHAINS,
    "random, no repetition",
    "harmonic, both sides",
    "harmonic, no repetition",
    "narrowing",
    "golden section",
    "the default",
)


class Calls(NamedTuple):
    """Mean calls of an operator to a goal."""

    operator: str
    runs: int
    goal: float
    calls: float
    """Infinite where a search may never arrive; of the searches that arrived, if simulated."""
    error: float
    """Standard error of a simulation; 0 where the calculation is exact."""
    missed: float
    """Part of the starts from which a search may never arrive, or of the searches that did not."""


@dataclass(frozen=True)
class Landscape:
    """Means, and the chance that one value beats another with each number of runs."""

    measured: Measured
    costs: Array
    levels: int

    @staticmethod
    def of(one: Measured) -> "Landscape":
        """The landscape of a measured parameter."""
        return Landscape(one, one.costs, len(one.values))

    def beats(self, runs: int) -> Array:
        """`[x, y]`: the chance that y replaces x; a fair coin decides ties."""
        if not runs:
            return np.asarray(_wins(self.costs[None, :, None])[0])
        pairs = self.measured.ratios.reshape(self.levels, -1)
        if runs == 1:
            return np.asarray(_wins(pairs.T[:, :, None]).mean(axis=0))
        rng = np.random.default_rng(
            below(SEEDS, stream(0, "landscapes", "beats", self.measured.name, runs))
        )
        drawn = rng.integers(pairs.shape[1], size=(SAMPLES, runs))
        sums = pairs[:, drawn].sum(axis=2).T
        total = np.zeros((self.levels,) * 2)
        for part in np.array_split(sums, 20):
            total += _wins(part[:, :, None]).sum(axis=0)
        return total / SAMPLES

    def good(self, goal: float) -> list[int]:
        """Values that count as found."""
        return [int(i) for i in np.flatnonzero(self.costs <= (1 + goal) * self.costs.min())]


def _wins(costs: Array) -> Array:
    """`[sample, x, y]`: whether y beats x, half for a tie."""
    old, new = costs, costs.transpose(0, 2, 1)
    return np.asarray((new < old) + 0.5 * (new == old))


def all_calls(one: Measured, learnt: int = LEARNT) -> Iterator[Calls]:
    """Every operator to every goal with every number of runs."""
    landscape = Landscape.of(one)
    for runs in RUNS:
        beats = landscape.beats(runs)
        for goal in GOALS:
            yield from chains(landscape, beats, runs, goal)
        yield from simulated(landscape, beats, runs)
        if learnt:
            yield from learning(landscape, runs, learnt)


def chains(landscape: Landscape, beats: Array, runs: int, goal: float) -> Iterator[Calls]:
    """The operators whose searches are Markov chains."""
    levels, good = landscape.levels, landscape.good(goal)
    for name, step in CHAINS.items():
        chain = grid_chain((levels,), step, lambda x, y: beats[x, y], good)
        yield _exact(name, runs, goal, chain, levels)
    elsewhere = (levels - len(good)) / levels
    without = elsewhere * levels / (len(good) + 1)
    yield Calls("random, no repetition", runs, goal, without, 0.0, 0.0)
    space, configs = _space(levels)
    both = param_rls_chain(space, BothSides(), configs, lambda x, y: float(beats[x, y]), set(good))
    yield _exact("harmonic, both sides", runs, goal, both, levels)


def _exact(name: str, runs: int, goal: float, chain: Chain, levels: int) -> Calls:
    means = chain.means()[chain.start > 0]
    stuck = float(np.isinf(means).sum() / levels)
    return Calls(name, runs, goal, chain.moments()[0], 0.0, stuck)


@cache
def _space(levels: int) -> tuple[Space, tuple[Config, ...]]:
    space = Space({"x": Integer(0, levels - 1)})
    return space, tuple(space.config({"x": x}) for x in range(levels))


Search = Callable[[int, Array, Random], Iterator[int]]
"""The values that a search samples after its start, call by call."""


def simulated(landscape: Landscape, beats: Array, runs: int) -> Iterator[Calls]:
    """Searches with a memory of their own."""
    for name, search in SEARCHES_OF.items():
        rng = stream(0, "landscapes", name, landscape.measured.name, runs)
        found: list[list[int | None]] = [[] for _ in GOALS]
        for _ in range(SEARCHES[name]):
            sampled = _sampled(search, beats, landscape.good(0.0), rng)
            for counts, goal in zip(found, GOALS, strict=True):
                counts.append(_first(sampled, landscape.good(goal)))
        for counts, goal in zip(found, GOALS, strict=True):
            yield _counted(name, runs, goal, counts)


def _sampled(search: Search, beats: Array, best: Sequence[int], rng: Random) -> list[int]:
    """What a search samples up to the best value, its start first."""
    sampled = []
    for value in search(len(beats), beats, rng):
        sampled.append(value)
        if value in best or len(sampled) > MOST_CALLS:
            break
    return sampled


def _first(sampled: Sequence[int], good: Sequence[int]) -> int | None:
    wanted = set(good)
    return next((k for k, value in enumerate(sampled) if value in wanted), None)


def _counted(name: str, runs: int, goal: float, counts: Sequence[int | None]) -> Calls:
    met = [count for count in counts if count is not None]
    missed = 1 - len(met) / len(counts)
    if not met:
        return Calls(name, runs, goal, math.inf, 0.0, missed)
    error = stdev(met) / math.sqrt(len(met)) if len(met) > 1 else math.inf
    return Calls(name, runs, goal, fmean(met), error, missed)


def narrowing(levels: int, beats: Array, rng: Random) -> Iterator[int]:
    """`Narrowing` in ParamRLS."""
    space, configs = _space(levels)
    at, races = below(levels, rng), []
    yield at
    while True:
        history: Any = _Races(_Scenario(space), races)
        move = Narrowing().given(history).sample(space, configs[at], rng)
        to = move[0].indices[0]
        yield to
        won = rng.random() < beats[at, to]
        races.append(_Race(configs[to], configs[at], won))
        at = to if won else at


class _Race(NamedTuple):
    challenger: Config
    incumbent: Config
    won: bool


class _Scenario(NamedTuple):
    space: Space


class _Races(NamedTuple):
    """As much of a history as `Narrowing` reads."""

    scenario: _Scenario
    races: list[_Race]


def golden_section(levels: int, beats: Array, rng: Random) -> Iterator[int]:
    """Two values inside an interval; the part beyond the worse one is left.

    A call compares two values, and samples the new one; the first call samples two, so one of them,
    either with the same chance, stands for the start.
    """
    low, high = 0, levels - 1
    known: set[int] = set()
    while high - low > 2:
        step = max(1, round((math.sqrt(5) - 1) / 2 * (high - low)))
        left, right = high - step, low + step
        if left >= right:
            left, right = right - 1, left
        pair = [left, right] if rng.random() < 0.5 else [right, left]
        for value in pair:
            if value not in known:
                known.add(value)
                yield value
        low, high = (low, right) if rng.random() < beats[right, left] else (left, high)
    yield from (value for value in range(low, high + 1) if value not in known)


def harmonic_once(levels: int, beats: Array, rng: Random) -> Iterator[int]:
    """The harmonic step among values that were not tried: ParamRLS without replacement."""
    at = below(levels, rng)
    left = set(range(levels)) - {at}
    yield at
    while left:
        values = sorted(left)
        (to,) = rng.choices(values, [1 / abs(value - at) for value in values])
        left.remove(to)
        yield to
        at = to if rng.random() < beats[at, to] else at


SEARCHES_OF: dict[str, Search] = {
    "harmonic, no repetition": harmonic_once,
    "narrowing": narrowing,
    "golden section": golden_section,
}


def learning(landscape: Landscape, runs: int, searches: int) -> Iterator[Calls]:
    """The default search: without noise a function of one run, else with fresh runs in each race.

    Its calls are its races. It never proposes the same value twice in a row of losses.
    """
    found: list[list[int | None]] = [[] for _ in GOALS]
    for number in range(searches):
        start = below(landscape.levels, stream(number, "landscapes", "start"))
        calls = _default_search(landscape, runs, start, number)
        for counts, goal in zip(found, GOALS, strict=True):
            counts.append(min((calls[v] for v in landscape.good(goal) if v in calls), default=None))
    for counts, goal in zip(found, GOALS, strict=True):
        yield _counted("the default", runs, goal, counts)


def _default_search(landscape: Landscape, runs: int, start: int, seed: int) -> dict[int, int]:
    """Number of calls after which the default samples a value, up to the best."""
    space = Space({"x": Integer(0, landscape.levels - 1, default=start)})
    best = set(landscape.good(0.0))
    ratios = landscape.measured.ratios
    copies, instances = ratios.shape[1:]
    search = (
        AskTell(space, configurator=ParamHS(), deterministic=True, seed=seed)
        if not runs
        else AskTell(
            space,
            instances=list(range(instances)),
            configurator=ParamHS(comparison=FreshRuns(runs)),
            seed=seed,
        )
    )
    calls: dict[int, int] = {}
    for _ in range(2 * max(runs, 1) * MOST_RACES * landscape.levels):
        task = search.ask()
        if task is None or not best.isdisjoint(calls):
            break
        value = task.config["x"]
        calls.setdefault(value, len(search.history.races) + 1 if calls else 0)
        if runs:
            search.tell(task, float(ratios[value, task.seed % copies, task.instance.value]))
        else:
            search.tell(task, float(landscape.costs[value]))
    return calls


FINER = (33, 129, 513, 2_049)
"""Numbers of values of the valleys that are drawn through the measured values."""


class Finer(NamedTuple):
    """Calls without noise on a valley with more values: exact."""

    levels: int
    goal: float
    share: float
    """Part of the values that count as found."""
    harmonic: float
    random: float
    """Uniform values without repetition."""


def finer_calls(one: Measured) -> Iterator[Finer]:
    """Calls on the nearest valley, with straight lines between the values.

    The best value is one point of the valley; on a plateau of best values, the middle one.
    """
    valley, places = valley_of(one), np.arange(len(one.values))
    for levels in FINER:
        costs = np.interp(np.linspace(0, len(valley) - 1, levels), places, valley)
        for goal in GOALS:
            good = costs <= (1 + goal) * costs.min() if goal else _middle(costs)
            clipped = np.where(good, costs.min() - 1, costs)
            k = int(good.sum())
            without = (levels - k) / (k + 1)
            yield Finer(levels, goal, k / levels, harmonic_line_calls(clipped), without)


def _middle(costs: Array) -> Array:
    best = np.flatnonzero(costs == costs.min())
    return np.arange(len(costs)) == best[len(best) // 2]
