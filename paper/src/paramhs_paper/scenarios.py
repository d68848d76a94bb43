"""The paper's four scenarios: sizes, curves, and an arena for each size."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from paramhs.bundled.saps import Smoothing
from paramhs.core.space import Integer, Space
from paramhs.search.comparison import Comparison
from paramhs.search.configurators import Configurator, ParamILS, ParamRLS, RestartWalk, TabuWalk
from paramhs.search.operators import (
    BothSides,
    Harmonic,
    LStep,
    OneParameter,
    Operator,
    Step,
    Uniform,
)
from paramhs.theory.outcomes import COIN, Outcomes, by_cost, outcomes
from paramhs_paper.arena import Arena
from paramhs_paper.heuristics import Heuristic, LeadingOnes, OneMax, Ridge
from paramhs_paper.saps.ranking import aggregated, five_best
from paramhs_paper.saps.table import kept

RUNS = 1500
TIES = {"coin": COIN, "challenger": 1.0, "incumbent": 0.0}
"""Rules for ties, with the probability that the challenger is kept."""


@dataclass(frozen=True)
class Curve:
    """A configurator with an operator, under the names of the tables."""

    configurator: str
    operator: str
    length: int | None = None
    """The l of an l-step, where it differs from the scenario's own."""
    ties: str = "coin"

    @property
    def name(self) -> str:
        """Name of the curve, such as paramrls/harmonic."""
        return f"{self.configurator}/{self.operator}"

    def step(self, length: int) -> Step:
        """Step of the curve's operator; `length` is the scenario's l."""
        if self.operator == "l-step":
            return LStep(self.length or length)
        return Harmonic() if self.operator.startswith("harmonic") else Uniform()


L_STEP = Curve("paramrls", "l-step")
RANDOM = Curve("paramrls", "random-with-replacement")
UNREPEATED = Curve("paramrls", "random-without-replacement")
HARMONIC = Curve("paramrls", "harmonic")
BOTH_SIDES = Curve("paramrls", "harmonic-both-sides")
ILS_RANDOM = Curve("paramils", "random")
ILS_HARMONIC = Curve("paramils", "harmonic", ties="incumbent")

DELTAS = (
    (HARMONIC, L_STEP),
    (HARMONIC, RANDOM),
    (HARMONIC, UNREPEATED),
    (ILS_HARMONIC, ILS_RANDOM),
)
"""Pairs for which the paper gives Cliff's delta."""


@dataclass(frozen=True, kw_only=True)
class PaperScenario(ABC):
    """One line of the paper's table of scenarios."""

    name: str
    title: str
    length: int = 1
    """The l of the l-step."""

    @property
    def published(self) -> str:
        """Name under which the scenario's numbers were published."""
        return self.name

    sizes: ClassVar[tuple[int, ...]]
    """Sizes of the growing spaces."""
    unit: ClassVar[str] = "values"
    curves: ClassVar[tuple[Curve, ...]]
    others: ClassVar[tuple[Curve, ...]]
    """Curves for other readings of what the paper leaves open."""
    repetitions: ClassVar[int] = 200
    fresh_runs: ClassVar[int | None] = RUNS
    """Runs of each side in a comparison; None if a table decides."""

    @abstractmethod
    def arena(self, size: int, ties: str = "coin", runs: int = RUNS) -> Arena:
        """Outcomes of comparisons and targets for a number of configurations."""

    @abstractmethod
    def space(self, size: int) -> Space:
        """Space searched by the real configurators."""

    @abstractmethod
    def stream(self, curve: Curve, size: int) -> tuple[str | int, ...]:
        """Name of the random stream of a point's searches."""

    def operator(self, curve: Curve) -> Operator:
        """Operator of a curve of ParamRLS, or of ParamILS's local search."""
        if curve.operator == "harmonic-both-sides":
            return BothSides()
        return OneParameter(curve.step(self.length))

    def configurator(self, curve: Curve, comparison: Comparison) -> Configurator:
        """The real configurator of a curve, in the setting of the theory."""
        operator = self.operator(curve)
        if curve.configurator == "paramils":
            walk = RestartWalk() if curve.operator == "harmonic" else TabuWalk()
            return ParamILS(operator, comparison, random_starts=0, walk=walk, start="uniform")
        return ParamRLS(operator, comparison, "uniform", curve != UNREPEATED)


@dataclass(frozen=True, kw_only=True)
class HeuristicScenario(PaperScenario):
    """One parameter of a search heuristic; fresh runs are compared, by their exact laws."""

    heuristic: Heuristic
    symbol: str
    values: tuple[float, ...]
    optimum: int
    """Index of the best value."""

    sizes = tuple(range(5, 51, 5))
    curves = (L_STEP, RANDOM, UNREPEATED, HARMONIC, BOTH_SIDES, ILS_RANDOM, ILS_HARMONIC)
    others = tuple(Curve("paramils", "harmonic", ties=rule) for rule in ("coin", "challenger"))

    def arena(self, size: int, ties: str = "coin", runs: int = RUNS) -> Arena:
        """Arena of the first `size` values."""
        beats = _outcomes(self, runs).beats(TIES[ties])[:size, :size]
        return Arena((size,), beats, np.array([self.optimum]))

    def space(self, size: int) -> Space:
        """Space of the indices of the values."""
        return Space({"value": Integer(0, size - 1)})

    def stream(self, curve: Curve, size: int) -> tuple[str | int, ...]:
        """Stream named by scenario, curve and size."""
        return (self.name, curve.name, size)


@cache
def _outcomes(scenario: HeuristicScenario, runs: int) -> Outcomes:
    return outcomes([scenario.heuristic.law(value) for value in scenario.values], runs)


@dataclass(frozen=True, kw_only=True)
class SapsScenario(PaperScenario):
    """Alpha and rho of SAPS, compared by a measured table, with its five best as targets.

    The entries are plain means of the fewest false clauses over the instances.
    """

    smoothing: Smoothing
    published = "saps"

    sizes = tuple(16 * alphas for alphas in range(3, 31))
    unit = "settings"
    curves = (L_STEP, RANDOM, HARMONIC, BOTH_SIDES, ILS_RANDOM, ILS_HARMONIC)
    others = (Curve("paramrls", "l-step", 2), Curve("paramrls", "l-step", 3))
    repetitions = 500
    fresh_runs = None

    def arena(self, size: int, ties: str = "coin", runs: int = RUNS) -> Arena:
        """Arena of the first alphas, each with all rhos."""
        return _whole_table(self, ties).first(size // 16)

    def space(self, size: int) -> Space:
        """Space of the indices of alpha and rho."""
        return Space({"alpha": Integer(0, size // 16 - 1), "rho": Integer(0, 15)})

    def stream(self, curve: Curve, size: int) -> tuple[str | int, ...]:
        """Stream named by table, curve and number of alphas."""
        return ("saps", f"{self.smoothing}, plain, best", curve.name, size // 16)


@cache
def _whole_table(scenario: SapsScenario, ties: str) -> Arena:
    table = aggregated(kept(scenario.smoothing)).mean
    order = np.argsort(table, axis=None, kind="stable")
    beats = by_cost(table.ravel(), TIES[ties])
    return Arena(table.shape, beats, np.array(five_best(table)), order)


HEURISTICS = {
    s.name: s
    for s in (
        HeuristicScenario(
            name="ridge",
            title="(1+1) EA on Ridge",
            heuristic=Ridge(50, 2500),
            symbol="chi",
            values=tuple(0.5 + 0.5 * i for i in range(50)),
            optimum=1,
        ),
        HeuristicScenario(
            name="leadingones",
            title="(1+1) EA on LeadingOnes",
            heuristic=LeadingOnes(50, 2500),
            symbol="chi",
            values=tuple(round(0.6 + 0.5 * i, 1) for i in range(50)),
            optimum=2,
        ),
        HeuristicScenario(
            name="onemax",
            title="RLS_k on OneMax",
            length=2,
            heuristic=OneMax(50, 200),
            symbol="k",
            values=tuple(float(k) for k in range(1, 51)),
            optimum=0,
        ),
    )
}


SAPS = {
    s.name: s
    for s in (
        SapsScenario(name="saps", title="SAPS", smoothing="ubcsat"),
        SapsScenario(name="saps-textbook", title="SAPS, textbook", smoothing="textbook"),
    )
}
SCENARIOS: dict[str, PaperScenario] = {**HEURISTICS, **SAPS}
