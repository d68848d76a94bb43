"""Figure 2 of the SAPS scenario: calls until any of the five best settings is sampled."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from paramhs.results.landscape.calls import calls_of
from paramhs.results.landscape.outcomes import Array
from paramhs.search.operators import Harmonic, LStep, Step, Uniform
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import SEEDS, below, stream
from paramhs.values.space import Integer, Space
from paramhs_paper import published
from paramhs_paper.exact import cliffs_delta
from paramhs_paper.saps.choices import Choice, arena_of
from paramhs_paper.saps.moves import Arena, both_sides, descent, one_step, undiscovered_mean
from paramhs_paper.saps.renewal import Ending, Renewal
from paramhs_paper.scenarios import DELTAS, Curve, configurator_of
from paramhs_paper.searching import Duels, calls_until_found

ALPHAS = tuple(range(3, 31))
"""The numbers of alphas of the 28 spaces; with 16 rhos each, 48 to 480 settings."""
CURVES = (
    Curve("paramrls", "l-step"),
    Curve("paramrls", "random-with-replacement"),
    Curve("paramrls", "harmonic"),
    Curve("paramrls", "harmonic-both-sides"),
    Curve("paramils", "random"),
    Curve("paramils", "harmonic"),
)
ONE_CALL = CURVES[:3]  # every move is one call, so that the law of calls is easily computed
STEP = 1  # the l of the l-step
REPETITIONS = 500
FEW_REPETITIONS = 200  # where a point is one of very many
_STEPS: dict[str, Step] = {
    "l-step": LStep(STEP),
    "random-with-replacement": Uniform(),
    "harmonic": Harmonic(),
}
RARE = 10_000  # mean calls that rest on chances too small to be known from stored runs
PATIENCE = 2_000  # calls after which an l-step search is taken to be trapped: others need < 300


@dataclass(frozen=True)
class Task:
    """A point to compute. `runs`: those of each side in a comparison; None: the table decides.
    Without `repetitions` it is searched only if it cannot be computed."""

    choice: Choice
    curve: Curve
    alphas: int
    repetitions: int
    seed: int = 0
    runs: int | None = None
    law: bool = False
    """Whether the law of calls is wanted too, for Cliff's delta."""


@dataclass(frozen=True)
class Answer:
    """The exact result where there is one, and the calls of the searches if there were any; a
    search that was given up took infinitely many."""

    task: Task
    size: int
    ending: Ending | None
    law: Array | None
    sample: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """A row of the table; None where not computed or not published."""

    smoothing: str
    aggregation: str
    quality: str
    runs: int | None
    configurator: str
    operator: str
    size: int
    published: float | None
    exact_mean: float | None
    """Given that it ends, as all the following; `never` is the probability that it does not."""
    exact_sd: float | None
    """None also where only the mean can be computed; z then takes the searched one."""
    never: float | None
    searched_mean: float | None
    searched_sd: float | None
    repetitions: int
    unfinished: int
    """Searches that were given up."""
    z_published: float | None
    """Against the exact mean; else against the searched one, whose own error is counted too."""
    z_searched: float | None

    @property
    def mean(self) -> float | None:
        """The exact mean, or else the searched one."""
        return self.searched_mean if self.exact_mean is None else self.exact_mean


@dataclass(frozen=True)
class Delta:
    """Cliff's delta between two curves, positive if the first is faster."""

    first: str
    second: str
    size: int
    published: float | None
    exact: float | None
    searched: float | None
    p_value: float | None
    """Of a two-sided Mann-Whitney U test of the searched samples."""

    @property
    def ours(self) -> float | None:
        """The exact one, or else the searched one."""
        return self.searched if self.exact is None else self.exact


def answered(task: Task) -> Answer:
    """Compute a point."""
    arena = arena_of(task.choice, task.runs).first(task.alphas)
    size = arena.order.size
    if not len(arena.targets):
        return Answer(task, size, Ending(1.0, math.nan, math.nan), None, ())
    chain = chain_of(arena, task.curve, task.runs is not None)
    ending = mean_of(arena, task) if chain is None else chain.ended()
    law = chain.law() if chain is not None and task.law else None
    repetitions = task.repetitions or (FEW_REPETITIONS if chain is None else 0)
    return Answer(task, size, ending, law, tuple(_searched(task, arena, repetitions)))


def chain_of(arena: Arena, curve: Curve, noisy: bool = False) -> Renewal | None:
    """The curve's chain, where there is a small one."""
    if curve.configurator == "paramils":
        return None if noisy or curve.operator == "random" else descent(arena)
    if curve.operator == "harmonic-both-sides":
        return both_sides(arena)
    return one_step(arena, _STEPS[curve.operator])


def mean_of(arena: Arena, task: Task) -> Ending | None:
    """The mean alone, where there is no small chain but a table decides."""
    if task.curve != Curve("paramils", "random") or task.runs is not None:
        return None
    mean = undiscovered_mean(arena)
    return None if mean is None else Ending(0.0, mean, None)


def space_of(shape: tuple[int, int]) -> Space:
    """The indices of alpha and rho."""
    return Space({"alpha": Integer(0, shape[0] - 1), "rho": Integer(0, shape[1] - 1)})


def _searched(task: Task, arena: Arena, repetitions: int) -> Iterator[float]:
    """By the real configurator, whose comparisons are duels of places."""
    rhos, beats = arena.shape[1], arena.beats
    patience = PATIENCE if task.curve.operator == "l-step" else math.inf
    duels = Duels(
        lambda incumbent, challenger, rng: bool(rng.random() < beats[incumbent, challenger]),
        set(arena.targets.tolist()),
        lambda config: config.indices[0] * rhos + config.indices[1],
        patience,
    )
    configurator = configurator_of(task.curve, STEP, duels)
    scenario = Scenario(space_of(arena.shape))
    seeds = stream(task.seed, "saps", task.choice.name, task.curve.name, task.alphas)
    for _ in range(repetitions):
        calls = calls_until_found(configurator.search(scenario, below(SEEDS, seeds)))
        yield math.inf if calls is None else calls


def point_of(answer: Answer) -> Point:
    """The row of a point."""
    task, ending = answer.task, answer.ending
    choice, curve = task.choice, task.curve
    key = ("saps", curve.configurator, curve.operator, answer.size)
    there = published.mean_calls(*key)
    found = np.array([calls for calls in answer.sample if math.isfinite(calls)])
    searched = (float(found.mean()), float(found.std(ddof=1))) if len(found) > 1 else None
    exact = _exact(ending, searched)
    error = 1 / published.repetitions(*key)
    return Point(
        choice.smoothing,
        choice.instance or choice.aggregation,
        choice.quality,
        task.runs,
        curve.configurator,
        curve.operator,
        answer.size,
        there,
        exact and exact[0],
        None if exact is None or ending is None else ending.sd,
        None if ending is None else ending.never,
        searched and searched[0],
        searched and searched[1],
        len(answer.sample),
        len(answer.sample) - len(found),
        _z(there, exact, error) if exact else _z(there, searched, error + 1 / max(len(found), 1)),
        _z(searched and searched[0], exact, 1 / max(len(found), 1)),
    )


def _exact(
    ending: Ending | None, searched: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The exact mean, with the exact or else the searched standard deviation."""
    if ending is None or ending.never == 1:
        return None
    spread = ending.sd if ending.sd is not None else searched and searched[1]
    return ending.mean, spread or 0.0


def _z(mean: float | None, moments: tuple[float, float] | None, share: float) -> float | None:
    """By how many standard errors, sd * sqrt(share), a mean is off."""
    if mean is None or moments is None or not moments[1] > 0:
        return None
    return (mean - moments[0]) / (moments[1] * math.sqrt(share))


def deltas_of(answers: Iterable[Answer]) -> list[Delta]:
    """Cliff's deltas of all pairs that the paper has, with laws or samples; what never ends is
    slower than all else."""
    found = {(answer.task.curve, answer.size): answer for answer in answers}
    sizes = sorted({size for _, size in found})
    return [
        _delta(found[first, size], found[second, size])
        for first, second in DELTAS
        if second in CURVES
        for size in sizes
    ]


def _delta(a: Answer, b: Answer) -> Delta:
    first, second = a.task.curve.name, b.task.curve.name
    known = published.deltas("saps").get(f"{first} vs {second}", {}).get(a.size)
    exact = searched = p_value = None
    if a.law is not None and b.law is not None:
        exact = cliffs_delta(*(calls_of(law) for law in _with_the_same_end(a.law, b.law)))
    if a.sample and b.sample:
        x, y = np.array(a.sample), np.array(b.sample)
        searched = float(((y > x[:, None]) * 1.0 - (y < x[:, None])).mean())
        p_value = float(mannwhitneyu(x, y, alternative="two-sided").pvalue)
    return Delta(first, second, a.size, known, exact, searched, p_value)


def _with_the_same_end(*laws: Array) -> list[Array]:
    """Laws whose last entry is what never ends, made equally long."""
    longest = max(map(len, laws))
    return [np.append(np.pad(law[:-1], (0, longest - len(law))), law[-1]) for law in laws]


def as_dicts(rows: Iterable[Point | Delta]) -> list[dict[str, Any]]:
    """Rows by name, for CSV and JSON."""
    return [asdict(row) for row in rows]
