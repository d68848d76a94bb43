"""Points of Figure 2 for all scenarios: computed, simulated, and published."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paramhs.search.operators import BothSides
from paramhs.theory.first_improvement import first_improvement_calls
from paramhs.theory.hitting import Calls, Chain, Ending, without_replacement
from paramhs.theory.outcomes import Array
from paramhs_paper import published
from paramhs_paper.arena import Arena, descent, one_step, own_chain, undiscovered_mean
from paramhs_paper.scenarios import (
    BOTH_SIDES,
    DELTAS,
    ILS_HARMONIC,
    ILS_RANDOM,
    RUNS,
    SCENARIOS,
    UNREPEATED,
    Curve,
    PaperScenario,
)
from paramhs_paper.searching import searched
from paramhs_paper.statistics import (
    SIGNIFICANCE_LEVEL,
    delta_of_laws,
    delta_of_samples,
    p_value,
    z_score,
)


class Exact(NamedTuple):
    """Computed calls of a curve."""

    ending: Ending
    law: Array | None = None
    """Probability of each number of calls; the last entry is that of never ending."""


def exact(arena: Arena, curve: Curve, length: int, law: bool = False) -> Exact | None:
    """Compute as much as possible; the `law` only if requested and computable."""
    if len(arena.shape) == 1 and curve in (UNREPEATED, ILS_RANDOM):
        return _of_calls(without_replacement(arena.size))
    if curve == ILS_RANDOM:
        mean = undiscovered_mean(arena)
        return None if mean is None else Exact(Ending(0.0, mean, None))
    if curve.configurator == ILS_HARMONIC.configurator:
        if law and len(arena.shape) == 1:
            weights = _harmonic_weights(arena.size)
            optima = arena.targets.tolist()
            return _of_calls(first_improvement_calls(weights, arena.beats, optima))
        walks = descent(arena)
        return None if walks is None else Exact(walks.ended())
    if curve == BOTH_SIDES:
        return _of_chain(own_chain(arena, BothSides()), law)
    return _of_chain(one_step(arena, curve.step(length)), law)


def _of_calls(calls: Calls) -> Exact:
    return Exact(Ending(0.0, calls.mean, calls.sd), np.append(calls.pmf, 0.0))


def _of_chain(chain: Chain, law: bool) -> Exact:
    ending = chain.ended()
    return Exact(ending, np.append(chain.law().pmf, ending.never) if law else None)


def _harmonic_weights(size: int) -> Array:
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return np.divide(1.0, distance, out=np.zeros((size, size)), where=distance > 0)


@dataclass(frozen=True)
class Task:
    """A point to compute."""

    scenario: str
    curve: Curve
    size: int
    repetitions: int = 0
    """Number of searches with the real configurator."""
    seed: int = 0
    runs: int = RUNS
    """Runs of each side in a comparison, where runs are compared."""
    law: bool = False


@dataclass(frozen=True)
class Answer:
    """The computed law, and the calls of simulated searches; infinite for abandoned ones."""

    task: Task
    exact: Exact | None
    sample: tuple[float, ...] = ()


def answered(task: Task) -> Answer:
    """Compute a point."""
    scenario = SCENARIOS[task.scenario]
    arena = scenario.arena(task.size, task.curve.ties, task.runs)
    if not len(arena.targets):
        return Answer(task, Exact(Ending(1.0, math.nan, math.nan)))
    found = searched(scenario, task.curve, task.size, task.repetitions, task.seed)
    return Answer(task, exact(arena, task.curve, scenario.length, task.law), tuple(found))


def all_answered(
    tasks: Sequence[Task], jobs: int, advance: Callable[[], object] = lambda: None
) -> Iterator[Answer]:
    """Yield results in the order of the tasks; independent of the number of processes."""
    if jobs == 1:
        for task in tasks:
            yield answered(task)
            advance()
        return
    with ProcessPoolExecutor(jobs) as pool:
        for answer in pool.map(answered, tasks, chunksize=4):
            yield answer
            advance()


def tasks_of(
    scenario: PaperScenario, searches: int | None, seed: int, sizes: Iterable[int] | None = None
) -> list[Task]:
    """All points of a scenario's Figure 2.

    `searches` is the number for each point; None means the paper's number where not everything can
    be computed, and none elsewhere.
    """

    def repetitions(curve: Curve) -> int:
        if searches is not None:
            return searches
        needed = scenario.fresh_runs is None and curve.configurator == ILS_RANDOM.configurator
        return scenario.repetitions if needed else 0

    compared = {curve for pair in DELTAS for curve in pair}
    return [
        Task(scenario.name, curve, size, repetitions(curve), seed, law=curve in compared)
        for curve in (*scenario.curves, *scenario.others)
        for size in (scenario.sizes if sizes is None else sizes)
    ]


@dataclass(frozen=True)
class Point:
    """A row of the table; None for values not computed or not published."""

    scenario: str
    configurator: str
    operator: str
    l: int | None  # noqa: E741 -- the paper's letter
    ties: str
    runs: int | None
    """Runs of each side in a comparison; None if a table decides."""
    size: int
    published: float | None
    exact_mean: float | None
    """Mean given that the search ends, like all following values; see `never`."""
    exact_sd: float | None
    """Standard deviation; None also where only the mean is computable and z uses the simulated one.
    """
    never: float | None
    searched_mean: float | None
    searched_sd: float | None
    searches: int
    unfinished: int
    """Number of abandoned searches."""
    z_published: float | None
    """z-score against the exact mean, or against the simulated one including its own error."""
    z_searched: float | None

    @property
    def mean(self) -> float | None:
        """The exact mean, or else the simulated one."""
        return self.searched_mean if self.exact_mean is None else self.exact_mean

    @property
    def sd(self) -> float | None:
        """The exact standard deviation, or else the simulated one."""
        return self.searched_sd if self.exact_sd is None else self.exact_sd

    @property
    def curve(self) -> str:
        """Name of the curve."""
        return f"{self.configurator}/{self.operator}"


def point_of(answer: Answer) -> Point:
    """Build the row of a point."""
    task, scenario = answer.task, SCENARIOS[answer.task.scenario]
    curve, key = task.curve, _key(task)
    there = published.mean_calls(*key) if task.runs == RUNS else None
    found = np.array([calls for calls in answer.sample if math.isfinite(calls)])
    mean, sd = (float(found.mean()), _spread(found)) if len(found) else (None, None)
    ending = answer.exact.ending if answer.exact else None
    known = ending is not None and ending.never < 1
    own, share = 1 / published.repetitions(*key), 1 / max(len(found), 1)
    exact_mean, exact_sd = (ending.mean, ending.sd) if ending and known else (None, None)
    z_published = z_searched = None
    if exact_mean is not None:
        error = sd if exact_sd is None else exact_sd
        z_published = z_score(there, exact_mean, error, own)
        z_searched = z_score(mean, exact_mean, error, share)
    elif mean is not None:
        z_published = z_score(there, mean, sd, own + share)
    return Point(
        scenario.name,
        curve.configurator,
        curve.operator,
        (curve.length or scenario.length) if curve.operator == "l-step" else None,
        curve.ties,
        None if scenario.fresh_runs is None else task.runs,
        task.size,
        there,
        exact_mean,
        exact_sd,
        None if ending is None else ending.never,
        mean,
        sd,
        len(answer.sample),
        len(answer.sample) - len(found),
        z_published,
        z_searched,
    )


def _key(task: Task) -> tuple[str, str, str, int]:
    """Key of the published mean; both readings of the harmonic step share it."""
    operator = task.curve.operator.removesuffix("-both-sides")
    return SCENARIOS[task.scenario].published, task.curve.configurator, operator, task.size


def _spread(sample: Array) -> float | None:
    return float(sample.std(ddof=1)) if len(sample) > 1 else None


@dataclass(frozen=True)
class Delta:
    """A cross of Figure 2: Cliff's delta, positive if the first curve is faster."""

    scenario: str
    first: str
    second: str
    size: int
    published: float | None
    """Published value; None where the paper found no significant difference."""
    exact: float | None
    searched: float | None
    p_value: float | None
    significant: bool | None
    """Significance at 0.95, by a two-sided Mann-Whitney U test of the simulated samples."""

    @property
    def ours(self) -> float | None:
        """The exact delta, or else the simulated one."""
        return self.searched if self.exact is None else self.exact


def deltas_of(answers: Iterable[Answer]) -> list[Delta]:
    """Cliff's deltas of all pairs in the paper; a search that never ends is slowest."""
    found = {(a.task.scenario, a.task.curve, a.task.size): a for a in answers}
    sizes = dict.fromkeys((scenario, size) for scenario, _, size in found)
    names = dict.fromkeys(scenario for scenario, _ in sizes)
    return [
        _delta(found[name, first, size], found[name, second, size])
        for name in names
        for first, second in DELTAS
        for scenario, size in sizes
        if scenario == name and {(name, first, size), (name, second, size)} <= found.keys()
    ]


def _delta(a: Answer, b: Answer) -> Delta:
    name, size = a.task.scenario, a.task.size
    first, second = a.task.curve.name, b.task.curve.name
    known = published.deltas(SCENARIOS[name].published) if a.task.runs == RUNS else {}
    there = known.get(f"{first} vs {second}", {}).get(size)
    laws = [x.exact.law for x in (a, b) if x.exact and x.exact.law is not None]
    exact_delta = delta_of_laws(*laws) if len(laws) == 2 else None
    if not (a.sample and b.sample):
        return Delta(name, first, second, size, there, exact_delta, None, None, None)
    p = p_value(a.sample, b.sample)
    found = delta_of_samples(a.sample, b.sample)
    return Delta(name, first, second, size, there, exact_delta, found, p, p < SIGNIFICANCE_LEVEL)
